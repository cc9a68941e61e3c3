package access

import (
	"strings"

	"github.com/librarian-app/librarian/librarian"
)

// ShareRule is an organisation's word that what From covers may be read for threads of what Into covers.
type ShareRule struct {
	From Pattern
	Into Pattern
}

// ShareFacts is what is known, now, of a repository that is not public and is not the thread's own.
type ShareFacts struct {
	Rules []ShareRule // the organisation's; no other layer has any

	Name          librarian.RepoName // of the repository, as it is called now
	Covered       bool               // by the very installation that covers the thread's repository
	AskerLevel    Level              // of the asker's user id in it
	Person        bool               // the asker is a person: see [Person]
	Named         bool               // see [Named]; or it stands in the settings' scope
	Thread        librarian.RepoName // the thread's own repository
	ThreadVisible librarian.Visibility
}

// shared decides what section 8 of the contract asks: all of it must hold. A thread whose visibility is not known counts as
// public here, because the answer would be read there.
func shared(f ShareFacts) bool {
	switch {
	case !f.Person || !f.Named || !f.Covered || f.AskerLevel < Read:
		return false
	case f.ThreadVisible != librarian.Private && f.ThreadVisible != librarian.Internal:
		return false
	}
	for _, r := range f.Rules {
		if r.From.Match(f.Name) && r.Into.Match(f.Thread) {
			return true
		}
	}
	return false
}

// Person reports whether a person asked: a bot, a deleted account and a configured event are nobody whose rights could open a
// private repository.
func Person(q librarian.Request) bool {
	return q.Principal.ID > 0 && !q.Principal.Bot && q.Place.Trigger != librarian.TriggerEvent && q.Place.Trigger != librarian.TriggerTerminal
}

// Named reports whether the asker's own words name a repository in full, as owner/name or within a URL of host. Only what
// the asker wrote counts: not what was quoted, not the thread, and not the text that somebody else's label or event stands on (W9).
// Where the asker gave repositories beside the question, as a dispatch does, those count too.
func Named(q librarian.Request, host string, name librarian.RepoName) bool {
	if name.Owner == "" || name.Name == "" || !Person(q) || q.Place.Trigger == librarian.TriggerLabel {
		return false
	}
	if q.Place.Trigger == librarian.TriggerDispatch {
		for _, repo := range q.Repos {
			if strings.EqualFold(repo, name.String()) {
				return true
			}
		}
	}
	text, full := strings.ToLower(q.Question), strings.ToLower(name.String())
	for from := 0; ; {
		i := strings.Index(text[from:], full)
		if i < 0 {
			return false
		}
		i += from
		if startsName(text[:i], strings.ToLower(host)) && endsName(text[i+len(full):]) {
			return true
		}
		from = i + 1
	}
}

// startsName reports whether a repository's name can begin after before: not within a longer word or path, unless that path
// is the host's.
func startsName(before, host string) bool {
	if rest, ok := strings.CutSuffix(before, host+"/"); ok && host != "" {
		return rest == "" || !inName(rest[len(rest)-1]) || strings.HasSuffix(rest, "www.")
	}
	return before == "" || !inName(before[len(before)-1]) && before[len(before)-1] != '/' && before[len(before)-1] != '@'
}

// endsName reports whether a repository's name can end before after; ".git", and a dot that ends a sentence, may follow.
func endsName(after string) bool {
	if rest, ok := strings.CutPrefix(after, ".git"); ok {
		after = rest
	}
	after = strings.TrimLeft(after, ".")
	return after == "" || !inName(after[0])
}

func inName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
}
