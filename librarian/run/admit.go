package run

import (
	"cmp"
	"context"
	"errors"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/access"
	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/settings"
)

// admission is what a run may work with.
type admission struct {
	repo   librarian.Repo // the thread's own; zero on the terminal
	set    settings.Settings
	faults []settings.Fault
	asker  access.Level // in it
	thread librarian.Thread
	model  model.Model
	level  model.Level
	past   Past
}

// admit decides whether a request is worked, by what GitHub says now. A refusal is an outcome; an error means that GitHub
// could not be asked.
func (r *Runner) admit(ctx context.Context, run librarian.Run) (adm admission, refused *librarian.Outcome, err error) {
	q := run.Request
	if q.Place.Kind == librarian.PlaceTerminal {
		adm.set = r.o.Base
		return r.equip(ctx, run, adm)
	}
	if adm, refused, err = r.mayWork(ctx, run); err != nil || refused != nil {
		return adm, refused, err
	}
	adm.thread, err = r.o.Threads.Thread(ctx, q.Place)
	switch {
	case errors.Is(err, librarian.ErrNotFound):
		return adm, declined("the thread is gone", true), nil
	case err != nil:
		return adm, nil, &errAskLater{err}
	case adm.thread.TriggerGone:
		return adm, declined("the question was deleted", true), nil
	case adm.thread.Locked:
		return adm, declined("the thread is locked", false), nil // what was acknowledged gets a sign, where one can be set
	}
	return r.equip(ctx, run, adm)
}

// mayWork decides on a question without its thread: before it is acknowledged, and again when it is its turn to be researched,
// unless that is at once.
func (r *Runner) mayWork(ctx context.Context, run librarian.Run) (adm admission, refused *librarian.Outcome, err error) {
	q := run.Request
	if why, err := r.superseded(ctx, run); err != nil {
		return adm, nil, err
	} else if why != "" {
		return adm, declined(why, true), r.takeBack(ctx, run) // an attempt before a crash may have left something
	}
	if adm, ok := r.kept(run.ID); ok {
		return adm, nil, nil
	}
	if r.o.Ready != nil {
		go r.o.Ready(ctx, q.Place)
	}
	adm, refused, err = r.mayAsk(ctx, q)
	if err != nil || refused != nil {
		return adm, refused, err
	}
	if refused, err = r.first(ctx, run); err != nil || refused != nil {
		return adm, refused, err
	}
	if refused, err = r.withinCaps(ctx, run, adm.set.Limits); err != nil || refused != nil {
		return adm, refused, err
	}
	return adm, nil, nil
}

// equip finds the model, and what is continued.
func (r *Runner) equip(ctx context.Context, run librarian.Run, adm admission) (admission, *librarian.Outcome, error) {
	var err error
	q := run.Request
	if adm.past, err = r.past(ctx, run, r.reader(q, adm.repo, adm.set)); err != nil {
		return adm, nil, err
	}
	private := adm.repo.ID != "" && adm.repo.Private()
	name, ok := adm.set.Models.Pick(q.Model, private)
	if !ok {
		return adm, nil, &librarian.UserError{Message: "The model " + cmp.Or(q.Model, adm.set.Models.Default, "that is configured") + " may not be used here."}
	}
	adm.model, adm.level, err = r.o.Models(name)
	return adm, nil, err
}

func declined(why string, silent bool) *librarian.Outcome {
	return &librarian.Outcome{Kind: librarian.OutcomeDeclined, Reason: why, Silent: silent}
}

// mayAsk is asked twice: before a run, and again before its answer is posted. What is in force and who asks are looked up side
// by side, because the asker waits.
func (r *Runner) mayAsk(ctx context.Context, q librarian.Request) (adm admission, refused *librarian.Outcome, err error) {
	var unreadable error
	inForce := make(chan struct{})
	go func() {
		defer close(inForce)
		adm.set, adm.faults, unreadable = r.o.Settings(ctx, q.Place.Installation, librarian.Repo{ID: q.Place.Repo})
	}()
	repo, level, err := r.facts(ctx, q)
	<-inForce
	adm.repo, adm.asker = repo, level
	if err = cmp.Or(err, unreadable); errors.Is(err, librarian.ErrNotFound) { // deleted, or moved to where the App is not
		return adm, declined("the repository is gone", true), nil
	}
	if err != nil {
		return adm, nil, &errAskLater{err}
	}
	switch {
	case endsOnly(q): // also where librarian was turned off: what it keeps and what it posted can still be taken back
	case !adm.set.Enabled:
		return adm, declined("not enabled in this repository", false), nil
	case !open(adm.set.Triggers, q):
		return adm, declined("this way to ask is not open in this repository", true), nil
	}
	d := access.MayAsk(adm.set.Ask, access.AskFacts{Asker: q.Principal, Level: adm.asker, Visibility: adm.repo.Visibility, Archived: adm.repo.Archived})
	if d.Allowed {
		return adm, nil, nil
	}
	refused = declined(d.Reason, d.Form == access.Silent)
	if d.Form == access.Line {
		refused.Message = d.Line
	}
	return adm, refused, nil
}

// facts are the thread's repository, and what the asker may do in it.
func (r *Runner) facts(ctx context.Context, q librarian.Request) (librarian.Repo, access.Level, error) {
	repo, err := r.o.Facts.ByID(ctx, q.Place.Installation, q.Place.Repo)
	if err != nil {
		return repo, access.Unknown, err
	}
	level, err := r.o.Facts.Permission(ctx, q.Place.Installation, repo, q.Principal)
	return repo, level, err
}

// endsOnly reports whether a request starts nothing and asks for nothing.
func endsOnly(q librarian.Request) bool {
	return q.Kind == librarian.KindCommand && (q.Command == cmdStop || q.Command == cmdForget)
}

// open reports whether the settings leave open the way that a request came.
func open(t settings.Triggers, q librarian.Request) bool {
	switch q.Place.Trigger {
	case librarian.TriggerLabel:
		return t.Label
	case librarian.TriggerEvent:
		return t.Events
	case librarian.TriggerDispatch:
		return t.Dispatch
	}
	return t.Mention
}
