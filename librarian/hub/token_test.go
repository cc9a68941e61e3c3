package hub_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"
	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/hub"
)

func TestReadTokenIsNarrow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	tok, err := w.hub.ReadToken(ctx, w.inst, w.repo["acme/secret"].ID)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(tok.Authorization(), "Basic "))
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(tok.Authorization(), "Basic "))
	require.NoError(t, err)
	secret, ok := strings.CutPrefix(string(raw), "x-access-token:")
	require.True(t, ok)
	require.WithinDuration(t, time.Now().Add(time.Hour), tok.Expires(), time.Minute)

	c := github.NewClient(nil).WithAuthToken(secret)
	c, err = c.WithEnterpriseURLs(w.APIURL(), w.APIURL())
	require.NoError(t, err)
	_, _, err = c.Repositories.Get(ctx, "acme", "secret")
	require.NoError(t, err)
	_, _, err = c.Repositories.Get(ctx, "acme", "inner")
	require.Error(t, err, "another repository of the same installation")
	_, _, err = c.Issues.Create(ctx, "acme", "secret", &github.IssueRequest{Title: new("x")})
	require.Error(t, err, "it may read only")
	got, _, err := c.Apps.ListRepos(ctx, nil)
	require.NoError(t, err)
	require.Len(t, got.Repositories, 1)
}

func TestReadTokenOfWhatIsNotCovered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	for _, r := range []string{"acme/other", "globex/vault", "globex/lib"} {
		_, err := w.hub.ReadToken(ctx, w.inst, w.repo[r].ID)
		require.ErrorIs(t, err, librarian.ErrNotFound, r)
	}
	_, err := w.hub.ReadToken(ctx, 4711, w.repo["acme/app"].ID)
	require.ErrorIs(t, err, librarian.ErrNotFound, "unknown installation")
	_, err = w.hub.ReadToken(ctx, w.inst, 0)
	require.ErrorIs(t, err, librarian.ErrNotFound, "no repository is not every repository")
	require.NoError(t, w.SuspendInstallation(w.inst))
	_, err = w.hub.ReadToken(ctx, w.inst, w.repo["acme/app"].ID)
	require.ErrorIs(t, err, librarian.ErrNotFound, "suspended")
}

func TestMissingPermissionIsTheOperators(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	require.NoError(t, w.AcceptPermissions(w.inst, map[string]string{"metadata": "read"}))
	_, err := w.hub.ReadToken(ctx, w.inst, w.repo["acme/app"].ID)
	require.ErrorContains(t, err, "the App lacks a permission")
	require.NotErrorIs(t, err, librarian.ErrNotFound)
}

func TestL3_MintedAgain(t *testing.T) {
	t.Parallel()
	c := &clock{}
	w := newWorld(t, githubsim.Options{Now: c.now}, func(o *hub.Options) { o.Now = c.now })
	read := func() string {
		tok, err := w.hub.ReadToken(ctx, w.inst, w.repo["acme/app"].ID)
		require.NoError(t, err)
		return tok.Authorization()
	}
	first := read()
	c.forward(54 * time.Minute)
	require.Equal(t, first, read(), "kept")
	c.forward(2 * time.Minute)
	second := read()
	require.NotEqual(t, first, second, "minted again five minutes before the end")

	tok, err := w.hub.ReadToken(ctx, w.inst, w.repo["acme/app"].ID)
	require.NoError(t, err)
	w.hub.Rejected(tok)
	w.hub.Rejected(tok) // of two that met the same 401, the second must not drop the new one
	third := read()
	require.NotEqual(t, second, third)
	w.hub.Rejected(tok)
	require.Equal(t, third, read())
}

func TestL3_APITokenRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	_, err := w.hub.ByID(ctx, w.inst, w.id("acme/app"))
	require.NoError(t, err)
	require.Equal(t, 1, w.minted())
	w.Inject(githubsim.Fault{Path: regexp.MustCompile(`/repositories/`), Status: 401, Count: 1})
	_, err = w.hub.ByID(ctx, w.inst, w.id("acme/app"))
	require.NoError(t, err)
	require.Equal(t, 2, w.minted())
	w.Inject(githubsim.Fault{Path: regexp.MustCompile(`/repositories/`), Status: 401})
	_, err = w.hub.ByID(ctx, w.inst, w.id("acme/app"))
	require.Error(t, err, "once is enough")
	require.NotErrorIs(t, err, librarian.ErrNotFound)
	require.Equal(t, 3, w.minted())
}

func TestOneMintForAllWhoWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			_, err := w.hub.ReadToken(ctx, w.inst, w.repo["acme/app"].ID)
			require.NoError(t, err)
		})
	}
	wg.Wait()
	require.Equal(t, 1, w.minted())
}

func TestMintSurvivesFaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	path := regexp.MustCompile(`/access_tokens$`)
	w.Inject(githubsim.Fault{Path: path, Status: 502, Count: 1})
	w.Inject(githubsim.Fault{Path: path, Cut: true, AfterWork: true, Count: 1})
	_, err := w.hub.ReadToken(ctx, w.inst, w.repo["acme/app"].ID)
	require.NoError(t, err)
}

func TestTokenCannotBePrinted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	tok, err := w.hub.ReadToken(ctx, w.inst, w.repo["acme/app"].ID)
	require.NoError(t, err)
	secrets := tok.Secrets()
	require.Len(t, secrets, 2)
	require.Subset(t, w.hub.Secrets(), secrets)
	inside := struct{ token hub.Token }{tok}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb+verb+verb, tok, &tok, inside)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "token", tok, "in", inside)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "token", tok, "in", &inside)
	j, err := json.Marshal(map[string]any{"token": tok})
	require.NoError(t, err)
	out.Write(j)
	for _, s := range secrets {
		require.NotContains(t, out.String(), s)
	}
	require.Contains(t, out.String(), "[token]")
}

// A server, or a proxy before it, that repeats what it was sent must not carry a token into an error or a log.
func TestW6_NoTokenInErrorsOrLogs(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var sent []string
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auth := r.Header.Get("Authorization")
		_, secret, _ := strings.Cut(auth, " ")
		mu.Lock()
		sent = append(sent, secret)
		mu.Unlock()
		if strings.HasSuffix(r.URL.Path, "/access_tokens") && r.URL.Path != "/app/installations/9/access_tokens" {
			w.WriteHeader(http.StatusCreated)
			fmt.Fprintf(w, `{"token":"ghs_%s","expires_at":"2099-01-01T00:00:00Z","repositories":[{"id":5,"full_name":"acme/app"}]}`, strings.Repeat("s", 36))
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"message":"bad header Authorization: %s (%s)","errors":[{"message":%q}],"documentation_url":%q}`, auth,
			base64.StdEncoding.EncodeToString([]byte("x-access-token:"+secret)), auth, auth)
	}))
	t.Cleanup(echo.Close)
	log := &lines{}
	h, err := hub.New(hub.Options{APIURL: echo.URL, AppID: 1, PrivateKey: appKey(), Log: slog.New(slog.NewTextHandler(log, nil))})
	require.NoError(t, err)
	id := librarian.GitHubRepo(h.Host(), 5)
	var failures []error
	_, err = h.App(ctx)
	failures = append(failures, err)
	_, err = h.ReadToken(ctx, 9, 5)
	failures = append(failures, err)
	_, err = h.ByID(ctx, 3, id)
	failures = append(failures, err)
	_, err = h.ByName(ctx, 3, librarian.RepoName{Owner: "acme", Name: "app"})
	failures = append(failures, err)
	_, err = h.Thread(ctx, librarian.Place{Repo: id, Installation: 3, Number: 1})
	failures = append(failures, err)
	post, _, err := h.PostClient(ctx, librarian.Place{Kind: librarian.PlaceIssue, Repo: librarian.GitHubRepo(h.Host(), 5), Installation: 3})
	require.NoError(t, err)
	_, _, err = post.Issues.CreateComment(ctx, "acme", "app", 1, &github.IssueComment{Body: new("hello")})
	failures = append(failures, err)

	text := log.String()
	for _, err := range failures {
		require.Error(t, err)
		for ; err != nil; err = unwrap(err) {
			text += fmt.Sprintf("%v\n%+v\n", err, err)
			if e, ok := err.(*github.ErrorResponse); ok { //nolint:errorlint // each layer is looked at
				text += fmt.Sprintf("%v %v", e.Response.Request.Header, e.Response.Header)
			}
		}
	}
	require.Contains(t, text, "bad header", "the errors do carry what the server said")
	require.GreaterOrEqual(t, len(sent), 6)
	for _, secret := range sent {
		require.NotEmpty(t, secret)
		require.NotContains(t, text, secret)
		require.NotContains(t, text, base64.StdEncoding.EncodeToString([]byte("x-access-token:"+secret)))
	}
}

func unwrap(err error) error {
	switch x := err.(type) { //nolint:errorlint // one layer is taken off
	case interface{ Unwrap() error }:
		return x.Unwrap()
	case interface{ Unwrap() []error }:
		all := x.Unwrap()
		return all[len(all)-1]
	}
	return nil
}

// G14 for the API: a redirect to another host never sees the token.
func TestG14_RedirectElsewhere(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var stolen []string
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		stolen = append(stolen, r.Method+" "+r.Header.Get("Authorization"))
	}))
	t.Cleanup(thief.Close)
	w := newWorld(t, githubsim.Options{})
	for _, status := range []int{301, 302, 307, 308} {
		remove := w.Inject(githubsim.Fault{Path: regexp.MustCompile(`/repositories/|/comments$`), Status: status,
			Header: http.Header{"Location": {thief.URL + "/x"}}})
		_, err := w.hub.ByID(ctx, w.inst, w.id("acme/app"))
		require.ErrorContains(t, err, "refused a redirect")
		post, _, err := w.hub.PostClient(ctx, w.postPlace("acme/app"))
		require.NoError(t, err)
		_, _, err = post.Issues.CreateComment(ctx, "acme", "app", 1, &github.IssueComment{Body: new("hello")})
		require.Error(t, err)
		remove()
	}
	require.Empty(t, stolen)
}

func TestPostClientFollowsARename(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	issue, err := w.OpenIssue("acme/app", "ada", "title", "body")
	require.NoError(t, err)
	post, n, err := w.hub.PostClient(ctx, w.postPlace("acme/app"))
	require.NoError(t, err)
	require.Equal(t, "acme/app", n.String())
	require.NoError(t, w.RenameRepo("acme/app", "application"))
	for _, status := range []int{0, http.StatusMovedPermanently} { // as it is documented, and as the sim does it
		if status != 0 {
			w.Inject(githubsim.Fault{Path: regexp.MustCompile(`/repos/acme/app/issues`), Status: status, Count: 1, Header: http.Header{
				"Location": {fmt.Sprintf("%srepositories/%d/issues/%d/comments", w.APIURL(), w.repo["acme/app"].ID, issue.Number)}}})
		}
		_, _, err = post.Issues.CreateComment(ctx, n.Owner, n.Name, issue.Number, &github.IssueComment{Body: new("hello")})
		require.NoError(t, err)
	}
	require.Len(t, w.Comments("acme/application", issue.Number), 2)
}

func TestPostClientIsNarrow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	post, _, err := w.hub.PostClient(ctx, w.postPlace("acme/app"))
	require.NoError(t, err)
	issue, err := w.OpenIssue("acme/secret", "ada", "title", "body")
	require.NoError(t, err)
	_, _, err = post.Issues.CreateComment(ctx, "acme", "secret", issue.Number, &github.IssueComment{Body: new("x")})
	require.Error(t, err, "W5: another repository")
	_, _, _, err = post.Repositories.GetContents(ctx, "acme", "secret", "README.md", nil)
	require.Error(t, err)
}

func TestForget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	_, err := w.hub.ReadToken(ctx, w.inst, w.repo["acme/app"].ID)
	require.NoError(t, err)
	_, err = w.hub.ReadToken(ctx, w.inst, w.repo["acme/secret"].ID)
	require.NoError(t, err)
	w.hub.Forget(w.inst, w.repo["acme/app"].ID)
	require.Len(t, w.hub.Secrets(), 2)
	w.hub.Forget(w.inst, 0)
	require.Empty(t, w.hub.Secrets())
}

func TestClockSkew(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{-20 * time.Minute, 2 * time.Hour} {
		t.Run(off.String(), func(t *testing.T) {
			t.Parallel()
			c := &clock{off: off}
			w := newWorld(t, githubsim.Options{}, func(o *hub.Options) { o.Now = c.now })
			_, err := w.hub.App(ctx)
			require.NoError(t, err)
			_, err = w.hub.ReadToken(ctx, w.inst, w.repo["acme/app"].ID)
			require.NoError(t, err)
			_, err = w.hub.ReadToken(ctx, w.inst, w.repo["acme/app"].ID)
			require.NoError(t, err)
			require.Equal(t, 1, w.minted(), "a token's end is by their clock, too")
			refused := 0
			for _, r := range w.Requests() {
				if r.Status == http.StatusUnauthorized {
					refused++
				}
			}
			require.Equal(t, 1, refused, "corrected once")
			require.Equal(t, 1, strings.Count(w.log.String(), "clock"), "and said once")
		})
	}
}

func TestBadKeyIsNotTheClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	app, err := w.CreateApp("other", "globex", githubsim.AppOptions{})
	require.NoError(t, err)
	h := w.newHub(hub.Options{AppID: app.ID, PrivateKey: appKey()})
	before := len(w.Requests())
	_, err = h.App(ctx)
	require.Error(t, err)
	require.Len(t, w.Requests(), before+1)
	require.NotContains(t, w.log.String(), "clock")
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]hub.Options{
		"key without App":    {PrivateKey: appKey()},
		"App without key":    {AppID: 1},
		"App and person":     {AppID: 1, PrivateKey: appKey(), UserToken: "x"},
		"no key":             {AppID: 1, PrivateKey: []byte("SECRET not a key")},
		"plain http":         {APIURL: "http://ghe.example/api/v3/"},
		"not a URL":          {APIURL: "https://SECRET:p%@h"},
		"user info":          {APIURL: "https://u:SECRET@ghe.example/api/v3"},
		"no host":            {APIURL: "https:///api/v3"},
		"web with path":      {APIURL: "https://ghe.example/api/v3", WebURL: "https://ghe.example/x"},
		"another scheme":     {APIURL: "ftp://ghe.example/"},
		"query in API URL":   {APIURL: "https://ghe.example/?token=SECRET"},
		"negative App":       {AppID: -1, PrivateKey: appKey()},
		"relative reference": {APIURL: "ghe.example"},
	} {
		_, err := hub.New(o)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "SECRET", name)
	}
}
