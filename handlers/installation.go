package handlers

import (
	"context"
	"fmt"

	"github.com/librarian-app/librarian/librarian"
)

// InstallationChange is what happened to an installation of the App, or to one repository that it covers.
type InstallationChange struct {
	Delivery librarian.Delivery
	// Action is, by Delivery.Event: of installation created, deleted, suspend, unsuspend, new_permissions_accepted; of
	// installation_repositories added, removed; of repository deleted, privatized, publicized, renamed, transferred, archived,
	// unarchived.
	Action       string
	Installation int64
	Account      string             // login of the user or organisation
	Added        []librarian.RepoID // repositories that came with it
	Removed      []librarian.RepoID // repositories that went

	// Of a repository's event: as it is now. After a transfer the installation is the one that covers it there, 0 if none does.
	Repo       librarian.RepoID
	RepoName   librarian.RepoName
	Visibility librarian.Visibility
}

type repositoryRef struct {
	ID int64 `json:"id"`
}

type installationPayload struct {
	Action       string `json:"action"`
	Installation *struct {
		ID      int64    `json:"id"`
		Account *account `json:"account"`
	} `json:"installation"`
	Repositories []repositoryRef `json:"repositories"`
	Added        []repositoryRef `json:"repositories_added"`
	Removed      []repositoryRef `json:"repositories_removed"`
}

// installation handles the App being installed, removed, suspended.
type installation struct{ o Options }

// Handles implements githubapp.EventHandler.
func (*installation) Handles() []string { return []string{"installation"} }

// Handle implements githubapp.EventHandler.
func (h *installation) Handle(ctx context.Context, event, delivery string, payload []byte) error {
	c, p, err := installationChange(event, delivery, payload)
	if err != nil {
		return err
	}
	switch ids := repoIDs(h.o.Host, p.Repositories); p.Action {
	case "created", "unsuspend":
		c.Added = ids
	case "deleted", "suspend":
		c.Removed = ids
	}
	return tell(ctx, h.o, c)
}

func installationChange(event, delivery string, payload []byte) (c InstallationChange, p installationPayload, err error) {
	if err := decode(payload, &p); err != nil {
		return c, p, err
	}
	if p.Installation == nil {
		return c, p, fmt.Errorf("handlers: %s: %w", event, errMalformed)
	}
	c = InstallationChange{
		Delivery: librarian.Delivery{ID: delivery, Event: event}, Action: p.Action, Installation: p.Installation.ID,
		Account: p.Installation.Account.principal().Login,
	}
	return c, p, nil
}

func repoIDs(host string, refs []repositoryRef) []librarian.RepoID {
	var out []librarian.RepoID
	for _, r := range refs {
		if r.ID > 0 {
			out = append(out, librarian.GitHubRepo(host, r.ID))
		}
	}
	return out
}

// tell logs a change and hands it on.
func tell(ctx context.Context, o Options, c InstallationChange) error {
	o.Log.Info("installation changed", "action", c.Action, "installation", c.Installation, "account", c.Account,
		"added", len(c.Added), "removed", len(c.Removed), "repository", c.Repo, "delivery", c.Delivery.ID)
	if o.Installations == nil {
		return nil
	}
	if err := o.Installations.Changed(ctx, c); err != nil {
		return fmt.Errorf("handlers: installation: %w", err)
	}
	return nil
}
