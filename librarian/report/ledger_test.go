package report

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/tool"
)

func ev(path string, start, end int) tool.Evidence {
	return tool.Evidence{Repo: "github:h:1", Name: "o/r", SHA: shaA, Path: path, Start: start, End: end}
}

func TestLedgerCovered(t *testing.T) {
	t.Parallel()
	l := NewLedger()
	l.Add(ev("a", 10, 20), ev("a", 30, 40), ev("a", 21, 25), ev("b", 0, 0), ev("c", 5, 4), ev("c", -1, 4), ev("c", 0, 7))
	for _, c := range []struct {
		path       string
		start, end int
		want       bool
	}{
		{"a", 10, 20, true}, {"a", 10, 25, true}, {"a", 12, 12, true}, {"a", 9, 12, false}, {"a", 20, 26, false},
		{"a", 10, 40, false}, {"a", 30, 40, true}, {"a", 41, 41, false}, {"a", 0, 0, true}, {"a", 20, 10, false},
		{"b", 0, 0, true}, {"b", 1, 1, false}, {"c", 0, 0, false}, {"d", 0, 0, false},
	} {
		require.Equal(t, c.want, l.Covered("github:h:1", shaA, c.path, c.start, c.end), "%v", c)
	}
	require.False(t, l.Covered("github:h:1", shaB, "a", 10, 20), "another commit")
	require.False(t, l.Covered("github:h:2", shaA, "a", 10, 20), "another repository")
	got, ok := l.Ranges("github:h:1", shaA, "a")
	require.True(t, ok)
	require.Equal(t, []Range{{10, 25}, {30, 40}}, got)
	l.Add(ev("a", 1, 99))
	got, _ = l.Ranges("github:h:1", shaA, "a")
	require.Equal(t, []Range{{1, 99}}, got)
}

func TestLedgerReplayEqualsAdd(t *testing.T) {
	t.Parallel()
	added, replayed := NewLedger(), NewLedger()
	for _, e := range []tool.Evidence{ev("a", 1, 5), ev("b", 2, 2), ev("a", 4, 9)} {
		added.Add(e)
		replayed.Replay(librarian.ToolEndData{Evidence: []librarian.Evidence{{Repo: librarian.RepoID(e.Repo), Name: e.Name, SHA: e.SHA, Path: e.Path, Start: e.Start, End: e.End}}})
	}
	require.Equal(t, added.Files(), replayed.Files())
	require.Len(t, added.Files(), 2)
}

func TestLedgerConcurrent(t *testing.T) {
	t.Parallel()
	l := NewLedger()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 50 {
				line := 1 + n*8 + i
				l.Add(ev("a", line, line))
				l.Covered("github:h:1", shaA, "a", 1, 2)
				l.Files()
			}
		})
	}
	wg.Wait()
	require.True(t, l.Covered("github:h:1", shaA, "a", 1, 400))
}
