package queue

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/store"
	"github.com/librarian-app/librarian/librarian/store/storetest"
)

func TestO1_OneRequestIsOneRun(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, o store.Options) {
		// Two replicas of one store; on SQLite two processes would not serve, but two may write.
		queues := []*Queue{openQueue(t, storetest.Open(t, o), quick(t)), openQueue(t, storetest.Open(t, o), quick(t))}
		for name, delivery := range map[string]func(i int) string{
			"O1 the same delivery at once":           func(int) string { return "same" },
			"O4 one comment in different deliveries": func(i int) string { return fmt.Sprint("other", i) },
		} {
			req := storetest.Question(int64(len(name)))
			var created atomic.Int32
			var ids sync.Map
			var wg sync.WaitGroup
			for i := range 16 {
				wg.Go(func() {
					id, made, err := queues[i%2].Enqueue(t.Context(), librarian.Delivery{ID: delivery(i), Event: "issue_comment"}, req)
					if err != nil {
						t.Error(err)
						return
					}
					if made {
						created.Add(1)
					}
					ids.Store(id, true)
				})
			}
			wg.Wait()
			require.Equal(t, int32(1), created.Load(), name)
			n := 0
			ids.Range(func(any, any) bool { n++; return true })
			require.Equal(t, 1, n, name)
		}
		require.Equal(t, 2, jobs(t, queues[0].store), "one job for each run")

		// And after a restart.
		s := storetest.Open(t, o)
		q := openQueue(t, s, quick(t))
		for _, d := range []string{"same", "other1", "new"} {
			_, created, err := q.Enqueue(t.Context(), librarian.Delivery{ID: d}, storetest.Question(int64(len("O1 the same delivery at once"))))
			require.NoError(t, err)
			require.False(t, created, d)
		}
		edited := storetest.Question(int64(len("O1 the same delivery at once")))
		edited.Question = "another text"
		enqueue(t, q, "edit", edited)
	})
}

func TestO2_RedeliveryAfter(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, o store.Options) {
		s := storetest.Open(t, o)
		q := openQueue(t, s, quick(t))
		for i, tc := range []struct {
			name     string
			attempts int
			state    librarian.State
			again    bool
		}{
			{"queued", 0, librarian.StateQueued, false},
			{"running", 1, librarian.StateRunning, false},
			{"verified", 1, librarian.StateVerified, false},
			{"published", 1, librarian.StatePublished, false},
			{"cancelled", 1, librarian.StateCancelled, false},
			{"declined", 0, librarian.StateDeclined, false},
			{"failed", 1, librarian.StateFailed, true},
			{"failed before it began", 0, librarian.StateFailed, true},
			{"interrupted", 1, librarian.StateInterrupted, true},
			{"O6 interrupted when all attempts were spent", 2, librarian.StateInterrupted, false},
		} {
			for _, delivery := range []string{"same", "other"} {
				name := tc.name + ", " + delivery + " delivery"
				req := storetest.Question(int64(1 + 2*i + len(delivery)%2*100))
				d := fmt.Sprint("d", i, delivery)
				id := enqueue(t, q, d, req)
				for range tc.attempts {
					_, err := s.Begin(t.Context(), id)
					require.NoError(t, err)
				}
				if r, err := s.Run(t.Context(), id); err != nil || r.State != tc.state {
					require.NoError(t, err)
					require.NoError(t, s.SetState(t.Context(), id, r.State, tc.state))
				}
				if delivery == "other" {
					d += "!"
				}
				second, created, err := q.Enqueue(t.Context(), librarian.Delivery{ID: d}, req)
				require.NoError(t, err)
				require.Equal(t, tc.again, created, name)
				if !tc.again {
					require.Equal(t, id, second, name)
					continue
				}
				require.NotEqual(t, id, second, name)
				third, created, err := q.Enqueue(t.Context(), librarian.Delivery{ID: d}, req)
				require.NoError(t, err)
				require.False(t, created, "%s: the second is under way", name)
				require.Equal(t, second, third, name)
				require.NoError(t, s.SetState(t.Context(), second, librarian.StateQueued, librarian.StateFailed))
				_, created, err = q.Enqueue(t.Context(), librarian.Delivery{ID: d}, req)
				require.NoError(t, err)
				require.False(t, created, "%s: never a third run", name)
			}
		}
	})
}

func TestEnqueueIsAllOrNothing(t *testing.T) {
	eachQueue(t, func(t *testing.T, s *store.Store) {
		q := openQueue(t, s, quick(t))
		counts := func() (runs, deliveries int) {
			require.NoError(t, s.DB().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM runs").Scan(&runs))
			require.NoError(t, s.DB().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM deliveries").Scan(&deliveries))
			return runs, deliveries
		}
		// The run's row is refused after its job was inserted.
		big := storetest.Question(1)
		big.Quoted = string(make([]byte, store.MaxRequest))
		_, created, err := q.Enqueue(t.Context(), librarian.Delivery{ID: "d1"}, big)
		require.Error(t, err)
		require.False(t, created)
		require.Zero(t, jobs(t, s))
		runs, deliveries := counts()
		require.Zero(t, runs+deliveries)

		// The delivery's row is refused last.
		_, err = s.DB().ExecContext(t.Context(), "ALTER TABLE deliveries RENAME COLUMN event TO was_event")
		require.NoError(t, err)
		_, _, err = q.Enqueue(t.Context(), librarian.Delivery{ID: "d1"}, storetest.Question(1))
		require.Error(t, err)
		_, err = s.DB().ExecContext(t.Context(), "ALTER TABLE deliveries RENAME COLUMN was_event TO event")
		require.NoError(t, err)
		require.Zero(t, jobs(t, s))
		runs, deliveries = counts()
		require.Zero(t, runs+deliveries)
		enqueue(t, q, "d1", storetest.Question(1))
	})
}

// The row that is written without River is the one that River would have written, but for its number and the moment.
func TestJobRowIsRivers(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{Dir: t.TempDir()})
	q := openQueue(t, s, quick(t))
	id := librarian.NewRunID()
	for _, kind := range []string{kindAcknowledge, kindResearch, kindPublish, kindCommand} {
		var numbers [2]int64
		require.NoError(t, s.Tx(t.Context(), func(tx *store.Tx) (err error) {
			if numbers[0], err = insertFast(t.Context(), tx, kind, id); err != nil {
				return err
			}
			numbers[1] = numbers[0] + 1
			_, err = q.insert.InsertManyFastTx(t.Context(), tx.SQL(), []river.InsertManyParams{{Args: jobArgs(kind, id), InsertOpts: jobOpts(kind)}})
			return err
		}))
		var rows [2]map[string]any
		for i, n := range numbers {
			rows[i] = jobRowOf(t, s, n)
			require.Equal(t, n, rows[i]["id"])
			delete(rows[i], "id")
			for _, at := range []string{"created_at", "scheduled_at"} {
				// The driver makes a time of what is written as one; to be compared by SQLite it must be written alike, too.
				var length int
				require.NoError(t, s.DB().QueryRowContext(t.Context(), "SELECT LENGTH(CAST("+at+" AS TEXT)) FROM river_job WHERE id = ?", n).Scan(&length))
				require.Equal(t, len("2026-11-30 12:00:00.000"), length)
				require.WithinDuration(t, time.Now(), rows[i][at].(time.Time), time.Minute)
				delete(rows[i], at)
			}
		}
		require.Equal(t, rows[1], rows[0], kind)
	}
}

func jobRowOf(t *testing.T, s *store.Store, n int64) map[string]any {
	t.Helper()
	rows, err := s.DB().QueryContext(t.Context(), "SELECT * FROM river_job WHERE id = ?", n)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	columns, err := rows.Columns()
	require.NoError(t, err)
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	require.True(t, rows.Next())
	require.NoError(t, rows.Scan(into...))
	require.NoError(t, rows.Err())
	row := map[string]any{}
	for i, name := range columns {
		row[name] = values[i]
	}
	return row
}
