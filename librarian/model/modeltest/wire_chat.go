package modeltest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// NewChat starts a server that speaks OpenAI's Chat Completions API the way strict compatible servers do: thoughts come
// as reasoning_content and are wanted back while tools are being answered, but not later; each call carries a signature
// in extra_content that is wanted back, too.
func NewChat(t testing.TB, answers ...Answer) *Wire { return newWire(t, chatWire{}, answers) }

type chatWire struct{}

type chatRequest struct {
	Model         string            `json:"model"`
	Messages      []chatMessage     `json:"messages"`
	Tools         []json.RawMessage `json:"tools"`
	Effort        string            `json:"reasoning_effort"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	prompt int
}

type chatMessage struct {
	Role     string          `json:"role"`
	Content  json.RawMessage `json:"content"`
	CallID   string          `json:"tool_call_id"`
	Thoughts string          `json:"reasoning_content"`
	Calls    []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name string `json:"name"`
			Args string `json:"arguments"`
		} `json:"function"`
		Extra json.RawMessage `json:"extra_content"`
	} `json:"tool_calls"`
}

func (chatWire) check(w *Wire, r *http.Request, body []byte) (any, int, string) {
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions":
		return w.violation("%s %s", r.Method, r.URL.Path)
	case r.Header.Get("Authorization") != "Bearer "+Key:
		return nil, http.StatusUnauthorized, "Incorrect API key provided: sk-tes**************ghij."
	}
	if k := onlyKeys(body, "model", "messages", "tools", "stream", "stream_options", "max_tokens", "reasoning_effort"); k != "" {
		return w.violation("Unrecognized request argument supplied: %s", k)
	}
	req := &chatRequest{prompt: len(body) / 4}
	if err := json.Unmarshal(body, req); err != nil {
		return w.violation("%v", err)
	}
	if req.Model == "" || len(req.Messages) == 0 {
		return w.violation("model and messages are required")
	}
	if e := req.Effort; e != "" && e != "low" && e != "medium" && e != "high" {
		return w.violation("reasoning_effort %q", e)
	}
	for _, raw := range req.Tools {
		var tool struct {
			Type     string `json:"type"`
			Function struct {
				Name       string `json:"name"`
				Parameters struct {
					Type string `json:"type"`
				} `json:"parameters"`
			} `json:"function"`
		}
		if json.Unmarshal(raw, &tool) != nil || tool.Type != "function" || !toolName.MatchString(tool.Function.Name) || tool.Function.Parameters.Type != "object" {
			return w.violation("tools: %s", raw)
		}
	}
	return req.conversation(w)
}

func (req *chatRequest) conversation(w *Wire) (any, int, string) {
	open := map[string]bool{}
	lastUser := 0
	for i, m := range req.Messages {
		if m.Role == "user" {
			lastUser = i
		}
	}
	for i, m := range req.Messages {
		var text string
		_ = json.Unmarshal(m.Content, &text)
		if len(open) > 0 && m.Role != "tool" {
			return w.violation("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': %v", open)
		}
		switch m.Role {
		case "system":
			if i != 0 {
				return w.violation("messages[%d]: a system message in the middle", i)
			}
		case "user":
			if text == "" {
				return w.violation("messages[%d]: empty", i)
			}
		case "tool":
			if !open[m.CallID] || text == "" {
				return w.violation("messages[%d]: messages with role 'tool' must be a response to a preceding message with 'tool_calls'", i)
			}
			delete(open, m.CallID)
		case "assistant":
			if text == "" && len(m.Calls) == 0 {
				return w.violation("messages[%d]: content or tool_calls are required", i)
			}
			if i == 0 || req.Messages[i-1].Role == "assistant" {
				return w.violation("messages[%d]: the assistant speaks twice", i)
			}
			if m.Thoughts != "" && i < lastUser {
				return nil, http.StatusBadRequest, "reasoning_content of an earlier turn must not be sent"
			}
			if wanted, ok := w.issued["thoughts of "+callIDs(m)]; ok && i > lastUser && string(wanted) != m.Thoughts {
				return w.violation("messages[%d]: reasoning_content must be passed back, and as it was: %q", i, m.Thoughts)
			}
			for _, c := range m.Calls {
				if c.Type != "function" || c.ID == "" || open[c.ID] || !isObject(json.RawMessage(c.Function.Args)) {
					return w.violation("messages[%d]: tool call %+v", i, c)
				}
				if sig, ok := w.issued[c.ID]; ok && string(canonical(sig)) != string(canonical(c.Extra)) {
					return w.violation("messages[%d]: Function call is missing a thought_signature", i)
				}
				open[c.ID] = true
			}
		default:
			return w.violation("messages[%d]: role %q", i, m.Role)
		}
	}
	if len(open) > 0 {
		return w.violation("calls without an answer: %v", open)
	}
	if last := req.Messages[len(req.Messages)-1].Role; last != "user" && last != "tool" {
		return w.violation("the last message is the %s's", last)
	}
	return req, 0, ""
}

func callIDs(m chatMessage) string {
	var ids []string
	for _, c := range m.Calls {
		ids = append(ids, c.ID)
	}
	return strings.Join(ids, ",")
}

func (chatWire) fail(rw http.ResponseWriter, status int, kind, message string) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": kind}})
}

func (chatWire) failEvent(kind, message string) []byte {
	return event("", map[string]any{"error": map[string]any{"message": message, "type": kind, "code": kind}})
}

func (chatWire) answer(w *Wire, request any, a Answer) ([]byte, [][]byte) {
	req := request.(*chatRequest)
	finish := map[string]string{"length": "length", "refusal": "content_filter"}[a.Stop]
	message := map[string]any{"role": "assistant", "content": nil}
	var deltas []map[string]any
	var calls []any
	var thoughts, text string
	var ids []string
	deltas = append(deltas, map[string]any{"role": "assistant", "content": nil})
	for _, b := range a.Blocks {
		switch {
		case b.Thinking != "":
			thoughts += b.Thinking
			for _, p := range pieces(b.Thinking) {
				deltas = append(deltas, map[string]any{"reasoning_content": p})
			}
		case b.Redacted != "": // there is no such thing here
		case b.Call != "":
			extra := map[string]any{"google": map[string]any{"thought_signature": "sig of " + b.ID}}
			if isObject(json.RawMessage(b.Args)) {
				w.issued[b.ID] = encode(extra)
			}
			f := map[string]any{"name": b.Call, "arguments": b.Args}
			n := len(calls)
			calls = append(calls, map[string]any{"id": b.ID, "type": "function", "function": f, "extra_content": extra})
			ids = append(ids, b.ID)
			deltas = append(deltas, map[string]any{"tool_calls": []any{map[string]any{"index": n, "id": b.ID, "type": "function", "extra_content": extra,
				"function": map[string]any{"name": b.Call, "arguments": ""}}}})
			for _, p := range pieces(b.Args) {
				deltas = append(deltas, map[string]any{"tool_calls": []any{map[string]any{"index": n, "function": map[string]any{"arguments": p}}}})
			}
			if finish == "" {
				finish = "tool_calls"
			}
		default:
			text += b.Text
			for _, p := range pieces(b.Text) {
				deltas = append(deltas, map[string]any{"content": p})
			}
		}
	}
	if finish == "" {
		finish = "stop"
	}
	if text != "" {
		message["content"] = text
	}
	if thoughts != "" {
		message["reasoning_content"] = thoughts
		if len(ids) > 0 {
			w.issued["thoughts of "+strings.Join(ids, ",")] = json.RawMessage(thoughts)
		}
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	usage := map[string]any{"prompt_tokens": req.prompt, "completion_tokens": 7, "total_tokens": req.prompt + 7,
		"prompt_tokens_details": map[string]any{"cached_tokens": req.prompt / 2}}
	whole := encode(map[string]any{"id": "chatcmpl-test", "object": "chat.completion", "created": 1, "model": req.Model, "usage": usage,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}}})
	chunk := func(choices []any, usage any) []byte {
		return event("", map[string]any{"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1, "model": req.Model, "choices": choices, "usage": usage})
	}
	var events [][]byte
	for _, d := range deltas {
		events = append(events, chunk([]any{map[string]any{"index": 0, "delta": d, "finish_reason": nil}}, nil))
	}
	events = append(events, chunk([]any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": finish}}, nil))
	if req.StreamOptions.IncludeUsage {
		events = append(events, chunk([]any{}, usage))
	}
	return whole, append(events, []byte("data: [DONE]\n\n"))
}
