package handlers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

// asker turns text that may mention us into a request. Every event that can ask goes through it.
type asker struct{ o Options }

// asked is one text, by whom and where.
type asked struct {
	title  string // of an issue that is opened; a mention may stand there, too
	body   string
	author *account // of the text
	sender *account // who caused the delivery
	app    *app     // that wrote the text
	edit   bool
	before func() (title, body string) // of an edit
	at     time.Time
	place  librarian.Place
}

// ask enqueues a request if a mentions us and the asker is somebody we listen to.
func (k *asker) ask(ctx context.Context, d librarian.Delivery, env envelope, a asked) error {
	if k.own(a) {
		return nil
	}
	who := a.author.principal()
	if a.edit { // whoever adds a mention asks, even in a text by somebody else
		who = a.sender.principal()
	}
	if who.Bot && !slices.Contains(k.o.AllowBots, who.ID) {
		return nil
	}
	m, ok := k.mention(a.title, a.body)
	if !ok {
		return nil
	}
	if a.edit {
		if _, had := k.mention(a.before()); had {
			return nil
		}
	}
	r := librarian.Request{Kind: librarian.KindQuestion, Question: m.Question, Quoted: m.Quoted, Principal: who, Place: a.place, AskedAt: a.at}
	if m.Command != "" {
		r.Kind, r.Command, r.Question = librarian.KindCommand, m.Command, m.Args
		if run, question, ok := ContinueArgs(m.Args); ok && m.Command == CommandContinue && question != "" {
			r.Kind, r.Command, r.Continue, r.Question = librarian.KindQuestion, "", run, question
		}
	}
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

// own reports whether a text is by the App itself. Ids decide: a login can be chosen, and quoted.
func (k *asker) own(a asked) bool {
	return a.app != nil && a.app.ID == k.o.AppID || k.isBot(a.author) || k.isBot(a.sender)
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
