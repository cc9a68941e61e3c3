package codetool_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/sandbox"
)

// confined skips where the kernel cannot confine; sandbox's own tests fail there.
func confined(t *testing.T) (seesOnlyItsOwn bool) {
	t.Helper()
	box, err := sandbox.New(sandbox.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	if err := box.Probe(t.Context()); err != nil {
		t.Skip(err)
	}
	return box.Hidden(t.Context()) == nil
}

// git in bash reads what is there, changes nothing, and does not pass for the whole history.
func TestBashGit(t *testing.T) {
	t.Parallel()
	confined(t)
	b := oneRepo(t, "-- @commit first --\n-- a.txt --\none\n-- run.sh (exec) --\nexit\n-- l (symlink) --\na.txt\n"+
		"-- @commit second --\n-- a.txt --\ntwo\n-- dir/b c.txt --\nneedle\r\n-- .gitattributes --\n*.txt text eol=lf\n")
	second := b.sha("second")
	const newest = "\n\n[git saw only the newest history here; use git_log, git_show and git_blame, which fetch what they need.]"
	for command, want := range map[string]string{
		"git log --format=%s":                          "second" + newest,
		"git rev-parse HEAD main":                      second + "\n" + second + newest,
		"git status --short --branch":                  "## main" + newest,
		"git grep -n needle":                           "dir/b c.txt:1:needle" + newest,
		"cd dir && git grep -n needle":                 "b c.txt:1:needle" + newest,
		"git ls-files":                                 ".gitattributes\na.txt\ndir/b c.txt\nl\nrun.sh" + newest,
		"git show HEAD:a.txt; git diff; git diff HEAD": "two" + newest,
		"git log -1 HEAD~1": "fatal: ambiguous argument 'HEAD~1': unknown revision or path not in the working tree.\nUse '--' to separate paths from revisions, like this:\n" +
			"'git <command> [<revision>...] -- [<file>...]'\n\n[Exit code 128.]\n[Something was not fetched; use git_log and git_show, which fetch what they need.]",
	} {
		require.Equal(t, want, b.ok(t, "bash", fmt.Sprintf(`{"command":%q}`, command)).Text, command)
	}
	require.Equal(t, "fatal: bad object", b.ok(t, "bash", `{"command":"echo fatal: bad object"}`).Text, "it is not git that says so")
	b.call(t, "bash", `{"command":"git checkout -q --orphan x; git rm -rqf .; git gc -q; git commit -qm x --allow-empty"}`)
	require.Equal(t, "second"+newest, b.ok(t, "bash", `{"command":"git log --format=%s"}`).Text)
	o, _ := b.Lookup("acme/one")
	require.NoError(t, o.Checkout.Verify(t.Context()))
	// Once the history was fetched, it is all there, but for the contents of old files.
	b.ok(t, "git_log", `{}`)
	require.Equal(t, "second\nfirst", b.ok(t, "bash", `{"command":"git log --format=%s"}`).Text)
	require.Contains(t, b.ok(t, "bash", `{"command":"git show HEAD~1:a.txt"}`).Text, "[Something was not fetched; use git_log and git_show, which fetch what they need.]")
	require.Contains(t, b.ok(t, "bash", `{"command":"git fetch https://forge.example/x 2>&1 || echo refused"}`).Text, "refused")
	require.NotContains(t, b.ok(t, "bash", `{"command":"cat $GIT_DIR/config $GIT_DIR/objects/info/alternates; env; git remote -v"}`).Text, b.gate.srv.Host())
}

func TestBash(t *testing.T) {
	t.Parallel()
	seesOnlyItsOwn := confined(t)
	b := newBench(t, map[string]string{"acme/one": "-- @commit c --\n-- a.txt --\none\ntwo\n-- src/b.go --\npackage b\n", "acme/two": "-- @commit d --\n-- c.txt --\ncanary two\n-- @branch feature/x-y --\n-- @commit f --\n-- f.txt --\nf\n", "acme/three": "-- @commit e --\n-- d.txt --\ncanary three\n"})
	b.ok(t, "checkout_repo", `{"repo":"acme/one"}`)
	got := b.ok(t, "bash", `{"command":"ls; wc -l < a.txt;\n  pwd"}`)
	home := "."
	if seesOnlyItsOwn {
		home = "/checkouts/acme/one"
	}
	require.Equal(t, "a.txt\nsrc\n2\n"+home, got.Text)
	require.Empty(t, got.Evidence)
	require.Equal(t, "exit 0", got.Summary)
	_, subject := b.tools["bash"].Trace(json.RawMessage(`{"command":"ls; wc -l < a.txt;\n  pwd"}`))
	require.Equal(t, "ls; wc -l < a.txt; pwd", subject)
	require.Equal(t, "(no output)\n\n[Exit code 1.]", b.ok(t, "bash", `{"command":"grep -q nothing a.txt"}`).Text)
	require.Equal(t, "red link done", b.ok(t, "bash", `{"command":"printf '\\033[31mred\\033[0m \\033]8;;http://x\\007link\\033]8;;\\007 10%%\\r'; printf '\\033[31mred\\033[0m \\033]8;;http://x\\007link\\033]8;;\\007 done'"}`).Text)

	text := b.refused(t, "bash", `{"command":"echo begun; sleep 60","timeout":1}`)
	require.Equal(t, "begun\n\n[Killed after 1 seconds. Use timeout=N for up to 120, or a narrower command.]", text)
	got = b.ok(t, "bash", `{"command":"seq 5000"}`)
	require.True(t, strings.HasPrefix(got.Text, "3001\n"))
	require.True(t, strings.HasSuffix(got.Text, "5000\n\n[Showing lines 3001-5000 of 5000.]"))
	got = b.ok(t, "bash", `{"command":"head -c 100000 /dev/zero | tr '\\0' x"}`)
	require.True(t, strings.HasSuffix(got.Text, "x\n\n[Showing the last 50.0KB of 97.7KB.]"))

	// Another run's tree, though the store has it, is out of reach; a second one of this run is not.
	other := newBench(t, map[string]string{"acme/x": "-- @commit x --\n-- x.txt --\ncanary x\n"})
	other.ok(t, "checkout_repo", `{"repo":"acme/x"}`)
	o, ok := other.Lookup("acme/x")
	require.True(t, ok)
	got = b.ok(t, "bash", fmt.Sprintf(`{"command":"cat %s/x.txt"}`, o.Checkout.Dir()))
	require.NotContains(t, got.Text, "canary")
	b.ok(t, "checkout_repo", `{"repo":"acme/two"}`)
	o, _ = b.Lookup("acme/two")
	dir, shown := o.Checkout.Dir(), "acme/two"
	if seesOnlyItsOwn {
		dir, shown = "/checkouts/acme/two", "/checkouts/acme/two"
		b.ok(t, "checkout_repo", `{"repo":"acme/two","ref":"feature/x-y"}`)
		require.Equal(t, "c.txt\nf.txt", b.ok(t, "bash", `{"repo":"acme/one","command":"cd /checkouts/acme/two@feature%2Fx-y && ls"}`).Text)
		require.Equal(t, "one\ntwo\ntwo@feature%2Fx-y", b.ok(t, "bash", `{"repo":"acme/one","command":"ls /checkouts/*"}`).Text)
		got = b.ok(t, "bash", fmt.Sprintf(`{"repo":"acme/one","command":"[ -e %s ] || echo it lies nowhere"}`, o.Checkout.Dir()))
		require.Equal(t, "it lies nowhere", got.Text)
	}
	got = b.ok(t, "bash", fmt.Sprintf(`{"repo":"acme/one","command":"cat %s/c.txt; ls -d %s"}`, dir, dir))
	require.Equal(t, "canary two\n"+shown, got.Text)
	require.Equal(t, "c.txt", b.ok(t, "bash", `{"repo":"acme/two","command":"ls"}`).Text)

	for args, want := range map[string]string{
		`{"command":" "}`:       "command must not be empty.",
		`{"command":"x\u0000"}`: "command must not contain NUL.",
		`{"command":"` + strings.Repeat("x", 32<<10+1) + `"}`: "command must be at most 32 KiB.",
		`{"command":"x","timeout":0}`:                         "timeout must be greater than or equal to 1.",
		`{"command":"x"}`:                                     "Several repositories are checked out; say which one in repo: " + strings.Join(b.Keys(), ", ") + ".",
		`{"command":"x","repo":"acme/nix"}`:                   "acme/nix is not checked out. Checked out: " + strings.Join(b.Keys(), ", ") + ". Use checkout_repo for another.",
	} {
		require.Equal(t, want, b.refused(t, "bash", args))
	}
	for _, cmd := range []string{"echo x > a.txt", "rm -rf .", "chmod -R 0 .", "touch new"} {
		b.call(t, "bash", fmt.Sprintf(`{"repo":"acme/one","command":%q}`, cmd))
	}
	o, _ = b.Lookup("acme/one")
	require.NoError(t, o.Checkout.Verify(t.Context()), "the tree is as it was")
	entries, err := os.ReadDir(o.Checkout.Dir())
	require.NoError(t, err)
	require.Len(t, entries, 2)
}

// On hosts with nested groups one repository's name may lie below another's; a command sees both.
func TestBashWithNestedNames(t *testing.T) {
	t.Parallel()
	if !confined(t) {
		t.Skip("commands have no file system of their own here")
	}
	b := newBench(t, map[string]string{"acme/one": "-- @commit c --\n-- a.txt --\nouter\n", "acme/one/sub": "-- @commit c --\n-- a.txt --\ninner\n"})
	b.ok(t, "checkout_repo", `{"repo":"https://groups.example/acme/one"}`)
	b.ok(t, "checkout_repo", `{"repo":"https://groups.example/acme/one/sub"}`)
	require.Equal(t, []string{"groups.example/acme/one", "groups.example/acme/one/sub"}, b.Keys())
	got := b.ok(t, "bash", `{"repo":"groups.example/acme/one/sub","command":"pwd; cat a.txt /checkouts/groups.example/acme/one/a.txt"}`)
	require.Equal(t, "/checkouts/groups.example%2Facme%2Fone%2Fsub\ninner\nouter", got.Text)
}
