package model

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
)

// OpenAI is a model of OpenAI's by the Responses API (https://platform.openai.com/docs/api-reference/responses), which
// alone gives a model its own thoughts back between tools. Nothing is stored at OpenAI: the thoughts travel encrypted.
type OpenAI struct {
	provider
	responses responses.ResponseService
	levels    []Level // nil: the model does not reason
}

// NewOpenAI makes the adapter. It reads no environment and connects to nothing.
func NewOpenAI(o Options) (*OpenAI, error) {
	p, err := newProvider(o)
	if err != nil {
		return nil, err
	}
	url := o.BaseURL
	if url == "" {
		url = "https://api.openai.com/v1"
	}
	return &OpenAI{provider: p, responses: responses.NewResponseService(p.openaiOptions(url)...), levels: gpt(o.Model)}, nil
}

// Generate implements [Model].
func (a *OpenAI) Generate(ctx context.Context, call Call) (Reply, error) {
	v := openaiVariant{}
	for {
		reply, err := a.generate(ctx, func(ctx context.Context, w *watch) (Reply, error) { return a.once(ctx, call, v, w) })
		next, ok := v.after(err)
		if !ok {
			return reply, err
		}
		v = next
	}
}

// openaiVariant is a request without something that the model refused.
type openaiVariant struct {
	noEffort   bool // the level of thinking is left to the model
	noThoughts bool // earlier thoughts are not sent back
}

func (v openaiVariant) after(err error) (openaiVariant, bool) {
	var e *Error
	if !errors.As(err, &e) || e.Kind != ErrInvalid || e.Status != http.StatusBadRequest {
		return v, false
	}
	switch m := strings.ToLower(e.Message); {
	case !v.noThoughts && (strings.Contains(m, "encrypted content") || strings.Contains(m, "encrypted_content") || strings.Contains(m, "'reasoning'")):
		v.noThoughts = true
	case !v.noEffort && strings.Contains(m, "reasoning"):
		v.noEffort = true
	default:
		return v, false
	}
	return v, true
}

func (a *OpenAI) once(ctx context.Context, call Call, v openaiVariant, w *watch) (Reply, error) {
	w.refusal = openaiRefusal
	params := a.params(call, v)
	if a.o.NoStream {
		r, err := a.responses.New(ctx, params, option.WithMiddleware(w.middleware))
		if err != nil {
			return Reply{}, err
		}
		return openaiReply(r)
	}
	stream := a.responses.NewStreaming(ctx, params, option.WithMiddleware(w.middleware))
	defer func() { _ = stream.Close() }()
	for stream.Next() {
		switch ev := stream.Current(); ev.Type {
		case "response.output_text.delta", "response.refusal.delta":
			if call.OnText != nil {
				call.OnText(ev.Delta)
			}
		case "response.completed", "response.incomplete", "response.failed":
			return openaiReply(&ev.Response)
		case "error":
			return Reply{}, streamFailure([]byte(ev.RawJSON()))
		}
	}
	if err := stream.Err(); err != nil {
		return Reply{}, err
	}
	return Reply{}, &failure{e: &Error{Kind: ErrNetwork, Message: "the stream broke off", Err: errCut}, retry: true}
}

func openaiReply(r *responses.Response) (Reply, error) {
	if r.Status == responses.ResponseStatusFailed {
		f := &failure{e: &Error{Kind: ErrInvalid, Message: r.Error.Message}}
		switch r.Error.Code {
		case responses.ResponseErrorCodeServerError:
			f.e.Kind, f.retry = ErrOverloaded, true
		case responses.ResponseErrorCodeRateLimitExceeded:
			f.e.Kind, f.retry = ErrRateLimited, true
		}
		return Reply{}, refineOpenAI(f, string(r.Error.Code), "")
	}
	in := r.Usage.InputTokensDetails
	out := Reply{Stop: StopEnd, Usage: Usage{
		Input:     max(r.Usage.InputTokens-in.CachedTokens-in.CacheWriteTokens, 0),
		CacheRead: in.CachedTokens, CacheWrite: in.CacheWriteTokens, Output: r.Usage.OutputTokens,
	}}
	refused := false
	for _, item := range r.Output {
		raw := json.RawMessage(item.RawJSON())
		switch item.Type {
		case "message":
			var text strings.Builder
			for _, c := range item.Content {
				text.WriteString(c.Text)
				text.WriteString(c.Refusal)
				refused = refused || c.Refusal != ""
			}
			if text.Len() > 0 {
				out.Message.Parts = append(out.Message.Parts, Part{Kind: Text, Text: text.String(), Extra: raw})
			}
		case "function_call":
			p := Part{Kind: ToolCall, CallID: item.CallID, Tool: item.Name}
			p.Args, p.BadArgs = splitArgs(item.Arguments.OfString)
			if isObject(json.RawMessage(item.Arguments.OfString)) { // else it cannot be sent back as it is
				p.Extra = raw
			}
			out.Message.Parts = append(out.Message.Parts, p)
			out.Stop = StopTools
		default: // reasoning, and what is yet to come
			var text []string
			for _, s := range item.Summary {
				text = append(text, s.Text)
			}
			out.Message.Parts = append(out.Message.Parts, Part{Kind: Thinking, Text: strings.Join(text, "\n\n"), Extra: raw})
		}
	}
	switch {
	case r.Status == responses.ResponseStatusIncomplete && r.IncompleteDetails.Reason == "max_output_tokens":
		out.Stop = StopMaxOutput
	case refused || r.Status == responses.ResponseStatusIncomplete:
		out.Stop = StopRefusal
	}
	return out, nil
}

func (a *OpenAI) params(call Call, v openaiVariant) responses.ResponseNewParams {
	p := responses.ResponseNewParams{
		Model: a.o.Model, Store: openai.Bool(false), ParallelToolCalls: openai.Bool(true),
		PromptCacheKey: openai.String(cacheKey(call)),
	}
	if call.System != "" {
		p.Instructions = openai.String(call.System)
	}
	if n := max(a.o.MaxOutput, call.MaxOutput); n > 0 {
		if call.MaxOutput > 0 {
			n = call.MaxOutput
		}
		p.MaxOutputTokens = openai.Int(int64(n))
	}
	if a.levels != nil {
		p.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
		if !v.noEffort {
			level := clamp(call.Thinking, a.o.MaxThinking, a.levels)
			effort := openai.ReasoningEffort(level)
			if level == Off {
				effort = openai.ReasoningEffortNone
			}
			p.Reasoning = openai.ReasoningParam{Effort: effort}
		}
	}
	for _, t := range call.Tools {
		var schema map[string]any
		_ = json.Unmarshal(t.Schema, &schema) // the catalog's schemas are objects
		p.Tools = append(p.Tools, responses.ToolUnionParam{OfFunction: &responses.FunctionToolParam{
			Name: t.Name, Description: openai.String(t.Description), Parameters: schema, Strict: openai.Bool(false),
		}})
	}
	for _, m := range call.Messages {
		if m.Role == User {
			p.Input.OfInputItemList = append(p.Input.OfInputItemList, responsesUser(m)...)
		} else {
			p.Input.OfInputItemList = append(p.Input.OfInputItemList, a.responsesAssistant(m, !v.noThoughts)...)
		}
	}
	return p
}

// cacheKey sends the steps of one run to where its beginning is cached: it is made of what they have in common.
func cacheKey(call Call) string {
	h := sha256.New()
	h.Write([]byte(call.System))
	if len(call.Messages) > 0 {
		h.Write([]byte(call.Messages[0].PlainText()))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func responsesUser(m Message) []responses.ResponseInputItemUnionParam {
	var out []responses.ResponseInputItemUnionParam
	var text []string
	for _, p := range m.Parts {
		switch p.Kind {
		case ToolResult:
			r := responses.ResponseInputItemParamOfFunctionCallOutput(resultText(p))
			r.OfFunctionCallOutput.CallID = openai.String(p.CallID)
			out = append(out, r)
		case Text:
			if !blank(p.Text) {
				text = append(text, p.Text)
			}
		}
	}
	if len(text) > 0 || len(out) == 0 {
		out = append(out, responses.ResponseInputItemParamOfMessage(strings.Join(text, "\n\n"), responses.EasyInputMessageRoleUser))
	}
	return out
}

// responsesAssistant writes a model's turn. What this provider wrote goes back as it came, item by item.
func (a *OpenAI) responsesAssistant(m Message, withThoughts bool) []responses.ResponseInputItemUnionParam {
	ours := m.Provider == a.o.Provider && withThoughts // an item's id is only known together with its thoughts
	var out []responses.ResponseInputItemUnionParam
	for i, p := range m.Parts {
		switch {
		case p.Kind == Thinking && !(a.levels != nil && ledOn(m.Parts[i+1:])):
		case ours && len(p.Extra) > 0:
			out = append(out, param.Override[responses.ResponseInputItemUnionParam](p.Extra))
		case p.Kind == Text && !blank(p.Text):
			out = append(out, responses.ResponseInputItemParamOfMessage(p.Text, responses.EasyInputMessageRoleAssistant))
		case p.Kind == ToolCall:
			out = append(out, responses.ResponseInputItemParamOfFunctionCall(string(objectArgs(p.Args)), p.CallID, p.Tool))
		}
	}
	if len(out) == 0 {
		out = append(out, responses.ResponseInputItemParamOfMessage(noWords, responses.EasyInputMessageRoleAssistant))
	}
	return out
}

// ledOn reports whether what follows a thought goes back as it came: a thought without what it led to is refused.
func ledOn(parts []Part) bool {
	for _, p := range parts {
		if p.Kind != Thinking {
			return len(p.Extra) > 0
		}
	}
	return false
}

// gpt says how much a model of OpenAI's can think, by its guide on reasoning (November 2026); nil: not at all. Should the
// table be wrong, the request is sent again without a level.
func gpt(id string) []Level {
	has := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(id, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("gpt-3", "gpt-4", "chatgpt-") || strings.Contains(id, "-chat"):
		return nil
	case has("o1", "o3", "o4"):
		return []Level{Low, Medium, High}
	case id == "gpt-5" || has("gpt-5-"):
		return []Level{Minimal, Low, Medium, High}
	case has("gpt-5.1"):
		return []Level{Off, Low, Medium, High}
	}
	return []Level{Off, Low, Medium, High, XHigh}
}
