package githubsim

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"
)

// MaxBody is the longest body of an issue or a comment, in characters; GitHub answers 422 to more.
const MaxBody = 65536

// Issue is an issue or a pull request as it was when it was read.
type Issue struct {
	ID      int64
	Repo    string // owner/name
	Number  int
	Title   string
	Body    string
	Author  string // "" when the account was deleted
	Open    bool
	Locked  bool
	Labels  []string
	IsPull  bool
	HeadSHA string // of a pull request
	URL     string // on the web
}

// Comment is a comment as it was when it was read.
type Comment struct {
	ID               int64
	Repo             string
	Number           int
	Body             string
	Author           string // "" when the account was deleted
	App              string // the slug of the App that wrote it, or ""
	Created, Updated time.Time
	URL              string // on the web
}

type issue struct {
	id                       int64
	repo                     *repo
	number                   int
	title, body              string
	by                       actor
	open, locked             bool
	lockReason               string
	labels                   []string
	created, updated, closed time.Time
	comments                 []*comment
	reactions                []*reaction
	pull                     *pull
}

type comment struct {
	id               int64
	issue            *issue
	by               actor
	body             string
	created, updated time.Time
	reactions        []*reaction
}

func (s *Server) issueSnapshot(i *issue) Issue {
	o := Issue{ID: i.id, Repo: i.repo.fullName(), Number: i.number, Title: i.title, Body: i.body, Author: i.by.login(), Open: i.open,
		Locked: i.locked, Labels: slices.Clone(i.labels), IsPull: i.pull != nil, URL: s.issueURL(i)}
	if i.pull != nil {
		o.HeadSHA = i.pull.headSHA
	}
	return o
}

func (s *Server) commentSnapshot(c *comment) Comment {
	o := Comment{ID: c.id, Repo: c.issue.repo.fullName(), Number: c.issue.number, Body: c.body, Author: c.by.login(), Created: c.created,
		Updated: c.updated, URL: s.commentURL(c)}
	if c.by.app != nil {
		o.App = c.by.app.Slug
	}
	return o
}

func (a actor) login() string {
	if a.user == nil || a.user.deleted {
		return ""
	}
	return a.user.Login
}

func (s *Server) issue(fullName string, number int) (*issue, error) {
	r, err := s.repo(fullName)
	if err != nil {
		return nil, err
	}
	if i := r.issue(int64(number)); i != nil {
		return i, nil
	}
	return nil, fmt.Errorf("issue %s#%d: %w", fullName, number, ErrUnknown)
}

// issue finds an issue or pull request by number, or gives nil. Discussions have numbers of the same sequence.
func (r *repo) issue(number int64) *issue {
	n, found := slices.BinarySearchFunc(r.issues, number, func(i *issue, number int64) int { return cmp.Compare(int64(i.number), number) })
	if !found {
		return nil
	}
	return r.issues[n]
}

// person finds who acts by login; the login of an App's bot acts as the App.
func (s *Server) person(login string) (actor, error) {
	a, err := s.account(login)
	if err != nil {
		return actor{}, err
	}
	return actor{user: a, app: a.app}, nil
}

// onIssue runs f on an issue as somebody.
func (s *Server) onIssue(what, fullName string, number int, login string, f func(*issue, actor) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := s.issue(fullName, number)
	if err == nil {
		var by actor
		if by, err = s.person(login); err == nil {
			err = f(i, by)
		}
	}
	if err != nil {
		return fmt.Errorf("githubsim: %s: %w", what, err)
	}
	return nil
}

// OpenIssue opens an issue as somebody, perhaps with labels.
func (s *Server) OpenIssue(fullName, login, title, body string, labels ...string) (Issue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err != nil {
		return Issue{}, fmt.Errorf("githubsim: open issue: %w", err)
	}
	by, err := s.person(login)
	if err != nil {
		return Issue{}, fmt.Errorf("githubsim: open issue: %w", err)
	}
	if utf8.RuneCountInString(body) > MaxBody {
		return Issue{}, errors.New("githubsim: open issue: body is too long")
	}
	return s.issueSnapshot(s.addIssue(r, by, title, body, nil, labels)), nil
}

// addIssue makes an issue, or with p a pull request, and sends its webhooks: the opened one has the labels in it, and each label
// is told again by its own.
func (s *Server) addIssue(r *repo, by actor, title, body string, p *pull, labels []string) *issue {
	now := s.now()
	r.lastNumber++
	i := &issue{id: s.world.id(), repo: r, number: r.lastNumber, title: title, body: body, by: by, open: true, created: now, updated: now, pull: p,
		labels: slices.Clone(labels)}
	r.issues = append(r.issues, i)
	s.emitIssue(i, by, "opened", nil)
	for _, l := range labels {
		s.emitIssue(i, by, "labeled", object{"label": s.labelJSON(r, l)})
	}
	return i
}

// EditIssue changes title and body as somebody.
func (s *Server) EditIssue(fullName string, number int, login, title, body string) error {
	return s.onIssue("edit issue", fullName, number, login, func(i *issue, by actor) error {
		s.changeIssue(i, by, &title, &body)
		return nil
	})
}

func (s *Server) changeIssue(i *issue, by actor, title, body *string) {
	changes := object{}
	if title != nil && *title != i.title {
		changes["title"] = object{"from": i.title}
		i.title = *title
	}
	if body != nil && *body != i.body {
		changes["body"] = object{"from": i.body}
		i.body = *body
	}
	if len(changes) > 0 {
		i.updated = s.now()
		s.emitIssue(i, by, "edited", object{"changes": changes})
	}
}

// CloseIssue closes an issue or a pull request as somebody; ReopenIssue opens it again.
func (s *Server) CloseIssue(fullName string, number int, login string) error {
	return s.onIssue("close issue", fullName, number, login, func(i *issue, by actor) error {
		s.setOpen(i, by, false)
		return nil
	})
}

// ReopenIssue opens a closed issue again.
func (s *Server) ReopenIssue(fullName string, number int, login string) error {
	return s.onIssue("reopen issue", fullName, number, login, func(i *issue, by actor) error {
		s.setOpen(i, by, true)
		return nil
	})
}

func (s *Server) setOpen(i *issue, by actor, open bool) {
	if i.open == open {
		return
	}
	i.open, i.updated, i.closed = open, s.now(), time.Time{}
	action := "reopened"
	if !open {
		i.closed, action = i.updated, "closed"
	}
	s.emitIssue(i, by, action, nil)
}

// DeleteIssue deletes an issue with its comments as somebody, who on GitHub must be an administrator. Reading it is then 410.
func (s *Server) DeleteIssue(fullName string, number int, login string) error {
	return s.onIssue("delete issue", fullName, number, login, func(i *issue, by actor) error {
		if i.pull != nil {
			return fmt.Errorf("#%d is a pull request, which nobody can delete", number)
		}
		for _, c := range i.comments {
			delete(s.world.comments, c.id)
		}
		r := i.repo
		r.issues = slices.DeleteFunc(slices.Clone(r.issues), func(x *issue) bool { return x == i })
		if r.gone = maps.Clone(r.gone); r.gone == nil {
			r.gone = map[int64]bool{}
		}
		r.gone[int64(number)] = true
		s.emitIssue(i, by, "deleted", nil)
		return nil
	})
}

// TransferIssue moves an issue to another repository of the same owner as somebody: it gets a number there, and where it was GitHub
// points to it. Its comments go with it, and are not to be had at their old paths any more.
func (s *Server) TransferIssue(fullName string, number int, login, to string) error {
	return s.onIssue("transfer issue", fullName, number, login, func(i *issue, by actor) error {
		target, err := s.repo(to)
		if err != nil {
			return err
		}
		if i.pull != nil || target.owner != i.repo.owner || target == i.repo {
			return fmt.Errorf("#%d cannot be transferred to %s", number, to)
		}
		from, before := i.repo, s.issueJSON(i)
		s.emitIssue(i, by, "transferred", nil)
		from.issues = slices.DeleteFunc(slices.Clone(from.issues), func(x *issue) bool { return x == i })
		if from.moved = maps.Clone(from.moved); from.moved == nil {
			from.moved = map[int64]*issue{}
		}
		from.moved[int64(number)] = i
		target.lastNumber++
		i.id, i.repo, i.number, i.updated = s.world.id(), target, target.lastNumber, s.now()
		target.issues = append(target.issues, i)
		s.emitIssue(i, by, "opened", object{"changes": object{"old_issue": before, "old_repository": s.repoJSON(from, nil)}})
		return nil
	})
}

// LockIssue locks or unlocks the conversation as somebody.
func (s *Server) LockIssue(fullName string, number int, login string, locked bool) error {
	return s.onIssue("lock issue", fullName, number, login, func(i *issue, by actor) error {
		s.setLocked(i, by, locked, "")
		return nil
	})
}

func (s *Server) setLocked(i *issue, by actor, locked bool, reason string) {
	if i.locked == locked {
		return
	}
	i.locked, i.lockReason, i.updated = locked, reason, s.now()
	action := "unlocked"
	if locked {
		action = "locked"
	}
	s.emitIssue(i, by, action, nil)
}

// AssignIssue sends what GitHub sends when somebody is assigned; the assignment itself is not kept.
func (s *Server) AssignIssue(fullName string, number int, login, assignee string) error {
	return s.onIssue("assign issue", fullName, number, login, func(i *issue, by actor) error {
		a, err := s.account(assignee)
		if err != nil {
			return err
		}
		s.emitIssue(i, by, "assigned", object{"assignee": s.userObject(a)})
		return nil
	})
}

// Comment writes a comment on an issue or pull request as somebody.
func (s *Server) Comment(fullName string, number int, login, body string) (Comment, error) {
	var made Comment
	err := s.onIssue("comment", fullName, number, login, func(i *issue, by actor) error {
		if utf8.RuneCountInString(body) > MaxBody {
			return errors.New("body is too long")
		}
		made = s.commentSnapshot(s.addComment(i, by, body))
		return nil
	})
	return made, err
}

func (s *Server) addComment(i *issue, by actor, body string) *comment {
	now := s.now()
	c := &comment{id: s.world.id(), issue: i, by: by, body: body, created: now, updated: now}
	i.comments = append(i.comments, c)
	i.updated = now
	s.world.comments[c.id] = c
	s.emitComment(c, by, "created", nil)
	return c
}

// onComment does what somebody does to one of all comments of a kind.
func onComment[C any](s *Server, all map[int64]*C, what string, id int64, login string, f func(*C, actor) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := all[id]
	if c == nil {
		return fmt.Errorf("githubsim: %s %d: %w", what, id, ErrUnknown)
	}
	by, err := s.person(login)
	if err == nil {
		err = f(c, by)
	}
	if err != nil {
		return fmt.Errorf("githubsim: %s %d: %w", what, id, err)
	}
	return nil
}

func (s *Server) onComment(what string, id int64, login string, f func(*comment, actor) error) error {
	return onComment(s, s.world.comments, what, id, login, f)
}

// EditComment changes a comment's body as somebody.
func (s *Server) EditComment(id int64, login, body string) error {
	return s.onComment("edit comment", id, login, func(c *comment, by actor) error {
		s.changeComment(c, by, body)
		return nil
	})
}

func (s *Server) changeComment(c *comment, by actor, body string) {
	from := c.body
	c.body, c.updated = body, s.now()
	s.emitComment(c, by, "edited", object{"changes": object{"body": object{"from": from}}})
}

// DeleteComment deletes a comment as somebody.
func (s *Server) DeleteComment(id int64, login string) error {
	return s.onComment("delete comment", id, login, func(c *comment, by actor) error {
		s.removeComment(c, by)
		return nil
	})
}

func (s *Server) removeComment(c *comment, by actor) {
	c.issue.comments = slices.DeleteFunc(c.issue.comments, func(x *comment) bool { return x == c })
	delete(s.world.comments, c.id)
	s.emitComment(c, by, "deleted", nil)
}

// Comments lists the comments of an issue or pull request, oldest first; nil when there is no such issue.
func (s *Server) Comments(fullName string, number int) []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := s.issue(fullName, number)
	if err != nil {
		return nil
	}
	var list []Comment
	for _, c := range i.comments {
		list = append(list, s.commentSnapshot(c))
	}
	return list
}

// Issue reads an issue or pull request.
func (s *Server) Issue(fullName string, number int) (Issue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := s.issue(fullName, number)
	if err != nil {
		return Issue{}, fmt.Errorf("githubsim: issue: %w", err)
	}
	return s.issueSnapshot(i), nil
}
