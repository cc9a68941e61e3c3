package history

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/librarian-app/librarian/checkout"
)

// DiffOptions say what Diff compares.
type DiffOptions struct {
	From, To string // refs or commits; To "" is the checkout's commit
	// MergeBase compares To with where it left From, as a pull request does. It
	// makes the whole history be fetched.
	MergeBase bool
	Paths     []string
	Context   int // lines around a change; 3 by default, 20 at most
	MaxLines  int // of all files together; 2,000 by default
}

// DiffResult is a comparison.
type DiffResult struct {
	From, To string // full ids of what was compared
	Base     string // the merge base, if that was asked for; From is the same then
	Files    []FileDiff
	Cut      bool // MaxLines was reached: the last file's lines, and those of all after it, are not whole
}

// FileDiff is what happened to one file.
type FileDiff struct {
	Status  byte   // 'A' added, 'M' modified, 'D' deleted, 'R' renamed, 'C' copied, 'T' of another kind
	Path    string // in To; in From for a deleted file
	OldPath string // for a renamed file
	Binary  bool
	Mode    string // "100644 → 100755" if that changed, else ""
	Added   int    // lines, as far as they were read
	Removed int
	// AddedCRLF and RemovedCRLF are how many of those end in CR LF, which Text does not show.
	AddedCRLF, RemovedCRLF int
	Lines                  []DiffLine
}

// DiffLine is one line of a diff.
type DiffLine struct {
	Op   byte   // ' ' context, '+' only in To, '-' only in From, '@' begin of a hunk
	Old  int    // line number in From, 0 if it is not there
	New  int    // line number in To, 0 if it is not there
	Text string // at most 2,000 bytes; of a hunk what git prints after the second @@
}

// Diff compares two commits.
func Diff(ctx context.Context, c *checkout.Checkout, o DiffOptions) (DiffResult, error) {
	var res DiffResult
	if o.From == "" {
		return res, &InputError{What: "from", Reason: "is needed"}
	}
	depth := 1
	if o.MergeBase {
		depth = checkout.Whole
	}
	var err error
	if res.From, err = bring(ctx, c, o.From, depth); err != nil {
		return res, err
	}
	if res.To = c.SHA(); o.To != "" {
		if res.To, err = bring(ctx, c, o.To, depth); err != nil {
			return res, err
		}
	} else if o.MergeBase {
		if err := c.Deepen(ctx, res.To, depth); err != nil {
			return res, err
		}
	}
	if o.MergeBase {
		if res.Base, err = mergeBase(ctx, c, res.From, res.To); err != nil {
			return res, err
		}
		res.From = res.Base
	}
	err = res.read(ctx, c, o, res.From, res.To)
	return res, err
}

func mergeBase(ctx context.Context, c *checkout.Checkout, a, b string) (string, error) {
	base := ""
	err := lines(ctx, c, "", func(l string) error { base = l; return nil }, "merge-base", a, b)
	if base == "" {
		if err != nil && ctx.Err() != nil {
			return "", fmt.Errorf("history: diff: %w", err)
		}
		return "", &InputError{What: fmt.Sprintf("%.12s and %.12s", a, b), Reason: "have no history in common"}
	}
	return base, nil
}

// ShowResult is one commit with its changes.
type ShowResult struct {
	Commit
	DiffResult // against the first parent; From is "" for a first commit
}

// Show reads one commit and what it changed against its first parent. commit is
// a ref, a full id, or a short id of a commit in the history of the one checked out or looked at before.
func Show(ctx context.Context, c *checkout.Checkout, commit string, o DiffOptions) (ShowResult, error) {
	var res ShowResult
	if commit == "" {
		commit = c.SHA()
	}
	sha, err := bring(ctx, c, commit, 2)
	if err != nil {
		return res, err
	}
	commits, err := details(ctx, c, []string{sha})
	if err != nil {
		return res, err
	}
	if len(commits) != 1 {
		return res, &InputError{What: fmt.Sprintf("commit %.12s", sha), Reason: "cannot be read"}
	}
	res.Commit, res.To = commits[0], sha
	if len(res.Parents) > 0 {
		res.From = res.Parents[0]
		err = res.read(ctx, c, o, res.From, sha)
	} else {
		err = res.read(ctx, c, o, sha)
	}
	return res, err
}

// read fetches what the commits' difference needs and has git print it. With one
// commit it is the difference to nothing.
func (r *DiffResult) read(ctx context.Context, c *checkout.Checkout, o DiffOptions, commits ...string) error {
	paths, err := pathArgs(o.Paths)
	if err != nil {
		return err
	}
	set := map[string]bool{}
	args := append(append([]string{}, commits...), paths...)
	if err := rawDiff(ctx, c, "", func(_ string, ch change) error { ch.blobs(set); return nil }, args...); err != nil {
		return fmt.Errorf("history: diff: %w", err)
	}
	if err := fill(ctx, c, set); err != nil {
		return err
	}
	around := 3
	if o.Context > 0 {
		around = min(o.Context, 20)
	}
	max := o.MaxLines
	if max <= 0 {
		max = 2000
	}
	args = append([]string{"diff-tree", "-r", "--root", "--no-commit-id", "-p", "--full-index", "-M", "-l400", "--no-color", "--no-ext-diff", "--no-textconv",
		"--src-prefix=a/", "--dst-prefix=b/", "-U" + strconv.Itoa(around), "--submodule=short"}, args...)
	p := &parser{res: r, max: max}
	err = c.Git(ctx, nil, p.parse, args...)
	if err != nil && !errors.Is(err, errEnough) {
		return fmt.Errorf("history: diff: %w", err)
	}
	return nil
}

// parser reads a patch.
type parser struct {
	res      *DiffResult
	max      int
	lines    int
	file     *FileDiff
	old, new int // next line numbers; both 0 outside a hunk
	leftOld  int // lines that the hunk still has
	leftNew  int
}

// maxLine bounds a line while reading; what is longer is cut.
const maxLine = 1 << 20

func (p *parser) parse(r io.Reader) error {
	br := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(br)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := p.line(line); err != nil {
			return err
		}
	}
}

// readLine reads a line without its end; of a very long one the beginning.
func readLine(br *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		part, err := br.ReadSlice('\n')
		if b.Len() < maxLine {
			b.Write(part)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && b.Len() > 0 && errors.Is(err, io.EOF) {
			err = nil
		}
		return strings.TrimSuffix(b.String(), "\n"), err
	}
}

func (p *parser) line(l string) error {
	if p.leftOld > 0 || p.leftNew > 0 {
		return p.hunkLine(l)
	}
	switch {
	case strings.HasPrefix(l, "diff --git "):
		p.res.Files = append(p.res.Files, FileDiff{Status: 'M'})
		p.file = &p.res.Files[len(p.res.Files)-1]
		p.file.Path, p.file.OldPath = headerPath(strings.TrimPrefix(l, "diff --git ")), ""
	case p.file == nil:
	case strings.HasPrefix(l, "new file mode "):
		p.file.Status = 'A'
	case strings.HasPrefix(l, "deleted file mode "):
		p.file.Status = 'D'
	case strings.HasPrefix(l, "old mode "):
		p.file.Mode = l[len("old mode "):]
	case strings.HasPrefix(l, "new mode "):
		p.file.Mode += " → " + l[len("new mode "):]
	case strings.HasPrefix(l, "rename from "):
		p.file.Status, p.file.OldPath = 'R', unquote(l[len("rename from "):])
	case strings.HasPrefix(l, "rename to "):
		p.file.Path = unquote(l[len("rename to "):])
	case strings.HasPrefix(l, "Binary files "):
		p.file.Binary = true
	case strings.HasPrefix(l, "+++ ") && !strings.HasPrefix(l, "+++ /dev/null"):
		p.file.Path = strings.TrimPrefix(unquote(strings.TrimSuffix(l[4:], "\t")), "b/")
	case strings.HasPrefix(l, "--- ") && p.file.Status == 'D':
		p.file.Path = strings.TrimPrefix(unquote(strings.TrimSuffix(l[4:], "\t")), "a/")
	case strings.HasPrefix(l, "@@ "):
		return p.hunk(l)
	}
	return nil
}

// hunk reads "@@ -a,b +c,d @@ rest".
func (p *parser) hunk(l string) error {
	f := strings.SplitN(l, " ", 5)
	if len(f) < 4 {
		return fmt.Errorf("malformed hunk %q", text(l, 100))
	}
	var err1, err2 error
	p.old, p.leftOld, err1 = span(strings.TrimPrefix(f[1], "-"))
	p.new, p.leftNew, err2 = span(strings.TrimPrefix(f[2], "+"))
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	rest := ""
	if len(f) == 5 {
		rest = f[4]
	}
	return p.add(DiffLine{Op: '@', Old: p.old, New: p.new, Text: text(rest, 200)})
}

func span(s string) (start, n int, err error) {
	a, b, two := strings.Cut(s, ",")
	if start, err = strconv.Atoi(a); err != nil {
		return 0, 0, err
	}
	n = 1
	if two {
		n, err = strconv.Atoi(b)
	}
	return start, n, err
}

func (p *parser) hunkLine(l string) error {
	if l == "" {
		l = " "
	}
	line, cr := strings.CutSuffix(l[1:], "\r")
	d := DiffLine{Op: l[0], Text: text(fromLatin1(line), 2000)}
	switch l[0] {
	case ' ':
		d.Old, d.New = p.old, p.new
		p.old, p.new, p.leftOld, p.leftNew = p.old+1, p.new+1, p.leftOld-1, p.leftNew-1
	case '-':
		d.Old = p.old
		p.old, p.leftOld = p.old+1, p.leftOld-1
		p.file.Removed++
		if cr {
			p.file.RemovedCRLF++
		}
	case '+':
		d.New = p.new
		p.new, p.leftNew = p.new+1, p.leftNew-1
		p.file.Added++
		if cr {
			p.file.AddedCRLF++
		}
	default: // "\ No newline at end of file"
		return nil
	}
	return p.add(d)
}

// fromLatin1 makes bytes that are no UTF-8 the characters they are in Latin-1, as a file of such is read.
func fromLatin1(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	out := make([]byte, 0, len(s)+len(s)/8)
	for n := 0; s != ""; s = s[n:] {
		var r rune
		if r, n = utf8.DecodeRuneInString(s); r == utf8.RuneError && n == 1 {
			r = rune(s[0])
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

func (p *parser) add(d DiffLine) error {
	if p.lines == p.max {
		p.res.Cut = true
		return nil // go on for the names of the other files
	}
	p.lines++
	p.file.Lines = append(p.file.Lines, d)
	return nil
}

// quoted is a name as git quotes it, at the beginning of a text.
var quoted = regexp.MustCompile(`^"(?:[^"\\]|\\.)*"`)

// headerPath takes the path from "a/x b/x"; renames say it better further down.
func headerPath(s string) string {
	if strings.HasPrefix(s, `"`) {
		if first := quoted.FindString(s); first != "" {
			return strings.TrimPrefix(unquote(first), "a/")
		}
	}
	if n := len(s); n%2 == 1 && s[n/2] == ' ' {
		return strings.TrimPrefix(s[n/2+1:], "b/")
	}
	return s
}

// unquote undoes git's C-style quoting of odd names.
func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	var b strings.Builder
	for s = s[1 : len(s)-1]; s != ""; s = s[1:] {
		if s[0] != '\\' || len(s) < 2 {
			b.WriteByte(s[0])
			continue
		}
		s = s[1:]
		if i := strings.IndexByte(`abtnvfr"\`, s[0]); i >= 0 {
			b.WriteByte("\a\b\t\n\v\f\r\"\\"[i])
			continue
		}
		if len(s) >= 3 {
			if n, err := strconv.ParseUint(s[:3], 8, 8); err == nil {
				b.WriteByte(byte(n))
				s = s[2:]
			}
		}
	}
	return b.String()
}
