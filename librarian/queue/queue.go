package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/librarian-app/librarian/librarian/store"
)

// ErrStopping is the cause of a work's context when the process is being stopped. Work that returns an error then is
// given back without being counted as an attempt.
var ErrStopping = errors.New("queue: the process is being stopped")

// Queue is the jobs, and in a process that called Start their workers.
type Queue struct {
	store  *store.Store
	o      Options
	log    *slog.Logger
	bell   *bell
	insert *river.Client[*sql.Tx] // inserts only

	mu      sync.Mutex
	running *running // nil before Start
}

// running is what Start made.
type running struct {
	client   *river.Client[*sql.Tx]
	work     Work
	halt     context.Context // ends when work that is under way is to be cancelled
	haltWith context.CancelCauseFunc
	endSweep context.CancelFunc
	swept    chan struct{}
	stop     sync.Once
	stopping atomic.Bool   // no job is begun any more
	stopped  chan struct{} // closed when every worker has returned
}

// Open makes River's tables where they are missing and returns a queue that can be added to. The store must outlive it.
func Open(ctx context.Context, s *store.Store, o Options) (*Queue, error) {
	q := &Queue{store: s, o: o.withDefaults(), bell: &bell{}}
	q.log = q.o.Log
	migrator, err := rivermigrate.New(q.driver(), &rivermigrate.Config{Logger: q.riverLog()})
	if err != nil {
		return nil, fmt.Errorf("queue: open: %w", err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, fmt.Errorf("queue: open: %w", err)
	}
	q.insert, err = river.NewClient(q.driver(), &river.Config{Logger: q.riverLog()})
	if err != nil {
		return nil, fmt.Errorf("queue: open: %w", err)
	}
	return q, nil
}

// Start begins to work jobs, first of all those whose worker died. ctx bounds the start alone; work ends with Stop. On
// SQLite the caller holds [store.Lock], so that whoever held a lease is dead.
func (q *Queue) Start(ctx context.Context, w Work) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running != nil {
		return errors.New("queue: start: it was started before")
	}
	r := &running{work: w, swept: make(chan struct{}), stopped: make(chan struct{})}
	r.halt, r.haltWith = context.WithCancelCause(context.Background())
	if q.store.SQLite() {
		if err := q.store.ExpireLeases(ctx); err != nil {
			return fmt.Errorf("queue: start: %w", err)
		}
	}
	if err := q.sweep(ctx); err != nil {
		return fmt.Errorf("queue: start: %w", err)
	}
	var err error
	if r.client, err = river.NewClient(q.driver(), q.config(r)); err != nil {
		return fmt.Errorf("queue: start: %w", err)
	}
	// River works for as long as the context it is started with; a start's time limit must not end it.
	if err := r.client.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("queue: start: %w", err)
	}
	sweepCtx, cancel := context.WithCancel(context.Background())
	r.endSweep = cancel
	go q.sweepLoop(sweepCtx, r.swept)
	q.running = r
	return nil
}

// Stop takes no new job, lets what is under way go on for the grace period, then cancels it with the cause [ErrStopping]
// and waits for it to return. Cancelled runs are taken up by the next process without losing an attempt. If ctx ends first,
// the work is cancelled then, and Stop returns without waiting for it. Stop may be called twice, and without Start.
func (q *Queue) Stop(ctx context.Context) error {
	q.mu.Lock()
	r := q.running
	q.mu.Unlock()
	if r == nil {
		return nil
	}
	r.stop.Do(func() {
		r.stopping.Store(true)
		r.endSweep()
		go func() {
			defer close(r.stopped)
			<-r.swept
			grace := time.AfterFunc(max(q.o.Grace, 0), func() { r.haltWith(ErrStopping) })
			defer grace.Stop()
			_ = r.client.Stop(context.Background()) // its only error is its context's
		}()
	})
	select {
	case <-r.stopped:
		return nil
	case <-ctx.Done():
		r.haltWith(ErrStopping)
		return fmt.Errorf("queue: stop: %w", ctx.Err())
	}
}
