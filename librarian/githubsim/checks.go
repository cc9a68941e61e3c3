package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"
)

// MaxCheckText is the longest summary or text of a check run's output, in characters; GitHub answers 422 to more.
const MaxCheckText = 65535

// CheckRun is a check run as it was when it was read.
type CheckRun struct {
	ID         int64
	App        string // its slug
	Name       string
	HeadSHA    string
	ExternalID string
	Status     string // "queued", "in_progress" or "completed"
	Conclusion string // "" until it is completed
	Title      string
	Summary    string
	Text       string
	URL        string // on the web
}

type checkRun struct {
	CheckRun
	repo               *repo
	app                *app
	detailsURL         string
	started, completed time.Time
}

var (
	checkStatuses    = []string{"queued", "in_progress", "completed"}
	checkConclusions = []string{"action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"}
)

// CheckRuns lists the check runs of a repository, oldest first; with a sha only those of that commit.
func (s *Server) CheckRuns(fullName, sha string) []CheckRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err != nil {
		return nil
	}
	var list []CheckRun
	for _, x := range r.checks {
		if sha == "" || x.HeadSHA == sha {
			one := x.CheckRun
			one.URL = s.checkURL(x)
			list = append(list, one)
		}
	}
	return list
}

func (s *Server) checkURL(x *checkRun) string {
	return fmt.Sprintf("%s/%s/runs/%d", s.base, x.repo.fullName(), x.ID)
}

func (s *Server) checkJSON(x *checkRun) object {
	u := s.api("/repos/%s/check-runs/%d", x.repo.fullName(), x.ID)
	details := x.detailsURL
	if details == "" {
		details = s.checkURL(x)
	}
	pulls := []object{}
	for _, i := range x.repo.issues {
		if i.pull != nil && i.open && i.pull.headSHA == x.HeadSHA && i.pull.headRepo == x.repo {
			pulls = append(pulls, s.pullRefJSON(i))
		}
	}
	return object{"id": x.ID, "name": x.Name, "node_id": nodeID("CR", x.ID), "head_sha": x.HeadSHA, "external_id": x.ExternalID, "url": u,
		"html_url": s.checkURL(x), "details_url": details, "status": x.Status, "conclusion": orNil(x.Conclusion),
		"started_at": stampOrNil(x.started), "completed_at": stampOrNil(x.completed), "check_suite": object{"id": x.app.hookID},
		"app": s.appJSON(x.app), "pull_requests": pulls, "output": object{"title": orNil(x.Title), "summary": orNil(x.Summary),
			"text": orNil(x.Text), "annotations_count": 0, "annotations_url": u + "/annotations"}}
}

// pullRefJSON is the least that GitHub tells of a pull request.
func (s *Server) pullRefJSON(i *issue) object {
	brief := func(r *repo) object {
		return object{"id": r.id, "url": s.api("/repos/%s", r.fullName()), "name": r.name}
	}
	return object{"id": i.pull.id, "number": i.number, "url": s.pullURL(i),
		"head": object{"ref": i.pull.headRef, "sha": i.pull.headSHA, "repo": brief(i.pull.headRepo)},
		"base": object{"ref": i.pull.baseRef, "sha": i.pull.baseSHA, "repo": brief(i.repo)}}
}

// checkInput is what a check run can be made of or changed to; nil leaves a field as it is.
type checkInput struct {
	Name        *string    `json:"name"`
	HeadSHA     string     `json:"head_sha"`
	DetailsURL  *string    `json:"details_url"`
	ExternalID  *string    `json:"external_id"`
	Status      *string    `json:"status"`
	Conclusion  *string    `json:"conclusion"`
	StartedAt   *time.Time `json:"started_at"`
	CompletedAt *time.Time `json:"completed_at"`
	Output      *struct {
		Title   *string `json:"title"`
		Summary *string `json:"summary"`
		Text    *string `json:"text"`
	} `json:"output"`
}

func (in checkInput) check() error {
	const kind = "CheckRun"
	set := func(p *string) string {
		if p == nil {
			return ""
		}
		return *p
	}
	switch {
	case in.Status != nil && !slices.Contains(checkStatuses, *in.Status):
		return unprocessable(kind, "status", "invalid", "status is not one of queued, in_progress, completed")
	case in.Conclusion != nil && !slices.Contains(checkConclusions, *in.Conclusion):
		return unprocessable(kind, "conclusion", "invalid", "conclusion is not known")
	case set(in.Status) == "completed" && in.Conclusion == nil:
		return unprocessable(kind, "conclusion", "missing_field", "conclusion is required when status is completed")
	case in.Output == nil:
		return nil
	case in.Output.Summary == nil:
		return unprocessable(kind, "output.summary", "missing_field", "summary is required")
	}
	for name, text := range map[string]*string{"summary": in.Output.Summary, "text": in.Output.Text} {
		if utf8.RuneCountInString(set(text)) > MaxCheckText {
			return unprocessable(kind, "output."+name, "invalid", "Only 65535 characters are allowed; "+name+" is too long")
		}
	}
	return nil
}

// apply changes a check run; a conclusion completes it.
func (in checkInput) apply(x *checkRun, now time.Time) {
	for _, f := range []struct{ to, from *string }{{&x.Name, in.Name}, {&x.detailsURL, in.DetailsURL}, {&x.ExternalID, in.ExternalID},
		{&x.Status, in.Status}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if in.StartedAt != nil {
		x.started = *in.StartedAt
	}
	switch {
	case in.Conclusion != nil:
		x.Status, x.Conclusion, x.completed = "completed", *in.Conclusion, now
		if in.CompletedAt != nil {
			x.completed = *in.CompletedAt
		}
	case in.Status != nil:
		x.Conclusion, x.completed = "", time.Time{}
	}
	if in.Output == nil {
		return
	}
	for _, f := range []struct{ to, from *string }{{&x.Title, in.Output.Title}, {&x.Summary, in.Output.Summary}, {&x.Text, in.Output.Text}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
}

// onlyApps refuses people: check runs are written by Apps alone.
func (c *call) onlyApps() error {
	if c.caller.kind == UserToken {
		return &apiError{status: http.StatusForbidden, message: "You must authenticate via a GitHub App."}
	}
	return nil
}

// createCheckRun makes a check run on a commit of the repository.
// https://docs.github.com/en/rest/checks/runs#create-a-check-run
func createCheckRun(c *call) (reply, error) {
	r, err := c.openRepo(writes("write", "checks"))
	if err != nil {
		return reply{}, err
	}
	if err := c.onlyApps(); err != nil {
		return reply{}, err
	}
	var in checkInput
	if err := c.input(&in); err != nil {
		return reply{}, err
	}
	if in.Name == nil || *in.Name == "" || in.HeadSHA == "" {
		return reply{}, unprocessable("CheckRun", "name", "missing_field", "name and head_sha are required")
	}
	if err := in.check(); err != nil {
		return reply{}, err
	}
	sha, err := r.dir.resolve(c.r.Context(), in.HeadSHA, "commit")
	if err != nil || sha != in.HeadSHA {
		return reply{}, &apiError{status: http.StatusUnprocessableEntity, message: "No commit found for SHA: " + in.HeadSHA}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	home := c.world.repos[r.id]
	if home == nil {
		return reply{}, notFound()
	}
	x := &checkRun{CheckRun: CheckRun{ID: c.world.id(), App: c.caller.app.Slug, HeadSHA: sha, Status: "queued"}, repo: home, app: c.caller.app, started: c.now()}
	in.apply(x, c.now())
	home.checks = append(home.checks, x)
	return reply{status: http.StatusCreated, body: c.checkJSON(x), header: location(c.api("/repos/%s/check-runs/%d", home.fullName(), x.ID))}, nil
}

// targetCheck finds the check run of the path.
func (c *call) targetCheck(n need) (*checkRun, error) {
	r, err := c.target(n)
	if err != nil {
		return nil, err
	}
	id, err := c.id("id")
	if err != nil {
		return nil, err
	}
	for _, x := range r.checks {
		if x.ID == id {
			return x, nil
		}
	}
	return nil, notFound()
}

func getCheckRun(c *call) (reply, error) {
	x, err := c.targetCheck(reads("checks"))
	if err != nil {
		return reply{}, err
	}
	return ok(c.checkJSON(x))
}

func editCheckRun(c *call) (reply, error) {
	x, err := c.targetCheck(writes("write", "checks"))
	if err != nil {
		return reply{}, err
	}
	if err := c.onlyApps(); err != nil {
		return reply{}, err
	}
	if x.app != c.caller.app {
		return reply{}, &apiError{status: http.StatusForbidden,
			message: fmt.Sprintf("Invalid app_id `%d` - check run can only be modified by the GitHub App that created it.", c.caller.app.ID)}
	}
	var in checkInput
	if err := c.input(&in); err != nil {
		return reply{}, err
	}
	if err := in.check(); err != nil {
		return reply{}, err
	}
	in.apply(x, c.now())
	return ok(c.checkJSON(x))
}

// commitCheckRuns lists the check runs of a commit, newest first: by default, and with filter=latest, only the last of each name.
// https://docs.github.com/en/rest/checks/runs#list-check-runs-for-a-git-reference
func commitCheckRuns(c *call) (reply, error) {
	r, err := c.openRepo(reads("checks"))
	if err != nil {
		return reply{}, err
	}
	sha, err := r.dir.commit(c.r.Context(), c.params["ref"], r.defaultBranch)
	if err != nil {
		return reply{}, &apiError{status: http.StatusUnprocessableEntity, message: "No commit found for SHA: " + c.params["ref"]}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	home := c.world.repos[r.id]
	if home == nil {
		return reply{}, notFound()
	}
	list, last := []*checkRun{}, map[string]bool{}
	for _, x := range slices.Backward(home.checks) {
		fits := x.HeadSHA == sha
		for key, value := range map[string]string{"check_name": x.Name, "status": x.Status, "app_id": fmt.Sprint(x.app.ID)} {
			fits = fits && (c.query.Get(key) == "" || c.query.Get(key) == value)
		}
		name := x.App + "\x00" + x.Name
		if !fits || last[name] && c.query.Get("filter") != "all" {
			continue
		}
		last[name] = true
		list = append(list, x)
	}
	part, h := pageOf(c, list)
	out := []object{}
	for _, x := range part {
		out = append(out, c.checkJSON(x))
	}
	return reply{body: object{"total_count": len(list), "check_runs": out}, header: h}, nil
}
