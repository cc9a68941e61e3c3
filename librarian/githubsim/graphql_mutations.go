package githubsim

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// mutationRoot has the mutations: discussions are written by nothing else, and reviews and discussions take reactions only here.
// https://docs.github.com/en/graphql/guides/using-the-graphql-api-for-discussions
func (c *call) mutationRoot() node {
	mutation := func(payload string, f func(in map[string]any) (node, error)) lazy {
		return func(args map[string]any) (any, error) {
			in, _ := args["input"].(map[string]any)
			out, err := f(in)
			if err != nil {
				return nil, err
			}
			out["__typename"], out["clientMutationId"] = payload, in["clientMutationId"]
			return out, nil
		}
	}
	return node{"__typename": "Mutation",
		"createDiscussion":        mutation("CreateDiscussionPayload", c.gqlCreateDiscussion),
		"updateDiscussion":        mutation("UpdateDiscussionPayload", c.gqlUpdateDiscussion),
		"addDiscussionComment":    mutation("AddDiscussionCommentPayload", c.gqlAddComment),
		"updateDiscussionComment": mutation("UpdateDiscussionCommentPayload", c.gqlUpdateComment),
		"deleteDiscussionComment": mutation("DeleteDiscussionCommentPayload", c.gqlDeleteComment),
		"addReaction":             mutation("AddReactionPayload", c.gqlAddReaction),
		"removeReaction":          mutation("RemoveReactionPayload", c.gqlRemoveReaction),
	}
}

// writable finds what a node id stands for, for a caller who may write there.
func (c *call) writable(id any) (subject, error) {
	x, err := c.lookup(id)
	if err != nil {
		return subject{}, err
	}
	if c.allow(c.caller, x.repo, writes("read", x.need...)) != nil {
		return subject{}, gqlForbidden(c)
	}
	if x.repo.archived {
		return subject{}, &gqlError{kind: "FORBIDDEN", message: "Repository was archived so is read-only."}
	}
	return x, nil
}

// takes refuses what a locked conversation does not take from those without write access.
func (c *call) takes(x subject, what string) error {
	if x.locked && (c.caller.kind != UserToken || roleRank(c.permission(x.repo, c.caller.user).permission) < roleRank("write")) {
		return &gqlError{kind: "FORBIDDEN", message: "Unable to create " + what + " because the conversation is locked."}
	}
	return nil
}

func checkText(text any) (string, error) {
	body, _ := text.(string)
	switch {
	case strings.TrimSpace(body) == "":
		return "", gqlInvalid("Body can't be blank")
	case utf8.RuneCountInString(body) > MaxBody:
		return "", gqlInvalid("Body is too long (maximum is 65536 characters)")
	}
	return body, nil
}

// gqlCreateDiscussion starts a discussion in the repository's one category.
func (c *call) gqlCreateDiscussion(in map[string]any) (node, error) {
	x, err := c.lookup(in["repositoryId"])
	if err != nil {
		return nil, err
	}
	r, isRepo := x.value.(*repo)
	switch {
	case !isRepo:
		return nil, &gqlError{kind: "NOT_FOUND", message: "Could not resolve to Repository node with the global id of '" + text(in["repositoryId"]) + "'."}
	case text(in["categoryId"]) != nodeID("DIC", r.id):
		return nil, &gqlError{kind: "NOT_FOUND", message: "Could not resolve to a node with the global id of '" + text(in["categoryId"]) + "'."}
	case c.allow(c.caller, r, writes("read", "discussions")) != nil:
		return nil, gqlForbidden(c)
	case r.archived:
		return nil, &gqlError{kind: "FORBIDDEN", message: "Repository was archived so is read-only."}
	case strings.TrimSpace(text(in["title"])) == "":
		return nil, gqlInvalid("Title can't be blank")
	}
	body, err := checkText(in["body"])
	if err != nil {
		return nil, err
	}
	return node{"discussion": c.discussionNode(c.addDiscussion(r, c.caller.actor(), text(in["title"]), body))}, nil
}

// gqlUpdateDiscussion edits a discussion, for its author and people who may triage.
func (c *call) gqlUpdateDiscussion(in map[string]any) (node, error) {
	x, err := c.writable(in["discussionId"])
	if err != nil {
		return nil, err
	}
	d, isDiscussion := x.value.(*discussion)
	if !isDiscussion {
		return nil, &gqlError{kind: "NOT_FOUND", message: "Could not resolve to Discussion node with the global id of '" + text(in["discussionId"]) + "'."}
	}
	if c.caller.kind == UserToken && d.by.user != c.caller.user && roleRank(c.permission(d.repo, c.caller.user).permission) < roleRank("triage") {
		return nil, gqlForbidden(c)
	}
	title, body := d.title, d.body
	if in["title"] != nil {
		title = text(in["title"])
	}
	if in["body"] != nil {
		if body, err = checkText(in["body"]); err != nil {
			return nil, err
		}
	}
	c.changeDiscussion(d, c.caller.actor(), title, body)
	return node{"discussion": c.discussionNode(d)}, nil
}

// gqlAddComment comments on a discussion, or replies to a comment that stands by itself.
func (c *call) gqlAddComment(in map[string]any) (node, error) {
	x, err := c.writable(in["discussionId"])
	if err != nil {
		return nil, err
	}
	d, isDiscussion := x.value.(*discussion)
	if !isDiscussion {
		return nil, &gqlError{kind: "NOT_FOUND", message: "Could not resolve to Discussion node with the global id of '" + text(in["discussionId"]) + "'."}
	}
	if err := c.takes(x, "comment"); err != nil {
		return nil, err
	}
	var root *discussionComment
	if in["replyToId"] != nil {
		to, err := c.lookup(in["replyToId"])
		if err != nil {
			return nil, err
		}
		var isComment bool
		if root, isComment = to.value.(*discussionComment); !isComment || root.discussion != d {
			return nil, gqlInvalid("Parent comment could not be found in this discussion")
		}
		if root.root != nil {
			return nil, gqlInvalid("Parent comment is already in a thread, cannot reply to it")
		}
	}
	body, err := checkText(in["body"])
	if err != nil {
		return nil, err
	}
	return node{"comment": c.discussionCommentNode(c.addDiscussionComment(d, root, c.caller.actor(), body))}, nil
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// ownComment finds a discussion comment for a caller who may change it: its author, and people who may triage.
func (c *call) ownComment(id any) (*discussionComment, error) {
	x, err := c.writable(id)
	if err != nil {
		return nil, err
	}
	comment, isComment := x.value.(*discussionComment)
	if !isComment || !comment.deleted.IsZero() {
		return nil, &gqlError{kind: "NOT_FOUND", message: "Could not resolve to DiscussionComment node with the global id of '" + text(id) + "'."}
	}
	who := c.caller.actor().user
	if comment.by.user != who && (c.caller.kind != UserToken || roleRank(c.permission(x.repo, who).permission) < roleRank("triage")) {
		return nil, &gqlError{kind: "FORBIDDEN", message: strings.TrimSuffix(who.Login, "[bot]") + " does not have the correct permissions to change this discussion comment"}
	}
	return comment, nil
}

func (c *call) gqlUpdateComment(in map[string]any) (node, error) {
	x, err := c.ownComment(in["commentId"])
	if err != nil {
		return nil, err
	}
	body, err := checkText(in["body"])
	if err != nil {
		return nil, err
	}
	c.changeDiscussionComment(x, c.caller.actor(), body)
	return node{"comment": c.discussionCommentNode(x)}, nil
}

func (c *call) gqlDeleteComment(in map[string]any) (node, error) {
	x, err := c.ownComment(in["id"])
	if err != nil {
		return nil, err
	}
	gone := c.discussionCommentNode(x)
	c.removeDiscussionComment(x, c.caller.actor())
	return node{"comment": gone}, nil
}

// reactableSubject finds what a reaction is put on or taken from.
func (c *call) reactableSubject(id any) (subject, error) {
	x, err := c.writable(id)
	if err != nil {
		return subject{}, err
	}
	if x.reactions == nil {
		return subject{}, &gqlError{kind: "NOT_FOUND", message: "Could not resolve to Reactable node with the global id of '" + text(id) + "'."}
	}
	return x, c.takes(x, "reaction")
}

func (c *call) reactionPayload(x subject, r *reaction) node {
	on := x.draw()
	return node{"reaction": c.reactionNode(on, r), "subject": on, "reactionGroups": later(func() any { return c.reactionGroups(on, *x.reactions) })}
}

func (c *call) gqlAddReaction(in map[string]any) (node, error) {
	x, err := c.reactableSubject(in["subjectId"])
	if err != nil {
		return nil, err
	}
	r, _ := c.addReaction(x.reactions, c.caller.actor().user, contentOf(in["content"]))
	return c.reactionPayload(x, r), nil
}

// gqlRemoveReaction takes the caller's own reaction off. Without one it is an error here: GitHub's reference does not say, and a
// client must bear both.
func (c *call) gqlRemoveReaction(in map[string]any) (node, error) {
	x, err := c.reactableSubject(in["subjectId"])
	if err != nil {
		return nil, err
	}
	n := slices.IndexFunc(*x.reactions, func(r *reaction) bool {
		return r.user == c.caller.actor().user && r.content == contentOf(in["content"])
	})
	if n < 0 {
		return nil, &gqlError{kind: "NOT_FOUND", message: "Could not find the reaction to remove."}
	}
	r := (*x.reactions)[n]
	*x.reactions = slices.Delete(slices.Clone(*x.reactions), n, n+1)
	return c.reactionPayload(x, r), nil
}
