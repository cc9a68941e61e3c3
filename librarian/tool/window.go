package tool

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of what one reading of a file shows.
const (
	MaxLines     = 2000     // lines
	MaxBytes     = 50 << 10 // bytes of text
	MaxLineChars = 2000     // characters of one line; the rest is cut with a note of the line's length
)

// The bounds a window is refused for before anything is read.
const (
	errOffset = "offset must be greater than or equal to 1."
	errLimit  = "limit must be greater than or equal to 1."
)

// Window is the part of a file that is asked for: Offset is the first line, from 1, Limit the number of lines. Nil is not
// given: from the first line, as many as the limits allow.
type Window struct {
	Offset *int
	Limit  *int
}

// BoundsError is a window that cannot be shown; its text is for the model.
type BoundsError struct{ Text string }

func (e *BoundsError) Error() string { return e.Text }

// View is what a window shows.
type View struct {
	Text   string   // Body, and the notices after it
	Body   string   // lines joined by "\n", without numbers
	Start  int      // the first line really shown, from 1; 0: none was
	End    int      // the last line really shown
	Total  int      // lines of the file; 0 for a binary
	Binary bool     // the content was not shown
	Notes  []string // how the bytes were read, where they are not plain UTF-8; in Text too
}

// Check refuses an offset or a limit below 1. Callers check before any network call.
func (w Window) Check() error {
	if w.Offset != nil && *w.Offset < 1 {
		return &BoundsError{Text: errOffset}
	}
	if w.Limit != nil && *w.Limit < 1 {
		return &BoundsError{Text: errLimit}
	}
	return nil
}

// Show gives the window's part of a file's content: whole lines, at most [MaxLines] of them and [MaxBytes] in all. A notice
// on a line of its own, after a blank one, says what was left out and how to go on, and how the bytes were read where
// they are not UTF-8. A binary is one line that says so. Errors are a *[BoundsError].
func (w Window) Show(content []byte) (View, error) {
	if err := w.Check(); err != nil {
		return View{}, err
	}
	text := ReadText(content)
	if text.Binary {
		return View{Text: BinaryText(int64(len(content))), Binary: true}, nil
	}
	total := countLines(text.Body)
	offset := 1
	if w.Offset != nil {
		offset = *w.Offset
	}
	if total == 0 && offset == 1 {
		return View{Text: Notices("", "[Empty file.]")}, nil
	}
	if offset > total {
		return View{}, beyond(offset, total)
	}
	rest := skipLines(text.Body, offset-1)
	next := func() (line string, size int64) {
		line, rest = nextLine(rest)
		return line, int64(len(line))
	}
	return w.cut(next, text.Notes, offset, total), nil
}

// BinaryText is what is shown of a binary file of so many bytes.
func BinaryText(size int64) string {
	return fmt.Sprintf("Binary file, %s; its content is not shown.", Size(size))
}

// cut takes lines from offset on until a limit is reached. Next gives them one by one with their sizes in bytes; of a line over
// [MaxBytes] the size is enough.
func (w Window) cut(next func() (line string, size int64), notes []string, offset, total int) View {
	most, byCaller := MaxLines, false
	if w.Limit != nil && *w.Limit <= MaxLines {
		most, byCaller = *w.Limit, true
	}
	v := View{Total: total, Notes: notes}
	var out strings.Builder
	var said []string
	for n := offset; n <= total; n++ {
		if n-offset == most {
			if byCaller {
				said = append(said, fmt.Sprintf("[%d more lines in file. Use offset=%d to continue.]", total-n+1, n))
			} else {
				said = append(said, showing(offset, n-1, total, ""))
			}
			break
		}
		line, size := next()
		shown := clipLine(line)
		switch {
		case size > MaxBytes && n == offset:
			said = append(said, fmt.Sprintf("[Line %d is %s, exceeds %s limit.]", n, Size(size), Size(MaxBytes)))
			if n < total {
				said = append(said, fmt.Sprintf("[%d more lines in file. Use offset=%d to continue.]", total-n, n+1))
			}
		case size > MaxBytes || n > offset && out.Len()+1+len(shown) > MaxBytes:
			said = append(said, showing(offset, n-1, total, " ("+Size(MaxBytes)+" limit)"))
		default:
			if n > offset {
				out.WriteByte('\n')
			}
			out.WriteString(shown)
			v.Start, v.End = offset, n
			continue
		}
		break
	}
	v.Body = out.String()
	if len(said) == 0 && strings.TrimSpace(v.Body) == "" { // else nothing, or what looks like it, would be shown
		said = append(said, blank(v.Start, v.End))
	}
	v.Text = Notices(v.Body, append(said, notes...)...)
	return v
}

func blank(first, last int) string {
	if first == last {
		return fmt.Sprintf("[Line %d is blank.]", first)
	}
	return fmt.Sprintf("[Lines %d-%d are blank.]", first, last)
}

func showing(first, last, total int, limit string) string {
	return fmt.Sprintf("[Showing lines %d-%d of %d%s. Use offset=%d to continue.]", first, last, total, limit, last+1)
}

// Notices puts remarks after text, each on its own line, after a blank one.
func Notices(text string, said ...string) string {
	if len(said) == 0 {
		return text
	}
	if text == "" {
		return strings.Join(said, "\n")
	}
	return text + "\n\n" + strings.Join(said, "\n")
}

// CountLines counts the lines of a file as GitHub does: LF and CRLF end a line, a lone CR or U+2028 does not, and a final
// newline starts no further line. UTF-16 with a byte order mark is decoded first. A binary has 0.
func CountLines(content []byte) int {
	text := ReadText(content)
	if text.Binary {
		return 0
	}
	return countLines(text.Body)
}

func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// nextLine cuts the first line off s, without its LF or CRLF.
func nextLine(s string) (line, rest string) {
	line, rest, _ = strings.Cut(s, "\n")
	return strings.TrimSuffix(line, "\r"), rest
}

func skipLines(s string, n int) string {
	for ; n > 0; n-- {
		_, s = nextLine(s)
	}
	return s
}

// SplitLines gives the lines of a file's text, counted as [CountLines] does, without their line ends.
func SplitLines(text []byte) []string {
	s := string(text)
	lines := make([]string, 0, countLines(s))
	for s != "" {
		var line string
		line, s = nextLine(s)
		lines = append(lines, line)
	}
	return lines
}

// clipLine shortens a line of more than [MaxLineChars] characters and says how long it is.
func clipLine(line string) string {
	if len(line) <= MaxLineChars {
		return line
	}
	cut, n := ClipRunes(line, MaxLineChars)
	if n <= MaxLineChars {
		return line
	}
	return fmt.Sprintf("%s [clipped: the line has %d characters]", cut, n)
}

// ClipRunes gives the first limit characters of s and the number of characters s has.
func ClipRunes(s string, limit int) (cut string, n int) {
	cut = s
	for i := range s {
		if n == limit {
			cut = s[:i]
		}
		n++
	}
	return cut, n
}

// Size writes a number of bytes as notices do: "17B", "50.0KB", "4.8MB".
func Size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%dB", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1fKB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1fMB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1fGB", float64(n)/(1<<30))
}

// utf8Mark is a byte order mark in UTF-8, which belongs to no line.
var utf8Mark = []byte("\xef\xbb\xbf")

// Text is a file's content as UTF-8.
type Text struct {
	Body   string
	Notes  []string // how it was read, in brackets, where that is not plain
	Binary bool     // Body is empty
}

// ReadText reads a file's bytes as text: UTF-8, UTF-16 with a byte order mark, else Latin-1, with a note. What has a NUL in its
// first 8,000 bytes, the measure git takes, is a binary.
func ReadText(content []byte) Text {
	if text, ok := decodeUTF16(content); ok {
		return text
	}
	if bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0 {
		return Text{Binary: true}
	}
	content = bytes.TrimPrefix(content, utf8Mark)
	if !utf8.Valid(content) {
		return decodeInvalid(content)
	}
	text := Text{Body: string(content)}
	if size, ok := LFSPointer(text.Body); ok {
		text.Notes = []string{fmt.Sprintf("[A Git LFS pointer; the %s it stands for are not in the repository.]", Size(size))}
	}
	return text
}

// decodeInvalid reads bytes that are not UTF-8. Where most of what is not ASCII is UTF-8 all the same, only the stray bytes
// are replaced; else the whole is Latin-1.
func decodeInvalid(content []byte) Text {
	good, bad := 0, 0
	for rest := content; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			good++
		}
		rest = rest[n:]
	}
	if good > bad {
		return Text{Body: strings.ToValidUTF8(string(content), "\uFFFD"),
			Notes: []string{fmt.Sprintf("[%d bytes are not UTF-8; shown as \uFFFD.]", bad)}}
	}
	var b strings.Builder
	b.Grow(len(content) + bad)
	for _, c := range content {
		b.WriteRune(rune(c))
	}
	return Text{Body: b.String(), Notes: []string{"[Not UTF-8; read as Latin-1.]"}}
}

// decodeUTF16 reads UTF-16 with a byte order mark, of either order. UTF-32 little-endian begins with the same two bytes and is
// left alone.
func decodeUTF16(content []byte) (Text, bool) {
	if len(content) < 2 || bytes.HasPrefix(content, []byte{0xFF, 0xFE, 0, 0}) {
		return Text{}, false
	}
	var name string
	hi, lo := 0, 1
	switch {
	case content[0] == 0xFE && content[1] == 0xFF:
		name = "UTF-16 big-endian"
	case content[0] == 0xFF && content[1] == 0xFE:
		name = "UTF-16 little-endian"
		hi, lo = 1, 0
	default:
		return Text{}, false
	}
	units := make([]uint16, (len(content)-2)/2)
	for i := range units {
		units[i] = uint16(content[2+2*i+hi])<<8 | uint16(content[2+2*i+lo])
	}
	body := string(utf16.Decode(units)) // a lone surrogate becomes U+FFFD
	return Text{Body: body, Notes: []string{"[" + name + "; shown as UTF-8.]"}}, true
}

// LFSPointer recognises a Git LFS pointer (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md: under 1024 bytes, the
// version line first) and gives the size of what it stands for.
func LFSPointer(s string) (int64, bool) {
	if len(s) >= 1024 || !strings.HasPrefix(s, "version https://git-lfs.") || !strings.Contains(s, "\noid sha256:") {
		return 0, false
	}
	_, after, ok := strings.Cut(s, "\nsize ")
	if !ok {
		return 0, false
	}
	var n int64
	if _, err := fmt.Sscanf(after, "%d", &n); err != nil || n < 0 {
		return 0, false
	}
	return n, true
}
