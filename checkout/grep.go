package checkout

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"
)

// GrepOptions say what Grep looks for.
type GrepOptions struct {
	// Pattern is RE2 syntax (see regexp/syntax), applied to one line at a time.
	Pattern    string
	Literal    bool // Pattern is plain text
	IgnoreCase bool
	Path       string // a folder or file; "" is the whole tree
	Glob       string // only files that match, see FindOptions; "" is all
	Context    int    // lines before and after each match, 20 at most
	Limit      int    // of matching lines; 0 means 100
}

// GrepLine is one line of a result.
type GrepLine struct {
	Path  string
	Line  int    // from 1
	Text  string // valid UTF-8, at most 2,000 bytes
	Size  int    // bytes of the whole line
	Match bool   // false for a line of context
}

// GrepResult is what Grep found, by path and line. Where matches are near each
// other their context is given once.
type GrepResult struct {
	Lines    []GrepLine
	Matches  int
	Files    int  // with matches
	Searched int  // files looked into
	Binary   int  // files left out because they are binary or larger than 32 MiB
	Limited  bool // there was more than Limit
}

const (
	maxGrepText    = 2000
	maxGrepContext = 20
)

// PatternError says that a pattern is not RE2 syntax.
type PatternError struct {
	Pattern string
	Err     error
}

func (e *PatternError) Error() string {
	return fmt.Sprintf("pattern %q: %s", clip(e.Pattern, 100), strings.TrimPrefix(e.Err.Error(), "error parsing regexp: "))
}

// Unwrap gives the parser's error.
func (e *PatternError) Unwrap() error { return e.Err }

// Hint says what to try next.
func (e *PatternError) Hint() string {
	return "Patterns are RE2 syntax, without look-around and back references; set literal to search for plain text."
}

// Grep searches the lines of the tree's text files. Time grows linearly with
// the text whatever the pattern is. Symbolic links and submodules are left out.
func (c *Checkout) Grep(ctx context.Context, o GrepOptions) (GrepResult, error) {
	var res GrepResult
	m, err := newMatcher(o)
	if err != nil {
		return res, err
	}
	files, err := c.grepFiles(ctx, o)
	if err != nil {
		return res, err
	}
	limit := cmp.Or(o.Limit, 100)
	around := min(max(o.Context, 0), maxGrepContext)
	// Batches keep the order and stop the work soon after the limit.
	for size := 32; len(files) > 0 && !res.Limited; size = min(2*size, 1024) {
		batch := files[:min(size, len(files))]
		files = files[len(batch):]
		found := make([]fileMatches, len(batch))
		if err := c.grepBatch(ctx, m, batch, found, around, limit+1); err != nil {
			return res, err
		}
		for _, f := range found {
			if f.binary {
				res.Binary++
				continue
			}
			res.Searched++
			if f.matches > 0 && res.Matches < limit {
				res.Files++
			}
			res.Limited = res.Limited || res.Matches+f.matches > limit
			res.add(f, limit, around)
		}
	}
	return res, nil
}

// add takes over a file's lines up to the limit.
func (r *GrepResult) add(f fileMatches, limit, around int) {
	if r.Matches >= limit {
		return
	}
	end := 0
	for _, l := range f.lines {
		if l.Match {
			if r.Matches == limit {
				break
			}
			r.Matches++
			end = l.Line
		}
	}
	for _, l := range f.lines {
		if l.Line <= end+around && (l.Line <= end || !l.Match) {
			r.Lines = append(r.Lines, l)
		}
	}
}

// grepFiles lists the files to search.
func (c *Checkout) grepFiles(ctx context.Context, o GrepOptions) ([]Entry, error) {
	base, err := c.clean(o.Path)
	if err != nil {
		return nil, err
	}
	t, err := c.Tree(ctx)
	if err != nil {
		return nil, fmt.Errorf("checkout: read listing: %w", err)
	}
	entries := t.Under(base)
	if base != "" && len(entries) == 0 {
		e, err := c.Lookup(ctx, base)
		if err != nil {
			return nil, err
		}
		entries = []Entry{e}
	}
	match := func(string) bool { return true }
	if o.Glob != "" {
		if match, err = compileGlob(o.Glob); err != nil {
			return nil, fmt.Errorf("checkout: grep: %w", err)
		}
	}
	cut := 0
	if base != "" && t.IsDir(base) {
		cut = len(base) + 1
	}
	var out []Entry
	for _, e := range entries {
		if (e.Kind == File || e.Kind == Exec) && (match(e.Path[cut:]) || cut > 0 && match(e.Path)) {
			out = append(out, e)
		}
	}
	return out, nil
}

type fileMatches struct {
	lines   []GrepLine
	matches int
	binary  bool
}

func (c *Checkout) grepBatch(ctx context.Context, m *matcher, batch []Entry, found []fileMatches, around, limit int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 8) {
		wg.Go(func() {
			var buf []byte
			for i := range next {
				var err error
				if found[i], err = c.grepFile(m, batch[i], &buf, around, limit); err != nil {
					cancel(fmt.Errorf("checkout: grep %s: %w", batch[i].Path, err))
				}
			}
		})
	}
	for i := range batch {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// grepFile searches one file. buf is reused from file to file.
func (c *Checkout) grepFile(m *matcher, e Entry, buf *[]byte, around, limit int) (fileMatches, error) {
	if e.Size > MaxRead {
		return fileMatches{binary: true}, nil
	}
	if e.Size == 0 {
		return fileMatches{}, nil
	}
	if int64(cap(*buf)) < e.Size {
		*buf = make([]byte, e.Size, max(e.Size, 256<<10))
	}
	raw := (*buf)[:e.Size]
	f, err := c.tree.root.Open(e.Path)
	if err != nil {
		return fileMatches{}, err
	}
	n, err := readFull(f, raw)
	_ = f.Close()
	if err != nil {
		return fileMatches{}, err
	}
	raw = raw[:n]
	if isBinary(raw) || raw[0] >= 0xfe || m.wide && !utf8.Valid(raw) {
		text, _, binary := decode(raw)
		if binary {
			return fileMatches{binary: true}, nil
		}
		raw = text
	}
	return m.search(e.Path, raw, around, limit), nil
}

func readFull(f interface{ Read([]byte) (int, error) }, b []byte) (int, error) {
	n := 0
	for n < len(b) {
		k, err := f.Read(b[n:])
		n += k
		if err != nil {
			if n < len(b) {
				return n, err
			}
			break
		}
	}
	return n, nil
}

// matcher finds the lines that match.
type matcher struct {
	re      *regexp.Regexp // nil if the pattern is plain text that can be searched for as it is
	literal []byte         // text that every match holds; nil if none is known
	fold    bool           // literal is lower-case ASCII, compared without regard to case
	wide    bool           // the pattern is not only ASCII, so old encodings must be made UTF-8 first
	ends    bool           // the pattern looks at line ends, so a CR before the LF must go
}

var errLineEnd = errors.New("a line never holds a line end")

// newMatcher compiles a pattern.
func newMatcher(o GrepOptions) (*matcher, error) {
	pattern := o.Pattern
	if pattern == "" {
		return nil, &PatternError{Pattern: pattern, Err: fmt.Errorf("it is empty")}
	}
	if len(pattern) > 4000 {
		return nil, &PatternError{Pattern: pattern, Err: fmt.Errorf("it is longer than 4,000 bytes")}
	}
	if o.Literal {
		if strings.ContainsAny(pattern, "\n") {
			return nil, &PatternError{Pattern: pattern, Err: errLineEnd}
		}
		if !o.IgnoreCase {
			return &matcher{literal: []byte(pattern), wide: !isASCII(pattern)}, nil
		}
		pattern = regexp.QuoteMeta(pattern)
	}
	flags := syntax.Perl &^ syntax.OneLine
	if o.IgnoreCase {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(pattern, flags)
	if err != nil {
		return nil, &PatternError{Pattern: o.Pattern, Err: err}
	}
	m := &matcher{wide: !isASCII(pattern)}
	perLine(tree, m)
	if tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase == 0 {
		if m.literal = []byte(string(tree.Rune)); bytes.Contains(m.literal, []byte("\n")) {
			return nil, &PatternError{Pattern: o.Pattern, Err: errLineEnd}
		}
		return m, nil
	}
	m.literal, m.fold = required(tree)
	if m.re, err = regexp.Compile(tree.String()); err != nil {
		return nil, &PatternError{Pattern: o.Pattern, Err: err}
	}
	return m, nil
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// perLine makes the anchors of a text those of a line.
func perLine(re *syntax.Regexp, m *matcher) {
	switch re.Op {
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		re.Op = syntax.OpEndLine
		re.Flags &^= syntax.WasDollar
		m.ends = true
	case syntax.OpEndLine:
		m.ends = true
	}
	for _, sub := range re.Sub {
		perLine(sub, m)
	}
}

// required gives the longest literal that every match must hold. A literal
// without regard to case counts only if it is ASCII and has no letter that some
// other letter folds to (k and s have: the Kelvin sign and the long s).
func required(re *syntax.Regexp) (lit []byte, fold bool) {
	switch re.Op {
	case syntax.OpLiteral:
		s := string(re.Rune)
		if re.Flags&syntax.FoldCase == 0 {
			return []byte(s), false
		}
		low := strings.ToLower(s)
		start, best := 0, ""
		for i := 0; i <= len(low); i++ {
			if i == len(low) || low[i] >= utf8.RuneSelf || low[i] == 'k' || low[i] == 's' {
				if i-start > len(best) {
					best = low[start:i]
				}
				start = i + 1
			}
		}
		if best == "" {
			return nil, false
		}
		return []byte(best), true
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if l, f := required(sub); len(l) > len(lit) {
				lit, fold = l, f
			}
		}
		return lit, fold
	}
	return nil, false
}

// index finds the literal in b.
func (m *matcher) index(b []byte) int {
	if !m.fold {
		return bytes.Index(b, m.literal)
	}
	return indexFold(b, m.literal)
}

// indexFold finds lower-case ASCII text without regard to case. It looks for
// the rarest letter of it by IndexByte, which is fast.
func indexFold(b, low []byte) int {
	rare := 0
	const byRarity = "zqjxkvbpygwfmucldhrsnioate_ "
	best := len(byRarity)
	for i, ch := range low {
		r := strings.IndexByte(byRarity, ch)
		if r < 0 {
			r = 6 // digits and signs
		}
		if r < best {
			rare, best = i, r
		}
	}
	lo, up := low[rare], upper(low[rare])
	nextLo, nextUp := -2, -2
	for at := rare; at < len(b); {
		if nextLo != -1 && nextLo < at {
			if nextLo = bytes.IndexByte(b[at:], lo); nextLo >= 0 {
				nextLo += at
			}
		}
		if up == lo {
			nextUp = -1
		} else if nextUp != -1 && nextUp < at {
			if nextUp = bytes.IndexByte(b[at:], up); nextUp >= 0 {
				nextUp += at
			}
		}
		hit := nextLo
		if hit < 0 || nextUp >= 0 && nextUp < hit {
			hit = nextUp
		}
		if hit < 0 {
			return -1
		}
		if start := hit - rare; start+len(low) <= len(b) && equalFold(b[start:start+len(low)], low) {
			return start
		}
		at = hit + 1
	}
	return -1
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 32
	}
	return c
}

func equalFold(b, low []byte) bool {
	for i, c := range low {
		if b[i] != c && b[i] != upper(c) {
			return false
		}
	}
	return true
}

// search finds the matching lines of a text. It runs over the whole text, not
// line by line, and looks at single lines only where something was found.
func (m *matcher) search(path string, text []byte, around, limit int) fileMatches {
	var out fileMatches
	if m.literal != nil && m.index(text) < 0 {
		return out
	}
	if m.ends && bytes.Contains(text, []byte("\r\n")) {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	counted, line := 0, 1 // line is the number of the line that begins at or before counted
	shown := 0            // last line that is in out
	for pos := 0; pos < len(text); {
		at := m.next(text[pos:])
		if at < 0 {
			break
		}
		at += pos
		if at == len(text) && text[at-1] == '\n' {
			break // an empty match after the final line end is on no line
		}
		start := bytes.LastIndexByte(text[:at], '\n') + 1
		end := lineEnd(text, start)
		pos = end + 1
		if m.re != nil && !m.re.Match(text[start:end]) {
			continue // the match ran over a line end
		}
		line += bytes.Count(text[counted:start], []byte("\n"))
		counted = start
		out.matches++
		out.addContext(path, text, start, line, around, &shown)
		out.lines = append(out.lines, grepLine(path, line, text[start:end], true))
		shown = line
		out.addAfter(path, text, end, line, around)
		if out.matches >= limit {
			break
		}
	}
	return out
}

// next finds a line that matches, or may, at or after the begin of b, which is
// the begin of a line: some place on it, -1 if there is none.
func (m *matcher) next(b []byte) int {
	if m.re == nil {
		return m.index(b)
	}
	if m.literal == nil {
		if loc := m.re.FindIndex(b); loc != nil {
			return loc[0]
		}
		return -1
	}
	// Only lines that hold the literal can match.
	for pos := 0; pos < len(b); {
		i := m.index(b[pos:])
		if i < 0 {
			return -1
		}
		start := bytes.LastIndexByte(b[:pos+i], '\n') + 1
		end := lineEnd(b, start)
		if m.re.Match(b[start:end]) {
			return start
		}
		pos = end + 1
	}
	return -1
}

func lineEnd(b []byte, from int) int {
	if i := bytes.IndexByte(b[from:], '\n'); i >= 0 {
		return from + i
	}
	return len(b)
}

// addContext adds the lines before a match that are not there yet.
func (f *fileMatches) addContext(path string, text []byte, start, line, around int, shown *int) {
	// Lines after an earlier match may be there already, as context; drop those
	// from this line on.
	for n := len(f.lines); n > 0 && f.lines[n-1].Line >= line; n = len(f.lines) {
		f.lines = f.lines[:n-1]
	}
	if n := len(f.lines); n > 0 {
		*shown = f.lines[n-1].Line
	}
	first, at := line, start
	for first > 1 && line-first < around && first-1 > *shown {
		at = bytes.LastIndexByte(text[:at-1], '\n') + 1
		first--
	}
	for n := first; n < line; n++ {
		end := lineEnd(text, at)
		f.lines = append(f.lines, grepLine(path, n, text[at:end], false))
		at = end + 1
	}
}

// addAfter adds the lines after a match.
func (f *fileMatches) addAfter(path string, text []byte, end, line, around int) {
	for n := 1; n <= around && end+1 < len(text); n++ {
		start := end + 1
		end = lineEnd(text, start)
		f.lines = append(f.lines, grepLine(path, line+n, text[start:end], false))
	}
}

func grepLine(path string, n int, b []byte, match bool) GrepLine {
	b = bytes.TrimSuffix(b, []byte("\r"))
	l := GrepLine{Path: path, Line: n, Size: len(b), Match: match}
	b = b[:min(len(b), maxGrepText)]
	if !utf8.Valid(b) {
		b, _, _ = decode(b)
	}
	l.Text = strings.ToValidUTF8(string(b), "")
	return l
}
