// Package modeltest holds models for tests: one that plays a script and fails on a call nobody expected.
package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/librarian-app/librarian/librarian/model"
)

// Turn is one turn of the script. A function sees the call and may inspect it or wait; it is what a test hooks into.
type Turn func(ctx context.Context, call model.Call) (model.Reply, error)

// Scripted plays its turns in order. A call after the last one is an error, and so is a script that was not played to its
// end when [Scripted.Done] is asked.
type Scripted struct {
	name  string
	mu    sync.Mutex
	turns []Turn
	next  int
	calls []model.Call
}

// New makes a scripted model.
func New(turns ...Turn) *Scripted { return &Scripted{name: "test/scripted", turns: turns} }

// Name implements model.Model.
func (s *Scripted) Name() string { return s.name }

// Generate implements model.Model.
func (s *Scripted) Generate(ctx context.Context, call model.Call) (model.Reply, error) {
	if err := check(call); err != nil {
		return model.Reply{}, err
	}
	s.mu.Lock()
	s.calls = append(s.calls, call)
	if s.next >= len(s.turns) {
		s.mu.Unlock()
		return model.Reply{}, fmt.Errorf("modeltest: unexpected call %d; the script has %d turns", s.next+1, len(s.turns))
	}
	t := s.turns[s.next]
	s.next++
	s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return model.Reply{}, err
	}
	return t(ctx, call)
}

// Calls lists what the model was asked so far.
func (s *Scripted) Calls() []model.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]model.Call(nil), s.calls...)
}

// Done is an error while turns are left.
func (s *Scripted) Done() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next < len(s.turns) {
		return fmt.Errorf("modeltest: %d of %d turns were played", s.next, len(s.turns))
	}
	return nil
}

// check refuses what providers refuse: an empty conversation, one that does not begin and end with the user, a tool call
// that is not answered by the next message.
func check(call model.Call) error {
	if len(call.Messages) == 0 || call.Messages[0].Role != model.User || call.Messages[len(call.Messages)-1].Role != model.User {
		return fmt.Errorf("modeltest: a conversation begins and ends with the user's message")
	}
	for i, m := range call.Messages {
		want := map[string]bool{}
		for _, c := range m.Calls() {
			want[c.CallID] = true
		}
		if len(want) == 0 {
			continue
		}
		if i+1 == len(call.Messages) {
			return fmt.Errorf("modeltest: tool calls of message %d are unanswered", i)
		}
		for _, p := range call.Messages[i+1].Parts {
			if p.Kind == model.ToolResult {
				delete(want, p.CallID)
			}
		}
		if len(want) > 0 {
			return fmt.Errorf("modeltest: %d tool calls of message %d are unanswered", len(want), i)
		}
	}
	return nil
}

// Say is a turn of text without tool calls.
func Say(text string) Turn {
	return func(context.Context, model.Call) (model.Reply, error) {
		return reply(model.StopEnd, model.Part{Kind: model.Text, Text: text}), nil
	}
}

// Use is one tool call for [Calls].
type Use struct {
	Tool string
	Args any // marshalled to JSON; a json.RawMessage stays as it is
}

// Call is a turn that calls tools, all at once.
func Call(uses ...Use) Turn {
	return func(_ context.Context, c model.Call) (model.Reply, error) {
		parts := make([]model.Part, len(uses))
		for i, u := range uses {
			args, err := json.Marshal(u.Args)
			if err != nil {
				return model.Reply{}, fmt.Errorf("modeltest: arguments of %s: %w", u.Tool, err)
			}
			parts[i] = model.Part{Kind: model.ToolCall, CallID: fmt.Sprintf("c%d_%d", len(c.Messages), i), Tool: u.Tool, Args: args}
		}
		return reply(model.StopTools, parts...), nil
	}
}

// Parse reads a turn that is written as text: each line is a tool call, "name {arguments as JSON}", or "> text" that the
// model says beside its calls. Blank lines count for nothing.
func Parse(text string) (Turn, error) {
	var uses []Use
	var said []model.Part
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, args, _ := strings.Cut(line, " ")
		switch {
		case line == "":
		case name == ">":
			said = append(said, model.Part{Kind: model.Text, Text: args})
		case !json.Valid([]byte(args)):
			return nil, fmt.Errorf("modeltest: a turn's line must be \"> text\" or \"tool {json}\": %s", line)
		default:
			uses = append(uses, Use{Tool: name, Args: json.RawMessage(args)})
		}
	}
	call := Call(uses...)
	return func(ctx context.Context, c model.Call) (model.Reply, error) {
		r, err := call(ctx, c)
		r.Message.Parts = append(slices.Clip(said), r.Message.Parts...)
		if len(uses) == 0 {
			r.Stop = model.StopEnd
		}
		return r, err
	}, nil
}

// Fail is a turn that fails.
func Fail(err error) Turn {
	return func(context.Context, model.Call) (model.Reply, error) { return model.Reply{}, err }
}

// Hang is a turn that lasts until its context ends.
func Hang(started chan<- struct{}) Turn {
	return func(ctx context.Context, _ model.Call) (model.Reply, error) {
		if started != nil {
			close(started)
		}
		<-ctx.Done()
		return model.Reply{}, ctx.Err()
	}
}

func reply(stop model.Stop, parts ...model.Part) model.Reply {
	return model.Reply{
		Message: model.Message{V: model.Version, Role: model.Assistant, Parts: parts, Provider: "test"},
		Stop:    stop, Usage: model.Usage{Input: 100, Output: 10},
	}
}
