package run

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/access"
	"github.com/librarian-app/librarian/librarian/agent"
)

// Bounds of the first context.
const (
	maxThreadItems = 30     // comments in the first context, the newest; the rest is said to be left out
	maxItemText    = 6_000  // characters of one comment
	maxBodyText    = 12_000 // of the issue's body
	maxHunk        = 8_000  // characters of a diff hunk
	maxFiles       = 60     // changed files that are listed
	maxNamed       = 8      // repositories named in a question that are looked up
)

// briefing is what the agent begins with. All text of others in it is quoted; whose text may enter at all is decided here.
func (r *Runner) briefing(ctx context.Context, run librarian.Run, adm admission, gate *Gate) agent.Briefing {
	q := run.Request
	b := agent.Briefing{
		Question: q.Question, Quoted: q.Quoted, Host: r.o.Host, Owners: append(slices.Clone(q.Owners), adm.set.Scope.Owners...),
		Terminal: q.Place.Kind == librarian.PlaceTerminal,
		Repos:    r.scope(ctx, q, gate),
	}
	if b.Terminal {
		return b
	}
	b.Asker = q.Principal.Login
	b.Place = adm.repo.FullName()
	b.Kind = strings.ReplaceAll(string(q.Place.Kind), "_", " ")
	b.Number = q.Place.Number
	b.Thread = r.threadFor(ctx, q, adm)
	b.Pull, b.Review = pullFor(q.Place, adm), reviewFor(q.Place)
	if q.Place.Kind == librarian.PlaceCommit {
		b.Commit = q.Place.SHA
	}
	return b
}

// headOf is where the code is that was asked about: of a pull request, or at the commit that a dispatch names.
func headOf(place librarian.Place, t librarian.Thread) Head {
	switch place.Kind {
	case librarian.PlaceCommit:
		return Head{SHA: place.SHA}
	case librarian.PlacePull, librarian.PlaceReview:
	default:
		return Head{}
	}
	h := Head{Ref: fmt.Sprintf("refs/pull/%d/head", place.Number), SHA: place.SHA}
	if h.SHA == "" && t.Pull != nil {
		h.SHA = t.Pull.HeadSHA
	}
	return h
}

// pullFor says what a pull request is about; its code is read by the base repository's own ref of it, which is there also
// when the fork is gone.
func pullFor(place librarian.Place, adm admission) *agent.Pull {
	p := adm.thread.Pull
	if p == nil {
		return nil
	}
	head := headOf(place, adm.thread)
	out := &agent.Pull{
		Head: oneLine(plain(p.HeadRef, 100), 100), Base: oneLine(plain(p.BaseRef, 100), 100),
		Ref: head.Ref, SHA: head.SHA, BaseSHA: p.BaseSHA, Changed: max(p.Changed, len(p.Files)),
	}
	for _, f := range p.Files[:min(len(p.Files), maxFiles)] {
		out.Files = append(out.Files, oneLine(plain(f, 300), 300))
	}
	return out
}

func reviewFor(place librarian.Place) *agent.Review {
	if place.Path == "" {
		return nil
	}
	return &agent.Review{Path: oneLine(plain(place.Path, 300), 300), Line: place.Line, Hunk: plain(place.Hunk, maxHunk)}
}

// scope is where to start looking: what the request says, else what the question names and this run may read, else the
// thread's own repository. It opens nothing. What the question calls a repository of the thread's own owner stays in the scope
// also where it cannot be found, so that the run says that it did not look at it; whether it is there is not told.
func (r *Runner) scope(ctx context.Context, q librarian.Request, gate *Gate) []string {
	if len(q.Repos) > 0 {
		return q.Repos[:min(len(q.Repos), librarian.MaxScope)]
	}
	var out, lost []string
	for _, name := range namedRepos(q.Question, gate.host) {
		spec, err := checkout.ParseRepo(name, gate.host)
		if err != nil {
			continue
		}
		if repo, err := gate.find(ctx, spec); err == nil {
			if full := repo.FullName(); !slices.Contains(out, full) {
				out = append(out, full)
			}
		} else if owner, _, _ := strings.Cut(spec.Path, "/"); gate.own.ID != "" && strings.EqualFold(owner, gate.own.Owner) {
			lost = append(lost, spec.Path)
		}
	}
	if len(out) > 0 {
		return append(out, lost...)
	}
	if gate.own.ID != "" {
		out = append(out, gate.own.FullName())
	}
	for _, name := range gate.set.Scope.Repos {
		if full := name.String(); !slices.Contains(out, full) && len(out) < librarian.MaxScope {
			out = append(out, full)
		}
	}
	return append(out, lost...)
}

var (
	repoWord = regexp.MustCompile(`(?:^|[\s(\["'` + "`" + `,;])([A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9_.-]{1,100})(?:$|[\s)\]"'` + "`" + `,;:?!])`)
	fileEnd  = regexp.MustCompile(`(?i)\.(go|js|jsx|ts|tsx|py|rb|rs|java|kt|c|h|cc|cpp|hpp|cs|php|swift|scala|ex|exs|lua|sh|md|json|ya?ml|toml|txt|html|css|sql|proto|lock|mod|sum)$`)
)

// namedRepos finds what a question may mean as repositories: owner/name words and links to the GitHub host. Whether they
// exist is for the gate to say.
func namedRepos(question, host string) []string {
	var out []string
	add := func(s string) {
		s = strings.TrimRight(s, ".")
		if s != "" && !slices.Contains(out, s) && len(out) < maxNamed {
			out = append(out, s)
		}
	}
	link := regexp.MustCompile(`(?i)https?://` + regexp.QuoteMeta(host) + `/([A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9_.-]{1,100})`)
	for _, m := range link.FindAllStringSubmatch(question, -1) {
		add(strings.TrimSuffix(m[1], ".git"))
	}
	// Neighbouring words share the blank between them, so each search begins where the last word ended.
	for rest := question; ; {
		m := repoWord.FindStringSubmatchIndex(rest)
		if m == nil {
			break
		}
		if word := rest[m[2]:m[3]]; !fileEnd.MatchString(strings.TrimRight(word, ".")) {
			add(word)
		}
		rest = rest[m[3]:]
	}
	return out
}

// threadFor quotes the discussion. In public repositories only what the asker and people with triage or more wrote enters;
// what was written or edited after the question is left out.
func (r *Runner) threadFor(ctx context.Context, q librarian.Request, adm admission) agent.Thread {
	t := adm.thread
	out := agent.Thread{Title: oneLine(plain(t.Title, 300), 300)}
	roles := map[int64]string{}
	role := func(p librarian.Principal) (string, bool) {
		if p.ID == q.Principal.ID && p.ID != 0 {
			return "asker", true
		}
		known, ok := roles[p.ID]
		if !ok {
			level, err := r.o.Facts.Permission(ctx, q.Place.Installation, adm.repo, p)
			switch {
			case err == nil && level >= access.Triage:
				known = "triage or more"
			case adm.repo.Private():
				known = "can read this repository"
			}
			roles[p.ID] = known
		}
		return known, known != ""
	}
	late, strangers, older := 0, 0, t.Omitted
	take := func(p librarian.Principal, text string, created, updated time.Time, bound int) {
		if after(created, q.AskedAt) || after(updated, q.AskedAt) {
			late++
			return
		}
		who, ok := role(p)
		if !ok {
			strangers++
			return
		}
		out.Items = append(out.Items, agent.ThreadItem{Author: p.Login, Role: who, At: created.UTC().Format(time.RFC3339), Text: quote(text, bound)})
	}
	if q.Place.Trigger != librarian.TriggerIssueBody {
		if !after(t.CreatedAt, q.AskedAt) { // an issue's own time of change moves with every comment, so only its age counts
			take(t.Author, t.Body, t.CreatedAt, t.CreatedAt, maxBodyText)
		}
	}
	comments := t.Comments
	if t.Pull != nil {
		comments = slices.Concat(comments, t.Pull.Reviews)
	}
	if t.Review != nil { // what it is about comes last, next to the question
		comments, older = slices.Concat(comments, t.Review.Comments), older+t.Review.Omitted
	}
	for i, c := range comments {
		switch {
		case c.ID == q.Place.TriggerID && q.Place.TriggerID != 0 && asksBySaying(q.Place.Trigger):
		case c.App != 0 && c.App == r.o.AppID:
		case len(comments)-i > maxThreadItems:
			older++
		default:
			take(c.Author, c.Body, c.CreatedAt, c.UpdatedAt, maxItemText)
		}
	}
	out.LeftOut = leftOut(older, late, strangers)
	return out
}

// asksBySaying reports whether what asks is a comment or a review, whose id tells it.
func asksBySaying(t librarian.TriggerKind) bool {
	switch t {
	case librarian.TriggerIssueComment, librarian.TriggerReviewComment, librarian.TriggerReviewBody, librarian.TriggerDiscussionComment:
		return true
	}
	return false
}

// after allows for the two seconds by which GitHub's own clocks differ.
func after(t, asked time.Time) bool { return !asked.IsZero() && t.After(asked.Add(2*time.Second)) }

func leftOut(older, late, strangers int) string {
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(older, "older comments")
	add(late, "comments written or edited after the question")
	add(strangers, "contributions by people without triage permission")
	if len(parts) == 0 {
		return ""
	}
	return "Left out: " + strings.Join(parts, ", ") + "."
}

func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
