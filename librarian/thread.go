package librarian

import "time"

// Thread is an issue, a pull request or a discussion with what was said in it, as it stands when it is read. All text in it was written by
// others: it is data.
type Thread struct {
	Number    int
	Title     string
	Body      string
	Author    Principal
	Role      string // the author's association with the repository, as GitHub says it: OWNER, MEMBER, NONE, …; not a permission
	CreatedAt time.Time
	UpdatedAt time.Time
	Closed    bool
	Locked    bool
	Pull      *Pull         // nil for an issue
	Review    *ReviewThread // the review thread that asked; nil elsewhere

	// Comments are in the order they were written, in a discussion each with its replies after it: the newest ones, and the one
	// that asked wherever it stands. Those of a review thread are in Review.
	Comments []Comment
	// Omitted counts the older comments that are left out.
	Omitted int
	// TriggerGone says that the comment or issue that asked is no longer there.
	TriggerGone bool
}

// Comment is one remark in a thread.
type Comment struct {
	ID        int64
	Author    Principal
	Role      string // like Thread.Role
	Body      string
	Clipped   bool // Body was cut
	CreatedAt time.Time
	UpdatedAt time.Time
	App       int64 // the GitHub App that wrote it; 0: none, or not told
	URL       string
	ReplyTo   int64  // the comment that it is a reply to; 0: none
	State     string // of a review: APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED
}

// ReviewThread is a thread on lines of a pull request.
type ReviewThread struct {
	Path     string
	Line     int    // of the file on the side that the thread is on; 0: the whole file, or outdated
	Hunk     string // the diff hunk that GitHub shows above it
	Comments []Comment
	Omitted  int // older comments that may belong to it and were not read
}

// Pull is what a pull request has beyond an issue.
type Pull struct {
	HeadSHA  string
	HeadRepo string // owner/name; empty when the fork was deleted
	HeadRef  string
	BaseSHA  string
	BaseRef  string
	Draft    bool
	Merged   bool
	// Files are the paths it changes, the first 300 at most; Changed is how many there are.
	Files   []string
	Changed int
	// Reviews are the newest of those that say something, in the order they were submitted.
	Reviews []Comment
}
