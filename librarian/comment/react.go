package comment

import (
	"context"
	"fmt"
	"net/http"
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

// React marks what asked with r and takes our other marks off it; [librarian.ReactionNone] takes all of them off. Twice is as once. A dispatch has nothing that could be
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
	if place.Kind == librarian.PlaceDiscussion || place.Trigger == librarian.TriggerReviewBody {
		if r == librarian.ReactionNone {
			return failed("react", p.unmarkNode(ctx, t))
		}
		return failed("react", p.reactNode(ctx, t, r))
	}
	path, err := reactionsPath(place)
	if err != nil {
		return failed("react", err)
	}
	if r == librarian.ReactionNone {
		return failed("react", p.unmark(ctx, t, path))
	}
	var mine github.Reaction
	if err := p.write(ctx, t, kindOf(r), http.MethodPost, path, map[string]string{"content": string(r)}, &mine); err != nil {
		return failed("react", err)
	}
	if r == librarian.ReactionEyes { // the first mark: nothing to take off, and no time to lose
		return nil
	}
	me := mine.GetUser().GetID() // GitHub says of a reaction whose it is, not by which App: this one tells who we are
	for _, other := range marks {
		if other == r || me == 0 {
			continue
		}
		if err := p.takeOff(ctx, t, path, other, me); err != nil {
			return failed("react: remove "+string(other), err)
		}
	}
	return nil
}

// takeOff removes the reaction of one kind that user me left, if there is one among the first 100.
func (p *Poster) takeOff(ctx context.Context, t target, path string, r librarian.Reaction, me int64) error {
	var all []github.Reaction
	if _, err := t.call(ctx, http.MethodGet, path+"?per_page=100&content="+string(r), nil, &all); err != nil {
		return err
	}
	for _, old := range all {
		if old.GetUser().GetID() != me || old.GetContent() != string(r) {
			continue
		}
		err := p.write(ctx, t, tidy, http.MethodDelete, fmt.Sprintf("%s/%d", path, old.GetID()), nil, nil)
		if err != nil && !missing(err) {
			return err
		}
	}
	return nil
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
	addReaction    = `mutation($input: AddReactionInput!) { addReaction(input: $input) { subject { reactionGroups { content viewerHasReacted } } } }`
	removeReaction = `mutation($input: RemoveReactionInput!) { removeReaction(input: $input) { reaction { content } } }`
)

// reactNode is React by GraphQL, for discussions and the bodies of reviews. What was reacted to tells what else stands there of
// ours.
func (p *Poster) reactNode(ctx context.Context, t target, r librarian.Reaction) error {
	node, err := markedNode(t.place)
	if err != nil {
		return err
	}
	var got struct {
		Added struct {
			Subject struct {
				Groups []struct {
					Content string `json:"content"`
					Mine    bool   `json:"viewerHasReacted"`
				} `json:"reactionGroups"`
			} `json:"subject"`
		} `json:"addReaction"`
	}
	if err := p.mutate(ctx, t, kindOf(r), addReaction, map[string]any{"subjectId": node, "content": graphName(r)}, &got); err != nil {
		return err
	}
	for _, g := range got.Added.Subject.Groups {
		for _, other := range marks {
			if !g.Mine || other == r || g.Content != graphName(other) {
				continue
			}
			err := p.mutate(ctx, t, tidy, removeReaction, map[string]any{"subjectId": node, "content": g.Content}, nil)
			if err != nil && !missing(err) {
				return fmt.Errorf("remove %s: %w", other, err)
			}
		}
	}
	return nil
}

// graphName is a reaction as GraphQL's ReactionContent spells those that we use.
func graphName(r librarian.Reaction) string { return strings.ToUpper(string(r)) }
