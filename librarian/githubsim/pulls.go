package githubsim

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// PullOptions describes a pull request to be opened.
type PullOptions struct {
	Title, Body string
	Head        string // a branch or sha that is in the git repository of the base
	Base        string // the branch to merge into; "" means the default branch
	HeadRepo    string // owner/name of the fork it comes from; "" means the base itself
	ForkDeleted bool   // the fork is gone: head.repo is null
	Draft       bool
	Labels      []string
}

type pull struct {
	id               int64 // not that of the issue that it also is
	draft            bool
	reviews          []*review
	comments         []*reviewComment // on the diff
	headRef, headSHA string
	baseRef, baseSHA string
	headRepo         *repo // nil when the fork is gone
	headOwner        *account
	files            int
	added, removed   int
	commits          int
}

// OpenPull opens a pull request as somebody and writes refs/pull/N/head into the repository's git directory, which must
// therefore be the caller's to write.
func (s *Server) OpenPull(fullName, login string, o PullOptions) (Issue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err != nil {
		return Issue{}, fmt.Errorf("githubsim: open pull request: %w", err)
	}
	by, err := s.person(login)
	if err != nil {
		return Issue{}, fmt.Errorf("githubsim: open pull request: %w", err)
	}
	made, err := s.openPull(context.Background(), r, by, o)
	if err != nil {
		return Issue{}, fmt.Errorf("githubsim: open pull request: %w", err)
	}
	return s.issueSnapshot(made), nil
}

func (s *Server) openPull(ctx context.Context, r *repo, by actor, o PullOptions) (made *issue, err error) {
	if r.dir == nil {
		return nil, fmt.Errorf("%s has no code", r.fullName())
	}
	if o.Base == "" {
		o.Base = r.defaultBranch
	}
	p := &pull{id: s.world.id(), draft: o.Draft, headRef: o.Head, baseRef: o.Base, headRepo: r, headOwner: r.owner, commits: 1}
	if o.HeadRepo != "" {
		if p.headRepo, err = s.repo(o.HeadRepo); err != nil {
			return nil, err
		}
		p.headOwner = p.headRepo.owner
	}
	if o.ForkDeleted {
		p.headRepo = nil
	}
	if p.headSHA, err = r.dir.commit(ctx, o.Head, r.defaultBranch); err != nil {
		return nil, fmt.Errorf("head %s: %w", o.Head, err)
	}
	if p.baseSHA, err = r.dir.commit(ctx, "refs/heads/"+o.Base, r.defaultBranch); err != nil {
		return nil, fmt.Errorf("base %s: %w", o.Base, err)
	}
	if err := s.countPull(ctx, r, p); err != nil {
		return nil, err
	}
	if err := r.dir.setRef(ctx, fmt.Sprintf("refs/pull/%d/head", r.lastNumber+1), p.headSHA); err != nil {
		return nil, err
	}
	return s.addIssue(r, by, o.Title, o.Body, p, o.Labels), nil
}

// countPull fills in the numbers that GitHub shows: files, lines, commits.
func (s *Server) countPull(ctx context.Context, r *repo, p *pull) error {
	out, err := r.dir.run(ctx, 64<<20, "diff", "--numstat", "--no-ext-diff", "--no-textconv", p.baseSHA+"..."+p.headSHA)
	if err != nil {
		return err
	}
	p.files, p.added, p.removed = 0, 0, 0
	for line := range strings.SplitSeq(string(out), "\n") {
		var a, d int
		if _, err := fmt.Sscan(line, &a, &d); err != nil && line == "" {
			continue // a binary file has no numbers and is a file all the same
		}
		p.files, p.added, p.removed = p.files+1, p.added+a, p.removed+d
	}
	if out, err = r.dir.run(ctx, 4096, "rev-list", "--count", p.baseSHA+".."+p.headSHA); err != nil {
		return err
	}
	_, err = fmt.Sscan(string(out), &p.commits)
	return err
}

// PushPull moves a pull request's head to another commit, as a push or a force-push to its branch does.
func (s *Server) PushPull(fullName string, number int, login, head string) error {
	return s.onIssue("push to pull request", fullName, number, login, func(i *issue, by actor) error {
		if i.pull == nil {
			return fmt.Errorf("#%d is no pull request", number)
		}
		ctx := context.Background()
		sha, err := i.repo.dir.commit(ctx, head, i.repo.defaultBranch)
		if err != nil {
			return fmt.Errorf("head %s: %w", head, err)
		}
		if err := i.repo.dir.setRef(ctx, fmt.Sprintf("refs/pull/%d/head", number), sha); err != nil {
			return err
		}
		before := i.pull.headSHA
		i.pull.headSHA, i.updated = sha, s.now()
		if err := s.countPull(ctx, i.repo, i.pull); err != nil {
			return err
		}
		s.markOutdated(i)
		s.emitIssue(i, by, "synchronize", object{"before": before, "after": sha})
		return nil
	})
}

func (s *Server) pullJSON(i *issue) object {
	p := i.pull
	o := s.issueJSON(i)
	u := s.api("/repos/%s/pulls/%d", i.repo.fullName(), i.number)
	issueURL := s.api("/repos/%s/issues/%d", i.repo.fullName(), i.number)
	statuses := s.api("/repos/%s/statuses/%s", i.repo.fullName(), p.headSHA)
	for _, k := range []string{"repository_url", "labels_url", "events_url", "timeline_url", "pull_request", "performed_via_github_app",
		"reactions", "state_reason"} {
		delete(o, k)
	}
	var headRepo any
	if p.headRepo != nil && !p.headRepo.deleted {
		headRepo = s.repoJSON(p.headRepo, nil)
	}
	headRef := strings.TrimPrefix(p.headRef, "refs/heads/")
	link := func(u string) object { return object{"href": u} }
	maps.Copy(o, (object{
		"url": u, "issue_url": issueURL, "diff_url": s.issueURL(i) + ".diff", "patch_url": s.issueURL(i) + ".patch", "id": p.id,
		"node_id": nodeID("PR", p.id), "draft": p.draft, "merged_at": nil, "merge_commit_sha": nil, "requested_reviewers": []object{}, "requested_teams": []object{},
		"commits_url": u + "/commits", "review_comments_url": u + "/comments", "review_comment_url": s.api("/repos/%s/pulls/comments{/number}", i.repo.fullName()),
		"comments_url": issueURL + "/comments", "statuses_url": statuses, "auto_merge": nil, "merged": false, "mergeable": nil, "rebaseable": nil,
		"mergeable_state": "unknown", "merged_by": nil, "review_comments": len(p.comments), "maintainer_can_modify": false, "commits": p.commits,
		"additions": p.added, "deletions": p.removed, "changed_files": p.files,
		"head": object{"label": p.headOwner.Login + ":" + headRef, "ref": headRef, "sha": p.headSHA, "user": s.userJSON(p.headOwner), "repo": headRepo},
		"base": object{"label": i.repo.owner.Login + ":" + p.baseRef, "ref": p.baseRef, "sha": p.baseSHA, "user": s.userJSON(i.repo.owner),
			"repo": s.repoJSON(i.repo, nil)},
		"_links": object{"self": link(u), "html": link(s.issueURL(i)), "issue": link(issueURL), "comments": link(issueURL + "/comments"),
			"review_comments": link(u + "/comments"), "review_comment": link(s.api("/repos/%s/pulls/comments{/number}", i.repo.fullName())),
			"commits": link(u + "/commits"), "statuses": link(statuses)},
	}))
	return o
}

// shortPull is a pull request in lists and in the events of what hangs on it: without what is counted or computed.
func (s *Server) shortPull(i *issue) object {
	o := s.pullJSON(i)
	for _, k := range []string{"merged", "mergeable", "rebaseable", "mergeable_state", "merged_by", "comments", "review_comments",
		"maintainer_can_modify", "commits", "additions", "deletions", "changed_files"} {
		delete(o, k)
	}
	return o
}

// targetPull finds the pull request of the path.
func (c *call) targetPull(n need) (*issue, error) {
	r, err := c.target(n)
	if err != nil {
		return nil, err
	}
	number, err := c.id("number")
	if err != nil {
		return nil, err
	}
	if i := r.issue(number); i != nil && i.pull != nil {
		return i, nil
	}
	return nil, notFound()
}

func getPull(c *call) (reply, error) {
	i, err := c.targetPull(reads("pull_requests"))
	if err != nil {
		return reply{}, err
	}
	return ok(c.pullJSON(i))
}

// createPull opens a pull request between two branches of one repository.
// https://docs.github.com/en/rest/pulls/pulls#create-a-pull-request
func createPull(c *call) (reply, error) {
	r, err := c.target(writes("read", "pull_requests"))
	if err != nil {
		return reply{}, err
	}
	var in struct {
		Title string `json:"title"`
		Body  string `json:"body"`
		Head  string `json:"head"`
		Base  string `json:"base"`
		Draft bool   `json:"draft"`
	}
	if err := c.input(&in); err != nil {
		return reply{}, err
	}
	const kind = "PullRequest"
	switch {
	case strings.TrimSpace(in.Title) == "":
		return reply{}, unprocessable(kind, "title", "missing_field", "title can't be blank")
	case in.Base == "":
		return reply{}, unprocessable(kind, "base", "missing_field", "base can't be blank")
	}
	if err := checkBody(kind, in.Body); err != nil {
		return reply{}, err
	}
	head := strings.TrimPrefix(in.Head, r.owner.Login+":") // GitHub takes both forms
	if r.dir != nil {
		if _, err := r.dir.commit(c.r.Context(), "refs/heads/"+head, r.defaultBranch); err != nil {
			return reply{}, unprocessable(kind, "head", "invalid", "head is not a branch here")
		}
	}
	i, err := c.openPull(c.r.Context(), r, c.caller.actor(), PullOptions{Title: in.Title, Body: in.Body, Head: head, Base: in.Base, Draft: in.Draft})
	if err != nil {
		return reply{}, unprocessable(kind, "base", "invalid", err.Error())
	}
	return reply{status: http.StatusCreated, body: c.pullJSON(i), header: location(c.pullURL(i))}, nil
}

func listPulls(c *call) (reply, error) {
	r, err := c.target(reads("pull_requests"))
	if err != nil {
		return reply{}, err
	}
	state := c.query.Get("state")
	var all []*issue
	for _, v := range slices.Backward(r.issues) {
		if i := v; i.pull != nil && (state == "all" || i.open == (state != "closed")) {
			all = append(all, i)
		}
	}
	part, h := pageOf(c, all)
	out := []object{}
	for _, i := range part {
		out = append(out, c.shortPull(i))
	}
	return reply{body: out, header: h}, nil
}

// maxPatch is the size from which a file is shown without its patch, in bytes; GitHub has such a bound and does not say which.
const maxPatch = 100 << 10

// addPatches gives files their hunks, where they are text and not too large; git lists both in one order.
func (c *call) addPatches(r repo, from, to string, files []object) error {
	out, err := r.dir.run(c.r.Context(), 64<<20, "diff-tree", "-r", "-M", "-p", "--no-color", "--no-ext-diff", "--no-textconv", from, to)
	if err != nil {
		return err
	}
	text := "\n" + string(out)
	for i, one := range strings.Split(text, "\ndiff --git ")[1:] {
		at := strings.Index(one, "\n@@ ")
		if i < len(files) && at >= 0 && len(one)-at < maxPatch {
			files[i]["patch"] = strings.TrimSuffix(one[at+1:], "\n")
		}
	}
	return nil
}

func pullFiles(c *call) (reply, error) {
	c.mu.Lock()
	i, err := c.targetPull(reads("pull_requests"))
	if err != nil {
		c.mu.Unlock()
		return reply{}, err
	}
	p, r := *i.pull, *i.repo
	c.mu.Unlock()
	out, err := r.dir.run(c.r.Context(), 4096, "merge-base", p.baseSHA, p.headSHA)
	if err != nil {
		return reply{}, &apiError{status: http.StatusUnprocessableEntity, message: "Sorry, there was a problem generating this diff."}
	}
	base := strings.TrimSpace(string(out))
	files, err := c.files(r, base, p.headSHA)
	if err != nil {
		return reply{}, err
	}
	if err := c.addPatches(r, base, p.headSHA, files); err != nil {
		return reply{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	part, h := pageOf(c, files[:min(len(files), 3000)])
	return reply{body: part, header: h}, nil
}
