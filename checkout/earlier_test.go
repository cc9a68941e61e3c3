package checkout

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// TestIndexOfTheNextCommit: made by way of the earlier commit's index, and even
// of a damaged one, it is byte for byte the one that is made without.
func TestIndexOfTheNextCommit(t *testing.T) {
	t.Parallel()
	srv := checkouttest.NewServer(t)
	var archive strings.Builder
	archive.WriteString("-- @commit one --\n")
	for i := range 60 {
		fmt.Fprintf(&archive, "-- dir%d/file%d --\n%s", i%5, i, strings.Repeat(fmt.Sprintf("line %d of many\n", i), 1+40*(i%11)))
	}
	archive.WriteString("-- dir1/link (symlink) --\nfile1\n-- turns --\nfile\n")
	archive.WriteString("-- @ref refs/heads/one --\n-- @commit two --\n-- dir0/a-new-one --\nnew text\n-- dir2/file7 --\nchanged text\n-- zz --\nlast\n-- turns (symlink) --\nfile\n-- @ref refs/heads/two --\n")
	srv.Add(t, "acme/tree", archive.String())
	open := func() (*Store, func(ref string) *Checkout) {
		s, err := New(Options{Dir: t.TempDir(), PrivateHosts: []string{srv.Host()}})
		require.NoError(t, err)
		require.NoError(t, s.Start(t.Context()))
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s, func(ref string) *Checkout {
			c, err := s.Acquire(t.Context(), Request{Ref: ref, Repo: Repo{ID: "github:test:tree", Name: "acme/tree", URL: srv.RepoURL("acme/tree"), Class: Public}})
			require.NoError(t, err)
			t.Cleanup(c.Release)
			return c
		}
	}
	index := func(c *Checkout) []byte {
		require.NoError(t, c.store.makeIndex(t.Context(), c.tree))
		b, err := os.ReadFile(c.tree.indexPath())
		require.NoError(t, err)
		return b
	}
	_, acquire := open()
	want := index(acquire("two"))

	s, acquire := open()
	one, two := acquire("one"), acquire("two")
	earlier := index(one)
	m, done := s.earlier(t.Context(), two.tree)
	require.NotNil(t, m)
	tree, err := two.tree.list()
	require.NoError(t, err)
	known := 0
	for i := range tree.Entries {
		if _, _, ok := m.find(&tree.Entries[i]); ok {
			known++
		}
	}
	done()
	require.Equal(t, 59, known, "all files but what is new or changed")
	require.Equal(t, want, index(two))

	earlier[0] ^= 1
	require.NoError(t, writeFile(one.tree.indexPath(), earlier))
	require.NoError(t, os.Remove(two.tree.indexPath()))
	require.Equal(t, want, index(two))
}
