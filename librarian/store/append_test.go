package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/store"
	"github.com/librarian-app/librarian/librarian/store/storetest"
)

// Events that are written together fail for their own run alone, and their numbers have no gaps.
func TestEventsOfManyRunsAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, o store.Options) {
		s := storetest.Open(t, o)
		const runs, each = 30, 10
		gone, stop := context.WithCancel(t.Context())
		stop()
		var all sync.WaitGroup
		ids := make([]librarian.RunID, runs)
		for i := range ids {
			ids[i] = create(t, s, storetest.Question(int64(i+1)))
		}
		for i, id := range ids {
			all.Go(func() {
				for n := range each {
					seq, err := s.Append(t.Context(), id, librarian.EventNote, librarian.NoteData{Text: fmt.Sprint(n)})
					if err != nil || seq != int64(n+1) {
						t.Errorf("run %d: event %d got number %d: %v", i, n+1, seq, err)
					}
				}
			})
			all.Go(func() {
				if _, err := s.Append(t.Context(), librarian.NewRunID(), librarian.EventNote, librarian.NoteData{}); err == nil {
					t.Error("an unknown run took an event")
				}
			})
			all.Go(func() {
				if _, err := s.Append(gone, id, librarian.EventNote, librarian.NoteData{}); err == nil {
					t.Error("an event was written for a context that had ended")
				}
			})
		}
		all.Wait()
		for _, id := range ids {
			events, err := s.Events(t.Context(), id, 0)
			require.NoError(t, err)
			require.Len(t, events, each)
		}
	})
}
