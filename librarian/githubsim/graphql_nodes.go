package githubsim

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The functions of this file draw the world as nodes of the graph. They run with Server.mu held.

func (c *call) queryRoot() node {
	return node{"__typename": "Query",
		"node": lazy(func(args map[string]any) (any, error) { return c.nodeByID(args["id"]) }),
		"nodes": lazy(func(args map[string]any) (any, error) {
			ids, _ := args["ids"].([]any)
			list := make([]node, len(ids))
			for i, id := range ids {
				n, err := c.nodeByID(id)
				if err != nil {
					return nil, err
				}
				list[i] = n
			}
			return list, nil
		}),
		"repository": lazy(func(args map[string]any) (any, error) {
			name := fmt.Sprintf("%v/%v", args["owner"], args["name"])
			r, err := c.repo(name)
			if err != nil || !c.sees(c.caller, r) {
				return nil, &gqlError{kind: "NOT_FOUND", message: fmt.Sprintf("Could not resolve to a Repository with the name '%s'.", name)}
			}
			return c.repoNode(r), nil
		}),
		"viewer": later(func() any {
			n := c.actorNode(c.caller.actor().user)
			// GitHub's type here is User for an App too, whose login has "[bot]", unlike everywhere else.
			n["__typename"], n["login"] = "User", c.caller.actor().user.Login
			return n
		}),
		"rateLimit": later(func() any {
			limit, span := c.limitOf(c.caller.kind, "graphql")
			w := c.window(c.caller.key+" graphql", span)
			return node{"__typename": "RateLimit", "cost": 1, "limit": limit, "nodeCount": 0, "remaining": max(0, limit-w.used), "used": w.used, "resetAt": stamp(w.reset)}
		}),
	}
}

// subject is what a node id stands for: how it is drawn, whose it is, and what hangs on it.
type subject struct {
	repo      *repo
	need      []string // the App permissions of which one is needed
	reactions *[]*reaction
	locked    bool
	draw      func() node
	value     any
}

// lookup finds what a node id stands for among what the caller may see and read; otherwise it could not be resolved.
func (c *call) lookup(id any) (subject, error) {
	text, _ := id.(string)
	missing := &gqlError{kind: "NOT_FOUND", message: fmt.Sprintf("Could not resolve to a node with the global id of '%s'", text)}
	x, found := c.subject(text)
	if !found || !c.sees(c.caller, x.repo) {
		return subject{}, missing
	}
	if c.allow(c.caller, x.repo, reads(x.need...)) != nil {
		return subject{}, gqlForbidden(c)
	}
	return x, nil
}

func (c *call) subject(text string) (subject, bool) {
	prefix, rest, _ := strings.Cut(text, "_kw")
	raw, err := base64.RawURLEncoding.DecodeString(rest)
	if err != nil || len(raw) != 8 {
		return subject{}, false
	}
	id := int64(binary.BigEndian.Uint64(raw))
	switch prefix {
	case "D":
		if d := c.world.discussions[id]; d != nil {
			return subject{d.repo, []string{"discussions"}, &d.reactions, d.locked, func() node { return c.discussionNode(d) }, d}, true
		}
	case "DC":
		if x := c.world.discussionComments[id]; x != nil {
			return subject{x.discussion.repo, []string{"discussions"}, &x.reactions, x.discussion.locked, func() node { return c.discussionCommentNode(x) }, x}, true
		}
	case "PRR":
		if x := c.world.reviews[id]; x != nil {
			return subject{x.pull.repo, []string{"pull_requests"}, &x.reactions, x.pull.locked, func() node { return c.reviewNode(x) }, x}, true
		}
	case "PRRC":
		if x := c.world.reviewComments[id]; x != nil {
			return subject{x.pull.repo, []string{"pull_requests"}, &x.reactions, x.pull.locked, func() node { return c.reviewCommentNode(x) }, x}, true
		}
	case "IC":
		if x := c.world.comments[id]; x != nil {
			return subject{x.issue.repo, threadNeed(x.issue, false, "").any, &x.reactions, x.issue.locked, func() node { return c.commentNode(x) }, x}, true
		}
	case "R":
		if r := c.world.repos[id]; r != nil {
			return subject{repo: r, need: []string{"metadata"}, draw: func() node { return c.repoNode(r) }, value: r}, true
		}
	case "I", "PR":
		for _, r := range c.world.repos {
			for _, i := range r.issues {
				if prefix == "I" && i.pull == nil && i.id == id || prefix == "PR" && i.pull != nil && i.pull.id == id {
					return subject{r, threadNeed(i, false, "").any, &i.reactions, i.locked, func() node { return c.issueNode(i) }, i}, true
				}
			}
		}
	}
	return subject{}, false
}

func (c *call) nodeByID(id any) (node, error) {
	x, err := c.lookup(id)
	if err != nil {
		return nil, err
	}
	return x.draw(), nil
}

// actorNode draws an author, or nothing for a deleted account. A bot's login lacks the "[bot]" that REST shows.
func (c *call) actorNode(a *account) node {
	if a == nil || a.deleted {
		return nil
	}
	login := strings.TrimSuffix(a.Login, "[bot]")
	path := "/" + login
	if a.Type == "Bot" {
		path = "/apps/" + login
	}
	return node{"__typename": a.Type, "id": nodeID("U", a.ID), "databaseId": a.ID, "login": login, "name": login, "resourcePath": path,
		"url": c.base + path, "avatarUrl": fmt.Sprintf("%s/avatars/u/%d?v=4", c.base, a.ID)}
}

func (c *call) repoNode(r *repo) node {
	return node{"__typename": "Repository", "id": nodeID("R", r.id), "databaseId": r.id, "name": r.name, "nameWithOwner": r.fullName(),
		"owner": c.actorNode(r.owner), "url": c.base + "/" + r.fullName(), "isPrivate": r.private(), "isArchived": r.archived, "isLocked": false,
		"visibility": strings.ToUpper(r.visibility), "hasDiscussionsEnabled": true,
		"discussion": lazy(func(args map[string]any) (any, error) {
			if c.allow(c.caller, r, reads("discussions")) != nil {
				return nil, gqlForbidden(c)
			}
			n, _ := number(args["number"])
			for _, d := range r.discussions {
				if d.number == n {
					return c.discussionNode(d), nil
				}
			}
			return nil, &gqlError{kind: "NOT_FOUND", message: fmt.Sprintf("Could not resolve to a Discussion with the number of %d.", n)}
		}),
		"discussionCategories": lazy(func(args map[string]any) (any, error) {
			if c.allow(c.caller, r, reads("discussions")) != nil {
				return nil, gqlForbidden(c)
			}
			return connection("discussionCategories", args, []*repo{r}, func(r *repo) int64 { return r.id }, categoryNode)
		}),
		"discussions": lazy(func(args map[string]any) (any, error) {
			if c.allow(c.caller, r, reads("discussions")) != nil {
				return nil, gqlForbidden(c)
			}
			newest := slices.Clone(r.discussions)
			slices.Reverse(newest)
			return connection("discussions", args, newest, func(d *discussion) int64 { return d.id }, c.discussionNode)
		}),
	}
}

// categoryNode is the one category of a repository's discussions.
func categoryNode(r *repo) node {
	return node{"__typename": "DiscussionCategory", "id": nodeID("DIC", r.id), "name": "General", "slug": "general",
		"emoji": ":speech_balloon:", "description": "Anything", "isAnswerable": false}
}

// written draws what everything that somebody wrote has in common.
func (c *call) written(kind, id string, databaseID int64, r *repo, by actor, body, url string, created, updated, edited time.Time) node {
	n := node{"__typename": kind, "id": id, "databaseId": databaseID, "author": c.actorNode(by.user), "authorAssociation": c.association(r, by.user),
		"body": body, "bodyText": body, "createdAt": stamp(created), "publishedAt": stamp(created), "updatedAt": stamp(updated),
		"lastEditedAt": stampOrNil(edited), "editor": nil, "url": url, "resourcePath": strings.TrimPrefix(url, c.base), "upvoteCount": 1,
		"repository": later(func() any { return c.repoNode(r) })}
	mine := by.user != nil && by.user == c.caller.actor().user
	n["viewerDidAuthor"], n["viewerCanUpdate"], n["viewerCanDelete"] = mine, mine, mine
	if !edited.IsZero() {
		n["editor"] = n["author"]
	}
	return n
}

func (c *call) discussionNode(d *discussion) node {
	n := c.written("Discussion", nodeID("D", d.id), d.id, d.repo, d.by, d.body, c.discussionURL(d), d.created, d.updated, d.edited)
	n["number"], n["title"], n["locked"], n["closed"], n["closedAt"], n["activeLockReason"] = d.number, d.title, d.locked, false, nil, nil
	n["answer"], n["isAnswered"] = nil, nil
	n["category"] = categoryNode(d.repo)
	n["comments"] = lazy(func(args map[string]any) (any, error) { return c.discussionComments("comments", args, d.replies(nil)) })
	c.reactable(n, &d.reactions)
	return n
}

func (c *call) discussionComments(name string, args map[string]any, list []*discussionComment) (any, error) {
	return connection(name, args, list, func(x *discussionComment) int64 { return x.id }, c.discussionCommentNode)
}

func (c *call) discussionCommentNode(x *discussionComment) node {
	d := x.discussion
	n := c.written("DiscussionComment", nodeID("DC", x.id), x.id, d.repo, x.by, x.body, c.discussionCommentURL(x), x.created, x.updated, x.edited)
	n["deletedAt"], n["isAnswer"], n["isMinimized"], n["replyTo"] = stampOrNil(x.deleted), false, false, nil
	n["discussion"] = later(func() any { return c.discussionNode(d) })
	n["replies"] = lazy(func(args map[string]any) (any, error) {
		if x.root != nil {
			return c.discussionComments("replies", args, nil)
		}
		return c.discussionComments("replies", args, d.replies(x))
	})
	if x.root != nil {
		n["replyTo"] = later(func() any { return c.discussionCommentNode(x.root) })
	}
	c.reactable(n, &x.reactions)
	return n
}

func (c *call) issueNode(i *issue) node {
	kind, id, number := "Issue", nodeID("I", i.id), i.id
	if i.pull != nil {
		kind, id, number = "PullRequest", nodeID("PR", i.pull.id), i.pull.id
	}
	n := c.written(kind, id, number, i.repo, i.by, i.body, c.issueURL(i), i.created, i.updated, time.Time{})
	n["number"], n["title"], n["locked"] = i.number, i.title, i.locked
	c.reactable(n, &i.reactions)
	return n
}

func (c *call) commentNode(x *comment) node {
	n := c.written("IssueComment", nodeID("IC", x.id), x.id, x.issue.repo, x.by, x.body, c.commentURL(x), x.created, x.updated, time.Time{})
	c.reactable(n, &x.reactions)
	return n
}

func (c *call) reviewNode(x *review) node {
	n := c.written("PullRequestReview", nodeID("PRR", x.id), x.id, x.pull.repo, x.by, x.body, c.reviewURL(x), x.submitted, x.submitted, time.Time{})
	n["state"], n["submittedAt"] = strings.ToUpper(x.state), stamp(x.submitted)
	c.reactable(n, &x.reactions)
	return n
}

func (c *call) reviewCommentNode(x *reviewComment) node {
	n := c.written("PullRequestReviewComment", nodeID("PRRC", x.id), x.id, x.pull.repo, x.by, x.body, c.reviewCommentURL(x), x.created, x.updated, time.Time{})
	n["path"], n["diffHunk"], n["outdated"], n["replyTo"] = x.path, x.hunk, x.outdated, nil
	if x.root != nil {
		n["replyTo"] = later(func() any { return c.reviewCommentNode(x.root) })
	}
	c.reactable(n, &x.reactions)
	return n
}

// contentNames are GraphQL's names of reactions, in the order of its reaction groups.
var contentNames = []struct{ graphql, rest string }{{"THUMBS_UP", "+1"}, {"THUMBS_DOWN", "-1"}, {"LAUGH", "laugh"}, {"HOORAY", "hooray"},
	{"CONFUSED", "confused"}, {"HEART", "heart"}, {"ROCKET", "rocket"}, {"EYES", "eyes"}}

func contentName(rest string) string {
	for _, n := range contentNames {
		if n.rest == rest {
			return n.graphql
		}
	}
	return ""
}

func contentOf(graphql any) string {
	for _, n := range contentNames {
		if n.graphql == graphql {
			return n.rest
		}
	}
	return ""
}

// reactable gives a node its reactions.
func (c *call) reactable(n node, list *[]*reaction) {
	n["viewerCanReact"] = c.caller.kind != Anonymous
	n["reactions"] = lazy(func(args map[string]any) (any, error) {
		some := slices.Clone(*list)
		if want := contentOf(args["content"]); want != "" {
			some = slices.DeleteFunc(some, func(r *reaction) bool { return r.content != want })
		}
		page, err := connection("reactions", args, some, func(r *reaction) int64 { return r.id },
			func(r *reaction) node { return c.reactionNode(n, r) })
		if err != nil {
			return nil, err
		}
		page["viewerHasReacted"] = c.hasReacted(some)
		return page, nil
	})
	n["reactionGroups"] = later(func() any { return c.reactionGroups(n, *list) })
}

func (c *call) hasReacted(list []*reaction) bool {
	return slices.ContainsFunc(list, func(r *reaction) bool { return r.user == c.caller.actor().user })
}

// reactionNode draws a reaction. Its user is null when it is a bot: GitHub's type allows only people there.
func (c *call) reactionNode(on node, r *reaction) node {
	n := node{"__typename": "Reaction", "id": nodeID("REA", r.id), "databaseId": r.id, "content": contentName(r.content), "createdAt": stamp(r.created),
		"reactable": on, "user": nil}
	if r.user.Type == "User" {
		n["user"] = c.actorNode(r.user)
	}
	return n
}

// reactionGroups counts the reactions of each kind, those with none included.
func (c *call) reactionGroups(on node, list []*reaction) []node {
	groups := []node{}
	for _, name := range contentNames {
		some := slices.DeleteFunc(slices.Clone(list), func(r *reaction) bool { return r.content != name.rest })
		draw := func(r *reaction) node { return c.actorNode(r.user) }
		id := func(r *reaction) int64 { return r.id }
		people := slices.DeleteFunc(slices.Clone(some), func(r *reaction) bool { return r.user.Type != "User" })
		g := node{"__typename": "ReactionGroup", "content": name.graphql, "createdAt": nil, "subject": on, "viewerHasReacted": c.hasReacted(some),
			"reactors": lazy(func(args map[string]any) (any, error) { return group("reactors", args, some, id, draw) }),
			"users":    lazy(func(args map[string]any) (any, error) { return group("users", args, people, id, draw) })}
		if len(some) > 0 {
			g["createdAt"] = stamp(some[0].created)
		}
		groups = append(groups, g)
	}
	return groups
}

// group is a connection that may be asked for its count alone, without first or last.
func group(name string, args map[string]any, list []*reaction, id func(*reaction) int64, draw func(*reaction) node) (any, error) {
	if args["first"] == nil && args["last"] == nil {
		args = map[string]any{"first": 10, "after": args["after"], "before": args["before"]}
	}
	return connection(name, args, list, id, draw)
}
