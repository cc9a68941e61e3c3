package queue

import (
	"context"
	"errors"
	"time"

	"github.com/librarian-app/librarian/librarian/store"
)

// sweepBatch is how many runs one look finds at most.
const sweepBatch = 100

// errNoOrphan undoes the transaction of a run that was taken care of meanwhile.
var errNoOrphan = errors.New("queue: the run is looked after")

func (q *Queue) sweepLoop(ctx context.Context, done chan<- struct{}) {
	defer close(done)
	tick := time.NewTicker(q.o.SweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := q.sweep(ctx); err != nil && ctx.Err() == nil {
			q.log.Error("sweep", "err", err)
		}
	}
}

// sweep gives a fresh job to every run that nobody looks after: its lease ran out, or no job touched it in time. A run
// whose job is merely still in line gets more time instead.
func (q *Queue) sweep(ctx context.Context) error {
	for {
		orphans, err := q.store.Orphans(ctx, sweepBatch)
		if err != nil {
			return err
		}
		for _, o := range orphans {
			if err := q.adopt(ctx, o); err != nil {
				return err
			}
		}
		if len(orphans) < sweepBatch {
			return nil
		}
	}
}

func (q *Queue) adopt(ctx context.Context, o store.Orphan) error {
	kind, fresh := "", false
	err := q.store.Tx(ctx, func(t *store.Tx) error {
		job, inLine := o.Job, false
		if kind, inLine = q.next(ctx, t, o); !inLine {
			var err error
			if job, err = q.insertJob(ctx, t, kind, o.Run); err != nil {
				return err
			}
			fresh = true
		}
		ok, err := t.Adopt(ctx, o.Run, job, q.store.Now().Add(q.o.WakeAfter))
		if err == nil && !ok {
			err = errNoOrphan
		}
		return err
	})
	if errors.Is(err, errNoOrphan) {
		return nil
	}
	if err == nil && fresh {
		q.log.Info("run taken up again", "run", string(o.Run), "job", kind)
		q.bell.ring(kind)
	}
	return err
}
