package checkout_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// everything reads a checkout in every way there is.
func everything(t *testing.T, c *checkout.Checkout) {
	t.Helper()
	ctx := t.Context()
	require.NoError(t, c.Verify(ctx))
	tree, err := c.Tree(ctx)
	require.NoError(t, err)
	for _, e := range tree.Entries {
		_, err := c.ReadFile(ctx, e.Path)
		require.NoError(t, err, "%q", e.Path)
	}
	_, err = c.Grep(ctx, checkout.GrepOptions{Pattern: ".", Limit: 1 << 20})
	require.NoError(t, err)
	_, err = c.Find(ctx, checkout.FindOptions{Glob: "**"})
	require.NoError(t, err)
	_, err = c.List(ctx, "")
	require.NoError(t, err)
}

// TestG8_LinksLeadNowhere: symbolic links to a file, a folder, in a chain,
// absolute, in a loop, out of the tree.
func TestG8_LinksLeadNowhere(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(outside, []byte("OUTSIDE\n"), 0o600))
	srv := newServer(t)
	srv.Add(t, "acme/links", fmt.Sprintf(`
-- @commit one --
-- dir/file.txt --
inside
-- to-file (symlink) --
dir/file.txt
-- to-dir (symlink) --
dir
-- chain (symlink) --
to-file
-- absolute (symlink) --
%s
-- up (symlink) --
../../../../../../../../../etc/passwd
-- root (symlink) --
/
-- loop (symlink) --
loop
-- git (symlink) --
../../../repo.git/config
`, outside))
	s := newStore(t, srv, nil)
	c := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/links")})
	everything(t, c)
	require.NoError(t, filepath.WalkDir(c.Dir(), func(p string, d os.DirEntry, err error) error {
		require.NoError(t, err)
		require.True(t, d.IsDir() || d.Type().IsRegular(), "%s is a link", p)
		return nil
	}))
	for _, link := range []string{"to-file", "to-dir", "chain", "absolute", "up", "root", "loop", "git"} {
		d, err := c.ReadFile(t.Context(), link)
		require.NoError(t, err)
		require.Equal(t, checkout.Symlink, d.Kind)
		require.NotEmpty(t, d.Target)
		require.Empty(t, d.Data)
		_, _, err = c.Open(t.Context(), link)
		require.Error(t, err)
		_, err = c.ReadFile(t.Context(), link+"/x")
		var pe *checkout.PathError
		require.ErrorAs(t, err, &pe)
		require.Contains(t, err.Error(), "symbolic link")
	}
	res, err := c.Grep(t.Context(), checkout.GrepOptions{Pattern: "OUTSIDE|inside|passwd|root:", Limit: 100})
	require.NoError(t, err)
	require.Len(t, res.Lines, 1, "a link's target is no text of the tree")
	for _, p := range []string{"../x", "../../etc/passwd", "dir/../../x", "/../x", "a\x00b"} {
		_, err := c.ReadFile(t.Context(), p)
		require.Error(t, err, "%q", p)
	}
}

// TestG9_NothingRuns: filters, an embedded bare repository with a file system
// monitor, hooks, insteadOf; and an environment around us that is set against us.
func TestG9_NothingRuns(t *testing.T) {
	t.Parallel()
	scratch := t.TempDir()
	fired := filepath.Join(scratch, "fired")
	evil := filepath.Join(scratch, "evil.sh")
	require.NoError(t, os.WriteFile(evil, []byte("#!/bin/sh\ntouch "+fired+"\ncat\n"), 0o700))
	settings := fmt.Sprintf("[core]\n\tfsmonitor = %[1]s\n\tsshCommand = %[1]s\n\thooksPath = %[2]s\n\tbare = true\n\trepositoryformatversion = 0\n\tpager = %[1]s\n\taskPass = %[1]s\n"+
		"[filter \"evil\"]\n\tsmudge = %[1]s\n\tclean = %[1]s\n\trequired = true\n[diff \"evil\"]\n\ttextconv = %[1]s\n\tcommand = %[1]s\n"+
		"[url \"ext::%[1]s\"]\n\tinsteadOf = http\n[credential]\n\thelper = %[1]s\n[protocol]\n\tallow = always\n[uploadpack]\n\tpackObjectsHook = %[1]s\n", evil, scratch)
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc", "post-rewrite"} {
		b, err := os.ReadFile(evil)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(scratch, hook), b, 0o700))
	}
	srv := newServer(t)
	srv.Add(t, "acme/evil", `
-- @commit one --
-- .gitattributes --
* filter=evil diff=evil merge=evil
-- bare/HEAD --
ref: refs/heads/main
-- bare/config --
`+settings+`
-- bare/objects/x --
-- bare/refs/x --
-- bare/hooks/post-checkout (exec) --
#!/bin/sh
touch `+fired+`
-- hooks/post-checkout (exec) --
#!/bin/sh
touch `+fired+`
-- .gitmodules --
[submodule "x"]
	path = sub
	url = -u./evil
	update = !touch `+fired+`
-- sub (submodule) --
0123456789012345678901234567890123456789
-- a.txt --
text
-- @commit two --
-- a.txt --
more text
-- @ref refs/pull/1/head --
`)
	s := newStore(t, srv, nil)
	for _, ref := range []string{"main", "refs/pull/1/head"} {
		c := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/evil"), Ref: ref})
		everything(t, c)
		_, err := c.Grep(t.Context(), checkout.GrepOptions{Pattern: "text", Path: "bare"})
		require.NoError(t, err)
		d, err := c.ReadFile(t.Context(), "sub")
		require.NoError(t, err)
		require.Equal(t, "-u./evil", d.Target)
	}
	require.NoFileExists(t, fired)

	// The same in a process whose whole surroundings are against it.
	global := filepath.Join(scratch, "gitconfig")
	require.NoError(t, os.WriteFile(global, []byte(settings), 0o600))
	job, err := json.Marshal(childJob{Dir: t.TempDir(), Host: srv.Host(), Repos: []checkout.Repo{repo(srv, "acme/evil")}, Refs: []string{"", "refs/pull/1/head"}, Maintain: true})
	require.NoError(t, err)
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childEnv+"="+string(job), "GIT_CONFIG_GLOBAL="+global, "GIT_CONFIG_SYSTEM="+global, "HOME="+scratch,
		"XDG_CONFIG_HOME="+scratch, "GIT_SSH_COMMAND="+evil, "GIT_ASKPASS="+evil, "GIT_PROXY_COMMAND="+evil, "GIT_EXTERNAL_DIFF="+evil,
		"GIT_EXEC_PATH="+scratch, "GIT_TEMPLATE_DIR="+scratch, "GIT_TRACE="+fired, "GIT_DIR="+scratch, "GIT_WORK_TREE="+scratch,
		"http_proxy=http://127.0.0.1:1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0="+scratch)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoFileExists(t, fired)
	// The trap is a real one: a plain git falls into it.
	checkouttest.Git(t, scratch, "init", "-q", "plain")
	plain := exec.CommandContext(t.Context(), "git", "status")
	plain.Dir, plain.Env = filepath.Join(scratch, "plain"), append(os.Environ(), "GIT_CONFIG_GLOBAL="+global)
	_ = plain.Run()
	require.FileExists(t, fired)
}

// TestG13_BytesAreTheBlobs: attributes in the tree that would change line ends,
// expand $Id$ and re-encode.
func TestG13_BytesAreTheBlobs(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/attr", `
-- @commit one --
-- .gitattributes --
*.txt text eol=crlf
*.id ident
*.enc text working-tree-encoding=UTF-16LE-BOM
*.crlf -text
sub/** export-ignore
-- a.txt --
one
two
-- b.id --
$Id$
-- c.enc --
plain
-- sub/.gitattributes --
* eol=crlf text
-- sub/d.c --
int x;
`)
	s := newStore(t, srv, nil)
	c := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/attr")})
	tree, err := c.Tree(t.Context())
	require.NoError(t, err)
	require.Len(t, tree.Entries, 6)
	for _, e := range tree.Entries {
		want := checkouttest.Git(t, srv.Dir("acme/attr"), "cat-file", "blob", ids["one"]+":"+e.Path) + "\n"
		got, err := os.ReadFile(filepath.Join(c.Dir(), e.Path))
		require.NoError(t, err)
		require.Equal(t, want, string(got), e.Path)
	}
}

// TestG10_OddNames: pathspec magic, line ends, bytes that are not UTF-8.
func TestG10_OddNames(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	p := &checkouttest.Pack{}
	names := []string{":(glob)**", ":!x", "*", "-rf", "\xff\xfe.txt", "a\nb", "a\tb", "a\"b", "sp ace", "[id]", "{a,b}", "\\", "ünï"}
	var entries []checkouttest.TreeEntry
	for _, n := range sorted(names) {
		entries = append(entries, checkouttest.TreeEntry{Mode: "100644", Name: n, OID: p.Add("blob", []byte("needle in "+n+"\n"))})
	}
	srv.AddRaw(t, "acme/odd", p, entries...)
	s := newStore(t, srv, nil)
	c := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/odd")})
	require.Equal(t, len(names), c.Files())
	for _, n := range names {
		d, err := c.ReadFile(t.Context(), n)
		require.NoError(t, err, "%q", n)
		require.Equal(t, n, d.Path)
		raw, err := s.ReadBlob(t.Context(), checkout.Request{Repo: repo(srv, "acme/odd")}, c.SHA(), n)
		require.NoError(t, err)
		require.Equal(t, "needle in "+n+"\n", string(raw))
		g, err := c.Grep(t.Context(), checkout.GrepOptions{Pattern: "needle", Path: n})
		require.NoError(t, err)
		require.Equal(t, 1, g.Matches, "%q is literal", n)
	}
}

func sorted(names []string) []string {
	out := append([]string(nil), names...)
	for i := range out {
		for j := i + 1; j < len(out); j++ {
			if out[j] < out[i] {
				out[i], out[j] = out[j], out[i]
			}
		}
	}
	return out
}

// TestG11_Encodings reads what is not plain UTF-8.
func TestG11_Encodings(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	p := &checkouttest.Pack{}
	files := []struct {
		name, raw, text, encoding string
		binary                    bool
	}{
		{"bin", "\x7fELF\x00\x01", "\x7fELF\x00\x01", "", true},
		{"empty", "", "", "utf-8", false},
		{"latin1", "caf\xe9 cr\xe8me\n", "café crème\n", "latin-1", false},
		{"lfs", "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 5\n", "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 5\n", "utf-8", false},
		{"long", strings.Repeat("x", 5<<20) + "needle", strings.Repeat("x", 5<<20) + "needle", "utf-8", false},
		{"mark", "\xef\xbb\xbfneedle\n", "\xef\xbb\xbfneedle\n", "utf-8", false},
		{"utf16be", "\xfe\xff\x00n\x00e\x00\n", "ne\n", "utf-16be", false},
		{"utf16le", "\xff\xfen\x00e\x00e\x00d\x00l\x00e\x00", "needle", "utf-16le", false},
		{"utf16odd", "\xff\xfen\x00e", "n", "utf-16le", false},
	}
	var entries []checkouttest.TreeEntry
	for _, f := range files {
		entries = append(entries, checkouttest.TreeEntry{Mode: "100644", Name: f.name, OID: p.Add("blob", []byte(f.raw))})
	}
	srv.AddRaw(t, "acme/enc", p, entries...)
	s := newStore(t, srv, nil)
	c := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/enc")})
	everything(t, c)
	for _, f := range files {
		d, err := c.ReadFile(t.Context(), f.name)
		require.NoError(t, err)
		require.True(t, f.text == string(d.Data), f.name)
		require.Equal(t, f.encoding, d.Encoding, f.name)
		require.Equal(t, f.binary, d.Binary, f.name)
		require.Equal(t, f.name == "lfs", d.LFS)
		raw, err := os.ReadFile(filepath.Join(c.Dir(), f.name))
		require.NoError(t, err)
		require.True(t, bytes.Equal([]byte(f.raw), raw))
	}
	res, err := c.Grep(t.Context(), checkout.GrepOptions{Pattern: "^needle|x{9}needle|é"})
	require.NoError(t, err)
	var where []string
	for _, l := range res.Lines {
		where = append(where, l.Path)
		require.LessOrEqual(t, len(l.Text), 2000)
	}
	require.Equal(t, []string{"latin1", "long", "mark", "utf16le"}, where)
	require.Equal(t, "needle", res.Lines[2].Text)
	require.Equal(t, 1, res.Binary)
}

// TestG4_PointersStayPointers: submodules, a private one too, are shown as what
// they are, and nobody asks for a password.
func TestG4_PointersStayPointers(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	srv.Add(t, "acme/sub", `
-- @commit one --
-- .gitmodules --
[submodule "lib"]
	path = vendor/lib
	url = `+srv.RepoURL("acme/secret")+`
-- vendor/lib (submodule) --
0123456789012345678901234567890123456789
-- vendor/other (submodule) --
1123456789012345678901234567890123456789
-- vendor/x.txt --
x
`)
	srv.Auth = func(repo, _, _ string) int {
		if repo == "acme/secret" {
			t.Error("the submodule was asked for")
			return 401
		}
		return 0
	}
	s := newStore(t, srv, nil)
	c := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/sub")})
	d, err := c.ReadFile(t.Context(), "vendor/lib")
	require.NoError(t, err)
	require.Equal(t, checkout.Submodule, d.Kind)
	require.Equal(t, srv.RepoURL("acme/secret"), d.Target)
	require.Equal(t, "0123456789012345678901234567890123456789", d.OID)
	d, err = c.ReadFile(t.Context(), "vendor/other")
	require.NoError(t, err)
	require.Empty(t, d.Target)
	st, err := os.Stat(filepath.Join(c.Dir(), "vendor/lib"))
	require.NoError(t, err)
	require.True(t, st.IsDir())
	items, err := c.List(t.Context(), "vendor")
	require.NoError(t, err)
	require.Len(t, items, 3)
	require.Equal(t, 2, c.Files())
}

// TestMalformedTrees: names that must never become names on disk.
func TestMalformedTrees(t *testing.T) {
	t.Parallel()
	for i, names := range [][]string{{".git"}, {".GIT"}, {".git "}, {"git~1"}, {".g\u200cit"}, {".."}, {"."}, {"a/b"}, {"a", "a"}, {".git::$INDEX_ALLOCATION"}} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			srv := newServer(t)
			p := &checkouttest.Pack{}
			blob := p.Add("blob", []byte("x"))
			var entries []checkouttest.TreeEntry
			for _, n := range names {
				entries = append(entries, checkouttest.TreeEntry{Mode: "100644", Name: n, OID: blob})
			}
			srv.AddRaw(t, "acme/bad", p, entries...)
			var dir string
			s := newStore(t, srv, func(o *checkout.Options) { dir = o.Dir })
			_, err := s.Acquire(t.Context(), checkout.Request{Repo: repo(srv, "acme/bad")})
			var re *checkout.RefusedError
			require.ErrorAs(t, err, &re, "%q: %v", names, err)
			onlyWhole(t, dir)
		})
	}
}
