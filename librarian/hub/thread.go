package hub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v66/github"

	"github.com/librarian-app/librarian/librarian"
)

// Bounds of a thread that is read.
const (
	maxThreadPages = 5       // of 100 comments: the newest
	maxThreadBytes = 1 << 20 // of all comments that are kept
	maxBody        = 65_536  // bytes of one body; GitHub's own limit is as many characters
	commentsPage   = 100     // the most that GitHub gives at once
)

// Thread reads the issue or pull request of place with its discussion: the newest 500 comments and 1 MiB of text, and the
// comment that asked. A thread that is gone is [librarian.ErrNotFound]; of a comment that asked and is gone TriggerGone tells.
func (h *Hub) Thread(ctx context.Context, place librarian.Place) (librarian.Thread, error) {
	c, name, err := h.threadClient(ctx, place)
	if err != nil {
		return librarian.Thread{}, failed("thread", err)
	}
	issue, _, err := c.Issues.Get(ctx, name.Owner, name.Name, place.Number)
	if err != nil {
		return librarian.Thread{}, failed("thread", err)
	}
	thread := librarian.Thread{
		Number:    issue.GetNumber(),
		Title:     issue.GetTitle(),
		Author:    principal(issue.GetUser()),
		Role:      issue.GetAuthorAssociation(),
		CreatedAt: issue.GetCreatedAt().Time,
		UpdatedAt: issue.GetUpdatedAt().Time,
		Closed:    issue.GetState() == "closed",
		Locked:    issue.GetLocked(),
	}
	thread.Body, _ = clip(issue.GetBody())
	// A number that was asked in may by now name another issue: after a transfer, a deletion.
	thread.TriggerGone = place.Trigger == librarian.TriggerIssueBody && place.TriggerID != 0 && issue.GetID() != place.TriggerID
	if issue.IsPullRequest() {
		if thread.Pull, err = pull(ctx, c, name, place.Number); err != nil {
			return librarian.Thread{}, failed("thread: pull request", err)
		}
	}
	comments, omitted, err := newestComments(ctx, c, name, place.Number)
	if err != nil {
		return librarian.Thread{}, failed("thread: comments", err)
	}
	thread.Comments, thread.Omitted = comments, omitted
	if place.Trigger == librarian.TriggerIssueComment && !slices.ContainsFunc(comments, isID(place.TriggerID)) {
		asked, err := h.comment(ctx, c, name, place)
		switch {
		case err == nil:
			thread.Comments = slices.Insert(thread.Comments, 0, asked)
			thread.Omitted = max(0, thread.Omitted-1)
		case errors.Is(err, librarian.ErrNotFound):
			thread.TriggerGone = true
		default:
			return librarian.Thread{}, err
		}
	}
	return thread, nil
}

// TriggerExists reports whether the comment or issue that asked is still there. An error is never a "no".
func (h *Hub) TriggerExists(ctx context.Context, place librarian.Place) (bool, error) {
	c, name, err := h.threadClient(ctx, place)
	if err != nil {
		return false, failed("trigger", err)
	}
	switch place.Trigger {
	case librarian.TriggerIssueComment:
		_, err = h.comment(ctx, c, name, place)
	case librarian.TriggerIssueBody:
		var issue *github.Issue
		if issue, _, err = c.Issues.Get(ctx, name.Owner, name.Name, place.Number); err == nil {
			return place.TriggerID == 0 || issue.GetID() == place.TriggerID, nil
		}
		err = failed("trigger", err)
	default:
		return true, nil
	}
	if gone(err) {
		return false, nil
	}
	return err == nil, err
}

// gone tells a deleted object from one that may not be seen just now: a suspended App must not cancel every run.
func gone(err error) bool {
	if _, mint := errors.AsType[*tokenError](err); mint {
		return false
	}
	e, ok := errors.AsType[*github.ErrorResponse](err)
	return errors.Is(err, librarian.ErrNotFound) && (!ok || e.Response.StatusCode == http.StatusNotFound || e.Response.StatusCode == http.StatusGone)
}

// threadClient is the client for place's repository, with the name it has now.
func (h *Hub) threadClient(ctx context.Context, place librarian.Place) (*github.Client, librarian.RepoName, error) {
	host, number, ok := place.Repo.GitHub()
	if !ok || host != h.host.host || place.Number <= 0 {
		return nil, librarian.RepoName{}, librarian.ErrNotFound
	}
	if h.app == nil {
		return h.anyone, place.RepoName, nil
	}
	key := tokenKey{classThread, place.Installation, number}
	_, name, err := h.tokens.token(ctx, key)
	return h.client(key), name, err
}

// issueComment is what GitHub sends of a comment; go-github's type leaves out the App.
type issueComment struct {
	ID        int64               `json:"id"`
	Body      string              `json:"body"`
	User      *github.User        `json:"user"`
	Role      string              `json:"author_association"`
	CreatedAt time.Time           `json:"created_at"`
	UpdatedAt time.Time           `json:"updated_at"`
	HTMLURL   string              `json:"html_url"`
	IssueURL  string              `json:"issue_url"`
	App       *struct{ ID int64 } `json:"performed_via_github_app"`
}

func (c issueComment) comment() librarian.Comment {
	out := librarian.Comment{ID: c.ID, Author: principal(c.User), Role: c.Role, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, URL: c.HTMLURL}
	out.Body, out.Clipped = clip(c.Body)
	if c.App != nil {
		out.App = c.App.ID
	}
	return out
}

// comment reads the comment that asked; one that stands in another thread is not it.
func (h *Hub) comment(ctx context.Context, c *github.Client, name librarian.RepoName, place librarian.Place) (librarian.Comment, error) {
	var got issueComment
	if _, err := get(ctx, c, fmt.Sprintf("repos/%s/issues/comments/%d", name, place.TriggerID), &got); err != nil {
		return librarian.Comment{}, failed("comment", err)
	}
	if !strings.HasSuffix(got.IssueURL, fmt.Sprintf("/issues/%d", place.Number)) {
		return librarian.Comment{}, fmt.Errorf("hub: comment: %w", librarian.ErrNotFound)
	}
	return got.comment(), nil
}

// newestComments reads the last pages of a discussion and counts what came before. GitHub lists from the oldest on.
func newestComments(ctx context.Context, c *github.Client, name librarian.RepoName, number int) ([]librarian.Comment, int, error) {
	list := func(page int) ([]issueComment, *github.Response, error) {
		q := url.Values{"per_page": {fmt.Sprint(commentsPage)}, "page": {fmt.Sprint(page)}}
		var got []issueComment
		resp, err := get(ctx, c, fmt.Sprintf("repos/%s/issues/%d/comments?%s", name, number, q.Encode()), &got)
		return got, resp, err
	}
	first, resp, err := list(1)
	if err != nil {
		return nil, 0, err
	}
	last := max(resp.LastPage, 1)
	from := max(2, last-maxThreadPages+1)
	all, omitted := first, 0
	if from > 2 {
		all, omitted = nil, (from-1)*commentsPage
	}
	for page := from; page <= last; page++ {
		more, _, err := list(page)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, more...)
	}
	keep, size := len(all), 0
	for keep > 0 && size+len(all[keep-1].Body) <= maxThreadBytes {
		keep--
		size += len(all[keep].Body)
	}
	comments := make([]librarian.Comment, 0, len(all)-keep)
	for _, one := range all[keep:] {
		comments = append(comments, one.comment())
	}
	return comments, omitted + keep, nil
}

func pull(ctx context.Context, c *github.Client, name librarian.RepoName, number int) (*librarian.Pull, error) {
	got, _, err := c.PullRequests.Get(ctx, name.Owner, name.Name, number)
	if err != nil {
		return nil, err
	}
	return &librarian.Pull{
		HeadSHA:  got.GetHead().GetSHA(),
		HeadRef:  got.GetHead().GetRef(),
		HeadRepo: got.GetHead().GetRepo().GetFullName(),
		BaseSHA:  got.GetBase().GetSHA(),
		BaseRef:  got.GetBase().GetRef(),
		Draft:    got.GetDraft(),
		Merged:   got.GetMerged(),
	}, nil
}

func get(ctx context.Context, c *github.Client, path string, into any) (*github.Response, error) {
	req, err := c.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	return c.Do(ctx, req, into)
}

// principal is who GitHub says wrote something; a deleted account is the ghost.
func principal(u *github.User) librarian.Principal {
	if u.GetID() <= 0 {
		return librarian.Principal{Login: librarian.GhostLogin}
	}
	return librarian.Principal{ID: u.GetID(), Login: u.GetLogin(), Bot: u.GetType() == "Bot"}
}

func isID(id int64) func(librarian.Comment) bool {
	return func(c librarian.Comment) bool { return c.ID == id }
}

func clip(s string) (string, bool) {
	if len(s) <= maxBody {
		return s, false
	}
	return strings.ToValidUTF8(s[:maxBody], ""), true
}
