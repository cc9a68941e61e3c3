package main

import (
	"context"
	"os"
	"time"

	"github.com/librarian-app/librarian/app"
)

// runsCmd looks at the runs that are kept.
type runsCmd struct {
	List       runsListCmd       `cmd:"" default:"withargs" help:"List the newest runs."`
	Show       runsShowCmd       `cmd:"" help:"Show a run: question, trace, findings, cost."`
	Transcript runsTranscriptCmd `cmd:"" help:"Print everything that was said and done in a run, as JSON lines."`
	Forget     runsForgetCmd     `cmd:"" help:"Delete a run."`
}

// runsFrom says whose runs.
type runsFrom struct {
	Data   string `help:"A server's data directory; without it, and without --config, the terminal's own runs." placeholder:"DIR" type:"path" xor:"whose"`
	Config string `help:"A server's configuration file: the runs in its database." placeholder:"FILE" xor:"whose"`
}

func (f runsFrom) options(s *streams) (app.RunsOptions, error) {
	if f.Config != "" {
		cfg, err := app.Load(f.Config)
		if err != nil {
			return app.RunsOptions{}, err
		}
		database, err := app.DatabaseURL(cfg, os.Getenv)
		return app.RunsOptions{Dir: cfg.Server.Data, URL: string(database), Out: s.out, Now: time.Now}, err
	}
	dir := f.Data
	if dir == "" {
		var err error
		if dir, _, err = userDirs(); err != nil {
			return app.RunsOptions{}, err
		}
	}
	return app.RunsOptions{Dir: dir, Out: s.out, Now: time.Now}, nil
}

type runsListCmd struct {
	runsFrom
	Limit int `help:"How many, at most 1000." default:"20" placeholder:"N"`
}

func (c *runsListCmd) Run(ctx context.Context, s *streams) error {
	if c.Limit < 1 {
		return &app.UsageError{Message: "--limit must be at least 1"}
	}
	o, err := c.options(s)
	if err != nil {
		return err
	}
	return app.ListRuns(ctx, o, c.Limit)
}

type runsShowCmd struct {
	runsFrom
	ID string `arg:"" help:"The run's id."`
}

func (c *runsShowCmd) Run(ctx context.Context, s *streams) error {
	o, err := c.options(s)
	if err != nil {
		return err
	}
	return app.ShowRun(ctx, o, c.ID)
}

type runsTranscriptCmd struct {
	runsFrom
	ID string `arg:"" help:"The run's id."`
}

func (c *runsTranscriptCmd) Run(ctx context.Context, s *streams) error {
	o, err := c.options(s)
	if err != nil {
		return err
	}
	return app.TranscriptRun(ctx, o, c.ID)
}

type runsForgetCmd struct {
	runsFrom
	ID string `arg:"" help:"The run's id."`
}

func (c *runsForgetCmd) Run(ctx context.Context, s *streams) error {
	o, err := c.options(s)
	if err != nil {
		return err
	}
	return app.ForgetRun(ctx, o, c.ID)
}
