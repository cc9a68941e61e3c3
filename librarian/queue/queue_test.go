package queue

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/store"
)

func TestSmoke(t *testing.T) {
	ctx := t.Context()
	s, err := store.Open(ctx, store.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	defer s.Close()
	q, err := Open(ctx, s, Options{})
	require.NoError(t, err)
	started := make(chan time.Time, 10)
	require.NoError(t, q.Start(ctx, Work{
		Research: func(ctx context.Context, id librarian.RunID) error {
			started <- time.Now()
			if _, err := s.Begin(ctx, id); err != nil {
				return err
			}
			_, err := s.Advance(ctx, id, store.Step{To: librarian.StateVerified, Kind: librarian.EventOutcome, Data: librarian.Outcome{}})
			return err
		},
		Publish: func(ctx context.Context, id librarian.RunID) error {
			started <- time.Now()
			return s.SetState(ctx, id, librarian.StateVerified, librarian.StatePublished)
		},
	}))
	for i := range 5 {
		time.Sleep(70 * time.Millisecond)
		r := librarian.Request{Kind: librarian.KindQuestion, Place: librarian.Place{Trigger: "issue_comment", TriggerID: int64(i + 1), Repo: "github:x:1"}}
		_, created, err := q.Enqueue(ctx, librarian.Delivery{ID: string(rune('a' + i)), Event: "issue_comment"}, r)
		require.NoError(t, err)
		require.True(t, created)
		t0 := time.Now()
		a := <-started
		b := <-started
		t.Log(a.Sub(t0), b.Sub(t0))
	}
	require.NoError(t, q.Stop(ctx))
}
