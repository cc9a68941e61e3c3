package githubsim_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/stretchr/testify/require"
)

func remaining(t *testing.T, a answer) int {
	t.Helper()
	n, err := strconv.Atoi(a.header.Get("X-RateLimit-Remaining"))
	require.NoError(t, err)
	return n
}

func TestConditionalRequests(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	_, err := s.OpenIssue("acme/widget", "eve", "How?", "")
	require.NoError(t, err)
	first, second := s.token(nil), s.token(nil)
	got := s.call("GET", "/repos/acme/widget/issues/1", first, "")
	require.Equal(t, "private, max-age=60, s-maxage=60", got.header.Get("Cache-Control"))
	require.Contains(t, got.header.Get("Vary"), "Authorization")
	require.NotEmpty(t, got.header.Get("X-GitHub-Request-Id"))
	tag := "If-None-Match: " + got.header.Get("ETag")
	again := s.call("GET", "/repos/acme/widget/issues/1", second, "", tag)
	require.Equal(t, 304, again.status)
	require.Empty(t, again.body)
	require.Equal(t, remaining(t, got), remaining(t, again), "a 304 is free")
	_, err = s.Comment("acme/widget", 1, "eve", "more")
	require.NoError(t, err)
	require.Equal(t, 200, s.call("GET", "/repos/acme/widget/issues/1", first, "", tag).status)
	all := s.Requests()
	require.True(t, all[len(all)-1].Conditional)

	perToken := start(t, githubsim.Options{ETagPerToken: true})
	first, second = perToken.token(nil), perToken.token(nil)
	tag = "If-None-Match: " + perToken.call("GET", "/repos/acme/widget", first, "").header.Get("ETag")
	require.Equal(t, 304, perToken.call("GET", "/repos/acme/widget", first, "", tag).status)
	require.Equal(t, 200, perToken.call("GET", "/repos/acme/widget", second, "", tag).status)
}

func TestRateLimits(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{Rate: githubsim.RateLimits{Installation: 3}})
	_, err := s.OpenIssue("acme/widget", "eve", "How?", "")
	require.NoError(t, err)
	c := s.asInstallation()
	for range 3 {
		_, _, err := c.Issues.Get(t.Context(), "acme", "widget", 1)
		require.NoError(t, err)
	}
	_, _, err = c.Issues.Get(t.Context(), "acme", "widget", 1)
	var limit *github.RateLimitError
	require.ErrorAs(t, err, &limit)
	require.WithinDuration(t, s.clock.Now().Add(time.Hour), limit.Rate.Reset.Time, time.Minute)
	for range 60 {
		require.Equal(t, 200, s.call("GET", "/rate_limit", "", "").status, "asking is free")
	}
	for range 60 {
		require.Equal(t, 200, s.call("GET", "/users/ann", "", "").status)
	}
	require.Equal(t, 403, s.call("GET", "/users/ann", "", "").status)
	s.clock.Add(time.Hour + time.Second)
	require.Equal(t, 200, s.call("GET", "/users/ann", "", "").status)
	require.Equal(t, 401, s.call("GET", "/users/ann", "bad", "").status)
}

// L1, L2
func TestL1_ContentIsLimited(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{ContentPerHour: 7, ContentPerMinute: 5})
	_, err := s.OpenIssue("acme/widget", "eve", "How?", "")
	require.NoError(t, err)
	token := s.token(nil)
	post := func() answer {
		return s.call("POST", "/repos/acme/widget/issues/1/comments", token, `{"body":"x"}`)
	}
	for range 5 {
		require.Equal(t, 201, post().status)
	}
	over := post()
	require.Equal(t, 403, over.status)
	require.Contains(t, over.body, "secondary rate limit")
	wait, err := strconv.Atoi(over.header.Get("Retry-After"))
	require.NoError(t, err)
	require.LessOrEqual(t, wait, 60)
	require.Equal(t, 201, s.call("POST", "/repos/acme/widget/issues/1/reactions", token, `{"content":"eyes"}`).status)
	s.clock.Add(time.Minute)
	require.Equal(t, 201, post().status)
	require.Equal(t, 201, post().status)
	require.Equal(t, 403, post().status, "the hour's limit")
	require.Len(t, s.Comments("acme/widget", 1), 7)
}

func TestFaults(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	_, err := s.OpenIssue("acme/widget", "eve", "How?", "")
	require.NoError(t, err)
	comments := regexp.MustCompile(`/issues/1/comments$`)
	token := s.token(nil)
	post := func() (int, http.Header, error) {
		req, err := http.NewRequestWithContext(t.Context(), "POST", s.APIURL()+"repos/acme/widget/issues/1/comments", strings.NewReader(`{"body":"x"}`))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, nil, err
		}
		return res.StatusCode, res.Header, res.Body.Close()
	}
	status := func() int {
		n, _, err := post()
		require.NoError(t, err)
		return n
	}
	count := func() int { return len(s.Comments("acme/widget", 1)) }

	s.Inject(githubsim.Fault{Path: comments, Skip: 1, Count: 2, Status: 502})
	require.Equal(t, []int{201, 502, 502, 201}, []int{status(), status(), status(), status()})
	require.Equal(t, 2, count())

	s.Inject(githubsim.SecondaryLimit(comments, 1, 90*time.Second))
	n, h, err := post()
	require.NoError(t, err)
	require.Equal(t, 403, n)
	require.Equal(t, "90", h.Get("Retry-After"))
	s.Inject(githubsim.SecondaryLimit(comments, 1, 0))
	_, h, err = post()
	require.NoError(t, err)
	require.NotContains(t, h, "Retry-After")
	_, _, err = s.asInstallation().Issues.CreateComment(t.Context(), "acme", "widget", 1, body("fine"))
	require.NoError(t, err)

	remove := s.Inject(githubsim.Fault{Method: "POST", Path: comments, Cut: true})
	_, _, err = post()
	require.Error(t, err)
	before := count()
	remove()
	remove()
	require.Equal(t, 201, status())
	require.Equal(t, before+1, count())

	s.Inject(githubsim.Fault{Path: comments, Count: 1, Cut: true, AfterWork: true})
	_, _, err = post()
	require.Error(t, err)
	require.Equal(t, before+2, count(), "it was posted, and the client was not told")
	all := s.Requests()
	require.Zero(t, all[len(all)-1].Status)

	s.Inject(githubsim.Fault{Path: comments, Count: 1, Delay: 50 * time.Millisecond})
	started := time.Now()
	require.Equal(t, 201, status())
	require.GreaterOrEqual(t, time.Since(started), 50*time.Millisecond)

	s.Inject(githubsim.Fault{Path: regexp.MustCompile(`git-upload-pack$`), Skip: 1, Count: 1, Cut: true, CutAfter: 20})
	_, out, err := s.clone("acme/widget.git", "")
	require.Error(t, err, out)
	_, out, err = s.clone("acme/widget.git", "")
	require.NoError(t, err, out)
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	ctx, c := t.Context(), s.asInstallation()
	names := func(c *github.Client, q string) []string {
		got, _, err := c.Search.Repositories(ctx, q, &github.SearchOptions{Sort: "stars"})
		require.NoError(t, err)
		out := []string{}
		for _, r := range got.Repositories {
			out = append(out, r.GetFullName())
		}
		require.Equal(t, len(out), got.GetTotal())
		return out
	}
	require.Equal(t, []string{"acme/widget", "acme/vault"}, names(c, "acme"))
	require.Equal(t, []string{"acme/widget"}, names(s.asUser(""), "acme"))
	require.Equal(t, []string{"acme/widget"}, names(c, "a widget language:go topic:demo"))
	require.Empty(t, names(c, "org:acme unheard-of"))

	got, _, err := c.Search.Code(ctx, `"func preparequery" org:acme path:src`, &github.SearchOptions{TextMatch: true})
	require.NoError(t, err)
	require.Equal(t, 2, got.GetTotal())
	hit := got.CodeResults[0]
	require.Equal(t, "acme/vault src/query.go", hit.GetRepository().GetFullName()+" "+hit.GetPath())
	match := hit.TextMatches[0]
	require.Contains(t, match.GetFragment(), "func prepareQuery() {}")
	at := match.Matches[0].Indices
	require.Equal(t, "func prepareQuery", match.GetFragment()[at[0]:at[1]])
	got, _, err = s.asUser("eve").Search.Code(ctx, "prepareQuery main", nil)
	require.NoError(t, err)
	for _, r := range got.CodeResults {
		require.Equal(t, "acme/widget", r.GetRepository().GetFullName())
	}
	require.Equal(t, 2, got.GetTotal())
	got, _, err = c.Search.Code(ctx, `"no: such" -e --help`, nil)
	require.NoError(t, err)
	require.Zero(t, got.GetTotal())
	_, _, err = s.asUser("eve").Search.Code(ctx, "x repo:acme/vault", nil)
	refused(t, err, 422, "Validation Failed")
	_, _, err = s.asUser("").Search.Code(ctx, "x", nil)
	refused(t, err, 401, "")
	require.Equal(t, 422, s.call("GET", "/search/code?q="+url.QueryEscape("repo:acme/widget"), s.token(nil), "").status)
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{ContentPerMinute: -1, ContentPerHour: -1})
	got := s.listen(accepted)
	_, err := s.OpenIssue("acme/widget", "eve", "How?", "")
	require.NoError(t, err)
	c := s.asInstallation()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				if _, _, err := c.Issues.CreateComment(t.Context(), "acme", "widget", 1, body("x")); err != nil {
					t.Error(err)
				}
				if _, _, _, err := c.Repositories.GetContents(t.Context(), "acme", "vault", "src", nil); err != nil {
					t.Error(err)
				}
				if err := s.SetPermission("acme/vault", "eve", "read", ""); err != nil {
					t.Error(err)
				}
				_, _ = s.Requests(), s.Deliveries()
			}
		})
	}
	wg.Wait()
	require.Len(t, s.Comments("acme/widget", 1), 80)
	require.Len(t, got(), 82)
	guids := map[string]bool{}
	for _, h := range got() {
		guids[h.guid] = true
	}
	require.Len(t, guids, 82)
}
