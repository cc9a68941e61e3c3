package checkout

import (
	"fmt"
	"strings"
	"time"
)

// The errors of this package that a person can do something about. Each one's
// Error is a sentence for people, without secrets; its Hint says what to try
// next and may be empty. Everything else that comes back is a fault of the
// machine or of this program.

// RefError says that a ref is malformed, not there, or does not lead to a commit.
type RefError struct {
	Repo   string // "owner/name", empty when the ref was refused before any repository was looked at
	Ref    string
	Reason string // a clause: "is not a branch, tag or commit there"
	hint   string
}

func (e *RefError) Error() string {
	if e.Repo == "" {
		return fmt.Sprintf("ref %q %s", clip(e.Ref, 100), e.Reason)
	}
	return fmt.Sprintf("%s: ref %q %s", e.Repo, clip(e.Ref, 100), e.Reason)
}

// Hint says what to try next.
func (e *RefError) Hint() string {
	if e.hint != "" {
		return e.hint
	}
	return "Leave ref out for the default branch, or name a branch, a tag, a full commit sha or refs/pull/N/head."
}

// NotFoundError says that a repository does not exist or may not be read. The
// two are never told apart.
type NotFoundError struct{ Repo string }

func (e *NotFoundError) Error() string {
	return e.Repo + " does not exist or cannot be read"
}

// Hint says what to try next.
func (e *NotFoundError) Hint() string {
	return "If the name is uncertain, resolve it with search_repos first."
}

// EmptyError says that a repository has no commits yet.
type EmptyError struct{ Repo string }

func (e *EmptyError) Error() string { return e.Repo + " is empty: it has no commits yet" }

// Hint says what to try next.
func (e *EmptyError) Hint() string { return "There is nothing to read in it." }

// BudgetError says that a limit of Budget was reached.
type BudgetError struct {
	Repo  string
	What  string // a clause: "needs more than 1.0 GiB to fetch"
	Limit int64  // the limit, in the unit that What names
	hint  string
}

func (e *BudgetError) Error() string { return e.Repo + " " + e.What }

// Hint says what to try next.
func (e *BudgetError) Hint() string {
	if e.hint != "" {
		return e.hint
	}
	return "Read single files with read_github_file, or ask about a smaller repository."
}

// UpstreamError says that the git host could not be reached, or answered with
// something that is not git. It is worth another try later.
type UpstreamError struct {
	Repo       string
	Status     int           // HTTP status, 0 when there was no answer
	Reason     string        // a clause: "the host answered 503"
	RetryAfter time.Duration // as told by the host, 0 when it did not say
	Err        error
}

func (e *UpstreamError) Error() string { return e.Repo + " could not be fetched: " + e.Reason }

// Unwrap gives the cause, if there is one.
func (e *UpstreamError) Unwrap() error { return e.Err }

// Hint says what to try next.
func (e *UpstreamError) Hint() string {
	return "The host may be down or busy; try once more, else say so in the findings."
}

// RefusedError says that a repository is of a kind that is not served: a host
// that is not allowed, an object format that is not known, or content that is
// malformed in a way that matters.
type RefusedError struct {
	Repo   string
	Reason string // a clause: "uses SHA-256 object names, which are not supported"
}

func (e *RefusedError) Error() string { return e.Repo + " " + e.Reason }

// Hint says what to try next.
func (e *RefusedError) Hint() string { return "Report it in the findings; trying again will not help." }

// PathError says that a path is not in a tree, or is not of the kind asked for.
type PathError struct {
	Repo, Path, SHA string
	Reason          string   // a clause: "not found", "is a directory"
	Near            []string // paths of the tree that look like it, best first
}

func (e *PathError) Error() string {
	return fmt.Sprintf("%s:%s %s at %.7s (check the path and ref).", e.Repo, e.Path, e.Reason, e.SHA)
}

// Hint names paths that look like the one asked for.
func (e *PathError) Hint() string {
	if len(e.Near) == 0 {
		return ""
	}
	return "Did you mean " + strings.Join(e.Near, " or ") + "?"
}

// clip shortens s to at most n bytes for an error text.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "…"
}
