package handlers

import (
	"context"
	"strings"

	"github.com/librarian-app/librarian/librarian"
)

// maxHunk is how much of a diff hunk is kept, in bytes: the end, which the comment stands under.
const maxHunk = 16 << 10

// pullRequestReviewComment handles comments on lines of a pull request, which are answered in their thread.
type pullRequestReviewComment struct{ asks *asker }

// Handles implements githubapp.EventHandler.
func (*pullRequestReviewComment) Handles() []string { return []string{"pull_request_review_comment"} }

// Handle implements githubapp.EventHandler. A comment asks when it is created, or when an edit adds its first mention.
func (h *pullRequestReviewComment) Handle(ctx context.Context, event, delivery string, payload []byte) error {
	var env envelope
	if err := decode(payload, &env); err != nil || !env.does("created", "edited", "deleted") {
		return err
	}
	c, p := env.Comment, env.PullRequest
	if c == nil || p == nil || env.Repository == nil {
		return incomplete(event)
	}
	a := asked{
		body: c.Body, author: c.User, app: c.App, at: c.CreatedAt, edited: c.UpdatedAt,
		place: librarian.Place{
			Kind: librarian.PlaceReview, Number: p.Number, Title: p.Title, SHA: p.Head.SHA, Root: c.ID, Path: c.Path, Line: c.Line, Review: c.Review,
			Hunk:    strings.ToValidUTF8(c.Hunk[max(0, len(c.Hunk)-maxHunk):], ""),
			Trigger: librarian.TriggerReviewComment, TriggerID: c.ID, TriggerNode: c.NodeID,
		},
	}
	if c.InReplyTo > 0 { // T1: GitHub takes replies to a thread's first comment only
		a.place.Root = c.InReplyTo
	}
	return h.asks.heard(ctx, event, delivery, env, a)
}
