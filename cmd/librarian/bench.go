package main

import (
	"context"

	"github.com/librarian-app/librarian/app"
)

type benchCmd struct {
	Search benchSearchCmd `cmd:"" help:"Measure the code search on questions whose answers are known."`
}

type benchSearchCmd struct {
	Data  string `required:"" help:"Questions: a .jsonl file, or a directory with repos.json and annotations/." placeholder:"FILE|DIR"`
	Repos string `required:"" help:"Bare repositories, named owner+name or owner+name/repo." placeholder:"DIR"`
	Out   string `help:"Where to write the results, one JSON object a question." placeholder:"FILE"`
}

func (c *benchSearchCmd) Run(ctx context.Context, s *streams) error {
	return app.BenchSearch(ctx, app.BenchSearchOptions{Data: c.Data, Repos: c.Repos, Out: c.Out, To: s.out})
}
