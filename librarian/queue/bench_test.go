package queue

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/store"
	"github.com/librarian-app/librarian/librarian/store/storetest"
)

// BenchmarkEnqueue measures the one transaction that a delivery costs, beside a bare insert of the same four rows into the
// same tables by database/sql, each committed to disk. x-bare is how many times as long the former takes.
func BenchmarkEnqueue(b *testing.B) {
	databases := map[string]func(b *testing.B) store.Options{
		"sqlite":   func(b *testing.B) store.Options { return store.Options{Dir: b.TempDir()} },
		"postgres": func(b *testing.B) store.Options { return store.Options{URL: storetest.Postgres(b)} },
	}
	for _, name := range []string{"sqlite", "postgres"} {
		b.Run(name, func(b *testing.B) {
			s := storetest.Open(b, databases[name](b))
			q, err := Open(b.Context(), s, Options{Log: slog.New(slog.DiscardHandler)})
			require.NoError(b, err)
			// One of each kind in turn, so that the tables and the machine are the same for both.
			var ours, bare time.Duration
			n := int64(0)
			for b.Loop() {
				n++
				at := time.Now()
				_, _, err := q.Enqueue(b.Context(), librarian.Delivery{ID: fmt.Sprint("ours", n), Event: "issue_comment"}, storetest.Question(n))
				ours += time.Since(at)
				require.NoError(b, err)
				at = time.Now()
				err = bareInsert(b, s, n)
				bare += time.Since(at)
				require.NoError(b, err)
			}
			b.ReportMetric(float64(n)/ours.Seconds(), "enqueue/s")
			b.ReportMetric(float64(n)/bare.Seconds(), "bare/s")
			b.ReportMetric(ours.Seconds()/bare.Seconds(), "x-bare")
		})
	}
}

func bareInsert(b *testing.B, s *store.Store, n int64) error {
	tx, err := s.DB().BeginTx(b.Context(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	id := fmt.Sprint("bare", n)
	rows := []struct {
		query string
		args  []any
	}{
		{`INSERT INTO runs (id, key, ordinal, kind, request, state, state_at, wake_at, job, installation, repo, number, trigger_kind, trigger_id,
			principal, created_at, updated_at) VALUES ($1, $1, 1, 'question', $2, 'queued', $3, $3, 1, 5, 'github:github.example:99', 7,
			'issue_comment', 1, 42, $3, $3)`, []any{id, []byte(`{"kind":"question","question":"where is it?"}`), time.Now().UnixMicro()}},
		{`INSERT INTO deliveries (id, event, at, run) VALUES ($1, 'issue_comment', $2, $1)`, []any{id, time.Now().UnixMicro()}},
	}
	if s.SQLite() {
		rows = append(rows, []struct {
			query string
			args  []any
		}{
			{`INSERT INTO river_job (args, kind, max_attempts, queue) VALUES ($1, 'bare', 1, 'bare')`, []any{`{"run":"` + id + `"}`}},
			{`INSERT INTO river_notification (topic, payload) VALUES ('bare', $1)`, []any{`{"queue":"bare"}`}},
		}...)
	} else {
		rows = append(rows, []struct {
			query string
			args  []any
		}{
			{`INSERT INTO river_job (args, kind, max_attempts, queue) VALUES ($1, 'bare', 1, 'bare')`, []any{`{"run":"` + id + `"}`}},
			{`SELECT pg_notify('bare', $1)`, []any{id}},
		}...)
	}
	for _, r := range rows {
		query := r.query
		if s.SQLite() {
			query = strings.ReplaceAll(query, "$", "?")
		}
		if _, err := tx.ExecContext(b.Context(), query, r.args...); err != nil {
			return err
		}
	}
	return tx.Commit()
}
