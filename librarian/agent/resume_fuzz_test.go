package agent_test

import (
	"encoding/json"
	"testing"

	"github.com/librarian-app/librarian/librarian/agent"
	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
)

// FuzzResume holds that any log a run can leave, cut off anywhere, becomes a conversation that a provider takes: modeltest
// refuses what they refuse. A byte of script is a message.
func FuzzResume(f *testing.F) {
	for _, seed := range []string{"", "u", "uc", "ucr", "uca", "ucruca", "ucrs", "uuss", "ccrr", "rrss", "ue", "ucRs", "ucrX"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script string) {
		var history []model.Message
		add := func(role model.Role, parts ...model.Part) {
			history = append(history, model.Message{V: model.Version, Role: role, Parts: parts})
		}
		call := func(id string) model.Part {
			return model.Part{Kind: model.ToolCall, CallID: id, Tool: "read", Args: json.RawMessage(`{}`)}
		}
		result := func(id string) model.Part {
			return model.Part{Kind: model.ToolResult, CallID: id, Tool: "read", Text: "x"}
		}
		for i := range min(len(script), 60) {
			id := string(rune('a' + i%20))
			before := string(rune('a' + (i+19)%20))
			switch script[i] {
			case 'u':
				add(model.User, model.Part{Kind: model.Text, Text: "why?"})
			case 's':
				add(model.Assistant, model.Part{Kind: model.Text, Text: "so"})
			case 'c':
				add(model.Assistant, call(id))
			case 'a':
				add(model.Assistant, call(id), call(id+"2"))
			case 'r':
				add(model.User, result(before))
			case 'R':
				add(model.User, result(before), result(before+"2"))
			case 'e':
				add(model.Assistant)
			}
		}
		out := agent.Resume(history)
		if len(out) == 0 {
			return
		}
		if out[0].Role == model.User { // a log begins with the question
			m := modeltest.New(modeltest.Say("ok"))
			call := model.Call{Messages: append(out, model.UserText("and?"))}
			for i := 1; i < len(call.Messages); i++ {
				if call.Messages[i].Role == call.Messages[i-1].Role {
					t.Fatalf("roles do not alternate at %d: %q", i, script)
				}
			}
			if _, err := m.Generate(t.Context(), call); err != nil {
				t.Fatalf("%q: %v", script, err)
			}
		}
	})
}
