package hub

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/go-github/v66/github"
	"golang.org/x/sync/errgroup"

	"github.com/librarian-app/librarian/librarian"
)

// ByID finds a repository by GitHub's number for it, whatever it is called now: one that the installation covers, or a public
// one elsewhere. On the terminal installation is 0.
func (h *Hub) ByID(ctx context.Context, installation int64, id librarian.RepoID) (librarian.Repo, error) {
	host, number, ok := id.GitHub()
	if !ok || host != h.host.host {
		return librarian.Repo{}, fmt.Errorf("hub: repository: %w", librarian.ErrNotFound)
	}
	if h.app == nil {
		got, _, err := h.anyone.Repositories.GetByID(ctx, number)
		return h.repo(got, err, 0)
	}
	// A token for the one repository can be minted if, and only if, the installation covers it.
	key := tokenKey{classThread, installation, number}
	_, _, err := h.tokens.token(ctx, key)
	switch {
	case err == nil:
		got, _, err := h.client(key).Repositories.GetByID(ctx, number)
		return h.repo(got, err, installation)
	case !errors.Is(err, librarian.ErrNotFound):
		return librarian.Repo{}, failed("repository", err)
	}
	got, _, err := h.client(tokenKey{class: classFacts, installation: installation}).Repositories.GetByID(ctx, number)
	return public(h.repo(got, err, 0))
}

// ByName finds a repository by its name, or by one it had: one that the installation covers, or a public one elsewhere. It
// makes the same two requests whether the repository exists, may not be seen, or does not exist.
func (h *Hub) ByName(ctx context.Context, installation int64, name librarian.RepoName) (librarian.Repo, error) {
	if _, err := librarian.ParseRepoName(name.String()); err != nil {
		return librarian.Repo{}, fmt.Errorf("hub: repository: %w (%w)", librarian.ErrNotFound, err)
	}
	if h.app == nil {
		got, _, err := h.anyone.Repositories.Get(ctx, name.Owner, name.Name)
		return h.repo(got, err, 0)
	}
	var covering int64
	var repo librarian.Repo
	var missing error
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		got, _, err := h.app.Apps.FindRepositoryInstallation(ctx, name.Owner, name.Name)
		switch err = failed("installation", err); {
		case err == nil:
			covering = got.GetID()
		case !errors.Is(err, librarian.ErrNotFound):
			return err
		}
		return nil
	})
	g.Go(func() error {
		got, _, err := h.client(tokenKey{class: classFacts, installation: installation}).Repositories.Get(ctx, name.Owner, name.Name)
		repo, err = h.repo(got, err, installation)
		if errors.Is(err, librarian.ErrNotFound) {
			missing, err = err, nil // the other request is not cut short: that would tell
		}
		return err
	})
	if err := g.Wait(); err != nil {
		return librarian.Repo{}, err
	}
	if missing != nil {
		return librarian.Repo{}, missing
	}
	if covering != installation {
		repo.Installation = 0
		return public(repo, nil)
	}
	return repo, nil
}

// public refuses what is not: outside the installation only public repositories exist.
func public(repo librarian.Repo, err error) (librarian.Repo, error) {
	if err == nil && repo.Private() {
		return librarian.Repo{}, fmt.Errorf("hub: repository: %w", librarian.ErrNotFound)
	}
	return repo, err
}

// repo makes a Repo of GitHub's answer. Its URLs are built, not copied: a token is sent to where CloneURL points.
func (h *Hub) repo(got *github.Repository, err error, installation int64) (librarian.Repo, error) {
	if err != nil {
		return librarian.Repo{}, failed("repository", err)
	}
	name, err := librarian.ParseRepoName(got.GetFullName())
	if err != nil || got.GetID() <= 0 {
		return librarian.Repo{}, errors.New("hub: repository: GitHub's answer has no name or no id")
	}
	page := h.host.web + "/" + name.String()
	return librarian.Repo{
		ID:            librarian.GitHubRepo(h.host.host, got.GetID()),
		Host:          h.host.host,
		Owner:         name.Owner,
		Name:          name.Name,
		Visibility:    visibility(got),
		DefaultBranch: got.GetDefaultBranch(),
		Archived:      got.GetArchived(),
		Fork:          got.GetFork(),
		Installation:  installation,
		CloneURL:      page + ".git",
		WebURL:        page,
	}, nil
}

// visibility is the strictest reading of the two fields that tell it.
func visibility(r *github.Repository) librarian.Visibility {
	switch v := librarian.Visibility(r.GetVisibility()); {
	case v == librarian.Internal:
		return librarian.Internal
	case v == librarian.Public && r.Private != nil && !r.GetPrivate():
		return librarian.Public
	case v == "" && r.Private != nil && !r.GetPrivate(): // older servers send only this one
		return librarian.Public
	}
	return librarian.Private
}
