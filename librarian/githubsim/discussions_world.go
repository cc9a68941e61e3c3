package githubsim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Discussion is a discussion as it was when it was read.
type Discussion struct {
	ID     int64
	NodeID string // its id in GraphQL
	Repo   string // owner/name
	Number int    // of one sequence with issues and pull requests
	Title  string
	Body   string
	Author string // "" when the account was deleted
	Locked bool
	URL    string // on the web
}

// DiscussionComment is a comment on a discussion, or a reply to one, as it was when it was read.
type DiscussionComment struct {
	ID               int64
	NodeID           string // its id in GraphQL
	Repo             string
	Number           int   // of the discussion
	ReplyTo          int64 // the comment it replies to; 0 for one that stands by itself
	Body             string
	Author           string // "" when the account was deleted
	App              string // the slug of the App that wrote it, or ""
	Deleted          bool   // deleted, and kept because it has replies
	Created, Updated time.Time
	URL              string // on the web
}

type discussion struct {
	id               int64
	repo             *repo
	number           int
	title, body      string
	by               actor
	locked           bool
	labels           []string
	created, updated time.Time
	edited           time.Time // zero when it never was
	comments         []*discussionComment
	reactions        []*reaction
}

type discussionComment struct {
	id               int64
	discussion       *discussion
	root             *discussionComment // nil for one that stands by itself
	by               actor
	body             string
	created, updated time.Time
	edited, deleted  time.Time
	reactions        []*reaction
}

func (s *Server) discussionSnapshot(d *discussion) Discussion {
	return Discussion{ID: d.id, NodeID: nodeID("D", d.id), Repo: d.repo.fullName(), Number: d.number, Title: d.title, Body: d.body, Author: d.by.login(),
		Locked: d.locked, URL: s.discussionURL(d)}
}

func (s *Server) discussionCommentSnapshot(c *discussionComment) DiscussionComment {
	o := DiscussionComment{ID: c.id, NodeID: nodeID("DC", c.id), Repo: c.discussion.repo.fullName(), Number: c.discussion.number, Body: c.body,
		Author: c.by.login(), Deleted: !c.deleted.IsZero(), Created: c.created, Updated: c.updated, URL: s.discussionCommentURL(c)}
	if c.root != nil {
		o.ReplyTo = c.root.id
	}
	if c.by.app != nil {
		o.App = c.by.app.Slug
	}
	return o
}

// OpenDiscussion starts a discussion as somebody, in the category General.
func (s *Server) OpenDiscussion(fullName, login, title, body string) (Discussion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.repo(fullName)
	if err != nil {
		return Discussion{}, fmt.Errorf("githubsim: open discussion: %w", err)
	}
	by, err := s.person(login)
	if err != nil {
		return Discussion{}, fmt.Errorf("githubsim: open discussion: %w", err)
	}
	if utf8.RuneCountInString(body) > MaxBody {
		return Discussion{}, errors.New("githubsim: open discussion: body is too long")
	}
	return s.discussionSnapshot(s.addDiscussion(r, by, title, body)), nil
}

// addDiscussion starts a discussion and sends its webhook.
func (s *Server) addDiscussion(r *repo, by actor, title, body string) *discussion {
	now := s.now()
	r.lastNumber++
	d := &discussion{id: s.world.id(), repo: r, number: r.lastNumber, title: title, body: body, by: by, created: now, updated: now}
	r.discussions = append(r.discussions, d)
	s.world.discussions[d.id] = d
	s.emitDiscussion(d, by, "created", nil)
	return d
}

func (s *Server) discussion(fullName string, number int) (*discussion, error) {
	r, err := s.repo(fullName)
	if err != nil {
		return nil, err
	}
	for _, d := range r.discussions {
		if d.number == number {
			return d, nil
		}
	}
	return nil, fmt.Errorf("discussion %s#%d: %w", fullName, number, ErrUnknown)
}

func (s *Server) onDiscussion(what, fullName string, number int, login string, f func(*discussion, actor) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.discussion(fullName, number)
	if err == nil {
		var by actor
		if by, err = s.person(login); err == nil {
			err = f(d, by)
		}
	}
	if err != nil {
		return fmt.Errorf("githubsim: %s: %w", what, err)
	}
	return nil
}

// EditDiscussion changes title and body as somebody.
func (s *Server) EditDiscussion(fullName string, number int, login, title, body string) error {
	return s.onDiscussion("edit discussion", fullName, number, login, func(d *discussion, by actor) error {
		s.changeDiscussion(d, by, title, body)
		return nil
	})
}

// changeDiscussion edits a discussion and sends its webhook, if something changed.
func (s *Server) changeDiscussion(d *discussion, by actor, title, body string) {
	changes := object{}
	if title != d.title {
		changes["title"] = object{"from": d.title}
	}
	if body != d.body {
		changes["body"] = object{"from": d.body}
	}
	if len(changes) == 0 {
		return
	}
	d.title, d.body, d.updated, d.edited = title, body, s.now(), s.now()
	s.emitDiscussion(d, by, "edited", object{"changes": changes})
}

// DeleteDiscussion deletes a discussion with its comments as somebody.
func (s *Server) DeleteDiscussion(fullName string, number int, login string) error {
	return s.onDiscussion("delete discussion", fullName, number, login, func(d *discussion, by actor) error {
		for _, c := range d.comments {
			delete(s.world.discussionComments, c.id)
		}
		delete(s.world.discussions, d.id)
		d.repo.discussions = slices.DeleteFunc(slices.Clone(d.repo.discussions), func(x *discussion) bool { return x == d })
		s.emitDiscussion(d, by, "deleted", nil)
		return nil
	})
}

// LockDiscussion locks or unlocks the conversation as somebody.
func (s *Server) LockDiscussion(fullName string, number int, login string, locked bool) error {
	return s.onDiscussion("lock discussion", fullName, number, login, func(d *discussion, by actor) error {
		if d.locked == locked {
			return nil
		}
		action := "unlocked"
		if locked {
			action = "locked"
		}
		d.locked, d.updated = locked, s.now()
		s.emitDiscussion(d, by, action, nil)
		return nil
	})
}

// LabelDiscussion puts a label on a discussion as somebody.
func (s *Server) LabelDiscussion(fullName string, number int, login, label string) error {
	return s.onDiscussion("label discussion", fullName, number, login, func(d *discussion, by actor) error {
		if !slices.ContainsFunc(d.labels, func(l string) bool { return strings.EqualFold(l, label) }) {
			d.labels, d.updated = append(slices.Clone(d.labels), label), s.now()
			s.emitDiscussion(d, by, "labeled", object{"label": s.labelJSON(d.repo, label)})
		}
		return nil
	})
}

// CommentDiscussion writes a comment on a discussion as somebody.
func (s *Server) CommentDiscussion(fullName string, number int, login, body string) (DiscussionComment, error) {
	var made DiscussionComment
	err := s.onDiscussion("comment on discussion", fullName, number, login, func(d *discussion, by actor) error {
		if utf8.RuneCountInString(body) > MaxBody {
			return errors.New("body is too long")
		}
		made = s.discussionCommentSnapshot(s.addDiscussionComment(d, nil, by, body))
		return nil
	})
	return made, err
}

// ReplyDiscussion replies to a comment as somebody; to reply to a reply is to reply to what that replies to.
func (s *Server) ReplyDiscussion(commentID int64, login, body string) (DiscussionComment, error) {
	var made DiscussionComment
	err := s.onDiscussionComment("reply to discussion comment", commentID, login, func(c *discussionComment, by actor) error {
		if utf8.RuneCountInString(body) > MaxBody {
			return errors.New("body is too long")
		}
		if c.root != nil {
			c = c.root
		}
		made = s.discussionCommentSnapshot(s.addDiscussionComment(c.discussion, c, by, body))
		return nil
	})
	return made, err
}

func (s *Server) addDiscussionComment(d *discussion, root *discussionComment, by actor, body string) *discussionComment {
	now := s.now()
	c := &discussionComment{id: s.world.id(), discussion: d, root: root, by: by, body: body, created: now, updated: now}
	d.comments, d.updated = append(d.comments, c), now
	s.world.discussionComments[c.id] = c
	s.emitDiscussionComment(c, by, "created", nil)
	return c
}

func (s *Server) onDiscussionComment(what string, id int64, login string, f func(*discussionComment, actor) error) error {
	return onComment(s, s.world.discussionComments, what, id, login, f)
}

// EditDiscussionComment changes a comment's body as somebody.
func (s *Server) EditDiscussionComment(id int64, login, body string) error {
	return s.onDiscussionComment("edit discussion comment", id, login, func(c *discussionComment, by actor) error {
		s.changeDiscussionComment(c, by, body)
		return nil
	})
}

func (s *Server) changeDiscussionComment(c *discussionComment, by actor, body string) {
	from := c.body
	c.body, c.updated, c.edited = body, s.now(), s.now()
	s.emitDiscussionComment(c, by, "edited", object{"changes": object{"body": object{"from": from}}})
}

// DeleteDiscussionComment deletes a comment as somebody. One with replies stays as an empty one.
func (s *Server) DeleteDiscussionComment(id int64, login string) error {
	return s.onDiscussionComment("delete discussion comment", id, login, func(c *discussionComment, by actor) error {
		s.removeDiscussionComment(c, by)
		return nil
	})
}

func (s *Server) removeDiscussionComment(c *discussionComment, by actor) {
	s.emitDiscussionComment(c, by, "deleted", nil)
	d := c.discussion
	if len(d.replies(c)) > 0 {
		c.body, c.by, c.deleted, c.reactions = "", actor{}, s.now(), nil
		return
	}
	d.comments = slices.DeleteFunc(slices.Clone(d.comments), func(x *discussionComment) bool { return x == c })
	delete(s.world.discussionComments, c.id)
}

// replies lists the replies to a comment, or for nil the comments that stand by themselves; oldest first.
func (d *discussion) replies(root *discussionComment) []*discussionComment {
	return slices.DeleteFunc(slices.Clone(d.comments), func(x *discussionComment) bool { return x.root != root })
}

// DiscussionComments lists a discussion's comments and replies, oldest first; nil when there is no such discussion.
func (s *Server) DiscussionComments(fullName string, number int) []DiscussionComment {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.discussion(fullName, number)
	if err != nil {
		return nil
	}
	var list []DiscussionComment
	for _, c := range d.comments {
		list = append(list, s.discussionCommentSnapshot(c))
	}
	return list
}
