package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/access"
	"github.com/librarian-app/librarian/librarian/report"
)

// Runs finds and changes runs beside the one that is worked: what commands are for.
type Runs interface {
	// InThread lists the runs asked in a thread, or, with a trigger, by one comment or issue of it, newest first, at most 100.
	InThread(ctx context.Context, place librarian.Place, trigger bool) ([]librarian.Run, error)
	RequestCancel(ctx context.Context, id librarian.RunID) (asked bool, err error)
	Forget(ctx context.Context, id librarian.RunID) error
}

// Enqueue makes a request durable, as a delivery does; by is the run that asks for it, so that it is done once.
type Enqueue func(ctx context.Context, by librarian.RunID, r librarian.Request) error

// The commands that people say. Withdraw is said by the deletion of a question, retract by an edit that takes the mention out, a fault by a dispatch that cannot be understood.
const (
	cmdHelp     = "help"
	cmdStop     = "stop"
	cmdStatus   = "status"
	cmdRetry    = "retry"
	cmdForget   = "forget"
	cmdContinue = "continue"
	cmdWithdraw = librarian.CommandWithdraw
	cmdRetract  = librarian.CommandRetract
	cmdFault    = librarian.CommandFault
)

// offered are the commands that comments tell of.
var offered = []string{cmdStop, cmdStatus, cmdRetry, cmdForget, cmdContinue}

// reply is what a command comes to: bodies to post, else a sign.
type reply struct {
	bodies []string
	sign   librarian.Reaction // when there is nothing to say
}

// Command answers a request of kind command. Like Publish it can be called again; an error says that it should be.
func (r *Runner) Command(ctx context.Context, id librarian.RunID) error {
	run, err := r.o.Log.Run(ctx, id)
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	if run.State.Final() {
		return nil
	}
	switch run.Request.Command {
	case cmdWithdraw:
		return r.end(ctx, id, librarian.StatePublished, "withdrawn", r.withdraw(ctx, run))
	case cmdRetract:
		return r.end(ctx, id, librarian.StatePublished, "taken back", r.retract(ctx, run))
	}
	adm, refused, err := r.mayAsk(ctx, run.Request)
	if err != nil {
		return err
	}
	if refused != nil {
		r.hush(run.Request, refused)
		if !refused.Silent {
			r.sign(ctx, run, librarian.ReactionConfused)
		}
		return r.end(ctx, id, librarian.StateDeclined, refused.Reason, nil)
	}
	out, err := r.command(ctx, run, adm)
	if err != nil {
		return err
	}
	if len(out.bodies) > 0 {
		h, err := r.history(ctx, run)
		if err != nil {
			return err
		}
		if err := r.say(ctx, run, h, librarian.RoleAnswer, out.bodies, false); err != nil && !errors.Is(err, librarian.ErrCannotPost) {
			return err
		}
	}
	if out.sign != "" {
		r.sign(ctx, run, out.sign)
	}
	return r.end(ctx, id, librarian.StatePublished, "answered "+run.Request.Command, nil)
}

func (r *Runner) end(ctx context.Context, id librarian.RunID, to librarian.State, note string, err error) error {
	if err != nil {
		return err
	}
	if err := r.o.Progression.Advance(ctx, id, to, librarian.EventNote, librarian.NoteData{Text: note}); err != nil {
		return fmt.Errorf("run: command: %w", err)
	}
	return nil
}

// sign marks what asked; a sign that cannot be made is logged.
func (r *Runner) sign(ctx context.Context, run librarian.Run, s librarian.Reaction) {
	if err := r.o.Poster.React(ctx, run.Request.Place, s); err != nil {
		r.o.Logger.WarnContext(ctx, "could not set the reaction", "run", run.ID, "error", err)
	}
}

func (r *Runner) command(ctx context.Context, run librarian.Run, adm admission) (reply, error) {
	own := adm.repo
	c := r.comment(run)
	q := run.Request
	switch q.Command {
	case cmdHelp:
		h, err := r.help(ctx, run, adm)
		return reply{bodies: []string{c.Help(h)}}, err
	case cmdStop:
		return r.stop(ctx, run, own)
	case cmdStatus:
		return r.status(ctx, run)
	case cmdRetry:
		return r.retry(ctx, run, adm)
	case cmdForget:
		return r.forget(ctx, run, own)
	case cmdFault:
		return reply{bodies: []string{c.Notice(q.Question)}, sign: librarian.ReactionConfused}, nil
	case cmdContinue:
		return reply{bodies: []string{c.Notice("Say what to ask: `continue <run id> <question>`.")}}, nil
	}
	bodies, err := r.lookUp(ctx, run, own, adm.set)
	return reply{bodies: bodies}, err
}

// mayManage reports whether who said the command may stop or forget another's run: the asker of it, or somebody with write.
func (r *Runner) mayManage(ctx context.Context, q librarian.Request, own librarian.Repo, asker librarian.Principal) (bool, error) {
	if q.Principal.ID == asker.ID && asker.ID != 0 {
		return true, nil
	}
	level, err := r.o.Facts.Permission(ctx, q.Place.Installation, own, q.Principal)
	if err != nil {
		return false, &errAskLater{err}
	}
	return access.MayStop(asker, access.AskFacts{Asker: q.Principal, Level: level, Visibility: own.Visibility}), nil
}

// questions are a thread's runs of questions, newest first.
func (r *Runner) questions(ctx context.Context, place librarian.Place, trigger bool) ([]librarian.Run, error) {
	runs, err := r.o.Runs.InThread(ctx, place, trigger)
	if err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	return slices.DeleteFunc(runs, func(x librarian.Run) bool { return x.Request.Kind != librarian.KindQuestion }), nil
}

// stop asks the thread's unfinished runs to end, those that the one who says so may end.
func (r *Runner) stop(ctx context.Context, run librarian.Run, own librarian.Repo) (reply, error) {
	runs, err := r.questions(ctx, run.Request.Place, false)
	if err != nil {
		return reply{}, err
	}
	stopped, others := 0, 0
	for _, x := range runs {
		if x.State.Final() {
			continue
		}
		if over, err := r.answered(ctx, x); err != nil {
			return reply{}, err
		} else if over {
			continue
		}
		may, err := r.mayManage(ctx, run.Request, own, x.Request.Principal)
		if err != nil {
			return reply{}, err
		}
		if !may {
			others++
			continue
		}
		if asked, err := r.o.Runs.RequestCancel(ctx, x.ID); err != nil && !errors.Is(err, librarian.ErrRunNotFound) {
			return reply{}, fmt.Errorf("run: %w", err)
		} else if asked {
			stopped++
			if err := r.cut(ctx, x); err != nil {
				return reply{}, err
			}
		}
	}
	switch {
	case stopped > 0:
		return reply{sign: librarian.ReactionRocket}, nil
	case others > 0: // W13: nothing happens
		return reply{sign: librarian.ReactionConfused}, nil
	}
	return reply{bodies: []string{r.comment(run).Notice("Nothing is running in this thread.")}}, nil
}

// cut ends a run that no worker may look at for long: one that waits in the queue, and one whose answer waits to be posted. One
// that is being worked sees for itself that it was asked to stop.
func (r *Runner) cut(ctx context.Context, x librarian.Run) error {
	var err error
	switch x.State {
	case librarian.StateQueued:
		err = r.advance(ctx, x.ID, librarian.StateCancelled, librarian.EventOutcome, librarian.Outcome{Kind: librarian.OutcomeCancelled, Message: stopped})
	case librarian.StateVerified:
		err = r.advance(ctx, x.ID, librarian.StateCancelled, librarian.EventNote, librarian.NoteData{Text: "stopped before it was posted"})
	default:
		return nil
	}
	if err != nil {
		return fmt.Errorf("run: stop: %w", err)
	}
	if err := r.unpost(ctx, x); err != nil {
		return err
	}
	r.sign(ctx, x, r.unlessTakenBack(ctx, x, librarian.ReactionConfused))
	return nil
}

// maxStatus is how many runs a status shows.
const maxStatus = 5

func (r *Runner) status(ctx context.Context, run librarian.Run) (reply, error) {
	runs, err := r.questions(ctx, run.Request.Place, false)
	if err != nil {
		return reply{}, err
	}
	var lines []report.StatusLine
	for _, x := range runs[:min(len(runs), maxStatus)] {
		l := report.StatusLine{Run: x.ID, State: x.State, Asker: x.Request.Principal.Login, Question: x.Request.Question}
		if !x.State.Final() {
			l.Since = r.o.Now().Sub(x.CreatedAt)
		}
		h, err := r.history(ctx, x)
		if err != nil {
			return reply{}, err
		}
		l.Calls = h.calls
		l.Votes = r.votes(ctx, x, h)
		lines = append(lines, l)
	}
	return reply{bodies: []string{r.comment(run).Status(lines)}}, nil
}

// retry asks the thread's last question that came to nothing once more, in the name of who says so.
func (r *Runner) retry(ctx context.Context, run librarian.Run, adm admission) (reply, error) {
	runs, err := r.questions(ctx, run.Request.Place, false)
	if err != nil {
		return reply{}, err
	}
	for _, x := range runs {
		switch x.State {
		case librarian.StateFailed, librarian.StateInterrupted, librarian.StateCancelled, librarian.StateDeclined:
		case librarian.StatePublished:
			continue
		default:
			return reply{bodies: []string{r.comment(run).Notice("A question of this thread is being worked on.")}}, nil
		}
		may, err := r.mayManage(ctx, run.Request, adm.repo, x.Request.Principal)
		if err != nil {
			return reply{}, err
		}
		if !may {
			continue
		}
		asked := librarian.Request{Continue: x.ID, Principal: run.Request.Principal, Place: run.Request.Place, Question: x.Request.Question}
		if _, err := r.past(ctx, librarian.Run{Request: asked}, r.reader(asked, adm.repo, adm.set)); err != nil {
			continue // W12: for who may not read what it read, it is not there
		}
		again := x.Request
		again.Principal, again.Place, again.AskedAt = run.Request.Principal, run.Request.Place, run.Request.AskedAt
		if err := r.o.Enqueue(ctx, run.ID, again); err != nil {
			return reply{}, fmt.Errorf("run: %w", err)
		}
		return reply{}, nil // the new run marks what asked for it
	}
	return reply{bodies: []string{r.comment(run).Notice("There is no question in this thread that failed and could be tried again.")}}, nil
}

// forget removes the thread's runs of who says so, and with administration rights everybody's, with what was posted of them.
func (r *Runner) forget(ctx context.Context, run librarian.Run, own librarian.Repo) (reply, error) {
	runs, err := r.o.Runs.InThread(ctx, run.Request.Place, false)
	if err != nil {
		return reply{}, fmt.Errorf("run: %w", err)
	}
	level, err := r.o.Facts.Permission(ctx, run.Request.Place.Installation, own, run.Request.Principal)
	if err != nil {
		return reply{}, &errAskLater{err}
	}
	gone := 0
	kept := map[string]bool{"": true, thing(run): true} // what asked and keeps its mark, or has lost it
	for _, x := range runs {
		mine := x.Request.Principal.ID == run.Request.Principal.ID
		if x.ID == run.ID || !mine && level < access.Admin {
			continue
		}
		if err := r.erase(ctx, x); err != nil {
			return reply{}, err
		}
		if !kept[thing(x)] {
			kept[thing(x)] = true
			r.sign(ctx, x, librarian.ReactionNone)
		}
		gone++
	}
	if gone == 0 {
		return reply{bodies: []string{r.comment(run).Notice("There is nothing of yours to forget in this thread.")}}, nil
	}
	return reply{sign: librarian.ReactionRocket}, nil
}

// thing names what asked, to which our marks stick; empty: nothing does.
func thing(run librarian.Run) string {
	p := run.Request.Place
	if p.Trigger == librarian.TriggerDispatch || p.Kind == librarian.PlaceCommit {
		return ""
	}
	return fmt.Sprintf("%s %d", p.Trigger, p.TriggerID)
}

// erase stops a run, removes what was posted of it, and forgets it.
func (r *Runner) erase(ctx context.Context, x librarian.Run) error {
	if _, err := r.o.Runs.RequestCancel(ctx, x.ID); err != nil && !errors.Is(err, librarian.ErrRunNotFound) {
		return fmt.Errorf("run: %w", err)
	}
	if err := r.unpost(ctx, x); err != nil {
		return err
	}
	if err := r.o.Runs.Forget(ctx, x.ID); err != nil && !errors.Is(err, librarian.ErrRunNotFound) {
		return fmt.Errorf("run: %w", err)
	}
	return nil
}

// unpost removes every comment of a run.
func (r *Runner) unpost(ctx context.Context, x librarian.Run) error {
	h, err := r.history(ctx, x)
	if err != nil {
		return err
	}
	removed := map[int64]bool{}
	for _, p := range h.posted {
		if p.Deleted || p.Comment == 0 || removed[p.Comment] {
			continue
		}
		removed[p.Comment] = true
		err := r.o.Poster.Remove(ctx, x.Request.Place, p.Comment)
		if err != nil && !errors.Is(err, librarian.ErrNotFound) && !errors.Is(err, librarian.ErrCannotPost) {
			return err
		}
	}
	return nil
}

// withdraw follows the deletion of a question: its runs are cancelled and what was posted of them is removed.
func (r *Runner) withdraw(ctx context.Context, run librarian.Run) error {
	runs, err := r.o.Runs.InThread(ctx, run.Request.Place, true)
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	for _, x := range runs {
		if x.ID == run.ID {
			continue
		}
		if _, err := r.o.Runs.RequestCancel(ctx, x.ID); err != nil && !errors.Is(err, librarian.ErrRunNotFound) {
			return fmt.Errorf("run: %w", err)
		}
		if err := r.unpost(ctx, x); err != nil {
			return err
		}
	}
	return nil
}

// commandLine is a look-up as it was said.
func commandLine(q librarian.Request) string { return strings.TrimSpace(q.Command + " " + q.Question) }
