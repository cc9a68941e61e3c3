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
	classTalks  class = "talks"  // one repository's discussions

	classResearch class = "research" // one repository, to be read through the API by a run's tools

	// What posts in one repository, by the kind of thread. None of them can write contents.
	classPostIssue      class = "post issue"
	classPostPull       class = "post pull request" // also in its review threads
	classPostDiscussion class = "post discussion"
	classPostCommit     class = "post commit" // a check run; contents tell where a branch stands
)

// permissions are by GitHub's names; go-github's struct of them knows no discussions.
func (c class) permissions() map[string]string {
	switch c {
	case classThread:
		return map[string]string{"metadata": "read", "issues": "read", "pull_requests": "read"}
	case classTalks:
		return map[string]string{"metadata": "read", "discussions": "read"}
	case classRead:
		return map[string]string{"metadata": "read", "contents": "read"}
	case classResearch:
		return map[string]string{"metadata": "read", "contents": "read", "issues": "read", "pull_requests": "read"}
	case classPostIssue:
		return map[string]string{"metadata": "read", "issues": "write"}
	case classPostPull:
		return map[string]string{"metadata": "read", "issues": "write", "pull_requests": "write"}
	case classPostDiscussion:
		return map[string]string{"metadata": "read", "discussions": "write"}
	case classPostCommit:
		return map[string]string{"metadata": "read", "checks": "write", "contents": "read"}
	default:
		return map[string]string{"metadata": "read"}
	}
}

// postClass is the class that can post in a thread of that kind, and in no other.
func postClass(kind librarian.PlaceKind) (class, bool) {
	switch kind {
	case librarian.PlaceIssue:
		return classPostIssue, true
	case librarian.PlacePull, librarian.PlaceReview:
		return classPostPull, true
	case librarian.PlaceDiscussion:
		return classPostDiscussion, true
	case librarian.PlaceCommit:
		return classPostCommit, true
	}
	return "", false
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
	ask := struct {
		Repositories []int64           `json:"repository_ids,omitempty"`
		Permissions  map[string]string `json:"permissions"`
	}{Permissions: key.class.permissions()}
	if key.repo != 0 {
		ask.Repositories = []int64{key.repo}
	}
	req, err := m.apps.NewRequest(http.MethodPost, fmt.Sprintf("app/installations/%d/access_tokens", key.installation), ask)
	if err != nil {
		return Token{}, none, err
	}
	var got github.InstallationToken
	if _, err := m.apps.Do(ctx, req, &got); err != nil {
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
