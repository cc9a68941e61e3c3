package agent

import (
	"slices"

	"github.com/librarian-app/librarian/librarian/model"
)

// Resume makes the messages of an earlier run fit to be continued by any model: a turn that was cut off in the middle is
// completed, so that every tool call is answered and roles alternate, and the conversation ends with the model's turn, so
// that the new question can follow. It changes nothing that was said.
func Resume(history []model.Message) []model.Message {
	var out []model.Message
	for i, m := range history {
		if len(m.Parts) == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Role == m.Role {
			if m.Role == model.User {
				out[n-1].Parts = append(slices.Clone(out[n-1].Parts), m.Parts...)
				continue
			}
			out = append(out, model.UserText("(interrupted)"))
		}
		out = append(out, m)
		if calls := m.Calls(); len(calls) > 0 {
			out = answer(out, calls, history[i+1:])
		}
	}
	if n := len(out); n > 0 && out[n-1].Role == model.User {
		out = append(out, model.Message{V: model.Version, Role: model.Assistant, Parts: []model.Part{{Kind: model.Text, Text: "(That was the end of this run.)"}}})
	}
	return out
}

// answer adds a results message for calls that the next message does not answer: the run was cut off there.
func answer(out []model.Message, calls []model.Part, rest []model.Message) []model.Message {
	answered := map[string]bool{}
	if len(rest) > 0 && rest[0].Role == model.User {
		for _, p := range rest[0].Parts {
			if p.Kind == model.ToolResult {
				answered[p.CallID] = true
			}
		}
	}
	var parts []model.Part
	for _, c := range calls {
		if !answered[c.CallID] {
			parts = append(parts, model.Part{Kind: model.ToolResult, CallID: c.CallID, Tool: c.Tool, IsError: true, Text: "(The run was interrupted before this call ended.)"})
		}
	}
	if len(parts) == 0 {
		return out
	}
	return append(out, model.Message{V: model.Version, Role: model.User, Parts: parts})
}
