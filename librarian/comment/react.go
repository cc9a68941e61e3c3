package comment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v66/github"

	"github.com/librarian-app/librarian/librarian"
)

// marks are the reactions that we use.
var marks = [...]librarian.Reaction{librarian.ReactionEyes, librarian.ReactionConfused, librarian.ReactionRocket}

// kindOf tells the first mark from one that ends.
func kindOf(r librarian.Reaction) kind {
	if r == librarian.ReactionEyes {
		return eyes
	}
	return ending
}

// A mark that failed on the way is tried again: twice is as once, and nobody else will set it.
const (
	markTries = 3
	markPause = 300 * time.Millisecond // after the first try; twice that after the second
)

// React marks what asked with r and takes our other marks off it; [librarian.ReactionNone] takes all of them off. Twice is as
// once, and where it was cut short by a limit the second time writes only what is missing. A dispatch has nothing that could be
// marked. A thread that takes no reactions is [librarian.ErrCannotPost]; a rate limit is a [librarian.RateLimitError].
func (p *Poster) React(ctx context.Context, place librarian.Place, r librarian.Reaction) error {
	if place.Trigger == librarian.TriggerDispatch {
		return nil
	}
	for try := 1; ; try++ {
		err := p.react(ctx, place, r)
		if err == nil || !uncertain(err) || try == markTries {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(markPause << (try - 1)):
		}
	}
}

func (p *Poster) react(ctx context.Context, place librarian.Place, r librarian.Reaction) error {
	t, _, err := p.target(ctx, place)
	if err != nil {
		return failed("react", err)
	}
	var m marked
	if place.Kind == librarian.PlaceDiscussion || place.Trigger == librarian.TriggerReviewBody {
		m, err = newMarkedNode(p, t)
	} else {
		m, err = newMarkedPath(p, t)
	}
	if err != nil {
		return failed("react", err)
	}
	if r == librarian.ReactionEyes { // the first mark: nothing to take off, and no time to lose
		return failed("react", m.add(ctx, r))
	}
	ours, err := m.ours(ctx)
	if r == librarian.ReactionNone && missing(err) { // what asked is gone, and its marks with it
		return nil
	}
	if err != nil {
		return failed("react: look", err)
	}
	if r != librarian.ReactionNone && !slices.Contains(ours, r) {
		if err := m.add(ctx, r); err != nil {
			return failed("react", err)
		}
	}
	for _, other := range ours {
		if other == r {
			continue
		}
		if err := m.takeOff(ctx, other); err != nil && !missing(err) {
			return failed("react: remove "+string(other), err)
		}
	}
	return nil
}

// marked is what asked, as that which our marks stick to.
type marked interface {
	add(ctx context.Context, r librarian.Reaction) error
	// ours are those of marks that we left there.
	ours(ctx context.Context) ([]librarian.Reaction, error)
	// takeOff takes off one of those that ours gave.
	takeOff(ctx context.Context, r librarian.Reaction) error
}

// markedPath is an issue or a comment that has its reactions at a path.
type markedPath struct {
	p    *Poster
	t    target
	path string
	ids  map[librarian.Reaction]int64 // as ours found them
}

func newMarkedPath(p *Poster, t target) (*markedPath, error) {
	path, err := reactionsPath(t.place)
	return &markedPath{p: p, t: t, path: path, ids: map[librarian.Reaction]int64{}}, err
}

func (m *markedPath) add(ctx context.Context, r librarian.Reaction) error {
	return m.p.write(ctx, m.t, kindOf(r), http.MethodPost, m.path, map[string]string{"content": string(r)}, nil)
}

// ours looks through the first 100 reactions, and where there are more, through the first 100 of each of our kinds.
func (m *markedPath) ours(ctx context.Context) ([]librarian.Reaction, error) {
	clear(m.ids)
	n, err := m.look(ctx, "")
	if n == pageSize {
		for _, r := range marks {
			if _, err = m.look(ctx, "&content="+string(r)); err != nil {
				break
			}
		}
	}
	return slices.Collect(maps.Keys(m.ids)), err
}

func (m *markedPath) look(ctx context.Context, which string) (n int, err error) {
	var all []github.Reaction
	if _, err := m.t.call(ctx, http.MethodGet, fmt.Sprintf("%s?per_page=%d%s", m.path, pageSize, which), nil, &all); err != nil {
		return 0, err
	}
	for _, one := range all {
		mine := m.p.opts.BotID != 0 && one.GetUser().GetID() == m.p.opts.BotID // GitHub says of a reaction whose it is, not by which App
		if r := librarian.Reaction(one.GetContent()); mine && slices.Contains(marks[:], r) {
			m.ids[r] = one.GetID()
		}
	}
	return len(all), nil
}

func (m *markedPath) takeOff(ctx context.Context, r librarian.Reaction) error {
	return m.p.write(ctx, m.t, tidy, http.MethodDelete, fmt.Sprintf("%s/%d", m.path, m.ids[r]), nil, nil)
}

func reactionsPath(place librarian.Place) (string, error) {
	id := place.TriggerID
	switch place.Trigger {
	case librarian.TriggerIssueComment:
		if id > 0 {
			return fmt.Sprintf("issues/comments/%d/reactions", id), nil
		}
	case librarian.TriggerReviewComment:
		if id > 0 {
			return fmt.Sprintf("pulls/comments/%d/reactions", id), nil
		}
	case librarian.TriggerIssueBody, librarian.TriggerLabel, librarian.TriggerEvent:
		return fmt.Sprintf("issues/%d/reactions", place.Number), nil
	}
	return "", fmt.Errorf("nothing to react to: trigger %q", place.Trigger)
}

const (
	addReaction    = `mutation($input: AddReactionInput!) { addReaction(input: $input) { reaction { content } } }`
	removeReaction = `mutation($input: RemoveReactionInput!) { removeReaction(input: $input) { reaction { content } } }`
	marksQuery     = `query($id: ID!) { node(id: $id) { ... on Reactable { reactionGroups { content viewerHasReacted } } } }`
)

// markedNode is a discussion, a comment of one, or the body of a review, whose marks go by GraphQL.
type markedNode struct {
	p    *Poster
	t    target
	node string
}

func newMarkedNode(p *Poster, t target) (*markedNode, error) {
	node := t.place.TriggerNode
	if node == "" && t.place.Trigger != librarian.TriggerDiscussionComment && t.place.Trigger != librarian.TriggerReviewBody {
		node = t.place.ThreadNode // a label or an event: the discussion asked
	}
	if node == "" {
		return nil, errors.New("nothing to react to: the place has no node id")
	}
	return &markedNode{p, t, node}, nil
}

func (m *markedNode) add(ctx context.Context, r librarian.Reaction) error {
	return m.p.mutate(ctx, m.t, kindOf(r), addReaction, map[string]any{"subjectId": m.node, "content": graphName(r)}, nil)
}

func (m *markedNode) ours(ctx context.Context) ([]librarian.Reaction, error) {
	var got struct {
		Node *struct {
			Groups []struct {
				Content string `json:"content"`
				Mine    bool   `json:"viewerHasReacted"`
			} `json:"reactionGroups"`
		} `json:"node"`
	}
	if err := m.t.graph(ctx, marksQuery, map[string]any{"id": m.node}, &got); err != nil {
		return nil, err
	}
	if got.Node == nil {
		return nil, &graphError{"NOT_FOUND", "what asked is gone"}
	}
	var ours []librarian.Reaction
	for _, g := range got.Node.Groups {
		for _, r := range marks {
			if g.Mine && g.Content == graphName(r) {
				ours = append(ours, r)
			}
		}
	}
	return ours, nil
}

func (m *markedNode) takeOff(ctx context.Context, r librarian.Reaction) error {
	return m.p.mutate(ctx, m.t, tidy, removeReaction, map[string]any{"subjectId": m.node, "content": graphName(r)}, nil)
}

// graphName is a reaction as GraphQL's ReactionContent spells those that we use.
func graphName(r librarian.Reaction) string { return strings.ToUpper(string(r)) }
