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

// angle is the length of the comment, tag, declaration or autolink that begins at i with '<'; 0 if there is none. A tag's
// element is opened or closed.
func (in *inline) angle(i int) int {
	b := in.text[i:]
	n := in.markup(i)
	if n > 0 || in.markdown || len(b) < 2 || !isLetter(b[1]) && strings.IndexByte("/!?", b[1]) < 0 || bytes.HasPrefix(b, []byte("<!--")) {
		return n
	}
	// An HTML block goes to the browser as it is, and there a tag needs no more than this to be one and its text to be unseen.
	end := in.next(">", i)
	if end == len(in.text) {
		return len(b)
	}
	in.element(in.text[i : end+1])
	return end + 1 - i
}

// markup is angle by CommonMark's rules.
func (in *inline) markup(i int) int {
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
