package handlers

import (
	"context"

	"github.com/librarian-app/librarian/librarian"
)

// pullRequestReview handles what a review says as a whole, which is answered in the pull request's conversation. Its comments
// are events of their own, and a review that only brings those has no body (O4).
type pullRequestReview struct{ asks *asker }

// Handles implements githubapp.EventHandler.
func (*pullRequestReview) Handles() []string { return []string{"pull_request_review"} }

// Handle implements githubapp.EventHandler. A review asks when it is submitted, or when an edit adds its first mention.
func (h *pullRequestReview) Handle(ctx context.Context, event, delivery string, payload []byte) error {
	var env envelope
	if err := decode(payload, &env); err != nil || !env.does("submitted", "edited") {
		return err
	}
	r, p := env.Review, env.PullRequest
	if r == nil || p == nil || env.Repository == nil {
		return incomplete(event)
	}
	a := asked{
		body: r.Body, author: r.User, at: r.SubmittedAt,
		place: librarian.Place{
			Kind: librarian.PlacePull, Number: p.Number, Title: p.Title, SHA: p.Head.SHA,
			Trigger: librarian.TriggerReviewBody, TriggerID: r.ID, TriggerNode: r.NodeID,
		},
	}
	return h.asks.heard(ctx, event, delivery, env, a)
}
