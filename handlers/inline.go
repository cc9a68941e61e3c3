package handlers

import (
	"bytes"
	"strings"
)

// inline is the text of one leaf block, its lines joined, with a mask over what is not prose. Every step is linear in the
// text: whatever looks ahead for a closing mark remembers where the last one it found was.
type inline struct {
	doc      *document
	segs     []span
	starts   []int // where each segment begins in text
	text     []byte
	mask     []bool // true: not prose
	escaped  []bool // a punctuation mark behind a backslash
	markdown bool
	ahead    map[string]int // needle → its next place, or len(text)
	ticks    map[int][]int  // length of a run of backticks → where such runs begin
	links    []span
}

func newInline(d *document, segs []span, markdown bool) *inline {
	in := &inline{doc: d, segs: segs, markdown: markdown}
	for _, s := range segs {
		in.starts = append(in.starts, len(in.text))
		in.text = append(in.text, d.src[s.start:s.stop]...)
	}
	both := make([]bool, 2*len(in.text))
	in.mask, in.escaped = both[:len(in.text)], both[len(in.text):]
	return in
}

// next is the first place of needle at or after from; len(text) if there is none. from must not decrease between calls
// for one needle by more than what was found, which holds because the text is read forwards.
func (in *inline) next(needle string, from int) int {
	if p, ok := in.ahead[needle]; ok && p >= from {
		return p
	}
	p := len(in.text)
	if from < len(in.text) {
		if i := bytes.Index(in.text[from:], []byte(needle)); i >= 0 {
			p = from + i
		}
	}
	if in.ahead == nil {
		in.ahead = map[string]int{}
	}
	in.ahead[needle] = p
	return p
}

func (in *inline) hide(start, stop int) {
	for i := start; i < min(stop, len(in.mask)); i++ {
		in.mask[i] = true
	}
}

// read masks code, HTML, autolinks and links.
func (in *inline) read() {
	var brackets brackets
	b := in.text
	for i := 0; i < len(b); {
		if in.doc.comment {
			// What is behind its end may be in code that began in it: it is read on from here.
			end := in.next("-->", i)
			in.doc.comment = end == len(b)
			in.hide(i, end+3)
			if in.doc.comment {
				break
			}
		}
		stop := i + 1
		switch c := b[i]; {
		case c == '<':
			if n := in.angle(i); n > 0 {
				stop = i + n
				in.hide(i, stop)
				break
			}
			if bytes.HasPrefix(b[i:], []byte("<!--")) {
				// Never closed in this block. GitHub shows the rest, but nobody who wrote this meant to say it aloud.
				in.doc.comment = true
			}
		case !in.markdown:
		case c == '\\' && i+1 < len(b) && isPunct(b[i+1]):
			in.escaped[i+1] = true
			stop = i + 2
		case c == '`':
			run := runLen(b[i:], '`')
			stop = i + run
			if end := in.closeTicks(run, stop); end > 0 {
				in.hide(i, end)
				stop = end
			}
		case c == '[':
			brackets.open(i, i > 0 && b[i-1] == '!' && !in.escaped[i-1])
		case c == ']':
			stop = brackets.close(in, i)
		}
		if in.doc.hidden > 0 {
			in.hide(i, stop)
		}
		i = stop
	}
	in.hideLinks()
}

// hideLinks masks the links all at once: images nest, and hiding each by itself would be quadratic.
func (in *inline) hideLinks() {
	if len(in.links) == 0 {
		return
	}
	edge := make([]int, len(in.text)+1)
	for _, l := range in.links {
		edge[l.start]++
		edge[l.stop]--
	}
	depth := 0
	for i := range in.mask {
		depth += edge[i]
		in.mask[i] = in.mask[i] || depth > 0
	}
}

// closeTicks finds the end of the code span whose opening run of n backticks ends at from; 0 if nothing closes it.
func (in *inline) closeTicks(n, from int) int {
	if in.ticks == nil {
		in.ticks = map[int][]int{}
		for i := 0; i < len(in.text); {
			if in.text[i] != '`' {
				i++
				continue
			}
			k := runLen(in.text[i:], '`')
			in.ticks[k] = append(in.ticks[k], i)
			i += k
		}
	}
	places := in.ticks[n]
	for len(places) > 0 && places[0] < from {
		places = places[1:]
	}
	in.ticks[n] = places
	if len(places) == 0 {
		return 0
	}
	return places[0] + n
}

// brackets pairs '[' with ']' as CommonMark does: the innermost first, and no link within a link.
type brackets struct {
	at    []int
	image []bool
	dead  int // openers below this index can no longer make a link
}

func (s *brackets) open(i int, image bool) {
	s.at = append(s.at, i)
	s.image = append(s.image, image)
}

// close handles the ']' at i and returns where to read on.
func (s *brackets) close(in *inline, i int) int {
	n := len(s.at) - 1
	if n < 0 {
		return i + 1
	}
	open, image := s.at[n], s.image[n]
	dead := n < s.dead && !image
	s.at, s.image = s.at[:n], s.image[:n]
	s.dead = min(s.dead, n)
	if dead {
		return i + 1
	}
	stop := in.target(open, i)
	if stop == 0 {
		return i + 1
	}
	in.links = append(in.links, span{open, stop})
	if !image {
		s.dead = n
	}
	return stop
}

// target is where the link whose text lies between the brackets at open and end stops; 0 if it is no link. A little more
// is taken for a link than CommonMark does, never less.
func (in *inline) target(open, end int) int {
	b := in.text
	if end+1 < len(b) && b[end+1] == '(' {
		if stop := in.destination(end + 2); stop > 0 {
			return stop
		}
	}
	if end+1 < len(b) && b[end+1] == '[' {
		if stop := in.next("]", end+2); stop < len(b) {
			label := b[end+2 : stop]
			if len(bytes.TrimSpace(label)) == 0 {
				label = b[open+1 : end]
			}
			if in.doc.isReference(label) {
				return stop + 1
			}
			return 0
		}
	}
	if in.doc.isReference(b[open+1 : end]) {
		return end + 1
	}
	return 0
}

// destination reads "<url> 'title')" from i on and returns where it ends; 0 if it is none.
func (in *inline) destination(i int) int {
	b := in.text
	i = skipSpace(b, i)
	if i < len(b) && b[i] == '<' {
		if i = in.closer(">", i+1); i == len(b) {
			return 0
		}
		i++
	} else {
		depth := 0
		for ; i < len(b) && !isSpace(b[i]); i++ { // of other control characters cmark makes links, too
			if b[i] == '\\' && i+1 < len(b) && isPunct(b[i+1]) {
				i++
				continue
			}
			if b[i] == '(' {
				if depth++; depth > 32 { // cmark's limit
					return 0
				}
			}
			if b[i] == ')' {
				if depth--; depth < 0 {
					break
				}
			}
		}
	}
	i = skipSpace(b, i)
	if i < len(b) && strings.IndexByte(`"'(`, b[i]) >= 0 {
		closer := string(b[i])
		if closer == "(" {
			closer = ")"
		}
		if i = in.closer(closer, i+1); i == len(b) {
			return 0
		}
		i++
		i = skipSpace(b, i)
	}
	if i < len(b) && b[i] == ')' {
		return i + 1
	}
	return 0
}

// closer is the first mark at or after from that no backslash escapes; len(text) if there is none.
func (in *inline) closer(mark string, from int) int {
	for i := from; ; i++ {
		i = in.next(mark, i)
		slashes := 0
		for i-slashes > from && in.text[i-slashes-1] == '\\' {
			slashes++
		}
		if i == len(in.text) || slashes%2 == 0 {
			return i
		}
	}
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

func runLen(b []byte, c byte) int {
	n := 0
	for n < len(b) && b[n] == c {
		n++
	}
	return n
}

func wordRune(r rune) bool { return r < 0x80 && isWord(byte(r)) }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isAlnum(c byte) bool  { return isLetter(c) || c >= '0' && c <= '9' }
func isWord(c byte) bool   { return isAlnum(c) || c == '_' }
func isSpace(c byte) bool  { return c == ' ' || c >= '\t' && c <= '\r' }
func isPunct(c byte) bool  { return c > ' ' && c < 0x7f && !isAlnum(c) }
