package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"runtime/debug"
	"sync"
)

// maxGroup bounds how many pieces of work are written in one transaction.
const maxGroup = 200

// group gathers what many goroutines want to write at once, so that one commit, and one wait for the disk, serves them all.
type group struct {
	mu      sync.Mutex
	waiting []*piece
	busy    bool // somebody writes
}

// piece is one piece of work on its way.
type piece struct {
	ctx  context.Context //nolint:containedctx // the caller's, who waits
	work func(context.Context, *Tx) error
	turn chan bool // true: it is up to the caller to write the next group; false: the piece was seen to
	err  error
}

// Together runs f as [Store.Tx] does, in one transaction with what others give it at the same time, and returns when that is
// on disk. Where a piece of work fails, or the commit, each is done once more in a transaction of its own, so that it fails for
// itself alone: f must be fit to be called again, and leave nothing behind but what it writes. f gets a context that does not
// end; one that has ended before its turn comes is an error. On PostgreSQL, where writers need not wait for each other, each f
// has its own transaction from the start.
func (s *Store) Together(ctx context.Context, f func(context.Context, *Tx) error) error {
	p := &piece{ctx: ctx, work: f, turn: make(chan bool, 1)}
	if s.d == postgres {
		return s.Tx(ctx, func(t *Tx) error { return p.do(ctx, t) })
	}
	g := &s.group
	g.mu.Lock()
	g.waiting = append(g.waiting, p)
	if g.busy {
		g.mu.Unlock()
		if !<-p.turn {
			return p.err
		}
		g.mu.Lock()
	}
	g.busy = true
	n := min(len(g.waiting), maxGroup) // p is the first of them
	pieces := g.waiting[:n:n]
	g.waiting = g.waiting[n:]
	g.mu.Unlock()
	defer g.hand()
	s.commit(pieces)
	for _, o := range pieces {
		if o != p {
			o.turn <- false
		}
	}
	return p.err
}

// hand gives the turn to whoever waits longest.
func (g *group) hand() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		g.waiting, g.busy = nil, false
		return
	}
	g.waiting[0].turn <- true
}

// commit does pieces of work in one transaction, or else each by itself.
func (s *Store) commit(pieces []*piece) {
	if len(pieces) > 1 {
		err := s.plain(context.WithoutCancel(pieces[0].ctx), func(t *Tx) error {
			for _, p := range pieces {
				if p.err = p.ctx.Err(); p.err != nil {
					continue
				}
				if err := p.do(context.WithoutCancel(p.ctx), t); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			return
		}
	}
	for _, p := range pieces {
		if p.err = p.ctx.Err(); p.err == nil {
			ctx := context.WithoutCancel(p.ctx)
			p.err = s.plain(ctx, func(t *Tx) error { return p.do(ctx, t) })
		}
	}
}

// plain is [Store.Tx] on SQLite for a context that does not end and an f that does not panic. It does without the transactions of
// database/sql, which start a goroutine each to wait for that end, and another for each query: to wake a thread for those takes
// longer than to insert a row. BEGIN and COMMIT are kept prepared like other statements, too.
func (s *Store) plain(ctx context.Context, f func(*Tx) error) error {
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return fmt.Errorf("store: begin: %w", err)
	}
	defer func() { _ = conn.Close() }() // it goes back to the pool
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("store: begin: %w", err)
	}
	if err = f(&Tx{s: s, tx: conn}); err == nil {
		if _, err = conn.ExecContext(ctx, "COMMIT"); err == nil {
			return nil
		}
		err = fmt.Errorf("store: commit: %w", err)
	}
	if _, undone := conn.ExecContext(ctx, "ROLLBACK"); undone != nil {
		// SQLite has rolled back by itself, as after a full disk; or it cannot, and nobody may go on from there.
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	return err
}

// do does the work. A panic is an error, for whoever waits must not wait for ever because of a neighbour.
func (p *piece) do(ctx context.Context, t *Tx) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("store: panic in a transaction: %v\n%s", v, debug.Stack())
		}
	}()
	return p.work(ctx, t)
}
