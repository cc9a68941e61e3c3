package modeltest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// NewAnthropic starts a server that speaks Anthropic's Messages API as its reference describes version
// 2026-10-21. It binds thinking to
// what went before it, as the newest models do, and keeps a cache by the marks of the requests, which its usage shows.
func NewAnthropic(t testing.TB, answers ...Answer) *Wire { return newWire(t, anthropicWire{}, answers) }

type anthropicWire struct{}

type anthropicRequest struct {
	Model     string             `json:"model"`
	MaxTokens int64              `json:"max_tokens"`
	System    []json.RawMessage  `json:"system"`
	Tools     []json.RawMessage  `json:"tools"`
	Messages  []anthropicMessage `json:"messages"`
	Thinking  *struct {
		Type   string `json:"type"`
		Budget int64  `json:"budget_tokens"`
	} `json:"thinking"`
	Output *struct {
		Effort string `json:"effort"`
	} `json:"output_config"`

	read, write int // tokens of the prefix that were, and are now, in the cache
	total       int
	prefix      []byte // everything so far: what thinking is bound to
}

type anthropicMessage struct {
	Role    string            `json:"role"`
	Content []json.RawMessage `json:"content"`
}

type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	Cache     json.RawMessage `json:"cache_control"`
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

func (anthropicWire) check(w *Wire, r *http.Request, body []byte) (any, int, string) {
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/messages":
		return w.violation("%s %s", r.Method, r.URL.Path)
	case r.Header.Get("Authorization") != "Bearer "+Key:
		return nil, http.StatusUnauthorized, "invalid bearer token"
	case r.Header.Get("anthropic-version") != "2026-10-21":
		return w.violation("anthropic-version: header is required")
	case !strings.HasPrefix(r.Header.Get("content-type"), "application/json"):
		return w.violation("content-type %q", r.Header.Get("content-type"))
	}
	return checkAnthropic(w, body)
}

// checkAnthropic looks at a request's body.
func checkAnthropic(w *Wire, body []byte) (any, int, string) {
	if k := onlyKeys(body, "model", "max_tokens", "system", "tools", "messages", "thinking", "output_config", "stream"); k != "" {
		return w.violation("%s: Extra inputs are not permitted", k)
	}
	req := &anthropicRequest{}
	if err := json.Unmarshal(body, req); err != nil {
		return w.violation("%v", err)
	}
	if req.Model == "" || req.MaxTokens < 1 || len(req.Messages) == 0 {
		return w.violation("model, max_tokens and messages are required")
	}
	if t := req.Thinking; t != nil && t.Type == "enabled" && (t.Budget < 1024 || t.Budget >= req.MaxTokens) {
		return w.violation("thinking.budget_tokens: %d with max_tokens %d", t.Budget, req.MaxTokens)
	}
	if req.Output != nil && !strings.Contains(" low medium high xhigh max ", " "+req.Output.Effort+" ") {
		return w.violation("output_config.effort: %q", req.Output.Effort)
	}
	for _, raw := range req.Tools {
		var tool struct {
			Name   string `json:"name"`
			Schema struct {
				Type string `json:"type"`
			} `json:"input_schema"`
		}
		if json.Unmarshal(raw, &tool) != nil || !toolName.MatchString(tool.Name) || tool.Schema.Type != "object" {
			return w.violation("tools: %s", raw)
		}
	}
	c := &anthropicChecker{w: w, req: req}
	for _, list := range [][]json.RawMessage{req.Tools, req.System} { // the order in which the prefix is read
		for _, raw := range list {
			c.add(raw)
		}
	}
	return c.messages()
}

// anthropicChecker goes through a request in the order in which the model reads it.
type anthropicChecker struct {
	w      *Wire
	req    *anthropicRequest
	prefix []byte   // without the marks
	ends   []string // the prefix's digest behind each block
	marks  []int    // blocks that are marked
	sizes  []int
}

func (c *anthropicChecker) add(raw json.RawMessage) {
	c.prefix = append(c.prefix, canonical(raw, "cache_control")...)
	c.ends = append(c.ends, digest(c.prefix))
	c.sizes = append(c.sizes, len(c.prefix)/4)
	var b anthropicBlock
	if json.Unmarshal(raw, &b) == nil && len(b.Cache) > 0 {
		c.marks = append(c.marks, len(c.ends)-1)
	}
}

func (c *anthropicChecker) messages() (any, int, string) {
	w, req := c.w, c.req
	open := map[string]bool{} // calls that must be answered by the next message
	thinks := req.Thinking != nil && req.Thinking.Type != "disabled"
	for i, m := range req.Messages {
		want := []string{"user", "assistant"}[i%2]
		if m.Role != want {
			return w.violation("messages.%d: role %q where %q is due", i, m.Role, want)
		}
		if len(m.Content) == 0 {
			return w.violation("messages.%d: content is empty", i)
		}
		c.prefix = append(c.prefix, m.Role...)
		next, results := map[string]bool{}, true
		for j, raw := range m.Content {
			var b anthropicBlock
			if err := json.Unmarshal(raw, &b); err != nil {
				return w.violation("messages.%d.content.%d: %v", i, j, err)
			}
			if len(b.Cache) > 0 && !strings.Contains(string(b.Cache), `"ephemeral"`) {
				return w.violation("messages.%d.content.%d: cache_control", i, j)
			}
			switch b.Type {
			case "text":
				results = false
				if strings.TrimSpace(b.Text) == "" {
					return w.violation("messages.%d.content.%d: text content blocks must contain non-whitespace text", i, j)
				}
			case "thinking", "redacted_thinking":
				if m.Role != "assistant" || len(b.Cache) > 0 {
					return w.violation("messages.%d.content.%d: thinking is out of place or marked for the cache", i, j)
				}
				if status, message := c.signed(i, j, raw, b); status != 0 {
					return nil, status, message
				}
			case "tool_use":
				if m.Role != "assistant" || !isObject(b.Input) || !toolName.MatchString(b.ID) || next[b.ID] {
					return w.violation("messages.%d.content.%d: tool_use %s", i, j, raw)
				}
				next[b.ID] = true
			case "tool_result":
				if m.Role != "user" || !open[b.ToolUseID] || !results {
					return w.violation("messages.%d.content.%d: unexpected tool_result %s; results come first and answer the turn before", i, j, b.ToolUseID)
				}
				delete(open, b.ToolUseID)
			default:
				return w.violation("messages.%d.content.%d: type %q", i, j, b.Type)
			}
			c.add(raw)
		}
		if len(open) > 0 {
			return w.violation("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %v", i, open)
		}
		open = next
		if m.Role == "assistant" && len(next) > 0 && i == len(req.Messages)-2 && thinks && req.Thinking.Type == "enabled" {
			var first anthropicBlock
			_ = json.Unmarshal(m.Content[0], &first)
			if !strings.HasSuffix(first.Type, "thinking") {
				return nil, http.StatusBadRequest, fmt.Sprintf("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`.", i, first.Type)
			}
		}
	}
	if req.Messages[len(req.Messages)-1].Role != "user" {
		return w.violation("This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	if len(c.marks) > 4 {
		return w.violation("A maximum of 4 blocks with cache_control may be provided. Found %d.", len(c.marks))
	}
	c.cache()
	req.prefix = c.prefix
	return req, 0, ""
}

// signed checks that thinking is what was said, after what was said before it.
func (c *anthropicChecker) signed(i, j int, raw json.RawMessage, b anthropicBlock) (int, string) {
	key := b.Signature
	if b.Type == "redacted_thinking" {
		key = b.Data
	}
	said, ok := c.w.issued[key]
	if !ok || string(canonical(said)) != string(canonical(raw)) {
		return http.StatusBadRequest, fmt.Sprintf("messages.%d.content.%d: Invalid `signature` in `thinking` block", i, j)
	}
	if !strings.HasSuffix(key, digest(c.prefix)) {
		return http.StatusBadRequest, fmt.Sprintf("messages.%d.content.%d: Invalid `signature` in `thinking` block. The block is bound to a different conversation. "+
			"Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".", i, j)
	}
	return 0, ""
}

// cache does what prompt caching does: a request writes its prefix at each mark, and reads the longest written one that ends
// at a mark or at most 20 blocks before one.
func (c *anthropicChecker) cache() {
	best := -1
	for _, m := range c.marks {
		for k := m; k >= 0 && k > m-20; k-- {
			if _, ok := c.w.cached[c.ends[k]]; ok {
				best = max(best, k)
				break
			}
		}
	}
	if best >= 0 {
		c.req.read = c.sizes[best]
	}
	for _, m := range c.marks {
		c.w.cached[c.ends[m]] = c.sizes[m]
		c.req.write = max(c.req.write, c.sizes[m]-c.req.read)
	}
	if n := len(c.sizes); n > 0 {
		c.req.total = c.sizes[n-1]
	}
}

func (anthropicWire) fail(rw http.ResponseWriter, status int, kind, message string) {
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Set("request-id", "req_test")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}, "request_id": "req_test"})
}

func (anthropicWire) failEvent(kind, message string) []byte {
	return event("error", map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}})
}

func (anthropicWire) answer(w *Wire, request any, a Answer) ([]byte, [][]byte) {
	req := request.(*anthropicRequest)
	usage := map[string]any{"input_tokens": max(req.total-req.read-req.write, 0), "cache_read_input_tokens": req.read,
		"cache_creation_input_tokens": req.write, "output_tokens": 7}
	stop := map[string]string{"length": "max_tokens", "refusal": "refusal", "context": "model_context_window_exceeded"}[a.Stop]
	var content []any
	var events [][]byte
	prefix := append(append([]byte(nil), req.prefix...), "assistant"...)
	for i, b := range a.Blocks {
		var full, start map[string]any
		var deltas []map[string]any
		switch {
		case b.Thinking != "":
			sig := "sig<&>" + digest([]byte(b.Thinking)) + "/" + digest(prefix)
			full = map[string]any{"type": "thinking", "thinking": b.Thinking, "signature": sig}
			start = map[string]any{"type": "thinking", "thinking": "", "signature": ""}
			for _, p := range pieces(b.Thinking) {
				deltas = append(deltas, map[string]any{"type": "thinking_delta", "thinking": p})
			}
			deltas = append(deltas, map[string]any{"type": "signature_delta", "signature": sig})
			w.issued[sig] = encode(full)
		case b.Redacted != "":
			data := b.Redacted + "/" + digest(prefix)
			full = map[string]any{"type": "redacted_thinking", "data": data}
			start = full
			w.issued[data] = encode(full)
		case b.Call != "":
			input := json.RawMessage(b.Args)
			if !isObject(input) {
				input = json.RawMessage("{}")
			}
			full = map[string]any{"type": "tool_use", "id": b.ID, "name": b.Call, "input": input}
			start = map[string]any{"type": "tool_use", "id": b.ID, "name": b.Call, "input": json.RawMessage("{}")}
			for _, p := range append([]string{""}, pieces(b.Args)...) {
				deltas = append(deltas, map[string]any{"type": "input_json_delta", "partial_json": p})
			}
			if stop == "" {
				stop = "tool_use"
			}
		default:
			full = map[string]any{"type": "text", "text": b.Text}
			start = map[string]any{"type": "text", "text": ""}
			for _, p := range pieces(b.Text) {
				deltas = append(deltas, map[string]any{"type": "text_delta", "text": p})
			}
		}
		content = append(content, full)
		raw := encode(full)
		prefix = append(prefix, canonical(raw)...)
		events = append(events, event("content_block_start", map[string]any{"type": "content_block_start", "index": i, "content_block": start}))
		for _, d := range deltas {
			events = append(events, event("content_block_delta", map[string]any{"type": "content_block_delta", "index": i, "delta": d}))
		}
		events = append(events, event("content_block_stop", map[string]any{"type": "content_block_stop", "index": i}))
	}
	if stop == "" {
		stop = "end_turn"
	}
	if content == nil {
		content = []any{}
	}
	msg := func(content []any, stop any, usage any) map[string]any {
		return map[string]any{"id": "msg_test", "type": "message", "role": "assistant", "model": req.Model, "content": content,
			"stop_reason": stop, "stop_sequence": nil, "usage": usage}
	}
	whole := encode(msg(content, stop, usage))
	begin := map[string]any{}
	maps.Copy(begin, usage)
	begin["output_tokens"] = 1
	all := [][]byte{event("message_start", map[string]any{"type": "message_start", "message": msg([]any{}, nil, begin)}),
		event("ping", map[string]any{"type": "ping"})}
	all = append(all, events...)
	all = append(all, event("message_delta", map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": stop, "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": 7}}), event("message_stop", map[string]any{"type": "message_stop"}))
	return whole, all
}
