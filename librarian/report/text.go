package report

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/librarian-app/librarian/librarian/tool"
)

// clip cuts s after n characters; what was cut is marked by an ellipsis, which counts.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	runes := 0
	for i := range s {
		if runes == n-1 {
			return strings.TrimRightFunc(s[:i], unicode.IsSpace) + "…"
		}
		runes++
	}
	return s
}

// oneLine folds white space to single spaces and drops what a line of text cannot show.
func oneLine(s string) string {
	return strings.Join(strings.Fields(printable(s)), " ")
}

// printable drops control characters but newline and tab, invisible direction marks, and bytes that are not UTF-8: a
// terminal would obey the first, and a reader be misled by the second (Trojan Source, CVE-2021-42574).
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// showPath makes a path fit for one line: control characters, marks that turn a line's direction and bytes that are not UTF-8, all of which
// git allows in names, are written as Go escapes them.
func showPath(path string) string {
	var b strings.Builder
	for rest := path; rest != ""; {
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case r == utf8.RuneError && n == 1, tool.Unseen(r):
			q := strconv.Quote(rest[:n])
			b.WriteString(q[1 : len(q)-1])
		default:
			b.WriteString(rest[:n])
		}
		rest = rest[n:]
	}
	return b.String()
}

// units counts UTF-16 code units, by which GitHub limits a comment's body.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// cutUnits gives the longest prefix of s of at most n units that ends between characters.
func cutUnits(s string, n int) string {
	used := 0
	for i, r := range s {
		used += max(1, utf16.RuneLen(r))
		if used > n {
			return s[:i]
		}
	}
	return s
}

// plural is "1 file" or "3 files".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(int64(n)) + " " + many
}

// grouped writes a number with commas between thousands.
func grouped(n int64) string {
	if n < 0 {
		return "-" + grouped(-n)
	}
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	rest := strconv.FormatInt(n%1000, 10)
	return grouped(n/1000) + "," + strings.Repeat("0", 3-len(rest)) + rest
}
