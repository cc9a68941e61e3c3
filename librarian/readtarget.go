package librarian

import (
	"strconv"
	"strings"
	"unicode"
)

// ReadTarget is the argument of the command "read": a file of a repository, or lines of it.
type ReadTarget struct {
	Repo       RepoName
	Path       string
	Start, End int // lines, from 1, inclusive; 0: the whole file
}

// cutLines cuts "#L10-L40" off the end of what it is said of. A # that no L follows belongs to a name.
func cutLines(s string) (target, lines string, ok bool) {
	i := strings.LastIndex(s, "#L")
	if i < 0 || strings.Contains(s[i:], "/") {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// CodeSpan gives what stands between backticks where those are around all of s, as people write code in a comment; else s.
func CodeSpan(s string) string {
	inner := strings.TrimLeft(s, "`")
	ticks := s[:len(s)-len(inner)]
	inner, ok := strings.CutSuffix(inner, ticks)
	if !ok || ticks == "" || strings.TrimSpace(inner) == "" || strings.HasSuffix(inner, "`") {
		return s
	}
	for rest := inner; rest != ""; {
		rest = rest[strings.IndexByte(rest+"`", '`'):]
		run := len(rest) - len(strings.TrimLeft(rest, "`"))
		if run == len(ticks) {
			return s
		}
		rest = rest[run:]
	}
	if len(inner) > 2 && inner[0] == ' ' && inner[len(inner)-1] == ' ' { // so that a backtick can stand at an end
		inner = inner[1 : len(inner)-1]
	}
	return inner
}

// ParseReadTarget reads the argument of the command "read": owner/repo/path, with an optional #L10 or
// #L10-L40; a path with spaces needs backticks around the whole. ok is false for anything else.
func ParseReadTarget(s string) (ReadTarget, bool) {
	var t ReadTarget
	code := CodeSpan(s)
	if s == "" || code == s && strings.ContainsFunc(s, unicode.IsSpace) {
		return t, false
	}
	s = code
	s, lines, hasLines := cutLines(s)
	parts := strings.SplitN(s, "/", 3)
	if len(parts) != 3 || strings.Trim(parts[2], "/") == "" {
		return t, false
	}
	name, err := ParseRepoName(parts[0] + "/" + parts[1])
	if err != nil {
		return t, false
	}
	t.Repo, t.Path = name, parts[2]
	if !hasLines {
		return t, true
	}
	from, to, ranged := strings.Cut(lines, "-")
	start, ok := lineNumber(from)
	end := start
	if ranged {
		var okEnd bool
		end, okEnd = lineNumber(to)
		ok = ok && okEnd
	}
	t.Start, t.End = start, end
	return t, ok && start <= end
}

func lineNumber(s string) (int, bool) {
	digits, ok := strings.CutPrefix(s, "L")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0
}
