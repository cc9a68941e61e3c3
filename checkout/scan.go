package checkout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"
)

// fileMatches are the lines found in one file.
type fileMatches struct {
	lines   []GrepLine
	matches int
	binary  bool
}

// scanner searches files for one worker.
type scanner struct {
	*matcher
	dir string
	dfa *dfa // nil for plain text
	buf []byte
}

// grepBatch searches files side by side; the results keep their order.
func grepBatch(ctx context.Context, workers []*scanner, batch []Entry, found []fileMatches, around, limit int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var wg sync.WaitGroup
	for _, w := range workers {
		wg.Go(func() {
			for i := range next {
				var err error
				if found[i], err = w.file(batch[i], around, limit); err != nil {
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

// byteOrderMark is what some editors put before UTF-8.
var byteOrderMark = []byte("\xef\xbb\xbf")

// file searches one file.
func (s *scanner) file(e Entry, around, limit int) (fileMatches, error) {
	if e.Size > MaxRead {
		return fileMatches{binary: true}, nil
	}
	if e.Size == 0 {
		return fileMatches{}, nil
	}
	raw, err := s.read(e)
	if err != nil {
		return fileMatches{}, err
	}
	if isBinary(raw) || raw[0] >= 0xfe || s.wide && !utf8.Valid(raw) {
		text, _, binary := decode(raw)
		if binary {
			return fileMatches{binary: true}, nil
		}
		raw = text
	}
	raw = bytes.TrimPrefix(raw, byteOrderMark) // it is no part of the first line
	return s.search(e.Path, raw, around, limit), nil
}

// read reads a whole file into the scanner's buffer. It opens it by its path:
// that comes from the listing, whose names were checked, and there are no
// symbolic links in a tree, so it leads nowhere else; os.Root would open each
// folder on the way, which on deep trees takes longer than all the rest.
func (s *scanner) read(e Entry) ([]byte, error) {
	if int64(cap(s.buf)) < e.Size {
		s.buf = make([]byte, e.Size, max(e.Size, 256<<10))
	}
	b := s.buf[:e.Size]
	fd, err := syscall.Open(s.dir+"/"+e.Path, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = syscall.Close(fd) }()
	for n := 0; n < len(b); {
		k, err := syscall.Read(fd, b[n:])
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return nil, err
		case k == 0:
			return nil, errDamaged // shorter than the commit says
		default:
			n += k
		}
	}
	return b, nil
}

// matcher is a compiled pattern.
type matcher struct {
	prog    *syntax.Prog // nil if the pattern is plain text that can be searched for as it is
	literal []byte       // text that every match holds; nil if none is known
	wide    bool         // the pattern is not only ASCII, so old encodings must be made UTF-8 first
	ends    bool         // the pattern looks at line ends, so a CR before the LF must go
}

var errLineEnd = errors.New("a line never holds a line end")

// newMatcher compiles a pattern.
func newMatcher(o GrepOptions) (*matcher, error) {
	pattern := o.Pattern
	bad := func(err error) error { return &PatternError{Pattern: o.Pattern, Err: err} }
	switch {
	case pattern == "":
		return nil, bad(errors.New("it is empty"))
	case len(pattern) > 4000:
		return nil, bad(errors.New("it is longer than 4,000 bytes"))
	case o.Literal && strings.Contains(pattern, "\n"):
		return nil, bad(errLineEnd)
	case o.Literal && !o.IgnoreCase:
		return &matcher{literal: []byte(pattern), wide: !isASCII(pattern)}, nil
	case o.Literal:
		pattern = regexp.QuoteMeta(pattern)
	}
	flags := syntax.Perl &^ syntax.OneLine
	if o.IgnoreCase {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(pattern, flags)
	if err != nil {
		return nil, bad(err)
	}
	m := &matcher{wide: !isASCII(pattern)}
	perLine(tree, m)
	m.literal = required(tree)
	if bytes.Contains(m.literal, []byte("\n")) {
		return nil, bad(errLineEnd)
	}
	if tree.Op == syntax.OpLiteral && m.literal != nil {
		return m, nil
	}
	if m.prog, err = syntax.Compile(tree.Simplify()); err != nil {
		return nil, bad(err)
	}
	if len(m.prog.Inst) > 20_000 {
		return nil, bad(errors.New("it is too large"))
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
	default:
	}
	for _, sub := range re.Sub {
		perLine(sub, m)
	}
}

// required gives the longest literal that every match must hold, as it is spelt.
func required(re *syntax.Regexp) []byte {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []byte(string(re.Rune))
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []byte
		for _, sub := range re.Sub {
			if l := required(sub); len(l) > len(best) {
				best = l
			}
		}
		return best
	default:
	}
	return nil
}

// search finds the matching lines of a text. It runs over the whole text, not
// line by line.
func (s *scanner) search(path string, text []byte, around, limit int) fileMatches {
	var out fileMatches
	if s.literal != nil && !bytes.Contains(text, s.literal) {
		return out
	}
	if s.ends && bytes.Contains(text, []byte("\r\n")) {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	counted, line := 0, 1 // line is the number of the line that begins at counted
	shown := 0            // last line that is in out
	for pos := 0; pos < len(text); {
		at := s.next(text[pos:])
		if at < 0 {
			break
		}
		at += pos
		start := bytes.LastIndexByte(text[:at], '\n') + 1
		end := lineEnd(text, start)
		pos = end + 1
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

// rareLiteral is the length from which on a literal is worth looking for by
// itself: shorter ones are on most lines.
const rareLiteral = 4

// next finds a place on the next line that matches, -1 if there is none. b
// begins at the begin of a line.
func (s *scanner) next(b []byte) int {
	if s.dfa == nil {
		return bytes.Index(b, s.literal)
	}
	if len(s.literal) < rareLiteral {
		return s.dfa.find(b)
	}
	// Only lines that hold the literal can match.
	for pos := 0; pos < len(b); {
		i := bytes.Index(b[pos:], s.literal)
		if i < 0 {
			return -1
		}
		start := bytes.LastIndexByte(b[:pos+i], '\n') + 1
		end := lineEnd(b, start)
		if s.dfa.find(b[start:end]) >= 0 {
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
