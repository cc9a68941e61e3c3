package hub_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/hub"
)

// receiver answers deliveries with status, and tells the GUIDs that came.
func (w *world) receiver(status func(guid string, n int) int) (got func() []string) {
	w.t.Helper()
	var mu sync.Mutex
	var all []string
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		guid := r.Header.Get("X-GitHub-Delivery")
		all = append(all, guid)
		n := 0
		for _, g := range all {
			if g == guid {
				n++
			}
		}
		rw.WriteHeader(status(guid, n))
	}))
	w.t.Cleanup(s.Close)
	require.NoError(w.t, w.SetWebhookURL(w.app, s.URL))
	require.NoError(w.t, w.WaitDeliveries(ctx))
	return func() []string {
		require.NoError(w.t, w.WaitDeliveries(ctx))
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

func TestMissedDeliveries(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	up := false
	var mu sync.Mutex
	set := func(v bool) { mu.Lock(); up = v; mu.Unlock() }
	set(true)
	got := w.receiver(func(string, int) int {
		mu.Lock()
		defer mu.Unlock()
		if up {
			return http.StatusOK
		}
		return http.StatusBadGateway
	})
	_, err := w.OpenIssue("acme/app", "ada", "fine", "b")
	require.NoError(t, err)
	before := got()
	set(false)
	for range 110 { // more than one page
		_, err = w.OpenIssue("acme/app", "ada", "missed", "b")
		require.NoError(t, err)
	}
	missed := got()[len(before):]
	require.Len(t, missed, 110)
	failures, err := w.hub.FailedDeliveries(ctx, time.Now().Add(-time.Hour))
	require.NoError(t, err)
	require.Len(t, failures, 110)
	require.Equal(t, "issues", failures[0].Event)
	require.Equal(t, "opened", failures[0].Action)
	require.Equal(t, http.StatusBadGateway, failures[0].Status)
	require.Less(t, failures[0].ID, failures[109].ID, "the oldest first")
	none, err := w.hub.FailedDeliveries(ctx, time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Empty(t, none, "older than what is asked for")
	require.ErrorIs(t, w.hub.Redeliver(ctx, 1), librarian.ErrNotFound)

	// The App is up again; each is asked for once, by however many processes, after whatever restart.
	set(true)
	run := func(m hub.MissedDeliveries, until int) {
		t.Helper()
		m.Hub, m.Every = w.hub, 20*time.Millisecond
		ctx, stop := context.WithCancel(ctx)
		var done sync.WaitGroup
		done.Go(func() { m.Run(ctx) })
		require.Eventually(t, func() bool { return len(got()) >= until }, 30*time.Second, 5*time.Millisecond)
		looks := len(w.Requests())
		require.Eventually(t, func() bool { return len(w.Requests()) >= looks+6 }, 30*time.Second, 5*time.Millisecond, "some more looks")
		stop()
		done.Wait()
	}
	store := &remembered{seen: map[string]bool{missed[0]: true}}
	run(hub.MissedDeliveries{Asked: store}, len(before)+110+109)
	again := got()[len(before)+110:]
	slices.Sort(again) // several are under way at once
	want := slices.Clone(missed[1:])
	slices.Sort(want)
	require.True(t, slices.Equal(want, again), "each once, and not the one that was asked for before")
	require.Len(t, store.seen, 110)
	run(hub.MissedDeliveries{}, len(before)+110+110) // another process, which remembers nothing
	require.Equal(t, missed[0], got()[len(before)+110+109])
	require.Len(t, got(), len(before)+220)
}

func TestMissedDeliveriesThatFailAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	got := w.receiver(func(string, int) int { return http.StatusInternalServerError })
	before := len(got())
	_, err := w.OpenIssue("acme/app", "ada", "missed", "b")
	require.NoError(t, err)
	require.Len(t, got(), before+1)
	failures, err := w.hub.FailedDeliveries(ctx, time.Now().Add(-time.Hour))
	require.NoError(t, err)
	for _, f := range failures {
		require.NoError(t, w.hub.Redeliver(ctx, f.ID))
	}
	require.Len(t, got(), before+1+len(failures))
	failures, err = w.hub.FailedDeliveries(ctx, time.Now().Add(-time.Hour))
	require.NoError(t, err)
	require.Empty(t, failures, "once is enough")
	anyone := w.newHub(hub.Options{})
	_, err = anyone.FailedDeliveries(ctx, time.Now())
	require.Error(t, err)
}

// remembered is a store of what was asked for.
type remembered struct{ seen map[string]bool }

func (r *remembered) Remember(_ context.Context, guid string) (bool, error) {
	fresh := !r.seen[guid]
	r.seen[guid] = true
	return fresh, nil
}

// While nothing can be taken, nothing is asked for: what fails once more would never come.
func TestMissedDeliveriesWaitUntilTheyCanBeTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	got := w.receiver(func(_ string, n int) int {
		if n == 1 {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	before := len(got())
	_, err := w.OpenIssue("acme/app", "ada", "missed", "b")
	require.NoError(t, err)
	require.Len(t, got(), before+1)
	run, stop := context.WithCancel(ctx)
	defer stop()
	looks := make(chan int)
	m := &hub.MissedDeliveries{Hub: w.hub, Every: time.Millisecond, Ready: func(context.Context) error {
		n, ok := <-looks
		if ok && n > 0 {
			return errors.New("the disk is full")
		}
		return nil
	}}
	go m.Run(run)
	for range 3 {
		looks <- 1
	}
	require.Len(t, got(), before+1, "it cannot be taken yet")
	looks <- 0
	close(looks)
	require.Eventually(t, func() bool { return len(got()) > before+1 }, 10*time.Second, 5*time.Millisecond)
	require.Contains(t, w.log.String(), "the disk is full")
}
