package checkout

import (
	"regexp"
	"strings"
)

var (
	fullSHA  = regexp.MustCompile(`^[0-9a-f]{40}$`)
	shortSHA = regexp.MustCompile(`^[0-9a-f]{7,39}$`)
)

// lowerID writes a full commit id as git does. A shorter one could be a branch's
// name, and those differ by case.
func lowerID(ref string) string {
	if low := strings.ToLower(ref); fullSHA.MatchString(low) {
		return low
	}
	return ref
}

// CheckRef refuses what cannot be a ref or a commit id. The rules are those of
// git-check-ref-format(1), plus none of git's revision syntax ("@{-1}", "a..b",
// "x^", "x~1", "a:b") and no leading "-", so that a ref can be neither an
// option nor an expression. The empty string is the default branch and passes.
func CheckRef(ref string) error {
	bad := func(reason string) error { return &RefError{Ref: ref, Reason: reason} }
	switch {
	case ref == "":
		return nil
	case len(ref) > 250:
		return bad("is longer than 250 bytes")
	case strings.HasPrefix(ref, "-"):
		return bad("begins with '-'")
	case ref == "@":
		return bad("is only '@'")
	case strings.Contains(ref, "@{"):
		return bad("contains '@{'")
	case strings.Contains(ref, ".."):
		return bad("contains '..'")
	case strings.HasSuffix(ref, "."):
		return bad("ends with '.'")
	}
	for _, r := range ref {
		switch {
		case r < 0x20 || r == 0x7f:
			return bad("contains a control character")
		case r == 0xFFFD:
			return bad("is not valid UTF-8")
		case strings.ContainsRune(" ~^:?*[\\", r):
			return bad("contains " + string([]rune{'\'', r, '\''}))
		}
	}
	for part := range strings.SplitSeq(ref, "/") {
		switch {
		case part == "":
			return bad("has an empty part between slashes")
		case strings.HasPrefix(part, "."):
			return bad("has a part that begins with '.'")
		case strings.HasSuffix(part, ".lock"):
			return bad("has a part that ends with '.lock'")
		}
	}
	return nil
}

// candidates gives the full names that ref may stand for, in the order in
// which they win. The rule for a branch and a tag of one name: the branch. That
// is what GitHub shows below /tree/<name>, and what "git clone -b" takes.
func candidates(ref string) []string {
	switch {
	case ref == "" || ref == "HEAD":
		return []string{"HEAD"}
	case strings.HasPrefix(ref, "refs/"):
		return []string{ref}
	case strings.HasPrefix(ref, "heads/"), strings.HasPrefix(ref, "tags/"), strings.HasPrefix(ref, "pull/"):
		return []string{"refs/" + ref, "refs/heads/" + ref, "refs/tags/" + ref}
	}
	return []string{"refs/heads/" + ref, "refs/tags/" + ref}
}
