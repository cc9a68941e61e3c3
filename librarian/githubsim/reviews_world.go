package githubsim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Review is a review of a pull request as it was when it was read.
type Review struct {
	ID     int64
	NodeID string
	State  string // "approved", "commented", "changes_requested" or "dismissed"
	Body   string
	Author string // "" when the account was deleted
	Commit string
	URL    string // on the web
}

// ReviewComment is a comment on a pull request's diff as it was when it was read.
type ReviewComment struct {
	ID               int64
	NodeID           string
	Repo             string
	Number           int
	Review           int64
	InReplyTo        int64 // the first comment of its thread; 0 for that one
	Path             string
	Line             int // 0 for a comment on the file, or an outdated one
	Side             string
	Hunk             string
	Body             string
	Author           string // "" when the account was deleted
	App              string // the slug of the App that wrote it, or ""
	Created, Updated time.Time
	URL              string // on the web
}

// ReviewOptions describes a review to be submitted.
type ReviewOptions struct {
	State    string // "" means "commented"
	Body     string
	Comments []ReviewCommentOptions
}

// ReviewCommentOptions describes a comment on a diff.
type ReviewCommentOptions struct {
	Path      string
	Line      int    // in the file on Side; it must be in the diff. 0 makes a comment on the whole file
	StartLine int    // of a comment on several lines; 0 for one line
	Side      string // "" means "RIGHT"
	Body      string
}

type review struct {
	id          int64
	pull        *issue
	by          actor
	state, body string
	commit      string
	submitted   time.Time
	reactions   []*reaction
}

type reviewComment struct {
	id                     int64
	pull                   *issue
	review                 *review
	root                   *reviewComment // nil for the first of a thread
	by                     actor
	body, path, side, hunk string
	line, start            int // as of the commit it was written for
	position               int
	outdated               bool
	commit                 string
	created, updated       time.Time
	reactions              []*reaction
}

var reviewStates = []string{"approved", "changes_requested", "commented", "dismissed"}

func (s *Server) reviewSnapshot(r *review) Review {
	return Review{ID: r.id, NodeID: nodeID("PRR", r.id), State: r.state, Body: r.body, Author: r.by.login(), Commit: r.commit, URL: s.reviewURL(r)}
}

func (s *Server) reviewCommentSnapshot(c *reviewComment) ReviewComment {
	o := ReviewComment{ID: c.id, NodeID: nodeID("PRRC", c.id), Repo: c.pull.repo.fullName(), Number: c.pull.number, Review: c.review.id, Path: c.path,
		Line: c.line, Side: c.side, Hunk: c.hunk, Body: c.body, Author: c.by.login(), Created: c.created, Updated: c.updated, URL: s.reviewCommentURL(c)}
	if c.outdated {
		o.Line = 0
	}
	if c.root != nil {
		o.InReplyTo = c.root.id
	}
	if c.by.app != nil {
		o.App = c.by.app.Slug
	}
	return o
}

// onPull runs f on a pull request as somebody.
func (s *Server) onPull(what, fullName string, number int, login string, f func(*issue, actor) error) error {
	return s.onIssue(what, fullName, number, login, func(i *issue, by actor) error {
		if i.pull == nil {
			return fmt.Errorf("#%d is no pull request", number)
		}
		return f(i, by)
	})
}

// Review submits a review as somebody, with comments on the diff or without.
func (s *Server) Review(fullName string, number int, login string, o ReviewOptions) (Review, error) {
	var made Review
	err := s.onPull("review", fullName, number, login, func(i *issue, by actor) error {
		if o.State == "" {
			o.State = "commented"
		}
		if !slices.Contains(reviewStates, o.State) || o.State == "commented" && o.Body == "" && len(o.Comments) == 0 {
			return errors.New("it has no known state, or says nothing")
		}
		places := make([]diffPlace, len(o.Comments))
		for n := range o.Comments {
			var err error
			if places[n], err = s.findInDiff(i, &o.Comments[n]); err != nil {
				return err
			}
		}
		r := s.addReview(i, by, o.State, o.Body)
		for n, c := range o.Comments {
			s.addReviewComment(r, nil, c, places[n])
		}
		made = s.reviewSnapshot(r)
		return nil
	})
	return made, err
}

// addReview makes a review and sends its webhook.
func (s *Server) addReview(i *issue, by actor, state, body string) *review {
	r := &review{id: s.world.id(), pull: i, by: by, state: state, body: body, commit: i.pull.headSHA, submitted: s.now()}
	i.pull.reviews, i.updated = append(i.pull.reviews, r), r.submitted
	s.world.reviews[r.id] = r
	s.emitReview(r, by, "submitted", nil)
	return r
}

// EditReview changes a review's body as somebody.
func (s *Server) EditReview(id int64, login, body string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.world.reviews[id]
	if r == nil {
		return fmt.Errorf("githubsim: edit review %d: %w", id, ErrUnknown)
	}
	by, err := s.person(login)
	if err != nil {
		return fmt.Errorf("githubsim: edit review %d: %w", id, err)
	}
	s.changeReview(r, by, body)
	return nil
}

func (s *Server) changeReview(r *review, by actor, body string) {
	from := r.body
	r.body = body
	s.emitReview(r, by, "edited", object{"changes": object{"body": object{"from": from}}})
}

// ReviewComment writes a comment on a pull request's diff as somebody. As on GitHub it makes a review of its own, so that two
// events follow: pull_request_review (submitted, without a body) and pull_request_review_comment (created).
func (s *Server) ReviewComment(fullName string, number int, login string, o ReviewCommentOptions) (ReviewComment, error) {
	var made ReviewComment
	err := s.onPull("comment on diff", fullName, number, login, func(i *issue, by actor) error {
		if utf8.RuneCountInString(o.Body) > MaxBody {
			return errors.New("body is too long")
		}
		place, err := s.findInDiff(i, &o)
		if err != nil {
			return err
		}
		made = s.reviewCommentSnapshot(s.addReviewComment(s.addReview(i, by, "commented", ""), nil, o, place))
		return nil
	})
	return made, err
}

// ReplyReviewComment answers in the thread of a comment as somebody; to reply to a reply is to reply to its thread. It makes
// two events, as ReviewComment does.
func (s *Server) ReplyReviewComment(id int64, login, body string) (ReviewComment, error) {
	var made ReviewComment
	err := s.onReviewComment("reply to review comment", id, login, func(c *reviewComment, by actor) error {
		if utf8.RuneCountInString(body) > MaxBody {
			return errors.New("body is too long")
		}
		if c.root != nil {
			c = c.root
		}
		made = s.reviewCommentSnapshot(s.replyTo(c, by, body))
		return nil
	})
	return made, err
}

// replyTo answers the first comment of a thread.
func (s *Server) replyTo(root *reviewComment, by actor, body string) *reviewComment {
	o := ReviewCommentOptions{Path: root.path, Line: root.line, StartLine: root.start, Side: root.side, Body: body}
	return s.addReviewComment(s.addReview(root.pull, by, "commented", ""), root, o, diffPlace{root.hunk, root.position})
}

func (s *Server) addReviewComment(r *review, root *reviewComment, o ReviewCommentOptions, at diffPlace) *reviewComment {
	now := s.now()
	c := &reviewComment{id: s.world.id(), pull: r.pull, review: r, root: root, by: r.by, body: o.Body, path: o.Path, side: o.Side, hunk: at.hunk,
		line: o.Line, start: o.StartLine, position: at.position, commit: r.commit, created: now, updated: now}
	r.pull.pull.comments = append(r.pull.pull.comments, c)
	s.world.reviewComments[c.id] = c
	s.emitReviewComment(c, r.by, "created", nil)
	return c
}

func (s *Server) onReviewComment(what string, id int64, login string, f func(*reviewComment, actor) error) error {
	return onComment(s, s.world.reviewComments, what, id, login, f)
}

// EditReviewComment changes a comment's body as somebody.
func (s *Server) EditReviewComment(id int64, login, body string) error {
	return s.onReviewComment("edit review comment", id, login, func(c *reviewComment, by actor) error {
		s.changeReviewComment(c, by, body)
		return nil
	})
}

func (s *Server) changeReviewComment(c *reviewComment, by actor, body string) {
	from := c.body
	c.body, c.updated = body, s.now()
	s.emitReviewComment(c, by, "edited", object{"changes": object{"body": object{"from": from}}})
}

// DeleteReviewComment deletes a comment as somebody. Its replies stay, and the oldest of them leads the thread.
func (s *Server) DeleteReviewComment(id int64, login string) error {
	return s.onReviewComment("delete review comment", id, login, func(c *reviewComment, by actor) error {
		s.removeReviewComment(c, by)
		return nil
	})
}

func (s *Server) removeReviewComment(c *reviewComment, by actor) {
	p := c.pull.pull
	p.comments = slices.DeleteFunc(slices.Clone(p.comments), func(x *reviewComment) bool { return x == c })
	delete(s.world.reviewComments, c.id)
	var lead *reviewComment
	for _, x := range p.comments {
		if x.root != c {
			continue
		}
		if x.root = lead; lead == nil {
			lead = x
		}
	}
	s.emitReviewComment(c, by, "deleted", nil)
}

// ReviewComments lists the comments on a pull request's diff, oldest first; nil when there is no such pull request.
func (s *Server) ReviewComments(fullName string, number int) []ReviewComment {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, err := s.issue(fullName, number)
	if err != nil || i.pull == nil {
		return nil
	}
	var list []ReviewComment
	for _, c := range i.pull.comments {
		list = append(list, s.reviewCommentSnapshot(c))
	}
	return list
}

// ReadyForReview takes a draft out of draft as somebody.
func (s *Server) ReadyForReview(fullName string, number int, login string) error {
	return s.onPull("make ready", fullName, number, login, func(i *issue, by actor) error {
		if i.pull.draft {
			i.pull.draft, i.updated = false, s.now()
			s.emitIssue(i, by, "ready_for_review", nil)
		}
		return nil
	})
}

// diffPlace is a line of a diff: its hunk up to that line, and its number among the file's diff lines.
type diffPlace struct {
	hunk     string
	position int
}

var errNotInDiff = errors.New("line must be part of the diff")

// findInDiff finds the line of a comment in what the pull request changes, and fills in the default side.
func (s *Server) findInDiff(i *issue, o *ReviewCommentOptions) (diffPlace, error) {
	if o.Side == "" {
		o.Side = "RIGHT"
	}
	p := i.pull
	ctx := context.Background()
	base, err := i.repo.dir.run(ctx, 4096, "merge-base", p.baseSHA, p.headSHA)
	if err != nil {
		return diffPlace{}, err
	}
	out, err := i.repo.dir.run(ctx, 64<<20, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M", strings.TrimSpace(string(base)), p.headSHA, "--", o.Path)
	switch {
	case err != nil:
		return diffPlace{}, err
	case len(out) == 0 || strings.Contains(string(out), "\ndiff --git "): // nothing, or a folder
		return diffPlace{}, fmt.Errorf("path %s: %w", o.Path, errNotInDiff)
	case o.Line == 0:
		return diffPlace{position: 1}, nil
	}
	return findLine(string(out), o.Line, o.Side)
}

// findLine walks one file's diff to a line of the file before (LEFT) or after (RIGHT) the change.
func findLine(diff string, line int, side string) (diffPlace, error) {
	var hunk []string
	left, right, position := 0, 0, -1
	for text := range strings.SplitSeq(strings.TrimSuffix(diff, "\n"), "\n") {
		if strings.HasPrefix(text, "@@ ") {
			var l, r string
			if _, err := fmt.Sscanf(text, "@@ -%s +%s @@", &l, &r); err != nil {
				return diffPlace{}, err
			}
			left, right = atoi(strings.Split(l, ",")[0], 0), atoi(strings.Split(r, ",")[0], 0)
			hunk, position = []string{text}, position+1
			continue
		}
		if hunk == nil || text == "" {
			continue // the head of the file's diff
		}
		hunk, position = append(hunk, text), position+1
		isLeft, isRight := text[0] == '-' || text[0] == ' ', text[0] == '+' || text[0] == ' '
		if side == "RIGHT" && isRight && right == line || side == "LEFT" && isLeft && left == line {
			return diffPlace{strings.Join(hunk, "\n"), position}, nil
		}
		if isLeft {
			left++
		}
		if isRight {
			right++
		}
	}
	return diffPlace{}, errNotInDiff
}

// markOutdated looks for each comment's line in the diff of a new head; where it is another or none, the comment is outdated.
func (s *Server) markOutdated(i *issue) {
	last := func(hunk string) string { return hunk[strings.LastIndexByte(hunk, '\n')+1:] }
	for _, c := range i.pull.comments {
		o := ReviewCommentOptions{Path: c.path, Line: c.line, Side: c.side}
		at, err := s.findInDiff(i, &o)
		c.outdated = err != nil || c.line > 0 && last(at.hunk) != last(c.hunk)
		if !c.outdated {
			c.commit = i.pull.headSHA
		}
	}
}
