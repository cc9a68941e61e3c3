package comment

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

// notes are the comments of an issue or pull request, or the replies in a thread of a review.
type notes struct {
	p *Poster
	t target
}

// note is what GitHub sends of either; go-github's types leave out the App, which is told of issue comments alone.
type note struct {
	ID       int64  `json:"id"`
	Body     string `json:"body"`
	HTMLURL  string `json:"html_url"`
	IssueURL string `json:"issue_url"`
	PullURL  string `json:"pull_request_url"`
	ReplyTo  int64  `json:"in_reply_to_id"`
	User     *struct {
		ID int64 `json:"id"`
	} `json:"user"`
	App *struct {
		ID int64 `json:"id"`
	} `json:"performed_via_github_app"`
}

func (n note) remark() *remark { return &remark{id: n.ID, url: n.HTMLURL, body: n.Body} }

func (m notes) review() bool { return m.t.place.Kind == librarian.PlaceReview }

// root is the first comment of the review thread: what asked, unless that is a reply itself (T1).
func (m notes) root() int64 {
	if m.t.place.Root > 0 {
		return m.t.place.Root
	}
	return m.t.place.TriggerID
}

// ours reports whether our App wrote n, and in this thread. Of review comments GitHub tells no App: there it is our account that
// counts, which nobody but the App can write as.
func (m notes) ours(n note) bool {
	if m.review() {
		return m.p.opts.BotID > 0 && n.User != nil && n.User.ID == m.p.opts.BotID && n.ReplyTo == m.root() &&
			strings.HasSuffix(n.PullURL, fmt.Sprintf("/pulls/%d", m.t.place.Number))
	}
	return m.p.opts.AppID > 0 && n.App != nil && n.App.ID == m.p.opts.AppID && strings.HasSuffix(n.IssueURL, fmt.Sprintf("/issues/%d", m.t.place.Number))
}

func (m notes) path(id int64) string {
	if m.review() {
		return fmt.Sprintf("pulls/comments/%d", id)
	}
	return fmt.Sprintf("issues/comments/%d", id)
}

func (m notes) one(ctx context.Context, id int64) (*remark, error) {
	var n note
	if _, err := m.t.call(ctx, http.MethodGet, m.path(id), nil, &n); err != nil {
		return nil, err
	}
	if !m.ours(n) {
		return nil, nil
	}
	return n.remark(), nil
}

func (m notes) search(ctx context.Context, post librarian.Post, mark string) (*remark, error) {
	list := fmt.Sprintf("issues/%d/comments", m.t.place.Number)
	if m.review() {
		list = fmt.Sprintf("pulls/%d/comments", m.t.place.Number)
	}
	q := url.Values{"per_page": {fmt.Sprint(pageSize)}}
	if !post.Since.IsZero() {
		q.Set("since", post.Since.Add(-clockMargin).UTC().Format(time.RFC3339))
	}
	for page := 1; page <= maxPages; page++ {
		q.Set("page", fmt.Sprint(page))
		var all []note
		resp, err := m.t.call(ctx, http.MethodGet, list+"?"+q.Encode(), nil, &all)
		if err != nil {
			return nil, err
		}
		for _, n := range all {
			if m.ours(n) && same(n.Body, mark) {
				return n.remark(), nil
			}
		}
		if resp.NextPage == 0 {
			return nil, nil
		}
	}
	return nil, errTooMany
}

// errTooMany is why nothing is posted rather than twice.
var errTooMany = errors.New("too many comments to tell whether this one is there")

func (m notes) create(ctx context.Context, k kind, _ librarian.Post, body string) (*remark, error) {
	path := fmt.Sprintf("issues/%d/comments", m.t.place.Number)
	if m.review() {
		path = fmt.Sprintf("pulls/%d/comments/%d/replies", m.t.place.Number, m.root())
	}
	var n note
	if err := m.p.write(ctx, m.t, k, http.MethodPost, path, map[string]string{"body": body}, &n); err != nil {
		return nil, err
	}
	return n.remark(), nil
}

func (m notes) edit(ctx context.Context, k kind, _ librarian.Post, c *remark, body string) error {
	return m.p.write(ctx, m.t, k, http.MethodPatch, m.path(c.id), map[string]string{"body": body}, nil)
}

func (m notes) remove(ctx context.Context, c *remark) error {
	return m.p.write(ctx, m.t, tidy, http.MethodDelete, m.path(c.id), nil, nil)
}
