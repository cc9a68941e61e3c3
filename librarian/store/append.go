package store

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/librarian-app/librarian/librarian"
)

// maxBatch bounds how many events are written in one transaction.
const maxBatch = 200

// batches gathers the events that many runs append at once, so that one commit, and one wait for the disk, serves them all.
type batches struct {
	mu      sync.Mutex
	waiting []*pending
	busy    bool // somebody writes
}

// pending is an event on its way.
type pending struct {
	ctx  context.Context //nolint:containedctx // the caller's, who waits
	id   librarian.RunID
	kind librarian.EventKind
	raw  json.RawMessage
	turn chan bool // true: it is up to the caller to write the next batch; false: the event was seen to
	seq  int64
	err  error
}

// Append adds an event to a run's log and returns its number. data is written as JSON; a json.RawMessage byte for byte. It
// is on disk when Append returns. What others append at the same time is written together with it.
func (s *Store) Append(ctx context.Context, id librarian.RunID, kind librarian.EventKind, data any) (seq int64, err error) {
	raw, err := s.encode(id, kind, data)
	if err != nil {
		return 0, err
	}
	p := &pending{ctx: ctx, id: id, kind: kind, raw: raw, turn: make(chan bool, 1)}
	b := &s.logs
	b.mu.Lock()
	b.waiting = append(b.waiting, p)
	if b.busy {
		b.mu.Unlock()
		if !<-p.turn {
			return p.seq, p.err
		}
		b.mu.Lock()
	}
	b.busy = true
	n := min(len(b.waiting), maxBatch) // p is the first of them
	batch := b.waiting[:n:n]
	b.waiting = b.waiting[n:]
	b.mu.Unlock()
	defer b.hand()
	s.commit(batch)
	for _, o := range batch {
		if o != p {
			o.turn <- false
		}
	}
	return p.seq, p.err
}

// hand gives the turn to whoever waits longest.
func (b *batches) hand() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		b.waiting, b.busy = nil, false
		return
	}
	b.waiting[0].turn <- true
}

// commit writes a batch in one transaction. If any event of it cannot be written, each is tried by itself, so that it fails
// for its own run alone.
func (s *Store) commit(batch []*pending) {
	if len(batch) > 1 {
		err := s.Tx(context.WithoutCancel(batch[0].ctx), func(t *Tx) (err error) {
			for _, p := range batch {
				if p.err = p.ctx.Err(); p.err != nil {
					continue
				}
				if p.seq, err = t.append(context.WithoutCancel(p.ctx), p.id, p.kind, p.raw); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			return
		}
	}
	for _, p := range batch {
		p.err = s.Tx(p.ctx, func(t *Tx) (err error) {
			p.seq, err = t.append(p.ctx, p.id, p.kind, p.raw)
			return err
		})
		if p.err != nil {
			p.seq = 0
		}
	}
}
