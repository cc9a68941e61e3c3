package handlers

import (
	"context"
	"fmt"

	"github.com/librarian-app/librarian/librarian"
)

// issues handles issues themselves. Pull requests have an event of their own.
type issues struct{ asks *asker }

// Handles implements githubapp.EventHandler.
func (*issues) Handles() []string { return []string{"issues"} }

// Handle implements githubapp.EventHandler. An issue asks when it is opened, or when an edit adds its first mention.
func (h *issues) Handle(ctx context.Context, event, delivery string, payload []byte) error {
	var env envelope
	if err := decode(payload, &env); err != nil {
		return err
	}
	if env.Action != "opened" && env.Action != "edited" {
		return nil
	}
	i := env.Issue
	if i == nil || env.Repository == nil {
		return fmt.Errorf("handlers: issues: %w", errMalformed)
	}
	a := asked{
		title: i.Title, body: i.Body, author: i.User, sender: env.Sender, app: i.App, at: i.CreatedAt,
		place: librarian.Place{
			Kind: librarian.PlaceIssue, Number: i.Number, Title: i.Title, Trigger: librarian.TriggerIssueBody, TriggerID: i.ID,
		},
	}
	if env.Action == "edited" {
		a.edit, a.at = true, i.UpdatedAt
		a.before = func() (title, body string) {
			return env.Changes.Title.before(i.Title), env.Changes.Body.before(i.Body)
		}
	}
	return h.asks.ask(ctx, librarian.Delivery{ID: delivery, Event: event}, env, a)
}
