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

	"github.com/librarian-app/librarian/librarian"
)

// class is what a token is for. With an installation and a repository it names a token, and a cache of answers.
type class string

// The classes, each with the least that its calls need.
const (
	classFacts  class = "facts"  // repositories by name: metadata of whatever the installation covers
	classThread class = "thread" // one repository, its threads and who may do what in it
	classRead   class = "read"   // one repository's contents, for git
	classPost   class = "post"   // comments and reactions in one repository

	classResearch class = "research" // one repository, to be read through the API by a run's tools
)

func (c class) permissions() *github.InstallationPermissions {
	read, write := github.String("read"), github.String("write")
	switch c {
	case classThread:
		return &github.InstallationPermissions{Metadata: read, Issues: read, PullRequests: read}
	case classRead:
		return &github.InstallationPermissions{Metadata: read, Contents: read}
	case classResearch:
		return &github.InstallationPermissions{Metadata: read, Contents: read, Issues: read, PullRequests: read}
	case classPost:
		return &github.InstallationPermissions{Metadata: read, Issues: write, PullRequests: write}
	default:
		return &github.InstallationPermissions{Metadata: read}
	}
}

type tokenKey struct {
	class        class
	installation int64
	repo         int64 // 0 for classFacts
}

// refreshBefore is how long before a token ends another is minted: longer than any request or fetch that begins with it.
const refreshBefore = 5 * time.Minute

// maxTokens bounds what is kept; beyond it the tokens that ended are dropped.
const maxTokens = 4096

// minter mints installation tokens and keeps them. ghinstallation's own transport is not used for this, because it knows
// no narrowing per call, keeps a token that GitHub refuses, and reads the wall clock.
type minter struct {
	apps *github.Client // with the App's JWT
	now  func() time.Time

	mu   sync.Mutex
	kept map[tokenKey]*minted
}

type minted struct {
	turn  chan struct{} // held while minting, so that one call serves all who wait
	token Token         // guarded by minter.mu
	name  librarian.RepoName
}

func newMinter(apps *github.Client, now func() time.Time) *minter {
	return &minter{apps: apps, now: now, kept: map[tokenKey]*minted{}}
}

// token gives a token for key that is good for refreshBefore at least. The name is the repository's own when the token
// was minted; empty for classFacts.
func (m *minter) token(ctx context.Context, key tokenKey) (Token, librarian.RepoName, error) {
	e := m.entry(key)
	if t, name, ok := m.good(e); ok {
		return t, name, nil
	}
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return Token{}, librarian.RepoName{}, ctx.Err()
	}
	if t, name, ok := m.good(e); ok { // somebody else's turn brought it
		return t, name, nil
	}
	t, name, err := m.mint(ctx, key)
	if err != nil {
		return Token{}, librarian.RepoName{}, fmt.Errorf("mint token: %w", err)
	}
	m.mu.Lock()
	e.token, e.name = t, name
	m.mu.Unlock()
	return t, name, nil
}

func (m *minter) entry(key tokenKey) *minted {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.kept[key]
	if e == nil {
		if len(m.kept) >= maxTokens {
			for k, old := range m.kept {
				if len(old.turn) == 0 && !m.now().Before(old.token.expires) {
					delete(m.kept, k)
				}
			}
		}
		e = &minted{turn: make(chan struct{}, 1)}
		m.kept[key] = e
	}
	return e
}

func (m *minter) good(e *minted) (Token, librarian.RepoName, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ok := !e.token.IsZero() && m.now().Add(refreshBefore).Before(e.token.expires)
	return e.token, e.name, ok
}

func (m *minter) mint(ctx context.Context, key tokenKey) (Token, librarian.RepoName, error) {
	var none librarian.RepoName
	if key.installation <= 0 {
		return Token{}, none, librarian.ErrNotFound
	}
	opts := &github.InstallationTokenOptions{Permissions: key.class.permissions()}
	if key.repo != 0 {
		opts.RepositoryIDs = []int64{key.repo}
	}
	got, _, err := m.apps.Apps.CreateInstallationToken(ctx, key.installation, opts)
	if err != nil {
		return Token{}, none, mintError(err)
	}
	if got.GetToken() == "" {
		return Token{}, none, errors.New("GitHub answered without a token")
	}
	t := newToken(got.GetToken(), got.GetExpiresAt().Time, key)
	if key.repo == 0 {
		return t, none, nil
	}
	// What was asked for is checked, not trusted: a token for more would undo the narrowing.
	if len(got.Repositories) != 1 || got.Repositories[0].GetID() != key.repo {
		return Token{}, none, errors.New("GitHub answered with a token for other repositories")
	}
	name, err := librarian.ParseRepoName(got.Repositories[0].GetFullName())
	if err != nil {
		return Token{}, none, err
	}
	return t, name, nil
}

// mintError tells an installation or repository that is not (or no longer) the App's from a permission that the App was not
// granted, which is for the operator.
func mintError(err error) error {
	var e *github.ErrorResponse
	if !errors.As(err, &e) || e.Response == nil {
		return err
	}
	switch e.Response.StatusCode {
	case http.StatusNotFound, http.StatusForbidden, http.StatusGone: // removed, suspended
		return fmt.Errorf("%w (%w)", librarian.ErrNotFound, err)
	case http.StatusUnprocessableEntity:
		if strings.Contains(strings.ToLower(e.Message), "permission") {
			return fmt.Errorf("the App lacks a permission it needs: %w", err)
		}
		return fmt.Errorf("%w (%w)", librarian.ErrNotFound, err)
	}
	return err
}

// rejected drops t, unless it was replaced already.
func (m *minter) rejected(t Token) {
	if t.IsZero() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.kept[t.key]; e != nil && !e.token.IsZero() && e.token.secret() == t.secret() {
		e.token = Token{}
	}
}

// forget drops the tokens of a repository, or of the whole installation when repo is 0.
func (m *minter) forget(installation, repo int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k := range m.kept {
		if k.installation == installation && (repo == 0 || k.repo == repo) {
			delete(m.kept, k)
		}
	}
}

func (m *minter) secrets() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []string
	for _, e := range m.kept {
		all = append(all, e.token.Secrets()...)
	}
	return all
}
