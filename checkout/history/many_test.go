package history_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
	"github.com/librarian-app/librarian/checkout/history"
)

// TestManyVersions: a search through more versions of files than are fetched in
// one batch is refused, unless git can fetch them by itself. Set
// LIBRARIAN_TEST_GIT to one that can, 2.54 or newer.
func TestManyVersions(t *testing.T) {
	t.Parallel()
	srv := checkouttest.NewServer(t)
	const files = 25_001
	var in strings.Builder
	for n, word := range []string{"first", "second", "third"} {
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter Ann <ann@example.com> %d +0000\ndata 0\n\n", 1500000000+n)
		if n == 2 { // so that the tree at hand is a small one
			in.WriteString("deleteall\n")
		}
		for i := range files {
			if n < 2 || i < 10 {
				text := fmt.Sprintf("the %s version of %d\n", word, i)
				fmt.Fprintf(&in, "M 100644 inline d%d/f%d\ndata %d\n%s\n", i%100, i, len(text), text)
			}
		}
	}
	checkouttest.InitBare(t, srv.Dir("acme/past"))
	checkouttest.GitInput(t, srv.Dir("acme/past"), in.String(), "fast-import", "--quiet", "--date-format=raw")
	c := acquire(t, srv)
	srv.Reset()
	r, err := history.Log(t.Context(), c, history.LogOptions{Added: "second version of 24000"})
	git := os.Getenv("LIBRARIAN_TEST_GIT")
	if git == "" {
		git = "git"
	}
	out, verr := exec.CommandContext(t.Context(), git, "version").Output() //nolint:gosec // the one under test
	require.NoError(t, verr)
	var major, minor int
	_, verr = fmt.Sscanf(string(out), "git version %d.%d", &major, &minor)
	require.NoError(t, verr)
	if major == 2 && minor < 54 {
		var be *history.BudgetError
		require.ErrorAs(t, err, &be)
		require.ErrorIs(t, c.Backfill(t.Context(), nil, nil), checkout.ErrNoBackfill)
		t.Skipf("git %d.%d cannot fetch so many by itself: that it is refused was seen", major, minor)
	}
	require.NoError(t, err)
	require.Len(t, r.Commits, 2, "where it came and where it went")
	n, _ := srv.Requests()
	require.LessOrEqual(t, n, int64(8))
}
