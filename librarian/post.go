package librarian

import "time"

// Reaction is a mark on the comment or issue that asked; at most one of ours stands there when a run has ended.
type Reaction string

// The reactions we use, by GitHub's names.
const (
	ReactionEyes     Reaction = "eyes"     // 👀 being worked on
	ReactionRocket   Reaction = "rocket"   // 🚀 answered
	ReactionConfused Reaction = "confused" // 😕 declined or failed
	ReactionNone     Reaction = ""         // none of ours: what was asked is no longer a question
)

// The roles of our comments.
const (
	RoleProgress = "progress"
	RoleAnswer   = "answer"
	RoleRefusal  = "refusal"
)

// Post is one comment of a run, to be there once however often it is posted: run, role and part tell it from others.
type Post struct {
	Run  RunID
	Role string // one of the Role constants, or another word of letters, digits and hyphens
	Part int    // from 1; 0 means 1
	Of   int    // number of parts; 0 means 1
	Body string // Markdown, ready to be posted, at most 65,000 UTF-16 units

	// Known is the id of this comment if it was recorded; 0: look for it.
	Known int64
	// Ends says that the run ends with this comment, whatever its role: it goes before progress.
	Ends bool
	// Since is when the run began: comments that were last changed before are not looked at. Zero: all are.
	Since time.Time
}

// Write is one change that was made, or was about to be made, on GitHub: what its limits count.
type Write struct {
	At   time.Time
	Kind string // what it was for, as package comment names it
}
