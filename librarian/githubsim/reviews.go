package githubsim

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

func (s *Server) reviewURL(r *review) string {
	return fmt.Sprintf("%s#pullrequestreview-%d", s.issueURL(r.pull), r.id)
}

func (s *Server) reviewCommentURL(c *reviewComment) string {
	return fmt.Sprintf("%s#discussion_r%d", s.issueURL(c.pull), c.id)
}

func (s *Server) pullURL(i *issue) string {
	return s.api("/repos/%s/pulls/%d", i.repo.fullName(), i.number)
}

// reviewJSON is a review as the REST API shows it; events differ in the state's case and have null for an empty body.
func (s *Server) reviewJSON(r *review) object {
	html, pull := s.reviewURL(r), s.pullURL(r.pull)
	return object{"id": r.id, "node_id": nodeID("PRR", r.id), "user": s.userJSON(r.by.user), "body": r.body, "state": strings.ToUpper(r.state),
		"html_url": html, "pull_request_url": pull, "author_association": s.association(r.pull.repo, r.by.user),
		"_links":       object{"html": object{"href": html}, "pull_request": object{"href": pull}},
		"submitted_at": stamp(r.submitted), "commit_id": r.commit}
}

func (s *Server) emitReview(r *review, by actor, action string, more object) {
	one := s.reviewJSON(r)
	one["state"], one["body"] = r.state, orNil(r.body)
	s.emitPull(r.pull, by, "pull_request_review", action, object{"review": one}, more)
}

func (s *Server) emitReviewComment(c *reviewComment, by actor, action string, more object) {
	s.emitPull(c.pull, by, "pull_request_review_comment", action, object{"comment": s.reviewCommentJSON(c)}, more)
}

// emitPull sends an event that hangs on a pull request; unlike pull_request itself it shows the short form of that.
func (s *Server) emitPull(i *issue, by actor, event, action string, payload, more object) {
	maps.Copy(payload, more)
	payload["pull_request"] = s.shortPull(i)
	s.emit(i.repo, by, event, action, payload)
}

func (s *Server) reviewCommentJSON(c *reviewComment) object {
	u := s.api("/repos/%s/pulls/comments/%d", c.pull.repo.fullName(), c.id)
	html, pull := s.reviewCommentURL(c), s.pullURL(c.pull)
	link := func(u string) object { return object{"href": u} }
	o := object{
		"url": u, "pull_request_review_id": c.review.id, "id": c.id, "node_id": nodeID("PRRC", c.id), "diff_hunk": c.hunk, "path": c.path,
		"position": c.position, "original_position": c.position, "commit_id": c.commit, "original_commit_id": c.review.commit,
		"user": s.userJSON(c.by.user), "body": c.body, "created_at": stamp(c.created), "updated_at": stamp(c.updated), "html_url": html,
		"pull_request_url": pull, "author_association": s.association(c.pull.repo, c.by.user),
		"_links":     object{"self": link(u), "html": link(html), "pull_request": link(pull)},
		"start_line": intOrNil(c.start), "original_start_line": intOrNil(c.start), "start_side": nil, "line": intOrNil(c.line),
		"original_line": intOrNil(c.line), "side": c.side, "subject_type": "line", "reactions": reactionSummary(u+"/reactions", c.reactions),
	}
	if c.start > 0 {
		o["start_side"] = c.side
	}
	if c.line == 0 {
		o["subject_type"] = "file"
	}
	if c.outdated {
		o["line"], o["start_line"], o["position"] = nil, nil, nil
	}
	if c.root != nil {
		o["in_reply_to_id"] = c.root.id
	}
	return o
}

func intOrNil(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

func listReviews(c *call) (reply, error) {
	i, err := c.targetPull(reads("pull_requests"))
	if err != nil {
		return reply{}, err
	}
	part, h := pageOf(c, i.pull.reviews)
	out := []object{}
	for _, r := range part {
		out = append(out, c.reviewJSON(r))
	}
	return reply{body: out, header: h}, nil
}

// targetReview finds the review of the path.
func (c *call) targetReview() (*review, error) {
	i, err := c.targetPull(reads("pull_requests"))
	if err != nil {
		return nil, err
	}
	id, err := c.id("id")
	if err != nil {
		return nil, err
	}
	if r := c.world.reviews[id]; r != nil && r.pull == i {
		return r, nil
	}
	return nil, notFound()
}

func getReview(c *call) (reply, error) {
	r, err := c.targetReview()
	if err != nil {
		return reply{}, err
	}
	return ok(c.reviewJSON(r))
}

// reviewOwnComments lists a review's comments, which have no line numbers there, only positions.
// https://docs.github.com/en/rest/pulls/reviews#list-comments-for-a-pull-request-review
func reviewOwnComments(c *call) (reply, error) {
	r, err := c.targetReview()
	if err != nil {
		return reply{}, err
	}
	all := slices.DeleteFunc(slices.Clone(r.pull.pull.comments), func(x *reviewComment) bool { return x.review != r })
	part, h := pageOf(c, all)
	out := []object{}
	for _, x := range part {
		o := c.reviewCommentJSON(x)
		for _, k := range []string{"line", "original_line", "start_line", "original_start_line", "start_side", "side", "subject_type"} {
			delete(o, k)
		}
		out = append(out, o)
	}
	return reply{body: out, header: h}, nil
}

func (c *call) reviewCommentsReply(all []*reviewComment) (reply, error) {
	since := c.since()
	all = slices.DeleteFunc(slices.Clone(all), func(x *reviewComment) bool { return x.updated.Before(since) })
	if c.query.Get("direction") == "desc" && c.query.Get("sort") != "" {
		slices.Reverse(all)
	}
	part, h := pageOf(c, all)
	out := []object{}
	for _, x := range part {
		out = append(out, c.reviewCommentJSON(x))
	}
	return reply{body: out, header: h}, nil
}

func listReviewComments(c *call) (reply, error) {
	i, err := c.targetPull(reads("pull_requests"))
	if err != nil {
		return reply{}, err
	}
	return c.reviewCommentsReply(i.pull.comments)
}

func listRepoReviewComments(c *call) (reply, error) {
	r, err := c.target(reads("pull_requests"))
	if err != nil {
		return reply{}, err
	}
	var all []*reviewComment
	for _, i := range r.issues {
		if i.pull != nil {
			all = append(all, i.pull.comments...)
		}
	}
	slices.SortFunc(all, func(a, b *reviewComment) int { return int(a.id - b.id) })
	return c.reviewCommentsReply(all)
}

// openPullFor finds the pull request of the path for a caller who is about to write in it.
func (c *call) openPullFor(what string) (*issue, error) {
	i, err := c.targetPull(writes("read", "pull_requests"))
	if err != nil {
		return nil, err
	}
	return i, c.unlocked(i, what)
}

// createReviewComment writes on a line of the diff, or with in_reply_to in a thread.
// https://docs.github.com/en/rest/pulls/comments#create-a-review-comment-for-a-pull-request
func createReviewComment(c *call) (reply, error) {
	i, err := c.openPullFor("comment")
	if err != nil {
		return reply{}, err
	}
	var in struct {
		Body        string  `json:"body"`
		CommitID    string  `json:"commit_id"`
		Path        string  `json:"path"`
		Side        string  `json:"side"`
		Line        int     `json:"line"`
		StartLine   int     `json:"start_line"`
		InReplyTo   int64   `json:"in_reply_to"`
		SubjectType *string `json:"subject_type"`
	}
	if err := c.input(&in); err != nil {
		return reply{}, err
	}
	if in.InReplyTo != 0 {
		return c.reply(i, in.InReplyTo, in.Body)
	}
	const kind = "PullRequestReviewComment"
	switch {
	case strings.TrimSpace(in.Body) == "":
		return reply{}, unprocessable(kind, "body", "missing_field", "body can't be blank")
	case in.Path == "" || in.CommitID == "":
		return reply{}, unprocessable(kind, "path", "missing_field", "path and commit_id can't be blank")
	case in.CommitID != i.pull.headSHA:
		return reply{}, unprocessable(kind, "commit_id", "custom", "commit_id is not part of the pull request")
	case in.Line == 0 && (in.SubjectType == nil || *in.SubjectType != "file"):
		return reply{}, unprocessable(kind, "line", "missing_field", "line can't be blank")
	}
	if err := checkBody(kind, in.Body); err != nil {
		return reply{}, err
	}
	o := ReviewCommentOptions{Path: in.Path, Line: in.Line, StartLine: in.StartLine, Side: in.Side, Body: in.Body}
	at, err := c.findInDiff(i, &o)
	if errors.Is(err, errNotInDiff) {
		return reply{}, unprocessable(kind, "pull_request_review_thread.line", "custom", "pull_request_review_thread.line must be part of the diff")
	}
	if err != nil {
		return reply{}, err
	}
	return c.reviewCommentMade(c.addReviewComment(c.addReview(i, c.caller.actor(), "commented", ""), nil, o, at))
}

func (c *call) reviewCommentMade(x *reviewComment) (reply, error) {
	o := c.reviewCommentJSON(x)
	u, _ := o["url"].(string)
	return reply{status: http.StatusCreated, body: o, header: location(u)}, nil
}

// reply answers in a thread. Only its first comment may be named: GitHub takes no replies to replies.
// https://docs.github.com/en/rest/pulls/comments#create-a-reply-for-a-review-comment
func (c *call) reply(i *issue, id int64, body string) (reply, error) {
	const kind = "PullRequestReviewComment"
	root := c.world.reviewComments[id]
	switch {
	case root == nil || root.pull != i:
		return reply{}, notFound()
	case root.root != nil:
		return reply{}, unprocessable(kind, "in_reply_to", "invalid", "in_reply_to must be a top-level review comment")
	case strings.TrimSpace(body) == "":
		return reply{}, unprocessable(kind, "body", "missing_field", "body can't be blank")
	}
	if err := checkBody(kind, body); err != nil {
		return reply{}, err
	}
	return c.reviewCommentMade(c.replyTo(root, c.caller.actor(), body))
}

func replyToReviewComment(c *call) (reply, error) {
	i, err := c.openPullFor("comment")
	if err != nil {
		return reply{}, err
	}
	id, err := c.id("id")
	if err != nil {
		return reply{}, err
	}
	var in struct {
		Body string `json:"body"`
	}
	if err := c.input(&in); err != nil {
		return reply{}, err
	}
	return c.reply(i, id, in.Body)
}

// targetReviewComment finds the comment of the path.
func (c *call) targetReviewComment(n need) (*reviewComment, error) {
	r, err := c.seen()
	if err != nil {
		return nil, err
	}
	id, err := c.id("id")
	if err != nil {
		return nil, err
	}
	x := c.world.reviewComments[id]
	if x == nil || x.pull.repo != r {
		return nil, notFound()
	}
	return x, c.permit(r, n)
}

func getReviewComment(c *call) (reply, error) {
	x, err := c.targetReviewComment(reads("pull_requests"))
	if err != nil {
		return reply{}, err
	}
	return ok(c.reviewCommentJSON(x))
}

// changeable finds the comment of the path for a caller who may change it: its author, whoever may write to the repository, and
// an App with pull_requests:write.
func (c *call) changeable() (*reviewComment, error) {
	x, err := c.targetReviewComment(writes("", "pull_requests"))
	if err != nil {
		return nil, err
	}
	if c.caller.kind == UserToken && x.by.user != c.caller.user && roleRank(c.permission(x.pull.repo, c.caller.user).permission) < roleRank("write") {
		return nil, &apiError{status: http.StatusForbidden, message: "Must have admin rights to Repository."}
	}
	return x, nil
}

func editReviewComment(c *call) (reply, error) {
	x, err := c.changeable()
	if err != nil {
		return reply{}, err
	}
	body, err := c.commentInput()
	if err != nil {
		return reply{}, err
	}
	c.changeReviewComment(x, c.caller.actor(), body)
	return ok(c.reviewCommentJSON(x))
}

func deleteReviewComment(c *call) (reply, error) {
	x, err := c.changeable()
	if err != nil {
		return reply{}, err
	}
	c.removeReviewComment(x, c.caller.actor())
	return reply{status: http.StatusNoContent}, nil
}

func reviewCommentReactions(c *call) (reply, error) {
	x, err := c.targetReviewComment(reads("pull_requests"))
	if err != nil {
		return reply{}, err
	}
	return c.reactionsReply(x.reactions)
}

func reactToReviewComment(c *call) (reply, error) {
	x, err := c.targetReviewComment(writes("read", "pull_requests"))
	if err != nil {
		return reply{}, err
	}
	return c.react(x.pull, &x.reactions)
}

func unreactReviewComment(c *call) (reply, error) {
	x, err := c.targetReviewComment(writes("read", "pull_requests"))
	if err != nil {
		return reply{}, err
	}
	return c.unreact(&x.reactions)
}
