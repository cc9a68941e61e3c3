package comment

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf16"

	"github.com/librarian-app/librarian/librarian"
)

// MaxBody is GitHub's limit for a comment, our marker included, in UTF-16 units.
const MaxBody = 65_536

// Bounds of the search for our own comment.
const (
	pageSize    = 100
	maxPages    = 100              // 10,000 comments since the run began; beyond that nothing is posted rather than twice
	clockMargin = 10 * time.Minute // how far our clock may be ahead of GitHub's
)

// Say puts post into the place's thread, once: it edits the comment if it is there and says something else, and makes it if it
// is not. A body that is too long is [librarian.ErrTooLong]; a thread that takes no comments is [librarian.ErrCannotPost];
// a rate limit, GitHub's or our own, is a [librarian.RateLimitError]. After any other error it can be said again.
//
// The id that comes back is good for Post.Known, [Poster.Remove] and [Poster.Exists], and for nothing else.
func (p *Poster) Say(ctx context.Context, place librarian.Place, post librarian.Post) (librarian.PostedData, error) {
	mark, err := marker(post)
	if err != nil {
		return librarian.PostedData{}, failed("say", err)
	}
	body := mark + post.Body
	if n := units(body); n > MaxBody {
		return librarian.PostedData{}, failed("say", fmt.Errorf("%w: %d UTF-16 units", librarian.ErrTooLong, n))
	}
	_, m, err := p.target(ctx, place)
	if err != nil {
		return librarian.PostedData{}, failed("say", err)
	}
	c, err := find(ctx, m, post, mark)
	if err != nil {
		return librarian.PostedData{}, failed("say: find", err)
	}
	k := answer
	if post.Role == librarian.RoleProgress && !post.Ends {
		k = progress
	}
	switch {
	case c == nil:
		c, err = p.create(ctx, m, k, post, mark, body)
	case c.body != body:
		err = m.edit(ctx, k, post, c, body)
		if missing(err) { // deleted between the two requests
			c, err = p.create(ctx, m, k, post, mark, body)
		}
	}
	if err != nil {
		return librarian.PostedData{}, failed("say", err)
	}
	return librarian.PostedData{Role: post.Role, Comment: c.id, URL: c.url}, nil
}

// find looks for the comment that post is to be: the recorded one first, then by its marker. Nil means that there is none.
func find(ctx context.Context, m medium, post librarian.Post, mark string) (*remark, error) {
	if post.Known != 0 {
		c, err := m.one(ctx, post.Known)
		if err != nil && !missing(err) {
			return nil, err
		}
		if c != nil && same(c.body, mark) {
			return c, nil
		}
	}
	return m.search(ctx, post, mark)
}

// create makes the comment. When GitHub does not say whether it did, because the connection was cut or it answered 5xx, the
// thread is asked before a second try.
func (p *Poster) create(ctx context.Context, m medium, k kind, post librarian.Post, mark, body string) (*remark, error) {
	for try := 1; ; try++ {
		made, err := m.create(ctx, k, post, body)
		if err == nil {
			return made, nil
		}
		if !uncertain(err) || ctx.Err() != nil {
			return nil, err
		}
		p.log.Warn("comment: not told whether a comment was made", "run", string(post.Run), "role", post.Role, "try", try, "err", err)
		if sleep(ctx, time.Duration(try)*time.Second) != nil { // a list may lag behind a write
			return nil, err
		}
		found, findErr := find(ctx, m, post, mark)
		if findErr != nil {
			return nil, errors.Join(err, findErr)
		}
		switch {
		case found != nil:
			return found, nil
		case try == maxTries:
			return nil, err
		}
	}
}

const maxTries = 3

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// units counts as GitHub does.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}
