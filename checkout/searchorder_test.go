package checkout

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSearchOrder: each file once, every batch in order, and where a search soon stops does not depend on the index.
func TestSearchOrder(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 31, 33, sampleFrom - 1, sampleFrom, sampleFrom + 63, 3*sampleFrom + 17, 78_635} {
		files := make([]int32, n)
		for i := range files {
			files[i] = int32(3 * i) // not all that is listed is a file
		}
		var first []int32
		for _, indexed := range []bool{false, true} {
			o := newSearchOrder(files)
			var all []int32
			for batch := o.next(indexed); len(batch) > 0; batch = o.next(indexed) {
				require.True(t, slices.IsSorted(batch))
				all = append(all, batch...)
			}
			if first == nil {
				first = slices.Clone(all)
			}
			require.Equal(t, first, all)
			slices.Sort(all)
			require.Equal(t, files, append([]int32{}, all...), n)
		}
	}
}

// TestGrepStopsAtTheLimit: in a tree of many files what is shown of too many matches is from all over it, by path,
// whole up to the limit, and the same with the index as without it.
func TestGrepStopsAtTheLimit(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{}
	for i := range sampleFrom + 500 {
		text := "nothing\n"
		switch {
		case i%1000 == 7:
			text = "seldom\nrare one\n"
		case i > 2000: // from the middle of the tree on
			text = strings.Repeat("frequent word\n", 1+i%3)
		}
		files[fmt.Sprintf("part%d/file%04d", i/500, i)] = []byte(text)
	}
	c := checkoutOf(t, files, nil)
	look := func(pattern string, limit int) (r GrepResult, folders []string) {
		r, err := c.Grep(t.Context(), GrepOptions{Pattern: pattern, Limit: limit})
		require.NoError(t, err)
		require.True(t, slices.IsSortedFunc(r.Lines, func(a, b GrepLine) int { return strings.Compare(a.Path, b.Path) }))
		for _, l := range r.Lines {
			require.Contains(t, string(files[l.Path]), l.Text)
			folders = append(folders, strings.Split(l.Path, "/")[0])
		}
		return r, slices.Compact(folders)
	}
	without, folders := look("frequent", 100)
	require.True(t, without.Limited)
	require.Equal(t, 100, without.Matches)
	require.Len(t, without.Lines, 100)
	require.Greater(t, len(folders), 2)
	few, _ := look("rare", 3)
	require.True(t, few.Limited)
	require.Len(t, few.Lines, 3)
	every, _ := look("rare", 5)
	require.False(t, every.Limited)
	require.Len(t, every.Lines, 5)
	more, _ := look("frequent", 200)
	for _, l := range without.Lines {
		require.Contains(t, more.Lines, l, "a higher limit takes nothing away")
	}
	awaitIndexes(t, c.store, 1)
	with, _ := look("frequent", 100)
	require.NotNil(t, c.tree.index.open)
	require.Equal(t, without, with)
	again, _ := look("rare", 3)
	require.Equal(t, few.Lines, again.Lines)
}
