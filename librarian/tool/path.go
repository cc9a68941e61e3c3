package tool

import (
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CleanPath reads a path parameter: relative to the repository's root, which is "". A leading "/" or "./" means the root. The
// refusal, for the model, is not empty for a path that leaves the tree.
func CleanPath(p string) (clean, refusal string) {
	p = unquotePath(p)
	if strings.ContainsRune(p, 0) {
		return "", "path must not contain NUL."
	}
	p = path.Clean(strings.TrimLeft(p, "/"))
	if p == ".." || strings.HasPrefix(p, "../") {
		return "", "path leaves the repository. Give it relative to the repository's root."
	}
	if p == "." {
		return "", ""
	}
	return p, ""
}

// QuotePath writes a path on one line. A name that would not survive that (control characters, invalid UTF-8, spaces at its ends,
// quotes at its start) or would mislead who reads it is quoted as Go quotes strings; [CleanPath] reads it back.
func QuotePath(p string) string {
	if utf8.ValidString(p) && !strings.HasPrefix(p, `"`) && strings.TrimSpace(p) == p && !strings.ContainsFunc(p, Unseen) {
		return p
	}
	return strconv.Quote(p)
}

// Unseen is a character of a name that a line of text cannot show: a control character, what ends a line elsewhere, and a mark that turns
// the direction of what follows (Trojan Source, CVE-2021-42574).
func Unseen(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || unicode.Is(unicode.Bidi_Control, r)
}

func unquotePath(p string) string {
	if len(p) > 1 && p[0] == '"' && p[len(p)-1] == '"' {
		if s, err := strconv.Unquote(p); err == nil {
			return s
		}
	}
	return p
}
