package app

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net"
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
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/queue"
	"github.com/librarian-app/librarian/librarian/store"
)

// BenchmarkWebhook measures deliveries that ask, over real connections and durable before they are answered, beside a bare
// insert of the same rows by as many goroutines, each a transaction of its own by database/sql and the plain driver, into the
// same tables of a database of its own (SQLite, WAL, synchronous=FULL, secure_delete). The two take turns, so that both see the
// same machine. ratio is how many times as many deliveries are taken as rows are inserted in the same time; ratio-kept is the same
// against inserts whose statements are prepared beforehand, which is as fast as this driver goes. http/s is how many deliveries a
// handler takes that only reads them, and ratio-floor the ratio of one that reads them and inserts such prepared rows: at one
// connection no webhook does better, for the disk is waited for here and the answer there, in turns.
func BenchmarkWebhook(b *testing.B) {
	for _, connections := range []int{1, 32} {
		b.Run(fmt.Sprintf("mention/connections=%d", connections), func(b *testing.B) {
			w := newWebhookBench(b)
			plain, kept, behind := w.bare(b, false), w.bare(b, true), w.bare(b, true)
			ours := connect(b, w.address, connections)
			idle := connect(b, serveBare(b, func(context.Context) error { return nil }), connections)
			floor := connect(b, serveBare(b, behind.insert), connections)
			var spent, spentIdle, spentFloor, spentBare, spentKept time.Duration
			const batch = 64
			for b.Loop() {
				deliveries := w.deliveries(3 * batch) // GitHub makes them, not we
				spent += burst(b, connections, batch, func() error { return ours.deliver(<-deliveries) })
				spentIdle += burst(b, connections, batch, func() error { return idle.deliver(<-deliveries) })
				spentFloor += burst(b, connections, batch, func() error { return floor.deliver(<-deliveries) })
				spentBare += burst(b, connections, batch, func() error { return plain.insert(b.Context()) })
				spentKept += burst(b, connections, batch, func() error { return kept.insert(b.Context()) })
			}
			b.ReportMetric(float64(b.N)*batch/spent.Seconds(), "deliveries/s")
			b.ReportMetric(float64(b.N)*batch/spentIdle.Seconds(), "http/s")
			b.ReportMetric(float64(b.N)*batch/spentBare.Seconds(), "bare/s")
			b.ReportMetric(spentBare.Seconds()/spent.Seconds(), "ratio")
			b.ReportMetric(spentBare.Seconds()/spentFloor.Seconds(), "ratio-floor")
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
	address string // host and port
	n       atomic.Int64
	tables  []bareTable
}

// bareTable inserts the row that one delivery made in a table, each time with keys of its own.
type bareTable struct {
	insert  string
	values  []any
	counted []int // columns whose keys come in order, as GitHub's ids do
	random  []int // columns that hold the run's id
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
	w := &webhookBench{address: srv.Listener.Addr().String()}
	require.NoError(b, connect(b, w.address, 1).deliver(<-w.deliveries(1)))
	for _, t := range []struct{ name, columns, counted, random string }{
		{"runs", "*", "key", "id"}, {"deliveries", "*", "id", "run"},
		{"river_job", "args, kind, max_attempts, queue, metadata, priority, scheduled_at, state, tags", "", ""},
	} {
		w.tables = append(w.tables, readBare(b, s.DB(), t.name, t.columns, t.counted, t.random))
	}
	return w
}

// readBare makes the insert of the one row that a table holds.
func readBare(b *testing.B, db *sql.DB, table, columns, counted, random string) bareTable {
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
		switch name {
		case counted:
			t.counted = append(t.counted, i)
		case random:
			t.random = append(t.random, i)
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
	n, run := s.n.Add(1), string(librarian.NewRunID())
	for i, t := range s.tables {
		values := append([]any{}, t.values...)
		for _, i := range t.counted {
			values[i] = fmt.Sprintf("%08d-%v", n, values[i])
		}
		for _, i := range t.random {
			values[i] = run
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

// delivery is the HTTP request of a signed comment that asks.
type delivery []byte

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
		out <- fmt.Appendf(nil, "POST /webhook HTTP/1.1\r\nHost: librarian.example\r\nUser-Agent: GitHub-Hookshot/0\r\nAccept: */*\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\nX-GitHub-Event: issue_comment\r\nX-GitHub-Delivery: %036d\r\n"+
			"X-Hub-Signature-256: sha256=%x\r\n\r\n%s", len(body), n, mac.Sum(nil), body)
	}
	return out
}

// connections are kept open, as GitHub does. They are not net/http's, whose client hands each request through three goroutines:
// that is time, and half of this machine, that GitHub spends elsewhere.
type connections chan *connection

type connection struct {
	net.Conn
	answers *bufio.Reader
}

// connect opens n connections.
func connect(b *testing.B, address string, n int) connections {
	all := make(connections, n)
	for range n {
		c, err := new(net.Dialer).DialContext(b.Context(), "tcp", address)
		require.NoError(b, err)
		b.Cleanup(func() { _ = c.Close() })
		all <- &connection{c, bufio.NewReader(c)}
	}
	return all
}

// deliver sends a delivery over whichever connection is free, and waits for its answer.
func (all connections) deliver(d delivery) error {
	c := <-all
	defer func() { all <- c }()
	if _, err := c.Write(d); err != nil {
		return err
	}
	res, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("delivery: %s", res.Status)
	}
	return err
}

// serveBare is a server that reads deliveries and does work for each.
func serveBare(b *testing.B, work func(context.Context) error) (address string) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		} else if err := work(context.WithoutCancel(r.Context())); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	b.Cleanup(srv.Close)
	return srv.Listener.Addr().String()
}
