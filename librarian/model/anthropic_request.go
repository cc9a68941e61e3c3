package model

import (
	"encoding/json"
	"strings"

	anthropic "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"
)

// anthropicOutput is the most a reply may have in tokens by default: what every model since Claude 4 can do.
const anthropicOutput = 32_000

// noWords stands for a turn of which nothing can be sent.
const noWords = "(no answer)"

// params writes a request.
func (a *Anthropic) params(call Call, v anthropicVariant) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{Model: a.o.Model, MaxTokens: anthropicOutput}
	if a.mode == claudeThoughtless {
		p.MaxTokens = 4096
	}
	if a.o.MaxOutput > 0 {
		p.MaxTokens = int64(a.o.MaxOutput)
	}
	if call.MaxOutput > 0 {
		p.MaxTokens = int64(call.MaxOutput)
	}
	thinks := a.think(&p, call.Thinking, v.dontThink)
	if call.System != "" {
		p.System = []anthropic.TextBlockParam{{Text: call.System}}
	}
	for _, t := range call.Tools {
		p.Tools = append(p.Tools, anthropic.ToolUnionParam{OfTool: &anthropic.ToolParam{
			Name: t.Name, Description: param.NewOpt(t.Description),
			InputSchema: param.Override[anthropic.ToolInputSchemaParam](t.Schema),
		}})
	}
	for i, m := range call.Messages {
		if m.Role == User {
			p.Messages = append(p.Messages, anthropic.NewUserMessage(userBlocks(m)...))
		} else {
			p.Messages = append(p.Messages, anthropic.NewAssistantMessage(a.assistantBlocks(m, thinks && i >= v.forget)...))
		}
	}
	markCache(&p)
	return p
}

// think sets how much to think and reports whether the model thinks at all.
func (a *Anthropic) think(p *anthropic.MessageNewParams, want Level, dont bool) bool {
	if dont {
		want = Off
	}
	level := clamp(want, a.o.MaxThinking, a.levels)
	adaptive := anthropic.ThinkingConfigParamUnion{OfAdaptive: &anthropic.ThinkingConfigAdaptiveParam{}}
	switch {
	case a.mode == claudeBudget && level != Off:
		budget := claudeBudgets[level]
		if budget+1024 > p.MaxTokens { // it counts towards max_tokens and must leave room
			budget = p.MaxTokens / 2
		}
		if budget < 1024 {
			return false
		}
		p.Thinking = anthropic.ThinkingConfigParamOfEnabled(budget)
		return true
	case a.mode == claudeBudget || a.mode == claudeThoughtless || a.mode == claudeOptional && level == Off:
		return false
	case a.mode == claudeDisabled && level == Off:
		d := anthropic.NewThinkingConfigDisabledParam()
		p.Thinking = anthropic.ThinkingConfigParamUnion{OfDisabled: &d}
		return false
	case a.mode == claudeBetween && level == Off:
		b := anthropic.NewThinkingConfigBetweenToolsParam()
		p.Thinking = anthropic.ThinkingConfigParamUnion{OfBetweenTools: &b}
		return true
	}
	p.Thinking = adaptive
	p.OutputConfig = anthropic.OutputConfigParam{Effort: anthropic.OutputConfigEffort(level)}
	return true
}

// userBlocks writes a user's turn: results first, as the API demands, then text.
func userBlocks(m Message) []anthropic.ContentBlockParamUnion {
	var results, rest []anthropic.ContentBlockParamUnion
	for _, p := range m.Parts {
		switch p.Kind {
		case ToolResult:
			text := p.Text
			if blank(text) {
				text = "(no output)"
			}
			results = append(results, anthropic.NewToolResultBlock(p.CallID, text, p.IsError))
		case Text:
			if !blank(p.Text) {
				rest = append(rest, anthropic.NewTextBlock(p.Text))
			}
		}
	}
	out := append(results, rest...)
	if len(out) == 0 {
		out = append(out, anthropic.NewTextBlock("(nothing)"))
	}
	return out
}

// assistantBlocks writes a model's turn. What this provider wrote goes back as it came; of another's turn the text and
// the calls.
func (a *Anthropic) assistantBlocks(m Message, withThinking bool) []anthropic.ContentBlockParamUnion {
	ours := m.Provider == a.o.Provider
	var out []anthropic.ContentBlockParamUnion
	words := false
	for _, p := range m.Parts {
		switch p.Kind {
		case Thinking:
			if ours && withThinking && len(p.Extra) > 0 {
				out = append(out, param.Override[anthropic.ContentBlockParamUnion](p.Extra))
			}
		case Text:
			if !blank(p.Text) {
				out, words = append(out, anthropic.NewTextBlock(p.Text)), true
			}
		case ToolCall:
			words = true
			if ours && len(p.Extra) > 0 {
				out = append(out, param.Override[anthropic.ContentBlockParamUnion](p.Extra))
			} else {
				out = append(out, anthropic.NewToolUseBlock(p.CallID, objectArgs(p.Args), p.Tool))
			}
		}
	}
	if !words { // a turn may not be thinking alone
		out = append(out, anthropic.NewTextBlock(noWords))
	}
	return out
}

// objectArgs is a call's arguments for a provider that takes objects only.
func objectArgs(args json.RawMessage) json.RawMessage {
	if !isObject(args) {
		return json.RawMessage("{}")
	}
	return args
}

func isObject(raw json.RawMessage) bool {
	var o map[string]json.RawMessage
	return json.Unmarshal(raw, &o) == nil && o != nil
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// markCache sets the four marks that are allowed: behind the system prompt (and with it the tools), behind the first
// question, and behind the last two turns of the user. The last one writes what the next step reads; the one before it is
// what this step reads, even when there were more blocks in between than the provider looks back over (20).
func markCache(p *anthropic.MessageNewParams) {
	mark := anthropic.NewCacheControlEphemeralParam()
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = mark
	} else if n := len(p.Tools); n > 0 {
		p.Tools[n-1].OfTool.CacheControl = mark
	}
	var users []int
	for i, m := range p.Messages {
		if m.OfUser != nil {
			users = append(users, i)
		}
	}
	if len(users) > 3 {
		users = append(users[:1:1], users[len(users)-2:]...)
	}
	for _, i := range users {
		blocks := p.Messages[i].OfUser.Content
		switch last := blocks[len(blocks)-1]; {
		case last.OfText != nil:
			last.OfText.CacheControl = mark
		case last.OfToolResult != nil:
			last.OfToolResult.CacheControl = mark
		}
	}
}
