package checkout_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// TestG15_BadAnswers: hosts that answer with something else, with half of it,
// too slowly, or without end. Each ends in an error that says so, in time.
func TestG15_BadAnswers(t *testing.T) {
	t.Parallel()
	pkt := func(s string) string { return fmt.Sprintf("%04x%s", len(s)+4, s) }
	isFetch := func(srv *checkouttest.Server) bool { l := srv.Log(); return l[len(l)-1].Command == "fetch" }
	for _, tt := range []struct {
		name string
		set  func(srv *checkouttest.Server, o *checkout.Options)
		want any
		says string
	}{
		{"HTML", func(srv *checkouttest.Server, _ *checkout.Options) {
			srv.Intercept = func(w http.ResponseWriter, _ *http.Request) bool {
				fmt.Fprint(w, "<html>log in</html>")
				return true
			}
		}, new(*checkout.UpstreamError), "not git's"},
		{"dumb protocol", func(srv *checkouttest.Server, _ *checkout.Options) {
			srv.Intercept = func(w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("Content-Type", "text/plain")
				fmt.Fprint(w, strings.Repeat("1", 40), "\trefs/heads/main\n")
				return true
			}
		}, new(*checkout.UpstreamError), "not git's"},
		{"cut pack", func(srv *checkouttest.Server, _ *checkout.Options) { srv.Cut = 300 }, new(*checkout.UpstreamError), "cut off"},
		{"drip", func(srv *checkouttest.Server, o *checkout.Options) {
			o.Budget.Time = 3 * time.Second
			srv.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
				if !isFetch(srv) {
					return false
				}
				w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
				for r.Context().Err() == nil {
					fmt.Fprint(w, "0")
					_ = http.NewResponseController(w).Flush()
					select {
					case <-time.After(50 * time.Millisecond):
					case <-r.Context().Done():
					}
				}
				return true
			}
		}, nil, ""},
		{"silence", func(srv *checkouttest.Server, o *checkout.Options) {
			o.Budget.Stall = 500 * time.Millisecond
			srv.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
				if !isFetch(srv) {
					return false
				}
				w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
				fmt.Fprint(w, pkt("packfile\n"))
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
				return true
			}
		}, new(*checkout.UpstreamError), "silent"},
		{"endless pack", func(srv *checkouttest.Server, o *checkout.Options) {
			o.Budget.FetchBytes = 4 << 20
			srv.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
				if !isFetch(srv) {
					return false
				}
				w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
				fmt.Fprint(w, pkt("packfile\n"), pkt("\x01PACK\x00\x00\x00\x02\x7f\xff\xff\xff"))
				for r.Context().Err() == nil {
					if _, err := fmt.Fprint(w, pkt("\x01"+strings.Repeat("x", 60000))); err != nil {
						break
					}
				}
				return true
			}
		}, nil, ""},
		{"bytes", func(srv *checkouttest.Server, o *checkout.Options) { o.Budget.FetchBytes = 200 }, new(*checkout.BudgetError), "one fetch may bring"},
		{"tree bytes", func(_ *checkouttest.Server, o *checkout.Options) { o.Budget.TreeBytes = 20 }, new(*checkout.BudgetError), "in all"},
		{"file bytes", func(_ *checkouttest.Server, o *checkout.Options) { o.Budget.FileBytes = 20 }, new(*checkout.BudgetError), "src/main.go"},
		{"entries", func(_ *checkouttest.Server, o *checkout.Options) { o.Budget.Entries = 2 }, new(*checkout.BudgetError), "more than 2"},
		{"disk", func(_ *checkouttest.Server, o *checkout.Options) { o.Budget.FreeBytes = 1 << 60 }, new(*checkout.BudgetError), "GiB must stay free"},
		{"busy", func(srv *checkouttest.Server, _ *checkout.Options) {
			srv.Intercept = func(w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(http.StatusTooManyRequests)
				return true
			}
		}, new(*checkout.UpstreamError), "429"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t)
			srv.Add(t, "acme/one", small)
			var dir string
			s := newStore(t, srv, func(o *checkout.Options) { tt.set(srv, o); dir = o.Dir })
			began := time.Now()
			_, err := s.Acquire(t.Context(), checkout.Request{Repo: repo(srv, "acme/one")})
			require.Error(t, err)
			require.Less(t, time.Since(began), 10*time.Second)
			t.Log(err)
			if tt.want != nil {
				require.ErrorAs(t, err, tt.want)
				require.Contains(t, err.Error(), tt.says)
			} else {
				var up *checkout.UpstreamError
				var bud *checkout.BudgetError
				require.True(t, asEither(err, &up, &bud), "%v", err)
			}
			if tt.name == "busy" {
				require.Equal(t, 7*time.Second, (*tt.want.(**checkout.UpstreamError)).RetryAfter)
			}
			onlyWhole(t, dir)
		})
	}
}

// TestG15_Bomb: a small pack that unpacks to a lot.
func TestG15_Bomb(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	// 1 MiB, then 16 of them, then some of those. All are named, so that the
	// server sends the deltas as they are.
	p := &checkouttest.Pack{}
	base := []byte(strings.Repeat("x", 1<<20))
	first := p.Add("blob", base)
	wide := []byte(strings.Repeat(string(base), 16))
	p.Repeat(first, len(base), 16)
	n := 8
	if long() {
		n = 256 // 4 GiB
	}
	second := checkouttest.ObjectID("blob", wide)
	p.Repeat(second, len(wide), n)
	srv.AddRaw(t, "acme/bomb", p, checkouttest.TreeEntry{Mode: "100644", Name: "a", OID: first},
		checkouttest.TreeEntry{Mode: "100644", Name: "b", OID: second}, checkouttest.TreeEntry{Mode: "100644", Name: "c", OID: repeatID(wide, n)})
	for _, set := range []func(o *checkout.Options){
		func(o *checkout.Options) { o.Budget.Memory = 150 << 20 },
		func(o *checkout.Options) { o.Budget.TreeBytes = 64 << 20 },
	} {
		var dir string
		s := newStore(t, srv, func(o *checkout.Options) { set(o); dir = o.Dir })
		_, err := s.Acquire(t.Context(), checkout.Request{Repo: repo(srv, "acme/bomb")})
		t.Log(err)
		var bud *checkout.BudgetError
		require.ErrorAs(t, err, &bud)
		_, bytes := srv.Requests()
		require.Less(t, bytes, int64(64<<10), "the server sent the small pack")
		srv.Reset()
		onlyWhole(t, dir)
	}
}

// TestG15_DeepTree: 30,000 folders, one in the other; 5,000 where time is short.
func TestG15_DeepTree(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	p := &checkouttest.Pack{}
	blob := p.Add("blob", []byte("x"))
	entry := checkouttest.TreeEntry{Mode: "100644", Name: "x", OID: blob}
	levels := 5_000
	if long() {
		levels = 30_000
	}
	for range levels {
		entry = checkouttest.TreeEntry{Mode: "40000", Name: "d", OID: p.Add("tree", checkouttest.TreeData(entry))}
	}
	srv.AddRaw(t, "acme/deep", p, entry)
	var dir string
	s := newStore(t, srv, func(o *checkout.Options) { dir = o.Dir })
	_, err := s.Acquire(t.Context(), checkout.Request{Repo: repo(srv, "acme/deep")})
	t.Log(err)
	require.Error(t, err)
	var bud *checkout.BudgetError
	require.ErrorAs(t, err, &bud)
	onlyWhole(t, dir)
}

// TestFetchesTakeTurns: of six that want to fetch at once two do; who gives up while waiting leaves no mark.
func TestFetchesTakeTurns(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	for i := range 6 {
		srv.Add(t, fmt.Sprintf("acme/r%d", i), small)
	}
	var now, most atomic.Int64
	gate := make(chan struct{})
	srv.Intercept = func(_ http.ResponseWriter, r *http.Request) bool {
		if l := srv.Log(); l[len(l)-1].Command != "fetch" && !strings.Contains(l[len(l)-1].Body, "want ") {
			return false
		}
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			continue
		}
		select {
		case <-gate:
		case <-r.Context().Done():
		}
		return false
	}
	s := newStore(t, srv, func(o *checkout.Options) { o.Budget.Fetches = 2 })
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	gone := make(chan error, 1)
	for i := range 6 {
		if i == 5 { // comes when the turns are taken
			require.Eventually(t, func() bool { return now.Load() == 2 }, 30*time.Second, time.Millisecond)
			go func() {
				_, err := s.Acquire(ctx, checkout.Request{Repo: repo(srv, "acme/r5")})
				gone <- err
			}()
			continue
		}
		wg.Go(func() {
			c, err := s.Acquire(t.Context(), checkout.Request{Repo: repo(srv, fmt.Sprintf("acme/r%d", i))})
			if err != nil {
				t.Error(err)
				return
			}
			c.Release()
		})
	}
	cancel()
	require.ErrorIs(t, <-gone, context.Canceled)
	close(gate)
	wg.Wait()
	require.EqualValues(t, 2, most.Load())
}
