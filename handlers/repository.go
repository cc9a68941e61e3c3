package handlers

import (
	"context"

	"github.com/librarian-app/librarian/librarian"
)

// repositories handles what happens to a repository that an installation covers, where it changes what may be kept or who may
// see it.
type repositories struct{ o Options }

// Handles implements githubapp.EventHandler.
func (*repositories) Handles() []string { return []string{"repository"} }

// Handle implements githubapp.EventHandler. A repository that is deleted has gone from its installation.
func (h *repositories) Handle(ctx context.Context, event, delivery string, payload []byte) error {
	var env envelope
	err := decode(payload, &env)
	if err != nil || !env.does("deleted", "privatized", "publicized", "renamed", "transferred", "archived", "unarchived") {
		return err
	}
	if env.Repository == nil || env.Repository.ID <= 0 {
		return incomplete(event)
	}
	c := InstallationChange{
		Delivery: librarian.Delivery{ID: delivery, Event: event}, Action: env.Action, Account: env.Repository.repoName().Owner,
		Repo: librarian.GitHubRepo(h.o.Host, env.Repository.ID), RepoName: env.Repository.repoName(), Visibility: env.Repository.visibility(),
	}
	if env.Installation != nil {
		c.Installation = env.Installation.ID
	}
	if env.Action == "deleted" {
		c.Removed = []librarian.RepoID{c.Repo}
	}
	return tell(ctx, h.o, c)
}
