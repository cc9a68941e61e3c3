package hub

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/google/go-github/v66/github"

	"github.com/librarian-app/librarian/librarian"
)

// maxVotes is how many of each sign are counted.
const maxVotes = 100

// Votes counts the 👍 and 👎 on a comment of ours in an issue, a pull request or a review thread, at most 100 of each. Elsewhere
// there are none to be counted.
func (h *Hub) Votes(ctx context.Context, place librarian.Place, comment int64) (v librarian.VotesData, err error) {
	list := "issues"
	switch place.Kind {
	case librarian.PlaceIssue, librarian.PlacePull:
	case librarian.PlaceReview:
		list = "pulls"
	default:
		return v, nil
	}
	c, name, err := h.threadClient(ctx, place)
	if err != nil {
		return v, failed("votes", err)
	}
	for content, n := range map[string]*int{"+1": &v.Up, "-1": &v.Down} {
		var got []github.Reaction
		path := fmt.Sprintf("repos/%s/%s/comments/%d/reactions?%s", name, list, comment,
			url.Values{"content": {content}, "per_page": {fmt.Sprint(maxVotes)}}.Encode())
		req, err := c.NewRequest(http.MethodGet, path, nil)
		if err != nil {
			return v, failed("votes", err)
		}
		if _, err := c.Do(ctx, req, &got); err != nil {
			return v, failed("votes", err)
		}
		*n = len(got)
	}
	return v, nil
}
