// Package access decides who may ask and what a run may read. Its functions are pure: they are handed facts and keep none.
// Every doubt is a no.
package access

import (
	"slices"

	"github.com/librarian-app/librarian/librarian"
)

// Level is what a user may do in a repository, least first.
type Level int

// The levels of GitHub's permission API. Unknown, its zero value, is what a 403 or 404 there means: it allows nothing.
const (
	Unknown Level = iota
	None
	Read
	Triage
	Write
	Maintain
	Admin
)

func (l Level) String() string {
	switch l {
	case None:
		return "none"
	case Read:
		return "read"
	case Triage:
		return "triage"
	case Write:
		return "write"
	case Maintain:
		return "maintain"
	case Admin:
		return "admin"
	}
	return "unknown"
}

// LevelOf reads the booleans that the permission API gives in the user object's permissions, to which custom roles are
// mapped. See https://docs.github.com/en/rest/collaborators/collaborators#get-repository-permissions-for-a-user.
func LevelOf(permissions map[string]bool) Level {
	for _, p := range []struct {
		name  string
		level Level
	}{{"admin", Admin}, {"maintain", Maintain}, {"push", Write}, {"triage", Triage}, {"pull", Read}} {
		if permissions[p.name] {
			return p.level
		}
	}
	if permissions == nil {
		return Unknown
	}
	return None
}

// AskRule is who may ask. A zero level means its default: read on private and internal repositories, triage on public ones.
type AskRule struct {
	Private   Level
	Public    Level
	AllowBots []int64 // user ids of bots that may ask
}

// AskFacts are what is known of somebody who asks.
type AskFacts struct {
	Asker      librarian.Principal
	Level      Level // of the asker in the thread's repository
	Visibility librarian.Visibility
	Archived   bool
}

// Form is how a refusal shows, the mildest first.
type Form int

// The forms of a refusal.
const (
	Silent  Form = iota // nothing is to be seen
	React               // a reaction, and Line only in the log
	OneLine             // a reaction and one line
)

// Decision is whether a request is worked, and if not, how that shows.
type Decision struct {
	Allowed bool
	Form    Form
	Line    string // for people if Form is OneLine, else for the log
}

// MayAsk decides on a request.
func MayAsk(rule AskRule, f AskFacts) Decision {
	if rule.Private <= None {
		rule.Private = Read
	}
	if rule.Public <= None {
		rule.Public = Triage
	}
	need := rule.Private
	if f.Visibility == librarian.Public {
		need = rule.Public
	}
	switch {
	case f.Asker.ID <= 0:
		return Decision{Form: Silent, Line: "the asker has no account any more"}
	case f.Asker.Bot && !slices.Contains(rule.AllowBots, f.Asker.ID):
		return Decision{Form: Silent, Line: "bots may not ask here"}
	case f.Archived:
		return Decision{Form: Silent, Line: "the repository is archived"}
	case f.Asker.Bot: // named by id in the configuration, which is the permission
		return Decision{Allowed: true}
	case f.Level < need:
		return Decision{Form: React, Line: "the asker needs " + need.String() + " permission and has " + f.Level.String()}
	}
	return Decision{Allowed: true}
}

// ReadFacts are what is known of a repository that a run wants to read.
type ReadFacts struct {
	Repo       librarian.RepoID
	Visibility librarian.Visibility
	Own        librarian.RepoID // the thread's repository; empty on the terminal
	Terminal   bool             // the person at the terminal reads with credentials of their own
}

// MayRead decides whether a run may read a repository: the thread's own, and public ones. On the terminal whatever the
// person's own credentials show.
func MayRead(f ReadFacts) bool {
	switch {
	case f.Repo == "":
		return false
	case f.Terminal && f.Own == "":
		return true
	case f.Repo == f.Own:
		return true
	}
	return f.Visibility == librarian.Public
}
