package handlers

import (
	"context"

	"github.com/librarian-app/librarian/librarian"
)

// discussions handles discussions themselves. Their answers stand by themselves.
type discussions struct{ asks *asker }

// Handles implements githubapp.EventHandler.
func (*discussions) Handles() []string { return []string{"discussion"} }

// Handle implements githubapp.EventHandler. A discussion asks when it is created, or when an edit adds its first mention.
func (h *discussions) Handle(ctx context.Context, event, delivery string, payload []byte) error {
	var env envelope
	if err := decode(payload, &env); err != nil || !env.does("created", "edited", "deleted") {
		return err
	}
	t := env.Discussion
	if t == nil || env.Repository == nil {
		return incomplete(event)
	}
	a := asked{
		title: t.Title, body: t.Body, author: t.User, at: t.CreatedAt, edited: t.UpdatedAt,
		place: librarian.Place{
			Kind: librarian.PlaceDiscussion, Number: t.Number, Title: t.Title, ThreadNode: t.NodeID,
			Trigger: librarian.TriggerDiscussionBody, TriggerID: t.ID, TriggerNode: t.NodeID,
		},
	}
	return h.asks.heard(ctx, event, delivery, env, a)
}
