package codetool_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// What finds nothing says why, where that can be known.
func TestNothingFoundSaysWhy(t *testing.T) {
	t.Parallel()
	b := oneRepo(t, "-- @commit c --\n-- a.txt --\nneedle\n-- image.png --\n\x89PNG\x00\n-- [id].ts --\nneedle\n")
	for args, want := range map[string]string{
		`{"pattern":"needle","glob":"["}`:         `No matches found (no text file matches the glob: put a \ before a literal { or [)`,
		`{"pattern":"needle","glob":"[id].ts"}`:   `No matches found (no text file matches the glob: put a \ before a literal { or [)`,
		`{"pattern":"needle","glob":"!*.txt"}`:    "No matches found (no text file matches the glob: a leading ! is part of the name, nothing can be left out by a glob)",
		`{"pattern":"needle","glob":"*.go"}`:      "No matches found (no text file was searched; check path and glob)",
		`{"pattern":"needle","path":"image.png"}`: "No matches found (1 binary file is named by path and glob: not searched)",
		`{"pattern":"nothing"}`:                   "No matches found",
	} {
		require.Equal(t, want, b.ok(t, "grep", args).Text, args)
	}
	require.Equal(t, "[id].ts:1: needle", b.ok(t, "grep", `{"pattern":"needle","glob":"\\[id].ts"}`).Text)
	require.Equal(t, `No files found matching pattern (put a \ before a literal { or [)`, b.ok(t, "find", `{"pattern":"["}`).Text)
	require.Equal(t, "No files found matching pattern (a leading ! is part of the name, nothing can be left out by a glob)", b.ok(t, "find", `{"pattern":"!*.txt"}`).Text)
	require.Equal(t, "No files found matching pattern", b.ok(t, "find", `{"pattern":"*.go"}`).Text)
}

// A long line that is not among those shown is not told of.
func TestGrepTellsOfLinesCutOnlyWhereOneIs(t *testing.T) {
	t.Parallel()
	line := "needle " + strings.Repeat("x", 400) + "\n"
	b := oneRepo(t, "-- @commit c --\n-- a.txt --\n"+strings.Repeat(line, 130)+"needle "+strings.Repeat("é", 600)+"\n")
	const cut = "[Lines are cut at 500 characters. Use read to see one whole.]"
	got := b.ok(t, "grep", `{"pattern":"needle","limit":2000}`).Text
	require.Contains(t, got, "[50.0KB limit reached. Refine the pattern or the path.]")
	require.NotContains(t, got, cut)
	require.Contains(t, b.ok(t, "grep", `{"pattern":"é"}`).Text, cut)
}

// Of a long line the match is shown, wherever on it that is.
func TestGrepShowsTheMatchOfALongLine(t *testing.T) {
	t.Parallel()
	b := oneRepo(t, "-- @commit c --\n-- min.js --\nfirst;"+strings.Repeat("é=1;", 2000)+"needle(7);"+strings.Repeat("b=2;", 2000)+"last;\n")
	const cut = "\n\n[Lines are cut at 500 characters. Use read to see one whole.]"
	for args, want := range map[string]string{
		`{"pattern":"needle(7)","literal":true}`:  "…*needle(7);*…",
		`{"pattern":"needle\\([0-9]\\)"}`:         "…*needle(7);*…",
		`{"pattern":"NEEDLE","ignore_case":true}`: "…*needle(7);*…",
		`{"pattern":"^first"}`:                    "*first;é=1;*…",
		`{"pattern":"last;$"}`:                    "…*b=2;last;*",
	} {
		parts := strings.Split(want, "*")
		got, found := strings.CutSuffix(b.ok(t, "grep", args).Text, cut)
		require.True(t, found, args)
		require.Equal(t, 500, utf8.RuneCountInString(strings.Trim(strings.TrimPrefix(got, "min.js:1: "), "…")), args)
		require.True(t, strings.HasPrefix(got, "min.js:1: "+parts[0]), got)
		require.True(t, strings.HasSuffix(got, parts[2]) && strings.HasSuffix(got, "…") == (parts[2] != ""), got)
		require.Contains(t, got, parts[1], args)
	}
}

// What cannot be meant as it is written is refused with the right way to say it.
func TestRefusalsSayWhatToDo(t *testing.T) {
	t.Parallel()
	b := oneRepo(t, "-- @commit c --\n-- src/a.txt --\nx\n")
	for _, name := range []string{"git_blame", "outline"} {
		require.Equal(t, "The root is a folder. Use ls.", b.refused(t, name, `{"path":""}`))
		require.Equal(t, "src is a folder. Use ls.", b.refused(t, name, `{"path":"src/"}`))
	}
	for name, args := range map[string]string{"git_log": `{"to":"v1..main"}`, "git_show": `{"commit":"v1..main"}`, "git_diff": `{"from":"v1..main"}`} {
		require.Equal(t, `"v1..main" is a range. Give its two ends as from and to of git_log or git_diff.`, b.refused(t, name, args))
	}
	const secret = `{"repo":"https://me:hunter2@forge.example/acme/one"}`
	require.Contains(t, b.refused(t, "checkout_repo", secret), `"https://…@forge.example/acme/one" does not name a repository: a URL must not carry a user name or password.`)
	_, subject := b.tools["checkout_repo"].Trace(json.RawMessage(secret))
	require.Equal(t, "https://…@forge.example/acme/one", subject, "traces are posted")
	require.Less(t, len(b.refused(t, "read", `{"path":"`+strings.Repeat("x", 100_000)+`"}`)), 3000)
	_, subject = b.tools["read"].Trace(json.RawMessage(fmt.Sprintf(`{"path":"src/a.txt","offset":%d,"limit":%[1]d}`, math.MaxInt)))
	require.Equal(t, fmt.Sprintf("one/src/a.txt:%d-%d", math.MaxInt, math.MaxInt-1), subject, "no range below zero")
}

// History tools tell what a newcomer to a commit must know to go on.
func TestHistoryTellsHowToGoOn(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	for i := range 3000 {
		fmt.Fprintln(&long, "line", i)
	}
	b := oneRepo(t, "-- @commit root --\n-- old.txt --\nx\ny\nz\n-- big/small.txt --\nx\n-- big/big.txt --\n"+long.String()+"-- @commit move --\n-- old.txt (delete) --\n-- new.txt --\nx\ny\nz\n-- @commit edit --\n-- new.txt --\nx\ny\nw\n")
	const was = "[new.txt was added in %.12s. If it had another name before, git_show of that commit without path says which.]"
	got := b.ok(t, "git_log", `{"path":"new.txt"}`).Text
	require.True(t, strings.HasSuffix(got, "\n\n"+fmt.Sprintf(was, b.sha("move"))), got)
	require.NotContains(t, b.ok(t, "git_log", `{"path":"new.txt","limit":1}`).Text, "another name", "there is more of it")
	require.NotContains(t, b.ok(t, "git_log", `{"path":"big/big.txt"}`).Text, "another name", "it is there from the beginning")
	require.Contains(t, b.ok(t, "git_show", `{"commit":"main~1"}`).Text, "R old.txt → new.txt")
	require.Contains(t, b.ok(t, "git_show", `{"commit":"main~1","path":"nope"}`).Text, "No changes at nope.")
	for path, want := range map[string]string{"big/big.txt": "[2000 lines limit reached. Read the file in a checkout of the commit for the rest.]", "big": "[2000 lines limit reached. Name one of the files.]", "": "[2000 lines limit reached. Name a path.]"} {
		got := b.ok(t, "git_show", fmt.Sprintf(`{"commit":%q,"path":%q}`, b.sha("root"), path)).Text
		require.True(t, strings.HasSuffix(got, want), got[len(got)-200:])
	}
}
