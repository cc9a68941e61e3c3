package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/agent"
	"github.com/librarian-app/librarian/librarian/model"
)

// maxChain is how many runs may have been continued one after the other.
const maxChain = 20

// Past is what a continued run takes over: the messages, for the model, and what was shown then, for the ledger. Nothing
// else: tools, prompt, model, access and the repositories' state are those of now.
type Past struct {
	From     librarian.RunID // where the request does not name it
	Messages []model.Message
	Evidence []librarian.ToolEndData
	Repos    map[librarian.RepoID]librarian.Repo // as they are now; each may be read under the new request
}

// past loads what a request continues: the run it names, else the one it quotes, else, in a review thread, the last one asked
// there. A run that is unknown, and one that read anything the new request may not read, are the same error: run not found.
func (r *Runner) past(ctx context.Context, run librarian.Run, v reader) (Past, error) {
	if id := run.Request.Continue; id != "" {
		p, err := r.loadPast(ctx, id, run.Request, v)
		if errors.Is(err, librarian.ErrRunNotFound) {
			return Past{}, librarian.RunNotFound(id)
		}
		return p, err
	}
	id := run.Request.Answer
	if id == "" {
		var err error
		if id, err = r.before(ctx, run); err != nil || id == "" {
			return Past{}, err
		}
	}
	p, err := r.loadPast(ctx, id, run.Request, v)
	if errors.Is(err, librarian.ErrRunNotFound) { // nobody asked for it in so many words
		return Past{}, nil
	}
	p.From = id
	return p, err
}

// before is the last question that was worked in the same review thread; empty: there is none.
func (r *Runner) before(ctx context.Context, run librarian.Run) (librarian.RunID, error) {
	place := run.Request.Place
	if place.Kind != librarian.PlaceReview || place.Root == 0 {
		return "", nil
	}
	runs, err := r.questions(ctx, place, false)
	if err != nil {
		return "", err
	}
	for _, x := range runs {
		worked := x.State == librarian.StateVerified || x.State.Final() && x.State != librarian.StateDeclined
		if x.ID != run.ID && worked && x.Request.Place.Kind == place.Kind && x.Request.Place.Root == place.Root && !x.CreatedAt.After(run.CreatedAt) {
			return x.ID, nil
		}
	}
	return "", nil
}

func (r *Runner) loadPast(ctx context.Context, id librarian.RunID, q librarian.Request, v reader) (Past, error) {
	p := Past{Repos: map[librarian.RepoID]librarian.Repo{}}
	type link struct {
		run    librarian.Run
		events []librarian.Event
	}
	var chain []link
	for next := id; next != ""; {
		run, err := r.o.Log.Run(ctx, next)
		if err != nil {
			return p, err
		}
		events, err := r.o.Log.Events(ctx, next, 0)
		if err != nil {
			return p, fmt.Errorf("run: %w", err)
		}
		if run.Request.Kind != librarian.KindQuestion || len(chain) == maxChain || len(events) == 0 { // nothing is left of it
			return p, librarian.RunNotFound(id)
		}
		chain = append(chain, link{run, events})
		if next, err = continues(run, events); err != nil {
			return p, err
		}
	}
	slices.Reverse(chain)
	for _, l := range chain {
		if err := r.mayContinue(ctx, l.run, l.events, q, v, &p); err != nil {
			return p, err
		}
		p.Messages = agent.Resume(p.Messages)
	}
	return p, nil
}

// continues is the run that a run went on from.
func continues(run librarian.Run, events []librarian.Event) (id librarian.RunID, err error) {
	if id = run.Request.Continue; id != "" {
		return id, nil
	}
	for _, e := range events {
		if e.Kind != librarian.EventAdmitted {
			continue
		}
		var d librarian.AdmittedData
		if err := json.Unmarshal(e.Data, &d); err != nil {
			return "", fmt.Errorf("run: event %d: %w", e.Seq, err)
		}
		id = d.Continues
	}
	return id, nil
}

// mayContinue adds one run to the past if its thread, and every repository that its ledger names, may be read under q.
func (r *Runner) mayContinue(ctx context.Context, run librarian.Run, events []librarian.Event, q librarian.Request, v reader, p *Past) error {
	repos := []librarian.RepoID{}
	if run.Request.Place.Kind != librarian.PlaceTerminal {
		repos = append(repos, run.Request.Place.Repo)
	} else if q.Place.Kind != librarian.PlaceTerminal {
		return librarian.RunNotFound(run.ID)
	}
	for _, e := range events {
		if e.Attempt != run.Attempt && e.Kind != librarian.EventOutcome {
			continue
		}
		switch e.Kind {
		case librarian.EventOpened:
			var d librarian.OpenedData
			if err := json.Unmarshal(e.Data, &d); err != nil {
				return fmt.Errorf("run: event %d: %w", e.Seq, err)
			}
			repos = append(repos, d.Repo)
		case librarian.EventMessage:
			m, err := model.DecodeMessage(e.Data)
			if err != nil {
				return fmt.Errorf("run: event %d: %w", e.Seq, err)
			}
			p.Messages = append(p.Messages, m)
		case librarian.EventToolEnd:
			var d librarian.ToolEndData
			if err := json.Unmarshal(e.Data, &d); err != nil {
				return fmt.Errorf("run: event %d: %w", e.Seq, err)
			}
			p.Evidence = append(p.Evidence, d)
			for _, ev := range d.Evidence {
				repos = append(repos, ev.Repo)
			}
		}
	}
	for _, id := range repos {
		if _, ok := p.Repos[id]; ok {
			continue
		}
		repo, err := r.readable(ctx, id, v)
		if err != nil {
			return err
		}
		p.Repos[id] = repo
	}
	return nil
}

// readable is the repository as it is now, if the request may read it; else the error is ErrRunNotFound.
func (r *Runner) readable(ctx context.Context, id librarian.RepoID, v reader) (librarian.Repo, error) {
	if _, _, ok := id.GitHub(); !ok {
		if v.q.Place.Kind == librarian.PlaceTerminal && r.o.LocalByID != nil {
			if repo, ok := r.o.LocalByID(id); ok {
				return repo, nil
			}
		}
		return librarian.Repo{}, librarian.ErrRunNotFound
	}
	repo, err := r.o.Facts.ByID(ctx, v.q.Place.Installation, id)
	if errors.Is(err, librarian.ErrNotFound) {
		return repo, librarian.ErrRunNotFound
	}
	if err != nil {
		return repo, &errAskLater{err}
	}
	may, err := v.may(ctx, repo)
	if err != nil {
		return repo, err
	}
	if !may {
		return repo, librarian.ErrRunNotFound
	}
	return repo, nil
}

// Reopen gives a repository at a commit that an earlier run read, for its citations to be read again. Only what past holds
// is opened.
func (g *Gate) Reopen(ctx context.Context, id librarian.RepoID, sha string) (librarian.Repo, *checkout.Checkout, error) {
	repo, ok := g.Past.Repos[id]
	if !ok {
		return librarian.Repo{}, nil, NotFound(string(id))
	}
	c, err := g.Checkouts.Acquire(ctx, checkout.Request{
		Repo: checkout.Repo{ID: string(repo.ID), Name: repo.FullName(), URL: repo.CloneURL, Class: class(repo)},
		Ref:  sha, Credentials: g.credentials(repo), Checked: true,
	})
	if err != nil {
		return librarian.Repo{}, nil, err
	}
	return repo, c, nil
}
