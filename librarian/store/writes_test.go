package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/store"
	"github.com/librarian-app/librarian/librarian/store/storetest"
)

func TestWritesOutliveTheProcess(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, o store.Options) {
		now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
		o.Now = func() time.Time { return now }
		s, err := store.Open(t.Context(), o)
		require.NoError(t, err)
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				w := librarian.Write{At: now.Add(-time.Duration(i) * time.Minute), Kind: fmt.Sprint("kind", i)}
				if err := s.Wrote(t.Context(), int64(i%2), w); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		require.NoError(t, s.Close())

		s = storetest.Open(t, o)
		got, err := s.Writes(t.Context(), 1, now.Add(-5*time.Minute))
		require.NoError(t, err)
		require.Equal(t, []librarian.Write{
			{At: now.Add(-5 * time.Minute), Kind: "kind5"}, {At: now.Add(-3 * time.Minute), Kind: "kind3"}, {At: now.Add(-time.Minute), Kind: "kind1"},
		}, got)

		now = now.Add(100 * time.Minute)
		_, err = s.Expire(t.Context(), now, now)
		require.NoError(t, err)
		got, err = s.Writes(t.Context(), 0, time.Time{})
		require.NoError(t, err)
		require.Len(t, got, 11, "those of the last two hours stay")
	})
}
