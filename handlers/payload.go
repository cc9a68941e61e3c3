package handlers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

// The payloads below hold only what is read. Whatever else GitHub sends, or leaves out, or sends as null, is not looked at.

type account struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Type  string `json:"type"`
}

// principal makes the asker of an account; null is a ghost.
func (a *account) principal() librarian.Principal {
	if a == nil || a.ID <= 0 {
		return librarian.Principal{Login: librarian.GhostLogin}
	}
	return librarian.Principal{ID: a.ID, Login: a.Login, Bot: a.Type == "Bot" || strings.HasSuffix(a.Login, "[bot]")}
}

type app struct {
	ID int64 `json:"id"`
}

type repository struct {
	ID         int64    `json:"id"`
	Name       string   `json:"name"`
	FullName   string   `json:"full_name"`
	Owner      *account `json:"owner"`
	Private    *bool    `json:"private"`
	Visibility string   `json:"visibility"`
}

func (r repository) repoName() librarian.RepoName {
	owner, name, _ := strings.Cut(r.FullName, "/")
	if r.Owner != nil && r.Owner.Login != "" {
		owner = r.Owner.Login
	}
	if r.Name != "" {
		name = r.Name
	}
	return librarian.RepoName{Owner: owner, Name: name}
}

// visibility is private unless the payload says otherwise. Older servers send only the boolean.
func (r repository) visibility() librarian.Visibility {
	switch v := librarian.Visibility(r.Visibility); {
	case v == librarian.Public, v == librarian.Internal:
		return v
	case v == "" && r.Private != nil && !*r.Private:
		return librarian.Public
	}
	return librarian.Private
}

type label struct {
	Name string `json:"name"`
}

type issue struct {
	ID          int64           `json:"id"`
	Number      int             `json:"number"`
	Title       string          `json:"title"`
	Body        string          `json:"body"`
	User        *account        `json:"user"`
	App         *app            `json:"performed_via_github_app"`
	PullRequest json.RawMessage `json:"pull_request"`
	Labels      []label         `json:"labels"`
	CreatedAt   time.Time       `json:"created_at"`
	UpdatedAt   time.Time       `json:"updated_at"`
}

func (i issue) isPull() bool { return len(i.PullRequest) > 0 && string(i.PullRequest) != "null" }

// pull is a pull request. Of its head only the commit is read: the repository it is in may be gone.
type pull struct {
	ID     int64    `json:"id"`
	Number int      `json:"number"`
	Title  string   `json:"title"`
	Body   string   `json:"body"`
	User   *account `json:"user"`
	Labels []label  `json:"labels"`
	Head   struct {
		SHA string `json:"sha"`
	} `json:"head"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

type discussion struct {
	ID        int64     `json:"id"`
	NodeID    string    `json:"node_id"`
	Number    int       `json:"number"`
	Title     string    `json:"title"`
	Body      string    `json:"body"`
	User      *account  `json:"user"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// comment is one on an issue, on a pull request's lines, or in a discussion.
type comment struct {
	ID        int64     `json:"id"`
	NodeID    string    `json:"node_id"`
	Body      string    `json:"body"`
	User      *account  `json:"user"`
	App       *app      `json:"performed_via_github_app"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`

	Review    int64  `json:"pull_request_review_id"`
	InReplyTo int64  `json:"in_reply_to_id"` // of a review's comment: the first one of its thread
	Path      string `json:"path"`
	Line      int    `json:"line"`
	Hunk      string `json:"diff_hunk"`
	ParentID  int64  `json:"parent_id"` // in a discussion: the comment that it is a reply to
}

// review is a review without its comments, which are events of their own.
type review struct {
	ID          int64     `json:"id"`
	NodeID      string    `json:"node_id"`
	Body        string    `json:"body"`
	User        *account  `json:"user"`
	SubmittedAt time.Time `json:"submitted_at"`
}

// changed is what an edit replaced; nil where it did not touch the field.
type changed struct {
	From *string `json:"from"`
}

type changes struct {
	Body  *changed `json:"body"`
	Title *changed `json:"title"`
}

// before gives what a field said before an edit that left it at now.
func (c *changed) before(now string) string {
	if c == nil || c.From == nil {
		return now
	}
	return *c.From
}

type envelope struct {
	Action       string      `json:"action"`
	Issue        *issue      `json:"issue"`
	PullRequest  *pull       `json:"pull_request"`
	Discussion   *discussion `json:"discussion"`
	Comment      *comment    `json:"comment"`
	Review       *review     `json:"review"`
	Label        *label      `json:"label"` // that was put on
	Changes      changes     `json:"changes"`
	Repository   *repository `json:"repository"`
	Installation *app        `json:"installation"`
	Sender       *account    `json:"sender"`
}

// envelopeEvents are those of which an envelope is all that is read.
var envelopeEvents = []string{
	"discussion", "discussion_comment", "issue_comment", "issues", "pull_request", "pull_request_review", "pull_request_review_comment", "repository",
}

// essence is what the handlers read of a delivery, or all of it.
func essence(event string, payload []byte) []byte {
	if slices.Contains(envelopeEvents, event) {
		if picked, ok := pick(payload, envelopeKeys); ok {
			return picked
		}
	}
	return payload
}

func decode(payload []byte, into any) error {
	if err := json.Unmarshal(payload, into); err != nil {
		return fmt.Errorf("handlers: decode: %w: %w", errMalformed, err)
	}
	return nil
}

// does reports whether the delivery is about one of the actions.
func (e envelope) does(actions ...string) bool { return slices.Contains(actions, e.Action) }

// incomplete is the error for a delivery without what its event is about.
func incomplete(event string) error { return fmt.Errorf("handlers: %s: %w", event, errMalformed) }
