package queue

import (
	"context"
	"errors"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/store"
)

// errRaced says that another replica wrote the same run at the same moment.
var errRaced = errors.New("queue: enqueue: another replica was faster")

// Enqueue writes the delivery, the request's run and its job in one transaction; when it returns they are on disk. created
// is false if the request has a run already: id is then that run's, or empty if it was forgotten.
//
// One request, however often delivered, is one run. Only after a run that failed or was interrupted does a redelivery make
// a second one, if the request was not begun [librarian.MaxAttempts] times by then.
func (q *Queue) Enqueue(ctx context.Context, d librarian.Delivery, r librarian.Request) (id librarian.RunID, created bool, err error) {
	for range 5 {
		id, created, err = q.enqueue(ctx, d, r)
		if !errors.Is(err, errRaced) {
			break
		}
	}
	if err != nil {
		return "", false, err
	}
	if created {
		q.bell.ring(kindFor(r.Kind, librarian.StateQueued))
	}
	return id, created, nil
}

func (q *Queue) enqueue(ctx context.Context, d librarian.Delivery, r librarian.Request) (id librarian.RunID, created bool, err error) {
	err = q.store.Together(ctx, func(ctx context.Context, t *store.Tx) error {
		id, created = "", false
		before, err := t.Asked(ctx, d.ID, r)
		switch {
		case err != nil:
			return err
		case before.Delivered && before.For == "":
			return nil
		case !again(before):
			id = before.Latest
		default:
			fresh := librarian.NewRunID()
			job, err := q.insertJob(ctx, t, kindFor(r.Kind, librarian.StateQueued), fresh)
			if err != nil {
				return err
			}
			ok, err := t.CreateRun(ctx, store.NewRun{ID: fresh, Request: r, Ordinal: before.Runs + 1, Job: job,
				WakeAt: q.store.Now().Add(q.o.WakeAfter)})
			if err != nil {
				return err
			}
			if !ok {
				return errRaced
			}
			id, created = fresh, true
		}
		if d.ID == "" || before.Delivered && before.For == id {
			return nil
		}
		return t.Deliver(ctx, d, id)
	})
	return id, created && err == nil, err
}

// again reports whether a request may have a (further) run.
func again(a store.Asked) bool {
	switch a.State {
	case "":
		return true
	case librarian.StateFailed, librarian.StateInterrupted:
		return a.Runs < librarian.MaxAttempts && a.Attempts < librarian.MaxAttempts
	}
	return false
}
