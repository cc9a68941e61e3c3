package hub_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/hub"
)

// world is a simulated GitHub: acme's App covers acme/app (public) and acme/secret (private) but not acme/other (private);
// globex/lib is public, globex/vault private. ada may write in acme/app, bob reads it.
type world struct {
	*githubsim.Server
	t    *testing.T
	app  *githubsim.App
	inst int64
	repo map[string]githubsim.Repo
	user map[string]githubsim.Account
	log  *lines
	hub  *hub.Hub
}

// appKey is made once: a key takes a good part of a second.
var appKey = sync.OnceValue(func() []byte {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
})

func newWorld(t *testing.T, sim githubsim.Options, change ...func(*hub.Options)) *world {
	t.Helper()
	w := &world{Server: githubsim.New(sim), t: t, repo: map[string]githubsim.Repo{}, user: map[string]githubsim.Account{}, log: &lines{}}
	require.NoError(t, w.Start(t.Context(), "127.0.0.1:0"))
	t.Cleanup(w.Close)
	for _, org := range []string{"acme", "globex"} {
		_, err := w.CreateOrg(org)
		require.NoError(t, err)
	}
	for _, login := range []string{"ada", "bob", "mallory"} {
		u, err := w.CreateUser(login)
		require.NoError(t, err)
		w.user[login] = u
	}
	for name, visibility := range map[string]string{"acme/app": "public", "acme/secret": "private", "acme/other": "private",
		"acme/inner": "internal", "globex/lib": "public", "globex/vault": "private"} {
		owner, repo, _ := strings.Cut(name, "/")
		r, err := w.CreateRepo(owner, repo, githubsim.RepoOptions{Visibility: visibility})
		require.NoError(t, err)
		w.repo[name] = r
	}
	require.NoError(t, w.SetPermission("acme/app", "ada", "write", ""))
	require.NoError(t, w.SetPermission("acme/secret", "ada", "read", ""))
	app, err := w.CreateApp("librarian", "acme", githubsim.AppOptions{PrivateKeyPEM: appKey()})
	require.NoError(t, err)
	in, err := w.Install(app, "acme", "app", "secret", "inner")
	require.NoError(t, err)
	w.app, w.inst = app, in.ID
	opts := hub.Options{AppID: app.ID, PrivateKey: app.PrivateKeyPEM}
	for _, f := range change {
		f(&opts)
	}
	w.hub = w.newHub(opts)
	return w
}

func (w *world) newHub(opts hub.Options) *hub.Hub {
	w.t.Helper()
	opts.APIURL = w.APIURL()
	opts.Log = slog.New(slog.NewTextHandler(w.log, nil))
	h, err := hub.New(opts)
	require.NoError(w.t, err)
	return h
}

func (w *world) id(name string) librarian.RepoID {
	return librarian.GitHubRepo(w.hub.Host(), w.repo[name].ID)
}

func (w *world) principal(login string) librarian.Principal {
	return librarian.Principal{ID: w.user[login].ID, Login: login}
}

// place is where a comment of the thread asked; comment 0 is the issue's body.
func (w *world) place(repo string, issue githubsim.Issue, comment int64) librarian.Place {
	owner, name, _ := strings.Cut(repo, "/")
	p := librarian.Place{Kind: librarian.PlaceIssue, Repo: w.id(repo), RepoName: librarian.RepoName{Owner: owner, Name: name}, Host: w.hub.Host(),
		Installation: w.inst, Number: issue.Number, Trigger: librarian.TriggerIssueBody, TriggerID: issue.ID}
	if comment != 0 {
		p.Trigger, p.TriggerID = librarian.TriggerIssueComment, comment
	}
	return p
}

// postPlace is an issue's thread of a repository.
func (w *world) postPlace(repo string) librarian.Place {
	return w.place(repo, githubsim.Issue{Number: 1}, 0)
}

// since gives what was requested after the first n requests, as "METHOD path status".
func (w *world) since(n int) []string {
	var list []string
	for _, r := range w.Requests()[n:] {
		list = append(list, r.Method+" "+strings.TrimPrefix(r.Path, "/api/v3")+" "+http.StatusText(r.Status))
	}
	return list
}

// minted counts the tokens made so far.
func (w *world) minted() int {
	n := 0
	for _, r := range w.Requests() {
		if r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/access_tokens") && r.Status == http.StatusCreated {
			n++
		}
	}
	return n
}

// lines is a log to look at.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// clock is a clock to be set.
type clock struct {
	mu  sync.Mutex
	off time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.off)
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off += d
}

var ctx = context.Background()
