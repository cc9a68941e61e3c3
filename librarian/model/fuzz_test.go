package model_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/librarian-app/librarian/librarian/model"
)

// answering is a transport that gives every request one answer and keeps the request.
type answering struct {
	contentType, body string
	sent              []byte
}

func (a *answering) RoundTrip(r *http.Request) (*http.Response, error) {
	a.sent, _ = io.ReadAll(r.Body)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {a.contentType}}, Body: io.NopCloser(strings.NewReader(a.body)),
		Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}, nil
}

func adapters(t *testing.T, tr http.RoundTripper) (out []model.Model) {
	for _, p := range providers {
		if p.name == "vertex" {
			continue // it asks for a token first, and then as bedrock does
		}
		m, err := model.New(model.Options{Provider: p.name, Model: p.model, BaseURL: "http://127.0.0.1:9/v1", HTTP: &http.Client{Transport: tr},
			Retry: model.Retry{Most: 1}, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

// Whatever is stored as a message is refused, or read and written again as it was; and every adapter makes JSON of it.
func FuzzStoredMessage(f *testing.F) {
	for _, s := range []string{
		`{"v":1,"role":"user","parts":[{"kind":"text","text":"hi"}]}`,
		`{"v":1,"role":"assistant","provider":"anthropic","parts":[{"kind":"thinking","text":"x","extra":{"type":"thinking","thinking":"x","signature":"s"}},{"kind":"call","call_id":"c","tool":"read","args":{"a":1}}]}`,
		`{"v":1,"role":"assistant","provider":"openai","parts":[{"kind":"call","call_id":"c","tool":"read","bad_args":"{"}]}`,
		`{"v":1,"role":"assistant","provider":"local","parts":[{"kind":"thinking","text":"x","extra":{"field":"reasoning_content","details":[1]}},{"kind":"call","call_id":"c","tool":"t","args":[],"extra":null}]}`,
		`{"v":2,"role":"user"}`, `{"v":1,"role":"user","parts":[{"kind":"result","call_id":"","text":"","is_error":true,"data":[]}]}`, `null`, `{}`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := model.DecodeMessage(raw)
		if err != nil {
			return
		}
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatalf("a message that was read cannot be written: %v", err)
		}
		m2, err := model.DecodeMessage(again)
		if err != nil {
			t.Fatalf("a message that was written cannot be read: %v", err)
		}
		third, err := json.Marshal(m2)
		if err != nil || string(third) != string(again) {
			t.Fatalf("it changes each time it is stored: %s", cmp.Diff(string(again), string(third)))
		}
		tr := &answering{contentType: "text/event-stream"}
		for _, a := range adapters(t, tr) {
			tr.sent = nil
			_, _ = a.Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?"), m2, model.UserText("?")}, Tools: tools()})
			if !json.Valid(tr.sent) {
				t.Fatalf("%s: the request is no JSON: %q", a.Name(), tr.sent)
			}
		}
	})
}

// Whatever a provider says, an adapter returns, and what it returns can be stored and sent back.
func FuzzReply(f *testing.F) {
	f.Add("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"content\":[]}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"b\",\"input\":{}}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	f.Add("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\",\"tool_calls\":[{\"index\":3,\"function\":{\"name\":\"y\",\"arguments\":\"[\"}}]},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	f.Add("event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"n\",\"arguments\":\"{}\"},{\"type\":\"reasoning\"},{\"type\":\"message\",\"content\":[{\"type\":\"refusal\",\"refusal\":\"no\"}]}]}}\n\n")
	f.Add("event: error\ndata: {\"error\":7}\n\n")
	f.Fuzz(func(t *testing.T, body string) {
		tr := &answering{contentType: "text/event-stream", body: body}
		for _, a := range adapters(t, tr) {
			tr.body = body
			r, err := a.Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?")}, Tools: tools()})
			if err != nil {
				continue
			}
			raw, err := json.Marshal(r.Message)
			if err != nil {
				t.Fatalf("%s: cannot be stored: %v", a.Name(), err)
			}
			m, err := model.DecodeMessage(raw)
			if err != nil {
				t.Fatalf("%s: cannot be read again: %v", a.Name(), err)
			}
			tr.body, tr.sent = "", nil
			_, _ = a.Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?"), m, model.UserText("?")}})
			if !json.Valid(tr.sent) {
				t.Fatalf("%s: cannot be sent back: %q", a.Name(), tr.sent)
			}
		}
	})
}
