package report

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Fence shows code in a fenced block whose fence is longer than any run of backticks in it, so that nothing in the code can
// close it (P2). Lang is kept only if it is a plain word and not one that GitHub renders or acts on.
func Fence(code, lang string) string {
	fence := strings.Repeat("`", max(3, longestRun(code, '`')+1))
	if !plainLang.MatchString(lang) || activeLangs[strings.ToLower(lang)] {
		lang = ""
	}
	code = spellUnseen(strings.ReplaceAll(strings.ReplaceAll(code, "\r\n", "\n"), "\r", "\n"))
	return fence + lang + "\n" + strings.TrimSuffix(code, "\n") + "\n" + fence
}

var plainLang = regexp.MustCompile(`^[A-Za-z0-9+#._-]{1,40}$`)

// activeLangs are the info strings of fences that GitHub does not show as code: diagrams, maps and models are run in a
// frame, a suggestion becomes a button that changes the code.
var activeLangs = map[string]bool{
	"mermaid": true, "geojson": true, "topojson": true, "stl": true, "math": true, "suggestion": true,
}

// spellUnseen writes control characters, and those that turn the direction of what follows, as Go's escapes: code is shown as
// it is, but nobody is to be misled by it (Trojan Source, CVE-2021-42574).
func spellUnseen(s string) string {
	unseen := func(r rune) bool {
		return r != '\n' && r != '\t' && unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	}
	if !strings.ContainsFunc(s, unseen) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unseen(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// InlineCode shows s, on one line, as a code span (P2). Nothing in it is live.
func InlineCode(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == '\t' {
			return ' '
		}
		return r
	}, s)
	if strings.Trim(s, " ") == "" {
		return s
	}
	ticks := strings.Repeat("`", longestRun(s, '`')+1)
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' && s[len(s)-1] == ' ' {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if run++; s[i] != c {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// EscapeText makes s, on one line, show exactly as it is where Markdown is expected, with nothing in it live.
func EscapeText(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	t := runText{dec: s, at: identity(len(s))}
	var b strings.Builder
	at := 0
	for _, tok := range t.tokens(Options{}) {
		b.WriteString(s[at:tok.start] + parted(s[tok.start:tok.stop]))
		at = tok.stop
	}
	b.WriteString(s[at:])
	s = escapable.ReplaceAllString(b.String(), `\$0`)
	return blockMark.ReplaceAllString(s, `$1\$2`)
}

var (
	escapable = regexp.MustCompile("[\\\\`*_\\[\\]<>&|~$]")
	blockMark = regexp.MustCompile(`^([0-9]{0,9})([#+=.)-])`)
)

func identity(n int) []int {
	at := make([]int, n+1)
	for i := range at {
		at[i] = i
	}
	return at
}
