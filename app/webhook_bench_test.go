package app

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/handlers"
	"github.com/librarian-app/librarian/librarian/queue"
	"github.com/librarian-app/librarian/librarian/store"
)

// BenchmarkWebhook measures deliveries that ask, over real connections and durable before they are answered, beside a bare
// insert of the same rows by as many goroutines, each a transaction of its own by database/sql and the plain driver, into the
// same tables of a database of its own (SQLite, WAL, synchronous=FULL, secure_delete). The two take turns, so that both see the
// same machine. ratio is how many times as many deliveries are taken as rows are inserted in the same time; ratio-kept is the same
// against inserts whose statements are prepared beforehand, which is as fast as this driver goes.
func BenchmarkWebhook(b *testing.B) {
	for _, connections := range []int{1, 32} {
		b.Run(fmt.Sprintf("mention/connections=%d", connections), func(b *testing.B) {
			w := newWebhookBench(b)
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
			defer client.CloseIdleConnections()
			plain, kept := w.bare(b, false), w.bare(b, true)
			var spent, spentBare, spentKept time.Duration
			const batch = 64
			for b.Loop() {
				deliveries := w.deliveries(batch) // GitHub makes them, not we
				spent += burst(b, connections, batch, func() error { return w.deliver(b.Context(), client, <-deliveries) })
				spentBare += burst(b, connections, batch, func() error { return plain.insert(b.Context()) })
				spentKept += burst(b, connections, batch, func() error { return kept.insert(b.Context()) })
			}
			b.ReportMetric(float64(b.N)*batch/spent.Seconds(), "deliveries/s")
			b.ReportMetric(float64(b.N)*batch/spentBare.Seconds(), "bare/s")
			b.ReportMetric(spentBare.Seconds()/spent.Seconds(), "ratio")
			b.ReportMetric(spentKept.Seconds()/spent.Seconds(), "ratio-kept")
		})
	}
}

// burst does work n times by so many goroutines.
func burst(b *testing.B, goroutines, n int, work func() error) time.Duration {
	start := time.Now()
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range n / goroutines {
				if err := work(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

// webhookBench is a webhook with its store and its queue, which nobody works.
type webhookBench struct {
	url    string
	n      atomic.Int64
	tables []bareTable
}

// bareTable inserts the row that one delivery made in a table, each time with keys of its own.
type bareTable struct {
	insert string
	values []any
	unique []int // columns that hold a key
}

// bareStore is a database with the same tables.
type bareStore struct {
	db     *sql.DB
	tables []bareTable
	kept   []*sql.Stmt // as many as tables, or none
	n      atomic.Int64
}

const benchSecret = "a secret of the benchmark"

func newWebhookBench(b *testing.B) *webhookBench {
	quiet := slog.New(slog.DiscardHandler)
	s, q := openBench(b, b.TempDir())
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	hook, err := handlers.NewWebhook(handlers.Options{
		Secret: benchSecret, AppID: 1, Names: []string{"librarian"}, Host: "github.example", Enqueuer: enqueuer{q}, Log: quiet,
	})
	require.NoError(b, err)
	srv := httptest.NewServer(hook)
	b.Cleanup(srv.Close)
	w := &webhookBench{url: srv.URL}
	require.NoError(b, w.deliver(b.Context(), srv.Client(), <-w.deliveries(1)))
	for _, t := range []struct{ name, columns, keys string }{
		{"runs", "*", "id key"}, {"deliveries", "*", "id run"}, {"river_job", "args, kind, max_attempts, queue, metadata, priority, scheduled_at, state, tags", ""},
	} {
		w.tables = append(w.tables, readBare(b, s.DB(), t.name, t.columns, strings.Fields(t.keys)))
	}
	return w
}

// readBare makes the insert of the one row that a table holds.
func readBare(b *testing.B, db *sql.DB, table, columns string, keys []string) bareTable {
	rows, err := db.QueryContext(b.Context(), "SELECT "+columns+" FROM "+table)
	require.NoError(b, err)
	defer rows.Close()
	names, err := rows.Columns()
	require.NoError(b, err)
	require.True(b, rows.Next())
	t := bareTable{values: make([]any, len(names))}
	into := make([]any, len(names))
	for i, name := range names {
		into[i] = &t.values[i]
		for _, k := range keys {
			if k == name {
				t.unique = append(t.unique, i)
			}
		}
	}
	require.NoError(b, rows.Scan(into...))
	require.False(b, rows.Next())
	require.NoError(b, rows.Err())
	t.insert = "INSERT INTO " + table + " (" + strings.Join(names, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(names)-1) + ")"
	return t
}

func openBench(b *testing.B, dir string) (*store.Store, *queue.Queue) {
	s, err := store.Open(b.Context(), store.Options{Dir: dir})
	require.NoError(b, err)
	q, err := queue.Open(b.Context(), s, queue.Options{Log: slog.New(slog.DiscardHandler)})
	require.NoError(b, err)
	return s, q
}

// bare opens a database with empty tables by the plain driver, with the settings that the store gives it.
func (w *webhookBench) bare(b *testing.B, prepared bool) *bareStore {
	dir := b.TempDir()
	s, _ := openBench(b, dir)
	require.NoError(b, s.Close())
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, store.File)+"?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)"+
		"&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_pragma=secure_delete(1)")
	require.NoError(b, err)
	db.SetMaxOpenConns(1)
	b.Cleanup(func() { require.NoError(b, db.Close()) })
	bare := &bareStore{db: db, tables: w.tables}
	for _, t := range w.tables {
		if prepared {
			stmt, err := db.PrepareContext(b.Context(), t.insert) //nolint:sqlclosecheck // with the database
			require.NoError(b, err)
			bare.kept = append(bare.kept, stmt)
		}
	}
	return bare
}

func (s *bareStore) insert(ctx context.Context) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	n := s.n.Add(1)
	for i, t := range s.tables {
		values := append([]any{}, t.values...)
		for _, i := range t.unique {
			values[i] = fmt.Sprintf("%08d-%v", n, values[i])
		}
		if s.kept != nil {
			_, err = tx.StmtContext(ctx, s.kept[i]).ExecContext(ctx, values...) //nolint:sqlclosecheck // with the transaction
		} else {
			_, err = tx.ExecContext(ctx, t.insert, values...)
		}
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}

// delivery is a signed comment that asks.
type delivery struct {
	id, signature string
	body          []byte
}

// deliveries makes n comments of the size that GitHub's are.
func (w *webhookBench) deliveries(n int) <-chan delivery {
	out := make(chan delivery, n)
	var urls strings.Builder // that each of GitHub's objects comes with
	for i := range 45 {
		fmt.Fprintf(&urls, `,"thing_%d_url":"https://api.github.example/repos/acme/app/things/%d{/id}"`, i, i)
	}
	for range n {
		n := w.n.Add(1)
		body := fmt.Appendf(nil, `{"action":"created","comment":{"id":%d,"body":"@librarian where is the retry delay computed?",`+
			`"user":{"id":7,"login":"mona","type":"User"%[2]s},"created_at":"2026-11-30T12:00:00Z"},"issue":{"id":5,"number":12,"title":"Slow retries",`+
			`"body":"They take long."%[2]s},"repository":{"id":1001,"full_name":"acme/app","private":true%[2]s},"installation":{"id":31},`+
			`"sender":{"id":7,"login":"mona","type":"User"%[2]s}}`, n, urls.String())
		mac := hmac.New(sha256.New, []byte(benchSecret))
		mac.Write(body)
		out <- delivery{fmt.Sprintf("%036d", n), "sha256=" + hex.EncodeToString(mac.Sum(nil)), body}
	}
	return out
}

func (w *webhookBench) deliver(ctx context.Context, client *http.Client, d delivery) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(d.body))
	if err != nil {
		return err
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "X-Github-Event": {"issue_comment"}, "X-Github-Delivery": {d.id}, "X-Hub-Signature-256": {d.signature},
	}
	res, err := client.Do(r)
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("delivery: %s", res.Status)
	}
	return nil
}
