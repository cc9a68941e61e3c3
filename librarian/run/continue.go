package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
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
	Messages []model.Message
	Evidence []librarian.ToolEndData
	Repos    map[librarian.RepoID]librarian.Repo // as they are now; each may be read under the new request
}

// quotedRun finds the id of one of our runs in text that was quoted from its answer.
var quotedRun = regexp.MustCompile(`\brun\s+` + "`?" + `(?:<code>)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b`)

// past loads what a request continues. A run that is unknown, and one that read anything the new request may not read, are
// the same error: run not found.
func (r *Runner) past(ctx context.Context, q librarian.Request, v reader) (Past, error) {
	id, named := q.Continue, true
	if id == "" {
		m := quotedRun.FindStringSubmatch(q.Quoted)
		if m == nil {
			return Past{}, nil
		}
		id, named = librarian.RunID(m[1]), false
	}
	p, err := r.loadPast(ctx, id, q, v)
	if errors.Is(err, librarian.ErrRunNotFound) {
		if !named { // a quotation that happens to name a run is a quotation
			return Past{}, nil
		}
		return Past{}, librarian.RunNotFound(id)
	}
	return p, err
}

func (r *Runner) loadPast(ctx context.Context, id librarian.RunID, q librarian.Request, v reader) (Past, error) {
	p := Past{Repos: map[librarian.RepoID]librarian.Repo{}}
	var chain []librarian.Run
	for next := id; next != ""; {
		run, err := r.o.Log.Run(ctx, next)
		if err != nil {
			return p, err
		}
		if run.Request.Kind != librarian.KindQuestion || len(chain) == maxChain {
			return p, librarian.RunNotFound(id)
		}
		chain = append(chain, run)
		next = run.Request.Continue
	}
	slices.Reverse(chain)
	for _, run := range chain {
		if err := r.mayContinue(ctx, run, q, v, &p); err != nil {
			return p, err
		}
		p.Messages = agent.Resume(p.Messages)
	}
	return p, nil
}

// mayContinue adds one run to the past if its thread, and every repository that its ledger names, may be read under q.
func (r *Runner) mayContinue(ctx context.Context, run librarian.Run, q librarian.Request, v reader, p *Past) error {
	events, err := r.o.Log.Events(ctx, run.ID, 0)
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	repos := []librarian.RepoID{}
	if run.Request.Place.Kind != librarian.PlaceTerminal {
		repos = append(repos, run.Request.Place.Repo)
	} else if q.Place.Kind != librarian.PlaceTerminal {
		return librarian.RunNotFound(run.ID)
	}
	if len(events) == 0 { // nothing is left of it
		return librarian.RunNotFound(run.ID)
	}
	for _, e := range events {
		if e.Attempt != run.Attempt && e.Kind != librarian.EventOutcome {
			continue
		}
		switch e.Kind {
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
