package comment

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-github/v66/github"

	"github.com/librarian-app/librarian/librarian"
)

// failed names the operation and classifies what GitHub answered to it. It gives nil for nil.
func failed(op string, err error) error {
	if err == nil {
		return nil
	}
	if kind := classify(err); kind != nil && !errors.Is(err, kind) {
		return fmt.Errorf("comment: %s: %w (%w)", op, kind, err)
	}
	return fmt.Errorf("comment: %s: %w", op, err)
}

func classify(err error) error {
	if g, ok := errors.AsType[*graphError](err); ok {
		if g.kind == "NOT_FOUND" || g.kind == "FORBIDDEN" {
			return librarian.ErrCannotPost
		}
		return refused(g.message)
	}
	e, ok := errors.AsType[*github.ErrorResponse](err)
	if !ok || e.Response == nil {
		return nil
	}
	switch e.Response.StatusCode {
	case http.StatusForbidden, http.StatusNotFound, http.StatusGone, http.StatusUnavailableForLegalReasons:
		return librarian.ErrCannotPost
	case http.StatusUnprocessableEntity:
		return refused(said(e))
	}
	return nil
}

// refused reads why GitHub does not take a comment: "Body is too long (maximum is 65536 characters)", "Unable to create comment
// because issue is locked.", "Repository was archived so is read-only.",
// "No commit found for SHA: …".
func refused(why string) error {
	why = strings.ToLower(why)
	switch {
	case strings.Contains(why, "too long"):
		return librarian.ErrTooLong
	case strings.Contains(why, "is locked"), strings.Contains(why, "archived"), strings.Contains(why, "no commit found"):
		return librarian.ErrCannotPost
	}
	return nil
}

// said is the message of an answer with those of its errors.
func said(e *github.ErrorResponse) string {
	var all strings.Builder
	all.WriteString(e.Message)
	for _, one := range e.Errors {
		all.WriteString("\n" + one.Message)
	}
	return all.String()
}

// status is the HTTP status that GitHub answered with; 0 where it did not answer.
func status(err error) int {
	if e, ok := errors.AsType[*github.ErrorResponse](err); ok && e.Response != nil {
		return e.Response.StatusCode
	}
	return 0
}

func missing(err error) bool {
	if g, ok := errors.AsType[*graphError](err); ok {
		return g.kind == "NOT_FOUND"
	}
	return status(err) == http.StatusNotFound || status(err) == http.StatusGone
}

// answered reports whether GitHub said something to a write that failed, or it was not sent: it will not come there any more.
func answered(err error) bool {
	_, limit := errors.AsType[*librarian.RateLimitError](err)
	_, graph := errors.AsType[*graphError](err)
	return limit || graph || status(err) != 0
}

// uncertain reports whether a write may have been carried out although it failed.
func uncertain(err error) bool {
	if _, ok := errors.AsType[*librarian.RateLimitError](err); ok {
		return false
	}
	if g, ok := errors.AsType[*graphError](err); ok {
		return g.kind == ""
	}
	return status(err) == 0 || status(err) >= http.StatusInternalServerError
}
