package handlers

import (
	"bytes"
	"strings"
)

// proseless are the HTML elements whose content is no prose of the author: code, links, quotes, and what is not shown.
var proseless = map[string]bool{
	"a": true, "blockquote": true, "code": true, "iframe": true, "kbd": true, "math": true, "noembed": true,
	"noframes": true, "object": true, "plaintext": true, "pre": true, "samp": true, "script": true, "select": true,
	"style": true, "svg": true, "template": true, "textarea": true, "title": true, "tt": true, "var": true, "xmp": true,
}

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

// angle is the length of the comment, tag, declaration or autolink that begins at i with '<'; 0 if there is none. A tag's
// element is opened or closed.
func (in *inline) angle(i int) int {
	b := in.text[i:]
	until := func(needle string, skip int) int {
		if p := in.next(needle, i+skip); p < len(in.text) {
			return p + len(needle) - i
		}
		return 0
	}
	switch {
	case bytes.HasPrefix(b, []byte("<!-->")), bytes.HasPrefix(b, []byte("<!--->")):
		n := bytes.IndexByte(b, '>') + 1
		in.comment(i, i+n)
		return n
	case bytes.HasPrefix(b, []byte("<!--")):
		n := until("-->", 4)
		if n > 0 {
			in.comment(i, i+n)
		}
		return n
	case bytes.HasPrefix(b, []byte("<?")):
		return until("?>", 2)
	case bytes.HasPrefix(b, []byte("<![CDATA[")):
		return until("]]>", 9)
	case len(b) > 2 && b[1] == '!' && isLetter(b[2]):
		return until(">", 2)
	}
	if n := tag(b); n > 0 {
		in.element(b[:n])
		return n
	}
	return autolink(b)
}

// comment notes a comment for removal, line by line, since its lines need not be neighbours in the source.
func (in *inline) comment(start, stop int) {
	for k, s := range in.segs {
		from, to := in.starts[k], in.starts[k]+s.stop-s.start
		if a, z := max(from, start), min(to, stop); a < z {
			in.doc.comments = append(in.doc.comments, span{s.start + a - from, s.start + z - from})
		}
	}
}

// element counts an opening or closing tag of an element without prose. One that is never closed hides the rest of the
// text, as it does in a browser.
func (in *inline) element(tag []byte) {
	d := in.doc
	name := bytes.TrimLeft(tag[1:], "/")
	end := 0
	for end < len(name) && (isLetter(name[end]) || name[end] >= '0' && name[end] <= '9' || name[end] == '-') {
		end++
	}
	el := strings.ToLower(string(name[:end]))
	if !proseless[el] {
		return
	}
	if tag[1] != '/' {
		d.open[el]++
		d.hidden++
	} else if d.open[el] > 0 {
		d.open[el]--
		d.hidden--
	}
}

// tag is the length of the HTML tag that b begins with (CommonMark 0.31, section 6.6); 0 if it is none.
func tag(b []byte) int {
	i := 1
	closing := i < len(b) && b[i] == '/'
	if closing {
		i++
	}
	if i >= len(b) || !isLetter(b[i]) {
		return 0
	}
	for i < len(b) && (isLetter(b[i]) || b[i] >= '0' && b[i] <= '9' || b[i] == '-') {
		i++
	}
	for {
		at := i
		for i < len(b) && isSpace(b[i]) {
			i++
		}
		if i >= len(b) {
			return 0
		}
		if b[i] == '>' {
			return i + 1
		}
		if b[i] == '/' && i+1 < len(b) && b[i+1] == '>' {
			return i + 2
		}
		if closing || at == i || !isLetter(b[i]) && b[i] != '_' && b[i] != ':' {
			return 0
		}
		for i < len(b) && (isWord(b[i]) || b[i] == ':' || b[i] == '.' || b[i] == '-') {
			i++
		}
		v := i
		for v < len(b) && isSpace(b[v]) {
			v++
		}
		if v >= len(b) || b[v] != '=' {
			continue
		}
		for v++; v < len(b) && isSpace(b[v]); v++ {
		}
		if v >= len(b) {
			return 0
		}
		if q := b[v]; q == '"' || q == '\'' {
			n := bytes.IndexByte(b[v+1:], q)
			if n < 0 {
				return 0
			}
			i = v + n + 2
			continue
		}
		i = v
		for i < len(b) && b[i] > ' ' && !strings.ContainsRune("\"'=<>`", rune(b[i])) {
			i++
		}
		if i == v {
			return 0
		}
	}
}

// autolink is the length of <scheme:…> or <local@domain> at the start of b; 0 if it is none.
func autolink(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case c == '>':
			if inner := b[1:i]; bytes.IndexByte(inner, ':') > 1 || bytes.IndexByte(inner, '@') > 0 {
				return i + 1
			}
			return 0
		case c <= ' ' || c == '<':
			return 0
		}
	}
	return 0
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
