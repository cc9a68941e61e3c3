package history_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
	"github.com/librarian-app/librarian/checkout/history"
)

const past = `
-- @commit start --
-- old/name.go --
package name

func One() int { return 1 }

func Two() int { return 2 }

func Three() int { return 3 }

func Four() int { return 4 }
-- other.txt --
other
-- @commit two changes --
-- old/name.go --
package name

func One() int { return 1 }

func Two() int { return 22 }

func Three() int { return 3 }

func Four() int { return 4 }
-- @commit move and touch --
-- old/name.go (delete) --
-- new/name.go --
package name

func One() int { return 1 }

func Two() int { return 22 }

func Three() int { return 33 }

func Four() int { return 4 }
-- gone.txt --
needle
-- @commit drop needle --
-- gone.txt (delete) --
-- @tag v1 --
-- @commit odd names --
-- a "b	c.txt --
line
-- new/name.go --
package name

func One() int { return 1 }

func Two() int { return 22 }

func Three() int { return 33 }

func Four() int { return 44 }
-- @ref refs/pull/3/head --
`

// open serves an archive, or a bare repository, and checks out its main.
func open(t testing.TB, archive string) (*checkouttest.Server, *checkout.Checkout, map[string]string) {
	t.Helper()
	srv := checkouttest.NewServer(t)
	ids := srv.Add(t, "acme/past", archive)
	return srv, acquire(t, srv), ids
}

func acquire(t testing.TB, srv *checkouttest.Server) *checkout.Checkout {
	t.Helper()
	s, err := checkout.New(checkout.Options{Dir: t.TempDir(), Git: os.Getenv("LIBRARIAN_TEST_GIT"), PrivateHosts: []string{srv.Host()}})
	require.NoError(t, err)
	require.NoError(t, s.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	c, err := s.Acquire(t.Context(), checkout.Request{Repo: checkout.Repo{ID: "github:test:past", Name: "acme/past", URL: srv.RepoURL("acme/past"), Class: checkout.Public}})
	require.NoError(t, err)
	t.Cleanup(c.Release)
	return c
}

// forked has a branch that was merged back, and a commit that changes nothing.
const forked = `
-- @commit base --
-- a.txt --
a
-- @branch topic --
-- @commit topic one --
-- b.txt --
one
-- @commit topic two --
-- b.txt --
two
-- @tag t2 --
-- @back base --
-- @commit on main --
-- a.txt --
a2
-- @parent topic two --
-- @commit merge topic --
-- b.txt --
two
-- @commit nothing --
`

// Merges are told of, by what they brought.
func TestLogMerges(t *testing.T) {
	t.Parallel()
	_, c, ids := open(t, forked)
	all := []string{"nothing", "merge topic", "on main", "topic two", "topic one", "base"}
	for _, tt := range []struct {
		name string
		o    history.LogOptions
		want []string
	}{
		{"all", history.LogOptions{Merges: true}, all},
		{"none", history.LogOptions{}, []string{"nothing", "on main", "topic two", "topic one", "base"}},
		{"limit", history.LogOptions{Merges: true, Limit: 2}, all[:2]},
		{"path", history.LogOptions{Paths: []string{"b.txt"}}, []string{"topic two", "topic one"}},
		{"path with merges", history.LogOptions{Paths: []string{"b.txt"}, Merges: true}, []string{"merge topic", "topic two", "topic one"}},
		{"text with merges", history.LogOptions{Added: "two", Merges: true}, []string{"merge topic", "topic two"}},
		{"first parent", history.LogOptions{To: "HEAD~1^1", Merges: true}, []string{"on main", "base"}},
		{"range", history.LogOptions{From: "HEAD^^", To: "@^", Merges: true}, []string{"merge topic", "topic two", "topic one"}},
	} {
		r, err := history.Log(t.Context(), c, tt.o)
		require.NoError(t, err, tt.name)
		require.Equal(t, tt.want, subjects(r), tt.name)
		for _, e := range r.Commits {
			if e.Subject == "merge topic" {
				require.Equal(t, []history.Changed{{Status: 'A', Path: "b.txt"}}, e.Changed)
				require.Equal(t, []string{ids["on main"], ids["topic two"]}, e.Parents)
			}
			if e.Subject == "nothing" {
				require.Empty(t, e.Changed)
			}
		}
	}
}

// A short id is found though no history was looked at before.
func TestShortID(t *testing.T) {
	t.Parallel()
	_, c, ids := open(t, forked)
	r, err := history.Show(t.Context(), c, ids["topic two"][:9]+"^", history.DiffOptions{})
	require.NoError(t, err)
	require.Equal(t, "topic one", r.Subject)
	_, err = history.Show(t.Context(), c, "0123456", history.DiffOptions{})
	require.ErrorContains(t, err, "is not a branch, tag or commit there")
}

// Names may go back from a ref; what leads nowhere, or asks git for more than that, is refused.
func TestAncestors(t *testing.T) {
	t.Parallel()
	_, c, ids := open(t, forked)
	for name, want := range map[string]string{
		"HEAD": "nothing", "@": "nothing", "HEAD~0": "nothing", "HEAD^0": "nothing", "main~1": "merge topic", "main^": "merge topic", "HEAD^^2": "topic two",
		"HEAD~1^2~1": "topic one", "HEAD~~": "on main", "main~3": "base", "t2^": "topic one", "t2^{}": "topic two", "t2^{commit}~2": "base",
		ids["topic two"] + "~1": "topic one", ids["topic two"][:9] + "^": "topic one", "refs/tags/t2~2": "base",
	} {
		r, err := history.Show(t.Context(), c, name, history.DiffOptions{})
		require.NoError(t, err, name)
		require.Equal(t, want, r.Subject, name)
	}
	for name, want := range map[string]string{
		"main~9": "does not go back so far", "HEAD^2": "has no such parent", "~1": "names no commit", "main~20001": "goes back more than 20000 generations",
		"main~99999999999999999999": "goes back more than", "main^{tree}": "contains '^'", "main~x": "contains '~'", "HEAD@{1}": "'@{'", "main:a.txt": "contains ':'",
		"^main": "contains '^'", "-x~1": "begins with '-'", "nope~1": "", "a..b~1": "'..'", "main^!": "contains '^'", "main^-1": "contains '^'", "main\n~1": "",
	} {
		_, err := history.Show(t.Context(), c, name, history.DiffOptions{})
		require.ErrorContains(t, err, want, name)
	}
	_, err := history.Diff(t.Context(), c, history.DiffOptions{From: "main~2", To: "t2~1"})
	require.NoError(t, err)
}

func subjects(r history.LogResult) []string {
	var out []string
	for _, c := range r.Commits {
		out = append(out, c.Subject)
	}
	return out
}

func TestLog(t *testing.T) {
	t.Parallel()
	_, c, ids := open(t, past)
	for _, tt := range []struct {
		name string
		o    history.LogOptions
		want []string
	}{
		{"all", history.LogOptions{}, []string{"odd names", "drop needle", "move and touch", "two changes", "start"}},
		{"path", history.LogOptions{Paths: []string{"new"}}, []string{"odd names", "move and touch"}},
		{"path of old", history.LogOptions{Paths: []string{"old/name.go"}}, []string{"move and touch", "two changes", "start"}},
		{"magic path", history.LogOptions{Paths: []string{":(glob)**"}}, nil},
		{"-S", history.LogOptions{Added: "needle"}, []string{"drop needle", "move and touch"}},
		{"-S with path", history.LogOptions{Added: "return 22", Paths: []string{"old"}}, []string{"move and touch", "two changes"}},
		{"-G", history.LogOptions{Touched: "return [0-9]4"}, []string{"odd names"}},
		{"-G with a class", history.LogOptions{Touched: `\breturn \d4`}, []string{"odd names"}},
		{"-S option-like", history.LogOptions{Added: "--output=x"}, nil},
		{"author", history.LogOptions{Author: "ann@EXAMPLE", Paths: []string{"gone.txt"}}, []string{"drop needle", "move and touch"}},
		{"nobody", history.LogOptions{Author: "zed"}, nil},
		{"since", history.LogOptions{Since: time.Unix(1700000000+60*4, 0)}, []string{"odd names", "drop needle"}},
		{"range", history.LogOptions{From: "v1"}, []string{"odd names"}},
		{"to", history.LogOptions{To: ids["two changes"]}, []string{"two changes", "start"}},
		{"limit", history.LogOptions{Limit: 2}, []string{"odd names", "drop needle"}},
		{"look at", history.LogOptions{LookAt: 3}, []string{"odd names", "drop needle", "move and touch"}},
	} {
		r, err := history.Log(t.Context(), c, tt.o)
		require.NoError(t, err, tt.name)
		require.Equal(t, tt.want, subjects(r), tt.name)
		require.Equal(t, tt.name == "limit", r.Limited, tt.name)
		require.Equal(t, tt.name == "look at", r.Stopped, tt.name)
	}
	for _, o := range []history.LogOptions{{Touched: "(?=x)"}, {Touched: "("}, {Added: "a", Touched: "b"}, {Paths: []string{"../x"}}, {To: "--all"}, {From: "nope"}} {
		_, err := history.Log(t.Context(), c, o)
		require.Error(t, err, "%+v", o)
	}
}

// TestLogDepth: a cut-off history must not make its last commit look like the
// one that added everything.
func TestLogDepth(t *testing.T) {
	t.Parallel()
	_, c, _ := open(t, past)
	r, err := history.Log(t.Context(), c, history.LogOptions{LookAt: 2, Paths: []string{"other.txt"}})
	require.NoError(t, err)
	require.Empty(t, r.Commits)
	require.True(t, r.Stopped)
	require.Equal(t, 2, r.LookedAt)
	r, err = history.Log(t.Context(), c, history.LogOptions{LookAt: 100, Paths: []string{"other.txt"}})
	require.NoError(t, err)
	require.Equal(t, []string{"start"}, subjects(r))
	require.False(t, r.Stopped)
	require.Equal(t, 5, r.LookedAt)
}

// TestLogKeepsDepth: a shallow look at an older commit must not cut off what a
// deeper one brought.
func TestLogKeepsDepth(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "-- @commit c%d --\n-- f%d.txt --\n%d\n", i, i, i)
	}
	_, c, ids := open(t, b.String())
	deep := history.LogOptions{LookAt: 40, Limit: 100}
	r, err := history.Log(t.Context(), c, deep)
	require.NoError(t, err)
	require.Len(t, r.Commits, 40)
	old, err := history.Log(t.Context(), c, history.LogOptions{To: ids["c50"], LookAt: 3})
	require.NoError(t, err)
	require.Equal(t, []string{"c50", "c49", "c48"}, subjects(old))
	_, err = history.Show(t.Context(), c, ids["c45"], history.DiffOptions{})
	require.NoError(t, err)
	again, err := history.Log(t.Context(), c, deep)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(r, again))
	for _, cm := range again.Commits {
		require.Len(t, cm.Changed, 1, "no commit looks like the one that added everything")
	}
	all, err := history.Log(t.Context(), c, history.LogOptions{LookAt: 100, Limit: 100})
	require.NoError(t, err)
	require.Len(t, all.Commits, 60)
	require.False(t, all.Stopped)
}

func TestLogIsTwoBatches(t *testing.T) {
	t.Parallel()
	srv, c, _ := open(t, past)
	srv.Reset()
	for range 2 {
		_, err := history.Log(t.Context(), c, history.LogOptions{Added: "return 22"})
		require.NoError(t, err)
		n, _ := srv.Requests()
		require.EqualValues(t, 2, n, "one for the commits, one for the blobs, and then none")
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	_, c, ids := open(t, past)
	r, err := history.Show(t.Context(), c, ids["move and touch"], history.DiffOptions{})
	require.NoError(t, err)
	require.Equal(t, "move and touch", r.Subject)
	require.Equal(t, ids["two changes"], r.From)
	require.Len(t, r.Files, 2)
	require.Equal(t, "gone.txt", r.Files[0].Path)
	require.Equal(t, byte('A'), r.Files[0].Status)
	f := r.Files[1]
	require.Equal(t, byte('R'), f.Status)
	require.Equal(t, []string{"old/name.go", "new/name.go"}, []string{f.OldPath, f.Path})
	require.Equal(t, 1, f.Added)
	require.Equal(t, 1, f.Removed)
	require.Contains(t, f.Lines, history.DiffLine{Op: '-', Old: 7, Text: "func Three() int { return 3 }"})
	require.Contains(t, f.Lines, history.DiffLine{Op: '+', New: 7, Text: "func Three() int { return 33 }"})
	// A first commit is the difference to nothing; an odd name comes out as it is.
	r, err = history.Show(t.Context(), c, ids["start"], history.DiffOptions{Paths: []string{"other.txt"}})
	require.NoError(t, err)
	require.Len(t, r.Files, 1)
	require.Equal(t, byte('A'), r.Files[0].Status)
	r, err = history.Show(t.Context(), c, "", history.DiffOptions{})
	require.NoError(t, err)
	require.Equal(t, "a \"b\tc.txt", r.Files[0].Path)
	// A short id works once its history was looked at.
	_, err = history.Log(t.Context(), c, history.LogOptions{})
	require.NoError(t, err)
	r, err = history.Show(t.Context(), c, ids["two changes"][:10], history.DiffOptions{})
	require.NoError(t, err)
	require.Equal(t, "two changes", r.Subject)
	_, err = history.Show(t.Context(), c, "nope", history.DiffOptions{})
	var re *checkout.RefError
	require.ErrorAs(t, err, &re)
	// Lines are bounded, names of files are not.
	r, err = history.Show(t.Context(), c, ids["start"], history.DiffOptions{MaxLines: 3})
	require.NoError(t, err)
	require.True(t, r.Cut)
	require.Len(t, r.Files, 2)
}

func TestDiff(t *testing.T) {
	t.Parallel()
	_, c, ids := open(t, past)
	r, err := history.Diff(t.Context(), c, history.DiffOptions{From: ids["start"], To: "v1"})
	require.NoError(t, err)
	require.Equal(t, ids["drop needle"], r.To)
	require.Len(t, r.Files, 1)
	require.Equal(t, "new/name.go", r.Files[0].Path)
	require.Equal(t, 2, r.Files[0].Added)
	_, err = history.Diff(t.Context(), c, history.DiffOptions{})
	require.Error(t, err)
}

// TestT5_PullRequest: 1,000 files against the merge base, in few requests.
func TestT5_PullRequest(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("-- @commit base --\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "-- d%d/f%d.txt --\nold %d\n", i%10, i, i)
	}
	b.WriteString("-- @branch topic --\n-- @commit change --\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "-- d%d/f%d.txt --\nnew %d\n", i%10, i, i)
	}
	b.WriteString("-- @ref refs/pull/1/head --\n")
	srv := checkouttest.NewServer(t)
	ids := srv.Add(t, "acme/past", b.String())
	// main goes on meanwhile, which is no part of the pull request.
	dir := srv.Dir("acme/past")
	tree := checkouttest.Git(t, dir, "rev-parse", ids["base"]+"^{tree}")
	blob := checkouttest.GitInput(t, dir, "main only\n", "hash-object", "-w", "--stdin")
	sub := checkouttest.GitInput(t, dir, checkouttest.Git(t, dir, "ls-tree", tree)+"\n100644 blob "+blob+"\tmain.txt\n", "mktree")
	checkouttest.Git(t, dir, "update-ref", "refs/heads/main", checkouttest.Git(t, dir, "commit-tree", "-p", ids["base"], "-m", "on main", sub))
	c := acquire(t, srv)
	srv.Reset()
	r, err := history.Diff(t.Context(), c, history.DiffOptions{From: "main", To: "refs/pull/1/head", MergeBase: true})
	require.NoError(t, err)
	require.Equal(t, ids["base"], r.Base)
	require.Len(t, r.Files, 1000)
	require.True(t, r.Cut)
	n, _ := srv.Requests()
	require.LessOrEqual(t, n, int64(7))
}

func TestBlame(t *testing.T) {
	t.Parallel()
	srv, c, ids := open(t, past)
	srv.Reset()
	r, err := history.Blame(t.Context(), c, "new/name.go", 0, 0)
	require.NoError(t, err)
	var got []string
	for _, l := range r.Lines {
		got = append(got, fmt.Sprintf("%d %s %s:%d", l.Line, r.Commits[l.Commit].Subject, l.Path, l.Source))
	}
	require.Empty(t, cmp.Diff([]string{
		"1 start old/name.go:1", "2 start old/name.go:2", "3 start old/name.go:3", "4 start old/name.go:4", "5 two changes old/name.go:5",
		"6 start old/name.go:6", "7 move and touch new/name.go:7", "8 start old/name.go:8", "9 odd names new/name.go:9",
	}, got))
	require.Equal(t, 1, r.Renames)
	require.Equal(t, ids["two changes"], r.Commits[r.Lines[4].Commit].SHA)
	require.Equal(t, "Ann Author", r.Commits[0].Author)
	n, _ := srv.Requests()
	require.LessOrEqual(t, n, int64(6))
	r, err = history.Blame(t.Context(), c, "new/name.go", 5, 6)
	require.NoError(t, err)
	require.Len(t, r.Lines, 2)
	for _, bad := range [][2]int{{50, 60}, {5, 3}} {
		_, err = history.Blame(t.Context(), c, "new/name.go", bad[0], bad[1])
		require.Error(t, err)
	}
	_, err = history.Blame(t.Context(), c, "nope", 0, 0)
	require.Error(t, err)
}

// twice has a file that was moved on two branches, each time from a version that the other one never had.
var twice = func() string {
	body := func(first, last string) string {
		return "package name\n\nfunc One() int { return " + first + " }\n\nfunc Two() int { return 2 }\n\nfunc Three() int { return 3 }\n\nfunc Four() int { return 4 }\n\nfunc Five() int { return " + last + " }\n"
	}
	moved := "-- old/name.go (delete) --\n-- new/name.go --\n"
	return "-- @commit base --\n-- old/name.go --\n" + body("1", "5") +
		"-- @branch topic --\n-- @commit topic edits --\n-- old/name.go --\n" + body("1", "50") +
		"-- @commit topic edits more --\n-- old/name.go --\n" + body("1", "55") +
		"-- @commit topic moves --\n" + moved + body("1", "500") +
		"-- @back base --\n-- @commit main edits --\n-- old/name.go --\n" + body("10", "5") +
		"-- @commit main edits more --\n-- old/name.go --\n" + body("11", "5") +
		"-- @commit main moves --\n" + moved + body("100", "5") +
		"-- @parent topic moves --\n-- @commit both --\n-- new/name.go --\n" + body("100", "500")
}()

func TestBlame_MovedOnTwoBranches(t *testing.T) {
	t.Parallel()
	_, c, _ := open(t, twice)
	r, err := history.Blame(t.Context(), c, "new/name.go", 0, 0)
	require.NoError(t, err)
	subjects := map[int]string{}
	for _, l := range r.Lines {
		subjects[l.Line] = r.Commits[l.Commit].Subject
	}
	require.Equal(t, "main moves", subjects[3])
	require.Equal(t, "base", subjects[5])
	require.Equal(t, "topic moves", subjects[11])
}

// TestBlame_MovedIntoByMerge: a file was moved on one branch while the other went
// on changing it by its old name, more often than a blame asks for single versions.
func TestBlame_MovedIntoByMerge(t *testing.T) {
	t.Parallel()
	const edits = 30
	body := func(changed int, topic string) string {
		var b strings.Builder
		for i := range 2 * edits {
			if i < changed {
				fmt.Fprintf(&b, "line %d, changed\n", i)
			} else {
				fmt.Fprintf(&b, "line %d\n", i)
			}
		}
		return b.String() + topic + "\n"
	}
	var a strings.Builder
	a.WriteString("-- @commit base --\n-- old/name.txt --\n" + body(0, "end") +
		"-- @branch topic --\n-- @commit topic moves --\n-- old/name.txt (delete) --\n-- new/name.txt --\n" + body(0, "the end") + "-- @back base --\n")
	for i := 1; i <= edits; i++ {
		fmt.Fprintf(&a, "-- @commit main edits %d --\n-- old/name.txt --\n%s", i, body(i, "end"))
	}
	a.WriteString("-- @parent topic moves --\n-- @commit both --\n-- old/name.txt (delete) --\n-- new/name.txt --\n" + body(edits, "the end"))
	srv, c, _ := open(t, a.String())
	srv.Reset()
	r, err := history.Blame(t.Context(), c, "new/name.txt", 0, 0)
	require.NoError(t, err)
	require.Equal(t, 1, r.Renames)
	subject := func(line int) string { return r.Commits[r.Lines[line-1].Commit].Subject }
	for i := 1; i <= edits; i++ {
		require.Equal(t, fmt.Sprintf("main edits %d", i), subject(i))
	}
	require.Equal(t, "base", subject(edits+1))
	require.Equal(t, "topic moves", subject(2*edits+1))
	require.True(t, slices.IsSortedFunc(r.Commits, func(a, b history.Commit) int { return b.Date.Compare(a.Date) }), "newest first")
	n, _ := srv.Requests()
	require.LessOrEqual(t, n, int64(5), "versions are fetched together")
}

// TestBlame_MovedOften: what lies before the last renames that are foreseen is
// fetched when git asks for it.
func TestBlame_MovedOften(t *testing.T) {
	t.Parallel()
	const moves = 14
	var a strings.Builder
	for i := range moves {
		if fmt.Fprintf(&a, "-- @commit c%d --\n", i); i > 0 {
			fmt.Fprintf(&a, "-- n%d.txt (delete) --\n", i-1)
		}
		fmt.Fprintf(&a, "-- n%d.txt --\n", i)
		for l := range 3 * moves {
			fmt.Fprintf(&a, "line %d of the file %v\n", l, l <= i)
		}
	}
	_, c, _ := open(t, a.String())
	r, err := history.Blame(t.Context(), c, fmt.Sprintf("n%d.txt", moves-1), 0, 0)
	require.NoError(t, err)
	for i := range moves {
		require.Equal(t, fmt.Sprintf("c%d", i), r.Commits[r.Lines[i].Commit].Subject)
	}
}

// TestAgainstGit compares log and blame with what git says of a whole clone of
// a real project, if there is one: LIBRARIAN_BENCH_REPO.
func TestAgainstGit(t *testing.T) {
	t.Parallel()
	real := os.Getenv("LIBRARIAN_BENCH_REPO")
	if real == "" {
		t.Skip("LIBRARIAN_BENCH_REPO names no repository")
	}
	srv := checkouttest.NewServer(t)
	require.NoError(t, os.MkdirAll(filepath.Join(srv.Root, "acme"), 0o750))
	require.NoError(t, os.Symlink(real, srv.Dir("acme/past")))
	c := acquire(t, srv)
	tree, err := c.Tree(t.Context())
	require.NoError(t, err)
	n := 0
	for i := 0; i < len(tree.Entries); i += max(1, len(tree.Entries)/12) {
		e := tree.Entries[i]
		if e.Kind != checkout.File || e.Size == 0 || e.Size > 100_000 {
			continue
		}
		n++
		r, err := history.Blame(t.Context(), c, e.Path, 0, 0)
		require.NoError(t, err, e.Path)
		var want, got []string
		for l := range strings.Lines(checkouttest.Git(t, real, "blame", "-l", "-s", "-f", "-n", c.SHA(), "--", e.Path)) {
			want = append(want, strings.Join(strings.Fields(strings.TrimPrefix(l, "^"))[:1], " "))
		}
		for _, l := range r.Lines {
			got = append(got, r.Commits[l.Commit].SHA)
		}
		want = want[:min(len(want), 2000)]
		for i := range got { // git marks root commits and shortens their ids by one
			if i < len(want) && len(want[i]) == 39 {
				got[i] = got[i][:39]
			}
		}
		require.Empty(t, cmp.Diff(want, got), e.Path)
		lr, err := history.Log(t.Context(), c, history.LogOptions{Paths: []string{e.Path}, LookAt: 20_000, Limit: 500})
		require.NoError(t, err)
		var shas []string
		for _, cm := range lr.Commits {
			shas = append(shas, cm.SHA)
		}
		require.Equal(t, strings.Fields(checkouttest.Git(t, real, "rev-list", "--date-order", "--no-merges", "--full-history", "-n", "500", c.SHA(), "--", e.Path)), shas, e.Path)
	}
	require.Positive(t, n)
}

// TestBenignFaults: a history with zero-padded modes, as old projects have it,
// is taken in although git's check objects.
func TestBenignFaults(t *testing.T) {
	t.Parallel()
	srv := checkouttest.NewServer(t)
	p := &checkouttest.Pack{}
	blob := p.Add("blob", []byte("x\n"))
	sub := p.Add("tree", checkouttest.TreeData(checkouttest.TreeEntry{Mode: "100644", Name: "x", OID: blob}))
	bad := p.Add("tree", checkouttest.TreeData(checkouttest.TreeEntry{Mode: "040000", Name: "d", OID: sub}))
	first := p.Add("commit", checkouttest.CommitData(bad))
	tree := p.Add("tree", checkouttest.TreeData(checkouttest.TreeEntry{Mode: "40000", Name: "d", OID: sub}, checkouttest.TreeEntry{Mode: "100644", Name: "y", OID: blob}))
	head := p.Add("commit", fmt.Appendf(nil, "tree %s\nparent %s\nauthor A <a@example.com> 1700000100 +0000\ncommitter A <a@example.com> 1700000100 +0000\n\nsecond\n", tree, first))
	srv.AddRaw(t, "acme/past", p, checkouttest.TreeEntry{Mode: "100644", Name: "z", OID: blob})
	checkouttest.Git(t, srv.Dir("acme/past"), "update-ref", "refs/heads/main", head)
	c := acquire(t, srv)
	r, err := history.Log(t.Context(), c, history.LogOptions{Paths: []string{"d"}})
	require.NoError(t, err)
	require.Len(t, r.Commits, 1)
	require.Equal(t, first, r.Commits[0].SHA)
}
