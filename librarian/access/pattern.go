package access

import (
	"fmt"
	"path"
	"strings"

	"github.com/librarian-app/librarian/librarian"
)

// Pattern names repositories: "owner/name" in any case, where '*' stands for any run of characters and '?' for one, neither of
// them for the slash.
type Pattern string

// maxPattern is longer than any name.
const maxPattern = 200

// ParsePattern reads a pattern. Only what names may hold, and the two wildcards, are accepted; there are no character
// classes, so that no pattern matches what a reader would not expect.
func ParsePattern(s string) (Pattern, error) {
	owner, name, ok := strings.Cut(s, "/")
	if !ok || owner == "" || name == "" || len(s) > maxPattern || strings.ContainsFunc(owner+name, outsidePattern) {
		return "", fmt.Errorf("%q is not owner/name, with * and ? as wildcards", shorten(s))
	}
	return Pattern(strings.ToLower(s)), nil
}

// Owner is what stands before the slash.
func (p Pattern) Owner() string {
	owner, _, _ := strings.Cut(string(p), "/")
	return owner
}

// Match reports whether p covers a repository. A Pattern that ParsePattern did not make covers nothing.
func (p Pattern) Match(name librarian.RepoName) bool {
	if name.Owner == "" || name.Name == "" || strings.ContainsFunc(strings.Replace(string(p), "/", "", 1), outsidePattern) {
		return false
	}
	ok, err := path.Match(strings.ToLower(string(p)), strings.ToLower(name.String()))
	return ok && err == nil
}

// matchAny reports whether one of the patterns covers name.
func matchAny(patterns []Pattern, name librarian.RepoName) bool {
	for _, p := range patterns {
		if p.Match(name) {
			return true
		}
	}
	return false
}

func outsidePattern(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("-_.*?", r)
}

func shorten(s string) string {
	if len(s) <= 80 {
		return s
	}
	return strings.ToValidUTF8(s[:80], "") + "…"
}
