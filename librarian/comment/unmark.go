package comment

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/go-github/v66/github"

	"github.com/librarian-app/librarian/librarian"
)

// unmark takes all our marks off what has its reactions at path, as far as they are among the first 100 there.
func (p *Poster) unmark(ctx context.Context, t target, path string) error {
	var all []github.Reaction
	if _, err := t.call(ctx, http.MethodGet, path+"?per_page=100", nil, &all); err != nil {
		if missing(err) { // what asked is gone, and its marks with it
			return nil
		}
		return err
	}
	for _, r := range all {
		if p.opts.BotID == 0 || r.GetUser().GetID() != p.opts.BotID || !slices.Contains(marks[:], librarian.Reaction(r.GetContent())) {
			continue
		}
		err := p.write(ctx, t, tidy, http.MethodDelete, fmt.Sprintf("%s/%d", path, r.GetID()), nil, nil)
		if err != nil && !missing(err) {
			return err
		}
	}
	return nil
}

const marksQuery = `query($id: ID!) { node(id: $id) { ... on Reactable { reactionGroups { content viewerHasReacted } } } }`

// unmarkNode is unmark by GraphQL.
func (p *Poster) unmarkNode(ctx context.Context, t target) error {
	node, err := markedNode(t.place)
	if err != nil {
		return err
	}
	var got struct {
		Node *struct {
			Groups []struct {
				Content string `json:"content"`
				Mine    bool   `json:"viewerHasReacted"`
			} `json:"reactionGroups"`
		} `json:"node"`
	}
	err = t.graph(ctx, marksQuery, map[string]any{"id": node}, &got)
	if missing(err) || err == nil && got.Node == nil {
		return nil
	}
	if err != nil {
		return err
	}
	for _, g := range got.Node.Groups {
		if !g.Mine || !slices.ContainsFunc(marks[:], func(r librarian.Reaction) bool { return graphName(r) == g.Content }) {
			continue
		}
		err := p.mutate(ctx, t, tidy, removeReaction, map[string]any{"subjectId": node, "content": g.Content}, nil)
		if err != nil && !missing(err) {
			return err
		}
	}
	return nil
}

// markedNode is the GraphQL id of what our marks stick to.
func markedNode(place librarian.Place) (string, error) {
	node := place.TriggerNode
	if node == "" && place.Trigger != librarian.TriggerDiscussionComment && place.Trigger != librarian.TriggerReviewBody {
		node = place.ThreadNode // a label or an event: the discussion asked
	}
	if node == "" {
		return "", errors.New("nothing to react to: the place has no node id")
	}
	return node, nil
}
