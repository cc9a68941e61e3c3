package model_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/librarian-app/librarian/librarian/model"
)

// FuzzDecodeMessage holds that what is read from a log is written back as the same message, and that nothing in a log can
// break its reader.
func FuzzDecodeMessage(f *testing.F) {
	for _, seed := range []string{
		`{"v":1,"role":"user","parts":[{"kind":"text","text":"why?"}]}`,
		`{"v":1,"role":"assistant","provider":"anthropic","parts":[{"kind":"thinking","text":"hm","extra":{"signature":"abc=="}},{"kind":"call","call_id":"c1","tool":"read","args":{"path":"a\u0000b","n":1e400}}]}`,
		`{"v":1,"role":"assistant","parts":[{"kind":"call","call_id":"c1","tool":"read","bad_args":"{\"path\":"}]}`,
		`{"v":1,"role":"user","parts":[{"kind":"result","call_id":"c1","tool":"read","text":"x","is_error":true,"data":[1,2]}]}`,
		`{"v":2,"role":"user","parts":[]}`, `{"v":1,"role":"system","parts":null}`, `{"v":1,"role":"user","parts":[{"kind":"new","text":""}]}`, `null`, `[]`, `{"v":"1"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := model.DecodeMessage(raw)
		if err != nil {
			return
		}
		if m.V < 1 || m.V > model.Version || (m.Role != model.User && m.Role != model.Assistant) {
			t.Fatalf("accepted: %+v", m)
		}
		_, _ = m.Calls(), m.PlainText()
		again, err := json.Marshal(m)
		if err != nil {
			t.Fatalf("a message that was read cannot be written: %v", err)
		}
		back, err := model.DecodeMessage(again)
		if err != nil {
			t.Fatalf("a message that was written cannot be read: %v", err)
		}
		if d := cmp.Diff(compact(m), compact(back), cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}

// compact writes raw JSON the way encoding/json does, so that only a difference in meaning shows.
func compact(m model.Message) model.Message {
	parts := append([]model.Part(nil), m.Parts...)
	for i := range parts {
		for _, raw := range []*json.RawMessage{&parts[i].Args, &parts[i].Data, &parts[i].Extra} {
			if out, err := json.Marshal(*raw); err == nil && len(*raw) > 0 {
				*raw = out
			}
		}
	}
	m.Parts = parts
	return m
}
