package handlers

import (
	"context"

	"github.com/librarian-app/librarian/librarian"
)

// issues handles issues themselves. Pull requests have an event of their own.
type issues struct{ asks *asker }

// Handles implements githubapp.EventHandler.
func (*issues) Handles() []string { return []string{"issues"} }

// Handle implements githubapp.EventHandler. An issue asks when it is opened, when an edit adds its first mention, by our
// label, and by a configured event.
func (h *issues) Handle(ctx context.Context, event, delivery string, payload []byte) error {
	var env envelope
	if err := decode(payload, &env); err != nil || !env.does("opened", "edited", "deleted", "labeled") {
		return err
	}
	i := env.Issue
	if i == nil || env.Repository == nil {
		return incomplete(event)
	}
	a := asked{
		title: i.Title, body: i.Body, author: i.User, app: i.App, labels: i.Labels, at: i.CreatedAt, edited: i.UpdatedAt,
		place: librarian.Place{
			Kind: librarian.PlaceIssue, Number: i.Number, Title: i.Title, Trigger: librarian.TriggerIssueBody, TriggerID: i.ID,
		},
	}
	return h.asks.heard(ctx, event, delivery, env, a)
}
