package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

// Votes counts what readers thought of a comment of ours. GitHub sends nothing when somebody votes, so it is asked.
type Votes func(ctx context.Context, place librarian.Place, comment int64) (librarian.VotesData, error)

// Ballots keeps what was counted.
type Ballots interface {
	// VotesDue lists the answered questions, asked since a time, whose votes are to be counted by now.
	VotesDue(ctx context.Context, since time.Time, limit int) ([]librarian.Run, error)
	// SetVotes keeps a count, nil if none could be made, and when the next is due.
	SetVotes(ctx context.Context, id librarian.RunID, v *librarian.VotesData, due time.Time) error
}

// How often the votes on an answer are counted: soon after it was posted, and then each time it has become twice as old. That is
// some 12 requests an answer in all, most of them answered 304, which costs nothing of GitHub's hourly limit.
const (
	votesFirst  = 15 * time.Minute
	votesWindow = 14 * 24 * time.Hour // from when on nobody counts unless asked
	votesAtOnce = 100                 // answers of one look
)

// CountVotes counts the votes that are due. What GitHub cannot tell of one answer is asked again later; of an installation whose
// limit is spent nothing more is asked this time.
func (r *Runner) CountVotes(ctx context.Context) error {
	due, err := r.o.Ballots.VotesDue(ctx, r.o.Now().Add(-votesWindow), votesAtOnce)
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	spent := map[int64]bool{}
	for _, x := range due {
		if spent[x.Request.Place.Installation] {
			continue
		}
		h, err := r.history(ctx, x)
		if err != nil {
			return err
		}
		_, err = r.countVotes(ctx, x, h)
		if _, limit := errors.AsType[*librarian.RateLimitError](err); limit {
			spent[x.Request.Place.Installation] = true
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// votes are those on an answer as they are now; what cannot be asked just now is as it was.
func (r *Runner) votes(ctx context.Context, x librarian.Run, h history) librarian.VotesData {
	if v, err := r.countVotes(ctx, x, h); err == nil {
		return v
	}
	return h.votes
}

// countVotes asks for the votes on a run's answer and keeps them with the run.
func (r *Runner) countVotes(ctx context.Context, x librarian.Run, h history) (librarian.VotesData, error) {
	id := h.comment(librarian.RoleAnswer, 1)
	if r.o.Votes == nil || r.o.Ballots == nil || x.State != librarian.StatePublished {
		return h.votes, nil
	}
	var counted *librarian.VotesData
	var unknown error
	now := r.o.Now() // before asking: a vote that comes while GitHub answers is not put off for longer than the count is old
	if id != 0 {
		v, err := r.o.Votes(ctx, x.Request.Place, id)
		switch {
		case err == nil:
			counted = &v
		case errors.Is(err, librarian.ErrNotFound): // the answer was deleted; what was thought of it stays known
		default:
			unknown = err
			r.o.Logger.WarnContext(ctx, "could not count the votes", "run", x.ID, "error", err)
			if _, limit := errors.AsType[*librarian.RateLimitError](err); limit || ctx.Err() != nil {
				return h.votes, err // due as it was
			}
		}
	}
	err := r.o.Ballots.SetVotes(ctx, x.ID, counted, now.Add(max(votesFirst, now.Sub(x.CreatedAt))))
	if err != nil && !errors.Is(err, librarian.ErrRunNotFound) {
		r.o.Logger.WarnContext(ctx, "could not keep the votes", "run", x.ID, "error", err)
		unknown = err
	}
	if counted == nil {
		return h.votes, unknown
	}
	return *counted, unknown
}
