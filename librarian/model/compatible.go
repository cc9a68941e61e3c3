package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
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
	w.refusal = openaiRefusal
	params := c.params(call, v)
	if c.o.NoStream {
		whole, err := c.chat.New(ctx, params, option.WithMiddleware(w.middleware, noPage))
		if err != nil {
			return Reply{}, err
		}
		return c.whole(whole)
	}
	if !v.noUsage {
		params.StreamOptions.IncludeUsage = openai.Bool(true)
	}
	stream := c.chat.NewStreaming(ctx, params, option.WithMiddleware(w.middleware, noPage, onlyStream))
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

// noPage refuses a web page given for an answer: asking again would only get it again.
func noPage(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	resp, err := next(req)
	if err != nil || !answers(resp, "text/html") {
		return resp, err
	}
	_ = resp.Body.Close()
	return nil, &failure{e: &Error{Kind: ErrInvalid, Message: "the address answers with a web page; check the base URL, which mostly ends in /v1"}}
}

// onlyStream refuses an answer in one piece where a stream was asked for, which the stream's reader would take for one that
// broke off. Some servers answer so with an error.
func onlyStream(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	resp, err := next(req)
	if err != nil || !answers(resp, "application/json") {
		return resp, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	var wrong struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &wrong) == nil && len(wrong.Error) > 0 && string(wrong.Error) != "null" {
		return nil, streamFailure(body)
	}
	return nil, &failure{e: &Error{Kind: ErrInvalid, Message: "the provider answers in one piece and not in a stream; set no_stream for it"}}
}

// answers reports whether a good answer is of a content type.
func answers(resp *http.Response, want string) bool {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && kind == want && resp.StatusCode == http.StatusOK
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
