package comment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v66/github"

	"github.com/librarian-app/librarian/librarian"
)

// Options are what a Poster needs.
type Options struct {
	// Client gives a client that may comment and react in the place's repository, and the repository's present name.
	Client func(context.Context, librarian.Place) (*github.Client, librarian.RepoName, error)
	AppID  int64            // our App
	BotID  int64            // the account that writes as it; 0: no mark of ours is known again, and in review threads no comment
	Ledger Ledger           // nil: GitHub's limits are kept by what this process alone wrote
	Shared bool             // other processes write into the ledger at the same time
	Now    func() time.Time // nil means time.Now
	Log    *slog.Logger     // nil means no log
}

// Poster writes comments and reactions. Its methods are safe for concurrent use. Make it with New.
type Poster struct {
	opts   Options
	log    *slog.Logger
	budget *budget

	mu    sync.Mutex
	heads map[librarian.RunID]string // see checks.sha
}

// New makes a Poster. It does no I/O.
func New(opts Options) *Poster {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	p := &Poster{opts: opts, log: opts.Log, budget: newBudget(opts.Now, opts.Ledger, opts.Shared), heads: map[librarian.RunID]string{}}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	return p
}

// maxWait is how long a write waits out a rate limit before it is left to the caller, who can wait for hours.
const maxWait = 10 * time.Second

// target is one thread, resolved.
type target struct {
	place  librarian.Place
	client *github.Client
	repo   librarian.RepoName
}

func (p *Poster) target(ctx context.Context, place librarian.Place) (target, medium, error) {
	if place.Number <= 0 && place.Kind != librarian.PlaceCommit {
		return target{}, nil, errors.New("the place is no thread")
	}
	c, name, err := p.opts.Client(ctx, place)
	if errors.Is(err, librarian.ErrNotFound) {
		err = fmt.Errorf("%w (%w)", librarian.ErrCannotPost, err)
	}
	if err != nil {
		return target{}, nil, err
	}
	t := target{place, c, name}
	m, err := p.medium(t)
	return t, m, err
}

// call makes one request; path begins after /repos/owner/name/.
func (t target) call(ctx context.Context, method, path string, body, into any) (*github.Response, error) {
	req, err := t.client.NewRequest(method, strings.TrimSuffix("repos/"+t.repo.String()+"/"+path, "/"), body)
	if err != nil {
		return nil, err
	}
	return t.client.Do(ctx, req, into)
}

// write makes one writing request when the budget allows it, and once more after a short rate limit.
func (p *Poster) write(ctx context.Context, t target, k kind, method, path string, body, into any) error {
	return p.budgeted(ctx, t, k, func() error {
		_, err := t.call(ctx, method, path, body, into)
		return err
	})
}

// mutate is write for a GraphQL mutation.
func (p *Poster) mutate(ctx context.Context, t target, k kind, mutation string, input map[string]any, into any) error {
	return p.budgeted(ctx, t, k, func() error {
		return t.graph(ctx, mutation, map[string]any{"input": input}, into)
	})
}

func (p *Poster) budgeted(ctx context.Context, t target, k kind, send func() error) error {
	for waited := time.Duration(0); ; {
		err := p.budget.spend(ctx, t.place.Installation, k, send)
		limit, ok := errors.AsType[*librarian.RateLimitError](err)
		if !ok || errors.Is(err, errBudget) {
			return err
		}
		p.budget.pause(t.place.Installation, limit.After)
		if waited += limit.After; waited > maxWait {
			return err
		}
	}
}

// maxHeads bounds the runs whose commit is kept.
const maxHeads = 1000

// head gives the commit that a run is answered at, or keeps sha for it.
func (p *Poster) head(run librarian.RunID, sha string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if kept := p.heads[run]; kept != "" || sha == "" {
		return kept
	}
	if len(p.heads) >= maxHeads {
		clear(p.heads)
	}
	p.heads[run] = sha
	return sha
}

// Remove takes away a comment of ours in the place's thread. One that is gone is no error; one that is not ours stays, and is.
func (p *Poster) Remove(ctx context.Context, place librarian.Place, id int64) error {
	_, m, err := p.target(ctx, place)
	if err != nil {
		return failed("remove", err)
	}
	c, err := m.one(ctx, id)
	switch {
	case missing(err):
		return nil
	case err != nil:
		return failed("remove", err)
	case c == nil:
		return failed("remove", errNotOurs)
	}
	err = m.remove(ctx, c)
	if missing(err) {
		return nil
	}
	return failed("remove", err)
}

// Exists reports whether a comment of ours is still in the place's thread. An error is never a "no".
func (p *Poster) Exists(ctx context.Context, place librarian.Place, id int64) (bool, error) {
	_, m, err := p.target(ctx, place)
	if err != nil {
		return false, failed("exists", err)
	}
	c, err := m.one(ctx, id)
	if missing(err) {
		return false, nil
	}
	return c != nil, failed("exists", err)
}

// errNotOurs is a comment that our App did not write, or that stands in another thread.
var errNotOurs = errors.New("the comment is not ours")

// escape is a branch's name as a part of a path: its slashes stay.
func escape(ref string) string {
	return strings.ReplaceAll(url.PathEscape(ref), "%2F", "/")
}
