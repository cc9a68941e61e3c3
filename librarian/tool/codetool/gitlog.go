package codetool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/librarian-app/librarian/checkout/history"
	"github.com/librarian-app/librarian/librarian/tool"
)

// Limits of git_log, in commits.
const (
	defaultCommits = 20
	maxCommits     = 200
	defaultLookAt  = 300
	maxLookAt      = 20_000
)

// LogArgs are the arguments of git_log.
type LogArgs struct {
	Repo    string `json:"repo,omitempty" jsonschema:"The checkout, as checkout_repo named it. Default: the only one there is."`
	Path    string `json:"path,omitempty" jsonschema:"Only commits that changed something at or below this path; it need not exist any more. Default all."`
	From    string `json:"from,omitempty" jsonschema:"Leave out what this ref or commit already has; ~3, ^ or ^2 may follow. Default: nothing is left out."`
	To      string `json:"to,omitempty" jsonschema:"The ref or commit to begin at; ~3, ^ or ^2 may follow. HEAD is the checkout's commit. Default: the checkout's commit."`
	Added   string `json:"added,omitempty" jsonschema:"Only commits that add or remove an occurrence of this text (git log -S). Default all."`
	Touched string `json:"touched,omitempty" jsonschema:"Only commits with an added or removed line that matches this regular expression (git log -G). Default all."`
	Author  string `json:"author,omitempty" jsonschema:"Only commits whose author's name or mail contains this. Default all."`
	Since   string `json:"since,omitempty" jsonschema:"Only commits from this day on, as YYYY-MM-DD. Default all."`
	Merges  *bool  `json:"merges,omitempty" jsonschema:"Show merges too, each by what it brought to its first parent; with path that finds the pull request a change came with. Default: true, but false with path, added or touched."`
	LookAt  *int   `json:"look_at,omitempty" jsonschema:"How many commits to look at, newest first, at most 20000. Default 300."`
	Limit   *int   `json:"limit,omitempty" jsonschema:"Commits to show, at most 200. Default 20."`
}

// LogData is what git_log gives to programs.
type LogData struct {
	Repo    string     `json:"repo"`
	Commits []LogEntry `json:"commits"` // newest first
	Looked  int        `json:"looked_at"`
	Stopped bool       `json:"stopped,omitempty"` // there is more history
	Limited bool       `json:"limited,omitempty"` // there are more matches
}

// LogEntry is one commit of a log.
type LogEntry struct {
	SHA     string   `json:"sha"` // full
	Author  string   `json:"author"`
	Date    string   `json:"date"` // YYYY-MM-DD, the author's
	Subject string   `json:"subject"`
	Paths   []string `json:"paths,omitempty"` // changed, at most 50
}

func (s *Session) gitLog() tool.Tool {
	return tool.New(tool.Definition[LogArgs]{
		Name: "git_log",
		Description: "Lists commits, newest first, with the paths they changed; by path, range, author, date, or by the text they added or removed. It says " +
			"how many commits it looked at and whether it stopped early. Commits are not evidence: see git_show.",
		Effect:  tool.Read,
		Verb:    "log",
		Subject: s.logSubject,
		Run:     s.runGitLog,
		Refine:  atLeast(1, "look_at", "limit"),
	})
}

func (s *Session) logSubject(a LogArgs) string {
	var parts []string
	for _, p := range [][2]string{{"-S ", a.Added}, {"-G ", a.Touched}, {"--author ", a.Author}, {"--since ", a.Since}} {
		if p[1] != "" {
			parts = append(parts, p[0]+tool.OneLine(tool.Clip(p[1], 60)))
		}
	}
	if a.From != "" || a.To != "" {
		parts = append(parts, tool.OneLine(tool.Clip(a.From+".."+a.To, 80)))
	}
	if a.Path != "" || len(parts) == 0 {
		parts = append(parts, at(s.label(a.Repo), a.Path))
	}
	return strings.Join(parts, " ")
}

func (s *Session) runGitLog(ctx context.Context, a LogArgs) (tool.Result, error) {
	limit, no := tool.Limit(a.Limit, defaultCommits, maxCommits)
	if no != "" {
		return refused(no), nil
	}
	if a.LookAt != nil && *a.LookAt < 1 {
		return tool.Errorf("look_at must be greater than or equal to 1."), nil
	}
	lookAt, _ := tool.Limit(a.LookAt, defaultLookAt, maxLookAt)
	h, paths, no := s.past(a.Repo, a.Path)
	if no = cmp.Or(no, aRange(a.From, a.To)); no != "" {
		return refused(no), nil
	}
	o := history.LogOptions{From: a.From, To: a.To, Paths: paths, Author: a.Author, Added: a.Added, Touched: a.Touched, LookAt: lookAt, Limit: limit}
	if a.Since != "" {
		day, err := time.Parse(time.DateOnly, a.Since)
		if err != nil {
			return tool.Errorf("since must be a day as YYYY-MM-DD."), nil
		}
		o.Since = day
	}
	if o.Merges = a.Path == "" && a.Added == "" && a.Touched == ""; a.Merges != nil {
		o.Merges = *a.Merges
	}
	found, err := history.Log(ctx, h.Checkout, o)
	if err != nil {
		return historyRefusal(ctx, err)
	}
	data := LogData{Repo: h.key, Commits: []LogEntry{}, Looked: found.LookedAt, Stopped: found.Stopped, Limited: found.Limited}
	out := listing{limit: limit}
	for _, c := range found.Commits {
		if !out.add(commitText(c)) {
			break
		}
		entry := LogEntry{SHA: c.SHA, Date: c.Date.Format(time.DateOnly), Author: c.Author, Subject: c.Subject}
		for _, ch := range c.Changed {
			entry.Paths = append(entry.Paths, ch.Path)
		}
		data.Commits = append(data.Commits, entry)
	}
	looked := fmt.Sprintf("looked at %s", tool.Count(found.LookedAt, "commit", "commits"))
	if found.Stopped {
		looked += fmt.Sprintf(" and stopped there; use look_at=%d to go further back", min(2*lookAt, maxLookAt))
		if lookAt == maxLookAt {
			looked = strings.TrimSuffix(looked, fmt.Sprintf("; use look_at=%d to go further back", maxLookAt))
		}
	} else if found.Shallow {
		looked += "; the history breaks off there, because the repository is itself a shallow clone"
	} else {
		looked += ", all there are"
		if a.From != "" {
			looked += " in that range"
		}
	}
	text := fmt.Sprintf("%s found (%s).", sentenceCase(tool.Count(len(data.Commits), "commit", "commits")), looked)
	if out.n > 0 {
		text += "\n\n" + out.b.String()
	}
	switch {
	case out.cut == "bytes":
		text = tool.Notices(text, cutNotice("bytes", "", limit, maxCommits, "name a path or look for a text"))
	case found.Limited:
		text = tool.Notices(text, cutNotice("lines", "commits", limit, maxCommits, "narrow the search"))
	}
	if n := len(found.Commits); n > 0 && out.n == n && len(paths) > 0 && !found.Limited {
		text = tool.Notices(text, beginning(found.Commits[n-1], paths[0])...)
	}
	return tool.Result{Text: text, Subject: s.logSubject(a), Summary: tool.Count(len(data.Commits), "commit", "commits"), Data: tool.JSON(data)}, nil
}

// beginning says where the history of a path may go on under another name: a commit that added it may have renamed it.
func beginning(c history.LogEntry, path string) []string {
	if len(c.Parents) == 0 {
		return nil
	}
	for _, ch := range c.Changed {
		if ch.Path == path && ch.Status == 'A' {
			return []string{fmt.Sprintf("[%s was added in %.12s. If it had another name before, git_show of that commit without path says which.]", tool.QuotePath(path), c.SHA)}
		}
	}
	return nil
}

// aRange refuses what git's own commands take for two commits.
func aRange(names ...string) (refusal string) {
	for _, n := range names {
		if strings.Contains(n, "..") {
			return fmt.Sprintf("%q is a range. Give its two ends as from and to of git_log or git_diff.", tool.OneLine(tool.Clip(n, 100)))
		}
	}
	return ""
}

// commitText is a commit in three lines: id, day and author; subject; changed paths.
func commitText(c history.LogEntry) string {
	var changed []string
	for i, ch := range c.Changed {
		if i == 10 {
			break
		}
		changed = append(changed, string(ch.Status)+" "+tool.QuotePath(ch.Path))
	}
	kind := ""
	if len(c.Parents) > 1 {
		kind = " (merge)"
	}
	text := fmt.Sprintf("%.12s %s %s%s\n  %s", c.SHA, c.Date.Format(time.DateOnly), tool.OneLine(c.Author), kind, tool.OneLine(tool.Clip(c.Subject, 200)))
	if len(changed) > 0 {
		text += "\n  " + strings.Join(changed, ", ")
	}
	if more := len(c.Changed) - len(changed) + c.More; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func sentenceCase(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// past resolves the `repo` and `path` parameters of a history tool; a path may be one that is gone by now.
func (s *Session) past(repo, path string) (h *held, paths []string, refusal string) {
	h, refusal = s.find(repo)
	if refusal != "" {
		return nil, nil, refusal
	}
	clean, refusal := tool.CleanPath(path)
	if refusal != "" {
		return nil, nil, refusal
	}
	if clean != "" {
		paths = []string{clean}
	}
	return h, paths, ""
}

// historyRefusal tells the model of a range, a path or a limit that cannot be worked with, and of what git failed at, as odd
// histories make it: it can go on without. What ends the call itself, and a store that is being shut down, stay errors.
func historyRefusal(ctx context.Context, err error) (tool.Result, error) {
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	if no, other := pathRefusal(err); other == nil {
		return refused(no), nil
	}
	said, fault := refusal(err)
	if fault == nil || errors.Is(fault, context.Canceled) {
		return said, fault
	}
	reason := tool.OneLine(tool.Clip(ourPath.ReplaceAllString(fault.Error(), "$1$2…"), 300))
	return tool.Errorf("The history could not be read here: %s. Try another path or range, or say so in the findings.", strings.TrimRight(reason, ". ")), nil
}

// ourPath is an absolute path in what git or the system says: of this machine, since those in a repository are relative to its root.
var ourPath = regexp.MustCompile(`(['"])/[^'"]+|(^|[\s(=:])/[^\s'":,;)]+`)
