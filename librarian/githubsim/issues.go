package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// threadNeed is what a caller needs for what hangs on a number; for a pull request either of two permissions will do.
func threadNeed(i *issue, write bool, role string) need {
	n := need{any: []string{"issues"}, write: write, role: role}
	if i.pull != nil {
		n.any = append(n.any, "pull_requests")
	}
	return n
}

// targetIssue finds the issue or pull request of the path.
func (c *call) targetIssue(write bool, role string) (*issue, error) {
	r, err := c.seen()
	if err != nil {
		return nil, err
	}
	number, err := c.id("number")
	if err != nil {
		return nil, err
	}
	i := r.issue(number)
	switch {
	case i == nil && r.moved[number] != nil:
		return nil, c.moved(r.moved[number])
	case i == nil && r.gone[number]:
		return nil, &apiError{status: http.StatusGone, message: "This issue was deleted"}
	case i == nil:
		return nil, notFound()
	}
	return i, c.permit(r, threadNeed(i, write, role))
}

// moved is the answer to a request for an issue that was transferred. See
// https://docs.github.com/en/rest/issues/issues#get-an-issue.
func (c *call) moved(i *issue) error {
	_, rest, _ := strings.Cut(c.r.URL.EscapedPath(), "/issues/"+c.params["number"])
	to := c.api("/repositories/%d/issues/%d", i.repo.id, i.number) + rest
	if c.r.URL.RawQuery != "" {
		to += "?" + c.r.URL.RawQuery
	}
	return &apiError{status: http.StatusMovedPermanently, message: "Moved Permanently", header: http.Header{"Location": {to}}, extra: object{"url": to}}
}

func (s *Server) issueURL(i *issue) string {
	kind := "issues"
	if i.pull != nil {
		kind = "pull"
	}
	return fmt.Sprintf("%s/%s/%s/%d", s.base, i.repo.fullName(), kind, i.number)
}

func (s *Server) viaApp(by actor) any {
	if by.app == nil {
		return nil
	}
	return s.appJSON(by.app)
}

func (s *Server) issueJSON(i *issue) object {
	u := s.api("/repos/%s/issues/%d", i.repo.fullName(), i.number)
	state, labels := "open", []object{}
	if !i.open {
		state = "closed"
	}
	for _, l := range i.labels {
		labels = append(labels, s.labelJSON(i.repo, l))
	}
	o := object{
		"url": u, "repository_url": s.api("/repos/%s", i.repo.fullName()), "labels_url": u + "/labels{/name}", "comments_url": u + "/comments",
		"events_url": u + "/events", "timeline_url": u + "/timeline", "html_url": s.issueURL(i), "id": i.id, "node_id": nodeID("I", i.id),
		"number": i.number, "title": i.title, "user": s.userJSON(i.by.user), "labels": labels, "state": state, "state_reason": nil,
		"locked": i.locked, "active_lock_reason": orNil(i.lockReason), "assignee": nil, "assignees": []object{}, "milestone": nil,
		"comments": len(i.comments), "created_at": stamp(i.created), "updated_at": stamp(i.updated), "closed_at": stampOrNil(i.closed),
		"author_association": s.association(i.repo, i.by.user), "body": orNil(i.body), "reactions": reactionSummary(u+"/reactions", i.reactions),
		"performed_via_github_app": s.viaApp(i.by),
	}
	if !i.open && i.pull == nil {
		o["state_reason"] = "completed"
	}
	if i.pull != nil {
		o["draft"] = i.pull.draft
		o["pull_request"] = object{"url": s.api("/repos/%s/pulls/%d", i.repo.fullName(), i.number), "html_url": s.issueURL(i),
			"diff_url": s.issueURL(i) + ".diff", "patch_url": s.issueURL(i) + ".patch", "merged_at": nil}
	}
	return o
}

func listIssues(c *call) (reply, error) {
	r, err := c.target(reads("issues"))
	if err != nil {
		return reply{}, err
	}
	state, since := c.query.Get("state"), c.since()
	var labels []string
	if l := c.query.Get("labels"); l != "" {
		labels = strings.Split(l, ",")
	}
	var all []*issue
	for _, i := range r.issues {
		if i.open == (state == "closed") && state != "all" || i.updated.Before(since) {
			continue
		}
		if slices.ContainsFunc(labels, func(l string) bool { return !slices.Contains(i.labels, l) }) {
			continue
		}
		all = append(all, i)
	}
	if c.query.Get("direction") != "asc" {
		slices.Reverse(all)
	}
	part, h := pageOf(c, all)
	out := []object{}
	for _, i := range part {
		out = append(out, c.issueJSON(i))
	}
	return reply{body: out, header: h}, nil
}

// since is the query's lower bound of updated_at.
func (c *call) since() time.Time {
	t, err := time.Parse(time.RFC3339, c.query.Get("since"))
	if err != nil {
		return time.Time{}
	}
	return t
}

func checkBody(resource string, body string) error {
	if utf8.RuneCountInString(body) > MaxBody {
		return unprocessable(resource, "body", "unprocessable", "body is too long (maximum is 65536 characters)")
	}
	return nil
}

func createIssue(c *call) (reply, error) {
	r, err := c.target(writes("read", "issues"))
	if err != nil {
		return reply{}, err
	}
	var in struct {
		Title  *string  `json:"title"`
		Body   string   `json:"body"`
		Labels []string `json:"labels"`
	}
	if err := c.input(&in); err != nil {
		return reply{}, err
	}
	if in.Title == nil || strings.TrimSpace(*in.Title) == "" {
		return reply{}, unprocessable("Issue", "title", "missing_field", "title can't be blank")
	}
	if err := checkBody("Issue", in.Body); err != nil {
		return reply{}, err
	}
	i := c.addIssue(r, c.caller.actor(), *in.Title, in.Body, nil, in.Labels)
	return reply{status: http.StatusCreated, body: c.issueJSON(i), header: location(c.api("/repos/%s/issues/%d", r.fullName(), i.number))}, nil
}

func location(u string) http.Header { return http.Header{"Location": {u}} }

func getIssue(c *call) (reply, error) {
	i, err := c.targetIssue(false, "")
	if err != nil {
		return reply{}, err
	}
	o := c.issueJSON(i)
	o["closed_by"] = nil
	return ok(o)
}

func editIssue(c *call) (reply, error) {
	i, err := c.targetIssue(true, "")
	if err != nil {
		return reply{}, err
	}
	if c.caller.kind == UserToken && i.by.user != c.caller.user && roleRank(c.permission(i.repo, c.caller.user).permission) < roleRank("triage") {
		return reply{}, &apiError{status: http.StatusForbidden, message: "Must have admin rights to Repository."}
	}
	var in struct {
		Title *string `json:"title"`
		Body  *string `json:"body"`
		State string  `json:"state"`
	}
	if err := c.input(&in); err != nil {
		return reply{}, err
	}
	if in.Body != nil {
		if err := checkBody("Issue", *in.Body); err != nil {
			return reply{}, err
		}
	}
	c.changeIssue(i, c.caller.actor(), in.Title, in.Body)
	switch in.State {
	case "open", "closed":
		c.setOpen(i, c.caller.actor(), in.State == "open")
	case "":
	default:
		return reply{}, unprocessable("Issue", "state", "invalid", "state is not valid")
	}
	return ok(c.issueJSON(i))
}

func lockIssue(c *call) (reply, error) {
	i, err := c.targetIssue(true, "triage")
	if err != nil {
		return reply{}, err
	}
	var in struct {
		Reason string `json:"lock_reason"`
	}
	if err := c.input(&in); err != nil {
		return reply{}, err
	}
	c.setLocked(i, c.caller.actor(), true, in.Reason)
	return reply{status: http.StatusNoContent}, nil
}

func unlockIssue(c *call) (reply, error) {
	i, err := c.targetIssue(true, "triage")
	if err != nil {
		return reply{}, err
	}
	c.setLocked(i, c.caller.actor(), false, "")
	return reply{status: http.StatusNoContent}, nil
}
