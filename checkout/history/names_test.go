package history_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout/checkouttest"
	"github.com/librarian-app/librarian/checkout/history"
)

// Of a file that changed without lines only the first line of its difference
// gives the name, quoted or not.
func TestNamesOfChangesWithoutLines(t *testing.T) {
	t.Parallel()
	names := []string{"a b/x b/y", `c\" d`, `e\\`, `f" g`, "h\tb/h\" b", "plain", `é" ü`}
	before, after := "-- @commit one --\n", "-- @commit two --\n"
	for _, n := range names {
		before += "-- " + n + " --\nx\n"
		after += "-- " + n + " (exec) --\nx\n"
	}
	_, c, _ := open(t, before+after)
	r, err := history.Show(t.Context(), c, "", history.DiffOptions{})
	require.NoError(t, err)
	var shown []string
	for _, f := range r.Files {
		require.Empty(t, f.Lines)
		shown = append(shown, f.Path)
	}
	require.ElementsMatch(t, names, shown)
}

// Whatever a message holds, its commit is told of.
func TestMessagesWithControlCharacters(t *testing.T) {
	t.Parallel()
	_, c, ids := open(t, "-- @commit one --\n-- a --\n1\n-- @commit x\x01y\x1e\x02 --\n-- a --\n2\n-- @commit three --\n-- a --\n3\n")
	odd := ids["x\x01y\x1e\x02"]
	r, err := history.Log(t.Context(), c, history.LogOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"three", "x\x01y\x1e\x02", "one"}, subjects(r))
	require.Equal(t, odd, r.Commits[1].SHA)
	show, err := history.Show(t.Context(), c, odd, history.DiffOptions{})
	require.NoError(t, err)
	require.Equal(t, odd, show.SHA)
	require.Equal(t, []string{ids["one"]}, show.Parents)
}

// What a line does not show is told beside it, and bytes of Latin-1 are the characters that a file of them is read as.
func TestChangesThatLinesDoNotShow(t *testing.T) {
	t.Parallel()
	_, c, _ := open(t, "-- @commit one --\n-- ends --\na\nb\n-- latin --\nna\xefve\n-- run --\nx\n-- utf8 --\nï\xef\xbf\xbd\n"+
		"-- @commit two --\n-- ends --\na\r\nb\r\n-- latin --\nna\xefve caf\xe9\n-- run (exec) --\nx\n-- utf8 --\nï\xef\xbf\xbd2\n")
	r, err := history.Show(t.Context(), c, "", history.DiffOptions{})
	require.NoError(t, err)
	require.Len(t, r.Files, 4)
	require.Equal(t, [4]int{2, 2, 2, 0}, [4]int{r.Files[0].Added, r.Files[0].Removed, r.Files[0].AddedCRLF, r.Files[0].RemovedCRLF})
	require.Equal(t, "naïve", r.Files[1].Lines[1].Text)
	require.Equal(t, "naïve café", r.Files[1].Lines[2].Text)
	require.Equal(t, "100644 → 100755", r.Files[2].Mode)
	require.Equal(t, "ï\uFFFD", r.Files[3].Lines[1].Text)
}

func TestLogOfOddLimits(t *testing.T) {
	t.Parallel()
	_, c, _ := open(t, past)
	r, err := history.Log(t.Context(), c, history.LogOptions{Since: time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC)})
	require.NoError(t, err)
	require.Len(t, r.Commits, 5, "git knows no time before 1970")
	for _, o := range []history.LogOptions{{Added: "a\x00"}, {Touched: "a\x00"}, {Author: "a\x00"}, {Author: "\nAnn"}} {
		_, err := history.Log(t.Context(), c, o)
		var refused *history.InputError
		require.ErrorAs(t, err, &refused)
	}
}

// A host that is itself a shallow clone, as CI makes them, has not all the history there is.
func TestLogOfShallowHost(t *testing.T) {
	t.Parallel()
	srv := checkouttest.NewServer(t)
	srv.Add(t, "acme/all", past)
	checkouttest.Git(t, ".", "clone", "-q", "--bare", "--depth=3", "file://"+srv.Dir("acme/all"), srv.Dir("acme/past"))
	c := acquire(t, srv)
	for lookAt, shallow := range map[int]bool{1: false, 2: false, 3: true, 100: true} {
		r, err := history.Log(t.Context(), c, history.LogOptions{LookAt: lookAt})
		require.NoError(t, err)
		require.Equal(t, shallow, r.Shallow, lookAt)
		require.Len(t, r.Commits, min(lookAt, 3))
	}
	b, err := history.Blame(t.Context(), c, "new/name.go", 0, 0)
	require.NoError(t, err)
	require.True(t, b.Shallow)
	_, whole, _ := open(t, past)
	for _, lookAt := range []int{1, 2, 5, 300} {
		r, err := history.Log(t.Context(), whole, history.LogOptions{LookAt: lookAt})
		require.NoError(t, err)
		require.False(t, r.Shallow, lookAt)
	}
	b, err = history.Blame(t.Context(), whole, "new/name.go", 0, 0)
	require.NoError(t, err)
	require.False(t, b.Shallow)
}
