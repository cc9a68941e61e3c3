package run

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/model"
)

const stopped = "A person asked for it."

const interrupted = "This run was interrupted twice by a restart of the server and was given up. Ask again, or reply with `retry`."

// hinted is an error that knows what to try next, as checkout's do.
type hinted interface {
	error
	Hint() string
}

// wordsFor turns an error into the sentence that the asker reads. Whatever is not known to be fit for people becomes a
// plain sentence; the cause is in the log under the run's id.
func wordsFor(err error) string {
	if m, ok := librarian.UserMessage(err); ok {
		return m
	}
	if h, ok := errors.AsType[hinted](err); ok {
		return h.Error() + ". " + h.Hint()
	}
	if m, ok := errors.AsType[*model.Error](err); ok {
		switch m.Kind {
		case model.ErrAuth:
			return "The model's provider refused the configured key. An administrator has to look at the model settings."
		case model.ErrRateLimited, model.ErrOverloaded:
			return "The model's provider is overloaded. Ask again in a few minutes."
		case model.ErrTooLong:
			return "The question with its context does not fit the model's context window. Ask a narrower question."
		case model.ErrNetwork:
			return "The model's provider could not be reached. Ask again in a few minutes."
		case model.ErrInvalid:
			return "The model's provider refused the request. An administrator finds the reason in the log."
		}
	}
	if limit, ok := errors.AsType[*librarian.RateLimitError](err); ok {
		return fmt.Sprintf("GitHub's rate limit was reached; it can be tried again in %d seconds.", int(math.Ceil(limit.After.Seconds())))
	}
	if errors.Is(err, librarian.ErrNotFound) {
		return "This repository was not found, or may not be read from here."
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "Something took too long and was given up. Ask again, or ask something narrower."
	}
	return "Something broke on librarian's side. It was logged under this run's id; asking again may help."
}

// errAskLater marks a failure before anything was spent: GitHub could not be asked, so the run waits.
type errAskLater struct{ err error }

func (e *errAskLater) Error() string { return "run: " + e.err.Error() }
func (e *errAskLater) Unwrap() error { return e.err }

// retryable reports whether a run without an outcome should be taken up again later.
func retryable(err error) bool {
	var later *errAskLater
	return errors.As(err, &later)
}
