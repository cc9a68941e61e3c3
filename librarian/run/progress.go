package run

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/report"
)

// startProgress shows, for a run that takes long, how far it has come: one comment, first after Options.Progress, then
// edited at twice that, then each minute. The returned func ends it and waits. What goes wrong here is logged and costs the run nothing.
func (r *Runner) startProgress(ctx context.Context, run librarian.Run, view *trace, o librarian.Outcome, withdraw context.CancelCauseFunc) (stop func()) {
	if run.Request.Place.Kind == librarian.PlaceTerminal || r.o.Progress < 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		known := r.knownProgress(ctx, run)
		wait := r.o.Progress
		for n := 0; ; n++ {
			if n > 1 {
				wait = max(r.o.Progress, time.Minute)
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			if known != 0 {
				if there, err := r.o.Poster.Exists(ctx, run.Request.Place, known); err == nil && !there { // T10
					withdraw(errWithdrawn)
					return
				}
			}
			known = r.showProgress(ctx, run, view, o, known)
		}
	}()
	return func() { cancel(); <-done }
}

// lastWord is how long a progress comment that is being made when the research ends may take: cut off, nobody would know
// whether it was made, and it would stay for good.
const lastWord = 1500 * time.Millisecond

// lingering is a context that ends so much later than its parent.
func lingering(ctx context.Context, by time.Duration) (context.Context, func()) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(by, cancel) })
	return longer, func() { stop(); cancel() }
}

// knownProgress is the progress comment that an earlier attempt at this run made.
func (r *Runner) knownProgress(ctx context.Context, run librarian.Run) int64 {
	h, err := r.history(ctx, run)
	if err != nil {
		return 0
	}
	return h.comment(librarian.RoleProgress, 1)
}

func (r *Runner) showProgress(ctx context.Context, run librarian.Run, view *trace, o librarian.Outcome, known int64) int64 {
	ended, running := view.calls()
	p := report.Progress{Question: run.Request.Question, Calls: ended, Took: r.o.Now().Sub(run.CreatedAt), Model: o.Model, Thinking: o.Thinking}
	var now []string
	for _, s := range running {
		now = append(now, s.Verb+" "+s.Subject)
	}
	p.Running = strings.Join(now, ", ")
	saying, end := lingering(ctx, lastWord)
	defer end()
	posted, err := r.o.Poster.Say(saying, run.Request.Place, librarian.Post{
		Run: run.ID, Role: librarian.RoleProgress, Part: 1, Of: 1, Body: r.comment(run).Progress(p), Known: known, Since: run.CreatedAt,
	})
	if err != nil {
		level := slog.LevelWarn
		if _, ok := errors.AsType[*librarian.RateLimitError](err); ok { // progress is the first to make room
			level = slog.LevelDebug
		}
		if ctx.Err() == nil {
			r.o.Logger.Log(ctx, level, "could not show progress", "run", run.ID, "error", err)
		}
		return known
	}
	if posted.Comment != known {
		posted.Role, posted.Part = librarian.RoleProgress, 1
		// Made is made: the log must know it even if the run is being stopped, or the comment would stay for good.
		if err := r.record(context.WithoutCancel(ctx), run.ID, librarian.EventPosted, posted); err != nil {
			r.o.Logger.ErrorContext(ctx, "could not record the progress comment", "run", run.ID, "error", err)
		}
	}
	return posted.Comment
}
