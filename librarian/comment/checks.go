package comment

import (
	"context"
	"fmt"
	"net/http"

	"github.com/librarian-app/librarian/librarian"
)

// checks answer what has no thread: by a check run of a commit, one for each run, which shows the progress until it shows the
// answer. It is found again by its external id. What shows progress has the check run's id with its sign turned: when that is
// removed after the answer was given, the answer stays.
type checks struct {
	p *Poster
	t target
}

// checkName is how the check is called in the list of a commit's checks.
const checkName = "librarian"

// maxOutput is GitHub's limit for a check run's summary, in characters. See
// https://docs.github.com/en/rest/checks/runs#create-a-check-run.
const maxOutput = 65_535

type checkOutput struct {
	Title   string `json:"title"`
	Summary string `json:"summary"`
}

// checkRun is what we send and get of one. What is empty is not sent: an ended check run keeps its end.
type checkRun struct {
	ID         int64       `json:"id,omitempty"`
	Name       string      `json:"name,omitempty"`
	SHA        string      `json:"head_sha,omitempty"`
	ExternalID string      `json:"external_id,omitempty"`
	Status     string      `json:"status,omitempty"`
	Conclusion string      `json:"conclusion,omitempty"`
	URL        string      `json:"html_url,omitempty"`
	Output     checkOutput `json:"output"`
	App        *struct {
		ID int64 `json:"id"`
	} `json:"app,omitempty"`
}

func (c checkRun) remark(post librarian.Post) *remark {
	r := &remark{id: c.ID, url: c.URL, body: c.Output.Summary, done: c.Status == "completed"}
	if post.Role == librarian.RoleProgress {
		r.id = -r.id
	}
	return r
}

func abs(id int64) int64 { return max(id, -id) }

func (m checks) ours(c checkRun) bool {
	return m.p.opts.AppID > 0 && c.App != nil && c.App.ID == m.p.opts.AppID
}

// externalID is the run's id, with the part behind it from the second on.
func externalID(post librarian.Post) string {
	if post.Part > 1 {
		return fmt.Sprintf("%s/%d", post.Run, post.Part)
	}
	return string(post.Run)
}

func (m checks) one(ctx context.Context, id int64) (*remark, error) {
	var c checkRun
	if _, err := m.t.call(ctx, http.MethodGet, fmt.Sprintf("check-runs/%d", abs(id)), nil, &c); err != nil {
		return nil, err
	}
	if !m.ours(c) || m.t.place.SHA != "" && c.SHA != m.t.place.SHA {
		return nil, nil
	}
	r := c.remark(librarian.Post{})
	r.id = id
	return r, nil
}

func (m checks) search(ctx context.Context, post librarian.Post, _ string) (*remark, error) {
	sha, err := m.sha(ctx, post.Run)
	if err != nil {
		return nil, err
	}
	for page := 1; page <= maxPages; page++ {
		var got struct {
			Runs []checkRun `json:"check_runs"`
		}
		resp, err := m.t.call(ctx, http.MethodGet, fmt.Sprintf("commits/%s/check-runs?filter=all&per_page=%d&page=%d", sha, pageSize, page), nil, &got)
		if err != nil {
			return nil, err
		}
		for _, c := range got.Runs {
			if m.ours(c) && c.ExternalID == externalID(post) {
				return c.remark(post), nil
			}
		}
		if resp.NextPage == 0 {
			return nil, nil
		}
	}
	return nil, errTooMany
}

// sha is the commit that is answered at: the place's, else where the default branch stands when it is first asked for. It is
// kept for as long as this process lives, so that a push meanwhile does not split progress from answer.
func (m checks) sha(ctx context.Context, run librarian.RunID) (string, error) {
	if m.t.place.SHA != "" {
		return m.t.place.SHA, nil
	}
	if sha := m.p.head(run, ""); sha != "" {
		return sha, nil
	}
	var repo struct {
		Branch string `json:"default_branch"`
	}
	if _, err := m.t.call(ctx, http.MethodGet, "", nil, &repo); err != nil {
		return "", err
	}
	var ref struct {
		Object struct {
			SHA string `json:"sha"`
		} `json:"object"`
	}
	if _, err := m.t.call(ctx, http.MethodGet, "git/ref/heads/"+escape(repo.Branch), nil, &ref); err != nil {
		return "", err
	}
	return m.p.head(run, ref.Object.SHA), nil
}

// render is post as a check run.
func render(post librarian.Post, body string) (checkRun, error) {
	if n := len([]rune(body)); n > maxOutput {
		return checkRun{}, fmt.Errorf("%w: %d characters", librarian.ErrTooLong, n)
	}
	c := checkRun{Status: "completed", Conclusion: "neutral", Output: checkOutput{"Answer", body}}
	switch post.Role {
	case librarian.RoleProgress:
		c.Status, c.Conclusion, c.Output.Title = "in_progress", "", "Working"
	case librarian.RoleRefusal:
		c.Output.Title = "Not answered"
	}
	if post.Of > 1 {
		c.Output.Title += fmt.Sprintf(" (%d of %d)", max(post.Part, 1), post.Of)
	}
	return c, nil
}

func (m checks) create(ctx context.Context, k kind, post librarian.Post, body string) (*remark, error) {
	c, err := render(post, body)
	if err != nil {
		return nil, err
	}
	if c.SHA, err = m.sha(ctx, post.Run); err != nil {
		return nil, err
	}
	c.Name, c.ExternalID = checkName, externalID(post)
	if post.Part > 1 { // of two check runs with one name GitHub shows the newer one alone
		c.Name = fmt.Sprintf("%s (%d)", checkName, post.Part)
	}
	var made checkRun
	if err := m.p.write(ctx, m.t, k, http.MethodPost, "check-runs", c, &made); err != nil {
		return nil, err
	}
	return made.remark(post), nil
}

func (m checks) edit(ctx context.Context, k kind, post librarian.Post, r *remark, body string) error {
	if r.done && post.Role == librarian.RoleProgress {
		return nil // the answer is there
	}
	c, err := render(post, body)
	if err != nil {
		return err
	}
	return m.p.write(ctx, m.t, k, http.MethodPatch, fmt.Sprintf("check-runs/%d", abs(r.id)), c, nil)
}

// remove takes away what is shown; a check run itself cannot be deleted.
func (m checks) remove(ctx context.Context, r *remark) error {
	if r.id < 0 && r.done {
		return nil
	}
	c := checkRun{Status: "completed", Conclusion: "neutral", Output: checkOutput{"Withdrawn", "What was shown here was withdrawn."}}
	return m.p.write(ctx, m.t, withdrawal, http.MethodPatch, fmt.Sprintf("check-runs/%d", abs(r.id)), c, nil)
}
