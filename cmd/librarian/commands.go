package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/librarian-app/librarian/app"
)

// errNoAnswer ends a command whose failure was told already.
var errNoAnswer = errors.New("no answer")

type demoCmd struct {
	Question string `help:"What to ask." placeholder:"TEXT"`
	Repo     string `help:"A local git repository to ask about." placeholder:"PATH"`
	Keep     bool   `help:"Stay up, and print how to ask more."`
	Verbose  bool   `short:"v" help:"Show the server's log."`
}

func (d *demoCmd) Run(ctx context.Context, s *streams) error {
	level := slog.LevelError
	if d.Verbose {
		level = slog.LevelDebug
	}
	return app.Demo(ctx, app.DemoOptions{Question: d.Question, Repo: d.Repo, Keep: d.Keep, Out: s.out, Log: logger(s.err, level), Now: time.Now})
}

type askCmd struct {
	Question []string `arg:"" optional:"" help:"What to ask."`
	Repo     []string `help:"Where to look: owner/repo, a URL, or a path to a local git repository. May be repeated." placeholder:"REPO" sep:"none"`
	Owner    []string `help:"An account whose repositories to look at. May be repeated." placeholder:"OWNER" sep:"none"`
	Continue string   `help:"The id of a run to go on from." placeholder:"RUN"`
	Model    string   `help:"The model, as provider/model-id." placeholder:"MODEL"`
	JSON     bool     `name:"json" help:"Print the answer as JSON."`
	Config   string   `help:"A configuration file." placeholder:"FILE"`
	Verbose  bool     `short:"v" help:"Show every call, and the log."`
}

func (a *askCmd) Run(ctx context.Context, s *streams) error {
	cfg := app.Default()
	if a.Config != "" {
		var err error
		if cfg, err = app.Load(a.Config); err != nil {
			return err
		}
	}
	level := slog.LevelError
	if a.Verbose {
		level = slog.LevelDebug
	}
	state, cache, err := userDirs()
	if err != nil {
		return err
	}
	question := strings.Join(a.Question, " ")
	if len(a.Repo) == 0 && len(a.Owner) == 0 && a.Continue == "" && !strings.Contains(question, "/") {
		if here, ok := checkoutAround(); ok {
			a.Repo = []string{here}
		}
	}
	width := columns(s.err, os.Getenv)
	if a.Verbose {
		width = nil
	}
	answered, err := app.Ask(ctx, app.AskOptions{
		TerminalOptions: app.TerminalOptions{Repos: a.Repo, Config: cfg, Token: githubToken(ctx, os.Getenv), CacheDir: cache, Log: logger(s.err, level), Now: time.Now},
		Question:        question, Owners: a.Owner, Continue: a.Continue, JSON: a.JSON, Model: a.Model, Getenv: os.Getenv, StateDir: state,
		Out: s.out, Trace: s.err, Width: width,
	})
	if err == nil && !answered {
		return errNoAnswer
	}
	return err
}

// userDirs are where the terminal keeps runs, and its disposable cache (XDG base directories).
func userDirs() (state, cache string, err error) {
	home, homeErr := os.UserHomeDir()
	state = os.Getenv("XDG_STATE_HOME")
	if state == "" {
		if homeErr != nil {
			return "", "", &app.UsageError{Message: "there is no home directory", Hint: "set HOME, or XDG_STATE_HOME and XDG_CACHE_HOME"}
		}
		state = filepath.Join(home, ".local", "state")
	}
	if cache, err = os.UserCacheDir(); err != nil {
		return "", "", &app.UsageError{Message: "there is no cache directory", Hint: "set HOME, or XDG_STATE_HOME and XDG_CACHE_HOME"}
	}
	return filepath.Join(state, "librarian"), filepath.Join(cache, "librarian"), nil
}

// checkoutAround is the top of the git checkout around the working directory.
func checkoutAround() (string, bool) {
	dir, err := os.Getwd()
	if err != nil {
		return "", false
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir, true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir = up
	}
}

type serveCmd struct {
	Config  string `help:"The configuration file." default:"config.yml" placeholder:"FILE"`
	Verbose bool   `short:"v" help:"Log more."`
}

func (c *serveCmd) Run(ctx context.Context, s *streams) error {
	cfg, err := app.Load(c.Config)
	if err != nil {
		return err
	}
	secrets, err := app.LoadSecrets(cfg, os.Getenv, logger(s.err, slog.LevelInfo))
	if err != nil {
		return err
	}
	level := slog.LevelInfo
	if c.Verbose {
		level = slog.LevelDebug
	}
	return app.NewServer(cfg, secrets, app.ServerOptions{Log: logger(s.err, level), Now: time.Now}).Run(ctx)
}

type githubsimCmd struct {
	Listen  string   `help:"Where to listen." default:"127.0.0.1:8765" placeholder:"ADDR"`
	Repo    []string `help:"A repository to serve: owner/name=PATH or owner/name=PATH,private. May be repeated." placeholder:"REPO" sep:"none"`
	Webhook string   `help:"Where deliveries go." default:"http://127.0.0.1:8080/webhook" placeholder:"URL"`
	Dir     string   `help:"Where the App's key and secret are kept." default:".githubsim" placeholder:"DIR"`
	Verbose bool     `short:"v" help:"Log each request and each delivery."`
}

// Help lists the endpoints.
func (githubsimCmd) Help() string {
	return "The API is below /api/v3, git below /owner/name.git. Endpoints:\n\n" + strings.Join(app.SimEndpoints(), "\n\n")
}

func (c *githubsimCmd) Run(ctx context.Context, s *streams) error {
	level := slog.LevelError
	if c.Verbose {
		level = slog.LevelDebug
	}
	return app.Simulate(ctx, app.SimOptions{Listen: c.Listen, Repos: c.Repo, Webhook: c.Webhook, Dir: c.Dir, Out: s.out, Log: logger(s.err, level)})
}

type versionCmd struct{}

func (versionCmd) Run(s *streams) error {
	_, err := fmt.Fprintln(s.out, app.Version())
	return err
}

func logger(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}
