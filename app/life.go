package app

import (
	"context"
	"errors"
	"strconv"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/codesearch"
	"github.com/librarian-app/librarian/handlers"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/hub"
	"github.com/librarian-app/librarian/librarian/store"
)

// installations follows the life of the App's installations: what was removed from the App is forgotten at once, runs and
// clones and answers alike; what is suspended is stopped.
type installations struct {
	runs      *store.Store
	hub       *hub.Hub
	layers    *hub.Layers
	checkouts *checkout.Store
	index     *codesearch.Cache
}

// Changed implements handlers.Installations. An error makes the delivery fail, so that it is asked for again.
func (i installations) Changed(ctx context.Context, c handlers.InstallationChange) error {
	i.layers.Forget(c.Installation)
	switch c.Delivery.Event + "." + c.Action {
	case "installation.deleted":
		_, err := i.runs.ForgetInstallation(ctx, c.Installation)
		i.hub.Forget(c.Installation, 0)
		return errors.Join(err, i.checkouts.ForgetClass(ctx, "private-"+strconv.FormatInt(c.Installation, 10)))
	case "installation.suspend":
		i.hub.Forget(c.Installation, 0)
		_, err := i.runs.CancelInstallation(ctx, c.Installation)
		return err
	case "repository.privatized", "repository.transferred": // what was cloned as public, or for others, is no longer anybody's
		if _, number, ok := c.Repo.GitHub(); ok {
			i.hub.Forget(c.Installation, number)
		}
		var classes []string // all
		if c.Action == "privatized" {
			classes = []string{checkout.Public} // what a run clones as private just now is right
		}
		return errors.Join(i.checkouts.Forget(ctx, string(c.Repo), classes...), i.index.Forget(checkout.Public+" "+string(c.Repo)))
	}
	var errs []error
	for _, id := range c.Removed {
		errs = append(errs, i.forget(ctx, c.Installation, id))
	}
	return errors.Join(errs...)
}

// forget removes everything that is kept of one repository.
func (i installations) forget(ctx context.Context, installation int64, id librarian.RepoID) error {
	_, err := i.runs.ForgetRepo(ctx, id)
	if _, number, ok := id.GitHub(); ok {
		i.hub.Forget(installation, number)
	}
	return errors.Join(err, i.checkouts.Forget(ctx, string(id)), i.index.Forget("private-"+strconv.FormatInt(installation, 10)+" "+string(id)), i.index.Forget(checkout.Public+" "+string(id)))
}
