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
	"regexp"
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
)

// flow is the whole App beside a simulated GitHub: signed webhooks in, comments out.
type flow struct {
	t     *testing.T
	sim   *githubsim.Server
	world world
	cfg   Config
	log   *lockedBuffer
	stop  func()
	model model.Model // nil: builtin/scout
	now   func() time.Time
	web   *http.Client // reaches the simulated GitHub's pages
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
	srv := NewServer(f.cfg, Secrets{PrivateKey: f.world.app.PrivateKeyPEM, WebhookSecret: []byte(f.world.app.WebhookSecret)}, ServerOptions{
		Log: slog.New(slog.NewTextHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Now: f.now, Ready: func(u string) { up <- u },
	})
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

// settled waits until the question carries 🚀 or 😕.
func (f *flow) settled(comment int64) string {
	f.t.Helper()
	var mark string
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

func (f *flow) eventually(what string, ok func() bool) {
	f.t.Helper()
	deadline := time.After(60 * time.Second)
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

func TestFlowAMentionBecomesVerifiedFindings(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)
	id, answers := f.ask("acme/pantry", simUser, "@librarian how is it decided which jar is eaten first?")
	require.Len(t, answers, 1)
	body := answers[0].Body
	require.Regexp(t, `/acme/pantry/blob/[0-9a-f]{40}/shelf/shelf\.go#L\d+-L\d+`, body)
	require.Contains(t, body, "builtin/scout")
	require.Regexp(t, `run <code>[0-9a-f-]{36}</code>`, body)
	good, all, err := checkLinks(t.Context(), f.web, body)
	require.NoError(t, err)
	require.Positive(t, all)
	require.Equal(t, all, good, "every link opens")
	f.eventually("👀 became 🚀", func() bool { return slices.Equal(contents(f.sim.Reactions(id)), []string{"rocket"}) })
}

func contents(rs []githubsim.Reaction) []string {
	var out []string
	for _, r := range rs {
		out = append(out, r.Content)
	}
	return out
}

func TestFlowHelp(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)
	c, err := f.sim.Comment("acme/pantry", 1, simUser, "@librarian help")
	require.NoError(t, err)
	f.eventually("help is given", func() bool { return len(f.ours("acme/pantry", c.ID)) == 1 })
	require.Contains(t, f.ours("acme/pantry", c.ID)[0].Body, "Ask me a question about code")
}

// command says a command and waits until the App has answered it by a comment.
func (f *flow) command(repo, login, body string) string {
	f.t.Helper()
	c, err := f.sim.Comment(repo, 1, login, body)
	require.NoError(f.t, err)
	f.eventually(body+" is answered", func() bool { return len(f.ours(repo, c.ID)) > 0 })
	return f.ours(repo, c.ID)[0].Body
}

func TestO8_StopOvertakesAndEndsWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	f := newFlow(t, modeltest.New(modeltest.Hang(started)), func(f *flow) { f.cfg.Queue.Research = 1 })
	first, err := f.sim.Comment("acme/pantry", 1, simUser, "@librarian one?")
	require.NoError(t, err)
	<-started
	second, err := f.sim.Comment("acme/pantry", 1, simUser, "@librarian two?") // waits in the queue
	require.NoError(t, err)
	require.NoError(t, f.sim.WaitDeliveries(t.Context()))

	c, err := f.sim.Comment("acme/pantry", 1, simReads, "@librarian stop")
	require.NoError(t, err)
	require.Equal(t, "confused", f.settled(c.ID), "W13: a stranger stops nothing")

	began := time.Now()
	c, err = f.sim.Comment("acme/pantry", 1, simUser, "@librarian stop")
	require.NoError(t, err)
	require.Equal(t, "confused", f.settled(first.ID))
	require.Less(t, time.Since(began), 30*time.Second) // the product's bound is 2 s; a busy machine's is not
	require.Equal(t, "confused", f.settled(second.ID))
	require.Equal(t, "rocket", f.settled(c.ID))
	require.Contains(t, f.ours("acme/pantry", c.ID)[0].Body, "Stopped")
	require.Contains(t, f.command("acme/pantry", simUser, "@librarian stop"), "Nothing is running")
}

func TestFlowStatusRetryAndForget(t *testing.T) {
	t.Parallel()
	m := modeltest.New(modeltest.Fail(&model.Error{Kind: model.ErrOverloaded, Status: 529}), results("Now it works."))
	f := newFlow(t, m, nil)
	require.Contains(t, f.command("acme/pantry", simUser, "@librarian status"), "Nothing was asked")
	_, answers := f.ask("acme/pantry", simUser, "@librarian why?")
	require.Contains(t, answers[0].Body, "overloaded")
	f.rest()
	require.Contains(t, f.command("acme/pantry", simUser, "@librarian status"), "failed")

	c, err := f.sim.Comment("acme/pantry", 1, simUser, "@librarian retry")
	require.NoError(t, err)
	require.Equal(t, "rocket", f.settled(c.ID))
	require.Contains(t, f.ours("acme/pantry", c.ID)[0].Body, "Now it works")
	f.rest()

	c, err = f.sim.Comment("acme/pantry", 1, simUser, "@librarian forget")
	require.NoError(t, err)
	require.Equal(t, "rocket", f.settled(c.ID))
	require.Empty(t, f.ours("acme/pantry", 0), "what was posted is gone")
	require.Contains(t, f.command("acme/pantry", simUser, "@librarian status"), "Nothing was asked")
}

func TestFlowLookUps(t *testing.T) {
	t.Parallel()
	f := newFlow(t, modeltest.New(), nil) // no model is asked
	body := f.command("acme/pantry", simUser, "@librarian read acme/pantry/shelf/shelf.go#L1-L2")
	require.Contains(t, body, "// Package shelf stores jars.")
	require.Regexp(t, `/acme/pantry/blob/[0-9a-f]{40}/shelf/shelf\.go#L1-L2`, body)
	require.Contains(t, f.command("acme/pantry", simUser, "@librarian grep acme/pantry ErrEmpty"), "shelf/shelf.go:11")
	require.Contains(t, f.command("acme/pantry", simUser, "@librarian find_code acme/pantry which jar spoils first"), "shelf/shelf.go")
	require.Contains(t, f.command("acme/pantry", simUser, "@librarian search_repos pantry"), "acme/pantry")
	require.Contains(t, f.command("acme/pantry", simUser, "@librarian read acme/cellar/wine.go"), "was not found")
}

func TestFlowAQuotedAnswerIsContinued(t *testing.T) {
	t.Parallel()
	heard := 0
	m := modeltest.New(results("It is a shelf."), func(ctx context.Context, c model.Call) (model.Reply, error) {
		heard = len(c.Messages)
		return results("And then a jar.")(ctx, c)
	}, func(ctx context.Context, c model.Call) (model.Reply, error) {
		require.Len(t, c.Messages, 1, "a run that is not there is a quotation like any other")
		return results("Alone.")(ctx, c)
	})
	f := newFlow(t, m, nil)
	_, answers := f.ask("acme/pantry", simUser, "@librarian what is it?")
	quote := "> " + strings.ReplaceAll(strings.TrimSpace(answers[0].Body), "\n", "\n> ") // as GitHub's "Quote reply" does
	_, answers = f.ask("acme/pantry", simUser, quote+"\n\n@librarian and then?")
	require.Len(t, answers, 1)
	require.Contains(t, answers[0].Body, "And then a jar.")
	require.Greater(t, heard, 1, "what was said then is in the conversation")
	_, answers = f.ask("acme/pantry", simUser, "> 2 calls · run `"+string(librarian.NewRunID())+"`\n\n@librarian and then?")
	require.Contains(t, answers[0].Body, "Alone.")
	require.NoError(t, m.Done())
}

func TestFlowContinue(t *testing.T) {
	t.Parallel()
	cite := args{"repo": "acme/pantry", "file": "shelf/shelf.go", "lines": "1-2", "note": "the package"}
	m := modeltest.New(
		modeltest.Call(use("checkout_repo", args{"repo": "acme/pantry"})),
		modeltest.Call(use("read", args{"repo": "acme/pantry", "path": "shelf/shelf.go", "limit": 10})),
		results("It is a shelf.", cite),
		func(ctx context.Context, c model.Call) (model.Reply, error) {
			require.Contains(t, c.Messages[len(c.Messages)-1].Parts[0].Text, "and then?")
			return results("As said, from what was read then.", cite)(ctx, c)
		})
	f := newFlow(t, m, nil)
	_, answers := f.ask("acme/pantry", simUser, "@librarian what is it?")
	id := regexp.MustCompile(`run <code>([0-9a-f-]{36})</code>`).FindStringSubmatch(answers[0].Body)[1]
	_, answers = f.ask("acme/pantry", simUser, "@librarian continue "+id+" and then?")
	require.Len(t, answers, 1)
	require.Contains(t, answers[0].Body, "As said")
	require.Contains(t, answers[0].Body, "shelf/shelf.go#L1-L2")
	require.Contains(t, answers[0].Body, "1 location", "it is in the trace")
	require.NoError(t, m.Done())

	unknown := string(librarian.NewRunID())
	_, answers = f.ask("acme/pantry", simUser, "@librarian continue "+unknown+" and then?")
	require.Contains(t, answers[0].Body, "Run not found: `"+unknown+"`")
}

func TestW12_ContinuingWhatOneMayNotReadIsNotFound(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)
	_, answers := f.ask("acme/cellar", simUser, "@librarian which vintage is it?")
	id := regexp.MustCompile(`run <code>([0-9a-f-]{36})</code>`).FindStringSubmatch(answers[0].Body)[1]
	_, answers = f.ask("acme/pantry", simUser, "@librarian continue "+id+" and then?")
	require.Contains(t, answers[0].Body, "Run not found: `"+id+"`")
	require.NotContains(t, answers[0].Body, "canary-cellar-9")
}

func TestO3_DurableBeforeTheAnswerThoughGitHubIsSlow(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)
	remove := f.sim.Inject(githubsim.Fault{Path: regexp.MustCompile(`^/api/v3/repos|^/api/v3/repositories|access_tokens`), Delay: 30 * time.Second})
	began := time.Now()
	c, err := f.sim.Comment("acme/pantry", 1, simUser, "@librarian what spoils first?")
	require.NoError(t, err)
	require.NoError(t, f.sim.WaitDeliveries(t.Context()))
	require.Less(t, time.Since(began), 5*time.Second, "the delivery is answered without asking GitHub")
	f.stop() // what was acknowledged is on disk
	remove()
	f.serve()
	require.Equal(t, "rocket", f.settled(c.ID))
	require.Len(t, f.ours("acme/pantry", c.ID), 1)
}

func TestO1_ARedeliveryIsOneRun(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)
	id, answers := f.ask("acme/pantry", simUser, "@librarian what spoils first?")
	require.Len(t, answers, 1)
	for _, d := range f.sim.Deliveries() {
		if d.Event == "issue_comment" {
			require.NoError(t, f.sim.Redeliver(d.ID))
		}
	}
	require.NoError(t, f.sim.WaitDeliveries(t.Context()))
	f.stop()
	f.serve() // also after a restart
	for _, d := range f.sim.Deliveries() {
		if d.Event == "issue_comment" {
			require.NoError(t, f.sim.Redeliver(d.ID))
			break
		}
	}
	require.NoError(t, f.sim.WaitDeliveries(t.Context()))
	_, _ = f.ask("acme/pantry", simUser, "@librarian how many days ahead is the reminder?")
	require.Len(t, f.ours("acme/pantry", id), 2, "one answer for each question")
}

func TestW2_BotsAreIgnored(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, func(f *flow) {
		_, err := f.sim.CreateBot("evil[bot]")
		require.NoError(t, err)
		require.NoError(t, f.sim.SetPermission("acme/pantry", "evil[bot]", "admin", ""))
	})
	c, err := f.sim.Comment("acme/pantry", 1, "evil[bot]", "@librarian tell me everything")
	require.NoError(t, err)
	f.quiet("acme/pantry", c.ID)
}

func TestW3_AStrangerOnAPublicRepositoryIsDeclinedByASign(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)
	c, err := f.sim.Comment("acme/pantry", 1, simReads, "@librarian what spoils first?")
	require.NoError(t, err)
	require.Equal(t, "confused", f.settled(c.ID))
	require.Empty(t, f.ours("acme/pantry", c.ID))
	require.Zero(t, f.requests(".git/"), "nothing was cloned for a stranger")
}

func TestW4_APrivateRepositoryDoesNotExistForAPublicThread(t *testing.T) {
	t.Parallel()
	answer := func(repo string) (string, string) {
		seen := ""
		m := modeltest.New(
			modeltest.Call(use("checkout_repo", args{"repo": repo})),
			func(ctx context.Context, c model.Call) (model.Reply, error) {
				seen = c.Messages[len(c.Messages)-1].Parts[0].Text
				return results("It could not be read.")(ctx, c)
			})
		f := newFlow(t, m, nil)
		id, answers := f.ask("acme/pantry", simUser, "@librarian what is in "+repo+"?")
		require.Len(t, answers, 1)
		f.eventually("👀 became 🚀, the last request", func() bool { return slices.Equal(contents(f.sim.Reactions(id)), []string{"rocket"}) })
		require.NotContains(t, f.log.String()+answers[0].Body, "canary-cellar-9")
		require.Zero(t, f.requests("cellar.git"), "git was not even asked")
		var calls []string
		for _, r := range f.sim.Requests() {
			if strings.Contains(r.Path, "/repos/") {
				calls = append(calls, fmt.Sprintf("%s %s", r.Method, strings.ReplaceAll(r.Path, strings.TrimPrefix(repo, "acme/"), "X")))
			}
		}
		slices.Sort(calls) // two of them go out at once
		return strings.ReplaceAll(seen, repo, "X"), strings.Join(calls, "\n")
	}
	hidden, hiddenCalls := answer("acme/cellar")
	missing, missingCalls := answer("acme/nowhere")
	require.Equal(t, missing, hidden, "no access and does not exist read the same")
	require.Equal(t, missingCalls, hiddenCalls, "and make the same calls")
}

func TestW4_WhatWasNamedAndNotReadIsSaid(t *testing.T) {
	t.Parallel()
	answer := func(repo string) string {
		f := newFlow(t, nil, nil)
		_, answers := f.ask("acme/pantry", simUser, "@librarian in "+repo+", which jar is eaten first?")
		require.Len(t, answers, 1)
		body := answers[0].Body
		require.Contains(t, body, "/acme/pantry/blob/", "the thread's own repository is searched")
		require.NotContains(t, body, "canary-cellar-9")
		_, rest, ok := strings.Cut(body, "Not looked at:")
		require.True(t, ok, body)
		rest, _, _ = strings.Cut(strings.TrimSpace(rest), "\n")
		return strings.ReplaceAll(rest, repo, "X")
	}
	missing := answer("acme/nowhere")
	require.Contains(t, missing, "X was not found, or may not be read from here")
	require.Equal(t, missing, answer("acme/cellar"))
}

func TestPrivateRepositoryAnswersInItsOwnThread(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)
	_, answers := f.ask("acme/cellar", simReads, "@librarian which vintage is it?")
	require.Len(t, answers, 1)
	require.Contains(t, answers[0].Body, "/acme/cellar/blob/")
}

func TestW6_SecretsNeverReachAComment(t *testing.T) {
	t.Parallel()
	token := "ghp_" + strings.Repeat("Ab1", 12)
	m := modeltest.New(results("The token is " + token + " and the key AKIAABCDEFGHIJKLMNOP."))
	f := newFlow(t, m, nil)
	_, answers := f.ask("acme/pantry", simUser, "@librarian what is the token?")
	require.Len(t, answers, 1)
	require.NotContains(t, answers[0].Body, token)
	require.NotContains(t, answers[0].Body, "AKIAABCDEFGHIJKLMNOP")
	require.NotContains(t, f.log.String(), f.world.app.WebhookSecret)
	require.NotContains(t, f.log.String(), "ghs_")
}

func TestW5_NoToolCanNameAPlaceToWriteTo(t *testing.T) {
	t.Parallel()
	var seen model.Call
	m := modeltest.New(func(ctx context.Context, c model.Call) (model.Reply, error) {
		seen = c
		return results("Posted where it was asked. See acme/cellar#1.")(ctx, c)
	})
	f := newFlow(t, m, nil)
	_, answers := f.ask("acme/pantry", simUser, "@librarian post this to acme/cellar#1")
	require.Len(t, answers, 1)
	require.Empty(t, f.ours("acme/cellar", 0))
	for _, tl := range seen.Tools {
		for _, word := range []string{"comment_id", "issue_number", "\"body\""} {
			require.NotContains(t, string(tl.Schema), word, tl.Name)
		}
	}
}

func TestAFailureIsToldOnce(t *testing.T) {
	t.Parallel()
	m := modeltest.New(modeltest.Fail(&model.Error{Kind: model.ErrAuth, Status: 401, Message: "bad key sk-secret"}))
	f := newFlow(t, m, nil)
	c, answers := f.ask("acme/pantry", simUser, "@librarian why?")
	require.Len(t, answers, 1)
	require.Contains(t, answers[0].Body, "refused the configured key")
	require.NotContains(t, answers[0].Body, "sk-secret")
	f.eventually("👀 became 😕", func() bool { return slices.Equal(contents(f.sim.Reactions(c)), []string{"confused"}) })
}

func TestP7_CitationsThatDoNotHoldAreDroppedAndCounted(t *testing.T) {
	t.Parallel()
	bad := results("It is in the shelf.", args{"repo": "acme/pantry", "file": "shelf/shelf.go", "lines": "9000-9001", "note": "there"},
		args{"repo": "acme/pantry", "file": "no/such.go", "note": "nowhere"}, args{"repo": "acme/pantry", "file": "shelf/shelf.go", "lines": "1-3", "note": "the package"})
	m := modeltest.New(
		modeltest.Call(use("checkout_repo", args{"repo": "acme/pantry"})),
		modeltest.Call(use("read", args{"repo": "acme/pantry", "path": "shelf/shelf.go", "limit": 10})),
		bad, bad, bad)
	f := newFlow(t, m, nil)
	_, answers := f.ask("acme/pantry", simUser, "@librarian where?")
	require.Len(t, answers, 1)
	require.NoError(t, m.Done())
	require.Contains(t, answers[0].Body, "#L1-L3")
	require.NotContains(t, answers[0].Body, "9000")
	require.Contains(t, answers[0].Body, "2 references could not be verified")
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
