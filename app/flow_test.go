package app

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
	"github.com/librarian-app/librarian/librarian/store"
)

// flow is the whole App beside a simulated GitHub: signed webhooks in, comments out.
type flow struct {
	t     *testing.T
	sim   *githubsim.Server
	world world
	cfg   Config
	db    string // URL of a PostgreSQL database; empty: SQLite
	log   *lockedBuffer
	stop  func()
	model model.Model // nil: builtin/scout
	now   func() time.Time
	votes time.Duration // how often it is seen which votes are to be counted; 0: as always
	web   *http.Client  // reaches the simulated GitHub's pages
}

// lockedBuffer collects the server's log.
type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// appKey is made once: a key takes a good part of a second.
var appKey = sync.OnceValue(func() []byte {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
})

// newFlow makes a world with the public acme/pantry and the private acme/cellar and whatever build adds, and starts the App.
func newFlow(t *testing.T, m model.Model, build func(*flow)) *flow {
	t.Helper()
	return newFlowOn(t, os.Getenv("LIBRARIAN_TEST_TLS") != "", githubsim.Options{}, m, build)
}

// newFlowOn is newFlow beside a GitHub with options of its own; with secure it is an Enterprise host that speaks HTTPS with a
// certificate which only github.ca_file vouches for.
func newFlowOn(t *testing.T, secure bool, o githubsim.Options, m model.Model, build func(*flow)) *flow {
	t.Helper()
	dir := t.TempDir()
	var ca []byte
	if secure {
		var err error
		o.TLS, ca, err = githubsim.TestCA()
		require.NoError(t, err)
	}
	f := &flow{t: t, sim: githubsim.New(o), cfg: Default(), log: &lockedBuffer{}, model: m, now: o.Now, web: http.DefaultClient}
	require.NoError(t, f.sim.Start(t.Context(), "127.0.0.1:0"))
	t.Cleanup(f.sim.Close)
	gitRepo(t, filepath.Join(dir, "pantry.git"), sampleFiles())
	gitRepo(t, filepath.Join(dir, "cellar.git"), map[string]string{"wine.go": "package cellar\n\n// Vintage is canary-cellar-9.\nconst Vintage = \"canary-cellar-9\"\n"})
	var err error
	f.world, err = buildWorld(f.sim, []simRepo{
		{name: librarian.RepoName{Owner: "acme", Name: "pantry"}, path: filepath.Join(dir, "pantry.git")},
		{name: librarian.RepoName{Owner: "acme", Name: "cellar"}, path: filepath.Join(dir, "cellar.git"), private: true},
	}, githubsim.AppOptions{PrivateKeyPEM: appKey()})
	require.NoError(t, err)
	f.cfg.Server = ServerConfig{Listen: "127.0.0.1:0", Data: filepath.Join(dir, "data")}
	f.cfg.GitHub = GitHubConfig{APIURL: f.sim.APIURL(), WebURL: f.sim.URL(), AppID: f.world.app.ID}
	if secure {
		f.cfg.GitHub.CAFile = filepath.Join(dir, "ca.pem")
		require.NoError(t, os.WriteFile(f.cfg.GitHub.CAFile, ca, 0o600))
		tr, err := transport(f.cfg.GitHub.CAFile)
		require.NoError(t, err)
		f.web = &http.Client{Transport: tr}
	}
	f.cfg.Queue.Grace = 100 * time.Millisecond
	if build != nil {
		build(f)
	}
	f.serve()
	t.Cleanup(func() { f.stop() })
	return f
}

// serve starts the App; f.stop ends it.
func (f *flow) serve() {
	f.t.Helper()
	up := make(chan string, 1)
	srv := NewServer(f.cfg, Secrets{PrivateKey: f.world.app.PrivateKeyPEM, WebhookSecret: []byte(f.world.app.WebhookSecret), DatabaseURL: []byte(f.db)}, ServerOptions{
		Log: slog.New(slog.NewTextHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Now: f.now, Ready: func(u string) { up <- u },
	})
	srv.votesEvery = f.votes
	if f.model != nil {
		srv.models = func(string) (model.Model, model.Level, error) { return f.model, model.Off, nil }
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	select {
	case u := <-up:
		require.NoError(f.t, f.sim.SetWebhookURL(f.world.app, u))
	case err := <-done:
		f.t.Fatalf("the server did not start: %v\n%s", err, f.log)
	}
	f.stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(f.t, <-done)
	})
}

// caughtUp waits until the App has looked, as it does at its start, for deliveries that failed: those that fail from here on it does
// not ask for by itself.
func (f *flow) caughtUp() {
	f.t.Helper()
	f.eventually("deliveries that failed were looked for", func() bool {
		return slices.ContainsFunc(f.sim.Requests(), func(r githubsim.Request) bool {
			return strings.HasSuffix(r.Path, "/app/hook/deliveries") && r.Status == http.StatusOK
		})
	})
}

func gitRepo(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	require.NoError(t, githubsim.NewGitRepo(t.Context(), "", dir, githubsim.Commit{Message: "Begin", When: time.Unix(1_770_000_000, 0), Files: files}))
}

func sampleFiles() map[string]string {
	files := map[string]string{}
	for _, f := range txtar.Parse(pantry).Files {
		files[f.Name] = string(f.Data)
	}
	return files
}

// ask comments and waits for the mark that ends a request; it gives the question's id and our comments after it.
func (f *flow) ask(repo, login, body string) (int64, []githubsim.Comment) {
	f.t.Helper()
	c, err := f.sim.Comment(repo, 1, login, body)
	require.NoError(f.t, err)
	f.settled(c.ID)
	f.rest()
	return c.ID, f.ours(repo, c.ID)
}

// rest waits until every run that was admitted is over: its mark comes a moment before its last state is written.
func (f *flow) rest() {
	f.t.Helper()
	f.eventually("every admitted run is over", func() bool {
		log := f.log.String()
		return strings.Count(log, `msg="run ended"`) >= strings.Count(log, `msg="run admitted"`)
	})
}

// settled waits until the question carries 🚀 or 😕 and its runs are over: the mark comes a moment before the last state.
func (f *flow) settled(comment int64) string {
	f.t.Helper()
	var mark string
	defer f.eventually("the marked run is over", func() bool { return f.unfinished(comment) == 0 })
	f.eventually("the question is marked", func() bool {
		for _, r := range f.sim.Reactions(comment) {
			if r.Content == "rocket" || r.Content == "confused" {
				mark = r.Content
				return true
			}
		}
		return false
	})
	return mark
}

// unfinished counts the runs of a comment that are not over, as the App's database has them.
func (f *flow) unfinished(comment int64) int {
	f.t.Helper()
	return len(slices.DeleteFunc(f.runs(store.Filter{Open: true}), func(r librarian.Run) bool { return r.Request.Place.TriggerID != comment }))
}

// runs are those that the App's database has.
func (f *flow) runs(which store.Filter) []librarian.Run {
	f.t.Helper()
	runs, err := store.Open(f.t.Context(), store.Options{Dir: f.cfg.Server.Data, URL: f.db})
	require.NoError(f.t, err)
	defer func() { require.NoError(f.t, runs.Close()) }()
	found, err := runs.Find(f.t.Context(), which)
	require.NoError(f.t, err)
	return found
}

// posted counts the comments that a comment's runs know to have made.
func (f *flow) posted(comment int64) int {
	f.t.Helper()
	runs, err := store.Open(f.t.Context(), store.Options{Dir: f.cfg.Server.Data})
	require.NoError(f.t, err)
	defer func() { require.NoError(f.t, runs.Close()) }()
	found, err := runs.Find(f.t.Context(), store.Filter{Limit: 1000})
	require.NoError(f.t, err)
	n := 0
	for _, r := range found {
		if r.Request.Place.TriggerID != comment {
			continue
		}
		events, err := runs.Events(f.t.Context(), r.ID, 0)
		require.NoError(f.t, err)
		for _, e := range events {
			if e.Kind == librarian.EventPosted {
				n++
			}
		}
	}
	return n
}

func (f *flow) eventually(what string, ok func() bool) {
	f.t.Helper()
	// Longer than the minute and two seconds that a write may have to wait for GitHub's limit on writes, which fifteen questions in a
	// minute reach (see package comment).
	deadline := time.After(2 * time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline:
			f.t.Fatalf("did not come about: %s\n%s", what, f.log)
		case <-tick.C:
		}
	}
}

// ours are the App's comments in issue 1 that came after a comment.
func (f *flow) ours(repo string, after int64) []githubsim.Comment {
	var out []githubsim.Comment
	for _, c := range f.sim.Comments(repo, 1) {
		if c.ID > after && c.App == f.world.app.Slug {
			out = append(out, c)
		}
	}
	return out
}

// quiet asserts that a comment starts nothing: a later question is answered, and by then there is no sign of the first.
func (f *flow) quiet(repo string, comment int64) {
	f.t.Helper()
	_, answers := f.ask(repo, simUser, "@librarian what spoils first?")
	require.Len(f.t, answers, 1)
	require.Empty(f.t, f.sim.Reactions(comment))
	require.Len(f.t, f.ours(repo, comment), 1, "the later question's answer is all there is")
}

// requests counts the API requests so far whose path holds text.
func (f *flow) requests(text string) int {
	n := 0
	for _, r := range f.sim.Requests() {
		if strings.Contains(r.Path, text) {
			n++
		}
	}
	return n
}

type args = map[string]any

func use(tool string, a args) modeltest.Use { return modeltest.Use{Tool: tool, Args: a} }

func results(summary string, locations ...args) modeltest.Turn {
	if locations == nil {
		locations = []args{}
	}
	return modeltest.Call(use("provide_results", args{"summary": summary, "locations": locations}))
}

func contents(rs []githubsim.Reaction) []string {
	var out []string
	for _, r := range rs {
		out = append(out, r.Content)
	}
	return out
}

// command says a command and waits until the App has answered it by a comment.
func (f *flow) command(repo, login, body string) string {
	f.t.Helper()
	c, err := f.sim.Comment(repo, 1, login, body)
	require.NoError(f.t, err)
	f.eventually(body+" is answered", func() bool { return len(f.ours(repo, c.ID)) > 0 })
	return f.ours(repo, c.ID)[0].Body
}

func TestMain(m *testing.M) {
	Child()
	if os.Getenv("LIBRARIAN_TEST_SERVE") != "" {
		os.Exit(serveForTest())
	}
	flag.Parse()
	if p := flag.Lookup("test.parallel"); p.Value.String() == fmt.Sprint(runtime.GOMAXPROCS(0)) {
		_ = p.Value.Set("6") // flows wait more than they work
	}
	os.Exit(m.Run())
}
