package githubsim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-github/v66/github"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/stretchr/testify/require"
)

// TestEveryEndpointAnswers calls each endpoint once with what it needs. That each answer is as GitHub describes it is
// checked by the way; see conforming.
func TestEveryEndpointAnswers(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	s.listen(accepted)
	// Two issues and a pull request, with a comment, a label and reactions.
	_, err := s.OpenIssue("acme/widget", "eve", "How?", "so")
	require.NoError(t, err)
	_, err = s.OpenPull("acme/widget", "ann", githubsim.PullOptions{Title: "P", Head: "main", Base: "feature/x"})
	require.NoError(t, err)
	comment, err := s.Comment("acme/widget", 1, "librarian[bot]", "thus")
	require.NoError(t, err)
	inline, err := s.ReviewComment("acme/widget", 2, "bob", githubsim.ReviewCommentOptions{Path: "src/query.go", Line: 3, Body: "why?"})
	require.NoError(t, err)
	check, _, err := s.asInstallation().Checks.CreateCheckRun(t.Context(), "acme", "widget", github.CreateCheckRunOptions{Name: "librarian", HeadSHA: s.head})
	require.NoError(t, err)
	for _, id := range []int64{comment.ID, inline.ID} {
		require.NoError(t, s.React(id, "librarian[bot]", "eyes"))
	}
	require.NoError(t, s.WaitDeliveries(t.Context()))
	repo, err := s.Repo("acme/widget")
	require.NoError(t, err)
	require.NoError(t, s.AddMember("acme", "ann", true))
	inst := s.token(nil)
	user, err := s.CreateUserToken("ann")
	require.NoError(t, err)
	jwtText := jwt(t, appKey(), `{"alg":"RS256"}`, fmt.Sprintf(`{"iss":%d,"iat":%d,"exp":%d}`, s.app.ID, s.clock.Now().Unix(), s.clock.Now().Unix()+300))
	reaction := func() int64 {
		r, _, err := s.asInstallation().Reactions.CreateIssueReaction(t.Context(), "acme", "widget", 1, "rocket")
		require.NoError(t, err)
		return r.GetID()
	}
	delivery := s.Deliveries()[0].ID
	tag := git(t, s.repo, "rev-parse", "v2")
	blob := git(t, s.repo, "rev-parse", "main:README.md")
	last := map[string]bool{"DELETE /installation/token": true, "DELETE /app/installations/{id}": true} // they end what the others need

	fill := func(path string) string {
		for from, to := range map[string]string{
			"{owner}": "acme", "{repo}": "widget", "{repo_id}": fmt.Sprint(repo.ID), "{login}": "acme", "{user}": "ann", "{number}": "1",
			"{path...}": "src/main.go", "{branch...}": "main", "{name}": "bug", "{reaction}": "0",
		} {
			path = strings.ReplaceAll(path, from, to)
		}
		for _, x := range []struct{ in, from, to string }{
			{"/pulls/comments/{id}", "{id}", fmt.Sprint(inline.ID)}, {"/pulls/1/comments/{id}", "{id}", fmt.Sprint(inline.ID)},
			{"/check-runs/{id}", "{id}", fmt.Sprint(check.GetID())}, {"/{ref}/check-runs", "{ref}", "main"},
			{"/reviews/{id}", "{id}", fmt.Sprint(inline.Review)},
			{"/comments/{id}", "{id}", fmt.Sprint(comment.ID)}, {"/installations/{id}", "{id}", fmt.Sprint(s.inst.ID)},
			{"/deliveries/{id}", "{id}", fmt.Sprint(delivery)}, {"/user/{id}", "{id}", fmt.Sprint(s.app.BotUserID)},
			{"/git/ref/", "{ref...}", "heads/main"}, {"/git/matching-refs/", "{ref...}", "heads/"}, {"/commits/", "{ref...}", "main"},
			{"/git/tags/", "{sha}", tag}, {"/git/blobs/", "{sha}", blob}, {"/git/trees/", "{sha...}", "main"}, {"/git/commits/", "{sha}", s.head},
			{"/pulls/1", "/pulls/1", "/pulls/2"},
		} {
			if strings.Contains(path, x.in) {
				path = strings.ReplaceAll(path, x.from, x.to)
			}
		}
		switch path {
		case "/search/code":
			path += "?q=prepareQuery"
		case "/search/repositories":
			path += "?q=widget"
		}
		return path
	}
	bodies := map[string]string{"comments": `{"body":"x"}`, "replies": `{"body":"x"}`, "reactions": `{"content":"rocket"}`, "issues": `{"title":"x"}`, "labels": `{"labels":["x"]}`,
		"{number}": `{"title":"y"}`, "{id}": `{"body":"y"}`}
	call := func(endpoint string) {
		method, path, _ := strings.Cut(endpoint, " ")
		token := inst
		switch {
		case strings.HasPrefix(path, "/app") || strings.HasSuffix(path, "/installation"):
			token = jwtText
		case path == "/user":
			token = user
		}
		where := fill(path)
		if strings.Contains(path, "{reaction}") {
			id := reaction()
			if strings.Contains(path, "/comments/") {
				on := comment.ID
				if strings.Contains(path, "/pulls/") {
					on = inline.ID
				}
				id = s.Reactions(on)[0].ID
				require.NoError(t, s.React(on, "librarian[bot]", "heart"))
			}
			where = strings.Replace(where, "/reactions/0", fmt.Sprint("/reactions/", id), 1)
		}
		if endpoint == "DELETE /repos/{owner}/{repo}/pulls/comments/{id}" || endpoint == "DELETE /repositories/{repo_id}/pulls/comments/{id}" {
			c, err := s.ReplyReviewComment(inline.ID, "ann", "short-lived")
			require.NoError(t, err)
			where = strings.Replace(where, fmt.Sprint(inline.ID), fmt.Sprint(c.ID), 1)
		}
		body := ""
		if method == "POST" || method == "PATCH" {
			body = bodies[path[strings.LastIndex(path, "/")+1:]]
			switch {
			case strings.HasSuffix(path, "/check-runs"):
				body = fmt.Sprintf(`{"name":"other","head_sha":%q,"output":{"title":"T","summary":"S"}}`, s.head)
			case strings.HasSuffix(path, "/check-runs/{id}"):
				body = `{"status":"completed","conclusion":"neutral","output":{"title":"T","summary":"S","text":"X"}}`
			case strings.HasSuffix(path, "/dispatches"):
				body, token = `{"event_type":"librarian","client_payload":{"question":"q"}}`, user
			case strings.HasSuffix(path, "/pulls/{number}/comments"):
				body = fmt.Sprintf(`{"body":"x","path":"src/query.go","line":2,"commit_id":%q}`, s.head)
			}
		}
		switch {
		case method == "POST" && strings.HasSuffix(path, "/pulls"):
			body, token = `{"title":"x","body":"y","head":"main","base":"feature/x"}`, user
		case method == "POST" && strings.HasSuffix(path, "/reviews"):
			body, token = `{"body":"x","event":"COMMENT","comments":[{"path":"src/query.go","line":2,"body":"y"}]}`, user
		case method == "PUT" && strings.HasSuffix(path, "/reviews/{id}"):
			r, err := s.Review("acme/widget", 2, "ann", githubsim.ReviewOptions{Body: "x"})
			require.NoError(t, err)
			body, token, where = `{"body":"y"}`, user, strings.Replace(where, fmt.Sprint(inline.Review), fmt.Sprint(r.ID), 1)
		}
		if strings.HasSuffix(path, "/labels/{name}") {
			require.NoError(t, s.LabelIssue("acme/widget", 1, "ann", "bug"))
		}
		if method == "DELETE" && strings.HasSuffix(path, "/issues/comments/{id}") {
			c, err := s.Comment("acme/widget", 1, "librarian[bot]", "short-lived")
			require.NoError(t, err)
			where = strings.Replace(where, fmt.Sprint(comment.ID), fmt.Sprint(c.ID), 1)
		}
		got := s.call(method, where, token, body)
		require.Less(t, got.status, 300, "%s: %s %s", endpoint, where, got.body)
		require.NotEmpty(t, got.header.Get("X-RateLimit-Limit"))
		if strings.Contains(path, "{number}/lock") {
			require.NoError(t, s.LockIssue("acme/widget", 1, "ann", false))
		}
	}
	for _, e := range githubsim.Endpoints() {
		if !last[e] {
			call(e)
		}
	}
	call("DELETE /installation/token")
	call("DELETE /app/installations/{id}")
	got := s.call("GET", "/no/such/thing", "", "")
	require.Equal(t, 404, got.status)
	require.Equal(t, 404, s.call("PUT", "/rate_limit", "", "").status)
}
