package run

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/report"
	"github.com/librarian-app/librarian/librarian/settings"
)

// finalState is where an outcome leads once it was posted.
var finalState = map[librarian.OutcomeKind]librarian.State{
	librarian.OutcomeFound:       librarian.StatePublished,
	librarian.OutcomeLimit:       librarian.StatePublished,
	librarian.OutcomeFailed:      librarian.StateFailed,
	librarian.OutcomeCancelled:   librarian.StateCancelled,
	librarian.OutcomeDeclined:    librarian.StateDeclined,
	librarian.OutcomeInterrupted: librarian.StateInterrupted,
}

// shortest is the length, in UTF-16 units, at which a comment that GitHub refuses as too long is given up.
const shortest = 4_000

// Publish posts a run's outcome and ends the run. It may be called again after a crash or an error: comments that were made
// are found and kept. An error says that it should be tried again.
func (r *Runner) Publish(ctx context.Context, id librarian.RunID) error {
	run, err := r.o.Log.Run(ctx, id)
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	if run.State != librarian.StateVerified {
		return nil
	}
	h, err := r.history(ctx, run)
	if err != nil {
		return err
	}
	if h.outcome == nil {
		return fmt.Errorf("run: %s is verified but holds no outcome", id)
	}
	note, to := "published ", finalState[h.outcome.Kind]
	if run.Request.Place.Kind != librarian.PlaceTerminal {
		posting, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		if h.outcome.Kind != librarian.OutcomeCancelled && !h.told() {
			go r.watchForStop(posting, id, stop)
		}
		sign, err := r.post(posting, run, h)
		var late *errRefused
		switch {
		case err != nil && errors.Is(context.Cause(posting), ErrStopped):
			if err := r.unpost(ctx, run); err != nil {
				return err
			}
			r.sign(ctx, run, r.unlessTakenBack(ctx, run, librarian.ReactionConfused))
			note, to = "stopped before it was posted", librarian.StateCancelled
		case errors.Is(err, errWithdrawn), errors.Is(err, errQuestionGone): // T10
			note, to = "not posted: "+err.Error(), librarian.StateCancelled
			r.sign(ctx, run, librarian.ReactionNone)
		case errors.Is(err, errSuperseded):
			note, to = "not posted: "+err.Error(), librarian.StateCancelled
		case errors.Is(err, librarian.ErrCannotPost), errors.Is(err, librarian.ErrNotFound):
			note += "not posted: " + err.Error()
			if to == librarian.StatePublished { // it was not, so that it may be asked again
				to = librarian.StateFailed
			}
			r.o.Logger.WarnContext(ctx, "the outcome could not be posted", "run", id, "error", err)
			r.signOrNone(ctx, run, librarian.ReactionConfused)
		case errors.As(err, &late):
			note, to = "not posted: "+late.Error(), librarian.StateFailed // it was paid for and counts, as one that was never admitted does not
			if late.silent {
				r.sign(ctx, run, librarian.ReactionNone)
			} else {
				r.signOrNone(ctx, run, librarian.ReactionConfused)
			}
		case err != nil:
			return err
		case sign != "":
			if err := r.endSign(ctx, run, sign); err != nil {
				return err
			}
		}
	}
	err = r.advance(ctx, id, to, librarian.EventNote, librarian.NoteData{Text: note})
	if err != nil {
		return fmt.Errorf("run: publish: %w", err)
	}
	r.o.Logger.InfoContext(ctx, "run ended", "run", id, "outcome", h.outcome.Kind, "repo", run.Request.Place.RepoName.String(),
		"asker", run.Request.Principal.Login, "calls", h.outcome.Calls, "took", h.outcome.Took, "reason", reason(h.outcome))
	return nil
}

func reason(o *librarian.Outcome) string {
	if o.Kind == librarian.OutcomeDeclined {
		return o.Reason
	}
	return ""
}

// post says everything that is to be said of an outcome, and gives the sign that is to follow; empty: none.
func (r *Runner) post(ctx context.Context, run librarian.Run, h history) (sign librarian.Reaction, err error) {
	place, o := run.Request.Place, *h.outcome
	if o.Kind == librarian.OutcomeDeclined {
		if o.Silent {
			return "", nil
		}
		if o.Message != "" {
			if err := r.say(ctx, run, h, librarian.RoleRefusal, []string{r.comment(run).Refusal(o.Message)}, false); err != nil {
				return "", err
			}
		}
		return librarian.ReactionConfused, nil
	}
	if o.Silent { // T10, seen while it was worked
		if err := r.clear(ctx, run, h); err != nil {
			return "", err
		}
		return "", errWithdrawn
	}
	if h.told() { // an attempt before this one came as far as the signs
		if h.comment(librarian.RoleProgress, 1) == h.comment(librarian.RoleAnswer, 1) { // it became the answer
			return endsWith(o), nil
		}
		return endsWith(o), r.clear(ctx, run, h)
	}
	if why, err := r.superseded(ctx, run); err != nil {
		return "", err
	} else if why != "" {
		if err := r.takeBack(ctx, run); err != nil {
			return "", err
		}
		return "", fmt.Errorf("%w: %s", errSuperseded, why)
	}
	if there, err := r.o.Threads.TriggerExists(ctx, place); err != nil {
		return "", err
	} else if !there { // T10
		if err := r.unpost(ctx, run); err != nil {
			return "", err
		}
		return "", errQuestionGone
	}
	if id := h.comment(librarian.RoleProgress, 1); id != 0 && h.comment(librarian.RoleAnswer, 1) == 0 {
		if there, err := r.o.Poster.Exists(ctx, place, id); err != nil {
			return "", err
		} else if !there { // T10
			return "", errWithdrawn
		}
	}
	adm, refused, err := r.mayAsk(ctx, run.Request)
	if err != nil {
		return "", err
	}
	if refused != nil {
		if err := r.clear(ctx, run, h); err != nil {
			return "", err
		}
		return "", &errRefused{refused.Reason, refused.Silent}
	}
	show, err := r.mayShow(ctx, run, h, adm)
	if err != nil {
		return "", err
	}
	if !show {
		o.Findings, o.LastText = nil, ""
		o.Kind, o.Message = librarian.OutcomeFailed, "What this answer is made from may no longer be read in this thread, so it is not shown."
		h.calls = nil
	}
	// A check run is one by itself: its progress becomes the answer anyhow.
	edit := adm.set.Notify == settings.NotifyEdit && place.Kind != librarian.PlaceCommit && h.comment(librarian.RoleProgress, 1) != 0
	if err := r.answer(ctx, run, o, adm, h, edit); err != nil {
		return "", err
	}
	if !edit {
		if err := r.clear(ctx, run, h); err != nil {
			return "", err
		}
	}
	return endsWith(o), nil
}

// errQuestionGone is a question that was deleted while the run worked.
var errQuestionGone = errors.New("run: the question was deleted")

// errRefused is an answer to a question that would not be admitted any more: the asker, the repository or the right to it is gone
// by now.
type errRefused struct {
	reason string
	silent bool // nobody is owed a sign, or none can be left
}

func (e *errRefused) Error() string { return e.reason }

// signOrNone marks what asked; where no mark can be set, the one that says that it is worked on goes.
func (r *Runner) signOrNone(ctx context.Context, run librarian.Run, s librarian.Reaction) {
	if err := r.o.Poster.React(ctx, run.Request.Place, s); err != nil {
		r.sign(ctx, run, librarian.ReactionNone)
	}
}

func endsWith(o librarian.Outcome) librarian.Reaction {
	if o.Kind == librarian.OutcomeFound || o.Kind == librarian.OutcomeLimit {
		return librarian.ReactionRocket
	}
	return librarian.ReactionConfused
}

// mayShow looks again at every repository that the run read: access and visibility may have changed while it worked.
func (r *Runner) mayShow(ctx context.Context, run librarian.Run, h history, adm admission) (bool, error) {
	v := r.reader(run.Request, adm.repo, adm.set)
	read := slices.Clone(h.opened)
	for _, call := range h.calls {
		for _, e := range call.Evidence {
			read = append(read, e.Repo)
		}
	}
	if f := h.outcome.Findings; f != nil { // also of the runs that this one goes on from
		for _, l := range slices.Concat(f.Locations, f.References) {
			read = append(read, l.Repo)
		}
	}
	seen := map[librarian.RepoID]bool{adm.repo.ID: true}
	for _, id := range read {
		if _, _, ok := id.GitHub(); !ok || seen[id] { // a plain git host is read anonymously
			continue
		}
		seen[id] = true
		switch _, err := r.readable(ctx, id, v); {
		case errors.Is(err, librarian.ErrRunNotFound):
			return false, nil
		case err != nil:
			return false, err
		}
	}
	return true, nil
}

// answer posts the bodies; one that GitHub finds too long is made shorter and tried again. With edit the progress comment
// becomes the first of them.
func (r *Runner) answer(ctx context.Context, run librarian.Run, o librarian.Outcome, adm admission, h history, edit bool) error {
	c := r.comment(run)
	c.Repo, c.Problems = adm.repo.ID, problems(adm)
	if h.faults = digest(c.Problems); h.faults != "" {
		told, err := r.faultsTold(ctx, run, h.faults)
		if err != nil {
			return err
		}
		if told {
			c.Problems, h.faults = nil, ""
		}
	}
	for {
		err := r.say(ctx, run, h, librarian.RoleAnswer, bodies(c, o, h.calls), edit)
		if !errors.Is(err, librarian.ErrTooLong) || c.Limit == shortest {
			return err
		}
		if c.Limit == 0 {
			c.Limit = report.MaxComment
		}
		c.Limit = max(c.Limit*3/4, shortest)
	}
}

func bodies(c report.Comment, o librarian.Outcome, calls []librarian.ToolEndData) []string {
	if o.Kind == librarian.OutcomeInterrupted {
		return c.Interrupted(o.Findings, calls)
	}
	return c.Answer(o, calls)
}

func (r *Runner) comment(run librarian.Run) report.Comment {
	return report.Comment{Run: run.ID, Bot: r.o.Slug, Asker: run.Request.Principal.Login, Secrets: r.secrets(), Commands: offered}
}

func (r *Runner) secrets() []string {
	if r.o.Secrets == nil {
		return nil
	}
	return r.o.Secrets()
}

// say posts the parts of a comment and records each. With edit the first one takes the place of the progress comment.
func (r *Runner) say(ctx context.Context, run librarian.Run, h history, role string, parts []string, edit bool) error {
	for i, body := range parts {
		p := librarian.Post{Run: run.ID, Role: role, Part: i + 1, Of: len(parts), Body: body, Since: run.CreatedAt, Ends: true}
		if edit && i == 0 {
			p.Role = librarian.RoleProgress
		}
		p.Known = h.comment(p.Role, p.Part)
		posted, err := r.o.Poster.Say(ctx, run.Request.Place, p)
		if err != nil {
			return err
		}
		if posted.Comment == h.comment(role, p.Part) {
			continue
		}
		posted.Role, posted.Part, posted.Last = role, p.Part, i == len(parts)-1
		if posted.Last {
			posted.Faults = h.faults
		}
		// Made is made: the log must know it even if the run is being stopped.
		if err := r.record(context.WithoutCancel(ctx), run.ID, librarian.EventPosted, posted); err != nil {
			return err
		}
	}
	return nil
}

// clear removes the progress comment.
func (r *Runner) clear(ctx context.Context, run librarian.Run, h history) error {
	id := h.comment(librarian.RoleProgress, 1)
	if id == 0 {
		return nil
	}
	if err := r.o.Poster.Remove(ctx, run.Request.Place, id); err != nil && !errors.Is(err, librarian.ErrNotFound) {
		return err
	}
	return r.record(ctx, run.ID, librarian.EventPosted, librarian.PostedData{Role: librarian.RoleProgress, Part: 1, Comment: id, Deleted: true})
}

// problems are the faults of settings files, to be told to who asked.
func problems(adm admission) []string {
	var out []string
	for _, f := range adm.faults {
		if s := f.In(librarian.RepoName{Owner: adm.repo.Owner, Name: adm.repo.Name}).String(); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// digest stands for faults in a run's log; empty: none.
func digest(problems []string) string {
	if len(problems) == 0 {
		return ""
	}
	h := fnv.New64a()
	for _, p := range problems {
		_, _ = io.WriteString(h, p+"\n")
	}
	return fmt.Sprintf("%x", h.Sum64())
}

// maxLooked bounds the runs of a thread that are looked through for what they told.
const maxLooked = 20

// faultsTold reports whether an answer in this thread told these very faults: once is enough, and help tells them again.
func (r *Runner) faultsTold(ctx context.Context, run librarian.Run, faults string) (bool, error) {
	runs, err := r.questions(ctx, run.Request.Place, false)
	if err != nil {
		return false, err
	}
	for _, x := range runs[:min(len(runs), maxLooked)] {
		if x.ID == run.ID || !x.State.Final() {
			continue
		}
		h, err := r.history(ctx, x)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(h.posted, func(p librarian.PostedData) bool { return p.Faults == faults && !p.Deleted }) {
			return true, nil
		}
	}
	return false, nil
}
