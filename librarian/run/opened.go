package run

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/librarian-app/librarian/librarian"
)

// opener records each repository that a run comes to know something of, once: the lines that were shown are the ledger's, but
// the names of files, a history or a thread tell as much. A continuation, and the second look before posting, go by it.
func (r *Runner) opener(run librarian.RunID) func(context.Context, librarian.RepoID) error {
	var mu sync.Mutex
	known := map[librarian.RepoID]bool{}
	return func(ctx context.Context, repo librarian.RepoID) error {
		mu.Lock()
		defer mu.Unlock()
		if known[repo] {
			return nil
		}
		if err := r.record(ctx, run, librarian.EventOpened, librarian.OpenedData{Repo: repo}); err != nil {
			return err
		}
		known[repo] = true
		return nil
	}
}

// takeOver records what the runs before this one came to know.
func (g *Gate) takeOver(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(g.Past.Repos)) {
		if err := g.knows(ctx, g.Past.Repos[id]); err != nil {
			return err
		}
	}
	return nil
}

// knows says that the run knows something of a repository from now on.
func (g *Gate) knows(ctx context.Context, repo librarian.Repo) error {
	if repo.Private() {
		g.private.Store(true)
	}
	if _, _, ok := repo.ID.GitHub(); !ok || g.opened == nil || repo.ID == g.own.ID {
		return nil
	}
	return g.opened(ctx, repo.ID)
}
