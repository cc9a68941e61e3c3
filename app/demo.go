package app

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
)

//go:embed sample/pantry.txtar
var pantry []byte

// DemoOptions is the demonstration: the App as it is deployed, beside a simulated GitHub.
type DemoOptions struct {
	Question string
	Repo     string // a local git repository as the subject; empty: this project's own, or a small one
	Keep     bool   // stay up afterwards
	Out      io.Writer
	Log      *slog.Logger
	Now      func() time.Time
}

// demoTime bounds how long the demonstration waits for an answer.
const demoTime = 5 * time.Minute

// Demo posts a question to a simulated GitHub, shows the run as it goes on and the comment that is posted. No network, no
// key and no configuration is needed.
func Demo(ctx context.Context, o DemoOptions) (err error) {
	dir, err := os.MkdirTemp("", "librarian-demo-")
	if err != nil {
		return fmt.Errorf("app: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	repos, question, err := demoRepos(ctx, o, dir)
	if err != nil {
		return err
	}
	sim := githubsim.New(githubsim.Options{Log: o.Log})
	if err := sim.Start(ctx, "127.0.0.1:0"); err != nil {
		return fmt.Errorf("app: %w", err)
	}
	defer sim.Close()
	w, err := buildWorld(sim, repos, githubsim.AppOptions{})
	if err != nil {
		return err
	}

	cfg := Default()
	cfg.Server = ServerConfig{Listen: "127.0.0.1:0", Data: filepath.Join(dir, "data")}
	cfg.GitHub = GitHubConfig{APIURL: sim.APIURL(), WebURL: sim.URL(), AppID: w.app.ID}
	up := make(chan string, 1)
	srv := NewServer(cfg, Secrets{PrivateKey: w.app.PrivateKeyPEM, WebhookSecret: []byte(w.app.WebhookSecret)}, ServerOptions{
		Log: o.Log, Now: o.Now, Ready: func(url string) { up <- url }, Watch: watchLines(o.Out),
	})
	serving, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- srv.Run(serving) }()
	defer func() { stop(); err = errors.Join(err, <-done) }()
	var hook string
	select {
	case hook = <-up:
	case err := <-done:
		done <- nil
		return err
	}
	if err := sim.SetWebhookURL(w.app, hook); err != nil {
		return fmt.Errorf("app: %w", err)
	}
	subject := repos[0].name.String()
	fmt.Fprintf(o.Out, "A GitHub of its own runs at %s, with the App installed on %s.\n\n%s comments on %s#1:\n\n    %s\n\n",
		sim.URL(), joinNames(repos), simUser, subject, strings.ReplaceAll(question, "\n", "\n    "))
	asked, err := sim.Comment(subject, 1, simUser, question)
	if err != nil {
		return fmt.Errorf("app: %w", err)
	}
	answer, err := waitForAnswer(ctx, sim, subject, asked.ID)
	if err != nil {
		return err
	}
	good, all, err := checkLinks(ctx, http.DefaultClient, answer)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "\nIt is answered; the question now carries %s. Of %d links to code in the answer, %d open. This was posted:\n\n%s\n", marks(sim.Reactions(asked.ID)), all, good, answer)
	if o.Keep {
		fmt.Fprintf(o.Out, `
Still running. Ask more, as %[1]s:

curl -sS -H 'Authorization: Bearer %[2]s' %[3]srepos/%[4]s/issues/1/comments -d '{"body":"@%[5]s …"}'

and read the thread at %[6]s/%[4]s/issues/1 or with

curl -sS -H 'Authorization: Bearer %[2]s' %[3]srepos/%[4]s/issues/1/comments

Stop it with Ctrl-C.
`, simUser, w.token, sim.APIURL(), subject, w.app.Slug, sim.URL())
		<-ctx.Done()
		return nil
	}
	if good < all || all == 0 {
		return fmt.Errorf("app: demo: %d of %d links open", good, all)
	}
	return nil
}

func joinNames(repos []simRepo) string {
	var out []string
	for _, r := range repos {
		out = append(out, r.name.String())
	}
	return strings.Join(out, " and ")
}

// demoRepos are the repositories of the simulated world, the subject first, and the question to ask.
func demoRepos(ctx context.Context, o DemoOptions, dir string) ([]simRepo, string, error) {
	small := filepath.Join(dir, "pantry.git")
	files := map[string]string{}
	for _, f := range txtar.Parse(pantry).Files {
		files[f.Name] = string(f.Data)
	}
	day := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	err := githubsim.NewGitRepo(ctx, "", small,
		githubsim.Commit{Message: "Begin", When: day, Files: map[string]string{"README.md": "# pantry\n"}},
		githubsim.Commit{Message: "Store jars, and say what spoils", When: day.AddDate(0, 0, 4), Files: files})
	if err != nil {
		return nil, "", fmt.Errorf("app: %w", err)
	}
	repos := []simRepo{{name: librarian.RepoName{Owner: "acme", Name: "pantry"}, path: small}}
	question := "@librarian how is it decided which jar is eaten first?"
	switch {
	case o.Repo != "":
		dir, ok, err := localPath(o.Repo)
		if err != nil {
			return nil, "", err
		}
		if !ok {
			return nil, "", &UsageError{Message: o.Repo + " is not a directory", Hint: "name a local git repository"}
		}
		repos = append([]simRepo{{name: librarian.RepoName{Owner: "acme", Name: validName(filepath.Base(dir))}, path: dir}}, repos...)
		question = "@librarian where does the program begin, and what does it do first?"
	case ownCheckout() != "":
		repos = append([]simRepo{{name: librarian.RepoName{Owner: "acme", Name: "librarian"}, path: ownCheckout()}}, repos...)
		question = "@librarian how is a mention parsed?"
	}
	if o.Question != "" {
		question = o.Question
		if !strings.Contains(strings.ToLower(question), "@"+simApp) {
			question = "@" + simApp + " " + question
		}
	}
	return repos, question, nil
}

// ownCheckout is the folder of this project's checkout, when the working directory is in one that has commits.
func ownCheckout() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		raw, err := os.ReadFile(filepath.Join(dir, "go.mod")) //nolint:gosec // looks upwards from the working directory
		if err == nil {
			if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil && strings.HasPrefix(string(raw), "module "+path.Dir(reflect.TypeFor[DemoOptions]().PkgPath())+"\n") {
				return dir
			}
			return ""
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// watchLines shows runs as they go on, a line a call.
func watchLines(out io.Writer) func(librarian.RunID, librarian.EventKind, any) {
	v := &view{out: out, now: time.Now}
	return v.take
}

// waitForAnswer waits until the question carries the last mark, which comes after the answer.
func waitForAnswer(ctx context.Context, sim *githubsim.Server, repo string, asked int64) (string, error) {
	ctx, stop := context.WithTimeout(ctx, demoTime)
	defer stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, r := range sim.Reactions(asked) {
			if r.Content != string(librarian.ReactionRocket) && r.Content != string(librarian.ReactionConfused) {
				continue
			}
			var body []string
			for _, c := range sim.Comments(repo, 1) {
				if c.ID > asked && c.App == simApp {
					body = append(body, c.Body)
				}
			}
			if len(body) == 0 {
				return "", fmt.Errorf("app: demo: the question was marked %s and not answered", r.Content)
			}
			return strings.Join(body, "\n\n"), nil
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("app: demo: no answer came: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

var codeLink = regexp.MustCompile(`\((https?://[^\s()]+/blob/[0-9a-f]{40}/[^\s()]+)\)`)

// checkLinks opens each link to code in a posted answer.
func checkLinks(ctx context.Context, client *http.Client, body string) (good, all int, err error) {
	for _, m := range codeLink.FindAllStringSubmatch(body, -1) {
		all++
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, m[1], nil)
		if err != nil {
			return good, all, fmt.Errorf("app: demo: %w", err)
		}
		resp, err := client.Do(req)
		if err != nil {
			return good, all, fmt.Errorf("app: demo: %w", err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			good++
		}
	}
	return good, all, nil
}

func marks(reactions []githubsim.Reaction) string {
	signs := map[string]string{"eyes": "👀", "rocket": "🚀", "confused": "😕"}
	var out []string
	for _, r := range reactions {
		out = append(out, signs[r.Content])
	}
	return strings.Join(out, " ")
}
