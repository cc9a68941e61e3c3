package githubsim_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v66/github"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/stretchr/testify/require"
)

// appKey is one key for all tests: making one is slow under the race detector.
var appKey = sync.OnceValue(func() []byte {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
})

// clock is the machine's clock, moved by tests. It runs on, since clients stamp their JWTs by the machine's.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

// sim is the world of most tests: organisation acme with the public widget and the private vault, both with the same code, an App
// on both; ann may write, bob may read the vault, eve is a stranger.
type sim struct {
	*githubsim.Server
	t     *testing.T
	app   *githubsim.App
	inst  githubsim.Installation
	repo  string // path of the code
	head  string // its commit
	clock *clock
}

func start(t *testing.T, opts githubsim.Options) *sim {
	t.Helper()
	_, err := description() // it takes longer than a delivery may
	require.NoError(t, err)
	s := &sim{t: t, clock: &clock{}}
	if opts.Now == nil {
		opts.Now = s.clock.Now
	}
	s.Server = githubsim.New(opts)
	require.NoError(t, s.Start(context.Background(), "127.0.0.1:0"))
	t.Cleanup(s.Close)
	s.repo = makeCode(t)
	s.head = git(t, s.repo, "rev-parse", "HEAD")
	for _, login := range []string{"ann", "bob", "eve"} {
		_, err := s.CreateUser(login)
		require.NoError(t, err)
	}
	_, err = s.CreateOrg("acme")
	require.NoError(t, err)
	_, err = s.CreateRepo("acme", "widget", githubsim.RepoOptions{Path: s.repo, Description: "A widget", Stars: 7, Language: "Go", Topics: []string{"demo"}})
	require.NoError(t, err)
	_, err = s.CreateRepo("acme", "vault", githubsim.RepoOptions{Path: s.repo, Visibility: githubsim.Private})
	require.NoError(t, err)
	require.NoError(t, s.SetPermission("acme/widget", "ann", "write", ""))
	require.NoError(t, s.SetPermission("acme/vault", "ann", "admin", ""))
	require.NoError(t, s.SetPermission("acme/vault", "bob", "read", ""))
	s.app, err = s.CreateApp("librarian", "acme", githubsim.AppOptions{PrivateKeyPEM: appKey()})
	require.NoError(t, err)
	s.inst, err = s.Install(s.app, "acme")
	require.NoError(t, err)
	return s
}

// makeCode makes a bare git repository with a history of two commits, a branch, tags, a link and a submodule.
func makeCode(t *testing.T) string {
	t.Helper()
	tree, bare := t.TempDir(), filepath.Join(t.TempDir(), "code.git")
	git(t, tree, "init", "-q", "-b", "main")
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Join(tree, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(tree, name), []byte(text), 0o600))
	}
	write("README.md", "# Widget\n")
	write("src/main.go", "package main\n\nfunc main() {\n\tprepareQuery()\n}\n")
	git(t, tree, "add", ".")
	git(t, tree, "commit", "-q", "-m", "First")
	git(t, tree, "tag", "v1")
	write("src/query.go", "package main\n\n// prepareQuery prepares.\nfunc prepareQuery() {}\n")
	write("docs/a b#c.md", "spaces\n")
	write(".gitmodules", "[submodule \"s\"]\n\tpath = sub\n\turl = https://example.org/sub.git\n")
	require.NoError(t, os.Symlink("main.go", filepath.Join(tree, "src/link.go")))
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(tree, "out")))
	git(t, tree, "add", ".")
	git(t, tree, "update-index", "--add", "--cacheinfo", "160000,1111111111111111111111111111111111111111,sub")
	git(t, tree, "commit", "-q", "-m", "Second")
	git(t, tree, "tag", "-a", "v2", "-m", "Two")
	git(t, tree, "branch", "feature/x", "HEAD~1")
	git(t, tree, "clone", "-q", "--bare", tree, bare)
	return bare
}

func gitCommand(t *testing.T, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org")
	return cmd
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := gitCommand(t, dir, args...).CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

// asApp is a client with the App's JWT.
func (s *sim) asApp() *github.Client {
	tr, err := ghinstallation.NewAppsTransport(s.transport(), s.app.ID, s.app.PrivateKeyPEM)
	require.NoError(s.t, err)
	tr.BaseURL = strings.TrimSuffix(s.APIURL(), "/")
	return s.client(&http.Client{Transport: tr})
}

// asInstallation is a client that mints its own tokens, as librarian does.
func (s *sim) asInstallation() *github.Client {
	tr, err := ghinstallation.New(s.transport(), s.app.ID, s.inst.ID, s.app.PrivateKeyPEM)
	require.NoError(s.t, err)
	tr.BaseURL = strings.TrimSuffix(s.APIURL(), "/")
	return s.client(&http.Client{Transport: tr})
}

// asUser is a client with a personal token, or an anonymous one for "".
func (s *sim) asUser(login string) *github.Client {
	c := s.client(&http.Client{Transport: s.transport()})
	if login == "" {
		return c
	}
	token, err := s.CreateUserToken(login)
	require.NoError(s.t, err)
	return c.WithAuthToken(token)
}

func (s *sim) client(h *http.Client) *github.Client {
	c, err := github.NewClient(h).WithEnterpriseURLs(s.APIURL(), s.APIURL())
	require.NoError(s.t, err)
	return c
}

// token mints an installation token.
func (s *sim) token(opts *github.InstallationTokenOptions) string {
	s.t.Helper()
	tok, _, err := s.asApp().Apps.CreateInstallationToken(s.t.Context(), s.inst.ID, opts)
	require.NoError(s.t, err)
	return tok.GetToken()
}

// tokenOf mints an installation token with these permissions; go-github's type does not know all of them.
func (s *sim) tokenOf(permissions map[string]string) string {
	s.t.Helper()
	req, err := s.asApp().NewRequest("POST", "app/installations/"+itoa(s.inst.ID)+"/access_tokens", map[string]any{"permissions": permissions})
	require.NoError(s.t, err)
	var out struct{ Token string }
	_, err = s.asApp().Do(s.t.Context(), req, &out)
	require.NoError(s.t, err)
	return out.Token
}

// answer is a raw answer of the server.
type answer struct {
	status int
	header http.Header
	body   string
}

// call sends a raw request; path is below the API unless it is a whole URL. headers are "Name: value".
func (s *sim) call(method, path, token, body string, headers ...string) answer {
	s.t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = strings.TrimSuffix(s.APIURL(), "/") + path
	}
	var in io.Reader
	if body != "" {
		in = bytes.NewReader([]byte(body))
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, path, in)
	require.NoError(s.t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		req.Header.Set(k, v)
	}
	res, err := s.noRedirects().Do(req)
	require.NoError(s.t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	return answer{res.StatusCode, res.Header, string(text)}
}

func (s *sim) noRedirects() *http.Client {
	return &http.Client{Transport: s.transport(), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// transport checks all answers against GitHub's description, where that is at hand.
func (s *sim) transport() http.RoundTripper {
	return &conforming{base: http.DefaultTransport, t: s.t, api: s.APIURL}
}

// json decodes the answer.
func (a answer) json(t *testing.T) map[string]any {
	t.Helper()
	var o map[string]any
	require.NoError(t, json.Unmarshal([]byte(a.body), &o), a.body)
	return o
}

// refused checks that an error is GitHub's with a status and a message.
func refused(t *testing.T, err error, status int, message string) {
	t.Helper()
	var res *github.ErrorResponse
	require.ErrorAs(t, err, &res)
	require.Equal(t, status, res.Response.StatusCode, res.Message)
	require.Contains(t, res.Message, message)
}

func itoa(id int64) string { return strconv.FormatInt(id, 10) }
