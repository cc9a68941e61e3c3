package report

import (
	"cmp"
	"html"
	"regexp"
	"slices"
	"strings"
)

// runText is a run of plain text as a reader sees it: dec with entities and backslashes undone, at the source offset of
// each of its bytes and of its end.
type runText struct {
	dec string
	at  []int
}

func decodeRun(source []byte, from, to int) runText {
	var b strings.Builder
	var at []int
	add := func(s string, pos int) {
		for range len(s) {
			at = append(at, pos)
		}
		b.WriteString(s)
	}
	for i := from; i < to; {
		switch c := source[i]; {
		case c == '\\' && i+1 < to && isASCIIPunct(source[i+1]):
			add(string(source[i+1]), i)
			i += 2
		case c == '&':
			if e := entity.Find(source[i:to]); e != nil {
				if s := html.UnescapeString(string(e)); s != string(e) {
					add(s, i)
					i += len(e)
					continue
				}
			}
			add("&", i)
			i++
		default:
			add(string(source[i:i+1]), i)
			i++
		}
	}
	return runText{b.String(), append(at, to)}
}

// entity is an HTML entity as CommonMark knows it: with its semicolon.
var entity = regexp.MustCompile(`^&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});`)

func isASCIIPunct(c byte) bool {
	return c > ' ' && c < 0x7f && !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z')
}

// marks escapes what goldmark took for text and another parser might take for a link or a tag: "](", "][", "]:" and '<'
// before what a tag begins with.
func (t runText) marks(source []byte, from, to int) []edit {
	var edits []edit
	for i := from; i < to; i++ {
		next := byte(0)
		if i+1 < len(source) {
			next = source[i+1]
		}
		switch c := source[i]; {
		case c == '\\' && i+1 < to && isASCIIPunct(next):
			i++
		case c == ']' && (next == '(' || next == '[' || next == ':'),
			c == '<' && (next|0x20 >= 'a' && next|0x20 <= 'z' || next == '!' || next == '/' || next == '?'):
			edits = append(edits, edit{i, i, `\`})
		}
	}
	return edits
}

type token struct {
	start, stop int
	kind        tokenKind
}

type tokenKind int

const (
	live    tokenKind = iota
	secret            // redacted
	allowed           // a link that may stay, and covers what is in it
)

var (
	// A URL, as GFM's autolink extension and more liberal ones see it.
	liveURL = regexp.MustCompile(`(?i)(?:(?:https?|ftp)://|www\.|(?:mailto|xmpp):)[^\s<|]+`)
	// @name, @org/team, and packages. Preceded by a word character it is an e-mail address.
	liveMention = regexp.MustCompile(`@[A-Za-z0-9_][A-Za-z0-9_-]*(?:/[A-Za-z0-9_.-]*[A-Za-z0-9_])*`)
	// #1, owner/repo#1.
	liveReference = regexp.MustCompile(`(?:[A-Za-z0-9_.-]+/)?[A-Za-z0-9_.-]*#[0-9]+`)
	liveShorthand = regexp.MustCompile(`(?i)GH-[0-9]+`)
	// A commit, abbreviated or whole.
	liveCommit = regexp.MustCompile(`(?i)[0-9a-f]{7,64}`)
)

// tokens finds what GitHub would make live in t, in order, without overlap.
func (t runText) tokens(o Options) []token {
	var out []token
	s := t.dec
	add := func(start, stop int) { out = append(out, token{start, stop, live}) }
	for _, m := range liveURL.FindAllStringIndex(s, -1) {
		u := trimURL(s[m[0]:m[1]])
		kind := live
		if o.AllowLinks != nil && o.AllowLinks(u) {
			kind = allowed
		}
		out = append(out, token{m[0], m[0] + len(u), kind})
	}
	for _, m := range liveMention.FindAllStringIndex(s, -1) {
		if isAddress(s, m[0]) {
			continue
		}
		if o.Asker != "" && strings.EqualFold(s[m[0]+1:m[1]], o.Asker) && !strings.HasPrefix(s[m[1]:], "/") {
			continue
		}
		add(m[0], m[1])
	}
	for _, pattern := range []*regexp.Regexp{liveReference, liveShorthand} {
		for _, m := range pattern.FindAllStringIndex(s, -1) {
			if m[1] == len(s) || !isWordByte(s[m[1]]) { // else a colour, an anchor
				add(m[0], m[1])
			}
		}
	}
	for _, m := range liveCommit.FindAllStringIndex(s, -1) {
		if word := strings.ToLower(s[m[0]:m[1]]); len(word) > 64 || len(word) < 40 && (!strings.ContainsAny(word, "0123456789") || !strings.ContainsAny(word, "abcdef")) {
			continue
		}
		if m[0] > 0 && isWordByte(s[m[0]-1]) || m[1] < len(s) && isWordByte(s[m[1]]) {
			continue
		}
		a, z := m[0], m[1]
		for a > 0 && commitNeighbour(s[a-1]) {
			a--
		}
		for z < len(s) && commitNeighbour(s[z]) {
			z++
		}
		for z > m[1] && (s[z-1] == '.' || s[z-1] == '-') {
			z--
		}
		add(a, z)
	}
	for _, m := range secretShapes.FindAllStringIndex(s, -1) {
		if found := s[m[0]:m[1]]; Redact(found, nil) != found {
			out = append(out, token{m[0], m[1], secret})
		}
	}
	return distinct(out)
}

// isAddress reports whether the '@' at i stands in an e-mail address. A second one does not: GitHub ends the address before
// it.
func isAddress(s string, i int) bool {
	if i == 0 || s[i-1] == '_' || !isWordByte(s[i-1]) {
		return false
	}
	local := strings.TrimRight(s[:i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-")
	return !strings.HasSuffix(local, "@")
}

// distinct orders tokens, drops those that begin within another, and then allowed links.
func distinct(tokens []token) []token {
	slices.SortStableFunc(tokens, func(a, b token) int { return cmp.Compare(a.start, b.start) })
	end := 0
	return slices.DeleteFunc(tokens, func(t token) bool {
		if t.start < end || t.start >= t.stop {
			return true
		}
		end = t.stop
		return t.kind == allowed
	})
}

func commitNeighbour(c byte) bool {
	return isWordByte(c) || c == '-' || c == '.' || c == '/' || c == '@'
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// trimURL leaves out the punctuation that GFM does not count to an address, and closing brackets that nothing opened.
func trimURL(u string) string {
	for u != "" {
		switch c := u[len(u)-1]; {
		case strings.IndexByte("?!.,:;*_~'\"`]}>", c) >= 0, c == ')' && strings.Count(u, ")") > strings.Count(u, "("):
			u = u[:len(u)-1]
		default:
			return u
		}
	}
	return u
}

// parted puts joiners into a token so that no part of it is live.
func parted(s string) string {
	s = strings.ReplaceAll(s, joiner, "")
	s = partAt.ReplaceAllString(s, "$1"+joiner+"$2")
	return liveCommit.ReplaceAllStringFunc(s, func(hex string) string {
		var b strings.Builder
		for i := range len(hex) {
			if i > 0 && i%4 == 0 {
				b.WriteString(joiner)
			}
			b.WriteByte(hex[i])
		}
		return b.String()
	})
}

var partAt = regexp.MustCompile(`(?i)([@#:]|www|GH-)([0-9A-Za-z_/.]|$)`)
