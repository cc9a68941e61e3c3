package checkout_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// TestG2_HistoryHeals: a store that is damaged while its tree is held. Whoever
// comes upon that is told, or served from one made anew, as deep as it was; and
// nobody takes a new store for as deep as the old one.
func TestG2_HistoryHeals(t *testing.T) {
	t.Parallel()
	head := func(c *checkout.Checkout) error {
		return c.Git(t.Context(), nil, func(r io.Reader) error { _, err := io.Copy(io.Discard, r); return err }, "rev-list", c.SHA())
	}
	for name, use := range map[string]func(t *testing.T, s *checkout.Store, c *checkout.Checkout, old string){
		"read": func(t *testing.T, _ *checkout.Store, c *checkout.Checkout, _ string) {
			require.ErrorContains(t, head(c), "ask again")
			require.NoError(t, c.Deepen(t.Context(), c.SHA(), 20))
		},
		"deepen": func(t *testing.T, _ *checkout.Store, c *checkout.Checkout, _ string) {
			require.NoError(t, c.Deepen(t.Context(), c.SHA(), 30))
		},
		"fill": func(t *testing.T, _ *checkout.Store, c *checkout.Checkout, old string) {
			n, err := c.Fill(t.Context(), []string{old})
			require.NoError(t, err)
			require.Equal(t, 1, n)
		},
		"acquire": func(t *testing.T, s *checkout.Store, c *checkout.Checkout, _ string) {
			acquire(t, s, checkout.Request{Repo: c.Repo(), Ref: "b50"})
			require.NoError(t, c.Deepen(t.Context(), c.SHA(), 20))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t)
			ids := srv.Add(t, "acme/one", manyCommits(60, 10))
			old := checkouttest.Git(t, srv.Dir("acme/one"), "rev-parse", ids["c45"]+":dir0/file0.txt")
			var dir string
			s := newStore(t, srv, func(o *checkout.Options) { dir = o.Dir })
			c := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/one"), Ref: "main"})
			require.NoError(t, c.Deepen(t.Context(), c.SHA(), 20))
			require.Equal(t, "20", commits(t, c))
			remove(t, inStore(t, dir, "")[0], "objects/pack/*")
			use(t, s, c, old)
			if err := head(c); err != nil { // what was used did not come upon the damage; who does is told, and that once
				require.ErrorContains(t, err, "ask again")
				require.NoError(t, c.Deepen(t.Context(), c.SHA(), 20))
				require.NoError(t, head(c))
			}
			require.GreaterOrEqual(t, commits(t, c), "20", "it is as deep as it was")
			require.NoError(t, c.Verify(t.Context()))
			onlyWhole(t, dir)
		})
	}
}

// TestDeletedInUse: somebody deletes the cache, or a part of it, while the store runs. It is made anew, and nothing falls over.
func TestDeletedInUse(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"", "locks", "tmp", "stores"} {
		t.Run("all"+part, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t)
			ids := srv.Add(t, "acme/one", small)
			var dir string
			s := newStore(t, srv, func(o *checkout.Options) { dir = filepath.Join(o.Dir, "cache"); o.Dir = dir })
			req := checkout.Request{Repo: repo(srv, "acme/one")}
			acquire(t, s, req).Release()
			for _, first := range []func() error{
				func() error { return s.Maintain(t.Context()) },
				func() error { req.Ref = "topic"; return nil },
			} {
				// A history that is fetched in the background may put a file into a folder that was just emptied.
				require.Eventually(t, func() bool { return os.RemoveAll(filepath.Join(dir, part)) == nil }, time.Minute, time.Millisecond)
				require.NoError(t, first())
				c := acquire(t, s, req)
				require.Equal(t, map[string]string{"": ids["second"], "topic": ids["third"]}[req.Ref], c.SHA())
				require.NoError(t, c.Verify(t.Context()))
				c.Release()
			}
		})
	}
}
