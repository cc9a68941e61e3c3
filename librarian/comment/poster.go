package comment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v66/github"

	"github.com/librarian-app/librarian/librarian"
)

// Options are what a Poster needs.
type Options struct {
	// Client gives a client that may comment and react in the place's repository, and the repository's present name.
	Client func(context.Context, librarian.Place) (*github.Client, librarian.RepoName, error)
	AppID  int64            // our App
	Now    func() time.Time // nil means time.Now
	Log    *slog.Logger     // nil means no log
}

// Poster writes comments and reactions. Its methods are safe for concurrent use. Make it with New.
type Poster struct {
	opts   Options
	log    *slog.Logger
	budget *budget
}

// New makes a Poster. It does no I/O.
func New(opts Options) *Poster {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	p := &Poster{opts: opts, log: opts.Log, budget: newBudget(opts.Now)}
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

func (p *Poster) target(ctx context.Context, place librarian.Place) (target, error) {
	if place.Number <= 0 {
		return target{}, errors.New("the place is no thread")
	}
	c, name, err := p.opts.Client(ctx, place)
	if errors.Is(err, librarian.ErrNotFound) {
		err = fmt.Errorf("%w (%w)", librarian.ErrCannotPost, err)
	}
	return target{place, c, name}, err
}

// call makes one request; path begins after /repos/owner/name/.
func (t target) call(ctx context.Context, method, path string, body, into any) (*github.Response, error) {
	req, err := t.client.NewRequest(method, "repos/"+t.repo.String()+"/"+path, body)
	if err != nil {
		return nil, err
	}
	return t.client.Do(ctx, req, into)
}

// write makes one writing request when the budget allows it, and once more after a short rate limit.
func (p *Poster) write(ctx context.Context, t target, kind kind, method, path string, body, into any) (*github.Response, error) {
	for waited := time.Duration(0); ; {
		if err := p.budget.acquire(ctx, t.place.Installation, kind); err != nil {
			return nil, err
		}
		resp, err := t.call(ctx, method, path, body, into)
		limit, ok := errors.AsType[*librarian.RateLimitError](err)
		if !ok {
			return resp, err
		}
		p.budget.pause(t.place.Installation, limit.After)
		if waited += limit.After; waited > maxWait {
			return resp, err
		}
	}
}

// React marks what asked with r and takes our other marks off it. Twice is as once. A thread that takes no reactions is
// [librarian.ErrCannotPost]; a rate limit is a [librarian.RateLimitError].
func (p *Poster) React(ctx context.Context, place librarian.Place, r librarian.Reaction) error {
	t, err := p.target(ctx, place)
	if err != nil {
		return failed("react", err)
	}
	path, err := reactionsPath(place)
	if err != nil {
		return failed("react", err)
	}
	var mine github.Reaction
	if _, err := p.write(ctx, t, reaction, http.MethodPost, path, map[string]string{"content": string(r)}, &mine); err != nil {
		return failed("react", err)
	}
	if r == librarian.ReactionEyes { // the first mark: nothing to take off, and no time to lose
		return nil
	}
	me := mine.GetUser().GetID() // GitHub says of a reaction whose it is, not by which App: this one tells who we are
	for _, other := range [...]librarian.Reaction{librarian.ReactionEyes, librarian.ReactionConfused, librarian.ReactionRocket} {
		if other == r || me == 0 {
			continue
		}
		if err := p.takeOff(ctx, t, path, other, me); err != nil {
			return failed("react: remove "+string(other), err)
		}
	}
	return nil
}

// takeOff removes the reaction of one kind that user me left, if there is one among the first 100.
func (p *Poster) takeOff(ctx context.Context, t target, path string, r librarian.Reaction, me int64) error {
	var all []github.Reaction
	if _, err := t.call(ctx, http.MethodGet, path+"?per_page=100&content="+string(r), nil, &all); err != nil {
		return err
	}
	for _, old := range all {
		if old.GetUser().GetID() != me || old.GetContent() != string(r) {
			continue
		}
		_, err := p.write(ctx, t, tidy, http.MethodDelete, fmt.Sprintf("%s/%d", path, old.GetID()), nil, nil)
		if err != nil && !missing(err) {
			return err
		}
	}
	return nil
}

func reactionsPath(place librarian.Place) (string, error) {
	switch place.Trigger {
	case librarian.TriggerIssueComment:
		if place.TriggerID <= 0 {
			break
		}
		return fmt.Sprintf("issues/comments/%d/reactions", place.TriggerID), nil
	case librarian.TriggerIssueBody:
		return fmt.Sprintf("issues/%d/reactions", place.Number), nil
	}
	return "", fmt.Errorf("nothing to react to: trigger %q", place.Trigger)
}

// Remove deletes a comment of ours in the place's thread. One that is gone is no error; one that is not ours stays, and is.
func (p *Poster) Remove(ctx context.Context, place librarian.Place, id int64) error {
	t, err := p.target(ctx, place)
	if err != nil {
		return failed("remove", err)
	}
	c, err := p.ownComment(ctx, t, id)
	switch {
	case missing(err):
		return nil
	case err != nil:
		return failed("remove", err)
	case c == nil:
		return failed("remove", errNotOurs)
	}
	_, err = p.write(ctx, t, tidy, http.MethodDelete, fmt.Sprintf("issues/comments/%d", id), nil, nil)
	if missing(err) {
		return nil
	}
	return failed("remove", err)
}

// Exists reports whether a comment of ours is still in the place's thread. An error is never a "no".
func (p *Poster) Exists(ctx context.Context, place librarian.Place, id int64) (bool, error) {
	t, err := p.target(ctx, place)
	if err != nil {
		return false, failed("exists", err)
	}
	c, err := p.ownComment(ctx, t, id)
	if missing(err) {
		return false, nil
	}
	return c != nil, failed("exists", err)
}

// errNotOurs is a comment that our App did not write, or that stands in another thread.
var errNotOurs = errors.New("the comment is not ours")

// remark is what GitHub sends of a comment; go-github's type leaves out the App.
type remark struct {
	ID       int64  `json:"id"`
	Body     string `json:"body"`
	HTMLURL  string `json:"html_url"`
	IssueURL string `json:"issue_url"`
	App      *struct {
		ID int64 `json:"id"`
	} `json:"performed_via_github_app"`
}

// ownComment reads a comment; it is nil when the comment is not ours.
func (p *Poster) ownComment(ctx context.Context, t target, id int64) (*remark, error) {
	var c remark
	if _, err := t.call(ctx, http.MethodGet, fmt.Sprintf("issues/comments/%d", id), nil, &c); err != nil {
		return nil, err
	}
	if !p.wrote(c) || !strings.HasSuffix(c.IssueURL, fmt.Sprintf("/issues/%d", t.place.Number)) {
		return nil, nil
	}
	return &c, nil
}

func (p *Poster) wrote(c remark) bool {
	return p.opts.AppID > 0 && c.App != nil && c.App.ID == p.opts.AppID
}
