package comment

import (
	"context"
	"fmt"

	"github.com/librarian-app/librarian/librarian"
)

// medium is how our comments are read and written in one kind of thread.
type medium interface {
	reader
	writer
}

type reader interface {
	// one reads a comment by its id. It is nil when the comment is not ours or stands in another thread; one that is gone is an
	// error for which missing is true.
	one(ctx context.Context, id int64) (*remark, error)
	// search looks for the comment that post is to be; nil means that there is none.
	search(ctx context.Context, post librarian.Post, mark string) (*remark, error)
}

type writer interface {
	create(ctx context.Context, k kind, post librarian.Post, body string) (*remark, error)
	edit(ctx context.Context, k kind, post librarian.Post, c *remark, body string) error
	remove(ctx context.Context, c *remark) error
}

// remark is a comment of ours.
type remark struct {
	id   int64
	node string // its GraphQL id, where it is written by that
	url  string
	body string
	done bool // a check run that has ended
}

func (p *Poster) medium(t target) (medium, error) {
	switch t.place.Kind {
	case librarian.PlaceIssue, librarian.PlacePull, librarian.PlaceReview:
		return notes{p, t}, nil
	case librarian.PlaceDiscussion:
		return &talks{p: p, t: t}, nil
	case librarian.PlaceCommit:
		return checks{p, t}, nil
	}
	return nil, fmt.Errorf("nothing can be posted to a place of kind %q", t.place.Kind)
}
