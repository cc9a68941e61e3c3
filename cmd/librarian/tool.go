package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/librarian-app/librarian/app"
)

type toolCmd struct {
	Name   string   `arg:"" optional:"" help:"The tool; without one they are listed."`
	Args   []string `arg:"" optional:"" help:"Its arguments: name=value each, or one JSON object."`
	Repo   []string `help:"A repository to open first: owner/repo, a URL, or a path to a local git repository. May be repeated." placeholder:"REPO" sep:"none"`
	JSON   bool     `name:"json" help:"Print text, evidence and data as JSON."`
	Config string   `help:"A configuration file." placeholder:"FILE"`
}

// Run calls the tool. A refusal by it is exit code 1.
func (c *toolCmd) Run(ctx context.Context, s *streams) error {
	cfg := app.Default()
	if c.Config != "" {
		var err error
		if cfg, err = app.Load(c.Config); err != nil {
			return err
		}
	}
	_, cache, err := userDirs()
	if err != nil {
		return err
	}
	ok, err := app.Tool(ctx, app.ToolOptions{
		TerminalOptions: app.TerminalOptions{Repos: c.Repo, Config: cfg, Token: githubToken(ctx, os.Getenv), CacheDir: cache, Log: logger(s.err, slog.LevelError), Now: time.Now},
		Name:            c.Name, Args: c.Args, JSON: c.JSON, Out: s.out,
	})
	if err == nil && !ok {
		return errNoAnswer
	}
	return err
}
