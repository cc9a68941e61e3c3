package librarian

import "errors"

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
	var u *UserError
	if errors.As(err, &u) {
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
