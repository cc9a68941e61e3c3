package history_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
