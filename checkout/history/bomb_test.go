package history_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
	"github.com/librarian-app/librarian/checkout/history"
)

// TestG15_BombInThePast: the newest commit is an honest one; the one before it has a few trees that stand for 10^12 files. What names
// a path is answered; what would list them ends by a budget.
func TestG15_BombInThePast(t *testing.T) {
	t.Parallel()
	srv := checkouttest.NewServer(t)
	dir := srv.Dir("acme/past")
	checkouttest.InitBare(t, dir)
	p := &checkouttest.Pack{}
	blob := p.Add("blob", []byte("text\n"))
	honest := checkouttest.TreeEntry{Mode: "100644", Name: "ok.txt", OID: blob}
	tree := p.Add("tree", checkouttest.TreeData(honest))
	top := tree
	for range 12 {
		var entries []checkouttest.TreeEntry
		for i := range 10 {
			entries = append(entries, checkouttest.TreeEntry{Mode: "40000", Name: fmt.Sprintf("d%d", i), OID: top})
		}
		top = p.Add("tree", checkouttest.TreeData(entries...))
	}
	top = p.Add("tree", checkouttest.TreeData(checkouttest.TreeEntry{Mode: "40000", Name: "a", OID: top}, honest))
	past := p.Add("commit", checkouttest.CommitData(top))
	head := p.Add("commit", bytes.Replace(checkouttest.CommitData(tree), []byte("author"), []byte("parent "+past+"\nauthor"), 1))
	p.Install(t, dir)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "refs/heads"), 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "refs/heads/main"), []byte(head+"\n"), 0o600))

	s, err := checkout.New(checkout.Options{Dir: t.TempDir(), Git: os.Getenv("LIBRARIAN_TEST_GIT"), PrivateHosts: []string{srv.Host()},
		Budget: checkout.Budget{Memory: 256 << 20}})
	require.NoError(t, err)
	require.NoError(t, s.Start(t.Context()))
	t.Cleanup(func() { _ = s.Close() })
	c, err := s.Acquire(t.Context(), checkout.Request{Repo: checkout.Repo{ID: "github:test:past", Name: "acme/past", URL: srv.RepoURL("acme/past"), Class: checkout.Public}})
	require.NoError(t, err)
	t.Cleanup(c.Release)

	l, err := history.Log(t.Context(), c, history.LogOptions{Paths: []string{"ok.txt"}})
	require.NoError(t, err)
	require.Len(t, l.Commits, 1)
	b, err := history.Blame(t.Context(), c, "ok.txt", 0, 0)
	require.NoError(t, err)
	require.Len(t, b.Lines, 1)
	var bud *checkout.BudgetError
	_, err = history.Log(t.Context(), c, history.LogOptions{})
	require.ErrorAs(t, err, &bud)
	require.Contains(t, bud.Hint(), "path")
	_, err = history.Show(t.Context(), c, past, history.DiffOptions{})
	require.ErrorAs(t, err, &bud)
}
