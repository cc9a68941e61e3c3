package syntax

import "bytes"

// markComment stands in the mask for every byte of a comment.
const markComment = 0x01

// The end of a string that may run over lines is searched in the next farAhead bytes, until maxFailed searches have found none. Without
// these bounds, a file of nothing but beginnings would take quadratic time.
const (
	farAhead  = 128 << 10
	maxFailed = 50
)

// maskSource copies a text with comments turned into markComment and the inside of strings into blanks; line ends stay, so
// that offsets and lines are those of the source. The strings that run over lines are told, too, in their order.
func maskSource(lang *language, src []byte) (mask []byte, overLines []span) {
	m := &masker{lang: lang, src: src, out: make([]byte, len(src))}
	copy(m.out, src)
	if bytes.HasPrefix(m.out, []byte("\xef\xbb\xbf")) {
		copy(m.out, "   ") // a byte order mark is no code
	}
	m.run()
	return m.out, m.overLines
}

// span is a range of offsets; to is behind it.
type span struct{ from, to int }

type masker struct {
	lang      *language
	src       []byte
	out       []byte
	failed    int // searches for an end that found none; see maxFailed
	overLines []span
	last      byte // the last code character that was no blank: tells a regular expression from a division
}

func (m *masker) blank(from, to int, with byte) { blank(m.out, from, to, with) }

// blank overwrites a range but for its line ends.
func blank(mask []byte, from, to int, with byte) {
	for i := from; i < to && i < len(mask); i++ {
		if c := mask[i]; c != '\n' && c != '\r' {
			mask[i] = with
		}
	}
}

func (m *masker) has(i int, s string) bool {
	return s != "" && i+len(s) <= len(m.src) && string(m.src[i:i+len(s)]) == s
}

func (m *masker) lineEnd(i int) int {
	if n := bytes.IndexByte(m.src[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(m.src)
}

func (m *masker) run() {
	l := m.lang
	for i := 0; i < len(m.src); {
		c := m.src[i]
		switch {
		case c == '\n' && l.name == "ruby" && m.has(i, "\n=begin"):
			end := bytes.Index(m.src[i:], []byte("\n=end"))
			if end < 0 {
				end = len(m.src) - i
			}
			m.blank(i, i+end+5, markComment)
			i += end + 5
			continue
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		}
		if c == '\\' && l.name == "shell" {
			i += 2 // \' is no quote
			continue
		}
		if l.name == "php" && m.has(i, "<?php") {
			m.blank(i, i+5, ' ')
			i += 5
			continue
		}
		if n := m.comment(i); n > i {
			m.blank(i, n, markComment)
			i = n
			continue
		}
		if n := m.quoted(i); n > i {
			m.last = '"'
			if bytes.IndexByte(m.src[i:min(n, len(m.src))], '\n') >= 0 {
				m.overLines = append(m.overLines, span{i, n})
			}
			i = n
			continue
		}
		m.last = c
		i++
		if isWordStart(c) { // whole words at once: `r` in `for` opens no raw string
			for i < len(m.src) && isWord(m.src[i]) {
				m.last = m.src[i]
				i++
			}
		}
	}
}

// comment gives the end of a comment that starts at i, else i.
func (m *masker) comment(i int) int {
	l := m.lang
	if open := l.blockComment[0]; l.name != "ruby" && m.has(i, open) {
		depth, j := 1, i+len(open)
		for j < len(m.src) {
			switch {
			case m.has(j, l.blockComment[1]):
				depth--
				j += len(l.blockComment[1])
				if depth == 0 {
					return j
				}
			case l.nested && m.has(j, open):
				depth++
				j += len(open)
			default:
				j++
			}
		}
		return j
	}
	for _, lc := range l.lineComment {
		if !m.has(i, lc) {
			continue
		}
		if lc == "#" {
			if l.name == "php" && m.has(i, "#[") {
				continue
			}
			if l.name == "shell" && i > 0 && !bytes.ContainsRune([]byte(" \t\n;("), rune(m.src[i-1])) {
				continue
			}
		}
		return m.lineEnd(i)
	}
	return i
}

// quoted blanks a string, character or regular expression that starts at i and gives its end, else i.
func (m *masker) quoted(i int) int {
	l, c := m.lang, m.src[i]
	if l.triple && (c == '"' || c == '\'' && bytes.IndexByte([]byte(l.quotes), '\'') >= 0) && m.has(i, string([]byte{c, c, c})) {
		end := bytes.Index(m.src[i+3:], []byte{c, c, c})
		if end < 0 {
			m.blank(i+3, len(m.src), ' ')
			return len(m.src)
		}
		m.blank(i+3, i+3+end, ' ')
		return i + end + 6
	}
	if n := m.rawString(i); n > i {
		return n
	}
	if l.charQuote && c == '\'' {
		return m.character(i)
	}
	if bytes.IndexByte([]byte(l.quotes), c) >= 0 {
		if l.name == "shell" {
			if end := m.shellQuoted(i); end > i {
				return end
			}
		}
		return m.plainString(i, c)
	}
	if c == '/' && (l.name == "javascript" || l.name == "typescript" || l.name == "ruby") {
		return m.regexp(i)
	}
	if c == '<' && (l.name == "shell" || l.name == "php" || l.name == "ruby") {
		return m.hereDoc(i)
	}
	return i
}

func (m *masker) plainString(i int, quote byte) int {
	multi := bytes.IndexByte([]byte(m.lang.multiQuotes), quote) >= 0
	if multi && m.failed > maxFailed {
		return i + 1
	}
	escapes := !(m.lang.name == "go" && quote == '`') && !(m.lang.name == "shell" && quote == '\'')
	for j := i + 1; j < len(m.src) && (!multi || j < i+farAhead); j++ {
		switch c := m.src[j]; {
		case c == quote:
			m.blank(i+1, j, ' ')
			return j + 1
		case c == '\\' && escapes:
			j++
		case c == '\n' && !multi:
			m.blank(i+1, j, ' ')
			return j
		}
	}
	if multi { // never closed: believe that the quote was none
		m.failed++
		return i + 1
	}
	m.blank(i+1, len(m.src), ' ')
	return len(m.src)
}

// character blanks 'x', '\n' and '\u{1F600}', and leaves a lone quote (a lifetime, a digit separator, a symbol) alone.
func (m *masker) character(i int) int {
	if i+1 >= len(m.src) {
		return i + 1
	}
	if m.src[i+1] == '\\' {
		for j := i + 3; j < len(m.src) && j < i+14; j++ {
			if m.src[j] == '\'' {
				m.blank(i+1, j, ' ')
				return j + 1
			}
		}
		return i + 1
	}
	for j := i + 2; j < len(m.src) && j <= i+5; j++ {
		if m.src[j] == '\'' {
			if j == i+2 || m.src[i+1] >= 0x80 {
				m.blank(i+1, j, ' ')
				return j + 1
			}
			break
		}
	}
	return i + 1
}

// rawString handles r#"…"#, R"x(…)x" and @"…".
func (m *masker) rawString(i int) int {
	if m.failed > maxFailed {
		return i
	}
	var open int
	var closing []byte
	switch {
	case m.lang.name == "rust" && (m.has(i, `r"`) || m.has(i, "r#")) || m.lang.name == "swift" && m.has(i, `#"`):
		j := i
		if m.src[j] == 'r' {
			j++
		}
		hashes := 0
		for j < len(m.src) && m.src[j] == '#' {
			hashes++
			j++
		}
		if j >= len(m.src) || m.src[j] != '"' {
			return i
		}
		open, closing = j+1, append([]byte{'"'}, bytes.Repeat([]byte{'#'}, hashes)...)
	case m.lang.name == "cpp" && m.has(i, `R"`):
		n := bytes.IndexByte(m.src[i:min(i+20, len(m.src))], '(')
		if n < 0 {
			return i
		}
		open, closing = i+n+1, append(append([]byte{')'}, m.src[i+2:i+n]...), '"')
	case m.lang.name == "csharp" && (m.has(i, `@"`) || m.has(i, `$@"`)):
		open = i + bytes.IndexByte(m.src[i:], '"') + 1
		for j := open; j < min(open+farAhead, len(m.src)); j++ {
			if m.src[j] != '"' {
				continue
			}
			if j+1 < len(m.src) && m.src[j+1] == '"' {
				j++
				continue
			}
			m.blank(open, j, ' ')
			return j + 1
		}
		m.failed++
		return i
	default:
		return i
	}
	end := bytes.Index(m.src[open:min(open+farAhead, len(m.src))], closing)
	if end < 0 {
		m.failed++
		return i
	}
	m.blank(open, open+end, ' ')
	return open + end + len(closing)
}

// regexp blanks /…/ where a value may start.
func (m *masker) regexp(i int) int {
	if m.last != 0 && bytes.IndexByte([]byte("(,=:[!&|?{};+>~"), m.last) < 0 {
		return i
	}
	class := false
	for j := i + 1; j < min(i+2000, len(m.src)); j++ {
		switch c := m.src[j]; {
		case c == '\n':
			return i
		case c == '\\':
			j++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			m.blank(i+1, j, ' ')
			return j + 1
		}
	}
	return i
}

// hereDoc blanks <<WORD … WORD (shell), <<~WORD (Ruby), <<<WORD (PHP).
func (m *masker) hereDoc(i int) int {
	if m.failed > maxFailed {
		return i
	}
	j := i
	for j < min(i+4, len(m.src)) && m.src[j] == '<' {
		j++
	}
	if n := j - i; m.lang.name == "php" && n != 3 || m.lang.name != "php" && n != 2 {
		return i
	}
	for j < len(m.src) && bytes.IndexByte([]byte("-~ '\""), m.src[j]) >= 0 {
		if m.src[j] == ' ' && m.lang.name == "ruby" {
			return i // a << b
		}
		j++
	}
	w := j
	for j < len(m.src) && isWord(m.src[j]) {
		j++
	}
	word := m.src[w:j]
	if len(word) == 0 || !(word[0] >= 'A' && word[0] <= 'Z' || word[0] == '_') {
		return i
	}
	for k := m.lineEnd(j) + 1; k < min(j+farAhead, len(m.src)); {
		e := m.lineEnd(k)
		t := bytes.TrimRight(bytes.TrimSpace(m.src[k:e]), ";,)")
		if bytes.Equal(t, word) {
			m.blank(m.lineEnd(j), e, ' ')
			return e
		}
		k = e + 1
	}
	m.failed++
	return i
}
