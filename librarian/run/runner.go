// Package run carries a run from its request to a posted answer. It owns the steps and their order (admit, acknowledge,
// research, verify, publish), each of which can be entered again after a crash; the [Gate], the one door through which
// tools open a repository; and failure.go, the one place that turns an error into words for the asker. It promises that
// a run ends in exactly one outcome in its log before anything of it is posted, that the target of every write comes
// from the run's record, and that access is decided at the gate and looked at again before posting. It needs facts about
// GitHub, a log, a poster and a toolbox, which app hands in.
package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/access"
	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/settings"
)

// Log is a run and its event log.
type Log interface {
	Run(ctx context.Context, id librarian.RunID) (librarian.Run, error)
	Events(ctx context.Context, id librarian.RunID, after int64) ([]librarian.Event, error)
	Append(ctx context.Context, id librarian.RunID, kind librarian.EventKind, data any) (seq int64, err error)
}

// Progression moves a run through its states.
type Progression interface {
	// Begin counts an attempt; ok is false when the request's attempts are spent.
	Begin(ctx context.Context, id librarian.RunID) (attempt int, ok bool, err error)
	// Advance writes an event and the state it leads to: both or nothing, and only if the run is not over.
	Advance(ctx context.Context, id librarian.RunID, to librarian.State, kind librarian.EventKind, data any) error
	Cancelled(ctx context.Context, id librarian.RunID) (bool, error)
}

// Facts are what GitHub says of repositories and people. Unknown and forbidden are one error, librarian.ErrNotFound.
type Facts interface {
	ByID(ctx context.Context, installation int64, id librarian.RepoID) (librarian.Repo, error)
	ByName(ctx context.Context, installation int64, name librarian.RepoName) (librarian.Repo, error)
	Permission(ctx context.Context, installation int64, repo librarian.Repo, who librarian.Principal) (access.Level, error)
	// PermissionByName is Permission in what goes by that name. It makes the same call whether or not that exists.
	PermissionByName(ctx context.Context, installation int64, name librarian.RepoName, who librarian.Principal) (access.Level, error)
}

// Threads reads the discussion around a question.
type Threads interface {
	Thread(ctx context.Context, place librarian.Place) (librarian.Thread, error)
	// TriggerExists is false only if what asked is known to be deleted.
	TriggerExists(ctx context.Context, place librarian.Place) (bool, error)
}

// Poster writes to the place a question came from. Say finds its own comment again and edits it, so that it can be called
// any number of times. Errors: librarian.ErrCannotPost, librarian.ErrTooLong, *librarian.RateLimitError, or another, which
// is tried again.
type Poster interface {
	React(ctx context.Context, place librarian.Place, r librarian.Reaction) error
	Say(ctx context.Context, place librarian.Place, p librarian.Post) (librarian.PostedData, error)
	Remove(ctx context.Context, place librarian.Place, comment int64) error
	// Exists is false only if a comment of ours is known to be deleted.
	Exists(ctx context.Context, place librarian.Place, comment int64) (bool, error)
}

// Models makes the model of a name that the settings allow.
type Models func(name string) (model.Model, model.Level, error)

// Settings are what is in force in a repository, and what is wrong with the files that say so.
type Settings func(ctx context.Context, installation int64, repo librarian.Repo) (settings.Settings, []settings.Fault, error)

// Unseen names the organisation's repository for settings if there may be one that is hidden from the App.
type Unseen func(ctx context.Context, installation int64, repo librarian.Repo) (name librarian.RepoName, ok bool, err error)

// Options is what a Runner needs.
type Options struct {
	Log         Log
	Progression Progression
	Runs        Runs
	Enqueue     Enqueue
	Facts       Facts // nil on the terminal without a GitHub to ask
	Threads     Threads
	Poster      Poster
	Tokens      Tokens
	Checkouts   Checkouts
	Toolbox     Toolbox
	Models      Models
	Settings    Settings
	Unseen      Unseen                                 // may be nil
	Ready       func(context.Context, librarian.Place) // gets ready what posting there will need; may be nil
	Votes       Votes                                  // nil: they are not counted
	Ballots     Ballots                                // likewise
	Base        settings.Settings                      // the server's own; all there is on the terminal
	Spending    Spending
	Slug        string                                     // the name people mention
	AppID       int64                                      // our own comments are known by it
	GitHosts    []string                                   // plain git hosts that may be asked, anonymously
	Local       func(checkout.Spec) (librarian.Repo, bool) // the terminal's local repositories
	LocalByID   func(librarian.RepoID) (librarian.Repo, bool)
	Host        string          // the GitHub host, as in links
	Progress    time.Duration   // a progress comment comes only to runs longer than this; 0: 30 s
	Secrets     func() []string // exact values that must never be posted, as they are now
	Version     string
	Now         func() time.Time
	Logger      *slog.Logger
	// Budget, when set, is told of each look at a budget of which 80 % or more are used: which one, and whether nothing is left.
	Budget func(which string, spent bool)
	// Watch, when set, is told each event as it is recorded; the terminal's view.
	Watch func(librarian.RunID, librarian.EventKind, any)
}

// Runner works runs. It may be used by several goroutines at once, each with a run of its own.
type Runner struct {
	o Options

	mu    sync.Mutex
	told  map[string]time.Time  // threads where a refusal was put into words, and when
	shown map[asker][]time.Time // refusals that were shown in the last hour; see hush

	admitted map[librarian.RunID]fresh // see keep
}

// New makes a Runner; it does no I/O.
func New(o Options) *Runner {
	if o.Progress == 0 {
		o.Progress = 30 * time.Second
	}
	return &Runner{o: o, told: map[string]time.Time{}, shown: map[asker][]time.Time{}, admitted: map[librarian.RunID]fresh{}}
}

// How a run can be told to stop while it works; causes of its context.
var (
	// ErrStopped is a person's doing.
	ErrStopped = errors.New("run: stopped by a person")
	// errWithdrawn is a person who deleted our progress comment: nothing more is to be posted.
	errWithdrawn = errors.New("run: the progress comment was deleted")
	errLog       = errors.New("run: the log could not be written")
)

// cancelPoll is how often a working run looks whether it was asked to stop.
const cancelPoll = 500 * time.Millisecond

// Run brings a run up to a verified outcome in its log; Publish posts it. A run that is already there, or over, is left
// alone. An error means that the run has no outcome yet and should be taken up again: the process is stopping, the log
// could not be written, or GitHub could not be asked.
func (r *Runner) Run(ctx context.Context, id librarian.RunID) error {
	run, err := r.o.Log.Run(ctx, id)
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	if run.State != librarian.StateQueued && run.State != librarian.StateRunning {
		return nil
	}
	if run.CancelRequested { // before it was begun
		return r.conclude(ctx, id, librarian.Outcome{Kind: librarian.OutcomeCancelled, Message: stopped})
	}
	began := r.o.Now()
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go r.watchForStop(work, id, stop)

	outcome, err := r.work(work, run, stop)
	switch {
	case errors.Is(context.Cause(work), ErrStopped):
		outcome.Kind, outcome.Message = librarian.OutcomeCancelled, stopped
	case errors.Is(context.Cause(work), errWithdrawn):
		outcome.Kind, outcome.Message, outcome.Silent = librarian.OutcomeCancelled, stopped, true
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errLog) || retryable(err):
		return err
	case err != nil:
		message := wordsFor(err)
		level := slog.LevelError
		u, ok := errors.AsType[*librarian.UserError](err)
		if ok && u.Err == nil || errors.Is(err, librarian.ErrRunNotFound) { // the asker reads all there is to know
			level = slog.LevelInfo
		}
		r.o.Logger.Log(ctx, level, "run failed", "run", id, "error", err)
		outcome.Kind, outcome.Message = librarian.OutcomeFailed, message
	}
	outcome.Took = r.o.Now().Sub(began)
	return r.conclude(ctx, id, outcome)
}

func (r *Runner) conclude(ctx context.Context, id librarian.RunID, o librarian.Outcome) error {
	if err := r.advance(ctx, id, librarian.StateVerified, librarian.EventOutcome, o); err != nil {
		return fmt.Errorf("run: conclude: %w", err)
	}
	if r.o.Watch != nil {
		r.o.Watch(id, librarian.EventOutcome, o)
	}
	return nil
}

// advance moves a run on. One that somebody ended meanwhile stays as it is.
func (r *Runner) advance(ctx context.Context, id librarian.RunID, to librarian.State, kind librarian.EventKind, data any) error {
	err := r.o.Progression.Advance(ctx, id, to, kind, data)
	if err == nil {
		return nil
	}
	if run, unknown := r.o.Log.Run(ctx, id); unknown == nil && run.State.Final() {
		return nil
	}
	return err
}

// work admits, acknowledges and researches. The outcome is filled as far as it came, also beside an error. An attempt
// counts from where it costs something: while GitHub cannot be asked, none is spent.
func (r *Runner) work(ctx context.Context, run librarian.Run, stop context.CancelCauseFunc) (librarian.Outcome, error) {
	adm, refused, err := r.admit(ctx, run)
	if err != nil {
		return librarian.Outcome{}, err
	}
	if refused != nil {
		return *refused, nil
	}
	attempt, ok, err := r.o.Progression.Begin(ctx, run.ID)
	if err != nil {
		return librarian.Outcome{}, fmt.Errorf("%w: begin: %w", errLog, err)
	}
	if !ok {
		return librarian.Outcome{Kind: librarian.OutcomeInterrupted, Message: interrupted}, nil
	}
	run.Attempt = attempt
	admitted := librarian.AdmittedData{Repo: adm.repo, Model: adm.model.Name(), Continues: adm.past.From}
	if err := r.record(ctx, run.ID, librarian.EventAdmitted, admitted); err != nil {
		return librarian.Outcome{}, err
	}
	r.o.Logger.InfoContext(ctx, "run admitted", "run", run.ID, "attempt", attempt)
	return r.research(ctx, run, adm, stop)
}

// record appends to the run's log and tells the watcher.
func (r *Runner) record(ctx context.Context, id librarian.RunID, kind librarian.EventKind, data any) error {
	if _, err := r.o.Log.Append(ctx, id, kind, data); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%w: %w", errLog, err)
	}
	if r.o.Watch != nil {
		r.o.Watch(id, kind, data)
	}
	return nil
}

// watchForStop ends the run's context when somebody asked for it.
func (r *Runner) watchForStop(ctx context.Context, id librarian.RunID, stop context.CancelCauseFunc) {
	tick := time.NewTicker(cancelPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if asked, err := r.o.Progression.Cancelled(ctx, id); err == nil && asked {
				stop(ErrStopped)
				return
			}
		}
	}
}
