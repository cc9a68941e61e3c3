package run

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
)

// counts is what a Runner reads and keeps of one answered question.
type counts struct {
	run    librarian.Run
	events []librarian.Event
	due    time.Time
}

func (c *counts) Run(context.Context, librarian.RunID) (librarian.Run, error) { return c.run, nil }

func (c *counts) Append(context.Context, librarian.RunID, librarian.EventKind, any) (int64, error) {
	return 0, nil
}

func (c *counts) Events(context.Context, librarian.RunID, int64) ([]librarian.Event, error) {
	return c.events, nil
}

func (c *counts) VotesDue(context.Context, time.Time, int) ([]librarian.Run, error) {
	return []librarian.Run{c.run}, nil
}

func (c *counts) SetVotes(_ context.Context, _ librarian.RunID, _ *librarian.VotesData, due time.Time) error {
	c.due = due
	return nil
}

// GitHub may answer late. What somebody thinks of the answer meanwhile is not in it, so the next count goes by when it was asked.
func TestVotesAreDueByWhenTheyWereAskedFor(t *testing.T) {
	t.Parallel()
	posted, err := json.Marshal(librarian.PostedData{Role: librarian.RoleAnswer, Part: 1, Comment: 7})
	require.NoError(t, err)
	asked := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	now := asked
	c := &counts{
		run:    librarian.Run{ID: "r", State: librarian.StatePublished, CreatedAt: asked.Add(-time.Second)},
		events: []librarian.Event{{Kind: librarian.EventPosted, Data: posted}},
	}
	r := New(Options{Log: c, Ballots: c, Now: func() time.Time { return now },
		Votes: func(_ context.Context, _ librarian.Place, comment int64) (librarian.VotesData, error) {
			require.EqualValues(t, 7, comment)
			now = now.Add(time.Hour)
			return librarian.VotesData{}, nil
		}})
	require.NoError(t, r.CountVotes(t.Context()))
	require.Equal(t, asked.Add(votesFirst), c.due)
}
