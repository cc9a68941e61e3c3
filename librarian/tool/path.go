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

// QuotePath writes a path on one line. A name that would not survive that (control characters, invalid UTF-8, quotes at its
// start) is quoted as Go quotes strings; [CleanPath] reads it back.
func QuotePath(p string) string {
	plain := utf8.ValidString(p) && !strings.HasPrefix(p, `"`) &&
		!strings.ContainsFunc(p, func(r rune) bool {
			return unicode.IsControl(r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
		})
	if plain {
		return p
	}
	return strconv.Quote(p)
}

func unquotePath(p string) string {
	if len(p) > 1 && p[0] == '"' && p[len(p)-1] == '"' {
		if s, err := strconv.Unquote(p); err == nil {
			return s
		}
	}
	return p
}
