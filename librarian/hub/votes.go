package hub

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/go-github/v66/github"

	"github.com/librarian-app/librarian/librarian"
)

// Votes counts the 👍 and 👎 on a comment of ours, which GitHub tells with the comment; in a discussion on one of the newest 100
// that stand where the answer does. A check run takes none. A comment that is gone is [librarian.ErrNotFound].
func (h *Hub) Votes(ctx context.Context, place librarian.Place, comment int64) (v librarian.VotesData, err error) {
	list := "issues"
	switch place.Kind {
	case librarian.PlaceIssue, librarian.PlacePull:
	case librarian.PlaceReview:
		list = "pulls"
	case librarian.PlaceDiscussion:
		return h.talkVotes(ctx, place, comment)
	default:
		return v, nil
	}
	c, name, err := h.threadClient(ctx, place)
	if err != nil {
		return v, failed("votes", err)
	}
	req, err := c.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/comments/%d", name, list, comment), nil)
	if err != nil {
		return v, failed("votes", err)
	}
	var got struct {
		Reactions github.Reactions `json:"reactions"`
	}
	if _, err := c.Do(ctx, req, &got); err != nil {
		return v, failed("votes", err)
	}
	return librarian.VotesData{Up: got.Reactions.GetPlusOne(), Down: got.Reactions.GetMinusOne()}, nil
}

const voteFields = `(last: 100) { nodes { databaseId reactionGroups { content reactors { totalCount } } } }`

// An answer stands in the discussion, under the comment that asked, or beside it, since GitHub takes no replies to replies.
const votesQuery = `query($id: ID!) { node(id: $id) {
	... on Discussion { comments` + voteFields + ` }
	... on DiscussionComment { comments: replies` + voteFields + ` replyTo { comments: replies` + voteFields + ` } }
} }`

type ballot struct {
	Comments struct {
		Nodes []struct {
			ID     int64 `json:"databaseId"`
			Groups []struct {
				Content  string `json:"content"`
				Reactors struct {
					Total int `json:"totalCount"`
				} `json:"reactors"`
			} `json:"reactionGroups"`
		} `json:"nodes"`
	} `json:"comments"`
	ReplyTo *ballot `json:"replyTo"`
}

func (h *Hub) talkVotes(ctx context.Context, place librarian.Place, comment int64) (v librarian.VotesData, err error) {
	c, _, err := h.threadClient(ctx, place)
	if err != nil {
		return v, failed("votes", err)
	}
	var got struct{ Node *ballot }
	if err := graph(ctx, c, votesQuery, map[string]any{"id": cmp.Or(place.ReplyTo, place.ThreadNode)}, &got); err != nil {
		return v, failed("votes", err)
	}
	for b := got.Node; b != nil; b = b.ReplyTo {
		for _, n := range slices.Backward(b.Comments.Nodes) {
			if n.ID != comment {
				continue
			}
			for _, g := range n.Groups {
				switch g.Content {
				case "THUMBS_UP":
					v.Up = g.Reactors.Total
				case "THUMBS_DOWN":
					v.Down = g.Reactors.Total
				}
			}
			return v, nil
		}
	}
	return v, fmt.Errorf("hub: votes: %w", librarian.ErrNotFound)
}
