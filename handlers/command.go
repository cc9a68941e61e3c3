package handlers

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/librarian-app/librarian/librarian"
)

// The commands. A question is one only if the whole of it is.
const (
	CommandHelp     = "help"
	CommandStop     = "stop" // also said as "cancel"
	CommandStatus   = "status"
	CommandRetry    = "retry"
	CommandForget   = "forget"
	CommandContinue = "continue" // <run id> <question>

	// Look-ups: one tool, no model.
	CommandRead         = "read"               // owner/repo/path#L10-L40
	CommandSearchRepos  = "search_repos"       // query
	CommandSearchCode   = "search_code"        // pattern
	CommandSearchGitHub = "search_github_code" // pattern
	CommandGrep         = "grep"               // owner/repo pattern
	CommandFindCode     = "find_code"          // owner/repo question
)

// parseCommand reads a question that is a command as a whole. What holds no letter or digit asks for help.
func parseCommand(q string) (command, args string, ok bool) {
	if strings.IndexFunc(q, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsSymbol(r) }) < 0 {
		return CommandHelp, "", true
	}
	word, args, _ := strings.Cut(strings.TrimSpace(q), " ")
	args = strings.TrimSpace(args)
	word = strings.ToLower(word)
	if args == "" {
		switch word {
		case CommandHelp, CommandStop, CommandStatus, CommandRetry, CommandForget:
			return word, "", true
		case "cancel":
			return CommandStop, "", true
		case "cc", "cc:", "/cc":
			return CommandHelp, "", true
		}
	}
	if word == CommandContinue {
		_, _, ok = ContinueArgs(args)
		return word, args, ok
	}
	if strings.Contains(args, "\n") {
		return "", "", false
	}
	repo, rest, _ := strings.Cut(args, " ")
	switch word {
	case CommandRead:
		_, ok = ParseReadTarget(args)
	case CommandSearchRepos, CommandSearchCode, CommandSearchGitHub:
		ok = args != ""
	case CommandGrep, CommandFindCode:
		_, err := librarian.ParseRepoName(repo)
		ok = err == nil && strings.TrimSpace(rest) != ""
	}
	if !ok {
		return "", "", false
	}
	return word, args, true
}

// ContinueArgs splits the arguments of "continue" into the run to go on with and what is asked of it.
func ContinueArgs(args string) (run librarian.RunID, question string, ok bool) {
	i := strings.IndexFunc(args, unicode.IsSpace)
	if i < 0 {
		i = len(args)
	}
	run, err := librarian.ParseRunID(args[:i])
	if err != nil {
		return "", "", false
	}
	return run, strings.TrimSpace(args[i:]), true
}

// ReadTarget is the argument of "read".
type ReadTarget struct {
	Repo       librarian.RepoName
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

// ParseReadTarget reads the argument of the command "read": owner/repo/path, with an optional #L10 or #L10-L40.
func ParseReadTarget(s string) (ReadTarget, bool) {
	var t ReadTarget
	if s == "" || strings.ContainsFunc(s, unicode.IsSpace) {
		return t, false
	}
	s, lines, hasLines := cutLines(s)
	parts := strings.SplitN(s, "/", 3)
	if len(parts) != 3 || strings.Trim(parts[2], "/") == "" {
		return t, false
	}
	name, err := librarian.ParseRepoName(parts[0] + "/" + parts[1])
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
