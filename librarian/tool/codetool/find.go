package codetool

import (
	"context"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/librarian/tool"
)

// Limits of what find prints, in paths.
const (
	defaultPaths = 1000
	maxPaths     = 10_000
)

// FindArgs are the arguments of find.
type FindArgs struct {
	Pattern string `json:"pattern" jsonschema:"A glob: *.go matches file names in any folder, src/**/*_test.ts paths below path; ? [a-z] {a,b} too. At most 1,000 bytes."`
	Repo    string `json:"repo,omitempty" jsonschema:"The checkout, as checkout_repo named it. Default: the only one there is."`
	Path    string `json:"path,omitempty" jsonschema:"A folder to search, relative to the repository's root. Default: the root."`
	Limit   *int   `json:"limit,omitempty" jsonschema:"Paths to show, at most 10000. Default 1000."`
}

func (s *Session) findFiles() tool.Tool {
	return tool.New(tool.Definition[FindArgs]{
		Name:        "find",
		Description: "Finds files and folders of a checkout by a glob and prints their paths, one a line, folders with a slash. At most 50 KiB.",
		Effect:      tool.Read,
		Verb:        "find",
		Subject:     s.findSubject,
		Run:         s.runFind,
		Refine:      atLeast(1, "limit"),
	})
}

func (s *Session) findSubject(a FindArgs) string {
	return tool.OneLine(tool.Clip(a.Pattern, 80)) + " in " + at(s.label(a.Repo), a.Path)
}

func (s *Session) runFind(ctx context.Context, a FindArgs) (tool.Result, error) {
	limit, no := tool.Limit(a.Limit, defaultPaths, maxPaths)
	if no != "" {
		return refused(no), nil
	}
	t, no, err := s.locate(ctx, a.Repo, a.Path)
	if no != "" || err != nil {
		return refused(no), err
	}
	if !t.dir {
		return tool.Errorf("%s is a %s, not a folder.", tool.QuotePath(t.path), t.entry.Kind), nil
	}
	found, err := t.h.Checkout.Find(ctx, checkout.FindOptions{Glob: a.Pattern, Path: t.path, Limit: limit})
	if err != nil {
		return searchRefusal(ctx, err)
	}
	out := listing{limit: limit}
	for _, p := range found.Paths {
		if !out.add(tool.QuotePath(p)) {
			break
		}
	}
	text := out.b.String()
	data := FindData{Repo: t.h.key, SHA: t.h.Checkout.SHA(), Paths: append([]string{}, found.Paths[:out.n]...), Limited: found.Limited || out.cut != ""}
	summary := tool.Count(out.n, "path", "paths")
	switch {
	case len(found.Paths) == 0:
		text = "No files found matching pattern"
		if hint := globHint(a.Pattern); hint != "" {
			text += " (" + hint + ")"
		}
	case out.cut == "bytes":
		text = tool.Notices(text, cutNotice("bytes", "", limit, maxPaths, "refine the pattern or the path"))
	case found.Limited:
		text = tool.Notices(text, cutNotice("lines", "results", limit, maxPaths, "refine the pattern"))
	}
	return tool.Result{Text: text, Subject: s.findSubject(a), Summary: summary, Data: tool.JSON(data)}, nil
}
