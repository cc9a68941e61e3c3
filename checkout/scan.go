package checkout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"unicode/utf8"
)

// fileMatches are the lines found in one file. They have one text in common: a
// search may find a million lines, and a piece of memory for each costs more than finding it.
type fileMatches struct {
	path    string
	text    string
	lines   []foundLine
	windows map[int32]window // by line; of long ones that match
	matches int
	binary  bool
}

// window is what is shown of a long line.
type window struct{ skip, at int }

// foundLine is a GrepLine whose text is in that of its file.
type foundLine struct {
	from, to uint32
	line     int32
	size     int32
	match    bool
}

func (f *fileMatches) line(l foundLine) GrepLine {
	g := GrepLine{Path: f.path, Line: int(l.line), Text: f.text[l.from:l.to], Size: int(l.size), Match: l.match}
	if l.match && l.size > longLine {
		w := f.windows[l.line]
		g.Skip, g.At = w.skip, min(w.at, len(g.Text))
	}
	return g
}

// scanner searches files for one worker.
type scanner struct {
	*matcher
	treeFiles
	dfa *dfa // nil for plain text
	buf []byte

	found []foundLine // in the file that is being searched
	texts []byte      // of these
	wins  map[int32]window

	// Of the text that is being searched:
	dense          bool // the needle is on so many lines that looking for it first does not pay
	passed, tested int  // bytes that were gone through, and those of lines with the needle
}

// toSearch is a file to search, all of it or its spans.
type toSearch struct {
	*Entry
	spans []span
}

// grepBatch searches files side by side; the results keep their order. It takes
// up no more files when those before, without a gap, have as many matches as are wanted.
func grepBatch(ctx context.Context, workers []*scanner, batch []toSearch, found []fileMatches, around, wanted int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	var mu sync.Mutex
	done, whole, matches := make([]bool, len(batch)), 0, 0 // the first whole files are done and have so many matches
	enough := func(i int) bool {
		mu.Lock()
		defer mu.Unlock()
		done[i] = true
		for ; whole < len(done) && done[whole]; whole++ {
			matches += found[whole].matches
		}
		return matches >= wanted
	}
	for _, w := range workers[:min(len(workers), len(batch))] {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(batch) {
					return
				}
				var err error
				if found[i], err = w.file(batch[i], around, wanted); err != nil {
					cancel(fmt.Errorf("checkout: grep %s: %w", batch[i].Path, err))
					return
				}
				if enough(i) {
					next.Store(int64(len(batch)))
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// byteOrderMark is what some editors put before UTF-8.
var byteOrderMark = []byte("\xef\xbb\xbf")

// file searches one file.
func (s *scanner) file(e toSearch, around, limit int) (fileMatches, error) {
	if n := len(e.spans); n > 0 && int64(e.spans[n-1].to) > e.Size {
		e.spans = nil // not of this file
	}
	if len(e.spans) > 0 && e.Size > wholeFile {
		any, err := s.anySpan(e)
		if err != nil || !any {
			return fileMatches{}, err
		}
	}
	text, ok, err := s.text(e.Entry, s.wide)
	if err != nil || !ok {
		return fileMatches{binary: !ok}, err
	}
	if len(e.spans) == 0 {
		text = bytes.TrimPrefix(text, byteOrderMark) // it is no part of the first line
	}
	return s.search(e.Path, text, e.spans, around, limit), nil
}

// wholeFile is the size up to which a file is read whole, even if only a part of it may match.
const wholeFile = 64 << 10

// anySpan reports whether there is a match in a file's spans. It reads no more
// than those; for the numbers and the surroundings of lines more is needed.
func (s *scanner) anySpan(e toSearch) (bool, error) {
	f, err := s.open(e.Entry)
	if err != nil {
		return false, err
	}
	defer func() { _ = syscall.Close(f) }()
	for _, sp := range e.spans {
		b := s.room(int64(sp.to - sp.from))
		if err := readFull(func(b []byte, n int) (int, error) { return syscall.Pread(f, b, int64(sp.from+n)) }, b); err != nil {
			return false, err
		}
		if s.begin(b) && s.next(s.ended(b)) >= 0 {
			return true, nil
		}
	}
	return false, nil
}

// read reads a whole file into the scanner's buffer.
func (s *scanner) read(e *Entry) ([]byte, error) {
	b := s.room(e.Size)
	f, err := s.open(e)
	if err != nil {
		return nil, err
	}
	defer func() { _ = syscall.Close(f) }()
	return b, readFull(func(b []byte, _ int) (int, error) { return syscall.Read(f, b) }, b)
}

// room gives so many bytes of the scanner's buffer.
func (s *scanner) room(n int64) []byte {
	if int64(cap(s.buf)) < n {
		s.buf = make([]byte, n, max(n, 256<<10))
	}
	s.buf = s.buf[:n]
	return s.buf
}

// readFull fills b by a func that is told how much of it is there already.
func readFull(read func(b []byte, n int) (int, error), b []byte) error {
	for n := 0; n < len(b); {
		k, err := read(b[n:], n)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return err
		case k == 0:
			return errDamaged // shorter than the commit says
		default:
			n += k
		}
	}
	return nil
}

// begin prepares for a text and reports whether there may be a match in it.
func (s *scanner) begin(text []byte) bool {
	s.dense, s.passed, s.tested = false, 0, 0
	if !s.filters() {
		return true
	}
	i, _, ok := s.index(text)
	return !ok || i >= 0
}

// ended gives a text with the line ends that the pattern is made for.
func (s *scanner) ended(text []byte) []byte {
	if s.ends && bytes.Contains(text, []byte("\r\n")) {
		return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	return text
}

// search finds the matching lines of a text, in all of it or in spans. It runs
// over the whole of that, not line by line.
func (s *scanner) search(path string, text []byte, spans []span, around, limit int) (out fileMatches) {
	out.path = path
	if !s.begin(text) {
		return out
	}
	s.found, s.texts, s.wins = s.found[:0], s.texts[:0], nil
	defer func() {
		if len(s.found) > 0 {
			out.lines, out.text, out.windows = slices.Clone(s.found), string(s.texts), s.wins
		}
	}()
	if before := len(text); spans != nil {
		if text = s.ended(text); len(text) != before {
			spans = nil
		}
	} else {
		text = s.ended(text)
	}
	if spans == nil {
		spans = []span{{0, len(text)}}
	}
	counted, line := 0, 1 // line is the number of the line that begins at counted
	shown := 0            // last line that is in out
	for _, sp := range spans {
		for pos := sp.from; pos < sp.to; {
			at := s.next(text[pos:sp.to])
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
			if around > 0 {
				s.addContext(text, start, line, around, &shown)
			}
			s.add(line, text[start:end], true)
			shown = line
			s.addAfter(text, end, line, around)
			if out.matches >= limit {
				return out
			}
		}
	}
	return out
}

// next finds a place on the next line that matches, -1 if there is none. b
// begins at the begin of a line.
func (s *scanner) next(b []byte) int {
	if s.dfa == nil {
		return s.needle.exact(b)
	}
	pos := 0
	for s.filters() && !s.dense && pos < len(b) {
		// Only lines that hold the needle can match.
		i, upTo, ok := s.index(b[pos:])
		if ok && i < 0 {
			return -1
		}
		if !ok {
			s.dense = true
			pos = bytes.LastIndexByte(b[:pos+upTo], '\n') + 1
			break
		}
		start := bytes.LastIndexByte(b[:pos+i], '\n') + 1
		end := lineEnd(b, start)
		if s.dfa.find(b[start:end]) >= 0 {
			return start
		}
		s.passed += end + 1 - pos
		s.tested += end - start
		s.dense = s.tested > 4096 && s.tested > s.passed/2
		pos = min(end+1, len(b))
	}
	if !s.filters() || s.dense {
		if i := s.dfa.find(b[pos:]); i >= 0 {
			return pos + i
		}
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
func (s *scanner) addContext(text []byte, start, line, around int, shown *int) {
	// Lines after an earlier match may be there already, as context; drop those
	// from this line on.
	for n := len(s.found); n > 0 && int(s.found[n-1].line) >= line; n = len(s.found) {
		s.found, s.texts = s.found[:n-1], s.texts[:s.found[n-1].from]
	}
	if n := len(s.found); n > 0 {
		*shown = int(s.found[n-1].line)
	}
	first, at := line, start
	for first > 1 && line-first < around && first-1 > *shown {
		at = bytes.LastIndexByte(text[:at-1], '\n') + 1
		first--
	}
	for n := first; n < line; n++ {
		end := lineEnd(text, at)
		s.add(n, text[at:end], false)
		at = end + 1
	}
}

// addAfter adds the lines after a match.
func (s *scanner) addAfter(text []byte, end, line, around int) {
	for n := 1; n <= around && end+1 < len(text); n++ {
		start := end + 1
		end = lineEnd(text, start)
		s.add(line+n, text[start:end], false)
	}
}

// add adds a line, its text made UTF-8 and cut.
func (s *scanner) add(n int, b []byte, match bool) {
	b = bytes.TrimSuffix(b, []byte("\r"))
	l := foundLine{from: uint32(len(s.texts)), line: int32(n), size: int32(len(b)), match: match}
	if match && len(b) > longLine {
		w := s.window(b)
		if s.wins == nil {
			s.wins = map[int32]window{}
		}
		s.wins[l.line] = w
		b = b[w.skip:]
	}
	b = b[:min(len(b), maxGrepText)]
	if !utf8.Valid(b) {
		b, _, _ = decode(b)
		b = bytes.ToValidUTF8(b, nil)
	}
	s.texts = append(s.texts, b...)
	l.to = uint32(len(s.texts))
	s.found = append(s.found, l)
}

// window finds what to show of a long line: as much before the first match as
// after it, where the line's begin does not hold it.
func (s *scanner) window(b []byte) (w window) {
	if s.dfa != nil {
		w.at = s.dfa.find(b)
	} else {
		w.at = s.needle.exact(b)
	}
	w.at = max(w.at, 0)
	if w.at < maxGrepText/2 {
		return w
	}
	w.skip = w.at - maxGrepText/2
	for w.skip < w.at && !utf8.RuneStart(b[w.skip]) {
		w.skip++
	}
	w.at -= w.skip
	return w
}
