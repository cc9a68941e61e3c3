package store_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/store"
	"github.com/librarian-app/librarian/librarian/store/storetest"
)

func TestCountAndCost(t *testing.T) {
	t.Parallel()
	withClock(t, func(t *testing.T, s *store.Store, c *clock) {
		ctx := t.Context()

		old := create(t, s, storetest.Question(1))
		c.advance(25 * time.Hour)
		since := c.now().Add(-24 * time.Hour)
		var ids []librarian.RunID
		for i, change := range []func(*librarian.Request){
			func(*librarian.Request) {},
			func(r *librarian.Request) { r.Principal.ID = 43 },
			func(r *librarian.Request) { r.Place.Number = 8 },
			func(r *librarian.Request) { r.Place.Repo = librarian.GitHubRepo("github.example", 100) },
			func(r *librarian.Request) {
				r.Place.Repo, r.Place.Installation = librarian.GitHubRepo("github.example", 101), 6
			},
			func(r *librarian.Request) { r.Kind = librarian.KindCommand },
			func(*librarian.Request) {}, // declined below
		} {
			r := storetest.Question(int64(10 + i))
			change(&r)
			ids = append(ids, create(t, s, r))
			c.advance(time.Millisecond)
		}
		require.NoError(t, s.SetState(ctx, ids[6], librarian.StateQueued, librarian.StateDeclined))
		c.advance(time.Second)
		last := create(t, s, storetest.Question(20))
		for id, want := range map[librarian.RunID][]int{last: {3, 3, 2}, ids[0]: {0, 0, 0}} {
			run, err := s.Run(ctx, id)
			require.NoError(t, err)
			user, repo, thread, err := s.Count(ctx, run, since)
			require.NoError(t, err)
			require.Equal(t, want, []int{user, repo, thread}, "the user's earlier ones in the installation, the repository's, the thread's")
		}

		for i, cost := range []float64{0.25, 1, 0, -3, 7, math.NaN()} {
			_, err := s.Advance(ctx, ids[i], store.Step{To: librarian.StateVerified, Kind: librarian.EventOutcome, Data: librarian.Outcome{}, Cost: cost})
			require.NoError(t, err)
		}
		_, err := s.Advance(ctx, old, store.Step{To: librarian.StateVerified, Kind: librarian.EventOutcome, Data: librarian.Outcome{}, Cost: 100})
		require.NoError(t, err)
		sum, err := s.Cost(ctx, 5, since)
		require.NoError(t, err)
		require.InDelta(t, 1.25, sum, 1e-9, "of this installation, since then")

		run, err := s.Run(ctx, last)
		require.NoError(t, err)
		count := func() []int {
			user, repo, thread, err := s.Count(ctx, run, since)
			require.NoError(t, err)
			return []int{user, repo, thread}
		}
		before := count()
		for _, id := range []librarian.RunID{ids[0], ids[6]} { // one that cost something, one that was declined
			require.NoError(t, s.Forget(ctx, id))
		}
		require.Equal(t, before, count(), "who forgets has asked all the same")
		sum, err = s.Cost(ctx, 5, since)
		require.NoError(t, err)
		require.InDelta(t, 1.25, sum, 1e-9)
		gone := create(t, s, storetest.Question(30))
		_, err = s.Advance(ctx, gone, store.Step{To: librarian.StateVerified, Kind: librarian.EventOutcome, Data: librarian.Outcome{}, Cost: 2})
		require.NoError(t, err)
		require.NoError(t, s.Forget(ctx, gone))

		n, err := s.CancelInstallation(ctx, 5)
		require.NoError(t, err)
		require.Equal(t, int64(6), n, "all that are not over")

		_, err = s.ForgetRepo(ctx, run.Request.Place.Repo)
		require.NoError(t, err)
		sum, err = s.Cost(ctx, 5, since)
		require.NoError(t, err)
		require.InDelta(t, 3.25, sum, 1e-9, "what was spent is spent")
		require.Equal(t, []int{1, 0, 0}, count(), "of the repository nothing is known any more; the user asked elsewhere, too")
		c.advance(32 * 24 * time.Hour)
		_, err = s.Expire(ctx, c.now().Add(-store.KeepMessages), c.now().Add(-store.KeepAudit))
		require.NoError(t, err)
		sum, err = s.Cost(ctx, 5, since)
		require.NoError(t, err)
		require.Zero(t, sum, "with the month it is gone")
	})
}
