package codetool

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/librarian-app/librarian/checkout/history"
	"github.com/librarian-app/librarian/librarian/tool"
)

// defaultBlame is how many lines git_blame shows.
const defaultBlame = 200

// BlameArgs are the arguments of git_blame.
type BlameArgs struct {
	Repo   string `json:"repo,omitempty" jsonschema:"The checkout, as checkout_repo named it. Default: the only one there is."`
	Path   string `json:"path" jsonschema:"The file, relative to the repository's root."`
	Offset *int   `json:"offset,omitempty" jsonschema:"The first line, from 1. Default 1."`
	Limit  *int   `json:"limit,omitempty" jsonschema:"The number of lines, at most 2000. Default 200."`
}

// BlameData is what git_blame gives to programs.
type BlameData struct {
	Repo    string       `json:"repo"`
	SHA     string       `json:"sha"`
	Path    string       `json:"path"`
	Start   int          `json:"start"`
	End     int          `json:"end"`
	Commits []string     `json:"commits"` // full ids, newest first
	Shares  []BlameShare `json:"shares"`  // what each of them wrote of the lines shown, in the same order
}

// BlameShare is what one commit wrote of the lines that are shown.
type BlameShare struct {
	SHA     string `json:"sha"`
	Author  string `json:"author"`
	Date    string `json:"date"` // YYYY-MM-DD, the author's
	Subject string `json:"subject"`
	Lines   int    `json:"lines"`
}

func (s *Session) gitBlame() tool.Tool {
	return tool.New(tool.Definition[BlameArgs]{
		Name: "git_blame",
		Description: "Shows which commit each line of a file comes from, through renames: `id line: text`, and after the lines the commits with day, author " +
			"and subject. At most 50 KiB. Lines shown here can be cited.",
		Effect: tool.Read,
		Verb:   "blame",
		Subject: func(a BlameArgs) string {
			return at(s.label(a.Repo), a.Path) + askedLines(a.Offset, a.Limit)
		},
		Run:    s.runGitBlame,
		Refine: atLeast(1, "offset", "limit"),
	})
}

func (s *Session) runGitBlame(ctx context.Context, a BlameArgs) (tool.Result, error) {
	window := tool.Window{Offset: a.Offset, Limit: a.Limit}
	if err := window.Check(); err != nil {
		return tool.Errorf("%s", err), nil
	}
	t, raw, no, err := s.text(ctx, a.Repo, a.Path)
	if no != "" || err != nil {
		return refused(no), err
	}
	total := tool.CountLines(raw)
	first := 1
	if a.Offset != nil {
		first = *a.Offset
	}
	limit, _ := tool.Limit(a.Limit, defaultBlame, tool.MaxLines)
	switch {
	case total == 0:
		return tool.Result{Text: "[Empty file.]", Summary: "empty"}, nil
	case first > total:
		return tool.Errorf("Offset %d is beyond end of file (%d lines total)", first, total), nil
	}
	last := min(total, first+limit-1)
	found, err := history.Blame(ctx, t.h.Checkout, t.path, first, last)
	if err != nil {
		return historyRefusal(ctx, err)
	}
	plain := tool.ReadText(raw)
	// git gives bytes; where they are of another encoding the lines are those that read shows.
	if lines := strings.Split(plain.Body, "\n"); bytes.Count(raw, []byte("\n")) == len(lines)-1 {
		for i, l := range found.Lines {
			if l.Line <= len(lines) {
				found.Lines[i].Text = strings.TrimSuffix(lines[l.Line-1], "\r")
			}
		}
	}
	result := s.blameResult(t, found, total)
	result.Text = tool.Notices(result.Text, plain.Notes...)
	if found.Shallow {
		result.Text = tool.Notices(result.Text, "[The repository is itself a shallow clone: what is older than its history is put down to the commit where that breaks off.]")
	}
	return result, nil
}

// blameResult prints lines first, because they are what was asked for, then their commits.
func (s *Session) blameResult(t target, found history.BlameResult, total int) tool.Result {
	out := listing{limit: tool.MaxLines}
	e := ranges{h: t.h}
	used := map[int]int{} // lines by commit
	data := BlameData{Repo: t.h.key, SHA: t.h.Checkout.SHA(), Path: t.path}
	for _, l := range found.Lines {
		from := ""
		if l.Path != t.path {
			from = " " + tool.QuotePath(l.Path)
		}
		if !out.add(fmt.Sprintf("%.8s%s %d: %s", found.Commits[l.Commit].SHA, from, l.Line, tool.OneLine(tool.Clip(l.Text, maxGrepChars)))) {
			break
		}
		used[l.Commit]++
		e.add(data.SHA, t.path, l.Line)
		if data.Start == 0 {
			data.Start = l.Line
		}
		data.End = l.Line
	}
	commits := listing{limit: 200}
	for i, c := range found.Commits {
		if used[i] == 0 {
			continue
		}
		data.Commits = append(data.Commits, c.SHA)
		data.Shares = append(data.Shares, BlameShare{SHA: c.SHA, Author: c.Author, Date: c.Date.Format(time.DateOnly), Subject: c.Subject, Lines: used[i]})
		commits.add(fmt.Sprintf("%.8s %s %s: %s", c.SHA, c.Date.Format(time.DateOnly), tool.OneLine(tool.Clip(c.Author, 60)), tool.OneLine(tool.Clip(c.Subject, 150))))
	}
	text := out.b.String() + "\n\n" + commits.b.String()
	if data.End < total {
		text = tool.Notices(text, fmt.Sprintf("[%d more lines in file. Use offset=%d to continue.]", total-data.End, data.End+1))
	}
	return tool.Result{Text: text, Subject: fmt.Sprintf("%s:%d-%d", at(s.label(t.h.key), t.path), data.Start, data.End),
		Summary: tool.Count(len(data.Commits), "commit", "commits"), Evidence: e.list, Data: tool.JSON(data)}
}
