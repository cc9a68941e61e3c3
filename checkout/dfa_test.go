package checkout

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// lineNumbers searches a text with the scanner.
func lineNumbers(t testing.TB, pattern, text string) []int {
	t.Helper()
	m, err := newMatcher(GrepOptions{Pattern: pattern})
	require.NoError(t, err)
	s := &scanner{matcher: m}
	if m.prog != nil {
		s.dfa = newDFA(m.prog)
	}
	var out []int
	for _, l := range s.search("x", []byte(text), nil, 0, 1<<30).lines {
		out = append(out, int(l.line))
	}
	return out
}

// byLine is the plain way.
func byLine(re *regexp.Regexp, text string) []int {
	var out []int
	if text == "" {
		return nil
	}
	for i, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if re.MatchString(l) {
			out = append(out, i+1)
		}
	}
	return out
}

// FuzzDFA compares the scanner with the standard library, line by line.
func FuzzDFA(f *testing.F) {
	for _, p := range []string{"a", "^a", "a$", "^$", `\bfoo\b`, `\B.`, "(a|b)*c", "[^a]+", `\s+x`, "a{2,5}", "(?i)straße", "x*", `^\s*func`, "(a+)+$", "é.", `\d+\.\d+`, "a|", `(?:^|\W)x(?:\W|$)`, "\\xff", "[[:upper:]][a-z]"} {
		f.Add(p, "a\nfoo bar\n\naab c\nfoofoo xx 1.5\nÉé STRASSE straße\nfunc x()\n\xff\xfe\n")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if strings.Contains(text, "\r") || len(pattern) > 100 || pattern == "" {
			return
		}
		re, err := regexp.Compile("(?:" + pattern + ")")
		if err != nil {
			return
		}
		m, err := newMatcher(GrepOptions{Pattern: pattern})
		if err != nil || m == nil {
			return // a line end in it, or too large
		}
		require.Equal(t, byLine(re, text), lineNumbers(t, pattern, text), "%q", pattern)
	})
}

// TestDFAStartsAfresh: more states than are kept.
func TestDFAStartsAfresh(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 3000 {
		b.WriteString(strings.Repeat("ab", i%17))
		b.WriteString(strings.Repeat("b", i%13))
		b.WriteString(strings.Repeat("a", i%7))
		b.WriteString("\n")
	}
	pattern := "a.{14}b.{3}a"
	require.Equal(t, byLine(regexp.MustCompile(pattern), b.String()), lineNumbers(t, pattern, b.String()))
}
