package hub

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/google/go-github/v66/github"

	"github.com/librarian-app/librarian/librarian"
)

// failed names the operation and classifies what GitHub answered. A 404, 410 or 451, and a 403 that is no rate limit, are
// [librarian.ErrNotFound]: the App may not see it, which must read as if it were not there. It gives nil for nil.
func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // the method and URL are repeated by what is inside, or say no more than op
	}
	e, ok := errors.AsType[*github.ErrorResponse](err)
	if !ok || e.Response == nil || errors.Is(err, librarian.ErrNotFound) {
		return fmt.Errorf("hub: %s: %w", op, err)
	}
	switch e.Response.StatusCode {
	case http.StatusNotFound, http.StatusForbidden, http.StatusGone, http.StatusUnavailableForLegalReasons:
		return fmt.Errorf("hub: %s: %w (%w)", op, librarian.ErrNotFound, err)
	}
	return fmt.Errorf("hub: %s: %w", op, err)
}

func errNoApp(op string) error {
	return fmt.Errorf("hub: %s: there is no App: this is the terminal", op)
}
