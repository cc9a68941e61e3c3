package checkout_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

const soon = time.Millisecond

// inStore gives the files of the one store below dir that fit a pattern.
func inStore(t *testing.T, dir, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "stores/*/*/repo.git", pattern))
	require.NoError(t, err)
	return found
}

// commits counts the commits that git sees from a checkout's commit on.
func commits(t *testing.T, c *checkout.Checkout) string {
	t.Helper()
	var out []byte
	require.NoError(t, c.Git(t.Context(), nil, func(r io.Reader) (err error) { out, err = io.ReadAll(r); return err }, "rev-list", "--count", c.SHA()))
	return strings.TrimSpace(string(out))
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	require.Eventually(t, ok, 30*time.Second, 5*time.Millisecond, what)
}

// TestHistoryComesAhead: while a tree is held its history comes, and then nobody
// waits for the network; a second hold fetches nothing.
func TestHistoryComesAhead(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	srv.Add(t, "acme/one", manyCommits(60, 10))
	var dir string
	s := newStore(t, srv, func(o *checkout.Options) { dir, o.Ahead = o.Dir, soon })
	r := checkout.Request{Repo: repo(srv, "acme/one"), Ref: "main"}
	c := acquire(t, s, r)
	eventually(t, "the newest commits, and then all", func() bool { return s.Stats().Ahead == 2 && len(inStore(t, dir, "whole")) == 1 })
	require.Empty(t, inStore(t, dir, "shallow"))
	srv.Reset()
	require.NoError(t, c.Deepen(t.Context(), c.SHA(), checkout.Whole))
	require.Equal(t, "60", commits(t, c))
	again := acquire(t, s, r)
	again.Release()
	c.Release()
	c = acquire(t, s, r)
	require.NoError(t, c.Deepen(t.Context(), c.SHA(), checkout.Whole))
	n, _ := srv.Requests()
	require.Zero(t, n)
	// A further commit comes without the history again.
	before := s.Stats().Bytes
	b := acquire(t, s, checkout.Request{Repo: r.Repo, Ref: "b3"})
	require.Equal(t, "4", commits(t, b))
	sameAsUpstream(t, srv.Dir("acme/one"), b)
	require.Less(t, s.Stats().Bytes-before, before/2)
	eventually(t, "nothing half-made", func() bool { return len(leftovers(t, dir)) == 0 })
}

// stuck has every fetch whose request holds a text hang until it is given up. It
// gives how many hang, and how many were given up.
func stuck(srv *checkouttest.Server, body string) (hanging, ended *atomic.Int64) {
	hanging, ended = &atomic.Int64{}, &atomic.Int64{}
	srv.Intercept = func(_ http.ResponseWriter, r *http.Request) bool {
		b, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(b)))
		if !strings.Contains(string(b), "command=fetch") || !strings.Contains(string(b), body) {
			return false
		}
		hanging.Add(1)
		<-r.Context().Done()
		ended.Add(1)
		panic(http.ErrAbortHandler)
	}
	return hanging, ended
}

// TestHistoryAheadDelaysNobody: while it hangs, other commits of the same
// repository are fetched and handed out. Release ends it, and so does Close.
func TestHistoryAheadDelaysNobody(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"release", "close"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t)
			srv.Add(t, "acme/one", manyCommits(60, 10))
			dir := t.TempDir()
			hanging, ended := stuck(srv, "deepen 40")
			s, err := checkout.New(checkout.Options{Dir: dir, Git: testGit(), PrivateHosts: []string{srv.Host()}, Ahead: soon})
			require.NoError(t, err)
			require.NoError(t, s.Start(t.Context()))
			t.Cleanup(func() { _ = s.Close() })
			c := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/one"), Ref: "main"})
			eventually(t, "it hangs", func() bool { return hanging.Load() == 1 })
			for _, ref := range []string{"b7", "b9"} {
				other := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/one"), Ref: ref})
				sameAsUpstream(t, srv.Dir("acme/one"), other)
				other.Release()
			}
			require.NoError(t, c.Deepen(t.Context(), c.SHA(), 5), "who needs little waits for nothing")
			require.Zero(t, ended.Load())
			if end == "release" { // another's hold is no reason to go on with the credentials of who is done
				defer acquire(t, s, checkout.Request{Repo: repo(srv, "acme/one"), Ref: "main"}).Release()
				c.Release()
			} else {
				require.NoError(t, s.Close())
			}
			eventually(t, "it is given up", func() bool { return ended.Load() >= 1 })
			eventually(t, "nothing half-made", func() bool { return len(leftovers(t, dir)) == 0 })
			require.Zero(t, s.Stats().Ahead)
		})
	}
}

// TestHistoryAheadWaitsForReaders: it comes in between those who read history,
// and holds up no Acquire while it waits for them.
func TestHistoryAheadWaitsForReaders(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	srv.Add(t, "acme/one", manyCommits(60, 10))
	gate := make(chan struct{})
	srv.Intercept = func(_ http.ResponseWriter, r *http.Request) bool {
		if log := srv.Log(); strings.Contains(log[len(log)-1].Body, "deepen 40") {
			select {
			case <-gate:
			case <-r.Context().Done():
			}
		}
		return false
	}
	s := newStore(t, srv, func(o *checkout.Options) { o.Ahead = soon })
	c := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/one"), Ref: "main"})
	reading, read := make(chan struct{}), make(chan struct{})
	over := make(chan error, 1)
	go func() {
		over <- c.Git(context.Background(), nil, func(r io.Reader) error {
			close(reading)
			<-read
			_, err := io.Copy(io.Discard, r)
			return err
		}, "rev-parse", c.SHA())
	}()
	<-reading
	close(gate)
	bytes := s.Stats().Bytes
	eventually(t, "it came", func() bool { return s.Stats().Bytes > bytes })
	acquire(t, s, checkout.Request{Repo: repo(srv, "acme/one"), Ref: "b5"})
	require.Zero(t, s.Stats().Ahead, "it moved under a reader")
	close(read)
	require.NoError(t, <-over)
	eventually(t, "it moved in", func() bool { return s.Stats().Ahead > 0 })
}

// TestHistoryAheadHasALimit: of a history that is too long only the newest
// commits come; that is noted, and the rest comes when it is asked for.
func TestHistoryAheadHasALimit(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	srv.Add(t, "acme/one", manyCommits(300, 10))
	var dir string
	s := newStore(t, srv, func(o *checkout.Options) { dir, o.Ahead, o.Budget.History = o.Dir, soon, 24<<10 })
	r := checkout.Request{Repo: repo(srv, "acme/one"), Ref: "main"}
	c := acquire(t, s, r)
	eventually(t, "it is noted", func() bool { return len(inStore(t, dir, "long")) == 1 })
	require.EqualValues(t, 1, s.Stats().Ahead)
	require.Equal(t, "40", commits(t, c))
	c.Release()
	srv.Reset()
	c = acquire(t, s, r)
	require.NoError(t, c.Deepen(t.Context(), c.SHA(), 30))
	n, _ := srv.Requests()
	require.Zero(t, n)
	require.NoError(t, c.Deepen(t.Context(), c.SHA(), checkout.Whole))
	require.Equal(t, "300", commits(t, c))
	require.Empty(t, inStore(t, dir, "shallow"))
}

// TestHistoryAheadOfTheMalformed: what is malformed in the past is not taken in, and the tree is served all the same.
func TestHistoryAheadOfTheMalformed(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	pastRepo(t, srv, "acme/past", ".git")
	var dir string
	s := newStore(t, srv, func(o *checkout.Options) { dir, o.Ahead = o.Dir, soon })
	c := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/past")})
	eventually(t, "it is fetched", func() bool { return s.Stats().Fetches == 2 && len(leftovers(t, dir)) == 0 })
	require.Zero(t, s.Stats().Ahead)
	require.Equal(t, "1", commits(t, c))
	everything(t, c)
	_, err := os.Stat(inStore(t, dir, "objects/pack/*.pack")[0])
	require.NoError(t, err)
	require.Len(t, inStore(t, dir, "objects/pack/*.pack"), 1)
}

// TestG1_HistoryAheadHidesTheToken: what goes wrong in the background is logged, without it.
func TestG1_HistoryAheadHidesTheToken(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	srv.Add(t, "acme/one", manyCommits(60, 10))
	arrived := make(chan struct{}, 8)
	proceed := make(chan struct{})
	srv.Intercept = func(w http.ResponseWriter, r *http.Request) bool {
		if log := srv.Log(); !strings.Contains(log[len(log)-1].Body, "deepen 40") {
			return false
		}
		arrived <- struct{}{}
		select {
		case <-proceed:
		case <-r.Context().Done():
		}
		http.Error(w, "you sent "+r.Header.Get("Authorization")+" "+canary, http.StatusInternalServerError)
		return true
	}
	var log lockedBuffer
	var dir string
	s := newStore(t, srv, func(o *checkout.Options) {
		dir, o.Ahead = o.Dir, soon
		o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	r := repo(srv, "acme/one")
	r.Class = "private-1"
	c := acquire(t, s, checkout.Request{Repo: r, Ref: "main", Credentials: token(canary)})
	<-arrived
	scanProcesses(t)
	close(proceed)
	eventually(t, "it is logged", func() bool { return strings.Contains(log.String(), "history is left") })
	hidden(t, "the log", log.String())
	require.Contains(t, log.String(), "500")
	for _, form := range canaryForms {
		grepDisk(t, dir, form)
	}
	last := srv.Log()
	require.NotEmpty(t, last[len(last)-1].Authorization, "the host itself is given the token")
	everything(t, c)
}

// lockedBuffer is a buffer that several may write to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
