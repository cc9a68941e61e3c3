package handlers

import "context"

// installationRepositories handles repositories that come to an installation or go from it.
type installationRepositories struct{ o Options }

// Handles implements githubapp.EventHandler.
func (*installationRepositories) Handles() []string { return []string{"installation_repositories"} }

// Handle implements githubapp.EventHandler.
func (h *installationRepositories) Handle(ctx context.Context, event, delivery string, payload []byte) error {
	c, p, err := installationChange(event, delivery, payload)
	if err != nil {
		return err
	}
	c.Added = repoIDs(h.o.Host, p.Added)
	c.Removed = repoIDs(h.o.Host, p.Removed)
	return tell(ctx, h.o, c)
}
