package hub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v66/github"
	"github.com/palantir/go-githubapp/appconfig"
	"golang.org/x/sync/errgroup"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/settings"
)

// Where the layers stand, on the default branch of their repositories.
const (
	OrganisationRepo  = ".github"               // of the account that owns a repository
	OrganisationFile  = "librarian.yml"         // in it
	RepositoryFile    = ".github/librarian.yml" // in each repository
	layerAge          = 30 * time.Second        // how long a file is believed without asking for it again
	maxLayers         = 10_000
	unreadableSetting = "settings could not be read; access is the strictest until they can"
)

// Layers reads the settings that organisations and repositories have, and merges them over the server's. Its methods are safe
// for concurrent use. Make it with NewLayers.
type Layers struct {
	hub  *Hub
	base settings.Settings

	mu   sync.Mutex
	kept map[layerKey]keptLayer
}

type layerKey struct {
	installation int64
	name         string // owner/name, lower-cased
	file         string
}

type keptLayer struct {
	layer settings.Layer
	at    time.Time
}

// NewLayers makes Layers over the server's own settings. It does no I/O.
func NewLayers(h *Hub, base settings.Settings) *Layers {
	return &Layers{hub: h, base: base, kept: map[layerKey]keptLayer{}}
}

// Effective gives the settings in force in repo, which the installation covers, and what is wrong with its files: that is to be
// told in a thread there that asked, and nowhere else. A file that cannot be read makes access the strictest and is such a fault;
// a rate limit and an installation that is gone are errors. Files are believed for half a minute and then confirmed by their
// ETag.
//
// An organisation's file in a private .github repository that the App is not installed on looks like one that is not there, see
// [Layers.Unseen]. On the terminal there are no layers.
func (l *Layers) Effective(ctx context.Context, installation int64, repo librarian.Repo) (settings.Settings, []settings.Fault, error) {
	if l.hub.tokens == nil {
		return l.base, nil, nil
	}
	_, number, ok := repo.ID.GitHub()
	if !ok {
		return settings.Settings{}, nil, failed("settings", librarian.ErrNotFound)
	}
	key := tokenKey{classRead, installation, number}
	_, name, err := l.hub.tokens.token(ctx, key)
	if err != nil {
		return settings.Settings{}, nil, failed("settings", err)
	}
	var organisation, repository settings.Layer
	var g errgroup.Group // side by side: somebody waits for a sign
	g.Go(func() (err error) {
		organisation, err = l.layer(ctx, installation, librarian.RepoName{Owner: name.Owner, Name: OrganisationRepo}, OrganisationFile,
			func() (*github.Client, bool, error) { return l.organisation(ctx, installation, name.Owner) })
		if err != nil {
			return failed("settings: organisation", err)
		}
		return nil
	})
	g.Go(func() (err error) {
		repository, err = l.layer(ctx, installation, name, RepositoryFile, func() (*github.Client, bool, error) { return l.hub.client(key), false, nil })
		if err != nil {
			return failed("settings: repository", err)
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		return settings.Settings{}, nil, err
	}
	s, faults := settings.Merge(l.base, name, organisation, repository)
	return s, faults, nil
}

// Unseen names the .github repository of a repository's owner if there may be one whose settings have no effect: GitHub shows none,
// and the App is installed on chosen repositories, so that a private one would be hidden from it. ok is false where it is known
// that there is none, or it is seen.
func (l *Layers) Unseen(ctx context.Context, installation int64, repo librarian.Repo) (name librarian.RepoName, ok bool, err error) {
	if l.hub.tokens == nil || l.hub.app == nil {
		return name, false, nil
	}
	name = librarian.RepoName{Owner: repo.Owner, Name: OrganisationRepo}
	_, err = l.hub.ByName(ctx, installation, name)
	if !errors.Is(err, librarian.ErrNotFound) {
		return name, false, err
	}
	in, _, err := l.hub.app.Apps.GetInstallation(ctx, installation)
	if err != nil {
		return name, false, failed("settings: installation", err)
	}
	return name, in.GetRepositorySelection() != "all", nil
}

// Forget drops what is kept of an installation, for when its repositories change.
func (l *Layers) Forget(installation int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k := range l.kept {
		if k.installation == installation {
			delete(l.kept, k)
		}
	}
}

// organisation is a client for an owner's .github repository, and whether that is private; nil when there is none.
func (l *Layers) organisation(ctx context.Context, installation int64, owner string) (c *github.Client, private bool, err error) {
	name := librarian.RepoName{Owner: owner, Name: OrganisationRepo}
	repo, err := l.hub.ByName(ctx, installation, name)
	switch {
	case errors.Is(err, librarian.ErrNotFound):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case !name.Equal(librarian.RepoName{Owner: repo.Owner, Name: repo.Name}): // it was renamed: no longer what the name says
		return nil, false, nil
	}
	_, number, _ := repo.ID.GitHub()
	if repo.Installation == 0 {
		return l.hub.client(tokenKey{class: classFacts, installation: installation}), repo.Private(), nil
	}
	return l.hub.client(tokenKey{classRead, installation, number}), repo.Private(), nil
}

// layer reads one file, or has it from a moment ago.
func (l *Layers) layer(ctx context.Context, installation int64, name librarian.RepoName, file string, client func() (c *github.Client, private bool, err error)) (settings.Layer, error) {
	key := layerKey{installation, strings.ToLower(name.String()), file}
	l.mu.Lock()
	kept, ok := l.kept[key]
	l.mu.Unlock()
	now := l.hub.now()
	if ok && now.Sub(kept.at) < layerAge {
		return kept.layer, nil
	}
	layer := settings.Layer{Source: name.String() + "/" + file}
	c, private, err := client()
	layer.Private = private
	if err == nil && c != nil {
		layer.Raw, layer.Found, err = load(ctx, c, name, file)
	}
	if err != nil {
		if notForNow(ctx, err) {
			return settings.Layer{}, err
		}
		l.hub.log.Warn("hub: "+unreadableSetting, "file", layer.Source, "err", err.Error()) // pkg/errors would print its stack
		layer.Err = err
		return layer, nil // not kept: it is tried again the next time
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) >= maxLayers {
		clear(l.kept)
	}
	l.kept[key] = keptLayer{layer, now}
	return layer, nil
}

// notForNow tells what says nothing of the file: the wait for a limit, the end of the work, an installation that is gone.
func notForNow(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return true
	}
	if _, limit := errors.AsType[*librarian.RateLimitError](err); limit {
		return true
	}
	_, mint := errors.AsType[*tokenError](err)
	return mint
}

// load reads a file from the default branch. Files that stand for another repository's are not followed.
func load(ctx context.Context, c *github.Client, name librarian.RepoName, file string) (raw []byte, found bool, err error) {
	loader := appconfig.NewLoader([]string{file}, appconfig.WithRemoteRefParser(nil), appconfig.WithOwnerDefault("", nil))
	got, err := loader.LoadConfig(ctx, c, name.Owner, name.Name, "")
	if e, ok := errors.AsType[*github.ErrorResponse](err); ok && e.Response.StatusCode == http.StatusConflict { // an empty repository
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if len(got.Content) == 0 && !got.IsUndefined() {
		// A link out of the tree and a submodule have no content either, and may stand for anything.
		f, _, _, err := c.Repositories.GetContents(ctx, name.Owner, name.Name, file, nil)
		if err != nil {
			return nil, false, err
		}
		if f.GetType() != "file" {
			return nil, false, fmt.Errorf("it is a %s", f.GetType())
		}
	}
	return got.Content, !got.IsUndefined(), nil
}
