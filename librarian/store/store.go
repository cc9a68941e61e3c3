package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// LeaseTTL is how long a lease is held without renewal, by default.
const LeaseTTL = 30 * time.Second

// Options say where a store is.
type Options struct {
	Dir      string           // data directory for SQLite; made with mode 0700 if it is not there
	URL      string           // postgres://…; used instead of Dir where it is set
	LeaseTTL time.Duration    // 0: [LeaseTTL]
	Now      func() time.Time // nil: time.Now

	// Clean takes out of an event's JSON what must not be kept, and leaves JSON. nil: nothing is taken out.
	Clean func(json.RawMessage) json.RawMessage
}

// Store holds runs. Its methods may be called from any goroutine, but never from inside [Store.Tx] on the same
// goroutine: SQLite has one writer, which the transaction holds.
type Store struct {
	d     dialect
	write *sql.DB
	read  *sql.DB // the same as write on PostgreSQL
	now   func() time.Time
	ttl   time.Duration
	clean func(json.RawMessage) json.RawMessage
	group group
	close func() error
}

// Open opens the store, makes its folder, file and tables where they are missing, and brings older tables up to date.
// A database that a newer librarian has written to is refused.
func Open(ctx context.Context, o Options) (*Store, error) {
	s := &Store{now: o.Now, ttl: o.LeaseTTL, clean: o.Clean}
	if s.now == nil {
		s.now = time.Now
	}
	if s.ttl <= 0 {
		s.ttl = LeaseTTL
	}
	var err error
	switch {
	case o.URL != "":
		s.d = postgres
		s.write, err = openPostgres(o.URL)
		s.read = s.write
	case o.Dir != "":
		s.d = sqlite
		s.write, s.read, err = openSQLite(o.Dir)
	default:
		err = errors.New("neither a directory nor a URL is given")
	}
	if err != nil {
		return nil, fmt.Errorf("store: open: %w", err)
	}
	s.close = sync.OnceValue(func() error {
		if s.read == s.write {
			return s.write.Close()
		}
		return errors.Join(s.read.Close(), s.write.Close())
	})
	if err := s.migrate(ctx); err != nil {
		return nil, fmt.Errorf("store: open: %w", errors.Join(err, s.close()))
	}
	return s, nil
}

// Close closes the database. It may be called twice.
func (s *Store) Close() error { return s.close() }

// SQLite reports whether the store is a SQLite file, which only one process serves at a time.
func (s *Store) SQLite() bool { return s.d == sqlite }

// DB is the pool that writes, for the job queue, which keeps its tables in the same database. On SQLite it has one
// connection.
func (s *Store) DB() *sql.DB { return s.write }

// Now is the store's clock, in UTC.
func (s *Store) Now() time.Time { return s.now().UTC() }

// Tx is a transaction on the store.
type Tx struct {
	s  *Store
	tx executor // a *sql.Tx, or in one of Together's on SQLite the connection
}

// SQL is the transaction for the job queue's library. In one of [Store.Together] on SQLite there is none: nil.
func (t *Tx) SQL() *sql.Tx {
	tx, _ := t.tx.(*sql.Tx)
	return tx
}

// Exec is for the job queue to write rows of its own, in the database's own words.
func (t *Tx) Exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return t.tx.ExecContext(ctx, query, args...)
}

// Tx runs f in one transaction: committed if f returns nil, else rolled back and f's error returned as it is.
func (s *Store) Tx(ctx context.Context, f func(*Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("store: begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // a no-op after Commit
	if err := f(&Tx{s: s, tx: tx}); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("store: commit: %w", err)
	}
	return nil
}

// querier is what reads alike in and outside of a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// executor is what does statements alike in a transaction of database/sql and on a connection.
type executor interface {
	querier
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func (t *Tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	res, err := t.tx.ExecContext(ctx, t.s.d.rebind(query), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (t *Tx) row(ctx context.Context, query string, args ...any) *sql.Row {
	return t.tx.QueryRowContext(ctx, t.s.d.rebind(query), args...)
}

// micros is how times are stored.
func micros(t time.Time) int64 { return t.UnixMicro() }

func fromMicros(n int64) time.Time { return time.UnixMicro(n).UTC() }
