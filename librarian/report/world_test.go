package report

import (
	"context"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/tool"
)

var update = flag.Bool("update", false, "write golden files anew")

const (
	shaA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	shaB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	shaC = "cccccccccccccccccccccccccccccccccccccccc"
	run1 = librarian.RunID("0f5c1c1e-5b0a-4b6e-9d3e-2f6f0c9b7a11")
)

// world is what a run opened and what the trees hold.
type world struct {
	ledger  *Ledger
	sources []Source
	files   map[string]string // repo@sha:path → contents
	broken  error             // what the tree answers instead
}

func newWorld() *world {
	app := librarian.Repo{ID: librarian.GitHubRepo("github.com", 1), Host: "github.com", Owner: "acme", Name: "app", Visibility: librarian.Public, WebURL: "https://github.com/acme/app"}
	lib := librarian.Repo{ID: librarian.GitHubRepo("github.com", 2), Host: "github.com", Owner: "acme", Name: "lib", Visibility: librarian.Private, WebURL: "https://github.com/acme/lib"}
	w := &world{ledger: NewLedger(), files: map[string]string{}}
	w.sources = []Source{{"acme/app", app, shaA}, {"acme/app@v1", app, shaB}, {"acme/lib", lib, shaC}}
	w.put(0, "src/server.go", numbered(100))
	w.put(0, "src/client.go", "package src\n\nfunc dial(host string) error {\n\treturn connect(host, 443)\n}\n")
	w.put(0, "README.md", numbered(20))
	w.put(0, "docs/my file.md", numbered(20))
	w.put(0, "docs/new\nline.md", numbered(20))
	w.put(0, "app/(main)/[id]/page.tsx", numbered(30))
	w.put(0, "empty.txt", "")
	w.put(0, "logo.png", "\x00binary")
	w.put(0, "src/résumé.go", numbered(5)) // composed
	w.put(1, "src/server.go", numbered(60))
	w.put(2, "core/pool.go", numbered(40))
	w.put(2, "src/server.go", numbered(10))
	return w
}

func numbered(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString("some line of text\n")
	}
	return b.String()
}

func (w *world) put(source int, p, content string) {
	s := w.sources[source]
	w.files[string(s.Repo.ID)+"@"+s.SHA+":"+p] = content
}

func (w *world) read(source int, p string, start, end int) {
	s := w.sources[source]
	w.ledger.Add(tool.Evidence{Repo: string(s.Repo.ID), Name: s.Repo.FullName(), SHA: s.SHA, Path: p, Start: start, End: end})
}

func (w *world) Source(key string) (Source, bool) {
	for _, s := range w.sources {
		if strings.EqualFold(s.Key, key) {
			return s, true
		}
	}
	return Source{}, false
}

func (w *world) Sources() []Source { return w.sources }

func (w *world) Stat(_ context.Context, repo librarian.RepoID, sha, p string) (FileInfo, error) {
	if w.broken != nil {
		return FileInfo{}, w.broken
	}
	prefix := string(repo) + "@" + sha + ":"
	content, ok := w.files[prefix+p]
	switch {
	case ok && strings.Contains(content, "\x00"):
		return FileInfo{Kind: KindBinary}, nil
	case ok:
		return FileInfo{Lines: strings.Count(content, "\n"), Kind: KindText}, nil
	}
	for f := range w.files {
		if strings.HasPrefix(f, prefix+p+"/") {
			return FileInfo{Kind: KindDir}, nil
		}
	}
	return FileInfo{}, fs.ErrNotExist
}

func (w *world) Nearest(_ context.Context, repo librarian.RepoID, sha, p string) []string {
	var out []string
	for f := range w.files {
		if rest, ok := strings.CutPrefix(f, string(repo)+"@"+sha+":"); ok && path.Base(rest)[0] == path.Base(p)[0] {
			out = append(out, rest)
		}
	}
	return out
}

func (w *world) Lines(_ context.Context, repo librarian.RepoID, sha, p string, start, end int) ([]string, error) {
	lines := strings.Split(strings.TrimSuffix(w.files[string(repo)+"@"+sha+":"+p], "\n"), "\n")
	return lines[start-1 : min(end, len(lines))], nil
}

func (w *world) results() *Results {
	return NewResults(ResultsOptions{Ledger: w.ledger, Sources: w, Tree: w})
}

// provide calls the tool as the agent does, with JSON.
func provide(t *testing.T, r *Results, args any) tool.Result {
	t.Helper()
	raw, ok := args.(string)
	if !ok {
		b, err := json.Marshal(args)
		require.NoError(t, err)
		raw = string(b)
	}
	res, err := r.Tool().Call(t.Context(), json.RawMessage(raw))
	require.NoError(t, err)
	return res
}

type j = map[string]any

func answer(summary string, locations ...j) j {
	if locations == nil {
		locations = []j{}
	}
	return j{"summary": summary, "locations": locations}
}

func at(repo, file, lines string) j {
	return j{"repo": repo, "file": file, "lines": lines, "note": "see"}
}

// golden compares with testdata/name; -update writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func calls() []librarian.ToolEndData {
	ms := time.Millisecond
	return []librarian.ToolEndData{
		{Verb: "checkout", Subject: "drizzle-team/drizzle-orm@main", Summary: "cached · 2.1k files", Took: 3200 * ms},
		{Verb: "search", Subject: `code /prepare\w+\(/ in drizzle-team/*`, Summary: "23 hits · 4 repos", Took: 900 * ms},
		{Verb: "grep", Subject: `"prepareQuery" drizzle-orm/src`, Summary: "14 matches", Took: 300 * ms},
		{Verb: "read", Subject: "drizzle-orm/src/pg-core/session.ts:80-140", Took: 100 * ms},
		{Verb: "log", Subject: "-S prepareQuery", Summary: "12 commits", Took: 700 * ms},
		{Verb: "results", Subject: "3 locations", Took: 100 * ms},
	}
}
