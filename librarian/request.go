package librarian

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// GhostLogin is how GitHub shows a deleted account. A payload's null user becomes a [Principal] of this login with id 0,
// which matches no allow-list and has no permission.
const GhostLogin = "ghost"

// Principal is who asks, by user id; the login is for people.
type Principal struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Bot   bool   `json:"bot,omitempty"`
	Local bool   `json:"local,omitempty"` // the person at the terminal; never set by handlers
	// Repository says that nobody asked: the place's own repository did, by a configured event. ID is 0 then, and Login the
	// repository's name.
	Repository bool `json:"repository,omitempty"`
}

// PlaceKind is the kind of thread a question was asked in.
type PlaceKind string

// The places a question can come from. Each names the object the answer goes to.
const (
	PlaceIssue      PlaceKind = "issue"
	PlacePull       PlaceKind = "pull_request"
	PlaceReview     PlaceKind = "review_comment" // a review thread of a pull request; answered in it
	PlaceDiscussion PlaceKind = "discussion"
	PlaceCommit     PlaceKind = "commit" // answered by a check run on Place.SHA
	PlaceTerminal   PlaceKind = "terminal"
)

// TriggerKind is the kind of object that carries the question.
type TriggerKind string

// What can carry a question. Together with the object's id it says what to react to.
const (
	TriggerIssueBody         TriggerKind = "issue"                       // also a pull request's body
	TriggerIssueComment      TriggerKind = "issue_comment"               // also on a pull request
	TriggerReviewBody        TriggerKind = "pull_request_review"         // reactions by node id only
	TriggerReviewComment     TriggerKind = "pull_request_review_comment" //
	TriggerDiscussionBody    TriggerKind = "discussion"                  // reactions by node id only
	TriggerDiscussionComment TriggerKind = "discussion_comment"          // likewise
	TriggerLabel             TriggerKind = "label"                       // on an issue or pull request: TriggerID is its id
	TriggerEvent             TriggerKind = "event"                       // configured; likewise
	TriggerDispatch          TriggerKind = "repository_dispatch"         // nothing to react to
	TriggerTerminal          TriggerKind = "terminal"
)

// Place is where a question was asked and, with it, the only place the answer can go. It is fixed when the request is made;
// nothing later in a run may change it.
type Place struct {
	Kind         PlaceKind   `json:"kind"`
	Repo         RepoID      `json:"repo,omitempty"`
	RepoName     RepoName    `json:"repo_name"`
	Visibility   Visibility  `json:"visibility,omitempty"` // as the delivery said; checked anew before it matters
	Host         string      `json:"host,omitempty"`
	Installation int64       `json:"installation,omitempty"`
	Number       int         `json:"number,omitempty"` // of the issue, pull request or discussion
	Title        string      `json:"title,omitempty"`  // of the thread, at the time of asking
	Trigger      TriggerKind `json:"trigger"`
	TriggerID    int64       `json:"trigger_id,omitempty"` // id of the comment, of the issue, …; of a dispatch a number made of its delivery's id

	// Of a review thread: its first comment, to which answers are replies, and what it is about. In a discussion, Root is the
	// comment that the trigger is a reply to; deliveries tell its number and not its node.
	Root int64  `json:"root,omitempty"`
	Path string `json:"path,omitempty"`
	Line int    `json:"line,omitempty"` // of the file on the side that the comment is on; 0: the whole file, or outdated
	Hunk string `json:"hunk,omitempty"` // the diff hunk that GitHub shows above the comment
	// Review is the id of the review that a review's comment came with.
	Review int64 `json:"review,omitempty"`
	// SHA is the head of a pull request when it was asked, or the commit of a PlaceCommit; empty there: the default
	// branch's head.
	SHA string `json:"sha,omitempty"`
	// ThreadNode and TriggerNode are GraphQL ids, for what REST cannot do: a discussion, and what to react to in it or on
	// a review.
	ThreadNode  string `json:"thread_node,omitempty"`
	TriggerNode string `json:"trigger_node,omitempty"`
	// ReplyTo is the GraphQL id of the discussion comment that answers are replies to; empty: the answer stands by itself.
	// Where Root is set it is itself a reply, to which GitHub takes none: they go to the comment above it.
	ReplyTo string `json:"reply_to,omitempty"`
}

// RequestKind says how a request is worked.
type RequestKind string

// A question starts a research run; a command is answered by the host alone.
const (
	KindQuestion RequestKind = "question"
	KindCommand  RequestKind = "command"
)

// The commands that nobody can say.
const (
	CommandWithdraw = "withdraw" // what the deletion of a question stands for
	CommandRetract  = "retract"  // what an edit stands for that takes the mention out of a question; Question tells two of them apart
	CommandFault    = "fault"    // a request that cannot be understood: Question tells the sender why
)

// Limits of a request.
const (
	MaxQuestion = 16_000 // characters of a question that reach the agent; the rest is cut with a note
	MaxScope    = 20     // suggested repositories, and owners
)

// Request is one question, or one command, as it was asked.
type Request struct {
	Kind      RequestKind `json:"kind"`
	Question  string      `json:"question"`          // for a command: its arguments
	Command   string      `json:"command,omitempty"` // "help", "stop", …; for KindCommand
	Quoted    string      `json:"quoted,omitempty"`  // text the asker quoted after the mention: context, not the question
	Principal Principal   `json:"principal"`
	Place     Place       `json:"place"`
	Repos     []string    `json:"repos,omitempty"`  // where to start looking, never a permission; owner/name
	Owners    []string    `json:"owners,omitempty"` // likewise
	Continue  RunID       `json:"continue,omitempty"`
	Answer    RunID       `json:"answer,omitempty"` // whose answer the asker quoted: continued, if it may be
	Model     string      `json:"model,omitempty"`  // empty: the configured one
	AskedAt   time.Time   `json:"asked_at"`
	// Edited is when an edit put the mention in, as far as GitHub tells; zero: it was there from the start. A mention that was
	// taken out and is put in again asks again, also by the same words.
	Edited time.Time `json:"edited,omitzero"`
}

// Key is what makes two requests the same one: the repository, the kind and id of the object that asks, and its text.
// A second delivery of the same comment has the same key; an edited comment has another, and so has each edit that asks.
func (r Request) Key() string {
	text := string(r.Kind) + "\x00" + r.Command + "\x00" + r.Question + "\x00" + r.Quoted
	if !r.Edited.IsZero() {
		text += "\x00" + r.Edited.UTC().Format(time.RFC3339Nano)
	}
	h := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%s/%s/%d/%s", r.Place.Repo, r.Place.Trigger, r.Place.TriggerID, hex.EncodeToString(h[:16]))
}

// Delivery is one webhook delivery: GitHub's id of it, and its event type.
type Delivery struct {
	ID    string // X-GitHub-Delivery
	Event string // X-GitHub-Event
}
