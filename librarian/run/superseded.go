package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/librarian-app/librarian/librarian"
)

// errSuperseded is a question that is none any more when its answer would be posted.
var errSuperseded = errors.New("run: the question is no longer one")

// superseded says why a question is no longer one; empty: it is. An edit that took the mention out took it back, unless a later
// one put it in again. What a review says as a whole and on a line is one question, and is answered at the line.
func (r *Runner) superseded(ctx context.Context, run librarian.Run) (why string, err error) {
	q := run.Request
	if q.Place.Kind == librarian.PlaceTerminal {
		return "", nil
	}
	here, err := r.o.Runs.InThread(ctx, q.Place, true)
	if err != nil {
		return "", fmt.Errorf("run: %w", err)
	}
	for _, x := range here {
		back := x.Request.AskedAt
		if x.Request.Command == cmdRetract && (back.After(q.AskedAt) || back.Equal(q.AskedAt) && x.CreatedAt.After(run.CreatedAt)) {
			return "an edit took the question back", nil
		}
	}
	if q.Place.Trigger != librarian.TriggerReviewBody {
		return "", nil
	}
	twins, err := r.twins(ctx, run)
	if len(twins) > 0 {
		return "the review asks the same on a line", err
	}
	return "", err
}

// twins are the runs of a question that its author wrote into one review twice, as its text and on a line: of either the others.
func (r *Runner) twins(ctx context.Context, run librarian.Run) ([]librarian.Run, error) {
	other := librarian.TriggerReviewBody
	switch {
	case run.Request.Place.Trigger == librarian.TriggerReviewBody:
		other = librarian.TriggerReviewComment
	case run.Request.Place.Trigger != librarian.TriggerReviewComment || run.Request.Place.Review == 0:
		return nil, nil
	}
	all, err := r.questions(ctx, run.Request.Place, false)
	if err != nil {
		return nil, err
	}
	var out []librarian.Run
	for _, x := range all {
		if x.Request.Place.Trigger == other && reviewOf(x.Request.Place) == reviewOf(run.Request.Place) && x.Request.Principal.ID == run.Request.Principal.ID &&
			strings.TrimSpace(x.Request.Question) == strings.TrimSpace(run.Request.Question) && x.State != librarian.StateDeclined {
			out = append(out, x)
		}
	}
	return out, nil
}

func reviewOf(p librarian.Place) int64 {
	if p.Trigger == librarian.TriggerReviewBody {
		return p.TriggerID
	}
	return p.Review
}

// first sees to it that a question on a line is the one of its review's that is answered: the other is stopped. Where that was
// answered already, it says so.
func (r *Runner) first(ctx context.Context, run librarian.Run) (refused *librarian.Outcome, err error) {
	if run.Request.Place.Trigger != librarian.TriggerReviewComment {
		return nil, nil
	}
	twins, err := r.twins(ctx, run)
	if err != nil {
		return nil, err
	}
	for _, x := range twins {
		if x.State == librarian.StatePublished {
			out := declined("the review's own text asked the same and was answered", false)
			out.Message = "The review's text asks the same; the answer stands in this pull request's conversation."
			return out, nil
		}
		if _, err := r.o.Runs.RequestCancel(ctx, x.ID); err != nil && !errors.Is(err, librarian.ErrRunNotFound) {
			return nil, fmt.Errorf("run: %w", err)
		}
	}
	return nil, nil
}

// retract follows an edit that took the mention out of what asked: what is not answered yet is stopped without a word. An answer
// that was posted stays.
func (r *Runner) retract(ctx context.Context, run librarian.Run) error {
	runs, err := r.questions(ctx, run.Request.Place, true)
	if err != nil {
		return err
	}
	for _, x := range runs {
		if why, err := r.superseded(ctx, x); err != nil {
			return err
		} else if x.State.Final() || why == "" {
			continue
		}
		if posted, err := r.answered(ctx, x); err != nil {
			return err
		} else if posted {
			continue
		}
		if _, err := r.o.Runs.RequestCancel(ctx, x.ID); err != nil && !errors.Is(err, librarian.ErrRunNotFound) {
			return fmt.Errorf("run: %w", err)
		}
		if x.State == librarian.StateRunning { // its worker sees to it
			continue
		}
		err := r.advance(ctx, x.ID, librarian.StateCancelled, librarian.EventOutcome, librarian.Outcome{Kind: librarian.OutcomeCancelled, Message: stopped, Silent: true})
		if err != nil {
			return fmt.Errorf("run: retract: %w", err)
		}
		if err := r.takeBack(ctx, x); err != nil {
			return err
		}
	}
	return nil
}

// unlessTakenBack is a sign for a run, or none if the question is none any more.
func (r *Runner) unlessTakenBack(ctx context.Context, run librarian.Run, s librarian.Reaction) librarian.Reaction {
	if why, err := r.superseded(ctx, run); err == nil && why != "" {
		return librarian.ReactionNone
	}
	return s
}

// takeBack removes every sign of a run: what was posted of it, and our mark on what asked.
func (r *Runner) takeBack(ctx context.Context, run librarian.Run) error {
	if err := r.unpost(ctx, run); err != nil {
		return err
	}
	r.sign(ctx, run, librarian.ReactionNone)
	return nil
}
