package handlers

import (
	"context"

	"github.com/librarian-app/librarian/librarian"
)

// issueComment handles comments on issues and on pull requests' conversations.
type issueComment struct{ asks *asker }

// Handles implements githubapp.EventHandler.
func (*issueComment) Handles() []string { return []string{"issue_comment"} }

// Handle implements githubapp.EventHandler. A comment asks when it is created, or when an edit adds its first mention.
func (h *issueComment) Handle(ctx context.Context, event, delivery string, payload []byte) error {
	var env envelope
	if err := decode(payload, &env); err != nil || !env.does("created", "edited", "deleted") {
		return err
	}
	c, i := env.Comment, env.Issue
	if c == nil || i == nil || env.Repository == nil {
		return incomplete(event)
	}
	a := asked{
		body: c.Body, author: c.User, app: c.App, at: c.CreatedAt, edited: c.UpdatedAt,
		place: librarian.Place{
			Kind: librarian.PlaceIssue, Number: i.Number, Title: i.Title, Trigger: librarian.TriggerIssueComment, TriggerID: c.ID,
		},
	}
	if i.isPull() {
		a.place.Kind = librarian.PlacePull
	}
	return h.asks.heard(ctx, event, delivery, env, a)
}
