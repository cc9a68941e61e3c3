package app

import (
	"context"
	"io"
	"os"

	"github.com/librarian-app/librarian/checkout/codesearch/bench"
)

// BenchSearchOptions is a benchmark of the code search.
type BenchSearchOptions struct {
	Data  string // a file of questions, or a directory with repos.json and annotations/
	Repos string // bare repositories, named owner+name or owner+name/repo
	Out   string // where the results go, a line a question; empty: nowhere
	To    io.Writer
}

// BenchSearch measures the code search beside grep, BM25, FTS5 and a plain ranking, on questions whose answers are known.
func BenchSearch(ctx context.Context, o BenchSearchOptions) error {
	for flag, path := range map[string]string{"--data": o.Data, "--repos": o.Repos} {
		if _, err := os.Stat(path); path == "" || err != nil {
			return &UsageError{Message: flag + ": " + path + " is not there", Hint: "see librarian bench search --help", Err: err}
		}
	}
	return bench.Run(ctx, bench.Options{Data: o.Data, Repos: o.Repos, Out: o.Out, Open: bench.OpenBare("git")}, o.To)
}
