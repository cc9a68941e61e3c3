package handlers

import (
	"context"

	"github.com/librarian-app/librarian/librarian"
)

// pullRequest handles pull requests themselves.
type pullRequest struct{ asks *asker }

// Handles implements githubapp.EventHandler.
func (*pullRequest) Handles() []string { return []string{"pull_request"} }

// Handle implements githubapp.EventHandler. A pull request asks as an issue does, and by being ready if that is configured.
func (h *pullRequest) Handle(ctx context.Context, event, delivery string, payload []byte) error {
	var env envelope
	if err := decode(payload, &env); err != nil || !env.does("opened", "edited", "labeled", "ready_for_review") {
		return err
	}
	p := env.PullRequest
	if p == nil || env.Repository == nil {
		return incomplete(event)
	}
	a := asked{
		title: p.Title, body: p.Body, author: p.User, labels: p.Labels, at: p.CreatedAt, edited: p.UpdatedAt,
		place: librarian.Place{
			Kind: librarian.PlacePull, Number: p.Number, Title: p.Title, SHA: p.Head.SHA, Trigger: librarian.TriggerIssueBody, TriggerID: p.ID,
		},
	}
	return h.asks.heard(ctx, event, delivery, env, a)
}
