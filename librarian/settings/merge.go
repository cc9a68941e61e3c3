package settings

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/access"
)

// Layer is one file, as it was found on its default branch. The zero value is none.
type Layer struct {
	Source string // the file, as owner/name/path; for faults
	Raw    []byte // its content
	Found  bool
	// Private says that the file is in a private repository.
	Private bool
	Err     error // it could not be read, so it may say anything: then it counts as the strictest
}

// Merge lays the organisation's file and the repository's own over base, for one repository. Each may only narrow. The order of
// faults is that of the layers.
func Merge(base Settings, repo librarian.RepoName, organisation, repository Layer) (Settings, []Fault) {
	s := base
	s.Share = nil // an organisation's to give, and nobody else's
	s, told := apply(s, repo, organisation, true)
	for i := range told {
		told[i].Private = organisation.Private
	}
	s, more := apply(s, repo, repository, false)
	return s, append(told, more...)
}

func apply(s Settings, repo librarian.RepoName, l Layer, organisation bool) (Settings, []Fault) {
	f := &faults{source: l.Source, lines: map[string]int{}}
	switch {
	case l.Err != nil: // the cause is for the log
		f.add(0, "", "could not be read")
		return s.Strictest(), f.all
	case !l.Found:
		return s, nil
	}
	file, ok := parse(l.Raw, f)
	if !ok {
		return s.Strictest(), f.all
	}
	n := narrowing{s: s, repo: repo, file: file, faults: f, organisation: organisation}
	n.repositories()
	n.ask()
	n.read()
	n.scope()
	n.triggers()
	n.models()
	n.tools()
	n.limits()
	if file.Notify != nil {
		n.s.Notify = Notify(*file.Notify)
	}
	if f.access {
		return n.s.Strictest(), f.all
	}
	return n.s, f.all
}

// narrowing is one layer being laid over what is above it.
type narrowing struct {
	*faults
	s            Settings
	repo         librarian.RepoName
	file         File
	organisation bool
}

const wider = "is wider than what is set above, and was ignored"

func (n *narrowing) repositories() {
	if e := n.file.Enabled; e != nil {
		if *e && !n.s.Enabled {
			n.ignored("enabled", wider)
		}
		n.s.Enabled = n.s.Enabled && *e
	}
	if n.file.Include != nil && !matches(n.file.Include, n.repo) || matches(n.file.Exclude, n.repo) {
		n.s.Enabled = false
	}
}

func matches(patterns []string, repo librarian.RepoName) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return access.Pattern(p).Match(repo) })
}

func (n *narrowing) ask() {
	if n.file.Ask == nil {
		return
	}
	rule := n.s.Ask
	rule.Private = n.level("ask.private", n.file.Ask.Private, rule.Least(librarian.Private))
	rule.Public = n.level("ask.public", n.file.Ask.Public, rule.Least(librarian.Public))
	rule.Bots = subset(n, "ask.bots", n.file.Ask.Bots, rule.Bots)
	n.s.Ask = rule
}

func (n *narrowing) level(key string, set *string, above access.Level) access.Level {
	if set == nil {
		return above
	}
	l, ok := access.ParseLevel(*set)
	if !ok || l < above {
		n.ignored(key, wider+"; it stays "+above.String())
		return above
	}
	return l
}

func (n *narrowing) read() {
	if r := n.file.Read; r != nil {
		if r.OwnOnly != nil {
			if !*r.OwnOnly && n.s.Read.OwnOnly {
				n.ignored("read.own_only", wider)
			}
			n.s.Read.OwnOnly = n.s.Read.OwnOnly || *r.OwnOnly
		}
		n.s.Read.Exclude = slices.Clip(n.s.Read.Exclude)
		for _, p := range r.Exclude {
			n.s.Read.Exclude = append(n.s.Read.Exclude, access.Pattern(strings.ToLower(p)))
		}
	}
	if p := n.file.Private; p != nil && p.Egress != nil {
		if n.organisation {
			n.s.Egress = subset(n, "private.egress", p.Egress, n.s.Egress)
		} else {
			n.ignored("private.egress", "is the organisation's to set, and was ignored")
		}
	}
	n.share()
}

func (n *narrowing) share() {
	if n.file.Share != nil && !n.organisation {
		n.ignored("share", "is the organisation's to set, and was ignored")
		return
	}
	for i, r := range n.file.Share {
		at := "share[" + strconv.Itoa(i) + "]"
		if r.From == nil || r.Into == nil {
			n.ignored(at, "needs both from and into, and was ignored")
			continue
		}
		rule := access.ShareRule{From: access.Pattern(strings.ToLower(*r.From)), Into: access.Pattern(strings.ToLower(*r.Into))}
		if owner := strings.ToLower(n.repo.Owner); rule.From.Owner() != owner || rule.Into.Owner() != owner {
			n.ignored(at, "names repositories that are not of "+n.repo.Owner+", and was ignored")
			continue
		}
		n.s.Share = append(slices.Clip(n.s.Share), rule)
	}
}

func (n *narrowing) scope() {
	if n.file.Scope == nil {
		return
	}
	var scope Scope
	for _, s := range n.file.Scope.Repos {
		if name, err := librarian.ParseRepoName(s); err == nil {
			scope.Repos = append(scope.Repos, name)
		}
	}
	for i, s := range n.file.Scope.Owners {
		if _, err := librarian.ParseRepoName(s + "/x"); err != nil {
			n.ignored("scope.owners["+strconv.Itoa(i)+"]", "is not the name of an account, and was ignored")
			continue
		}
		scope.Owners = append(scope.Owners, s)
	}
	n.s.Scope = scope
}

func (n *narrowing) triggers() {
	f := n.file.Triggers
	if f == nil {
		return
	}
	t := &n.s.Triggers
	for _, one := range []struct {
		key   string
		set   *bool
		above *bool
	}{
		{"triggers.mention", f.Mention, &t.Mention},
		{"triggers.label", f.Label, &t.Label},
		{"triggers.events", f.Events, &t.Events},
		{"triggers.dispatch", f.Dispatch, &t.Dispatch},
	} {
		if one.set == nil {
			continue
		}
		if *one.set && !*one.above {
			n.ignored(one.key, wider)
		}
		*one.above = *one.above && *one.set
	}
}

func (n *narrowing) models() {
	f := n.file.Models
	if f == nil {
		return
	}
	m := &n.s.Models
	private := m.Private
	if f.Private != nil {
		private = subset(n, "models.private", f.Private, m.For(true))
	}
	if f.Allowed != nil {
		m.Allowed = subset(n, "models.allowed", f.Allowed, m.Allowed)
		if m.Private != nil && f.Private == nil { // what is narrowed for all runs is narrowed for those on private content too
			private = keep(private, f.Allowed)
		}
	}
	m.Private = private
	if f.Default != nil {
		if !slices.Contains(m.Allowed, *f.Default) && !slices.Contains(m.Private, *f.Default) {
			n.ignored("models.default", "is not among the models that may answer here, and was ignored")
		} else {
			m.Default = *f.Default
		}
	}
}

func (n *narrowing) tools() {
	if n.file.Tools == nil {
		return
	}
	for i, name := range n.file.Tools.Disabled {
		switch {
		case name == "provide_results":
			n.ignored("tools.disabled["+strconv.Itoa(i)+"]", "provide_results always stays")
		case !slices.Contains(n.s.Tools.Disabled, name):
			n.s.Tools.Disabled = append(slices.Clip(n.s.Tools.Disabled), name)
		}
	}
}

func (n *narrowing) limits() {
	f := n.file.Limits
	if f == nil {
		return
	}
	l := &n.s.Limits
	if f.Time != nil {
		if d, err := time.ParseDuration(*f.Time); err == nil {
			lower(n, "limits.time", &d, &l.Time)
		}
	}
	lower(n, "limits.steps", f.Steps, &l.Steps)
	lower(n, "limits.input_tokens", f.InputTokens, &l.InputTokens)
	lower(n, "limits.cost", f.Cost, &l.Cost)
	lower(n, "limits.user_runs", f.UserRuns, &l.UserRuns)
	lower(n, "limits.repository_runs", f.RepositoryRuns, &l.RepositoryRuns)
	lower(n, "limits.monthly_cost", f.MonthlyCost, &l.MonthlyCost)
}

type number interface {
	~int | ~int64 | ~float64
}

// lower sets above to the lower one; 0 above is no limit.
func lower[V, L number](n *narrowing, key string, set *V, above *L) {
	switch {
	case set == nil:
	case *above != 0 && float64(*set) > float64(*above):
		n.ignored(key, wider)
	default:
		*above = L(*set)
	}
}

// subset keeps of set what stands in above; the rest is ignored, and said. Nothing set leaves above.
func subset[T cmp.Ordered](n *narrowing, key string, set, above []T) []T {
	if set == nil {
		return above
	}
	for i, one := range set {
		if !slices.Contains(above, one) {
			n.ignored(key+"["+strconv.Itoa(i)+"]", "is not allowed above, and was ignored")
		}
	}
	return keep(set, above)
}

// keep is what of list stands in allowed; never nil, because nothing left is not the same as nothing said.
func keep[T cmp.Ordered](list, allowed []T) []T {
	out := []T{}
	for _, one := range list {
		if slices.Contains(allowed, one) && !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}
