package librarian

import (
	"errors"
	"fmt"
	"time"
)

// UserError is a failure with a sentence that may be shown to the asker. Err, its cause, is for the log only.
type UserError struct {
	Message string
	Err     error
}

// Error is for logs; people are shown Message alone.
func (e *UserError) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *UserError) Unwrap() error { return e.Err }

// UserMessage finds the sentence for people in err; ok is false where there is none.
func UserMessage(err error) (message string, ok bool) {
	if u, ok := errors.AsType[*UserError](err); ok {
		return u.Message, true
	}
	return "", false
}

// ErrRunNotFound is the one answer for a run that is unknown, was forgotten, or may not be seen by who asks.
var ErrRunNotFound = errors.New("librarian: run not found")

// RunNotFound is ErrRunNotFound in the words that are shown.
func RunNotFound(id RunID) error {
	return &UserError{Message: "Run not found: " + string(id) + ". It may have been deleted; start a new run.", Err: ErrRunNotFound}
}

// What GitHub can answer, told apart for whoever decides whether to try again. hub and comment wrap these.
var (
	// ErrNotFound is a repository, thread, comment or installation that does not exist or may not be seen: one error,
	// because the two must read the same.
	ErrNotFound = errors.New("librarian: not found")

	// ErrCannotPost is a thread that takes no more comments: locked, archived, deleted, or out of the App's reach.
	ErrCannotPost = errors.New("librarian: cannot post here")

	// ErrTooLong is a comment that GitHub refuses for its length: make it shorter and post again.
	ErrTooLong = errors.New("librarian: comment is too long")
)

// RateLimitError says that GitHub asked to wait, or that our own write budget does. It is made for rate limits only, so
// that whoever finds one may name the time.
type RateLimitError struct {
	After time.Duration // from now; above 0
	Told  bool          // GitHub named the time; otherwise it is our guess
	Err   error         // what was answered; may be nil
}

// Error is for logs.
func (e *RateLimitError) Error() string {
	s := fmt.Sprintf("rate limit: retry after %d s", int64((e.After+time.Second-1)/time.Second))
	if e.Err == nil {
		return s
	}
	return s + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *RateLimitError) Unwrap() error { return e.Err }

// RetryAfter is how long to wait.
func (e *RateLimitError) RetryAfter() time.Duration { return e.After }
