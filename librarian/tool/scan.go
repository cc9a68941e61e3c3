package tool

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Scanned is what [ScanLines] found.
type Scanned struct {
	Lines  []string // as UTF-8, without their ends; of one over MaxBytes only the beginning
	Total  int      // lines of the whole file, as [CountLines] counts them; 0 for a binary
	Notes  []string // how the bytes were read, where they are not plain UTF-8
	Binary bool

	sizes []int64 // of Lines, in bytes, whole
}

// ScanLines reads lines start to end, from 1 and inclusive, of a file that is too big to hold; memory is bounded by the lines. It stops keeping
// lines once they are over [MaxBytes] together, which is more than is ever shown at once, but counts on to the file's end. Bytes
// are taken for text as [ReadText] does; where they are neither UTF-8 nor UTF-16, the lines that were kept decide how.
func ScanLines(r io.Reader, start, end int) (Scanned, error) {
	in := bufio.NewReaderSize(r, 256<<10)
	head, err := in.Peek(8000)
	if err != nil && !errors.Is(err, io.EOF) {
		return Scanned{}, err
	}
	first := ReadText(head)
	if first.Binary {
		return Scanned{Binary: true}, nil
	}
	var out Scanned
	_, wide := decodeUTF16(head)
	switch {
	case wide:
		out.Notes = first.Notes
		in = bufio.NewReaderSize(&utf16Reader{in: in}, 256<<10)
	case bytes.HasPrefix(head, utf8Mark):
		_, _ = in.Discard(len(utf8Mark))
	}
	if err := out.scan(in, start, end); err != nil {
		return Scanned{}, err
	}
	if body := strings.Join(out.Lines, "\n"); !wide && !utf8.ValidString(body) {
		text := decodeInvalid([]byte(body))
		out.Notes = text.Notes
		out.Lines = strings.Split(text.Body, "\n")
	}
	return out, nil
}

func (s *Scanned) scan(in *bufio.Reader, start, end int) error {
	kept := 0 // bytes of what the lines kept are shown as
	for {
		n := s.Total + 1
		keep := n >= start && n <= end && kept <= MaxBytes
		limit := 0
		if keep {
			limit = MaxBytes + 1
		}
		line, size, more, err := readLine(in, limit)
		if err != nil || !more {
			return err
		}
		s.Total = n
		if !keep {
			continue
		}
		s.Lines, s.sizes = append(s.Lines, string(line)), append(s.sizes, size)
		if kept += len(clipLine(string(line))) + 1; size > MaxBytes {
			kept += MaxBytes // it ends what is shown
		}
	}
}

// readLine reads a line and gives, without its end, its size and the first limit bytes of it, less what is left of a character that
// is cut there. More is false at the end of the file.
func readLine(in *bufio.Reader, limit int) (line []byte, size int64, more bool, err error) {
	var last byte
	for {
		// A piece is a line or, where one is longer than the buffer, a part of it.
		piece, err := in.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !long && !errors.Is(err, io.EOF) {
			return nil, 0, false, err
		}
		more = more || len(piece) > 0
		piece = bytes.TrimSuffix(piece, []byte("\n"))
		size += int64(len(piece))
		line = append(line, piece[:min(len(piece), limit-len(line))]...)
		if len(piece) > 0 {
			last = piece[len(piece)-1]
		}
		if !long {
			break
		}
	}
	if last == '\r' {
		size--
	}
	if int64(len(line)) >= size {
		return line[:min(size, int64(len(line)))], size, more, nil
	}
	for range utf8.UTFMax - 1 {
		if r, n := utf8.DecodeLastRune(line); r != utf8.RuneError || n != 1 {
			break
		}
		line = line[:len(line)-1]
	}
	return line, size, more, nil
}

// ShowBig is [Window.Show] for a file that is too big to hold, of size bytes: memory is bounded by what is shown.
func (w Window) ShowBig(r io.Reader, size int64) (View, error) {
	if err := w.Check(); err != nil {
		return View{}, err
	}
	offset := 1
	if w.Offset != nil {
		offset = *w.Offset
	}
	found, err := ScanLines(r, offset, offset+MaxLines) // one more than is shown: it may be what ends the view
	switch {
	case err != nil:
		return View{}, err
	case found.Binary:
		return View{Text: BinaryText(size), Binary: true}, nil
	case offset > found.Total:
		return View{}, beyond(offset, found.Total)
	}
	return w.cut(found.line, found.Notes, offset, found.Total), nil
}

// line gives the next of the lines kept and its size, for [Window.cut].
func (s *Scanned) line() (line string, size int64) {
	if len(s.Lines) == 0 {
		return "", MaxBytes + 1 // over the limit, which is why it was not kept
	}
	line, size = s.Lines[0], max(s.sizes[0], int64(len(s.Lines[0])))
	s.Lines, s.sizes = s.Lines[1:], s.sizes[1:]
	return line, size
}

func beyond(offset, total int) *BoundsError {
	return &BoundsError{Text: fmt.Sprintf("Offset %d is beyond end of file (%d lines total)", offset, total)}
}

// utf16Reader makes UTF-8 of UTF-16 with a byte order mark.
type utf16Reader struct {
	in    *bufio.Reader
	big   bool
	begun bool
	high  uint16 // the first half of a pair, whose second is to come
	out   []byte // made and not read yet
	buf   [4096]byte
}

// Read implements io.Reader.
func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		n, err := io.ReadFull(u.in, u.buf[:])
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			if errors.Is(err, io.EOF) && u.high != 0 {
				u.out, u.high = utf8.AppendRune(u.out[:0], utf8.RuneError), 0
				break
			}
			return 0, err
		}
		u.decode(u.buf[:n])
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

// decode takes whole units; a last odd byte is dropped, as [ReadText] does.
func (u *utf16Reader) decode(b []byte) {
	if !u.begun {
		u.begun, u.big = true, b[0] == 0xFE
		b = b[2:]
	}
	u.out = u.out[:0]
	for ; len(b) >= 2; b = b[2:] {
		c := uint16(b[0]) | uint16(b[1])<<8
		if u.big {
			c = c<<8 | c>>8
		}
		if u.high != 0 {
			r := utf16.DecodeRune(rune(u.high), rune(c))
			u.high = 0
			u.out = utf8.AppendRune(u.out, r)
			if r != utf8.RuneError {
				continue
			}
		}
		if c >= 0xD800 && c < 0xDC00 {
			u.high = c
			continue
		}
		u.out = utf8.AppendRune(u.out, rune(c)) // a lone second half becomes U+FFFD
	}
}
