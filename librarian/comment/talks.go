package comment

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

// talks are the comments of a discussion, or the replies to one of them; GitHub has them in GraphQL alone.
type talks struct {
	p *Poster
	t target

	above string // the comment that replies go to; see parent
}

const talkFields = `id databaseId body url createdAt viewerDidAuthor`

const talksQuery = `query($id: ID!, $before: String) { node(id: $id) {
	... on Discussion { comments(last: 50, before: $before) { pageInfo { hasPreviousPage startCursor } nodes { ` + talkFields + ` } } }
	... on DiscussionComment { comments: replies(last: 50, before: $before) { pageInfo { hasPreviousPage startCursor } nodes { ` + talkFields + ` } } }
} }`

const (
	addTalk    = `mutation($input: AddDiscussionCommentInput!) { made: addDiscussionComment(input: $input) { comment { id databaseId body url } } }`
	updateTalk = `mutation($input: UpdateDiscussionCommentInput!) { made: updateDiscussionComment(input: $input) { comment { id } } }`
	deleteTalk = `mutation($input: DeleteDiscussionCommentInput!) { made: deleteDiscussionComment(input: $input) { comment { id } } }`
)

type talk struct {
	Node      string    `json:"id"`
	ID        int64     `json:"databaseId"`
	Body      string    `json:"body"`
	URL       string    `json:"url"`
	CreatedAt time.Time `json:"createdAt"`
	Mine      bool      `json:"viewerDidAuthor"` // the viewer is our App's account
}

func (t talk) remark() *remark { return &remark{id: t.ID, node: t.Node, url: t.URL, body: t.Body} }

const aboveQuery = `query($id: ID!) { node(id: $id) { ... on DiscussionComment { replyTo { id } } } }`

// parent is what our comments stand under: the comment that asked, or, since GitHub takes no replies to replies, the one above
// it (T1); empty: the discussion. Deliveries do not tell the node of that one, so it is asked for, once.
func (m *talks) parent(ctx context.Context) (string, error) {
	if m.t.place.ReplyTo == "" || m.t.place.Root == 0 || m.above != "" {
		return cmp.Or(m.above, m.t.place.ReplyTo), nil
	}
	var got struct {
		Node *struct {
			ReplyTo *struct {
				Node string `json:"id"`
			} `json:"replyTo"`
		} `json:"node"`
	}
	if err := m.t.graph(ctx, aboveQuery, map[string]any{"id": m.t.place.ReplyTo}, &got); err != nil {
		return "", err
	}
	if got.Node == nil {
		return "", &graphError{"NOT_FOUND", "the comment is gone"}
	}
	m.above = m.t.place.ReplyTo
	if got.Node.ReplyTo != nil {
		m.above = got.Node.ReplyTo.Node
	}
	return m.above, nil
}

// each goes through the comments under the parent, the newest first, until stop says so.
func (m *talks) each(ctx context.Context, stop func(talk) bool) error {
	parent, err := m.parent(ctx)
	if err != nil {
		return err
	}
	variables := map[string]any{"id": cmp.Or(parent, m.t.place.ThreadNode), "before": nil}
	for range maxPages {
		var got struct {
			Node *struct {
				Comments struct {
					Page struct {
						More  bool   `json:"hasPreviousPage"`
						Start string `json:"startCursor"`
					} `json:"pageInfo"`
					Nodes []talk `json:"nodes"`
				} `json:"comments"`
			} `json:"node"`
		}
		if err := m.t.graph(ctx, talksQuery, variables, &got); err != nil {
			return err
		}
		if got.Node == nil {
			return &graphError{"NOT_FOUND", "the discussion is gone"}
		}
		list := got.Node.Comments
		for _, t := range slices.Backward(list.Nodes) {
			if stop(t) {
				return nil
			}
		}
		if !list.Page.More {
			return nil
		}
		variables["before"] = list.Page.Start
	}
	return errTooMany
}

func (m *talks) one(ctx context.Context, id int64) (*remark, error) {
	var found *talk
	err := m.each(ctx, func(t talk) bool {
		if t.ID == id {
			found = &t
		}
		return found != nil
	})
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		return nil, &graphError{"NOT_FOUND", "the comment is gone"}
	case !found.Mine:
		return nil, nil
	}
	return found.remark(), nil
}

func (m *talks) search(ctx context.Context, post librarian.Post, mark string) (*remark, error) {
	var found *remark
	err := m.each(ctx, func(t talk) bool {
		if t.Mine && same(t.Body, mark) {
			found = t.remark()
		}
		return found != nil || !post.Since.IsZero() && t.CreatedAt.Before(post.Since.Add(-clockMargin))
	})
	return found, err
}

func (m *talks) create(ctx context.Context, k kind, _ librarian.Post, body string) (*remark, error) {
	parent, err := m.parent(ctx)
	if err != nil {
		return nil, err
	}
	input := map[string]any{"discussionId": m.t.place.ThreadNode, "body": body}
	if parent != "" {
		input["replyToId"] = parent
	}
	var got struct {
		Made struct {
			Comment *talk `json:"comment"`
		} `json:"made"`
	}
	if err := m.p.mutate(ctx, m.t, k, addTalk, input, &got); err != nil {
		return nil, err
	}
	if got.Made.Comment == nil {
		return nil, &graphError{"", "no comment came back"}
	}
	return got.Made.Comment.remark(), nil
}

func (m *talks) edit(ctx context.Context, k kind, _ librarian.Post, c *remark, body string) error {
	return m.p.mutate(ctx, m.t, k, updateTalk, map[string]any{"commentId": c.node, "body": body}, nil)
}

func (m *talks) remove(ctx context.Context, c *remark) error {
	return m.p.mutate(ctx, m.t, tidy, deleteTalk, map[string]any{"id": c.node}, nil)
}
