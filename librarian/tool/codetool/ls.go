package codetool

import (
	"context"
	"fmt"
	"strings"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/librarian/tool"
)

// defaultEntries is how many entries of a folder are listed; maxEntries is the most that may be asked for.
const (
	defaultEntries = 500
	maxEntries     = 5000
)

// LsArgs are the arguments of ls.
type LsArgs struct {
	Repo  string `json:"repo,omitempty" jsonschema:"The checkout, as checkout_repo named it. Default: the only one there is."`
	Path  string `json:"path,omitempty" jsonschema:"The folder, relative to the repository's root. Default: the root."`
	Limit *int   `json:"limit,omitempty" jsonschema:"The number of entries to list, at most 5000. Default 500."`
}

func (s *Session) ls() tool.Tool {
	return tool.New(tool.Definition[LsArgs]{
		Name:        "ls",
		Description: "Lists a folder of a checkout, one entry a line, folders with a slash, hidden files too.",
		Effect:      tool.Read,
		Verb:        "ls",
		Subject:     func(a LsArgs) string { return at(s.label(a.Repo), a.Path) },
		Run:         s.runLs,
		Refine:      atLeast(1, "limit"),
	})
}

func (s *Session) runLs(ctx context.Context, a LsArgs) (tool.Result, error) {
	limit, no := tool.Limit(a.Limit, defaultEntries, maxEntries)
	if no != "" {
		return refused(no), nil
	}
	t, no, err := s.locate(ctx, a.Repo, a.Path)
	if no != "" || err != nil {
		return refused(no), err
	}
	if !t.dir {
		return tool.Errorf("%s is a %s, not a folder. Use read.", tool.QuotePath(t.path), t.entry.Kind), nil
	}
	return s.list(ctx, t, limit)
}

// list prints a folder; read does it too.
func (s *Session) list(ctx context.Context, t target, limit int) (tool.Result, error) {
	items, err := t.h.Checkout.List(ctx, t.path)
	if err != nil {
		return tool.Result{}, fmt.Errorf("codetool: %w", err)
	}
	out := listing{limit: limit}
	entries := []ListEntry{}
	for _, item := range items {
		e := ListEntry{Name: item.Name, Kind: string(item.Kind)}
		line := tool.QuotePath(item.Name)
		switch {
		case item.Dir:
			e.Kind, line = "directory", line+"/"
		case item.Kind == checkout.Exec:
			e.Kind = string(checkout.File)
		}
		if !out.add(line) {
			break
		}
		entries = append(entries, e)
	}
	text := out.b.String()
	switch {
	case len(items) == 0:
		text = "(empty directory)"
	case out.cut != "":
		text = tool.Notices(text, cutNotice(out.cut, "entries", limit, maxEntries, "list a folder below"))
	}
	data := ListData{Repo: t.h.key, SHA: t.h.Checkout.SHA(), Path: t.path, Entries: entries, Limited: out.cut != ""}
	return tool.Result{Text: text, Subject: at(s.label(t.h.key), t.path), Summary: tool.Count(len(items), "entry", "entries"), Data: tool.JSON(data)}, nil
}

// cutNotice says that a list was cut and how to see more.
func cutNotice(cut, what string, limit, most int, otherwise string) string {
	switch {
	case cut == "bytes":
		return fmt.Sprintf("[%s limit reached. %s.]", tool.Size(tool.MaxBytes), strings.ToUpper(otherwise[:1])+otherwise[1:])
	case limit >= most:
		return fmt.Sprintf("[%d %s limit reached. %s.]", limit, what, strings.ToUpper(otherwise[:1])+otherwise[1:])
	}
	return fmt.Sprintf("[%d %s limit reached. Use limit=%d for more, or %s.]", limit, what, min(2*limit, most), otherwise)
}
