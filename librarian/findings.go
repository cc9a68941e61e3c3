package librarian

import "time"

// Location is a claim about lines of a file at a commit. Start and End count from 1, inclusive, as GitHub counts lines;
// Start 0 is the whole file.
type Location struct {
	Repo  RepoID `json:"repo"`
	Name  string `json:"name"` // owner/name when it was read
	SHA   string `json:"sha"`  // full
	Path  string `json:"path"`
	Start int    `json:"start,omitempty"`
	End   int    `json:"end,omitempty"`
	Note  string `json:"note,omitempty"`
	// Web is the repository's page that links are built on; empty for a repository that is not on the configured
	// GitHub host, which is then shown as path:lines@sha.
	Web string `json:"web,omitempty"`
	// Private says that the repository was not public when it was read.
	Private bool `json:"private,omitempty"`
}

// Findings is the answer of a run. Every location was checked against what was read and against the tree.
type Findings struct {
	Summary     string     `json:"summary"`
	Locations   []Location `json:"locations"`
	Description string     `json:"description,omitempty"`
	// References are the places that summary and description mention in prose as path:line and that were found to be
	// right; the host turns them into links.
	References []Location `json:"references,omitempty"`
	// Dropped counts references that could not be verified and were left out.
	Dropped int `json:"dropped,omitempty"`
}

// Usage is what a run spent. Tokens are counted as the provider counts them; Cost is in US dollars, nil where no price
// is known.
type Usage struct {
	InputTokens      int64    `json:"input_tokens,omitempty"` // not from the cache
	CacheReadTokens  int64    `json:"cache_read_tokens,omitempty"`
	CacheWriteTokens int64    `json:"cache_write_tokens,omitempty"`
	OutputTokens     int64    `json:"output_tokens,omitempty"`
	Cost             *float64 `json:"cost,omitempty"`
}

// OutcomeKind says how a run ended.
type OutcomeKind string

// The ends of a run.
const (
	OutcomeFound       OutcomeKind = "found"       // findings were provided and verified
	OutcomeLimit       OutcomeKind = "limit"       // a limit was reached; the host built the answer from what was read
	OutcomeFailed      OutcomeKind = "failed"      // Message says why
	OutcomeCancelled   OutcomeKind = "cancelled"   // stopped by a person
	OutcomeDeclined    OutcomeKind = "declined"    // not admitted; Message may be empty: then a reaction is all
	OutcomeInterrupted OutcomeKind = "interrupted" // the process died under it too often
)

// Outcome is the verified end of a run, kept in its log so that posting can be retried without researching again.
type Outcome struct {
	Kind     OutcomeKind   `json:"kind"`
	Findings *Findings     `json:"findings,omitempty"`
	Message  string        `json:"message,omitempty"`   // fit to be posted
	Reason   string        `json:"reason,omitempty"`    // of a refusal, for the log
	Silent   bool          `json:"silent,omitempty"`    // nothing at all is to be seen of it
	LastText string        `json:"last_text,omitempty"` // the model's last words, where a run failed without findings
	Model    string        `json:"model"`
	Thinking string        `json:"thinking,omitempty"`
	Usage    Usage         `json:"usage"`
	Calls    int           `json:"calls"` // tool calls
	Took     time.Duration `json:"took"`
}
