package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/report"
	"github.com/librarian-app/librarian/librarian/run"
)

// earlier is what the runs that a run continues had opened: they can be cited again, read at the commit of then. Trees are
// opened when a citation asks for one.
type earlier struct {
	gate    *run.Gate
	sources []report.Source // the latest commit of a repository first

	mu   sync.Mutex
	held map[string]*checkout.Checkout // by id and sha
}

func newEarlier(g *run.Gate) *earlier {
	e := &earlier{gate: g, held: map[string]*checkout.Checkout{}}
	seen := map[string]bool{}
	for _, v := range slices.Backward(g.Past.Evidence) {
		for _, ev := range v.Evidence {
			repo, ok := g.Past.Repos[ev.Repo]
			if !ok || seen[string(ev.Repo)+ev.SHA] || len(ev.SHA) < 12 {
				continue
			}
			seen[string(ev.Repo)+ev.SHA] = true
			e.sources = append(e.sources, report.Source{Key: repo.FullName() + "@" + ev.SHA[:12], Repo: repo, SHA: ev.SHA})
		}
	}
	return e
}

// source finds one by its key, or by the repository's name: the latest commit of it.
func (e *earlier) source(key string) (report.Source, bool) {
	name, ref, hasRef := strings.Cut(key, "@")
	for _, s := range e.sources {
		if strings.EqualFold(s.Key, key) || strings.EqualFold(s.Repo.FullName(), name) && (!hasRef || len(ref) >= 7 && strings.HasPrefix(s.SHA, ref)) {
			return s, true
		}
	}
	return report.Source{}, false
}

func (e *earlier) at(ctx context.Context, id librarian.RepoID, sha string) (*checkout.Checkout, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c, ok := e.held[string(id)+sha]; ok {
		return c, nil
	}
	for _, s := range e.sources {
		if s.Repo.ID != id || s.SHA != sha {
			continue
		}
		_, c, err := e.gate.Reopen(ctx, id, sha)
		if err != nil {
			return nil, err
		}
		e.held[string(id)+sha] = c
		return c, nil
	}
	return nil, fmt.Errorf("app: %s at %s was not read by this run", id, sha)
}

func (e *earlier) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for k, c := range e.held {
		c.Release()
		delete(e.held, k)
	}
}
