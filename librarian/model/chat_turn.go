package model

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/respjson"
)

// chatTurn gathers a turn from its pieces.
type chatTurn struct {
	text, refusal, thoughts strings.Builder
	field                   string // under which the thoughts came
	details                 []json.RawMessage
	calls                   []*chatCall
	finish                  string
	usage                   openai.CompletionUsage
}

type chatCall struct {
	index    int64
	id, name string
	args     strings.Builder
	extra    json.RawMessage
}

func (t *chatTurn) say(text string, on func(string)) {
	if text == "" {
		return
	}
	t.text.WriteString(text)
	if on != nil {
		on(text)
	}
}

// think reads the thoughts, for which each server has a field of its own.
func (t *chatTurn) think(extra map[string]respjson.Field) {
	for _, field := range []string{"reasoning_content", "reasoning"} {
		f, ok := extra[field]
		if !ok {
			continue
		}
		var s string
		if json.Unmarshal([]byte(f.Raw()), &s) == nil && s != "" {
			t.field = field
			t.thoughts.WriteString(s)
			break
		}
	}
	if f, ok := extra["reasoning_details"]; ok {
		var list []json.RawMessage
		if json.Unmarshal([]byte(f.Raw()), &list) == nil {
			t.details = append(t.details, list...)
		}
	}
}

// call takes a piece of a tool call. Pieces belong together by their index; some servers number every call 0 or not at
// all, but then each begins with its own id.
func (t *chatTurn) call(numbered bool, index int64, id, name, args, raw string) {
	var c *chatCall
	for _, have := range t.calls {
		if have.index == index && numbered {
			c = have
		}
	}
	if !numbered && len(t.calls) > 0 && (id == "" || id == t.calls[len(t.calls)-1].id) {
		c = t.calls[len(t.calls)-1]
	}
	if c == nil || id != "" && c.id != "" && id != c.id {
		if c != nil {
			c.index = -1 // finished: what follows under this index is the new one's
		}
		c = &chatCall{index: index}
		t.calls = append(t.calls, c)
	}
	if c.id == "" {
		c.id = id
	}
	if c.name == "" {
		c.name = name
	}
	c.args.WriteString(args)
	var more struct {
		Extra json.RawMessage `json:"extra_content"` // Gemini's signature of a thought; it wants it back
	}
	if json.Unmarshal([]byte(raw), &more) == nil && len(more.Extra) > 0 {
		c.extra = more.Extra
	}
}

// thoughtExtra is how thoughts go back to the server that had them.
type thoughtExtra struct {
	Field   string            `json:"field,omitempty"`
	Details []json.RawMessage `json:"details,omitempty"`
}

func (t *chatTurn) reply() (Reply, error) {
	if t.finish == "" {
		return Reply{}, &failure{e: &Error{Kind: ErrNetwork, Message: "the stream broke off", Err: errCut}, retry: true}
	}
	r := Reply{Usage: Usage{CacheRead: t.usage.PromptTokensDetails.CachedTokens, Output: t.usage.CompletionTokens}}
	r.Usage.Input = max(t.usage.PromptTokens-r.Usage.CacheRead, 0)
	if t.thoughts.Len() > 0 || len(t.details) > 0 {
		extra, err := json.Marshal(thoughtExtra{Field: t.field, Details: t.details})
		if err != nil {
			return Reply{}, err
		}
		r.Message.Parts = append(r.Message.Parts, Part{Kind: Thinking, Text: t.thoughts.String(), Extra: extra})
	}
	if t.text.Len() > 0 {
		r.Message.Parts = append(r.Message.Parts, Part{Kind: Text, Text: t.text.String()})
	}
	seen := map[string]bool{}
	for i, c := range t.calls {
		if c.id == "" || seen[c.id] { // an id of its own is what the results are matched by
			c.id = fmt.Sprintf("call_%d_%s", i+1, c.name)
		}
		seen[c.id] = true
		p := Part{Kind: ToolCall, CallID: c.id, Tool: c.name, Extra: c.extra}
		p.Args, p.BadArgs = splitArgs(c.args.String())
		r.Message.Parts = append(r.Message.Parts, p)
	}
	switch {
	case t.finish == "length":
		r.Stop = StopMaxOutput
	case t.finish == "content_filter" || t.refusal.Len() > 0:
		r.Stop = StopRefusal
		if t.refusal.Len() > 0 {
			r.Message.Parts = append(r.Message.Parts, Part{Kind: Text, Text: t.refusal.String()})
		}
	case t.finish == "error":
		return Reply{}, &failure{e: &Error{Kind: ErrOverloaded, Message: "the provider broke off with an error"}, retry: true}
	case len(t.calls) > 0: // some servers say "stop"
		r.Stop = StopTools
	default:
		r.Stop = StopEnd
	}
	return r, nil
}
