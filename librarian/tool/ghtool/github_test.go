package ghtool_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/tool"
	"github.com/librarian-app/librarian/librarian/tool/ghtool"
	"github.com/librarian-app/librarian/librarian/tool/tooltest"
)

const (
	host   = "forge.example"
	commit = "0123456789abcdef0123456789abcdef01234567"
)

var now = time.Unix(1_800_000_000, 0)

// answer is what the server gives for one request.
type answer struct {
	accept string // the media type that must be asked for; empty: application/vnd.github+json
	token  string // the repository whose credential must be used; empty: the search's
	status int    // 200
	header map[string]string
	body   string
}

// hub is a GitHub that knows just the requests of a test, and the API over it.
type hub struct {
	t      *testing.T
	srv    *httptest.Server
	routes map[string]answer // by escaped path and encoded query

	mu   sync.Mutex
	seen []string
}

func newHub(t *testing.T, routes map[string]answer) *hub {
	h := &hub{t: t, routes: routes}
	h.srv = httptest.NewServer(h)
	t.Cleanup(h.srv.Close)
	return h
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := strings.TrimPrefix(r.RequestURI, "/api/")
	h.seen = append(h.seen, key)
	a, ok := h.routes[key]
	if !ok || r.Method != http.MethodGet {
		h.t.Errorf("unexpected request: %s %s", r.Method, key)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	for name, want := range map[string]string{"Accept": or(a.accept, "application/vnd.github+json"), "Authorization": "Bearer " + or(a.token, "search"), "X-Github-Api-Version": "2022-11-28"} {
		if got := r.Header.Get(name); got != want {
			h.t.Errorf("%s: header %s is %q, not %q", key, name, got, want)
		}
	}
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	_, _ = w.Write([]byte(a.body))
}

// requests are the paths asked for, in order.
func (h *hub) requests() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.seen)
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// Repo, Get and Readable make hub a ghtool.API: acme/one is number 1 and public, acme/secret is number 2 and private, and the run
// may not read it.
func (h *hub) Repo(_ context.Context, name librarian.RepoName) (librarian.Repo, error) {
	if !name.Equal(librarian.RepoName{Owner: "acme", Name: "one"}) {
		return librarian.Repo{}, &librarian.UserError{Message: name.String() + " does not exist or cannot be read. If the name is uncertain, resolve it with search_repos first."}
	}
	return librarian.Repo{ID: librarian.GitHubRepo(host, 1), Host: host, Owner: "acme", Name: "one", Visibility: librarian.Public, DefaultBranch: "main"}, nil
}

func (h *hub) Get(ctx context.Context, repo *librarian.Repo, path string, query url.Values, header http.Header) (*http.Response, error) {
	u := h.srv.URL + "/api/" + path
	if len(query) > 0 {
		u += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return nil, err
	}
	req.Header = header.Clone()
	req.Header.Set("Authorization", "Bearer search")
	if repo != nil {
		req.Header.Set("Authorization", "Bearer "+repo.FullName())
	}
	return http.DefaultClient.Do(req)
}

func (h *hub) Readable(_ context.Context, id librarian.RepoID, private bool) bool {
	return !private && id != librarian.GitHubRepo(host, 2)
}

func (h *hub) tool(name string) tool.Tool {
	for _, tl := range ghtool.Tools(ghtool.Options{API: h, Host: host, Run: "r", Now: func() time.Time { return now }}) {
		if tl.Spec().Name == name {
			return tl
		}
	}
	h.t.Fatalf("no tool %s", name)
	return nil
}

func TestToolsStateWhatTheyAre(t *testing.T) {
	t.Parallel()
	tooltest.Snapshots(t, append(ghtool.Tools(ghtool.Options{}), ghtool.SearchCode(ghtool.GrepApp{})))
}

func TestSearchRepos(t *testing.T) {
	t.Parallel()
	items := `{"id":1,"full_name":"acme/one","html_url":"https://github.example/acme/one","description":"First\nof all","language":"Go","stargazers_count":42,"pushed_at":"2026-01-02T03:04:05Z","topics":["a","b"],"archived":true,"fork":true},
		{"id":3,"full_name":"x/y","description":null,"language":null,"stargazers_count":0,"pushed_at":null,"topics":[]}`
	h := newHub(t, map[string]answer{
		"search/repositories?order=desc&per_page=10&q=widget+language%3A%22Jupyter+Notebook%22+topic%3Acli&sort=stars": {body: `{"total_count":120,"incomplete_results":false,"items":[` + items + `]}`},
		"search/repositories?order=desc&per_page=10&q=" + strings.Repeat("%E5%BA%AB", 256) + "&sort=stars":             {body: `{"total_count":1,"incomplete_results":true,"items":[{"id":1,"full_name":"acme/one","stargazers_count":1}]}`},
		"search/repositories?per_page=50&q=org%3Aacme":                                                                 {body: `{"total_count":0,"items":[]}`},
		"search/repositories?order=desc&per_page=2&q=secret&sort=updated":                                              {body: `{"total_count":3,"items":[{"id":2,"full_name":"acme/secret","private":true,"stargazers_count":1},{"id":1,"full_name":"acme/one","stargazers_count":1}]}`},
	})
	got := call(t, h.tool("search_repos"), `{"query":"widget","language":"Jupyter Notebook","topic":"cli"}`)
	require.False(t, got.IsError, got.Text)
	require.Equal(t, `120 repositories match; showing 2.

acme/one (★42 · Go · pushed 2026-01-02 · ARCHIVED · fork)
First of all
topics: a, b

x/y (★0)`, got.Text)
	require.Equal(t, `repos "widget" Jupyter Notebook cli`, got.Subject)
	require.Equal(t, "2 repos", got.Summary)
	require.JSONEq(t, `{"repos":["acme/one","x/y"],"found":[
		{"name":"acme/one","url":"https://github.example/acme/one","description":"First of all","language":"Go","stars":42,"pushed":"2026-01-02","archived":true,"fork":true,"topics":["a","b"]},
		{"name":"x/y","url":"","stars":0}]}`, string(got.Data))
	got = call(t, h.tool("search_repos"), `{"query":"org:acme","sort":"best-match","limit":99}`)
	require.Equal(t, "0 repositories match; showing 0.", got.Text)
	got = call(t, h.tool("search_repos"), `{"query":"secret","sort":"updated","limit":2}`)
	require.Equal(t, "1 repositories match; showing 1.\n\nacme/one (★1)", got.Text, "W4: nothing is told of what may not be seen, not by a count either")
	require.NotContains(t, string(got.Data), "secret")
	got = call(t, h.tool("search_repos"), `{"query":"`+strings.Repeat("庫", 256)+`"}`)
	require.Equal(t, "1 repositories match; showing 1.\n\nacme/one (★1)\n\n[GitHub's search ran out of time; the list is not complete.]", got.Text, "characters are counted, not bytes")

	for args, want := range map[string]string{
		`{"query":" "}`:                                "query must not be empty.",
		`{"query":"x","limit":0}`:                      "limit must be greater than or equal to 1.",
		`{"query":"x","sort":"forks"}`:                 "sort must be stars, updated or best-match.",
		`{"query":"` + strings.Repeat("x", 257) + `"}`: "query must be at most 256 characters.",
	} {
		got := call(t, h.tool("search_repos"), args)
		require.True(t, got.IsError)
		require.Equal(t, want, got.Text)
	}
	require.Len(t, h.requests(), 4)
}

func TestFailuresOfGitHub(t *testing.T) {
	t.Parallel()
	const tail = " Try again with fewer qualifiers, or name the repository for checkout_repo."
	tests := []struct {
		name string
		a    answer
		want string
	}{
		{"L2 Retry-After", answer{status: 403, header: map[string]string{"Retry-After": "17"}, body: `{"message":"Slow down."}`},
			"GitHub answered 403 (Slow down), a rate limit; retry after 17 seconds."},
		{"L2 429", answer{status: 429}, "GitHub answered 429, a rate limit; retry after 60 seconds."},
		{"L2 secondary without a header", answer{status: 403, body: `{"message":"You have exceeded a secondary rate limit."}`},
			"GitHub answered 403 (You have exceeded a secondary rate limit), a rate limit; retry after 60 seconds."},
		{"L2 nothing remains", answer{status: 403, header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": fmt.Sprint(now.Unix() + 29)}, body: `{"message":"API rate limit exceeded"}`},
			"GitHub answered 403 (API rate limit exceeded), a rate limit; retry after 30 seconds."},
		{"403 that is no rate limit", answer{status: 403, header: map[string]string{"X-RateLimit-Remaining": "12", "X-RateLimit-Reset": "1800000029"}, body: `{"message":"Resource not accessible by integration"}`},
			"GitHub answered 403 (Resource not accessible by integration). Report that in the findings if it matters."},
		{"404", answer{status: 404, body: `{"message":"Not Found"}`}, "GitHub answered 404 (Not Found). Report that in the findings if it matters."},
		{"422", answer{status: 422, body: `{"message":"Validation Failed","errors":[{"message":"The search is too long"}]}`}, "GitHub answered 422 (Validation Failed: The search is too long)."},
		{"Retry-After of a 5xx is no rate limit", answer{status: 503, header: map[string]string{"Retry-After": "5"}, body: "<html>"}, "GitHub answered 503."},
		{"not JSON", answer{body: "<html>"}, "GitHub's answer is not the JSON that was expected."},
		{"too much", answer{body: strings.Repeat(" ", 16<<20+1)}, "GitHub's answer is over 16.0MB."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t, map[string]answer{"search/repositories?order=desc&per_page=10&q=x&sort=stars": tt.a})
			got := call(t, h.tool("search_repos"), `{"query":"x"}`)
			require.True(t, got.IsError)
			require.Equal(t, "search_repos failed: "+tt.want+tail, got.Text)
		})
	}
	h := newHub(t, nil)
	h.srv.Close()
	got := call(t, h.tool("search_repos"), `{"query":"x"}`)
	require.Equal(t, "search_repos failed: GitHub could not be reached."+tail, got.Text, "no address, no URL")
}

func item(id int, repo, path string, private bool, fragments ...string) string {
	return fmt.Sprintf(`{"path":%q,"html_url":"https://forge.example/%s","repository":{"id":%d,"full_name":%q,"private":%v},"text_matches":[%s]}`, path, repo, id, repo, private, strings.Join(fragments, ","))
}

func TestSearchGitHubCode(t *testing.T) {
	t.Parallel()
	const textMatch = "application/vnd.github.text-match+json"
	frag := `{"fragment":"one\ntwo é\nthree needle\nfour\nfive","matches":[{"text":"needle","indices":[16,22]}]}`
	h := newHub(t, map[string]answer{
		"search/code?per_page=30&q=%22foo+bar%28%5C%22x%5C%22%29%22+repo%3Aacme%2Fone+user%3Aother+language%3AGo+path%3Asrc%2Fdeep": {accept: textMatch, body: `{"total_count":900,"incomplete_results":true,"items":[` +
			item(1, "acme/one", "a.go", false, frag, frag, frag) + "," + item(2, "acme/secret", "b.go", true, frag) + "," + item(3, "x/y", "c d.go", false) + `]}`},
		"search/code?per_page=1&q=needle":   {accept: textMatch, body: `{"total_count":900,"items":[` + item(1, "acme/one", "a.go", false, `{"fragment":"needle\nb","matches":[]}`) + `]}`},
		"search/code?per_page=2&q=%22-x%22": {accept: textMatch, body: `{"total_count":1,"items":[` + item(2, "acme/secret", "b.go", true, frag) + `]}`},
	})
	got := call(t, h.tool("search_github_code"), `{"pattern":"foo bar(\"x\")","repos":[{"owner":"acme","repo":"one"}],"owners":["other"],"language":"Go","path":"/src/deep/"}`)
	require.False(t, got.IsError, got.Text)
	require.Equal(t, `2 matches across 2 repos (github).

acme/one:a.go
        two é
        three needle
        four
…
        two é
        three needle
        four

x/y:c d.go

[GitHub's search ran out of time; the list is not complete.]`, got.Text)
	require.Equal(t, "2 hits · 2 repos", got.Summary)
	require.Equal(t, `github code "foo bar("x")" in acme/one, other/*`, got.Subject)
	require.NotContains(t, string(got.Data), "secret")
	require.Empty(t, got.Evidence)

	got = call(t, h.tool("search_github_code"), `{"pattern":"needle","limit":1}`)
	require.Equal(t, "1 matches across 1 repos (github).\n\nacme/one:a.go\n        needle\n        b\n\n[1 matches limit reached. Use limit=2 for more, or refine the pattern.]", got.Text)
	got = call(t, h.tool("search_github_code"), `{"pattern":"-x","limit":2}`)
	require.Equal(t, "No matches. Note: only default branches and files under 384 KB are searched; checkout_repo + grep sees everything.", got.Text)

	got = call(t, h.tool("search_github_code"), `{"pattern":"needle","path":"/","limit":1}`)
	require.Contains(t, got.Text, "acme/one:a.go", "the root is no qualifier")

	many := strings.Repeat(`"o",`, 20) + `"o"`
	for args, want := range map[string]string{
		`{"pattern":""}`:                                          "pattern must not be empty.",
		`{"pattern":"x","limit":0}`:                               "limit must be greater than or equal to 1.",
		`{"pattern":"x","owners":[` + many + `]}`:                 "owners must have at most 20 names.",
		`{"pattern":"x","owners":["a b repo:acme/secret"]}`:       `"a b repo:acme/secret" is not an owner's name.`,
		`{"pattern":"x","repos":[{"owner":"a","repo":"b OR c"}]}`: `"a/b OR c" is not an owner/repo name.`,
	} {
		got := call(t, h.tool("search_github_code"), args)
		require.True(t, got.IsError)
		require.Equal(t, want, got.Text)
	}
}

func TestSearchGitHubCodeWaitsForAShortRateLimitOnce(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string]answer{"search/code?per_page=30&q=x": {accept: "application/vnd.github.text-match+json", status: 429, header: map[string]string{"Retry-After": "1"}}})
	got := call(t, h.tool("search_github_code"), `{"pattern":"x"}`)
	require.True(t, got.IsError)
	require.Equal(t, "search_github_code failed: GitHub answered 429, a rate limit; retry after 1 seconds. Try checkout_repo + grep, or search_code for public repositories.", got.Text)
	require.Len(t, h.requests(), 2)
}

func itoa(n int) string { return strconv.Itoa(n) }
