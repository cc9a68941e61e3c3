package store

import (
	"errors"
	"fmt"

	"github.com/librarian-app/librarian/librarian"
)

// ErrLeaseLost says that the lease is not, or no longer, held by who says so.
var ErrLeaseLost = errors.New("store: the lease is held by somebody else, or ran out")

// ErrAttemptsSpent says that a request was begun [librarian.MaxAttempts] times already.
var ErrAttemptsSpent = errors.New("store: all attempts at this request are spent")

// StateError is a change of state that came too late: somebody else changed it before.
type StateError struct {
	Run librarian.RunID
	Got librarian.State // the state the run is in
	To  librarian.State // the state it was to get
}

func (e *StateError) Error() string {
	return fmt.Sprintf("store: run %s is %s and cannot become %s", e.Run, e.Got, e.To)
}

// LockedError says that another process serves from the data directory.
type LockedError struct{ Dir string }

func (e *LockedError) Error() string {
	return fmt.Sprintf("store: another librarian serves from %s", e.Dir)
}

// TooLargeError is an event that is over a limit of the log.
type TooLargeError struct {
	Run  librarian.RunID
	What string
}

func (e *TooLargeError) Error() string { return fmt.Sprintf("store: run %s: %s", e.Run, e.What) }
