package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/store"
	"github.com/librarian-app/librarian/librarian/store/storetest"
)

func TestVotes(t *testing.T) {
	t.Parallel()
	withClock(t, func(t *testing.T, s *store.Store, c *clock) {
		ctx := t.Context()
		old := create(t, s, storetest.Question(1))
		c.advance(2 * time.Hour)
		since := c.now().Add(-time.Hour)
		first, second := create(t, s, storetest.Question(2)), create(t, s, storetest.Question(3))
		command := storetest.Question(4)
		command.Kind = librarian.KindCommand
		others := []librarian.RunID{old, create(t, s, command)}
		failed := create(t, s, storetest.Question(5))
		create(t, s, storetest.Question(6)) // open
		for _, id := range append([]librarian.RunID{first, second}, others...) {
			require.NoError(t, s.SetState(ctx, id, librarian.StateQueued, librarian.StatePublished))
		}
		require.NoError(t, s.SetState(ctx, failed, librarian.StateQueued, librarian.StateFailed))
		due := func(limit int) (ids []librarian.RunID) {
			runs, err := s.VotesDue(ctx, since, limit)
			require.NoError(t, err)
			for _, r := range runs {
				ids = append(ids, r.ID)
			}
			return ids
		}
		require.ElementsMatch(t, []librarian.RunID{first, second}, due(10), "answered questions since then")
		require.Len(t, due(1), 1)

		before, err := s.Run(ctx, first)
		require.NoError(t, err)
		c.advance(time.Minute)
		up := &librarian.VotesData{Up: 3, Down: 1}
		require.NoError(t, s.SetVotes(ctx, first, up, c.now().Add(time.Minute)))
		require.NoError(t, s.SetVotes(ctx, first, up, c.now().Add(time.Minute)))
		require.NoError(t, s.SetVotes(ctx, second, nil, c.now().Add(time.Hour)))
		require.Empty(t, due(10))
		events, err := s.Events(ctx, first, 0)
		require.NoError(t, err)
		require.Len(t, events, 1, "a count that changed nothing leaves no trace")
		after, err := s.Run(ctx, first)
		require.NoError(t, err)
		require.Equal(t, before.UpdatedAt, after.UpdatedAt, "a vote keeps no contents longer")
		c.advance(2 * time.Minute)
		require.Equal(t, []librarian.RunID{first}, due(10))

		require.NoError(t, s.SetVotes(ctx, second, &librarian.VotesData{Down: 2}, c.now()))
		sum, err := s.Votes(ctx, since)
		require.NoError(t, err)
		require.Equal(t, librarian.VotesData{Up: 3, Down: 3}, sum)
		require.NoError(t, s.SetVotes(ctx, first, &librarian.VotesData{Up: 2}, c.now()), "somebody took a vote back")
		sum, err = s.Votes(ctx, since)
		require.NoError(t, err)
		require.Equal(t, librarian.VotesData{Up: 2, Down: 2}, sum)
		require.ErrorIs(t, s.SetVotes(ctx, librarian.NewRunID(), up, c.now()), librarian.ErrRunNotFound)
	})
}
