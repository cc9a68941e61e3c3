package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/riverqueue/river"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/store"
)

// Work is what the jobs do. Each func may be entered again for the same run after a crash.
//
// Acknowledge decides whether a question is worked, and gives whoever asked a sign; nil: nothing is to be done for that. It leaves
// the run queued, to be researched, or brings it to an outcome. Research works a question until its outcome is in the log (state verified) or the run is over. An error means that not
// even that could be done; the run is tried again later.
//
// Publish tells a verified run's outcome, after which the run is over. Command works a command until it is over.
//
// When one returns an error it is tried again: after RetryAfter() if the error, or one it wraps, has that method
// (interface{ RetryAfter() time.Duration }), at most an hour, else after a wait that grows from 5 s to 10 min. A run that
// was 12 h in one state is given up. Work that returns nil and leaves its run unfinished is in error.
type Work struct {
	Acknowledge func(ctx context.Context, id librarian.RunID) error
	Research    func(ctx context.Context, id librarian.RunID) error
	Publish     func(ctx context.Context, id librarian.RunID) error
	Command     func(ctx context.Context, id librarian.RunID) error
}

// settleTime bounds the transaction that ends a piece of work, which must go on when the work's context is done.
const settleTime = 10 * time.Second

// slack is how much later than the run may be touched River is told to: it rounds times, and must not come too early.
const slack = 10 * time.Millisecond

// longestRetry bounds how long an error can ask to wait.
const longestRetry = time.Hour

var (
	errTimeout    = errors.New("queue: the time limit of one attempt was reached")
	errUnfinished = errors.New("queue: the work returned and the run is not finished")
)

// states a run must be in for a job of a kind to have something to do.
func states(kind string) []librarian.State {
	switch kind {
	case kindPublish:
		return []librarian.State{librarian.StateVerified}
	case kindAcknowledge:
		return []librarian.State{librarian.StateQueued}
	}
	return []librarian.State{librarian.StateQueued, librarian.StateRunning}
}

// do works one job: nothing if the run is leased, finished or gone. What it returns is for River.
func (q *Queue) do(ctx context.Context, r *running, kind string, id librarian.RunID) error {
	if r.stopping.Load() { // River hands out jobs for a moment longer; this one is the next process's
		return river.JobSnooze(slack)
	}
	log := q.log.With("run", string(id), "job", kind)
	owner := string(librarian.NewRunID())
	lease, ok, err := q.store.TakeLease(ctx, id, owner, states(kind)...)
	if err != nil {
		log.Error("lease not taken; the sweeper will see to the run", "err", err)
		return nil
	}
	if !ok {
		return nil
	}
	err = q.underLease(ctx, r, kind, lease)
	snooze, settleErr := q.settle(context.WithoutCancel(ctx), r, kind, lease, err, log)
	if settleErr != nil {
		log.Error("run not settled; the sweeper will see to it", "err", settleErr)
		return nil
	}
	if snooze > 0 {
		return river.JobSnooze(snooze)
	}
	return nil
}

// underLease runs the work with a context that ends with the time limit, the lease, or the process's grace period.
func (q *Queue) underLease(ctx context.Context, r *running, kind string, lease store.Lease) error {
	limit := q.o.PublishTimeout
	if kind == kindResearch {
		limit = q.o.ResearchTimeout
	}
	ctx, cancelTime := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancelTime()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.halt, func() { cancel(ErrStopping) })()

	renewed := make(chan struct{})
	renewCtx, endRenew := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(renewed)
		q.renew(renewCtx, lease, cancel)
	}()
	defer func() {
		endRenew()
		<-renewed
	}()
	return r.work.call(ctx, kind, lease.Run.ID)
}

// renew holds the lease until ctx ends, and cancels the work when the lease cannot be held.
func (q *Queue) renew(ctx context.Context, lease store.Lease, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(q.o.RenewEvery)
	defer tick.Stop()
	until := lease.Until
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asked := q.store.Now()
		err := q.store.RenewLease(ctx, lease.Run.ID, lease.Owner)
		switch {
		case err == nil:
			until = asked.Add(lease.Until.Sub(lease.At))
		case ctx.Err() != nil:
			return
		case errors.Is(err, store.ErrLeaseLost) || q.store.Now().After(until):
			cancel(store.ErrLeaseLost)
			return
		}
	}
}

// call runs the work of a kind; a panic is an error.
func (w Work) call(ctx context.Context, kind string, id librarian.RunID) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("queue: %s panicked: %v\n%s", kind, p, debug.Stack())
		}
	}()
	switch kind {
	case kindAcknowledge:
		if w.Acknowledge == nil {
			return nil
		}
		return w.Acknowledge(ctx, id)
	case kindResearch:
		return w.Research(ctx, id)
	case kindPublish:
		return w.Publish(ctx, id)
	default:
		return w.Command(ctx, id)
	}
}

// settle gives the lease back and sees to what comes next, in one transaction. snooze is after how long River is to try
// this job again; 0: it is done with.
func (q *Queue) settle(ctx context.Context, r *running, kind string, lease store.Lease, workErr error, log *slog.Logger) (snooze time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	id, now := lease.Run.ID, q.store.Now()
	then := "" // the job that comes next
	err = q.store.Tx(ctx, func(t *store.Tx) error {
		run, err := t.Run(ctx, id)
		if err != nil {
			return err
		}
		rel := store.Release{WakeAt: now.Add(q.o.WakeAfter)}
		switch {
		case run.State.Final():
		case run.State == librarian.StateVerified && kind != kindPublish:
			then = kindPublish
			if rel.Job, err = q.insertJob(ctx, t, then, id); err != nil {
				return err
			}
		case workErr == nil && kind == kindAcknowledge:
			then, rel.Fresh = kindResearch, true
			if rel.Job, err = q.insertJob(ctx, t, then, id); err != nil {
				return err
			}
		case workErr != nil && r.halt.Err() != nil:
			rel = store.Release{WakeAt: now, Uncount: true}
		default:
			if workErr == nil {
				workErr = errUnfinished
			}
			if errors.Is(workErr, store.ErrAttemptsSpent) || run.State == lease.Run.State && now.Sub(lease.StateAt) > q.o.GiveUp {
				return errors.Join(q.giveUp(ctx, t, run, workErr), t.ReleaseLease(ctx, id, lease.Owner, rel))
			}
			wait := q.o.wait(lease.Tries)
			var told interface{ RetryAfter() time.Duration }
			if errors.As(workErr, &told) && told.RetryAfter() > 0 {
				wait = min(told.RetryAfter(), longestRetry)
			}
			log.Warn("will be tried again", "err", workErr, "try", lease.Tries, "after", wait)
			rel.NotBefore, rel.WakeAt = now.Add(wait), now.Add(wait)
			if kind != kindResearch {
				snooze = wait + slack
				rel.WakeAt = rel.WakeAt.Add(q.o.WakeAfter)
			}
		}
		return t.ReleaseLease(ctx, id, lease.Owner, rel)
	})
	switch {
	case errors.Is(err, librarian.ErrRunNotFound), errors.Is(err, store.ErrLeaseLost):
		return 0, nil // forgotten, or somebody else's by now
	case err != nil:
		return 0, err
	}
	if then != "" {
		q.bell.ring(then)
	}
	return snooze, nil
}

// giveUp ends a run that nothing more can be done for. Nobody is told: the telling is what was tried in vain, or is the
// work's own affair.
func (q *Queue) giveUp(ctx context.Context, t *store.Tx, run librarian.Run, cause error) error {
	to := librarian.StateInterrupted
	if run.State == librarian.StateVerified {
		to = librarian.StateFailed
	}
	q.log.Error("given up", "run", string(run.ID), "state", string(run.State), "err", cause)
	if err := t.SetState(ctx, run.ID, to, run.State); err != nil {
		return err
	}
	_, err := t.Append(ctx, run.ID, librarian.EventNote, librarian.NoteData{Text: "given up in state " + string(run.State)})
	return err
}
