package codetool

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/librarian-app/librarian/checkout/history"
	"github.com/librarian-app/librarian/librarian/tool"
)

// maxDiffContext is the most lines around a change.
const maxDiffContext = 20

// ShowArgs are the arguments of git_show.
type ShowArgs struct {
	Repo    string `json:"repo,omitempty" jsonschema:"The checkout, as checkout_repo named it. Default: the only one there is."`
	Commit  string `json:"commit,omitempty" jsonschema:"A commit id, or a ref; ~3, ^ or ^2 may follow. Default: the checkout's commit."`
	Path    string `json:"path,omitempty" jsonschema:"Only changes at or below this path. Default all."`
	Context *int   `json:"context,omitempty" jsonschema:"Lines around each change, 1 to 20. Default 3."`
}

// DiffArgs are the arguments of git_diff.
type DiffArgs struct {
	Repo      string `json:"repo,omitempty" jsonschema:"The checkout, as checkout_repo named it. Default: the only one there is."`
	From      string `json:"from" jsonschema:"The ref or commit to compare with; ~3, ^ or ^2 may follow."`
	To        string `json:"to,omitempty" jsonschema:"The ref or commit that is newer; ~3, ^ or ^2 may follow. Default: the checkout's commit."`
	MergeBase bool   `json:"merge_base,omitempty" jsonschema:"Compare with the commit where the two went apart, as a pull request does. Default false."`
	Path      string `json:"path,omitempty" jsonschema:"Only changes at or below this path. Default all."`
	Context   *int   `json:"context,omitempty" jsonschema:"Lines around each change, 1 to 20. Default 3."`
}

// DiffData is what git_show and git_diff give to programs.
type DiffData struct {
	Repo  string   `json:"repo"`
	From  string   `json:"from,omitempty"` // full ids
	To    string   `json:"to"`
	Paths []string `json:"paths"`         // that were changed
	Cut   bool     `json:"cut,omitempty"` // not all lines are shown
}

func (s *Session) gitShow() tool.Tool {
	return tool.New(tool.Definition[ShowArgs]{
		Name: "git_show",
		Description: "Shows a commit: its message and what it changed against its first parent, at most 2000 lines or 50 KiB. Lines are printed as " +
			"`+12: text` (new), `-12: text` (gone, numbered as in the parent) and ` 12: text` (both). Lines shown here can be cited; those of another commit than the checkout's once you call checkout_repo for it.",
		Effect:  tool.Read,
		Verb:    "show",
		Subject: s.showSubject,
		Run:     s.runGitShow,
		Refine:  atLeast(1, "context"),
	})
}

func (s *Session) gitDiff() tool.Tool {
	return tool.New(tool.Definition[DiffArgs]{
		Name: "git_diff",
		Description: "Shows what changed between two commits, at most 2000 lines or 50 KiB. Lines are printed as `+12: text` (new), `-12: text` (gone, " +
			"numbered as in from) and ` 12: text` (both). For a pull request check out refs/pull/N/head and set merge_base. Lines shown here can be cited; those of another commit than the checkout's once you call checkout_repo for it.",
		Effect:  tool.Read,
		Verb:    "diff",
		Subject: s.diffSubject,
		Run:     s.runGitDiff,
		Refine:  atLeast(1, "context"),
	})
}

func (s *Session) showSubject(a ShowArgs) string {
	commit := a.Commit
	if len(commit) == 40 {
		commit = commit[:12]
	}
	return strings.TrimSpace(tool.OneLine(tool.Clip(commit, 80)) + " " + at(s.label(a.Repo), a.Path))
}

func (s *Session) diffSubject(a DiffArgs) string {
	dots := ".."
	if a.MergeBase {
		dots = "..."
	}
	return tool.OneLine(tool.Clip(a.From+dots+a.To, 80)) + " " + at(s.label(a.Repo), a.Path)
}

func (s *Session) runGitShow(ctx context.Context, a ShowArgs) (tool.Result, error) {
	h, paths, no := s.past(a.Repo, a.Path)
	if no == "" && a.Context != nil && *a.Context < 1 {
		no = "context must be greater than or equal to 1."
	}
	if no = cmp.Or(no, aRange(a.Commit)); no != "" {
		return refused(no), nil
	}
	found, err := history.Show(ctx, h.Checkout, a.Commit, history.DiffOptions{Paths: paths, Context: contextOf(a.Context), MaxLines: tool.MaxLines})
	if err != nil {
		return historyRefusal(ctx, err)
	}
	c := found.Commit
	var head strings.Builder
	fmt.Fprintf(&head, "commit %s\n%s <%s> on %s", c.SHA, tool.OneLine(c.Author), tool.OneLine(c.Email), c.Date.Format(time.DateOnly))
	if len(c.Parents) > 1 {
		fmt.Fprintf(&head, "\nmerge of %s; compared with the first", shortIDs(c.Parents))
	}
	head.WriteString("\n\n    " + tool.OneLine(tool.Clip(c.Subject, 300)))
	for line := range strings.SplitSeq(c.Body, "\n") {
		if c.Body != "" {
			head.WriteString("\n    " + tool.OneLine(tool.Clip(line, 500)))
		}
	}
	return h.diffResult(head.String(), found.DiffResult, s.showSubject(a), paths), nil
}

func (s *Session) runGitDiff(ctx context.Context, a DiffArgs) (tool.Result, error) {
	h, paths, no := s.past(a.Repo, a.Path)
	if no == "" && a.Context != nil && *a.Context < 1 {
		no = "context must be greater than or equal to 1."
	}
	if no = cmp.Or(no, aRange(a.From, a.To)); no != "" {
		return refused(no), nil
	}
	found, err := history.Diff(ctx, h.Checkout, history.DiffOptions{From: a.From, To: a.To, MergeBase: a.MergeBase, Paths: paths,
		Context: contextOf(a.Context), MaxLines: tool.MaxLines})
	if err != nil {
		return historyRefusal(ctx, err)
	}
	head := fmt.Sprintf("diff %.12s..%.12s", found.From, found.To)
	if found.Base != "" {
		head += fmt.Sprintf(" (%.12s is where they went apart)", found.Base)
	}
	return h.diffResult(head, found, s.diffSubject(a), paths), nil
}

func shortIDs(ids []string) string {
	short := make([]string, len(ids))
	for i, id := range ids {
		short[i] = fmt.Sprintf("%.12s", id)
	}
	return strings.Join(short[:min(len(short), 20)], ", ")
}

func contextOf(n *int) int {
	if n == nil {
		return 3
	}
	return min(*n, maxDiffContext)
}

// diffResult prints a comparison, of paths if there are any; the lines that are printed are evidence, of the commit they are from.
func (h *held) diffResult(head string, d history.DiffResult, subject string, paths []string) tool.Result {
	data := DiffData{Repo: h.key, From: d.From, To: d.To, Paths: []string{}, Cut: d.Cut}
	added, removed := 0, 0
	var summary strings.Builder
	for _, f := range d.Files {
		data.Paths = append(data.Paths, f.Path)
		added, removed = added+f.Added, removed+f.Removed
		if len(data.Paths) <= 200 {
			fmt.Fprintf(&summary, "\n%s %s (+%d −%d%s)", string(f.Status), renamed(f), f.Added, f.Removed, unseen(f))
		}
	}
	if n := len(d.Files) - 200; n > 0 {
		fmt.Fprintf(&summary, "\n… and %d more files", n)
	}
	files := tool.Count(len(d.Files), "file", "files")
	out := listing{limit: 3 * tool.MaxLines}
	out.add(fmt.Sprintf("%s\n\n%s changed:%s", head, files, strings.TrimSuffix(summary.String(), "\n")))
	e := ranges{h: h}
	for _, f := range d.Files {
		if len(f.Lines) == 0 && !f.Binary {
			continue
		}
		if !out.add("\n" + renamed(f)) {
			break
		}
		if f.Binary {
			out.add("binary, not shown")
			continue
		}
		if !h.diffLines(&out, &e, d, f) {
			break
		}
	}
	text := out.b.String()
	if len(d.Files) == 0 {
		text = head + "\n\nNo changes."
		if len(paths) > 0 { // one, see past
			text = head + "\n\nNo changes at " + tool.QuotePath(paths[0]) + "."
		}
	}
	var said []string
	otherwise := "name a path"
	switch {
	case len(paths) > 0 && len(d.Files) == 1: // a narrower one there is not
		otherwise = "read the file in a checkout of the commit for the rest"
	case len(paths) > 0:
		otherwise = "name one of the files"
	}
	switch {
	case out.cut == "bytes":
		said = append(said, cutNotice("bytes", "", 0, 0, otherwise))
	case out.cut != "" || d.Cut:
		said = append(said, cutNotice("lines", "lines", tool.MaxLines, tool.MaxLines, otherwise))
	}
	data.Cut = len(said) > 0
	return tool.Result{Text: tool.Notices(text, said...), Subject: subject, Summary: fmt.Sprintf("%s, +%d −%d", files, added, removed),
		Evidence: e.list, Data: tool.JSON(data)}
}

// diffLines prints one file's lines; it reports whether all fitted.
func (h *held) diffLines(out *listing, e *ranges, d history.DiffResult, f history.FileDiff) bool {
	old := f.Path
	if f.OldPath != "" {
		old = f.OldPath
	}
	for _, l := range f.Lines {
		line := ""
		text := tool.OneLine(tool.Clip(l.Text, tool.MaxLineChars))
		switch l.Op {
		case '@':
			line = strings.TrimSpace("@@ " + text)
		case '-':
			line = fmt.Sprintf("-%d: %s", l.Old, text)
		default:
			line = fmt.Sprintf("%c%d: %s", l.Op, l.New, text)
		}
		if !out.add(line) {
			return false
		}
		switch {
		case l.Op == '-':
			e.add(d.From, old, l.Old)
		case l.Op != '@':
			e.add(d.To, f.Path, l.New)
		}
	}
	return true
}

// unseen is what changed of a file and no line shows.
func unseen(f history.FileDiff) string {
	said := ""
	if f.Mode != "" {
		said = ", mode " + f.Mode
	}
	switch {
	case f.Added == 0 || f.Removed == 0:
	case f.AddedCRLF == 0 && f.RemovedCRLF == f.Removed:
		said += ", line ends CRLF → LF"
	case f.RemovedCRLF == 0 && f.AddedCRLF == f.Added:
		said += ", line ends LF → CRLF"
	}
	return said
}

func renamed(f history.FileDiff) string {
	if f.OldPath != "" && f.OldPath != f.Path {
		return tool.QuotePath(f.OldPath) + " → " + tool.QuotePath(f.Path)
	}
	return tool.QuotePath(f.Path)
}

// ranges joins shown lines to evidence.
type ranges struct {
	h    *held
	list []tool.Evidence
	last map[string]int // by commit and path, the entry that may grow
}

func (r *ranges) add(sha, path string, line int) {
	key := sha + "\x00" + path
	if i, ok := r.last[key]; ok && r.list[i].End+1 == line {
		r.list[i].End = line
		return
	}
	if r.last == nil {
		r.last = map[string]int{}
	}
	r.last[key] = len(r.list)
	e := r.h.evidence(path, line, line)
	e.SHA = sha
	r.list = append(r.list, e)
}
