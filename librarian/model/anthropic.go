package model

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	anthropic "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

// Anthropic is a Claude model by the Messages API (https://docs.anthropic.com/en/api/messages).
type Anthropic struct {
	provider
	messages anthropic.MessageService
	cloud    *cloud // whose service it is; nil: Anthropic's own
	mode     claudeMode
	levels   []Level
}

// NewAnthropic makes the adapter. It reads no environment and connects to nothing.
func NewAnthropic(o Options) (*Anthropic, error) {
	if o.Stall <= 0 {
		o.Stall = time.Minute
	}
	b, err := newProvider(o)
	if err != nil {
		return nil, err
	}
	url := o.BaseURL
	if url == "" {
		url = "https://api.anthropic.com/"
	}
	a := &Anthropic{provider: b}
	a.mode, a.levels = claude(o.Model)
	// The service itself, not a client: a client looks for keys in the environment.
	a.messages = anthropic.NewMessageService(option.WithBaseURL(url), option.WithAPIKey(o.Key), option.WithHTTPClient(b.o.HTTP),
		option.WithMaxRetries(0), option.WithoutOpenTelemetry())
	return a, nil
}

// Generate implements [Model].
func (a *Anthropic) Generate(ctx context.Context, call Call) (Reply, error) {
	memory := call.Memory
	if memory == nil {
		memory = &Memory{}
	}
	for {
		v := memory.anthropic
		reply, err := a.generate(ctx, func(ctx context.Context, w *watch) (Reply, error) { return a.once(ctx, call, v, w) })
		next, ok := v.after(err, len(call.Messages))
		if !ok {
			return reply, err
		}
		a.o.Log.Warn("asking again without thinking of old", "model", a.Name())
		memory.anthropic = next
	}
}

// anthropicVariant is a request with something left out that the provider would not take.
type anthropicVariant struct {
	forget    int  // so many messages, the oldest, go without their thinking
	dontThink bool // no thinking from here on
}

// after is the variant to try when a call of so many messages came to an error. The provider binds thinking to all that went
// before it and refuses it when that has changed (https://platform.claude.com/docs/build-with-claude/preserved-thinking),
// which it has when old tool results were replaced to make room; then all of it must go. Older models in turn want a turn
// that thinks to follow one that did.
func (v anthropicVariant) after(err error, messages int) (anthropicVariant, bool) {
	var e *Error
	if !errors.As(err, &e) || e.Kind != ErrInvalid || e.Status != http.StatusBadRequest {
		return v, false
	}
	m := strings.ToLower(e.Message)
	switch {
	case v.forget < messages && strings.Contains(m, "thinking") && (strings.Contains(m, "signature") || strings.Contains(m, "bound to")):
		v.forget = messages
	case !v.dontThink && strings.Contains(m, "expected `thinking`"):
		v.dontThink = true
	default:
		return v, false
	}
	return v, true
}

func (a *Anthropic) once(ctx context.Context, call Call, v anthropicVariant, w *watch) (Reply, error) {
	params := a.params(call, v)
	var opts []option.RequestOption
	if a.cloud != nil {
		var err error
		if opts, err = a.cloud.reach(ctx, a.o); err != nil {
			return Reply{}, err
		}
		w.refusal = cloudRefusal
	}
	opts = append(opts, option.WithMiddleware(w.middleware))
	if a.o.NoStream {
		// The SDK refuses long replies without a stream unless it is told how long to wait; we watch by ourselves.
		msg, err := a.messages.New(ctx, params, append(opts, option.WithRequestTimeout(time.Hour))...)
		if err != nil {
			return Reply{}, err
		}
		return anthropicReply(msg, nil)
	}
	stream := a.messages.NewStreaming(ctx, params, opts...)
	defer func() { _ = stream.Close() }()
	var msg anthropic.Message
	args := map[int64]*strings.Builder{} // arguments as they came: the SDK drops those that are not JSON
	whole := false
	for stream.Next() {
		ev := stream.Current()
		if err := msg.Accumulate(ev); err != nil {
			return Reply{}, &failure{e: &Error{Kind: ErrNetwork, Message: "the stream makes no sense: " + err.Error(), Err: err}, retry: true}
		}
		switch ev.Type {
		case "content_block_delta":
			switch ev.Delta.Type {
			case "text_delta":
				if call.OnText != nil {
					call.OnText(ev.Delta.Text)
				}
			case "input_json_delta":
				if args[ev.Index] == nil {
					args[ev.Index] = &strings.Builder{}
				}
				args[ev.Index].WriteString(ev.Delta.PartialJSON)
			}
		case "message_stop":
			whole = true
		}
	}
	if err := stream.Err(); err != nil {
		return Reply{}, err
	}
	if !whole {
		return Reply{}, &failure{e: &Error{Kind: ErrNetwork, Message: "the stream broke off", Err: errCut}, retry: true}
	}
	return anthropicReply(&msg, args)
}

// anthropicReply reads a whole message. args are the arguments as they were streamed.
func anthropicReply(msg *anthropic.Message, args map[int64]*strings.Builder) (Reply, error) {
	r := Reply{Usage: Usage{
		Input: msg.Usage.InputTokens, CacheRead: msg.Usage.CacheReadInputTokens, CacheWrite: msg.Usage.CacheCreationInputTokens,
		Output: msg.Usage.OutputTokens,
	}}
	for i, block := range msg.Content {
		raw := json.RawMessage(block.RawJSON())
		switch block.Type {
		case "text":
			if block.Text != "" {
				r.Message.Parts = append(r.Message.Parts, Part{Kind: Text, Text: block.Text})
			}
		case "tool_use":
			p := Part{Kind: ToolCall, CallID: block.ID, Tool: block.Name}
			text := string(block.Input)
			if b := args[int64(i)]; b != nil {
				text = b.String()
			}
			p.Args, p.BadArgs = splitArgs(text)
			if isObject(p.Args) { // else it cannot be sent back as it is
				p.Extra = raw
			}
			r.Message.Parts = append(r.Message.Parts, p)
		default: // thinking, redacted thinking, and what is yet to come: kept as it is and sent back so
			r.Message.Parts = append(r.Message.Parts, Part{Kind: Thinking, Text: block.Thinking, Extra: raw})
		}
	}
	switch msg.StopReason {
	case anthropic.StopReasonToolUse:
		r.Stop = StopTools
	case anthropic.StopReasonMaxTokens:
		r.Stop = StopMaxOutput
	case anthropic.StopReasonRefusal:
		r.Stop = StopRefusal
	case anthropic.StopReasonModelContextWindowExceeded:
		return Reply{}, &failure{e: &Error{Kind: ErrTooLong, Message: "the reply did not fit the context window any more"}}
	default:
		r.Stop = StopEnd
	}
	return r, nil
}

// splitArgs tells arguments that are JSON from those that are not. None at all are an empty object.
func splitArgs(text string) (args json.RawMessage, bad string) {
	switch {
	case strings.TrimSpace(text) == "":
		return json.RawMessage("{}"), ""
	case json.Valid([]byte(text)):
		return json.RawMessage(text), ""
	}
	return nil, text
}

// anthropicFailure reads an error of the provider's; nil: it is none.
func anthropicFailure(err error) *failure {
	var e *anthropic.Error
	if !errors.As(err, &e) {
		return nil
	}
	var header http.Header
	if e.Response != nil {
		header = e.Response.Header
	}
	message := e.Message
	if message == "" {
		message = http.StatusText(e.StatusCode)
	}
	f := statusFailure(e.StatusCode, message, header)
	// In a stream the status is 200 and the type says it.
	switch e.Type() {
	case anthropic.ErrorTypeRateLimitError:
		f.e.Kind, f.retry = ErrRateLimited, true
	case anthropic.ErrorTypeOverloadedError, anthropic.ErrorTypeAPIError, anthropic.ErrorTypeTimeoutError:
		f.e.Kind, f.retry = ErrOverloaded, true
	case anthropic.ErrorTypeAuthenticationError, anthropic.ErrorTypePermissionError, anthropic.ErrorTypeBillingError:
		f.e.Kind, f.retry = ErrAuth, false
	default:
		cloudException(f, string(e.Type()))
	}
	return f.claude()
}

// claude looks at the words of a refusal for what its status does not say.
func (f *failure) claude() *failure {
	m := strings.ToLower(f.e.Message)
	switch {
	case f.e.Kind != ErrInvalid:
	case strings.Contains(m, "prompt is too long"), strings.Contains(m, "input is too long"), strings.Contains(m, "exceed context limit"),
		strings.Contains(m, "context window"):
		f.e.Kind = ErrTooLong
	case strings.Contains(m, "credit balance"):
		f.e.Kind = ErrAuth
	}
	return f
}
