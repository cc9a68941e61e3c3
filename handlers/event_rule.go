package handlers

import (
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/librarian-app/librarian/librarian"
)

// The events that a rule may wait for.
const (
	OnPullRequestOpened = "pull_request.opened"
	OnPullRequestReady  = "pull_request.ready_for_review"
	OnIssueOpened       = "issues.opened"
)

// EventRule is a question that a repository asks by itself when something happens in it. The first rule that fits asks.
type EventRule struct {
	On    string // one of the On constants
	Label string // only with this label; empty: always
	// Question is a text/template over Number, Title and Repository; at most librarian.MaxQuestion characters of what it
	// makes are asked.
	Question string
}

// eventFields are what a question's template may use. Title was written by anybody: the question is as much theirs.
type eventFields struct {
	Number     int
	Title      string
	Repository string // owner/name
}

// rule is an EventRule that was read.
type rule struct {
	on, label string
	question  *template.Template
}

// readRules checks rules as a whole: a mistake in a template is told at the start, not when the event comes.
func readRules(rules []EventRule) ([]rule, error) {
	var out []rule
	for i, r := range rules {
		if !slices.Contains([]string{OnPullRequestOpened, OnPullRequestReady, OnIssueOpened}, r.On) {
			return nil, fmt.Errorf("handlers: event %d: on: %q is not %s, %s or %s", i+1, r.On, OnPullRequestOpened, OnPullRequestReady, OnIssueOpened)
		}
		t, err := template.New("question").Parse(r.Question)
		if err != nil {
			return nil, fmt.Errorf("handlers: event %d: question: %w", i+1, err)
		}
		one := rule{on: r.On, label: r.Label, question: t}
		if q, err := one.ask(eventFields{Number: 1, Title: "title", Repository: "owner/name"}); err != nil {
			return nil, fmt.Errorf("handlers: event %d: question: %w", i+1, err)
		} else if strings.TrimSpace(q) == "" {
			return nil, fmt.Errorf("handlers: event %d: question: it is empty", i+1)
		}
		out = append(out, one)
	}
	return out, nil
}

func (r rule) ask(f eventFields) (string, error) {
	var b strings.Builder
	err := r.question.Execute(&b, f)
	return b.String(), err
}

// wants reports whether the rule waits for this.
func (r rule) wants(on string, labels []label) bool {
	return r.on == on && (r.label == "" || slices.ContainsFunc(labels, func(l label) bool { return strings.EqualFold(l.Name, r.label) }))
}

// configured is what the first rule that fits asks, in the repository's own name.
func (k *asker) configured(env envelope, on string, a asked) (r librarian.Request, ok bool) {
	i := slices.IndexFunc(k.rules, func(r rule) bool { return r.wants(on, a.labels) })
	if i < 0 {
		return r, false
	}
	name := env.Repository.repoName().String()
	question, err := k.rules[i].ask(eventFields{Number: a.place.Number, Title: plain(a.title, k.o.Names), Repository: name})
	if err != nil {
		k.o.Log.Error("a configured question could not be made", "on", on, "error", err)
		return r, false
	}
	a.place.Trigger = librarian.TriggerEvent
	r = librarian.Request{Kind: librarian.KindQuestion, Principal: librarian.Principal{Login: name, Repository: true}, Place: a.place, AskedAt: a.edited}
	r.Question, _ = clip(clean(question), librarian.MaxQuestion)
	return r, r.Question != ""
}
