package librarian

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"
)

// RunID is a random UUID (version 4, RFC 9562), shown to people so that a run can be continued.
type RunID string

// NewRunID makes a run id from the system's random source.
func NewRunID() RunID {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return RunID(fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16]))
}

// ParseRunID accepts exactly the form that NewRunID makes, in any case.
func ParseRunID(s string) (RunID, error) {
	if len(s) != 36 {
		return "", fmt.Errorf("%q is not a run id", clip(s, 60))
	}
	b := []byte(s)
	for i, c := range b {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return "", fmt.Errorf("%q is not a run id", s)
			}
		case c >= '0' && c <= '9' || c >= 'a' && c <= 'f':
		case c >= 'A' && c <= 'F':
			b[i] = c + 'a' - 'A'
		default:
			return "", fmt.Errorf("%q is not a run id", s)
		}
	}
	return RunID(b), nil
}

// State is how far a run has come. Each step can be entered again after a crash.
type State string

// The states of a run, in order; the last five are final.
const (
	StateQueued      State = "queued"      // written, not yet taken by a worker
	StateRunning     State = "running"     // admitted and being researched
	StateVerified    State = "verified"    // its outcome is in the log; to be posted
	StatePublished   State = "published"   // the answer was posted
	StateFailed      State = "failed"      // the failure was told
	StateCancelled   State = "cancelled"   // somebody stopped it
	StateDeclined    State = "declined"    // not admitted
	StateInterrupted State = "interrupted" // the process died twice under it; told
)

// Final reports whether nothing more will happen to a run in this state.
func (s State) Final() bool {
	switch s {
	case StatePublished, StateFailed, StateCancelled, StateDeclined, StateInterrupted:
		return true
	}
	return false
}

// MaxAttempts is how often one run is begun: once, and once more after a crash.
const MaxAttempts = 2

// Run is the durable execution of one request. What happened in it is in its events.
type Run struct {
	ID              RunID
	Request         Request
	State           State
	Attempt         int // how often a worker began it
	CancelRequested bool
	CreatedAt       time.Time
	UpdatedAt       time.Time
}

// EventKind names what an [Event] records.
type EventKind string

// The events of a run's log. Data is JSON of the type named beside each.
const (
	EventAdmitted  EventKind = "admitted"   // AdmittedData
	EventDeclined  EventKind = "declined"   // DeclinedData
	EventMessage   EventKind = "message"    // a model.Message
	EventToolStart EventKind = "tool_start" // ToolStartData
	EventToolEnd   EventKind = "tool_end"   // ToolEndData
	EventOutcome   EventKind = "outcome"    // Outcome
	EventPosted    EventKind = "posted"     // PostedData
	EventOpened    EventKind = "opened"     // OpenedData
	EventVotes     EventKind = "votes"      // VotesData
	EventNote      EventKind = "note"       // NoteData: something an operator wants to find in the log
)

// Event is one entry of a run's append-only log. Seq counts from 1 without gaps.
type Event struct {
	Run     RunID
	Seq     int64
	At      time.Time
	Attempt int
	Kind    EventKind
	Data    json.RawMessage
}

// AdmittedData says what a run was allowed to do.
type AdmittedData struct {
	Repo  Repo   `json:"repo"`
	Model string `json:"model"`
	// Continues is the run that this one goes on from, though its request does not name it.
	Continues RunID `json:"continues,omitempty"`
}

// OpenedData is a repository that the run came to know something of, beside its thread's own.
type OpenedData struct {
	Repo RepoID `json:"repo"`
}

// ToolStartData marks a tool call that began.
type ToolStartData struct {
	CallID  string `json:"call_id"`
	Tool    string `json:"tool"`
	Verb    string `json:"verb"`
	Subject string `json:"subject"`
}

// Evidence is a range of lines of a file at a commit that was really shown to the model. Lines count from 1, inclusive;
// Start 0 says that the file was shown without lines (a symbolic link, a binary).
type Evidence struct {
	Repo  RepoID `json:"repo"`
	Name  string `json:"name"` // owner/name then, for people
	SHA   string `json:"sha"`
	Path  string `json:"path"`
	Start int    `json:"start,omitempty"`
	End   int    `json:"end,omitempty"`
}

// ToolEndData is a tool call that ended, with what it showed.
type ToolEndData struct {
	CallID   string        `json:"call_id"`
	Tool     string        `json:"tool"`
	Verb     string        `json:"verb"`
	Subject  string        `json:"subject"`
	Summary  string        `json:"summary,omitempty"` // for a failed call its error
	IsError  bool          `json:"is_error,omitempty"`
	Took     time.Duration `json:"took"`
	Evidence []Evidence    `json:"evidence,omitempty"`
}

// PostedData is a comment of ours. It is written after the comment was made; to find one that was made just before a
// crash, the poster looks for its own author id and the run's id.
type PostedData struct {
	Role    string `json:"role"` // "progress" or "answer"
	Part    int    `json:"part"` // from 1
	Comment int64  `json:"comment"`
	URL     string `json:"url,omitempty"`
	Deleted bool   `json:"deleted,omitempty"`
	Last    bool   `json:"last,omitempty"` // with it all parts are there
	// Faults stands for the faults of settings files that the comment tells; empty: none.
	Faults string `json:"faults,omitempty"`
}

// VotesData is what readers thought of the answer when somebody last looked.
type VotesData struct {
	Up   int `json:"up"`   // 👍
	Down int `json:"down"` // 👎
}

// NoteData is a remark in the log.
type NoteData struct {
	Text string `json:"text"`
}
