package codetool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/librarian/tool"
)

// Limits of what grep prints.
const (
	defaultMatches = 100 // matching lines
	maxMatches     = 2000
	maxContext     = 20  // lines before and after a match
	maxGrepChars   = 500 // characters of one line
)

// GrepArgs are the arguments of grep.
type GrepArgs struct {
	Pattern    string `json:"pattern" jsonschema:"A regular expression in RE2 syntax, matched against one line at a time; plain text with literal. At most 4,000 bytes."`
	Repo       string `json:"repo,omitempty" jsonschema:"The checkout, as checkout_repo named it. Default: the only one there is."`
	Path       string `json:"path,omitempty" jsonschema:"A folder or file to search, relative to the repository's root. Default: the root."`
	Glob       string `json:"glob,omitempty" jsonschema:"Only files that match, such as *.go or src/**/*.ts (relative to path); none to leave out. Default: all text files."`
	IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema:"Match upper and lower case alike. Default false."`
	Literal    bool   `json:"literal,omitempty" jsonschema:"Take pattern as plain text. Default false."`
	Context    *int   `json:"context,omitempty" jsonschema:"Lines to show before and after each match, at most 20. Default 0."`
	Limit      *int   `json:"limit,omitempty" jsonschema:"Matching lines to show, at most 2000. Default 100."`
}

func (s *Session) grep() tool.Tool {
	return tool.New(tool.Definition[GrepArgs]{
		Name: "grep",
		Description: "Searches the text files of a checkout line by line and prints `path:line: text`, lines of context as `path-line- text`. " +
			"At most 50 KiB, a line cut at 500 characters. Of more matches than limit it shows, by path, those of files all over the tree. Lines shown here can be cited. Symbolic links are not followed.",
		Effect:  tool.Read,
		Verb:    "grep",
		Subject: s.grepSubject,
		Run:     s.runGrep,
		Refine: func(schema *jsonschema.Schema) {
			atLeast(1, "limit")(schema)
			atLeast(0, "context")(schema)
		},
	})
}

func (s *Session) grepSubject(a GrepArgs) string {
	place := at(s.label(a.Repo), a.Path)
	if a.Glob != "" {
		place += " " + tool.OneLine(tool.Clip(a.Glob, 60))
	}
	return `"` + tool.OneLine(tool.Clip(a.Pattern, 80)) + `" ` + place
}

func (s *Session) runGrep(ctx context.Context, a GrepArgs) (tool.Result, error) {
	limit, no := tool.Limit(a.Limit, defaultMatches, maxMatches)
	if no != "" {
		return refused(no), nil
	}
	around := 0
	if a.Context != nil {
		if around = *a.Context; around < 0 {
			return tool.Errorf("context must be greater than or equal to 0."), nil
		}
	}
	t, no, err := s.locate(ctx, a.Repo, a.Path)
	if no != "" || err != nil {
		return refused(no), err
	}
	switch t.entry.Kind {
	case checkout.Symlink, checkout.Submodule:
		text, err := t.withoutContent(ctx)
		return refused(fmt.Sprintf("%s cannot be searched: %s.", tool.QuotePath(t.path), text)), err
	}
	found, err := t.h.Checkout.Grep(ctx, checkout.GrepOptions{Pattern: a.Pattern, Literal: a.Literal, IgnoreCase: a.IgnoreCase,
		Path: t.path, Glob: a.Glob, Context: min(around, maxContext), Limit: limit})
	if err != nil {
		return searchRefusal(ctx, err)
	}
	return s.grepResult(t, a, found, limit), nil
}

// grepResult prints what was found; only the lines that are printed are evidence.
func (s *Session) grepResult(t target, a GrepArgs, found checkout.GrepResult, limit int) tool.Result {
	out := listing{limit: len(found.Lines)}
	data := GrepData{Repo: t.h.key, SHA: t.h.Checkout.SHA(), Matches: []GrepMatch{}}
	var evidence []tool.Evidence
	clipped := false
	for _, l := range found.Lines {
		text, long := grepWindow(l)
		format := "%s-%d- %s"
		if l.Match {
			format = "%s:%d: %s"
		}
		if !out.add(fmt.Sprintf(format, tool.QuotePath(l.Path), l.Line, tool.OneLine(text))) {
			break
		}
		clipped = clipped || long
		if l.Match {
			data.Matches = append(data.Matches, GrepMatch{Path: l.Path, Line: l.Line})
		}
		if n := len(evidence); n > 0 && evidence[n-1].Path == l.Path && evidence[n-1].End+1 == l.Line {
			evidence[n-1].End = l.Line
		} else {
			evidence = append(evidence, t.h.evidence(l.Path, l.Line, l.Line))
		}
	}
	summary := tool.Count(len(data.Matches), "match", "matches")
	var said []string
	switch {
	case out.cut != "":
		said = append(said, cutNotice("bytes", "", limit, maxMatches, "refine the pattern or the path"))
	case found.Limited:
		said = append(said, cutNotice("lines", "matches", limit, maxMatches, "refine the pattern"))
	}
	if data.Limited = len(said) > 0; data.Limited {
		summary = fmt.Sprintf("%d+ matches", len(data.Matches))
	}
	if clipped {
		said = append(said, fmt.Sprintf("[Lines are cut at %d characters. Use read to see one whole.]", maxGrepChars))
	}
	text := out.b.String()
	if len(found.Lines) == 0 {
		text = "No matches found"
		switch hint := globHint(a.Glob); {
		case found.Searched > 0:
		case found.Binary > 0:
			text += fmt.Sprintf(" (%s named by path and glob: not searched)", tool.Count(found.Binary, "binary file is", "binary files are"))
		case hint != "":
			text += " (no text file matches the glob: " + hint + ")"
		default:
			text += " (no text file was searched; check path and glob)"
		}
	}
	return tool.Result{Text: tool.Notices(text, said...), Subject: s.grepSubject(a), Summary: summary, Evidence: evidence, Data: tool.JSON(data)}
}

// grepWindow gives what is shown of a line, and whether it is cut: its begin, or where the match is not in that, what is around it.
func grepWindow(l checkout.GrepLine) (text string, cut bool) {
	chars := []rune(l.Text)
	from, match := 0, utf8.RuneCountInString(l.Text[:l.At])
	if match > maxGrepChars-maxGrepChars/10 || l.Skip > 0 {
		from = max(0, min(match-maxGrepChars/2, len(chars)-maxGrepChars))
	}
	to := min(len(chars), from+maxGrepChars)
	text = string(chars[from:to])
	before := from > 0 || l.Skip > 0
	after := to < len(chars) || l.Size > l.Skip+len(l.Text)+1 // the 1 is for a CR
	if before {
		text = "…" + text
	}
	if after {
		text += "…"
	}
	return text, before || after
}

// globHint says what in a glob that matched nothing may have been meant otherwise; empty: nothing.
func globHint(glob string) string {
	switch {
	case strings.HasPrefix(glob, "!"):
		return "a leading ! is part of the name, nothing can be left out by a glob"
	case strings.ContainsAny(glob, "[{"):
		return `put a \ before a literal { or [`
	}
	return ""
}

// searchRefusal tells the model of a pattern, a glob or a path that cannot be worked with; a cancelled call and a fault of the
// machine stay errors.
func searchRefusal(ctx context.Context, err error) (tool.Result, error) {
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	var pattern *checkout.PatternError
	var glob *checkout.GlobError
	if errors.As(err, &pattern) || errors.As(err, &glob) {
		return refusal(err)
	}
	no, err := pathRefusal(err)
	return refused(no), err
}
