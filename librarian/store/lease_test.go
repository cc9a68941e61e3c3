package store_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/store"
	"github.com/librarian-app/librarian/librarian/store/storetest"
)

var open = []librarian.State{librarian.StateQueued, librarian.StateRunning}

func TestLease(t *testing.T) {
	t.Parallel()
	withClock(t, func(t *testing.T, s *store.Store, c *clock) {
		ctx := t.Context()
		id := create(t, s, storetest.Question(1))

		var took atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				_, ok, err := s.TakeLease(ctx, id, string(librarian.NewRunID()), open...)
				if err != nil {
					t.Error(err)
				}
				if ok {
					took.Add(1)
				}
			})
		}
		wg.Wait()
		require.Equal(t, int32(1), took.Load(), "one of eight gets it")

		c.advance(store.LeaseTTL - time.Second)
		_, ok, err := s.TakeLease(ctx, id, "a", open...)
		require.NoError(t, err)
		require.False(t, ok, "it has not run out")
		c.advance(time.Second)
		l, ok, err := s.TakeLease(ctx, id, "a", open...)
		require.NoError(t, err)
		require.True(t, ok, "it has run out")
		require.Equal(t, s.Now().Add(store.LeaseTTL), l.Until)
		require.Equal(t, 2, l.Tries)

		c.advance(20 * time.Second)
		require.NoError(t, s.RenewLease(ctx, id, "a"))
		require.ErrorIs(t, s.RenewLease(ctx, id, "b"), store.ErrLeaseLost)
		c.advance(20 * time.Second)
		require.NoError(t, s.RenewLease(ctx, id, "a"))
		c.advance(store.LeaseTTL)
		require.ErrorIs(t, s.RenewLease(ctx, id, "a"), store.ErrLeaseLost, "a lease that ran out is not revived")

		_, ok, err = s.TakeLease(ctx, id, "b", open...)
		require.NoError(t, err)
		require.True(t, ok)
		require.ErrorIs(t, s.ReleaseLease(ctx, id, "a", store.Release{}), store.ErrLeaseLost, "the old holder cannot give b's lease back")
		require.NoError(t, s.ReleaseLease(ctx, id, "b", store.Release{WakeAt: c.now()}))
		require.ErrorIs(t, s.ReleaseLease(ctx, id, "b", store.Release{}), store.ErrLeaseLost)

		_, ok, err = s.TakeLease(ctx, id, "c", open...)
		require.NoError(t, err)
		require.True(t, ok)
		require.NoError(t, s.ReleaseLease(ctx, id, "c", store.Release{NotBefore: c.now().Add(time.Second), WakeAt: c.now().Add(time.Minute)}))
		_, ok, err = s.TakeLease(ctx, id, "c", open...)
		require.NoError(t, err)
		require.False(t, ok, "it is to wait")
		c.advance(time.Second)

		_, ok, err = s.TakeLease(ctx, id, "c", librarian.StateVerified)
		require.NoError(t, err)
		require.False(t, ok, "it is not in that state")
		require.NoError(t, s.SetState(ctx, id, librarian.StateQueued, librarian.StateDeclined))
		_, ok, err = s.TakeLease(ctx, id, "c", open...)
		require.NoError(t, err)
		require.False(t, ok)
		_, ok, err = s.TakeLease(ctx, librarian.NewRunID(), "c", open...)
		require.NoError(t, err)
		require.False(t, ok)
	})
}

func TestBeginCountsAttempts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, o store.Options) {
		s := storetest.Open(t, o)
		ctx := t.Context()
		take := func(id librarian.RunID, owner string) {
			_, ok, err := s.TakeLease(ctx, id, owner, open...)
			require.NoError(t, err)
			require.True(t, ok)
		}
		attempt := func(id librarian.RunID) int {
			r, err := s.Run(ctx, id)
			require.NoError(t, err)
			return r.Attempt
		}
		id := create(t, s, storetest.Question(1))
		take(id, "a")
		require.Zero(t, attempt(id), "a lease is not yet an attempt")
		for range 2 {
			n, err := s.Begin(ctx, id)
			require.NoError(t, err)
			require.Equal(t, 1, n, "once per lease")
		}
		require.Equal(t, 1, attempt(id))

		// Stopped with the process: it does not count.
		require.NoError(t, s.ReleaseLease(ctx, id, "a", store.Release{Uncount: true}))
		require.Zero(t, attempt(id))
		take(id, "b")
		require.NoError(t, s.ReleaseLease(ctx, id, "b", store.Release{Uncount: true}))
		require.Zero(t, attempt(id), "what was not begun is not taken back")

		for i, owner := range []string{"c", "d"} {
			take(id, owner)
			n, err := s.Begin(ctx, id)
			require.NoError(t, err)
			require.Equal(t, i+1, n)
			require.NoError(t, s.ReleaseLease(ctx, id, owner, store.Release{}))
		}
		take(id, "e")
		_, err := s.Begin(ctx, id)
		require.ErrorIs(t, err, store.ErrAttemptsSpent)
		require.Equal(t, 2, attempt(id))

		// The limit is the request's: a second run of it has what the first one left.
		first := create(t, s, storetest.Question(2))
		take(first, "f")
		_, err = s.Begin(ctx, first)
		require.NoError(t, err)
		require.NoError(t, s.SetState(ctx, first, librarian.StateRunning, librarian.StateFailed))
		_, err = s.Begin(ctx, first)
		var state *store.StateError
		require.ErrorAs(t, err, &state)
		second := create(t, s, storetest.Question(2))
		take(second, "g")
		_, err = s.Begin(ctx, second)
		require.NoError(t, err)
		require.NoError(t, s.ReleaseLease(ctx, second, "g", store.Release{}))
		take(second, "h")
		_, err = s.Begin(ctx, second)
		require.ErrorIs(t, err, store.ErrAttemptsSpent)
	})
}

func TestOrphans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, o store.Options) {
		c := newClock()
		o.Now = c.now
		s := storetest.Open(t, o)
		ctx := t.Context()
		orphans := func() map[librarian.RunID]librarian.State {
			t.Helper()
			list, err := s.Orphans(ctx, 100)
			require.NoError(t, err)
			out := map[librarian.RunID]librarian.State{}
			for _, o := range list {
				out[o.Run] = o.State
			}
			return out
		}
		waiting := create(t, s, storetest.Question(1)) // to be touched within a minute
		held := create(t, s, storetest.Question(2))
		done := create(t, s, storetest.Question(3))
		for _, id := range []librarian.RunID{held, done} {
			_, ok, err := s.TakeLease(ctx, id, "a", open...)
			require.NoError(t, err)
			require.True(t, ok)
		}
		require.NoError(t, s.SetState(ctx, done, librarian.StateQueued, librarian.StatePublished))
		require.Empty(t, orphans())

		c.advance(store.LeaseTTL)
		require.Equal(t, map[librarian.RunID]librarian.State{held: librarian.StateQueued}, orphans(), "its lease ran out")
		c.advance(time.Minute)
		require.Len(t, orphans(), 2)
		require.Contains(t, orphans(), waiting)

		adopt := func(id librarian.RunID) (ok bool) {
			require.NoError(t, s.Tx(ctx, func(tx *store.Tx) (err error) {
				ok, err = tx.Adopt(ctx, id, 77, s.Now().Add(time.Minute))
				return err
			}))
			return ok
		}
		require.True(t, adopt(held))
		require.False(t, adopt(held), "only one sweeper adopts it")
		require.False(t, adopt(done))
		require.NotContains(t, orphans(), held)
		_, ok, err := s.TakeLease(ctx, held, "b", open...)
		require.NoError(t, err)
		require.True(t, ok)
		c.advance(10 * time.Minute)
		list, err := s.Orphans(ctx, 100)
		require.NoError(t, err)
		require.Len(t, list, 2)
		for _, o := range list {
			if o.Run == held {
				require.Equal(t, int64(77), o.Job)
				require.Equal(t, librarian.KindQuestion, o.Kind)
			}
		}
	})
}

func TestExpireLeases(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{Dir: t.TempDir()})
	id := create(t, s, storetest.Question(1))
	_, ok, err := s.TakeLease(t.Context(), id, "a", open...)
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, s.ExpireLeases(t.Context()))
	list, err := s.Orphans(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, list, 1)
}
