package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

const (
	// eyesWait is how long a run may wait for room for its 👀. What takes longer is not worth it: the run goes on unmarked.
	eyesWait = time.Minute
	// signFor is how long after its answer a run is kept open for the sign that ends it.
	signFor = time.Hour
	// admittedFor is how long what GitHub said for an acknowledgement is good enough to begin the research; settings are believed
	// for as long anyhow, and everything is looked at again before the answer is posted.
	admittedFor = 10 * time.Second
	// maxAdmitted bounds the runs of which that is kept.
	maxAdmitted = 1000
)

// Acknowledge decides whether a run is worked, and if so gives the asker a sign. It waits neither for a place to research nor for
// the thread to be read. An error says that it should be tried again.
func (r *Runner) Acknowledge(ctx context.Context, id librarian.RunID) error {
	run, err := r.o.Log.Run(ctx, id)
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	if run.State != librarian.StateQueued {
		return nil
	}
	if run.CancelRequested {
		return r.conclude(ctx, id, librarian.Outcome{Kind: librarian.OutcomeCancelled, Message: stopped})
	}
	adm, refused, err := r.mayWork(ctx, run)
	if err != nil {
		return err
	}
	if refused != nil {
		r.hush(run.Request, refused)
		return r.conclude(ctx, id, *refused)
	}
	err = r.o.Poster.React(ctx, run.Request.Place, librarian.ReactionEyes)
	if limit, ok := errors.AsType[*librarian.RateLimitError](err); ok && limit.After <= eyesWait {
		return err
	} else if err != nil {
		r.o.Logger.WarnContext(ctx, "could not set the reaction", "run", id, "error", err)
	}
	if r.unlessTakenBack(ctx, run, librarian.ReactionEyes) == librarian.ReactionNone { // meanwhile, and that may have met no mark yet
		return r.takeBack(ctx, run)
	}
	r.keep(id, adm)
	return nil
}

// fresh is what a run was acknowledged with, and when.
type fresh struct {
	adm admission
	at  time.Time
}

// keep leaves to the research what GitHub was just asked.
func (r *Runner) keep(id librarian.RunID, adm admission) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.admitted) >= maxAdmitted {
		clear(r.admitted)
	}
	r.admitted[id] = fresh{adm, r.o.Now()}
}

// kept gives, once, what [Runner.keep] left if that is fresh.
func (r *Runner) kept(id librarian.RunID) (admission, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.admitted[id]
	delete(r.admitted, id)
	return a.adm, ok && r.o.Now().Sub(a.at) < admittedFor
}

// endSign sets the sign that a run ends with. The answer stands without it, so that it is given up in the end.
func (r *Runner) endSign(ctx context.Context, run librarian.Run, s librarian.Reaction) error {
	err := r.o.Poster.React(ctx, run.Request.Place, s)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, librarian.ErrCannotPost), errors.Is(err, librarian.ErrNotFound), r.o.Now().Sub(run.UpdatedAt) > signFor:
		r.o.Logger.WarnContext(ctx, "could not set the reaction", "run", run.ID, "error", err)
		return nil
	}
	return err
}

// told reports whether every comment of the answer was posted: then there is nothing left of a run to be stopped.
func (h history) told() bool {
	for _, p := range h.posted {
		if p.Role == librarian.RoleAnswer && p.Last && !p.Deleted {
			return true
		}
	}
	return false
}

// answered reports told of a run that waits for its last signs.
func (r *Runner) answered(ctx context.Context, x librarian.Run) (bool, error) {
	if x.State != librarian.StateVerified {
		return false, nil
	}
	h, err := r.history(ctx, x)
	return h.told(), err
}
