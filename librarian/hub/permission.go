package hub

import (
	"context"
	"errors"
	"time"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/access"
)

// permissionAge is how long an answer about somebody's permission is believed.
const permissionAge = time.Minute

// maxPermissions bounds the answers that are kept.
const maxPermissions = 10_000

type permissionKey struct {
	installation, repo, user int64
}

type knownPermission struct {
	level access.Level
	at    time.Time
}

// Permission is what p may do in repo, which the installation must cover, as GitHub's permission API tells it: from the
// booleans of its user object, which custom roles map to, and only if that user has p's id. What GitHub does not tell is
// [access.Unknown], which is no permission. What it does tell is believed for a minute. See
// https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user.
func (h *Hub) Permission(ctx context.Context, installation int64, repo librarian.Repo, p librarian.Principal) (access.Level, error) {
	host, number, ok := repo.ID.GitHub()
	if !ok || host != h.host.host || h.app == nil || p.ID <= 0 || p.Login == "" {
		return access.Unknown, nil
	}
	key := permissionKey{installation, number, p.ID}
	h.mu.Lock()
	known, ok := h.known[key]
	h.mu.Unlock()
	if ok && h.now().Sub(known.at) < permissionAge {
		return known.level, nil
	}
	asked := h.now()
	level, err := h.askPermission(ctx, tokenKey{classThread, installation, number}, repo, p)
	if err != nil || level == access.Unknown { // it may be that the installation is suspended just now; a refusal must not outlive that
		return access.Unknown, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.known) >= maxPermissions {
		clear(h.known)
	}
	h.known[key] = knownPermission{level, asked}
	return level, nil
}

// PermissionByName is what p may do in what goes by that name, if the installation covers it. It makes one request whether
// the repository exists or not, which needs no more than metadata, and keeps no answer: what is kept would tell the next time.
func (h *Hub) PermissionByName(ctx context.Context, installation int64, name librarian.RepoName, p librarian.Principal) (access.Level, error) {
	if h.app == nil || p.ID <= 0 || p.Login == "" {
		return access.Unknown, nil
	}
	return h.askPermission(ctx, tokenKey{class: classFacts, installation: installation}, librarian.Repo{Owner: name.Owner, Name: name.Name}, p)
}

func (h *Hub) askPermission(ctx context.Context, key tokenKey, repo librarian.Repo, p librarian.Principal) (access.Level, error) {
	got, _, err := h.client(key).Repositories.GetPermissionLevel(ctx, repo.Owner, repo.Name, p.Login)
	switch err = failed("permission", err); {
	case errors.Is(err, librarian.ErrNotFound):
		return access.Unknown, nil
	case err != nil:
		return access.Unknown, err
	}
	if got.GetUser().GetID() != p.ID { // the login is somebody else's by now
		return access.Unknown, nil
	}
	return access.LevelOf(got.GetUser().GetPermissions()), nil
}
