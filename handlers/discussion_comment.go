package handlers

import (
	"context"

	"github.com/librarian-app/librarian/librarian"
)

// discussionComment handles comments in discussions, which are answered by replies, and such replies.
type discussionComment struct{ asks *asker }

// Handles implements githubapp.EventHandler.
func (*discussionComment) Handles() []string { return []string{"discussion_comment"} }

// Handle implements githubapp.EventHandler. A comment asks when it is created, or when an edit adds its first mention.
func (h *discussionComment) Handle(ctx context.Context, event, delivery string, payload []byte) error {
	var env envelope
	if err := decode(payload, &env); err != nil || !env.does("created", "edited", "deleted") {
		return err
	}
	c, t := env.Comment, env.Discussion
	if c == nil || t == nil || env.Repository == nil {
		return incomplete(event)
	}
	a := asked{
		body: c.Body, author: c.User, app: c.App, at: c.CreatedAt, edited: c.UpdatedAt,
		place: librarian.Place{
			Kind: librarian.PlaceDiscussion, Number: t.Number, Title: t.Title, ThreadNode: t.NodeID, Root: c.ParentID, ReplyTo: c.NodeID,
			Trigger: librarian.TriggerDiscussionComment, TriggerID: c.ID, TriggerNode: c.NodeID,
		},
	}
	return h.asks.heard(ctx, event, delivery, env, a)
}
