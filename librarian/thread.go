package librarian

import "time"

// Thread is an issue or pull request with its discussion, as it stands when it is read. All text in it was written by
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
	Pull      *Pull // nil for an issue

	// Comments are in the order they were written: the newest ones, and the one that asked wherever it stands.
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
	App       int64 // the GitHub App that wrote it; 0: none
	URL       string
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
}
