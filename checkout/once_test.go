package checkout_test

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
)

// TestG3_OneClone has ten goroutines and two further processes ask for one cold
// repository at once.
func TestG3_OneClone(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/one", small)
	var dir string
	s := newStore(t, srv, func(o *checkout.Options) { dir = o.Dir })
	req := checkout.Request{Repo: repo(srv, "acme/one")}
	var wg sync.WaitGroup
	hows := make([]checkout.How, 10)
	for i := range hows {
		wg.Go(func() {
			c, err := s.Acquire(t.Context(), req)
			if err != nil || c.SHA() != ids["second"] {
				t.Errorf("acquire: %v", err)
				return
			}
			hows[i] = c.How()
			c.Release()
		})
	}
	for range 2 {
		cmd, out := startChild(t, childJob{Dir: dir, Host: srv.Host(), Repos: []checkout.Repo{req.Repo}, Refs: []string{""}})
		wg.Go(func() {
			b, err := io.ReadAll(out)
			if err == nil {
				err = cmd.Wait()
			}
			if err != nil || !strings.Contains(string(b), ids["second"]) {
				t.Errorf("child: %v %s", err, b)
			}
		})
	}
	wg.Wait()
	fetches := 0
	for _, r := range srv.Log() {
		if r.Command == "fetch" {
			fetches++
		}
	}
	require.Equal(t, 1, fetches, "one clone for all")
	require.Contains(t, hows, checkout.Cached)
	onlyWhole(t, dir)
}

// TestPrivateAsksEachTime: without the caller's word that it has checked, a
// private store is not handed out on another's credentials.
func TestPrivateAsksEachTime(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	srv.Add(t, "acme/one", small)
	srv.Auth = func(_, _, password string) int {
		if password != "good-token" {
			return 404
		}
		return 0
	}
	s := newStore(t, srv, nil)
	r := repo(srv, "acme/one")
	r.Class = "private-7"
	good := checkout.Request{Repo: r, Credentials: token("good-token")}
	sha := acquire(t, s, good).SHA()
	var nf *checkout.NotFoundError
	for _, ref := range []string{"", "main", sha} {
		for _, cred := range []checkout.Credentials{nil, token("other-token")} {
			_, err := s.Acquire(t.Context(), checkout.Request{Repo: r, Ref: ref, Credentials: cred})
			require.ErrorAs(t, err, &nf, ref)
		}
	}
	n, _ := srv.Requests()
	good.Checked = true
	acquire(t, s, good)
	m, _ := srv.Requests()
	require.Equal(t, n, m)
	// The other class shares nothing.
	r.Class = checkout.Public
	_, err := s.Acquire(t.Context(), checkout.Request{Repo: r, Ref: sha})
	require.ErrorAs(t, err, &nf)
}
