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

// Thread reads the issue, pull request or discussion of place with what was said in it: the newest 500 comments and 1 MiB of
// text, and the comment that asked. Of a pull request it has the first 300 files and the newest 100 reviews too; of a question
// in a review, that thread. A thread that is gone is [librarian.ErrNotFound]; of a comment that asked and is gone TriggerGone
// tells. A commit has no thread: what is read of it is empty, and one that is named and not there is ErrNotFound too.
func (h *Hub) Thread(ctx context.Context, place librarian.Place) (librarian.Thread, error) {
	switch place.Kind {
	case librarian.PlaceCommit:
		return librarian.Thread{}, h.commitThere(ctx, place)
	case librarian.PlaceDiscussion:
		return h.discussion(ctx, place)
	}
	c, name, err := h.threadClient(ctx, place)
	if err != nil {
		return librarian.Thread{}, failed("thread", err)
	}
	issue, _, err := c.Issues.Get(ctx, name.Owner, name.Name, place.Number)
	if err == nil {
		err = stays(ctx, c, name, place, issue)
	}
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
	thread.TriggerGone = !asks(place, issue)
	if issue.IsPullRequest() {
		if thread.Pull, err = pull(ctx, c, name, place.Number); err != nil {
			return librarian.Thread{}, failed("thread: pull request", err)
		}
	}
	all, omitted, err := newest(ctx, c, fmt.Sprintf("repos/%s/issues/%d/comments", name, place.Number))
	if err != nil {
		return librarian.Thread{}, failed("thread: comments", err)
	}
	thread.Comments, thread.Omitted = fit(all, omitted)
	if place.Kind == librarian.PlaceReview {
		if thread.Review, err = reviewThread(ctx, c, name, place); err != nil {
			return librarian.Thread{}, failed("thread: review", err)
		}
	}
	return thread, h.addTrigger(ctx, c, name, place, &thread)
}

// commitThere looks for the commit that is asked at, lest a question is researched whose answer has no place to go.
func (h *Hub) commitThere(ctx context.Context, place librarian.Place) error {
	host, number, ok := place.Repo.GitHub()
	if place.SHA == "" || h.app == nil {
		return nil
	}
	if !ok || host != h.host.host {
		return librarian.ErrNotFound
	}
	key := tokenKey{classRead, place.Installation, number}
	_, name, err := h.tokens.token(ctx, key)
	if err == nil {
		_, _, err = h.client(key).Git.GetCommit(ctx, name.Owner, name.Name, place.SHA)
	}
	if e, ok := errors.AsType[*github.ErrorResponse](err); ok && e.Response != nil && e.Response.StatusCode == http.StatusUnprocessableEntity {
		return fmt.Errorf("hub: commit: %w (%w)", librarian.ErrNotFound, err)
	}
	return failed("commit", err)
}

// addTrigger looks for the comment that asked where it was not read with the others.
func (h *Hub) addTrigger(ctx context.Context, c *github.Client, name librarian.RepoName, place librarian.Place, thread *librarian.Thread) error {
	list, omitted := &thread.Comments, &thread.Omitted
	switch place.Trigger {
	case librarian.TriggerIssueComment:
	case librarian.TriggerReviewComment:
		if thread.Review == nil {
			return nil
		}
		list, omitted = &thread.Review.Comments, &thread.Review.Omitted
	case librarian.TriggerReviewBody:
		if thread.Pull == nil {
			return nil
		}
		list, omitted = &thread.Pull.Reviews, new(int)
	default:
		return nil
	}
	if slices.ContainsFunc(*list, func(c librarian.Comment) bool { return c.ID == place.TriggerID }) {
		return nil
	}
	asked, err := h.asked(ctx, c, name, place)
	switch {
	case err == nil:
		*list = slices.Insert(*list, 0, asked.comment())
		*omitted = max(0, *omitted-1)
	case gone(err):
		thread.TriggerGone = true
	default:
		return err
	}
	return nil
}

// TriggerExists reports whether the comment, review, issue or discussion that asked is still there. An error is never a "no".
// A dispatch has nothing that could be deleted.
func (h *Hub) TriggerExists(ctx context.Context, place librarian.Place) (bool, error) {
	if place.Trigger == librarian.TriggerDispatch || place.Trigger == librarian.TriggerTerminal {
		return true, nil
	}
	if place.Kind == librarian.PlaceDiscussion {
		return h.talkExists(ctx, place)
	}
	c, name, err := h.threadClient(ctx, place)
	if err != nil {
		return false, failed("trigger", err)
	}
	there := true
	switch place.Trigger {
	case librarian.TriggerIssueComment, librarian.TriggerReviewComment, librarian.TriggerReviewBody:
		_, err = h.asked(ctx, c, name, place)
	default: // the issue itself
		var issue *github.Issue
		issue, _, err = c.Issues.Get(ctx, name.Owner, name.Name, place.Number)
		if err == nil {
			there = asks(place, issue)
			err = stays(ctx, c, name, place, issue)
		}
		err = failed("trigger", err)
	}
	if gone(err) {
		return false, nil
	}
	return err == nil && there, err
}

// asks reports whether an issue is still the one that place was made for: a number may by now name another, after a transfer or
// a deletion.
func asks(place librarian.Place, issue *github.Issue) bool {
	if place.Trigger != librarian.TriggerIssueBody || place.TriggerID == 0 || issue.GetID() == place.TriggerID {
		return true
	}
	// Of a pull request deliveries tell its own id, and the issues API tells another one.
	return place.Kind == librarian.PlacePull && issue.IsPullRequest()
}

// stays is [librarian.ErrNotFound] for an issue that was transferred: GitHub leads to where it is now. That may be public, so that
// reading on would work; but nothing can be posted there. A repository that was renamed is led to, too, and is the same one.
func stays(ctx context.Context, c *github.Client, name librarian.RepoName, place librarian.Place, issue *github.Issue) error {
	in := func(fullName string) bool {
		return strings.HasSuffix(strings.ToLower(issue.GetRepositoryURL()), "/repos/"+strings.ToLower(fullName))
	}
	switch {
	case issue.GetNumber() != place.Number:
		return librarian.ErrNotFound
	case in(name.String()):
		return nil
	}
	_, number, _ := place.Repo.GitHub()
	repo, _, err := c.Repositories.GetByID(ctx, number)
	if err == nil && !in(repo.GetFullName()) {
		return librarian.ErrNotFound
	}
	return err
}

// gone tells a deleted object from one that may not be seen just now: a suspended App must not cancel every run.
func gone(err error) bool {
	if _, mint := errors.AsType[*tokenError](err); mint {
		return false
	}
	if g, ok := errors.AsType[*graphError](err); ok {
		return g.kind == "NOT_FOUND"
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
	if place.Kind == librarian.PlaceDiscussion {
		key.class = classTalks
	}
	_, name, err := h.tokens.token(ctx, key)
	return h.client(key), name, err
}

// remark is what GitHub sends of a comment, a review comment or a review; go-github's types leave out the App.
type remark struct {
	ID          int64               `json:"id"`
	Body        string              `json:"body"`
	User        *github.User        `json:"user"`
	Role        string              `json:"author_association"`
	CreatedAt   time.Time           `json:"created_at"`
	UpdatedAt   time.Time           `json:"updated_at"`
	SubmittedAt time.Time           `json:"submitted_at"`
	HTMLURL     string              `json:"html_url"`
	IssueURL    string              `json:"issue_url"`
	PullURL     string              `json:"pull_request_url"`
	App         *struct{ ID int64 } `json:"performed_via_github_app"`
	State       string              `json:"state"`

	InReplyTo int64  `json:"in_reply_to_id"`
	Path      string `json:"path"`
	Line      int    `json:"line"`
	Hunk      string `json:"diff_hunk"`
}

func (r remark) comment() librarian.Comment {
	out := librarian.Comment{ID: r.ID, Author: principal(r.User), Role: r.Role, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, URL: r.HTMLURL,
		ReplyTo: r.InReplyTo, State: r.State}
	if out.CreatedAt.IsZero() {
		out.CreatedAt, out.UpdatedAt = r.SubmittedAt, r.SubmittedAt
	}
	out.Body, out.Clipped = clip(r.Body)
	if r.App != nil {
		out.App = r.App.ID
	}
	return out
}

// asked reads the comment or review that asked; one that stands in another thread is not it.
func (h *Hub) asked(ctx context.Context, c *github.Client, name librarian.RepoName, place librarian.Place) (remark, error) {
	var got remark
	path, thread := fmt.Sprintf("issues/comments/%d", place.TriggerID), fmt.Sprintf("/issues/%d", place.Number)
	switch place.Trigger {
	case librarian.TriggerReviewComment:
		path, thread = fmt.Sprintf("pulls/comments/%d", place.TriggerID), fmt.Sprintf("/pulls/%d", place.Number)
	case librarian.TriggerReviewBody:
		path, thread = fmt.Sprintf("pulls/%d/reviews/%d", place.Number, place.TriggerID), fmt.Sprintf("/pulls/%d", place.Number)
	}
	if _, err := get(ctx, c, "repos/"+name.String()+"/"+path, &got); err != nil {
		return remark{}, failed("comment", err)
	}
	if !strings.HasSuffix(got.IssueURL+got.PullURL, thread) {
		return remark{}, fmt.Errorf("hub: comment: %w", librarian.ErrNotFound)
	}
	return got, nil
}

// newest reads the last pages of a list and counts what came before. GitHub lists from the oldest on.
func newest(ctx context.Context, c *github.Client, path string) (all []remark, omitted int, err error) {
	list := func(page int) ([]remark, *github.Response, error) {
		q := url.Values{"per_page": {fmt.Sprint(commentsPage)}, "page": {fmt.Sprint(page)}}
		var got []remark
		resp, err := get(ctx, c, path+"?"+q.Encode(), &got)
		return got, resp, err
	}
	first, resp, err := list(1)
	if err != nil {
		return nil, 0, err
	}
	last := max(resp.LastPage, 1)
	from := max(2, last-maxThreadPages+1)
	all = first
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
	return all, omitted, nil
}

// fit keeps the newest whose text fits, and adds what it left out to omitted.
func fit(all []remark, omitted int) ([]librarian.Comment, int) {
	keep, size := len(all), 0
	for keep > 0 && size+len(all[keep-1].Body) <= maxThreadBytes {
		keep--
		size += len(all[keep].Body)
	}
	comments := make([]librarian.Comment, 0, len(all)-keep)
	for _, one := range all[keep:] {
		comments = append(comments, one.comment())
	}
	return comments, omitted + keep
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

func clip(s string) (string, bool) {
	if len(s) <= maxBody {
		return s, false
	}
	return strings.ToValidUTF8(s[:maxBody], ""), true
}
