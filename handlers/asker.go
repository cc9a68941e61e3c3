package handlers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

// asker turns text that may concern us into a request. Every event that can ask goes through it.
type asker struct {
	o     Options
	rules []rule
}

// asked is one text, by whom and where.
type asked struct {
	title  string // of an issue, pull request or discussion itself; a mention may stand there, too
	body   string
	author *account // of the text
	app    *app     // that wrote the text
	labels []label  // that are on it
	at     time.Time
	edited time.Time
	place  librarian.Place
}

// heard follows what was done to a text: it was written, edited, deleted, or given a label. It makes one request at most; a
// person who asks comes before an event that is configured.
func (k *asker) heard(ctx context.Context, event, delivery string, env envelope, a asked) error {
	d := librarian.Delivery{ID: delivery, Event: event}
	if k.own(env, a) {
		return nil
	}
	var r librarian.Request
	var ok bool
	switch env.Action {
	case "deleted":
		r, ok = k.withdrawn(env, a)
	case "labeled":
		r, ok = k.labelled(env, a)
	case "edited":
		r, ok = k.amended(env, a)
	case "ready_for_review": // the text asked when it was written
	default:
		r, ok = k.mentioned(a.author.principal(), a.at, a)
	}
	if !ok {
		r, ok = k.configured(env, event+"."+env.Action, a)
	}
	if !ok {
		return nil
	}
	return k.enqueue(ctx, d, env, r)
}

// mentioned is what a text asks that mentions us, if who is somebody we listen to.
func (k *asker) mentioned(who librarian.Principal, at time.Time, a asked) (r librarian.Request, ok bool) {
	if !k.listens(who) {
		return r, false
	}
	m, ok := k.mention(a.title, a.body)
	if !ok {
		return r, false
	}
	r = librarian.Request{Kind: librarian.KindQuestion, Question: m.Question, Quoted: m.Quoted, Answer: m.Answer, Principal: who, Place: a.place, AskedAt: at}
	if m.Command != "" {
		r.Kind, r.Command, r.Question = librarian.KindCommand, m.Command, m.Args
		if run, question, ok := ContinueArgs(m.Args); ok && m.Command == CommandContinue && question != "" {
			r.Kind, r.Command, r.Continue, r.Question = librarian.KindQuestion, "", run, question
		}
	}
	return r, true
}

// amended is what an edit asks: only one that adds the first mention does. Whoever adds it asks, also in a text by somebody
// else. One that takes the mention out takes the question back, which needs nobody's permission but that to edit.
func (k *asker) amended(env envelope, a asked) (r librarian.Request, ok bool) {
	_, had := k.mention(env.Changes.Title.before(a.title), env.Changes.Body.before(a.body))
	if had {
		if _, has := k.mention(a.title, a.body); has {
			return r, false
		}
		when := a.edited
		if when.IsZero() { // of a review GitHub tells no time of the edit
			when = k.o.Now()
		}
		return librarian.Request{
			Kind: librarian.KindCommand, Command: librarian.CommandRetract, Principal: env.Sender.principal(), Place: a.place,
			AskedAt: when, Question: when.UTC().Format(time.RFC3339),
		}, true
	}
	r, ok = k.mentioned(env.Sender.principal(), a.edited, a)
	r.Edited = a.edited
	return r, ok
}

// withdrawn is what the deletion of a text that asked stands for. It needs nobody's permission: what asked is gone.
func (k *asker) withdrawn(env envelope, a asked) (r librarian.Request, ok bool) {
	if _, ok := k.mention(a.title, a.body); !ok {
		return r, false
	}
	return librarian.Request{
		Kind: librarian.KindCommand, Command: librarian.CommandWithdraw, Principal: env.Sender.principal(), Place: a.place,
	}, true
}

// labelled is what our label on an issue or pull request asks: its text is the question, asked by whoever put the label there.
// Authors who label a text that mentions us have asked already.
func (k *asker) labelled(env envelope, a asked) (r librarian.Request, ok bool) {
	who := env.Sender.principal()
	if k.o.Label == "" || env.Label == nil || !strings.EqualFold(env.Label.Name, k.o.Label) || !k.listens(who) {
		return r, false
	}
	if _, mentions := k.mention(a.title, a.body); mentions && who.ID == a.author.principal().ID {
		return r, false
	}
	a.place.Trigger = librarian.TriggerLabel
	r = librarian.Request{Kind: librarian.KindQuestion, Principal: who, Place: a.place, AskedAt: a.edited}
	r.Question, _ = clip(plain(a.title+"\n\n"+a.body, k.o.Names), librarian.MaxQuestion)
	return r, r.Question != ""
}

// listens reports whether requests of who are passed on. Bots must be listed by id (W2).
func (k *asker) listens(who librarian.Principal) bool {
	return !who.Bot || slices.Contains(k.o.AllowBots, who.ID)
}

// enqueue completes r with what every delivery tells and makes it durable.
func (k *asker) enqueue(ctx context.Context, d librarian.Delivery, env envelope, r librarian.Request) error {
	if r.AskedAt.IsZero() {
		r.AskedAt = k.o.Now()
	}
	r.Place.Host = k.o.Host
	r.Place.Repo = librarian.GitHubRepo(k.o.Host, env.Repository.ID)
	r.Place.RepoName = env.Repository.repoName()
	r.Place.Visibility = env.Repository.visibility()
	if env.Installation != nil {
		r.Place.Installation = env.Installation.ID
	}
	if err := k.o.Enqueuer.Enqueue(ctx, d, r); err != nil {
		return fmt.Errorf("handlers: enqueue: %w", err)
	}
	return nil
}

// own reports whether a text, or what was done to it, is by the App itself. Ids decide: a login can be chosen, and quoted.
func (k *asker) own(env envelope, a asked) bool {
	return a.app != nil && a.app.ID == k.o.AppID || k.isBot(a.author) || k.isBot(env.Sender)
}

func (k *asker) isBot(u *account) bool { return k.o.BotID != 0 && u != nil && u.ID == k.o.BotID }

// mention reads the body, and the title before it if the body mentions nobody.
func (k *asker) mention(title, body string) (Mention, bool) {
	if m, ok := Parse(body, k.o.Names); ok || title == "" {
		return m, ok
	}
	if _, ok := Parse(title, k.o.Names); !ok {
		return Mention{}, false
	}
	return Parse(title+"\n\n"+body, k.o.Names)
}
