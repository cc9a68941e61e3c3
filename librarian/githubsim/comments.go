package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// targetComment finds the comment of the path.
func (c *call) targetComment(write bool) (*comment, error) {
	r, err := c.seen()
	if err != nil {
		return nil, err
	}
	id, err := c.id("id")
	if err != nil {
		return nil, err
	}
	x := c.world.comments[id]
	if x == nil || x.issue.repo != r {
		return nil, notFound()
	}
	return x, c.permit(r, threadNeed(x.issue, write, ""))
}

func (s *Server) commentURL(c *comment) string {
	return fmt.Sprintf("%s#issuecomment-%d", s.issueURL(c.issue), c.id)
}

func (s *Server) commentJSON(c *comment) object {
	u := s.api("/repos/%s/issues/comments/%d", c.issue.repo.fullName(), c.id)
	return object{
		"url": u, "html_url": s.commentURL(c), "issue_url": s.api("/repos/%s/issues/%d", c.issue.repo.fullName(), c.issue.number), "id": c.id,
		"node_id": nodeID("IC", c.id), "user": s.userJSON(c.by.user), "created_at": stamp(c.created), "updated_at": stamp(c.updated),
		"body": c.body, "author_association": s.association(c.issue.repo, c.by.user), "reactions": reactionSummary(u+"/reactions", c.reactions),
		"performed_via_github_app": s.viaApp(c.by),
	}
}

// unlocked refuses what a locked conversation does not take from those without write access to the repository.
func (c *call) unlocked(i *issue, what string) error {
	if !i.locked || c.caller.kind == UserToken && roleRank(c.permission(i.repo, c.caller.user).permission) >= roleRank("write") {
		return nil
	}
	return &apiError{status: http.StatusForbidden, message: "Unable to create " + what + " because issue is locked."}
}

func (c *call) commentsReply(all []*comment) (reply, error) {
	since := c.since()
	all = slices.DeleteFunc(slices.Clone(all), func(x *comment) bool { return x.updated.Before(since) })
	part, h := pageOf(c, all)
	out := []object{}
	for _, x := range part {
		out = append(out, c.commentJSON(x))
	}
	return reply{body: out, header: h}, nil
}

func listComments(c *call) (reply, error) {
	i, err := c.targetIssue(false, "")
	if err != nil {
		return reply{}, err
	}
	return c.commentsReply(i.comments)
}

func listRepoComments(c *call) (reply, error) {
	r, err := c.target(reads("issues", "pull_requests"))
	if err != nil {
		return reply{}, err
	}
	var all []*comment
	for _, i := range r.issues {
		all = append(all, i.comments...)
	}
	slices.SortFunc(all, func(a, b *comment) int { return int(a.id - b.id) })
	if c.query.Get("direction") == "desc" && c.query.Get("sort") != "" {
		slices.Reverse(all)
	}
	return c.commentsReply(all)
}

// commentInput reads the body of a comment that is written or edited.
func (c *call) commentInput() (string, error) {
	var in struct {
		Body *string `json:"body"`
	}
	if err := c.input(&in); err != nil {
		return "", err
	}
	if in.Body == nil || strings.TrimSpace(*in.Body) == "" {
		return "", unprocessable("IssueComment", "body", "missing_field", "body can't be blank")
	}
	return *in.Body, checkBody("IssueComment", *in.Body)
}

func createComment(c *call) (reply, error) {
	i, err := c.targetIssue(true, "")
	if err != nil {
		return reply{}, err
	}
	if err := c.unlocked(i, "comment"); err != nil {
		return reply{}, err
	}
	body, err := c.commentInput()
	if err != nil {
		return reply{}, err
	}
	x := c.addComment(i, c.caller.actor(), body)
	return reply{status: http.StatusCreated, body: c.commentJSON(x),
		header: location(c.api("/repos/%s/issues/comments/%d", i.repo.fullName(), x.id))}, nil
}

func getComment(c *call) (reply, error) {
	x, err := c.targetComment(false)
	if err != nil {
		return reply{}, err
	}
	return ok(c.commentJSON(x))
}

// mayChange: the author, whoever has write access, and an App with issues:write, for which GitHub asks no more.
func (c *call) mayChange(x *comment) error {
	if c.caller.kind == UserToken && x.by.user != c.caller.user && roleRank(c.permission(x.issue.repo, c.caller.user).permission) < roleRank("write") {
		return &apiError{status: http.StatusForbidden, message: "Must have admin rights to Repository."}
	}
	return nil
}

func editComment(c *call) (reply, error) {
	x, err := c.targetComment(true)
	if err != nil {
		return reply{}, err
	}
	if err := c.mayChange(x); err != nil {
		return reply{}, err
	}
	body, err := c.commentInput()
	if err != nil {
		return reply{}, err
	}
	c.changeComment(x, c.caller.actor(), body)
	return ok(c.commentJSON(x))
}

func deleteComment(c *call) (reply, error) {
	x, err := c.targetComment(true)
	if err != nil {
		return reply{}, err
	}
	if err := c.mayChange(x); err != nil {
		return reply{}, err
	}
	c.removeComment(x, c.caller.actor())
	return reply{status: http.StatusNoContent}, nil
}
