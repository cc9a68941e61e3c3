package codetool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/librarian/tool"
)

const past = `
-- @commit first --
-- src/cart.go --
package cart

func Total() int {
	return 1
}
-- old name.txt --
one
two
three
four
-- @tag v1 --
-- @commit add tax --
-- src/cart.go --
package cart

func Total() int {
	tax := 2
	return 1 + tax
}
-- @commit move it --
-- old name.txt (delete) --
-- new name.txt --
one
two
three
four
five
-- logo.png --
` + "\x89PNG\x00\x00" + `
-- @branch topic --
-- @commit on the branch --
-- topic.txt --
t
`

func shas(r tool.Result, path string) map[string]string {
	out := map[string]string{}
	for _, e := range r.Evidence {
		if e.Path == path {
			out[e.SHA] += fmt.Sprintf("%d-%d ", e.Start, e.End)
		}
	}
	return out
}

// Merges are listed with what they brought, but not beside the very commits that a path or a text finds, unless they are asked for.
func TestGitLogMerges(t *testing.T) {
	t.Parallel()
	b := oneRepo(t, "-- @commit base --\n-- a.txt --\na\n-- @branch topic --\n-- @commit fix --\n-- b.txt --\nfix\n-- @back base --\n-- @parent fix --\n"+
		"-- @commit Merge pull request #7 --\n-- b.txt --\nfix\n")
	merge, fix, base := b.sha("Merge pull request #7"), b.sha("fix"), b.sha("base")
	entry := func(sha, kind, rest string) string {
		return fmt.Sprintf("%.12s 2023-11-14 Ann Author%s\n  %s", sha, kind, rest)
	}
	require.Equal(t, "3 commits found (looked at 3 commits, all there are).\n\n"+entry(merge, " (merge)", "Merge pull request #7\n  A b.txt\n")+
		entry(fix, "", "fix\n  A b.txt\n")+entry(base, "", "base\n  A a.txt"), b.ok(t, "git_log", `{}`).Text)
	require.Contains(t, b.ok(t, "git_log", `{"path":"b.txt"}`).Text, "1 commit found (looked at 3 commits, all there are).\n\n"+fix[:12])
	require.Contains(t, b.ok(t, "git_log", `{"path":"b.txt","merges":true}`).Text, "2 commits found (looked at 3 commits, all there are).\n\n"+merge[:12])
	require.NotContains(t, b.ok(t, "git_log", `{"merges":false}`).Text, merge[:12])
	require.Contains(t, b.ok(t, "git_show", `{"commit":"HEAD^2"}`).Text, "commit "+fix)
	require.Contains(t, b.ok(t, "git_show", `{"commit":"main"}`).Text, fmt.Sprintf("\nmerge of %.12s, %.12s; compared with the first\n\n    Merge pull request #7", base, fix))
	require.Equal(t, fmt.Sprintf("diff %.12s..%.12s\n\n1 file changed:\nA b.txt (+1 −0)\n\nb.txt\n@@\n+1: fix", base, merge), b.ok(t, "git_diff", `{"from":"main~1"}`).Text)
	require.Equal(t, `"HEAD~9" leads to no commit: the history does not go back so far there, or has no such parent.`, b.refused(t, "git_log", `{"to":"HEAD~9"}`))
	require.Contains(t, b.refused(t, "git_show", `{"commit":"main@{1}"}`), "contains '@{'")
}

func TestGitLog(t *testing.T) {
	t.Parallel()
	b := oneRepo(t, past)
	first, tax, move := b.sha("first"), b.sha("add tax"), b.sha("move it")

	got := b.ok(t, "git_log", `{}`)
	require.Equal(t, fmt.Sprintf(`3 commits found (looked at 3 commits, all there are).

%.12s 2023-11-14 Ann Author
  move it
  A logo.png, A new name.txt, D old name.txt
%.12s 2023-11-14 Ann Author
  add tax
  M src/cart.go
%.12s 2023-11-14 Ann Author
  first
  A old name.txt, A src/cart.go`, move, tax, first), got.Text)
	require.Equal(t, "one", got.Subject)
	require.Equal(t, "3 commits", got.Summary)
	require.Empty(t, got.Evidence)

	got = b.ok(t, "git_log", `{"added":"tax"}`)
	require.Contains(t, got.Text, "1 commit found (looked at 3 commits, all there are).\n\n"+tax[:12])
	require.Equal(t, "-S tax", got.Subject)
	require.Equal(t, "1 commit", got.Summary)
	require.Contains(t, b.ok(t, "git_log", `{"touched":"tax :?= [0-9]"}`).Text, tax[:12])
	require.Contains(t, b.ok(t, "git_log", `{"path":"old name.txt"}`).Text, "2 commits found", "a path that is gone")
	require.Contains(t, b.ok(t, "git_log", `{"from":"v1"}`).Text, "2 commits found (looked at 2 commits, all there are in that range).")
	require.Contains(t, b.ok(t, "git_log", `{"to":"topic","limit":1}`).Text, "on the branch")
	require.Contains(t, b.ok(t, "git_log", `{"author":"nobody"}`).Text, "No commits found (looked at 3 commits, all there are).")
	require.Contains(t, b.ok(t, "git_log", `{"since":"2030-01-01"}`).Text, "No commits found")
	got = b.ok(t, "git_log", `{"limit":1}`)
	require.True(t, strings.HasSuffix(got.Text, "[1 commits limit reached. Use limit=2 for more, or narrow the search.]"), got.Text)
	got = b.ok(t, "git_log", `{"look_at":1}`)
	require.Contains(t, got.Text, "1 commit found (looked at 1 commit and stopped there; use look_at=2 to go further back).")

	for args, want := range map[string]string{
		`{"limit":0}`:                    "limit must be greater than or equal to 1.",
		`{"look_at":0}`:                  "look_at must be greater than or equal to 1.",
		`{"since":"yesterday"}`:          "since must be a day as YYYY-MM-DD.",
		`{"path":"../x"}`:                "path leaves the repository. Give it relative to the repository's root.",
		`{"to":"--upload-pack=touch x"}`: "",
		`{"from":"nope"}`:                "",
		`{"touched":"("}`:                "",
		`{"added":"x","touched":"y"}`:    "",
		`{"repo":"acme/none"}`:           "acme/none is not checked out. Checked out: acme/one. Use checkout_repo for another.",
	} {
		text := b.refused(t, "git_log", args)
		if want != "" {
			require.Equal(t, want, text)
		}
	}
}

func TestGitShowAndDiff(t *testing.T) {
	t.Parallel()
	b := oneRepo(t, past)
	first, tax, move := b.sha("first"), b.sha("add tax"), b.sha("move it")

	got := b.ok(t, "git_show", `{"commit":"`+tax+`"}`)
	require.Equal(t, "commit "+tax+`
Ann Author <ann@example.com> on 2023-11-14

    add tax

1 file changed:
M src/cart.go (+2 −1)

src/cart.go
@@
 1: package cart
 2: 
 3: func Total() int {
-4: 	return 1
+4: 	tax := 2
+5: 	return 1 + tax
 6: }`, got.Text)
	require.Equal(t, map[string]string{tax: "1-6 ", first: "4-4 "}, shas(got, "src/cart.go"), "lines that are gone are of the parent")
	require.Equal(t, tax[:12]+" one", got.Subject)
	require.Equal(t, "1 file, +2 −1", got.Summary)

	got = b.ok(t, "git_show", `{}`)
	require.Contains(t, got.Text, "commit "+move)
	require.Contains(t, got.Text, "R old name.txt → new name.txt (+1 −0)")
	require.Contains(t, got.Text, "logo.png\nbinary, not shown")
	require.Equal(t, map[string]string{move: "2-5 "}, shas(got, "new name.txt"))
	require.Empty(t, shas(got, "old name.txt"))
	require.Contains(t, b.ok(t, "git_show", `{"commit":"`+first+`","path":"src"}`).Text, "+5: }")
	require.NotContains(t, b.ok(t, "git_show", `{"commit":"`+first+`","path":"src"}`).Text, "old name.txt")

	got = b.ok(t, "git_diff", `{"from":"v1","path":"src/cart.go","context":1}`)
	require.Equal(t, fmt.Sprintf("diff %.12s..%.12s\n\n1 file changed:\nM src/cart.go (+2 −1)\n\nsrc/cart.go\n@@ package cart\n 3: func Total() int {\n-4: \treturn 1\n+4: \ttax := 2\n+5: \treturn 1 + tax\n 6: }", first, move), got.Text)
	require.Equal(t, map[string]string{move: "3-6 ", first: "4-4 "}, shas(got, "src/cart.go"))
	require.Equal(t, "v1.. one/src/cart.go", got.Subject)
	got = b.ok(t, "git_diff", `{"from":"main","to":"topic","merge_base":true}`)
	require.Contains(t, got.Text, "A topic.txt (+1 −0)")
	require.Contains(t, got.Text, "is where they went apart)")
	require.Equal(t, "diff "+move[:12]+".."+move[:12]+"\n\nNo changes.", b.ok(t, "git_diff", `{"from":"main"}`).Text)

	for _, args := range []string{`{"from":"nope"}`, `{"from":"-x"}`, `{"from":"a..b"}`, `{"from":"v1","context":0}`, `{"from":"v1","path":"/../../etc"}`, `{}`} {
		b.refused(t, "git_diff", args)
	}
	for _, args := range []string{`{"commit":"0123456789012345678901234567890123456789"}`, `{"commit":"--all"}`, `{"context":0}`} {
		b.refused(t, "git_show", args)
	}
}

func TestGitDiffIsBounded(t *testing.T) {
	t.Parallel()
	b := oneRepo(t, "-- @commit a --\n-- a.txt --\nx\n-- @tag a --\n-- @commit b --\n-- a.txt --\n"+strings.Repeat("a line of text that is about sixty characters long, or so it is\n", 3000)+"-- b.txt --\nlast\n")
	got := b.ok(t, "git_diff", `{"from":"a"}`)
	require.LessOrEqual(t, len(got.Text), tool.MaxBytes+200)
	require.True(t, strings.HasSuffix(got.Text, "limit reached. Name a path.]"), got.Text[len(got.Text)-80:])
	require.Contains(t, got.Text, "A b.txt (+1 −0)", "what was changed is told all the same")
	last := got.Evidence[len(got.Evidence)-1]
	require.Contains(t, got.Text, fmt.Sprintf("\n+%d: a line", last.End))
	require.NotContains(t, got.Text, fmt.Sprintf("\n+%d: a line", last.End+1))
}

func TestGitBlame(t *testing.T) {
	t.Parallel()
	b := oneRepo(t, past)
	first, tax, move := b.sha("first"), b.sha("add tax"), b.sha("move it")
	got := b.ok(t, "git_blame", `{"path":"src/cart.go","offset":3,"limit":3}`)
	require.Equal(t, fmt.Sprintf(`%.8[1]s 3: func Total() int {
%.8[2]s 4: 	tax := 2
%.8[2]s 5: 	return 1 + tax

%.8[2]s 2023-11-14 Ann Author: add tax
%.8[1]s 2023-11-14 Ann Author: first

[1 more lines in file. Use offset=6 to continue.]`, first, tax), got.Text)
	require.Equal(t, []string{"src/cart.go:3-5"}, b.shown(t, got, move))
	require.Equal(t, "one/src/cart.go:3-5", got.Subject)
	require.Equal(t, "2 commits", got.Summary)
	got = b.ok(t, "git_blame", `{"path":"new name.txt"}`)
	require.Contains(t, got.Text, first[:8]+" old name.txt 1: one\n", "through the rename")
	require.Contains(t, got.Text, move[:8]+" 5: five\n")
	for args, want := range map[string]string{
		`{"path":"src/cart.go","offset":9}`: "Offset 9 is beyond end of file (6 lines total)",
		`{"path":"src/cart.go","offset":0}`: "offset must be greater than or equal to 1.",
		`{"path":"src"}`:                    "src is a folder. Use ls.",
		`{"path":"logo.png"}`:               "Binary file, 7B; its content is not shown.",
		`{"path":"nope"}`:                   "acme/one:nope not found at " + move[:7] + " (check the path and ref).",
	} {
		require.Equal(t, want, b.refused(t, "git_blame", args))
	}
}

func TestG11_GitBlameOfOtherEncodings(t *testing.T) {
	t.Parallel()
	b := oneRepo(t, "-- @commit c --\n-- latin.txt --\ncaf\xe9\n-- mark.txt --\n\xef\xbb\xbfone\n")
	require.Contains(t, b.ok(t, "git_blame", `{"path":"latin.txt"}`).Text, " 1: caf\u00e9\n")
	require.Contains(t, b.ok(t, "git_blame", `{"path":"latin.txt"}`).Text, "[Not UTF-8; read as Latin-1.]")
	require.Contains(t, b.ok(t, "git_blame", `{"path":"mark.txt"}`).Text, " 1: one\n")
	require.Contains(t, b.refused(t, "git_log", `{"touched":"("}`), "use added to search for plain text.")
}

// What git fails at, for whatever reason, is told to the model; no path of this machine is. What ends the call is no result.
func TestGitFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken, program := filepath.Join(dir, "broken"), filepath.Join(dir, "git")
	require.NoError(t, os.WriteFile(program, []byte(`#!/bin/sh
if [ -e '`+broken+`' ]; then
	case "$1" in blame|log|diff-tree|rev-list) echo "fatal: odd: cannot open '$GIT_DIR/a b' in $GIT_DIR/c: it is odd" >&2; exit 128;; esac
fi
exec git "$@"
`), 0o755))
	b := newBench(t, map[string]string{"acme/one": past}, func(o *checkout.Options) { o.Git = program })
	b.ok(t, "checkout_repo", `{"repo":"acme/one"}`)
	b.ok(t, "git_blame", `{"path":"src/cart.go"}`)
	require.NoError(t, os.WriteFile(broken, nil, 0o600))
	for name, args := range map[string]string{"git_blame": `{"path":"src/cart.go"}`, "git_log": `{}`, "git_show": `{}`, "git_diff": `{"from":"v1"}`} {
		got := b.refused(t, name, args)
		require.Regexp(t, "^The history could not be read here: .*git [a-z-]+: exit 128: fatal: odd: cannot open '…' in …: it is odd. Try another path or range, or say so in the findings.$", got)
		require.NotContains(t, got, os.TempDir())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := b.tools[name].Call(ctx, json.RawMessage(args))
		require.ErrorIs(t, err, context.Canceled, name)
	}
}

// What changed and no line shows is told with the file.
func TestGitShowTellsOfModesAndLineEnds(t *testing.T) {
	t.Parallel()
	b := oneRepo(t, "-- @commit one --\n-- crlf --\na\r\n-- lf --\na\n-- run --\nx\n-- @commit two --\n-- crlf --\na\n-- lf --\na\r\n-- run (exec) --\nx\n")
	require.Contains(t, b.ok(t, "git_show", `{}`).Text, "3 files changed:\nM crlf (+1 −1, line ends CRLF → LF)\nM lf (+1 −1, line ends LF → CRLF)\nM run (+0 −0, mode 100644 → 100755)\n")
}
