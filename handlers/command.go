package handlers

import (
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

	// Look-ups: one tool, no model. See [librarian.CodeSpan] for backticks.
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
		_, ok = librarian.ParseReadTarget(args)
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
