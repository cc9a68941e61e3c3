package run

import (
	"context"
	"errors"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/access"
	"github.com/librarian-app/librarian/librarian/model"
)

// admission is what a run may work with.
type admission struct {
	repo   librarian.Repo // the thread's own; zero on the terminal
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
		if adm.past, err = r.past(ctx, q, adm.repo); err != nil {
			return adm, nil, err
		}
		adm.model, adm.level, err = r.o.Models(q.Model, false)
		return adm, nil, err
	}
	adm.repo, refused, err = r.mayAsk(ctx, q)
	if err != nil || refused != nil {
		return adm, refused, err
	}
	adm.thread, err = r.o.Threads.Thread(ctx, q.Place)
	switch {
	case errors.Is(err, librarian.ErrNotFound):
		return adm, &librarian.Outcome{Kind: librarian.OutcomeDeclined, Silent: true, Message: "the thread is gone"}, nil
	case err != nil:
		return adm, nil, &errAskLater{err}
	case adm.thread.TriggerGone:
		return adm, &librarian.Outcome{Kind: librarian.OutcomeDeclined, Silent: true, Message: "the question was deleted"}, nil
	case adm.thread.Locked:
		return adm, &librarian.Outcome{Kind: librarian.OutcomeDeclined, Silent: true, Message: "the thread is locked"}, nil
	}
	if adm.past, err = r.past(ctx, q, adm.repo); err != nil {
		return adm, nil, err
	}
	adm.model, adm.level, err = r.o.Models(q.Model, adm.repo.Private())
	return adm, nil, err
}

// mayAsk is asked twice: before a run, and again before its answer is posted.
func (r *Runner) mayAsk(ctx context.Context, q librarian.Request) (librarian.Repo, *librarian.Outcome, error) {
	repo, err := r.o.Facts.ByID(ctx, q.Place.Installation, q.Place.Repo)
	if errors.Is(err, librarian.ErrNotFound) {
		return repo, &librarian.Outcome{Kind: librarian.OutcomeDeclined, Silent: true, Message: "the repository is gone"}, nil
	}
	if err != nil {
		return repo, nil, &errAskLater{err}
	}
	level, err := r.o.Facts.Permission(ctx, q.Place.Installation, repo, q.Principal)
	if err != nil {
		return repo, nil, &errAskLater{err}
	}
	d := access.MayAsk(r.o.Ask, access.AskFacts{Asker: q.Principal, Level: level, Visibility: repo.Visibility, Archived: repo.Archived})
	if d.Allowed {
		return repo, nil, nil
	}
	return repo, &librarian.Outcome{Kind: librarian.OutcomeDeclined, Message: d.Reason, Silent: d.Form == access.Silent}, nil
}
