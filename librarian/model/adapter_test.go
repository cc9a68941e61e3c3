package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
)

// provider is one of the wire formats, with a model of each.
type provider struct {
	name  string
	model string
	serve func(testing.TB, ...modeltest.Answer) *modeltest.Wire
	path  string // behind the server's URL
}

var providers = []provider{
	{"anthropic", "claude-opus-5-5", modeltest.NewAnthropic, ""},
	{"openai", "gpt-5.2", modeltest.NewOpenAI, "/v1"},
	{"local", "qwen3:8b", modeltest.NewChat, "/v1"},
	{"bedrock", "eu.anthropic.claude-opus-5-5-20260901-v1:0", modeltest.NewBedrock, ""},
	{"vertex", "claude-opus-5-5@20260901", modeltest.NewVertex, ""},
}

func each(t *testing.T, f func(t *testing.T, p provider)) {
	t.Parallel()
	for _, p := range providers {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			f(t, p)
		})
	}
}

func (p provider) options(w *modeltest.Wire) model.Options {
	return model.Options{Provider: p.name, Model: p.model, Key: modeltest.Key, BaseURL: w.URL + p.path,
		Log:   slog.New(slog.DiscardHandler),
		Retry: model.Retry{First: time.Millisecond, Longest: 5 * time.Millisecond, Total: 10 * time.Second}}
}

func (p provider) open(t *testing.T, w *modeltest.Wire, change ...func(*model.Options)) model.Model {
	t.Helper()
	o := p.options(w)
	for _, c := range change {
		c(&o)
	}
	m, err := model.New(o)
	require.NoError(t, err)
	require.Equal(t, p.name+"/"+p.model, m.Name())
	return m
}

func tools() []model.ToolSpec {
	return []model.ToolSpec{
		{Name: "read", Description: "Reads a file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)},
		{Name: "grep", Description: "Searches.", Schema: json.RawMessage(`{"type":"object","properties":{"pattern":{"type":"string"}}}`)},
	}
}

// talk is a conversation that is stored between its steps, as a run's is.
type talk struct {
	memory   model.Memory
	t        *testing.T
	m        model.Model
	thinking model.Level
	messages []model.Message
	streamed strings.Builder
}

func (c *talk) say(m model.Message) {
	raw, err := json.Marshal(m)
	require.NoError(c.t, err)
	back, err := model.DecodeMessage(raw)
	require.NoError(c.t, err)
	c.messages = append(c.messages, back)
}

func (c *talk) call() model.Call {
	return model.Call{System: "You are a librarian. <b>&</b>", Messages: c.messages, Memory: &c.memory, Tools: tools(), Thinking: c.thinking,
		OnText: func(s string) { c.streamed.WriteString(s) }}
}

func (c *talk) step() model.Reply {
	c.t.Helper()
	r, err := c.m.Generate(c.t.Context(), c.call())
	require.NoError(c.t, err)
	c.say(r.Message)
	return r
}

func results(m model.Message, text func(i int) string, isError bool) model.Message {
	out := model.Message{V: model.Version, Role: model.User}
	for i, p := range m.Calls() {
		out.Parts = append(out.Parts, model.Part{Kind: model.ToolResult, CallID: p.CallID, Tool: p.Tool, Text: text(i), IsError: isError,
			Data: json.RawMessage(`{"secret":"for programs only"}`)})
	}
	return out
}

func ok(i int) string { return fmt.Sprint("result ", i) }

// shape is a message without what only its provider can know.
func shape(m model.Message) (out []string) {
	for _, p := range m.Parts {
		switch p.Kind {
		case model.ToolCall:
			out = append(out, "call "+p.CallID+" "+p.Tool+" "+string(p.Args)+p.BadArgs)
		default:
			out = append(out, string(p.Kind)+" "+p.Text)
		}
	}
	return out
}

func TestToolLoop(t *testing.T) {
	each(t, func(t *testing.T, p provider) {
		for _, stream := range []bool{true, false} {
			t.Run(fmt.Sprint("stream ", stream), func(t *testing.T) {
				t.Parallel()
				w := p.serve(t,
					modeltest.Answer{Blocks: []modeltest.Block{{Thinking: "Let me <look> & see “it”."}, {Text: "I will look, 日本."},
						{Call: "read", ID: "c1", Args: `{"path":"a <b>.go"}`}, {Call: "grep", ID: "c2", Args: `{"pattern":"x\u0000\n"}`}}},
					modeltest.Answer{Blocks: []modeltest.Block{{Thinking: "More."}, {Call: "read", ID: "c3", Args: ``}}},
					modeltest.Answer{Blocks: []modeltest.Block{{Text: "Found it."}}},
				)
				price := model.Price{Input: 3, CacheRead: 0.3, CacheWrite: 3.75, Output: 15}
				c := &talk{t: t, thinking: model.High}
				c.m = p.open(t, w, func(o *model.Options) {
					o.NoStream = !stream
					o.Prices = model.Prices{p.name + "/" + p.model: price}
				})
				c.say(model.UserText("Where is it?"))

				r := c.step()
				require.Equal(t, model.StopTools, r.Stop)
				require.Equal(t, []string{"thinking Let me <look> & see “it”.", "text I will look, 日本.", `call c1 read {"path":"a <b>.go"}`,
					`call c2 grep {"pattern":"x\u0000\n"}`}, shape(r.Message))
				require.Equal(t, p.name, r.Message.Provider)
				require.Equal(t, model.Version, r.Message.V)
				require.Equal(t, int64(7), r.Usage.Output)
				require.Positive(t, r.Usage.Input+r.Usage.CacheWrite+r.Usage.CacheRead)
				require.NotNil(t, r.Cost)
				require.InDelta(t, price.Cost(r.Usage), *r.Cost, 1e-12)
				if stream {
					require.Equal(t, "I will look, 日本.", c.streamed.String())
				}

				c.say(results(r.Message, ok, false))
				r = c.step()
				require.Equal(t, []string{"thinking More.", `call c3 read {}`}, shape(r.Message), "no arguments are an empty object")
				c.say(results(r.Message, func(int) string { return "  " }, true)) // an empty result is legal here and nowhere else
				r = c.step()
				require.Equal(t, model.StopEnd, r.Stop)
				require.Equal(t, []string{"text Found it."}, shape(r.Message))
				for _, b := range w.Bodies() {
					require.NotContains(t, string(b), "for programs only")
				}
				require.Empty(t, w.Refused())
			})
		}
	})
}

// A second question after a finished tool loop, and every level of thinking.
func TestContinues(t *testing.T) {
	each(t, func(t *testing.T, p provider) {
		for _, level := range model.Levels() {
			t.Run(string(level), func(t *testing.T) {
				t.Parallel()
				w := p.serve(t,
					modeltest.Answer{Blocks: []modeltest.Block{{Thinking: "Hm."}, {Call: "read", ID: "c1", Args: `{"path":"a"}`}}},
					modeltest.Answer{Blocks: []modeltest.Block{{Text: "So."}}},
				)
				c := &talk{t: t, thinking: level, m: p.open(t, w)}
				c.say(model.UserText("One?"))
				r := c.step()
				m := results(r.Message, ok, false)
				m.Parts = append(m.Parts, model.Part{Kind: model.Text, Text: "And two?"})
				c.say(m)
				c.step()
				require.Empty(t, w.Refused())
			})
		}
	})
}

func TestAnotherProvidersHistory(t *testing.T) {
	each(t, func(t *testing.T, p provider) {
		for _, from := range providers {
			t.Run("from "+from.name, func(t *testing.T) {
				t.Parallel()
				old := from.serve(t, modeltest.Answer{Blocks: []modeltest.Block{{Thinking: "Secret thought."}, {Text: "Look."}, {Call: "read", ID: "c1", Args: `{"path":"a"}`}}},
					modeltest.Answer{Blocks: []modeltest.Block{{Thinking: "Only a thought."}}})
				c := &talk{t: t, thinking: model.High, m: from.open(t, old)}
				c.say(model.UserText("One?"))
				r := c.step()
				c.say(results(r.Message, ok, false))
				c.step()
				c.say(model.UserText("And two?"))

				w := p.serve(t, modeltest.Answer{Blocks: []modeltest.Block{{Text: "Two."}}})
				c.m = p.open(t, w)
				c.step()
				if from.name != p.name {
					require.NotContains(t, string(w.Bodies()[0]), "Secret thought", "thinking is dropped")
					require.NotContains(t, string(w.Bodies()[0]), "encrypted_content\":")
				}
				require.Contains(t, string(w.Bodies()[len(w.Bodies())-1]), "Look.")
			})
		}
	})
}

func TestErrors(t *testing.T) {
	each(t, func(t *testing.T, p provider) {
		for name, tc := range map[string]struct {
			a       modeltest.Answer
			kind    model.ErrorKind
			retried bool
			says    string
		}{
			"bad request":        {modeltest.Answer{Status: 400, Type: "invalid_request_error", Message: "tools.0: no"}, model.ErrInvalid, false, "tools.0: no"},
			"not found":          {modeltest.Answer{Status: 404, Type: "not_found_error", Message: "model: x"}, model.ErrInvalid, false, "model: x"},
			"forbidden":          {modeltest.Answer{Status: 403, Type: "permission_error", Message: "no"}, model.ErrAuth, false, "no"},
			"unpaid":             {modeltest.Answer{Status: 402, Type: "billing_error", Message: "pay"}, model.ErrAuth, false, "pay"},
			"request too large":  {modeltest.Answer{Status: 413, Type: "request_too_large", Message: "big"}, model.ErrTooLong, false, "big"},
			"rate limit":         {modeltest.Answer{Status: 429, Type: "rate_limit_error", Message: "slow"}, model.ErrRateLimited, true, "slow"},
			"time-out":           {modeltest.Answer{Status: 408, Type: "timeout_error", Message: "late"}, model.ErrOverloaded, true, "late"},
			"conflict":           {modeltest.Answer{Status: 409, Type: "conflict_error", Message: "two"}, model.ErrOverloaded, true, "two"},
			"internal":           {modeltest.Answer{Status: 500, Type: "api_error", Message: "oh"}, model.ErrOverloaded, true, "oh"},
			"bad gateway":        {modeltest.Answer{Status: 502, Type: "api_error", Message: "gw"}, model.ErrOverloaded, true, "gw"},
			"overloaded":         {modeltest.Answer{Status: 529, Type: "overloaded_error", Message: "busy"}, model.ErrOverloaded, true, "busy"},
			"overloaded midway":  {modeltest.Answer{InStream: true, Cut: 2, Type: "overloaded_error", Message: "busy"}, model.ErrOverloaded, true, "busy"},
			"rate limit midway":  {modeltest.Answer{InStream: true, Cut: 2, Type: "rate_limit_error", Message: "slow"}, model.ErrRateLimited, true, "slow"},
			"cut at once":        {modeltest.Answer{Cut: 1}, model.ErrNetwork, true, ""},
			"cut in the middle":  {modeltest.Answer{Cut: 3}, model.ErrNetwork, true, ""},
			"the key in a text":  {modeltest.Answer{Status: 400, Type: "invalid_request_error", Message: "key " + modeltest.Key + " or sk-abcdefghijkl"}, model.ErrInvalid, false, "key [key] or [key]"},
			"an endless message": {modeltest.Answer{Status: 400, Type: "invalid_request_error", Message: strings.Repeat("x ", 5000)}, model.ErrInvalid, false, "…"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				good := modeltest.Answer{Blocks: []modeltest.Block{{Text: "Fine."}}}
				tc.a.Blocks = []modeltest.Block{{Text: "This is an answer of some length."}}
				answers := []modeltest.Answer{tc.a}
				if tc.retried {
					answers = append(answers, tc.a, good)
				}
				w := p.serve(t, answers...)
				m := p.open(t, w)
				r, err := m.Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?")}})
				if tc.retried {
					require.NoError(t, err)
					require.Equal(t, "Fine.", r.Message.PlainText())
					require.Len(t, w.Bodies(), 3)
					// And when it does not pass.
					w = p.serve(t, tc.a, tc.a)
					m = p.open(t, w, func(o *model.Options) { o.Retry.Most = 2 })
					_, err = m.Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?")}})
				}
				var e *model.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, tc.kind, e.Kind, err)
				if !tc.a.InStream {
					require.Equal(t, tc.a.Status, e.Status)
				}
				require.Contains(t, e.Message, tc.says)
				require.Less(t, len(e.Error()), 700)
				require.NotContains(t, fmt.Sprintf("%+v %v", e, errors.Unwrap(err)), modeltest.Key)
			})
		}
	})
}

func TestTooLong(t *testing.T) {
	each(t, func(t *testing.T, p provider) {
		for _, message := range map[string][]string{
			"anthropic": {"prompt is too long: 208310 tokens > 200000 maximum",
				"input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again"},
			"bedrock": {"Input is too long for requested model.", "prompt is too long: 208310 tokens > 200000 maximum"},
			"vertex":  {"prompt is too long: 208310 tokens > 200000 maximum"},
			"openai":  {"Your input exceeds the context window of this model. Please adjust your input and try again."},
			"local": {"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
				"the request exceeds the available context size, try increasing it"},
		}[p.name] {
			w := p.serve(t, modeltest.Answer{Status: 400, Type: "invalid_request_error", Message: message})
			_, err := p.open(t, w).Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?")}})
			var e *model.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, model.ErrTooLong, e.Kind, message)
		}
	})
	w := modeltest.NewAnthropic(t, modeltest.Answer{Blocks: []modeltest.Block{{Text: "Half a"}}, Stop: "context"})
	_, err := providers[0].open(t, w).Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?")}})
	var e *model.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, model.ErrTooLong, e.Kind)
}

func TestRetryAfter(t *testing.T) {
	each(t, func(t *testing.T, p provider) {
		busy := modeltest.Answer{Status: 429, Type: "rate_limit_error", Message: "slow", Header: map[string]string{"retry-after": "1"}}
		w := p.serve(t, busy, modeltest.Answer{Blocks: []modeltest.Block{{Text: "Fine."}}})
		began := time.Now()
		_, err := p.open(t, w).Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?")}})
		require.NoError(t, err)
		require.GreaterOrEqual(t, time.Since(began), time.Second, "as told, though we would have tried after a millisecond")

		busy.Header["retry-after"] = "3600" // longer than there is time: said at once
		w = p.serve(t, busy)
		began = time.Now()
		_, err = p.open(t, w).Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?")}})
		var e *model.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, time.Hour, e.RetryAfter)
		require.Less(t, time.Since(began), 5*time.Second)
	})
}

func TestStall(t *testing.T) {
	each(t, func(t *testing.T, p provider) {
		w := p.serve(t, modeltest.Answer{Blocks: []modeltest.Block{{Text: "Half of"}}, Cut: 2, Stall: true},
			modeltest.Answer{Blocks: []modeltest.Block{{Text: "Whole."}}})
		r, err := p.open(t, w, func(o *model.Options) { o.Stall = 300 * time.Millisecond }).
			Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?")}})
		require.NoError(t, err)
		require.Equal(t, "Whole.", r.Message.PlainText())
	})
}

func TestCancelledAtOnce(t *testing.T) {
	each(t, func(t *testing.T, p provider) {
		w := p.serve(t, modeltest.Answer{Blocks: []modeltest.Block{{Text: "Half of it"}}, Cut: 3, Stall: true})
		why := errors.New("somebody said stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		began := time.Now()
		go func() {
			for len(w.Bodies()) == 0 {
				time.Sleep(time.Millisecond) // until it was asked
			}
			cancel(why)
		}()
		_, err := p.open(t, w).Generate(ctx, model.Call{Messages: []model.Message{model.UserText("?")}})
		require.ErrorIs(t, err, why)
		require.Less(t, time.Since(began), 10*time.Second)
	})
}

func TestOddReplies(t *testing.T) {
	each(t, func(t *testing.T, p provider) {
		for name, tc := range map[string]struct {
			a    modeltest.Answer
			stop model.Stop
			want []string
		}{
			"malformed arguments":          {modeltest.Answer{Blocks: []modeltest.Block{{Call: "read", ID: "c1", Args: `{"path": "a`}}}, model.StopTools, []string{`call c1 read {"path": "a`}},
			"arguments that are no object": {modeltest.Answer{Blocks: []modeltest.Block{{Call: "read", ID: "c1", Args: `["a"]`}}}, model.StopTools, []string{`call c1 read ["a"]`}},
			"unknown tool":                 {modeltest.Answer{Blocks: []modeltest.Block{{Call: "no_such", ID: "c1", Args: `{}`}}}, model.StopTools, []string{`call c1 no_such {}`}},
			"cut by its length in a call":  {modeltest.Answer{Blocks: []modeltest.Block{{Text: "So"}, {Call: "read", ID: "c1", Args: `{"pa`}}, Stop: "length"}, model.StopMaxOutput, []string{"text So", `call c1 read {"pa`}},
			"cut by its length":            {modeltest.Answer{Blocks: []modeltest.Block{{Text: "So it"}}, Stop: "length"}, model.StopMaxOutput, []string{"text So it"}},
			"refusal":                      {modeltest.Answer{Blocks: []modeltest.Block{{Text: "I can't."}}, Stop: "refusal"}, model.StopRefusal, []string{"text I can't."}},
			"nothing":                      {modeltest.Answer{}, model.StopEnd, nil},
			"thought only":                 {modeltest.Answer{Blocks: []modeltest.Block{{Thinking: "Hm."}}}, model.StopEnd, []string{"thinking Hm."}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := p.serve(t, tc.a, modeltest.Answer{Blocks: []modeltest.Block{{Text: "Done."}}})
				c := &talk{t: t, thinking: model.Medium, m: p.open(t, w)}
				c.say(model.UserText("?"))
				r := c.step()
				require.Equal(t, tc.stop, r.Stop)
				require.Equal(t, tc.want, shape(r.Message))
				// The conversation can go on from there.
				if calls := r.Message.Calls(); len(calls) > 0 {
					c.say(results(r.Message, func(int) string { return "that did not work" }, true))
				} else {
					c.say(model.UserText("Go on."))
				}
				c.step()
				require.Empty(t, w.Refused())
			})
		}
	})
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	each(t, func(t *testing.T, p provider) {
		thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			t.Errorf("the key and the code were sent on: %v", r.Header)
		}))
		defer thief.Close()
		w := p.serve(t, modeltest.Answer{Redirect: thief.URL})
		_, err := p.open(t, w).Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?")}})
		require.Error(t, err)
	})
}

func TestWrongKey(t *testing.T) {
	each(t, func(t *testing.T, p provider) {
		if p.name == "bedrock" || p.name == "vertex" {
			return // theirs are not keys: see TestCloudCredentials
		}
		w := p.serve(t)
		const wrong = "sk-wrong-abcdefghijklmnop"
		_, err := p.open(t, w, func(o *model.Options) { o.Key = wrong }).Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?")}})
		var e *model.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, model.ErrAuth, e.Kind)
		require.NotContains(t, err.Error(), wrong)
		require.Len(t, w.Bodies(), 1)
	})
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]model.Options{
		"no model":             {Provider: "anthropic"},
		"no base URL":          {Provider: "local", Model: "m"},
		"not a URL":            {Provider: "local", Model: "m", BaseURL: "127.0.0.1:80"},
		"a password in a URL":  {Provider: "local", Model: "m", BaseURL: "https://u:hunter2@h/v1"},
		"another kind of link": {Provider: "openai", Model: "m", BaseURL: "file:///etc/passwd"},
	} {
		_, err := model.New(o)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	for _, p := range providers {
		began := time.Now()
		m, err := model.New(model.Options{Provider: p.name, Model: p.model, Key: modeltest.Key, BaseURL: s.URL, Log: slog.New(slog.DiscardHandler), Retry: model.Retry{First: time.Millisecond, Most: 1000}})
		require.NoError(t, err)
		_, err = m.Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?")}})
		var e *model.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, model.ErrNetwork, e.Kind)
		require.Contains(t, e.Message, "refused", "after a few attempts, not a thousand")
		require.Less(t, time.Since(began), time.Minute)
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	p := model.Price{Input: 3, CacheRead: 0.3, CacheWrite: 3.75, Output: 15}
	require.InDelta(t, 3+0.3+3.75+15, p.Cost(model.Usage{Input: 1e6, CacheRead: 1e6, CacheWrite: 1e6, Output: 1e6}), 1e-9)
	w := modeltest.NewChat(t, modeltest.Answer{Blocks: []modeltest.Block{{Text: "x"}}})
	r, err := providers[2].open(t, w).Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?")}})
	require.NoError(t, err)
	require.Nil(t, r.Cost, "an unknown price is not zero")
}
