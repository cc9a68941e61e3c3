// Package model is the language model as librarian sees it: a small interface, messages that are ours, and the adapters
// to providers. builtin/scout, which needs no key, is a Model like any other. The package owns the message format that
// runs are stored in (versioned JSON) and promises that what a provider put into its own messages comes back to that
// provider unchanged.
package model

import (
	"context"
	"encoding/json"
	"fmt"

	"time"
)

// Version is the version of the message format written now. Older ones stay readable.
const Version = 1

// Role is who speaks.
type Role string

// The two speakers; a tool's results are said by the user.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// PartKind is the kind of a part of a message.
type PartKind string

// The kinds of parts.
const (
	Text       PartKind = "text"
	Thinking   PartKind = "thinking"
	ToolCall   PartKind = "call"
	ToolResult PartKind = "result"
)

// Part is a piece of a message.
type Part struct {
	Kind   PartKind        `json:"kind"`
	Text   string          `json:"text,omitempty"`    // of text, thinking, result
	CallID string          `json:"call_id,omitempty"` // of call and result
	Tool   string          `json:"tool,omitempty"`    // of call and result
	Args   json.RawMessage `json:"args,omitempty"`    // of call: the arguments as the model wrote them, if they are JSON
	// BadArgs holds a call's arguments that are not JSON; Args is then empty.
	BadArgs string `json:"bad_args,omitempty"`
	IsError bool   `json:"is_error,omitempty"` // of result
	// Data is a result for programs. No provider is sent it.
	Data json.RawMessage `json:"data,omitempty"`
	// Extra is what a provider attached (a signature, an encrypted thought), opaque, and meant for that provider only.
	Extra json.RawMessage `json:"extra,omitempty"`
}

// Message is one turn of a conversation.
type Message struct {
	V        int    `json:"v"`
	Role     Role   `json:"role"`
	Parts    []Part `json:"parts"`
	Provider string `json:"provider,omitempty"` // who wrote it and owns its Extra fields
}

// UserText makes a user's message of plain text.
func UserText(text string) Message {
	return Message{V: Version, Role: User, Parts: []Part{{Kind: Text, Text: text}}}
}

// Calls lists the tool calls of a message.
func (m Message) Calls() []Part {
	var out []Part
	for _, p := range m.Parts {
		if p.Kind == ToolCall {
			out = append(out, p)
		}
	}
	return out
}

// PlainText joins the message's text parts.
func (m Message) PlainText() string {
	out := ""
	for _, p := range m.Parts {
		if p.Kind == Text {
			if out != "" {
				out += "\n\n"
			}
			out += p.Text
		}
	}
	return out
}

// DecodeMessage reads a stored message. A version newer than this program's is an error, not a guess.
func DecodeMessage(raw []byte) (Message, error) {
	var m Message
	if err := json.Unmarshal(raw, &m); err != nil {
		return Message{}, fmt.Errorf("model: decode message: %w", err)
	}
	if m.V < 1 || m.V > Version {
		return Message{}, fmt.Errorf("model: decode message: version %d is not known here (newest: %d)", m.V, Version)
	}
	if m.Role != User && m.Role != Assistant {
		return Message{}, fmt.Errorf("model: decode message: role %q is not known", m.Role)
	}
	return m, nil
}

// ToolSpec is a tool as a model is told of it.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// Level is how much a model should think.
type Level string

// The thinking levels, least first. An adapter clamps them to what its model can do.
const (
	Off     Level = "off"
	Minimal Level = "minimal"
	Low     Level = "low"
	Medium  Level = "medium"
	High    Level = "high"
	XHigh   Level = "xhigh"
	Max     Level = "max"
)

// Levels lists all thinking levels, least first.
func Levels() []Level { return []Level{Off, Minimal, Low, Medium, High, XHigh, Max} }

// Call is one request to a model. Messages alternate and begin with the user's.
type Call struct {
	System    string
	Messages  []Message
	Tools     []ToolSpec
	Thinking  Level
	MaxOutput int          // tokens; 0: the adapter's default
	OnText    func(string) // called with pieces of text as they stream in; may be nil
	Memory    *Memory      // the conversation's; may be nil
}

// Memory is what an adapter learnt about one conversation, so that no step earns again a refusal that an earlier one got. The
// zero value is ready. It serves one call at a time.
type Memory struct {
	anthropic anthropicVariant
}

// Stop is why a model stopped.
type Stop string

// The reasons to stop.
const (
	StopEnd       Stop = "end"
	StopTools     Stop = "tools"
	StopMaxOutput Stop = "max_output"
	StopRefusal   Stop = "refusal"
)

// Usage is what one call used, in tokens.
type Usage struct {
	Input      int64 // read anew, neither from nor into the cache
	CacheRead  int64
	CacheWrite int64
	Output     int64
}

// Reply is a model's turn.
type Reply struct {
	Message Message
	Stop    Stop
	Usage   Usage
	Cost    *float64 // US dollars; nil where no price is known
}

// Model is something that can take its turn in a conversation. Generate returns early when ctx ends. Its errors are
// *Error where the provider answered.
type Model interface {
	Name() string // provider/model-id
	Generate(ctx context.Context, call Call) (Reply, error)
}

// ErrorKind tells apart what can be done about a provider's error.
type ErrorKind string

// The kinds of errors.
const (
	ErrAuth        ErrorKind = "auth"         // the key is missing, wrong, or not allowed this model
	ErrRateLimited ErrorKind = "rate_limited" // still so after the retries
	ErrOverloaded  ErrorKind = "overloaded"   // likewise
	ErrTooLong     ErrorKind = "too_long"     // the conversation does not fit the context window
	ErrInvalid     ErrorKind = "invalid"      // the provider refused the request
	ErrNetwork     ErrorKind = "network"      // no answer, or one that broke off
)

// Error is a provider's error, after the retries. Message holds no secret and may go to a log.
type Error struct {
	Kind       ErrorKind
	Status     int // HTTP status; 0: none came
	Message    string
	RetryAfter time.Duration
	Err        error
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("model: %s (HTTP %d): %s", e.Kind, e.Status, e.Message)
	}
	return fmt.Sprintf("model: %s: %s", e.Kind, e.Message)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }
