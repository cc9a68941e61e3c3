package model_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
)

// From step to step everything up to the last turn is read from the cache, even when a step has more results than the
// provider looks back over.
func TestAnthropicCacheHits(t *testing.T) {
	t.Parallel()
	const steps = 8
	var answers []modeltest.Answer
	for i := range steps {
		var blocks []modeltest.Block
		for j := range 30 {
			blocks = append(blocks, modeltest.Block{Call: "read", ID: fmt.Sprintf("c%d_%d", i, j), Args: `{"path":"a"}`})
		}
		answers = append(answers, modeltest.Answer{Blocks: blocks})
	}
	w := modeltest.NewAnthropic(t, answers...)
	c := &talk{t: t, thinking: model.High, m: providers[0].open(t, w)}
	c.say(model.UserText("Where is it? " + strings.Repeat("context ", 500)))
	var before model.Usage
	for i := range steps {
		r := c.step()
		if i > 0 {
			require.Equal(t, before.CacheRead+before.CacheWrite, r.Usage.CacheRead, "step %d reads what step %d wrote", i, i-1)
		}
		require.Positive(t, r.Usage.CacheWrite)
		require.Zero(t, r.Usage.Input, "all that is sent is cached for the next step")
		before = r.Usage
		c.say(results(r.Message, ok, false))
	}
}

// When old results make room, the provider refuses thinking that was bound to them; it is left out then.
func TestAnthropicForgetsThinkingOfAChangedPast(t *testing.T) {
	t.Parallel()
	w := modeltest.NewAnthropic(t,
		modeltest.Answer{Blocks: []modeltest.Block{{Thinking: "One."}, {Redacted: "xyz"}, {Call: "read", ID: "c1", Args: `{"path":"a"}`}}},
		modeltest.Answer{Blocks: []modeltest.Block{{Thinking: "Two."}, {Call: "read", ID: "c2", Args: `{"path":"b"}`}}},
		modeltest.Answer{Blocks: []modeltest.Block{{Thinking: "Three."}, {Call: "read", ID: "c3", Args: `{"path":"c"}`}}},
		modeltest.Answer{Blocks: []modeltest.Block{{Text: "Done."}}},
	)
	c := &talk{t: t, thinking: model.High, m: providers[0].open(t, w)}
	c.say(model.UserText("?"))
	c.say(results(c.step().Message, ok, false))
	c.say(results(c.step().Message, ok, false))
	require.Empty(t, w.Refused(), "nothing was changed so far")
	c.messages[2].Parts[0].Text = "(read again if needed)"
	c.say(results(c.step().Message, ok, false))
	require.Len(t, w.Refused(), 1)
	require.Contains(t, w.Refused()[0], "bound to a different conversation")
	require.Equal(t, "Done.", c.step().Message.PlainText())
	require.Len(t, w.Refused(), 1, "what was refused once is not sent again; what was thought since is")
	last := string(w.Bodies()[len(w.Bodies())-1])
	require.NotContains(t, last, "Two.")
	require.Contains(t, last, "Three.")
}

// Older models want thinking before the calls that are being answered; where there is none they are asked not to think.
func TestAnthropicOlderModelTakesUpAnotherOnesLoop(t *testing.T) {
	t.Parallel()
	w := modeltest.NewAnthropic(t, modeltest.Answer{Blocks: []modeltest.Block{{Text: "Done."}}})
	c := &talk{t: t, thinking: model.High}
	c.m = provider{"anthropic", "claude-sonnet-4-5", modeltest.NewAnthropic, ""}.open(t, w)
	c.say(model.UserText("?"))
	call := model.Message{V: 1, Role: model.Assistant, Provider: "openai", Parts: []model.Part{{Kind: model.Thinking, Text: "Hm.", Extra: json.RawMessage(`{"type":"reasoning"}`)},
		{Kind: model.ToolCall, CallID: "c1", Tool: "read", Args: json.RawMessage(`{}`), Extra: json.RawMessage(`{"type":"function_call"}`)}}}
	c.say(call)
	c.say(results(call, ok, false))
	require.Equal(t, "Done.", c.step().Message.PlainText())
	require.Len(t, w.Refused(), 1)
}

func TestAnthropicThinkingLevels(t *testing.T) {
	t.Parallel()
	type want struct{ thinking, effort string }
	for id, levels := range map[string]map[model.Level]want{
		"claude-3-5-haiku-latest": {model.Off: {}, model.Max: {}},
		"claude-haiku-4-5":        {model.Off: {}, model.Minimal: {"enabled 1024", ""}, model.High: {"enabled 16384", ""}, model.Max: {"enabled 24576", ""}},
		"claude-opus-4-6":         {model.Off: {}, model.Minimal: {}, model.Low: {"adaptive 0", "low"}, model.XHigh: {"adaptive 0", "high"}, model.Max: {"adaptive 0", "max"}},
		"claude-opus-4-8":         {model.Off: {}, model.XHigh: {"adaptive 0", "xhigh"}},
		"claude-opus-5":           {model.Off: {"disabled 0", ""}, model.Medium: {"adaptive 0", "medium"}},
		"claude-haiku-5-5":        {model.Off: {"disabled 0", ""}},
		"claude-sonnet-5-5":       {model.Off: {"between_tools 0", ""}, model.High: {"adaptive 0", "high"}},
		"claude-opus-5-5":         {model.Off: {"adaptive 0", "low"}, model.Max: {"adaptive 0", "max"}},
		"claude-fable-5-2":        {model.Off: {"adaptive 0", "low"}},
		"claude-of-next-year":     {model.Off: {"adaptive 0", "low"}},
	} {
		for level, want := range levels {
			w := modeltest.NewAnthropic(t, modeltest.Answer{Blocks: []modeltest.Block{{Text: "x"}}})
			m := provider{"anthropic", id, modeltest.NewAnthropic, ""}.open(t, w)
			_, err := m.Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?")}, Thinking: level})
			require.NoError(t, err)
			var body struct {
				Thinking *struct {
					Type   string `json:"type"`
					Budget int    `json:"budget_tokens"`
				} `json:"thinking"`
				Output struct {
					Effort string `json:"effort"`
				} `json:"output_config"`
			}
			require.NoError(t, json.Unmarshal(w.Bodies()[0], &body))
			got := ""
			if body.Thinking != nil {
				got = fmt.Sprint(body.Thinking.Type, " ", body.Thinking.Budget)
			}
			require.Equal(t, want.thinking, got, "%s %s", id, level)
			require.Equal(t, want.effort, body.Output.Effort, "%s %s", id, level)
		}
	}
	w := modeltest.NewAnthropic(t, modeltest.Answer{Blocks: []modeltest.Block{{Text: "x"}}})
	m := provider{"anthropic", "claude-opus-5-5", modeltest.NewAnthropic, ""}.open(t, w, func(o *model.Options) { o.MaxThinking = model.Medium })
	_, err := m.Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?")}, Thinking: model.Max})
	require.NoError(t, err)
	require.Contains(t, string(w.Bodies()[0]), `"effort":"medium"`, "the operator's limit")
}
