package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/respjson"
)

// Compatible is a model behind an endpoint that speaks OpenAI's Chat Completions API
// (https://platform.openai.com/docs/api-reference/chat), as Ollama, llama.cpp's server, vLLM, OpenRouter, Azure, Gemini's
// compatible endpoint and GitHub Models do. It asks for no more than they all have, and does without what one refuses.
type Compatible struct {
	provider
	chat openai.ChatCompletionService
}

// NewCompatible makes the adapter. It reads no environment and connects to nothing. BaseURL is needed; it is what comes
// before /chat/completions, for example http://127.0.0.1:11434/v1.
func NewCompatible(o Options) (*Compatible, error) {
	if o.BaseURL == "" {
		return nil, fmt.Errorf("model: %s: a base URL is needed", o.Provider)
	}
	p, err := newProvider(o)
	if err != nil {
		return nil, err
	}
	return &Compatible{provider: p, chat: openai.NewChatCompletionService(p.openaiOptions(o.BaseURL)...)}, nil
}

// openaiOptions are the SDK's options for both of its adapters.
func (p provider) openaiOptions(url string) []option.RequestOption {
	opts := []option.RequestOption{option.WithBaseURL(strings.TrimSuffix(url, "/") + "/"), option.WithHTTPClient(p.o.HTTP),
		option.WithMaxRetries(0)}
	if p.o.Key != "" {
		opts = append(opts, option.WithAPIKey(p.o.Key), option.WithHeader("api-key", p.o.Key)) // the second for Azure
	}
	return opts
}

// Generate implements [Model].
func (c *Compatible) Generate(ctx context.Context, call Call) (Reply, error) {
	v := chatVariant{}
	for {
		reply, err := c.generate(ctx, func(ctx context.Context, w *watch) (Reply, error) { return c.once(ctx, call, v, w) })
		next, ok := v.after(err)
		if !ok {
			return reply, err
		}
		v = next
	}
}

// chatVariant is a request without something that not every server knows.
type chatVariant struct {
	noUsage    bool // stream_options
	noEffort   bool // reasoning_effort
	noThoughts bool // the model's earlier thoughts, sent back
}

func (v chatVariant) after(err error) (chatVariant, bool) {
	var e *Error
	if !errors.As(err, &e) || e.Kind != ErrInvalid {
		return v, false
	}
	switch m := strings.ToLower(e.Message); {
	case !v.noUsage && (strings.Contains(m, "stream_options") || strings.Contains(m, "include_usage")):
		v.noUsage = true
	case !v.noEffort && (strings.Contains(m, "reasoning_effort") || strings.Contains(m, "reasoning effort") || strings.Contains(m, "does not support thinking")):
		v.noEffort = true
	case !v.noThoughts && (strings.Contains(m, "reasoning_content") || strings.Contains(m, "reasoning_details")):
		v.noThoughts = true
	default:
		return v, false
	}
	return v, true
}

func (c *Compatible) once(ctx context.Context, call Call, v chatVariant, w *watch) (Reply, error) {
	params := c.params(call, v)
	if c.o.NoStream {
		whole, err := c.chat.New(ctx, params, option.WithMiddleware(w.middleware))
		if err != nil {
			return Reply{}, err
		}
		return c.whole(whole)
	}
	if !v.noUsage {
		params.StreamOptions.IncludeUsage = openai.Bool(true)
	}
	stream := c.chat.NewStreaming(ctx, params, option.WithMiddleware(w.middleware))
	defer func() { _ = stream.Close() }()
	var t chatTurn
	for stream.Next() {
		chunk := stream.Current()
		if chunk.JSON.Usage.Valid() {
			t.usage = chunk.Usage
		}
		for _, choice := range chunk.Choices {
			if choice.Index != 0 {
				continue
			}
			d := choice.Delta
			t.say(d.Content, call.OnText)
			t.refusal.WriteString(d.Refusal)
			t.think(d.JSON.ExtraFields)
			for _, tc := range d.ToolCalls {
				t.call(tc.JSON.Index.Valid(), tc.Index, tc.ID, tc.Function.Name, tc.Function.Arguments, tc.RawJSON())
			}
			if choice.FinishReason != "" {
				t.finish = choice.FinishReason
			}
		}
	}
	if err := stream.Err(); err != nil {
		return Reply{}, err
	}
	return t.reply()
}

// whole reads an answer that was not streamed.
func (c *Compatible) whole(r *openai.ChatCompletion) (Reply, error) {
	if len(r.Choices) == 0 {
		return Reply{}, &failure{e: &Error{Kind: ErrNetwork, Message: "the answer has no choices"}, retry: true}
	}
	choice := r.Choices[0]
	t := chatTurn{usage: r.Usage, finish: choice.FinishReason}
	t.say(choice.Message.Content, nil)
	t.refusal.WriteString(choice.Message.Refusal)
	t.think(choice.Message.JSON.ExtraFields)
	for i, tc := range choice.Message.ToolCalls {
		t.call(true, int64(i), tc.ID, tc.Function.Name, tc.Function.Arguments, tc.RawJSON())
	}
	return t.reply()
}

// chatTurn gathers a turn from its pieces.
type chatTurn struct {
	text, refusal, thoughts strings.Builder
	field                   string // under which the thoughts came
	details                 []json.RawMessage
	calls                   []*chatCall
	finish                  string
	usage                   openai.CompletionUsage
}

type chatCall struct {
	index    int64
	id, name string
	args     strings.Builder
	extra    json.RawMessage
}

func (t *chatTurn) say(text string, on func(string)) {
	if text == "" {
		return
	}
	t.text.WriteString(text)
	if on != nil {
		on(text)
	}
}

// think reads the thoughts, for which each server has a field of its own.
func (t *chatTurn) think(extra map[string]respjson.Field) {
	for _, field := range []string{"reasoning_content", "reasoning"} {
		f, ok := extra[field]
		if !ok {
			continue
		}
		var s string
		if json.Unmarshal([]byte(f.Raw()), &s) == nil && s != "" {
			t.field = field
			t.thoughts.WriteString(s)
			break
		}
	}
	if f, ok := extra["reasoning_details"]; ok {
		var list []json.RawMessage
		if json.Unmarshal([]byte(f.Raw()), &list) == nil {
			t.details = append(t.details, list...)
		}
	}
}

// call takes a piece of a tool call. Pieces belong together by their index; some servers number every call 0 or not at
// all, but then each begins with its own id.
func (t *chatTurn) call(numbered bool, index int64, id, name, args, raw string) {
	var c *chatCall
	for _, have := range t.calls {
		if have.index == index && numbered {
			c = have
		}
	}
	if !numbered && len(t.calls) > 0 && (id == "" || id == t.calls[len(t.calls)-1].id) {
		c = t.calls[len(t.calls)-1]
	}
	if c == nil || id != "" && c.id != "" && id != c.id {
		if c != nil {
			c.index = -1 // finished: what follows under this index is the new one's
		}
		c = &chatCall{index: index}
		t.calls = append(t.calls, c)
	}
	if c.id == "" {
		c.id = id
	}
	if c.name == "" {
		c.name = name
	}
	c.args.WriteString(args)
	var more struct {
		Extra json.RawMessage `json:"extra_content"` // Gemini's signature of a thought; it wants it back
	}
	if json.Unmarshal([]byte(raw), &more) == nil && len(more.Extra) > 0 {
		c.extra = more.Extra
	}
}

// thoughtExtra is how thoughts go back to the server that had them.
type thoughtExtra struct {
	Field   string            `json:"field,omitempty"`
	Details []json.RawMessage `json:"details,omitempty"`
}

func (t *chatTurn) reply() (Reply, error) {
	if t.finish == "" {
		return Reply{}, &failure{e: &Error{Kind: ErrNetwork, Message: "the stream broke off", Err: errCut}, retry: true}
	}
	r := Reply{Usage: Usage{CacheRead: t.usage.PromptTokensDetails.CachedTokens, Output: t.usage.CompletionTokens}}
	r.Usage.Input = max(t.usage.PromptTokens-r.Usage.CacheRead, 0)
	if t.thoughts.Len() > 0 || len(t.details) > 0 {
		extra, err := json.Marshal(thoughtExtra{Field: t.field, Details: t.details})
		if err != nil {
			return Reply{}, err
		}
		r.Message.Parts = append(r.Message.Parts, Part{Kind: Thinking, Text: t.thoughts.String(), Extra: extra})
	}
	if t.text.Len() > 0 {
		r.Message.Parts = append(r.Message.Parts, Part{Kind: Text, Text: t.text.String()})
	}
	seen := map[string]bool{}
	for i, c := range t.calls {
		if c.id == "" || seen[c.id] { // an id of its own is what the results are matched by
			c.id = fmt.Sprintf("call_%d_%s", i+1, c.name)
		}
		seen[c.id] = true
		p := Part{Kind: ToolCall, CallID: c.id, Tool: c.name, Extra: c.extra}
		p.Args, p.BadArgs = splitArgs(c.args.String())
		r.Message.Parts = append(r.Message.Parts, p)
	}
	switch {
	case t.finish == "length":
		r.Stop = StopMaxOutput
	case t.finish == "content_filter" || t.refusal.Len() > 0:
		r.Stop = StopRefusal
		if t.refusal.Len() > 0 {
			r.Message.Parts = append(r.Message.Parts, Part{Kind: Text, Text: t.refusal.String()})
		}
	case t.finish == "error":
		return Reply{}, &failure{e: &Error{Kind: ErrOverloaded, Message: "the provider broke off with an error"}, retry: true}
	case len(t.calls) > 0: // some servers say "stop"
		r.Stop = StopTools
	default:
		r.Stop = StopEnd
	}
	return r, nil
}

// params writes a request.
func (c *Compatible) params(call Call, v chatVariant) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{Model: c.o.Model}
	if n := max(c.o.MaxOutput, call.MaxOutput); n > 0 {
		if call.MaxOutput > 0 {
			n = call.MaxOutput
		}
		p.MaxTokens = openai.Int(int64(n))
	}
	if level := clamp(call.Thinking, c.o.MaxThinking, []Level{Off, Low, Medium, High}); level != Off && !v.noEffort {
		p.ReasoningEffort = openai.ReasoningEffort(level)
	}
	if call.System != "" {
		p.Messages = append(p.Messages, openai.SystemMessage(call.System))
	}
	for i, m := range call.Messages {
		if m.Role == User {
			p.Messages = append(p.Messages, chatUser(m)...)
			continue
		}
		// Thoughts go back only while the tools that they led to are being answered: some servers refuse older ones.
		p.Messages = append(p.Messages, c.chatAssistant(m, !v.noThoughts && !asked(call.Messages[i+1:])))
	}
	for _, t := range call.Tools {
		var schema map[string]any
		_ = json.Unmarshal(t.Schema, &schema) // the catalog's schemas are objects
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: t.Name, Description: openai.String(t.Description), Parameters: schema,
		}))
	}
	return p
}

// asked reports whether the user said something of their own in the messages, besides results.
func asked(messages []Message) bool {
	for _, m := range messages {
		if m.Role == User && !blank(m.PlainText()) {
			return true
		}
	}
	return false
}

func chatUser(m Message) []openai.ChatCompletionMessageParamUnion {
	var out []openai.ChatCompletionMessageParamUnion
	var text []string
	for _, p := range m.Parts {
		switch p.Kind {
		case ToolResult:
			out = append(out, openai.ToolMessage(resultText(p), p.CallID))
		case Text:
			if !blank(p.Text) {
				text = append(text, p.Text)
			}
		}
	}
	if len(text) > 0 || len(out) == 0 {
		out = append(out, openai.UserMessage(strings.Join(text, "\n\n")))
	}
	return out
}

// resultText is a result for a provider that has no mark for errors.
func resultText(p Part) string {
	switch {
	case blank(p.Text):
		return "(no output)"
	case p.IsError && !strings.HasPrefix(strings.ToLower(p.Text), "error"):
		return "Error: " + p.Text
	}
	return p.Text
}

func (c *Compatible) chatAssistant(m Message, withThoughts bool) openai.ChatCompletionMessageParamUnion {
	ours := m.Provider == c.o.Provider
	a := openai.ChatCompletionAssistantMessageParam{}
	if text := m.PlainText(); !blank(text) {
		a.Content.OfString = openai.String(text)
	}
	for _, p := range m.Parts {
		switch p.Kind {
		case ToolCall:
			f := openai.ChatCompletionMessageFunctionToolCallParam{ID: p.CallID,
				Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: p.Tool, Arguments: string(objectArgs(p.Args))}}
			if ours && len(p.Extra) > 0 {
				f.SetExtraFields(map[string]any{"extra_content": p.Extra})
			}
			a.ToolCalls = append(a.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &f})
		case Thinking:
			var extra thoughtExtra
			if !ours || !withThoughts || json.Unmarshal(p.Extra, &extra) != nil {
				continue
			}
			fields := map[string]any{}
			if extra.Field != "" {
				fields[extra.Field] = p.Text
			}
			if len(extra.Details) > 0 {
				fields["reasoning_details"] = extra.Details
			}
			a.SetExtraFields(fields)
		}
	}
	if len(a.ToolCalls) == 0 && !a.Content.OfString.Valid() {
		a.Content.OfString = openai.String(noWords)
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &a}
}

// tooLong are the words in which servers say that a conversation is too long, OpenAI's code first.
var tooLong = []string{"context_length_exceeded", "maximum context length", "context length", "context window", "context size",
	"exceed_context_size", "prompt is too long", "input is too long", "too many tokens", "exceeds the maximum number of tokens"}

// openaiFailure reads an error of a provider's that speaks OpenAI's language; nil: it is none.
func openaiFailure(err error) *failure {
	var e *openai.Error
	if errors.As(err, &e) {
		var header http.Header
		if e.Response != nil {
			header = e.Response.Header
		}
		message := e.Message
		if message == "" {
			message = looseMessage(e.RawJSON(), e.StatusCode)
		}
		return refineOpenAI(statusFailure(e.StatusCode, message, header), e.Code, e.Type)
	}
	if data, ok := streamError(err); ok {
		return streamFailure(data)
	}
	return nil
}

// looseMessage finds a message in the shapes of servers that are not quite OpenAI's.
func looseMessage(raw string, status int) string {
	var loose struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal([]byte(raw), &loose) == nil {
		var s string
		for _, m := range []json.RawMessage{loose.Error, loose.Detail} {
			if json.Unmarshal(m, &s) == nil && s != "" {
				return s
			}
		}
		if loose.Message != "" {
			return loose.Message
		}
	}
	if !blank(raw) && !strings.HasPrefix(strings.TrimSpace(raw), "<") {
		return raw
	}
	return http.StatusText(status)
}

// refineOpenAI tells apart what the status does not.
func refineOpenAI(f *failure, code, kind string) *failure {
	m := strings.ToLower(code + " " + kind + " " + f.e.Message)
	switch {
	case strings.Contains(m, "insufficient_quota") || strings.Contains(m, "invalid_api_key") || strings.Contains(m, "billing_hard_limit"):
		f.e.Kind, f.retry = ErrAuth, false // waiting does not help
	case f.e.Kind == ErrInvalid || f.e.Kind == ErrOverloaded && (f.e.Status == 0 || f.e.Status == http.StatusInternalServerError):
		for _, words := range tooLong {
			if strings.Contains(m, words) {
				f.e.Kind, f.retry = ErrTooLong, false
			}
		}
	}
	return f
}
