package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
)

// NewOpenAI starts a server that speaks OpenAI's Responses API as its reference describes it, storing nothing.
func NewOpenAI(t testing.TB, answers ...Answer) *Wire { return newWire(t, responsesWire{}, answers) }

type responsesWire struct{}

type responsesRequest struct {
	Model        string            `json:"model"`
	Instructions string            `json:"instructions"`
	Input        []json.RawMessage `json:"input"`
	Tools        []json.RawMessage `json:"tools"`
	Store        *bool             `json:"store"`
	Include      []string          `json:"include"`
	CacheKey     string            `json:"prompt_cache_key"`
	Reasoning    *struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	prompt int
}

type responsesItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Args      string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Encrypted string          `json:"encrypted_content"`
	Content   json.RawMessage `json:"content"`
}

func (responsesWire) check(w *Wire, r *http.Request, body []byte) (any, int, string) {
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/responses":
		return w.violation("%s %s", r.Method, r.URL.Path)
	case r.Header.Get("Authorization") != "Bearer "+Key:
		return nil, http.StatusUnauthorized, "Incorrect API key provided: sk-tes**************ghij."
	}
	if k := onlyKeys(body, "model", "instructions", "input", "tools", "store", "include", "prompt_cache_key", "reasoning", "stream", "parallel_tool_calls",
		"max_output_tokens"); k != "" {
		return w.violation("Unknown parameter: '%s'.", k)
	}
	req := &responsesRequest{prompt: len(body) / 4}
	if err := json.Unmarshal(body, req); err != nil {
		return w.violation("%v", err)
	}
	if req.Model == "" || len(req.Input) == 0 || req.Store == nil || *req.Store || req.CacheKey == "" {
		return w.violation("model, input, store: false and a cache key are wanted")
	}
	for _, raw := range req.Tools {
		var tool struct {
			Type   string `json:"type"`
			Name   string `json:"name"`
			Strict *bool  `json:"strict"`
			Params struct {
				Type string `json:"type"`
			} `json:"parameters"`
		}
		if json.Unmarshal(raw, &tool) != nil || tool.Type != "function" || !toolName.MatchString(tool.Name) || tool.Strict == nil || tool.Params.Type != "object" {
			return w.violation("tools: %s", raw)
		}
	}
	return req.conversation(w)
}

func (req *responsesRequest) conversation(w *Wire) (any, int, string) {
	open := map[string]bool{}
	thought := "" // a reasoning item that waits for what it led to
	last := ""
	for i, raw := range req.Input {
		var it responsesItem
		if err := json.Unmarshal(raw, &it); err != nil {
			return w.violation("input[%d]: %v", i, err)
		}
		if it.Type == "" && it.Role != "" {
			it.Type = "message"
		}
		if it.ID != "" {
			if said, ok := w.issued[it.ID]; !ok || string(canonical(said)) != string(canonical(raw)) {
				return nil, http.StatusBadRequest, fmt.Sprintf("The encrypted content or item %s could not be verified.", it.ID)
			}
		}
		if thought != "" && it.Type != "reasoning" && (it.Role == "user" || it.Type == "function_call_output") {
			return w.violation("Item '%s' of type 'reasoning' was provided without its required following item.", thought)
		}
		thought = ""
		switch it.Type {
		case "message":
			if len(open) > 0 {
				return w.violation("No tool output found for function calls %v.", open)
			}
			if it.Role != "user" && it.Role != "assistant" || len(it.Content) <= 2 {
				return w.violation("input[%d]: %s", i, raw)
			}
		case "reasoning":
			if it.Encrypted == "" || req.Reasoning == nil {
				return w.violation("input[%d]: reasoning without its content, or for a model that does not reason", i)
			}
			thought = it.ID
		case "function_call":
			if it.CallID == "" || open[it.CallID] || !isObject(json.RawMessage(it.Args)) {
				return w.violation("input[%d]: %s", i, raw)
			}
			open[it.CallID] = true
		case "function_call_output":
			if !open[it.CallID] || len(it.Output) <= 2 {
				return w.violation("No tool call found for function call output with call_id %s.", it.CallID)
			}
			delete(open, it.CallID)
		default:
			return w.violation("input[%d]: type %q", i, it.Type)
		}
		last = it.Type + it.Role
	}
	if len(open) > 0 {
		return w.violation("No tool output found for function calls %v.", open)
	}
	if last != "messageuser" && last != "function_call_output" {
		return w.violation("the last item is %s", last)
	}
	return req, 0, ""
}

func (responsesWire) fail(rw http.ResponseWriter, status int, kind, message string) {
	chatWire{}.fail(rw, status, kind, message)
}

func (responsesWire) failEvent(kind, message string) []byte {
	return event("error", map[string]any{"type": "error", "code": kind, "message": message, "param": nil, "sequence_number": 9})
}

func (responsesWire) answer(w *Wire, request any, a Answer) ([]byte, [][]byte) {
	req := request.(*responsesRequest)
	output := []any{}
	var events [][]byte
	seq := 0
	send := func(kind string, data map[string]any) {
		data["type"], data["sequence_number"] = kind, seq
		seq++
		events = append(events, event(kind, data))
	}
	status := "completed"
	var details any
	switch a.Stop {
	case "length":
		status, details = "incomplete", map[string]any{"reason": "max_output_tokens"}
	case "refusal":
		status, details = "incomplete", map[string]any{"reason": "content_filter"}
	}
	response := func(status string, output []any, usage any) map[string]any {
		return map[string]any{"id": "resp_test", "object": "response", "created_at": 1, "model": req.Model, "status": status, "output": output,
			"incomplete_details": details, "error": nil, "usage": usage, "parallel_tool_calls": true}
	}
	send("response.created", map[string]any{"response": response("in_progress", []any{}, nil)})
	for i, b := range a.Blocks {
		id := fmt.Sprintf("%s_%d_%s", map[bool]string{true: "fc", false: "it"}[b.Call != ""], len(w.issued), digest([]byte(fmt.Sprint(b)))[:6])
		var item map[string]any
		switch {
		case b.Thinking != "" || b.Redacted != "":
			summary := []any{}
			if b.Thinking != "" {
				summary = append(summary, map[string]any{"type": "summary_text", "text": b.Thinking})
			}
			item = map[string]any{"type": "reasoning", "id": id, "summary": summary, "encrypted_content": "enc<" + digest([]byte(b.Thinking+b.Redacted)) + ">"}
		case b.Call != "":
			item = map[string]any{"type": "function_call", "id": id, "call_id": b.ID, "name": b.Call, "arguments": b.Args, "status": "completed"}
		default:
			item = map[string]any{"type": "message", "id": id, "role": "assistant", "status": "completed",
				"content": []any{map[string]any{"type": "output_text", "text": b.Text, "annotations": []any{}}}}
		}
		w.issued[id] = encode(item)
		send("response.output_item.added", map[string]any{"output_index": i, "item": item})
		if b.Text != "" {
			for _, p := range pieces(b.Text) {
				send("response.output_text.delta", map[string]any{"output_index": i, "content_index": 0, "item_id": id, "delta": p})
			}
		}
		if b.Call != "" {
			for _, p := range pieces(b.Args) {
				send("response.function_call_arguments.delta", map[string]any{"output_index": i, "item_id": id, "delta": p})
			}
		}
		send("response.output_item.done", map[string]any{"output_index": i, "item": item})
		output = append(output, item)
	}
	usage := map[string]any{"input_tokens": req.prompt, "output_tokens": 7, "total_tokens": req.prompt + 7,
		"input_tokens_details":  map[string]any{"cached_tokens": req.prompt / 2, "cache_write_tokens": 0},
		"output_tokens_details": map[string]any{"reasoning_tokens": 3}}
	whole := encode(response(status, output, usage))
	send("response."+status, map[string]any{"response": json.RawMessage(whole)})
	return whole, events
}
