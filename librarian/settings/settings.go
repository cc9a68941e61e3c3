package settings

import (
	"slices"
	"time"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/access"
)

// Settings are in force in one repository: the server's, narrowed by the organisation's and by the repository's own. The
// server's own settings are a Settings too, the base of [Merge].
type Settings struct {
	Enabled  bool // false: nothing is answered here
	Ask      access.AskRule
	Read     access.ReadRule
	Share    []access.ShareRule // the organisation's
	Egress   []string           // what may be sent text by a run on private code: tools, hosts, MCP servers, by name
	Scope    Scope
	Triggers Triggers
	Models   Models
	Tools    Tools
	Limits   Limits
	Notify   Notify
}

// Scope is where a question that names nothing starts to be looked into.
type Scope struct {
	Repos  []librarian.RepoName
	Owners []string
}

// Triggers are the ways to ask that are open.
type Triggers struct {
	Mention  bool
	Label    bool
	Events   bool
	Dispatch bool
	// LabelName is the label that asks, and Questions are asked when their event happens. Both are the server's alone:
	// deliveries are sorted by them before anything is asked of GitHub.
	LabelName string
	Questions []EventQuestion
}

// EventQuestion is a question that a repository has asked by itself.
type EventQuestion struct {
	On       string // one of the On constants
	Label    string // only with this label; empty: with any or none
	Question string
}

// The events that can ask.
const (
	OnPullOpened  = "pull_request.opened"
	OnPullReady   = "pull_request.ready_for_review"
	OnIssueOpened = "issues.opened"
)

// Models are the models that may answer, as provider/model-id, in the order of preference of the server.
type Models struct {
	Default string
	Allowed []string
	Private []string // those for runs that may read private content; nil: as Allowed
}

// For lists the models of a run; private says that it may read what is not public.
func (m Models) For(private bool) []string {
	if private && m.Private != nil {
		return m.Private
	}
	return m.Allowed
}

// Pick is the model of a run that asked for name, or for none. It is empty, and ok false, when name may not be used.
func (m Models) Pick(name string, private bool) (model string, ok bool) {
	list := m.For(private)
	switch {
	case name != "":
		return name, slices.Contains(list, name)
	case slices.Contains(list, m.Default):
		return m.Default, true
	case len(list) > 0:
		return list[0], true
	}
	return "", false
}

// Tools says which tools a run does not have.
type Tools struct{ Disabled []string }

// Limits bound runs. 0 stands for no limit in a base only; a layer cannot set it.
type Limits struct {
	Steps          int           // model turns of a run
	Time           time.Duration // of a run
	InputTokens    int64         // of a run, uncached
	Cost           float64       // US dollars, of a run
	UserRuns       int           // of one user, in a day
	RepositoryRuns int           // in one repository, in a day
	MonthlyCost    float64       // US dollars, of the installation, in a month
}

// Notify is how the end of a run that showed progress is told.
type Notify string

// A new comment notifies the asker; an edit of the progress comment keeps the thread short and notifies nobody.
const (
	NotifyComment Notify = "comment"
	NotifyEdit    Notify = "edit"
)

// Default is what a server has that says nothing: everything within section 8 of the contract, no models.
func Default() Settings {
	return Settings{
		Enabled:  true,
		Ask:      access.AskRule{Private: access.Read, Public: access.Triage},
		Triggers: Triggers{Mention: true, Label: true, Events: true, Dispatch: true, LabelName: "librarian"},
		Limits: Limits{Steps: 40, Time: 10 * time.Minute, InputTokens: 400_000, Cost: 1, UserRuns: 20, RepositoryRuns: 200,
			MonthlyCost: 300},
		Notify: NotifyComment,
	}
}

// Strictest is s with the access keys as narrow as they can be: write to ask, no bots, nothing read but the thread's own
// repository, nothing shared, nothing sent away.
func (s Settings) Strictest() Settings {
	s.Ask = access.AskRule{Private: max(s.Ask.Least(librarian.Private), access.Write), Public: max(s.Ask.Least(librarian.Public), access.Write)}
	s.Read.OwnOnly = true
	s.Share, s.Egress = nil, nil
	s.Scope = Scope{}
	return s
}
