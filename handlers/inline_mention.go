package handlers

import (
	"bytes"
	"html"
	"strings"
	"unicode/utf8"
)

// mentions finds "@name" in what is left unmasked. The rules are those of GitHub's own mention filter (html-pipeline,
// MentionFilter): no word character or '@' before it, and no word character, hyphen, slash or ".word" after it;
// and no "@word" either, as in the addresses of other networks.
func (in *inline) mentions(names []string) []span {
	var out []span
	b := in.text
	prev := rune(' ') // the character before
	word := rune(' ') // the character before a run of underscores, which may be emphasis
	for i := 0; i < len(b); {
		if in.mask[i] {
			prev, word = ' ', ' '
			i++
			continue
		}
		if n := in.url(i, prev); n > 0 {
			prev, word = 'x', 'x'
			i += n
			continue
		}
		r, w := in.char(i)
		if r == '@' && !wordRune(word) && prev != '@' {
			if n := in.name(i+w, names); n > 0 {
				out = append(out, span{i, i + w + n})
				w += n
				r = 'x'
			}
		}
		if r != '_' {
			word = r
		}
		prev = r
		i += w
	}
	return out
}

// name is the length of one of names at i, in any case, that ends there.
func (in *inline) name(i int, names []string) int {
	for _, name := range names {
		at := i
		for _, want := range name {
			r, w := in.char(at)
			if w == 0 || toLower(r) != want {
				at = -1
				break
			}
			at += w
		}
		if at < 0 {
			continue
		}
		if rest := in.text[at:]; len(rest) >= 5 && strings.EqualFold(string(rest[:5]), "[bot]") && !in.masked(at, at+5) {
			at += 5
		}
		if in.ends(at) {
			return at - i
		}
	}
	return 0
}

// ends reports whether a name may end at i.
func (in *inline) ends(i int) bool {
	r, w := in.char(i)
	if r == '/' {
		return false
	}
	for r == '_' || r == '-' { // closing emphasis, or a dash
		i += w
		r, w = in.char(i)
	}
	at := r == '@' // the rest of somebody's address: @name@host
	if r == '.' || at {
		if r, _ = in.char(i + w); r == '.' && !at {
			return true
		}
	}
	return !wordRune(r)
}

func (in *inline) masked(start, stop int) bool {
	for i := start; i < stop; i++ {
		if in.mask[i] {
			return true
		}
	}
	return false
}

// char is the character a reader sees at i and its width in the text: an entity counts as what it stands for, a backslash
// before punctuation does not count. At the end, or where prose ends, it is a space of width 0.
func (in *inline) char(i int) (rune, int) {
	if i >= len(in.text) || in.mask[i] {
		return ' ', 0
	}
	b := in.text[i:]
	switch {
	case b[0] == '\\' && len(b) > 1 && in.escaped[i+1]:
		return rune(b[1]), 2
	case b[0] == '&' && !in.escaped[i]:
		if n := bytes.IndexByte(b[:min(len(b), 40)], ';'); n > 1 {
			s := html.UnescapeString(string(b[:n+1]))
			if r, w := utf8.DecodeRuneInString(s); w == len(s) {
				return r, n + 1
			}
		}
	}
	return utf8.DecodeRune(b)
}

// url is the length of the bare address at i (GFM's autolink extension); 0 if there is none.
func (in *inline) url(i int, prev rune) int {
	switch in.text[i] | 0x20 {
	case 'h', 'f', 'w', 'm', 'x':
	default:
		return 0
	}
	if prev < 0x80 && isAlnum(byte(prev)) {
		return 0
	}
	for _, p := range []string{"http://", "https://", "ftp://", "www.", "mailto:", "xmpp:"} {
		if len(in.text)-i > len(p) && strings.EqualFold(string(in.text[i:i+len(p)]), p) {
			n := len(p)
			for i+n < len(in.text) && in.text[i+n] > ' ' && in.text[i+n] != '<' && !in.mask[i+n] {
				n++
			}
			return n
		}
	}
	return 0
}

func toLower(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}
