package access

import (
	"slices"

	"github.com/librarian-app/librarian/librarian"
)

// AskRule is who may ask. Its zero value is the default: read on private and internal repositories, triage on public
// ones, and no bots.
type AskRule struct {
	Private Level   // the least level in private and internal repositories; Unknown: Read
	Public  Level   // in public ones; Unknown: Triage
	Bots    []int64 // user ids of the bots that may ask, at the same levels
}

// Least is the level that asking takes in a repository of that visibility.
func (r AskRule) Least(v librarian.Visibility) Level {
	switch {
	case v == librarian.Public && r.Public != Unknown:
		return r.Public
	case v == librarian.Public:
		return Triage
	case r.Private != Unknown:
		return r.Private
	}
	return Read
}

// AskFacts is what is known of one request when it is admitted.
type AskFacts struct {
	Asker      librarian.Principal
	Level      Level // of that very user id in the thread's repository
	Visibility librarian.Visibility
	Archived   bool // the repository: nothing can be posted there
	Locked     bool // the thread: posting may be refused, and people there asked for quiet
}

// Form is how visible a refusal is. The mildest one that works is used.
type Form string

// The forms of a refusal.
const (
	Silent   Form = "silent"   // nothing: nobody is owed a sign, or none can be left
	Reaction Form = "reaction" // 😕 on what asked
	Line     Form = "line"     // one line in the thread
)

// Decision is an answer to "may this be asked?". Line is fit to be posted, Reason is for the log.
type Decision struct {
	Allowed bool
	Form    Form   // of a refusal
	Line    string // words for the asker, where Form is Line; else what they would be
	Reason  string // of a refusal
}

// MayAsk decides whether a request is worked. Its order matters: whatever does not depend on the asker's rights and needs
// silence comes first, so that a refusal tells strangers nothing.
func MayAsk(rule AskRule, f AskFacts) Decision {
	switch {
	case f.Asker.Repository && (f.Archived || f.Locked):
		return refuse(Silent, "", "the repository is archived, or the thread is locked")
	case f.Asker.Repository: // configured by who runs the App; it opens nothing that is not its own or public (see [Person])
		return Decision{Allowed: true}
	case f.Asker.ID <= 0:
		return refuse(Silent, "", "the asker has no account") // W8: a ghost
	case f.Asker.Bot && !slices.Contains(rule.Bots, f.Asker.ID):
		return refuse(Silent, "", "the asker is a bot that is not allow-listed") // W2
	case f.Archived:
		return refuse(Silent, "", "the repository is archived") // T6: nothing can be written
	case f.Level < None, f.Level < rule.Least(f.Visibility):
		return refuse(Reaction, "You need "+rule.Least(f.Visibility).String()+" permission here to ask.",
			"the asker has "+f.Level.String()+", "+rule.Least(f.Visibility).String()+" is needed") // W1, W3
	case f.Locked && f.Level < Write:
		return refuse(Silent, "", "the thread is locked") // T6
	case f.Locked:
		return refuse(Reaction, "This conversation is locked.", "the thread is locked")
	}
	return Decision{Allowed: true}
}

func refuse(form Form, line, reason string) Decision {
	return Decision{Form: form, Line: line, Reason: reason}
}

// MayStop decides who may stop a run, make it be forgotten, or ask about it: who asked it, or somebody with write (W13).
func MayStop(asker librarian.Principal, f AskFacts) bool {
	if f.Asker.ID <= 0 || f.Asker.Bot {
		return false
	}
	return f.Asker.ID == asker.ID || f.Level >= Write
}
