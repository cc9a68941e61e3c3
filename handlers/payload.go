package handlers

import (
	"encoding/json"
	"fmt"
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

type issue struct {
	ID          int64           `json:"id"`
	Number      int             `json:"number"`
	Title       string          `json:"title"`
	Body        string          `json:"body"`
	User        *account        `json:"user"`
	App         *app            `json:"performed_via_github_app"`
	PullRequest json.RawMessage `json:"pull_request"`
	CreatedAt   time.Time       `json:"created_at"`
	UpdatedAt   time.Time       `json:"updated_at"`
}

func (i issue) isPull() bool { return len(i.PullRequest) > 0 && string(i.PullRequest) != "null" }

type comment struct {
	ID        int64     `json:"id"`
	Body      string    `json:"body"`
	User      *account  `json:"user"`
	App       *app      `json:"performed_via_github_app"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
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
	Comment      *comment    `json:"comment"`
	Changes      changes     `json:"changes"`
	Repository   *repository `json:"repository"`
	Installation *app        `json:"installation"`
	Sender       *account    `json:"sender"`
}

func decode(payload []byte, into any) error {
	if err := json.Unmarshal(payload, into); err != nil {
		return fmt.Errorf("handlers: decode: %w: %w", errMalformed, err)
	}
	return nil
}
