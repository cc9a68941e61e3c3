package handlers

import (
	"context"
	"fmt"

	"github.com/librarian-app/librarian/librarian"
)

// issueComment handles comments on issues and on pull requests' conversations.
type issueComment struct{ asks *asker }

// Handles implements githubapp.EventHandler.
func (*issueComment) Handles() []string { return []string{"issue_comment"} }

// Handle implements githubapp.EventHandler. A comment asks when it is created, or when an edit adds its first mention.
func (h *issueComment) Handle(ctx context.Context, event, delivery string, payload []byte) error {
	var env envelope
	if err := decode(payload, &env); err != nil {
		return err
	}
	if env.Action != "created" && env.Action != "edited" {
		return nil
	}
	c, i := env.Comment, env.Issue
	if c == nil || i == nil || env.Repository == nil {
		return fmt.Errorf("handlers: issue_comment: %w", errMalformed)
	}
	a := asked{
		body: c.Body, author: c.User, sender: env.Sender, app: c.App, at: c.CreatedAt,
		place: librarian.Place{
			Kind: librarian.PlaceIssue, Number: i.Number, Title: i.Title, Trigger: librarian.TriggerIssueComment, TriggerID: c.ID,
		},
	}
	if i.isPull() {
		a.place.Kind = librarian.PlacePull
	}
	if env.Action == "edited" {
		a.edit, a.at = true, c.UpdatedAt
		a.before = func() (title, body string) { return "", env.Changes.Body.before(c.Body) }
	}
	return h.asks.ask(ctx, librarian.Delivery{ID: delivery, Event: event}, env, a)
}
