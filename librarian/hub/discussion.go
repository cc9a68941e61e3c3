package hub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/go-github/v66/github"

	"github.com/librarian-app/librarian/librarian"
)

// maxTalks bounds the comments of a discussion that are read: the newest, of each the newest 50 replies.
const maxTalks = 250

// talkFields is what is asked of each comment of a discussion.
const talkFields = `id databaseId body url createdAt updatedAt viewerDidAuthor authorAssociation
	author { __typename login ... on User { databaseId } ... on Bot { databaseId } }`

const discussionQuery = `query($id: ID!, $before: String) { node(id: $id) { ... on Discussion {
	databaseId number title body createdAt updatedAt closed locked authorAssociation
	author { __typename login ... on User { databaseId } ... on Bot { databaseId } }
	repository { databaseId }
	comments(last: 50, before: $before) { totalCount pageInfo { hasPreviousPage startCursor }
		nodes { ` + talkFields + ` replies(last: 50) { totalCount nodes { ` + talkFields + ` } } } }
} } }`

const talkQuery = `query($id: ID!) { node(id: $id) {
	... on Discussion { databaseId number repository { databaseId } }
	... on DiscussionComment { ` + talkFields + ` replyTo { databaseId } discussion { number repository { databaseId } } }
} }`

// actor is whoever GraphQL says wrote something; null for a deleted account.
type actor struct {
	Kind  string `json:"__typename"`
	Login string `json:"login"`
	ID    int64  `json:"databaseId"`
}

func (a *actor) principal() librarian.Principal {
	if a == nil || a.ID <= 0 {
		return librarian.Principal{Login: librarian.GhostLogin}
	}
	p := librarian.Principal{ID: a.ID, Login: a.Login, Bot: a.Kind == "Bot"}
	if p.Bot {
		p.Login += "[bot]" // as REST and deliveries spell it
	}
	return p
}

type talk struct {
	ID        int64     `json:"databaseId"`
	Body      string    `json:"body"`
	URL       string    `json:"url"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Mine      bool      `json:"viewerDidAuthor"`
	Role      string    `json:"authorAssociation"`
	Author    *actor    `json:"author"`
	Replies   struct {
		Total int    `json:"totalCount"`
		Nodes []talk `json:"nodes"`
	} `json:"replies"`
}

// comment makes a Comment; app is our App, whose words the viewer's are.
func (t talk) comment(replyTo, app int64) librarian.Comment {
	c := librarian.Comment{ID: t.ID, Author: t.Author.principal(), Role: t.Role, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, URL: t.URL, ReplyTo: replyTo}
	c.Body, c.Clipped = clip(t.Body)
	if t.Mine {
		c.App = app
	}
	return c
}

type discussionNode struct {
	ID         int64     `json:"databaseId"`
	Number     int       `json:"number"`
	Title      string    `json:"title"`
	Body       string    `json:"body"`
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
	Closed     bool      `json:"closed"`
	Locked     bool      `json:"locked"`
	Role       string    `json:"authorAssociation"`
	Author     *actor    `json:"author"`
	Repository struct {
		ID int64 `json:"databaseId"`
	} `json:"repository"`
	Comments struct {
		Total int `json:"totalCount"`
		Page  struct {
			More  bool   `json:"hasPreviousPage"`
			Start string `json:"startCursor"`
		} `json:"pageInfo"`
		Nodes []talk `json:"nodes"`
	} `json:"comments"`
}

const numberQuery = `query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) { discussion(number: $number) { id } } }`

// Discussion reads a discussion of a repository that a run may read, as [Hub.Thread] reads the one that asked. One that is not there,
// or that the App was given no permission for, is [librarian.ErrNotFound].
func (h *Hub) Discussion(ctx context.Context, installation int64, repo librarian.Repo, number int) (librarian.Thread, error) {
	c, err := h.talksClient(ctx, installation, repo)
	if err != nil {
		return librarian.Thread{}, failed("discussion", err)
	}
	var got struct {
		Repository *struct{ Discussion *struct{ ID string } }
	}
	err = graph(ctx, c, numberQuery, map[string]any{"owner": repo.Owner, "name": repo.Name, "number": number}, &got)
	switch {
	case err != nil:
		return librarian.Thread{}, failed("discussion", err)
	case got.Repository == nil || got.Repository.Discussion == nil:
		return librarian.Thread{}, fmt.Errorf("hub: discussion: %w", librarian.ErrNotFound)
	}
	return h.readDiscussion(ctx, c, librarian.Place{Kind: librarian.PlaceDiscussion, Repo: repo.ID, Number: number, ThreadNode: got.Repository.Discussion.ID})
}

// talksClient is a client that can read a repository's discussions: with a token for just that one where the installation covers
// it, else with one that reads what is public.
func (h *Hub) talksClient(ctx context.Context, installation int64, repo librarian.Repo) (*github.Client, error) {
	host, number, ok := repo.ID.GitHub()
	if !ok || host != h.host.host || h.app == nil && h.opts.UserToken == "" { // GraphQL answers nobody who does not say who he is
		return nil, librarian.ErrNotFound
	}
	key := tokenKey{class: classFacts, installation: installation}
	if h.app != nil && repo.Installation != 0 && repo.Installation == installation {
		key = tokenKey{classTalks, installation, number}
		if _, _, err := h.tokens.token(ctx, key); err != nil {
			if e, ok := errors.AsType[*github.ErrorResponse](err); ok && e.Response.StatusCode == http.StatusUnprocessableEntity {
				return nil, librarian.ErrNotFound // discussions are not among what the App may read
			}
			return nil, err
		}
	}
	return h.client(key), nil
}

// discussion reads the discussion of place.
func (h *Hub) discussion(ctx context.Context, place librarian.Place) (librarian.Thread, error) {
	c, _, err := h.threadClient(ctx, place)
	if err != nil {
		return librarian.Thread{}, failed("discussion", err)
	}
	return h.readDiscussion(ctx, c, place)
}

// readDiscussion reads a discussion, by GraphQL, the newest comments first.
func (h *Hub) readDiscussion(ctx context.Context, c *github.Client, place librarian.Place) (librarian.Thread, error) {
	var thread librarian.Thread
	var talks []talk
	variables := map[string]any{"id": place.ThreadNode, "before": nil}
	for {
		var got struct{ Node *discussionNode }
		if err := graph(ctx, c, discussionQuery, variables, &got); err != nil {
			return librarian.Thread{}, failed("discussion", err)
		}
		d := got.Node
		if d == nil || !of(place, d.Repository.ID, d.Number) {
			return librarian.Thread{}, fmt.Errorf("hub: discussion: %w", librarian.ErrNotFound)
		}
		if len(talks) == 0 {
			thread = librarian.Thread{Number: d.Number, Title: d.Title, Author: d.Author.principal(), Role: d.Role, CreatedAt: d.CreatedAt,
				UpdatedAt: d.UpdatedAt, Closed: d.Closed, Locked: d.Locked}
			thread.Body, _ = clip(d.Body)
			thread.Omitted = d.Comments.Total
		}
		thread.Omitted -= len(d.Comments.Nodes)
		talks = append(slices.Clone(d.Comments.Nodes), talks...)
		if !d.Comments.Page.More || len(d.Comments.Nodes) == 0 || len(talks) >= maxTalks {
			break
		}
		variables["before"] = d.Comments.Page.Start
	}
	thread.Omitted = max(thread.Omitted, 0)
	h.flatten(talks, &thread)
	return thread, h.addTalk(ctx, c, place, &thread)
}

// of reports whether what was read belongs to place's thread: a discussion can be moved to another repository.
func of(place librarian.Place, repo int64, number int) bool {
	_, want, ok := place.Repo.GitHub()
	return ok && repo == want && number == place.Number
}

// flatten puts each comment's replies after it, keeps the newest comments whose text fits, and counts what is left out.
func (h *Hub) flatten(talks []talk, thread *librarian.Thread) {
	size, keep := 0, len(talks)
	for ; keep > 0; keep-- {
		t := talks[keep-1]
		size += len(t.Body)
		for _, r := range t.Replies.Nodes {
			size += len(r.Body)
		}
		if size > maxThreadBytes {
			break
		}
	}
	for i, t := range talks {
		if i < keep {
			thread.Omitted += 1 + t.Replies.Total
			continue
		}
		thread.Omitted += max(0, t.Replies.Total-len(t.Replies.Nodes))
		thread.Comments = append(thread.Comments, t.comment(0, h.opts.AppID))
		for _, r := range t.Replies.Nodes {
			thread.Comments = append(thread.Comments, r.comment(t.ID, h.opts.AppID))
		}
	}
}

// addTalk looks for what asked where it was not read with the others.
func (h *Hub) addTalk(ctx context.Context, c *github.Client, place librarian.Place, thread *librarian.Thread) error {
	if place.Trigger != librarian.TriggerDiscussionComment ||
		slices.ContainsFunc(thread.Comments, func(c librarian.Comment) bool { return c.ID == place.TriggerID }) {
		return nil
	}
	t, err := h.talk(ctx, c, place)
	switch {
	case err == nil:
		replyTo := int64(0)
		if t.ReplyTo != nil {
			replyTo = t.ReplyTo.ID
		}
		thread.Comments = slices.Insert(thread.Comments, 0, t.comment(replyTo, h.opts.AppID))
		thread.Omitted = max(0, thread.Omitted-1)
	case gone(err):
		thread.TriggerGone = true
	default:
		return err
	}
	return nil
}

// talkNode is what asked in a discussion: the discussion itself, or a comment.
type talkNode struct {
	talk
	Number     int `json:"number"`
	Repository *struct {
		ID int64 `json:"databaseId"`
	} `json:"repository"`
	ReplyTo *struct {
		ID int64 `json:"databaseId"`
	} `json:"replyTo"`
	Discussion *struct {
		Number     int `json:"number"`
		Repository struct {
			ID int64 `json:"databaseId"`
		} `json:"repository"`
	} `json:"discussion"`
}

// talk reads what asked; one that stands in another discussion is not it.
func (h *Hub) talk(ctx context.Context, c *github.Client, place librarian.Place) (talkNode, error) {
	var got struct{ Node *talkNode }
	if err := graph(ctx, c, talkQuery, map[string]any{"id": place.TriggerNode}, &got); err != nil {
		return talkNode{}, failed("discussion: trigger", err)
	}
	n := got.Node
	switch {
	case n != nil && n.Discussion != nil && of(place, n.Discussion.Repository.ID, n.Discussion.Number):
		return *n, nil
	case n != nil && n.Repository != nil && of(place, n.Repository.ID, n.Number):
		return *n, nil
	}
	return talkNode{}, fmt.Errorf("hub: discussion: trigger: %w", librarian.ErrNotFound)
}

func (h *Hub) talkExists(ctx context.Context, place librarian.Place) (bool, error) {
	c, _, err := h.threadClient(ctx, place)
	if err != nil {
		return false, failed("trigger", err)
	}
	if place.TriggerNode == "" { // a label or an event: the discussion asked
		place.TriggerNode = place.ThreadNode
	}
	_, err = h.talk(ctx, c, place)
	if gone(err) {
		return false, nil
	}
	return err == nil, err
}
