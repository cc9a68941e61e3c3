package handlers

import (
	"bytes"
	"fmt"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/librarian-app/librarian/librarian"
)

// MaxQuoted is how many characters of quoted text are kept beside a question.
const MaxQuoted = 4_000

// Mention is what a person asked of the App.
type Mention struct {
	Question string          // Markdown without the mention, quotes and hidden markup; at most librarian.MaxQuestion characters and a note
	Quoted   string          // what was quoted after the mention; at most MaxQuoted characters and a note
	Command  string          // empty for a question; else one of the names in command.go
	Args     string          // of the command
	Answer   librarian.RunID // of the run whose answer is quoted anywhere in the text; empty: none is
	Clipped  bool            // Question or Quoted was cut
}

// quotedAnswer finds the id that stands below an answer of ours, in a quotation of it.
var quotedAnswer = regexp.MustCompile(`\brun\s+(?:<code>|` + "`" + `)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b`)

// Parse finds the first mention of one of names (slug and alias, in any case) in the prose of a Markdown text and what is
// asked with it; ok is false if there is none. Code, quotes, comments, HTML that is no prose, links and images mention
// nobody. An empty question is the command "help".
//
// It takes time linear in body, whatever body is.
func Parse(body string, names []string) (m Mention, ok bool) {
	names = cleanNames(names)
	if len(names) == 0 || !MayMention([]byte(body), names) {
		return Mention{}, false
	}
	d := scan(normalize(body), names)
	if len(d.mentions) == 0 {
		return Mention{}, false
	}
	first := d.mentions[0]
	var quoted strings.Builder
	for _, q := range d.quotes {
		if a := quotedAnswer.FindSubmatch(d.src[q.start:q.stop]); a != nil && m.Answer == "" {
			m.Answer = librarian.RunID(a[1])
		}
		if q.start >= first.stop {
			quoted.WriteString(unquote(string(d.src[q.start:q.stop])))
			quoted.WriteString("\n\n")
		}
	}
	var clipped bool
	m.Quoted, clipped = clip(clean(quoted.String()), MaxQuoted)
	q := muted(clean(d.question(first)), names)
	if command, args, ok := parseCommand(q); ok {
		m.Command, m.Args, m.Clipped = command, args, clipped
		return m, true
	}
	m.Question, m.Clipped = clip(q, librarian.MaxQuestion)
	m.Clipped = m.Clipped || clipped
	return m, true
}

// cleanNames drops empty names and a leading '@', and lower-cases the rest.
func cleanNames(names []string) []string {
	var out []string
	for _, n := range names {
		if n = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(n), "@")); n != "" {
			out = append(out, n)
		}
	}
	return out
}

// cut is a range of the source that something else stands for.
type cut struct {
	span
	with string
}

// question is the source without the first mention, quotes and comments; later mentions keep their bare name.
func (d *document) question(first span) string {
	cuts := []cut{d.cutMention(first)}
	for _, m := range d.mentions[1:] {
		cuts = append(cuts, cut{m, bareName(string(d.src[m.start:m.stop]))})
	}
	for _, q := range d.quotes {
		with := ""
		if q.start > 0 && !bytes.HasSuffix(d.src[:q.start], []byte("\n\n")) {
			with = "\n"
		}
		cuts = append(cuts, cut{q, with})
	}
	for _, c := range d.comments {
		cuts = append(cuts, cut{c, ""})
	}
	return d.without(cuts)
}

// plain is a text that mentions us or not as a reader sees it: without comments and invisible characters, and with no live
// mention of ours.
func plain(s string, names []string) string {
	d := scan(normalize(s), names)
	var cuts []cut
	for _, c := range d.comments {
		cuts = append(cuts, cut{c, ""})
	}
	return muted(clean(d.without(cuts)), names)
}

// without is the source with what stands in the cuts' place.
func (d *document) without(cuts []cut) string {
	sort.SliceStable(cuts, func(i, j int) bool { return cuts[i].start < cuts[j].start })
	var b strings.Builder
	at := 0
	for _, c := range cuts {
		if c.start < at {
			at = max(at, c.stop)
			continue
		}
		b.Write(d.src[at:c.start])
		b.WriteString(c.with)
		at = c.stop
	}
	b.Write(d.src[at:])
	return b.String()
}

// cutMention widens the mention at m by what only belongs to it: brackets, quotes or emphasis around it, and the
// punctuation by which it is addressed.
func (d *document) cutMention(m span) cut {
	start, stop := m.start, m.stop
	for start > 0 && stop < len(d.src) && pairs[string([]byte{d.src[start-1], d.src[stop]})] {
		start, stop = start-1, stop+1
	}
	rest := d.src[stop:]
	if bytes.HasPrefix(rest, []byte("'s")) || bytes.HasPrefix(rest, []byte("’s")) {
		return cut{m, bareName(string(d.src[m.start:m.stop]))}
	}
	before := d.src[d.lineStart(start):start]
	if leads := len(bytes.Trim(before, " \t#*->|.0123456789")) == 0; leads {
		for stop < len(d.src) && strings.IndexByte(" \t,:;.!?", d.src[stop]) >= 0 {
			stop++
		}
		if word := string(bytes.TrimSpace(before)); word == "." || word == "-" && !bytes.HasSuffix(before, []byte(" ")) {
			start -= len(before)
		}
		for _, dash := range []string{"- ", "– ", "— "} {
			if bytes.HasPrefix(d.src[stop:], []byte(dash)) {
				stop += len(dash)
			}
		}
		if len(bytes.TrimSpace(before)) == 0 { // it was alone on its line
			for stop < len(d.src) && d.src[stop] == '\n' {
				stop++
			}
		}
		return cut{span{start, stop}, ""}
	}
	end := stop + bytes.IndexByte(append(bytes.Clone(d.src[stop:min(len(d.src), stop+8)]), '\n'), '\n')
	if len(bytes.Trim(d.src[stop:end], " .!?")) == 0 { // it closes its line
		start -= len(before) - len(bytes.TrimRight(before, " \t,"))
	} else {
		for stop < len(d.src) && strings.IndexByte(",:;", d.src[stop]) >= 0 {
			stop++
		}
		if stop < len(d.src) && d.src[stop] == ' ' && spaced(before) {
			stop++
		}
	}
	return cut{span{start, stop}, ""}
}

// spaced reports whether no space is needed behind before.
func spaced(before []byte) bool {
	r, _ := utf8.DecodeLastRune(before)
	return r >= utf8.RuneSelf && !invisible(r) || strings.ContainsRune(" \"'([{|", r)
}

var pairs = map[string]bool{"()": true, "[]": true, "{}": true, `""`: true, "''": true, "**": true, "__": true, "~~": true}

// muted takes the '@' from every mention that cutting and cleaning left or brought about, so that a question never
// mentions us when it is read again.
func muted(q string, names []string) string {
	for range 3 {
		if !MayMention([]byte(q), names) {
			return q
		}
		d := scan([]byte(q), names)
		if len(d.mentions) == 0 {
			return q
		}
		var b strings.Builder
		at := 0
		for _, m := range d.mentions {
			b.WriteString(q[at:m.start])
			b.WriteString(bareName(q[m.start:m.stop]))
			at = m.stop
		}
		b.WriteString(q[at:])
		q = b.String()
	}
	return q
}

// bareName is a mention without its '@', however that is spelt.
func bareName(mention string) string {
	if rest, ok := strings.CutPrefix(strings.TrimPrefix(mention, "\\"), "@"); ok {
		return rest
	}
	_, rest, _ := strings.Cut(mention, ";")
	return rest
}

// unquote takes one level of block quote marks from the lines of s.
func unquote(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, l := range lines {
		t := strings.TrimLeft(l, " \t")
		if rest, ok := strings.CutPrefix(t, ">"); ok {
			lines[i] = strings.TrimPrefix(rest, " ")
		}
	}
	return strings.Join(lines, "\n")
}

// clean drops what a reader does not see: control characters, invisible and direction-changing ones, blank space around.
func clean(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	prev := ' '
	for i, r := range s {
		if r >= ' ' && r < 0x7f || r == '\n' || r == '\t' {
			b.WriteByte(byte(r))
			prev = r
			continue
		}
		next, _ := utf8.DecodeRuneInString(s[min(len(s), i+utf8.RuneLen(max(r, 0))):])
		switch {
		case r == utf8.RuneError:
		case r < ' ', r >= 0x7f && r < 0xa0:
			r = ' '
		case (r == 0x200c || r == 0x200d) && prev > 0x7f && next > 0x7f: // joins letters, or emoji
		case invisible(r):
			if prev == '@' {
				r = ' '
				break
			}
			continue
		}
		b.WriteRune(r)
		prev = r
	}
	lines := strings.Split(b.String(), "\n")
	for i, l := range lines {
		if strings.TrimSpace(l) == "" {
			lines[i] = ""
		}
	}
	s = strings.Trim(strings.Join(lines, "\n"), "\n")
	if !strings.HasPrefix(s, "    ") && !strings.HasPrefix(s, "\t") { // indented code keeps its first indent
		s = strings.TrimLeft(s, " ")
	}
	return strings.TrimRight(s, " \t\n")
}

// invisible reports whether r shows nothing by itself. Such characters hide text from people, not from models.
func invisible(r rune) bool {
	switch {
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xfeff, r == 0xffa0,
		r >= 0x180b && r <= 0x180f, r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f,
		r >= 0xfff0 && r <= 0xfffb, r >= 0x1d173 && r <= 0x1d17a, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// clip cuts s to limit characters and says so.
func clip(s string, limit int) (string, bool) {
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s, false
	}
	at, k := 0, 0
	for at = range s {
		if k == limit {
			break
		}
		k++
	}
	return s[:at] + fmt.Sprintf("\n\n[Cut here: the first %d of %d characters are shown.]", limit, n), true
}
