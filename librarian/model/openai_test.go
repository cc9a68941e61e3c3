package model_test

import (
	"encoding/json"
	"fmt"
	"io"
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

func TestOpenAIThinkingLevels(t *testing.T) {
	t.Parallel()
	for id, levels := range map[string]map[model.Level]string{
		"gpt-4.1":           {model.Off: "", model.Max: ""},
		"gpt-5-chat-latest": {model.High: ""},
		"o3":                {model.Off: "low", model.XHigh: "high"},
		"gpt-5-mini":        {model.Off: "minimal", model.Max: "high"},
		"gpt-5.1":           {model.Off: "none", model.Minimal: "none", model.Max: "high"},
		"gpt-5.2":           {model.Off: "none", model.Medium: "medium", model.Max: "xhigh"},
	} {
		for level, want := range levels {
			w := modeltest.NewOpenAI(t, modeltest.Answer{Blocks: []modeltest.Block{{Text: "x"}}})
			m := provider{"openai", id, modeltest.NewOpenAI, "/v1"}.open(t, w)
			_, err := m.Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?")}, Thinking: level})
			require.NoError(t, err)
			var body struct {
				Reasoning struct {
					Effort string `json:"effort"`
				} `json:"reasoning"`
				Include []string `json:"include"`
			}
			require.NoError(t, json.Unmarshal(w.Bodies()[0], &body))
			require.Equal(t, want, body.Reasoning.Effort, "%s %s", id, level)
			require.Equal(t, want != "", len(body.Include) > 0, id)
		}
	}
}

func TestOpenAICacheKeyIsTheRuns(t *testing.T) {
	t.Parallel()
	keys := map[string]int{}
	for _, question := range []string{"one?", "two?"} {
		w := modeltest.NewOpenAI(t, modeltest.Answer{Blocks: []modeltest.Block{{Call: "read", ID: "c1", Args: `{}`}}}, modeltest.Answer{Blocks: []modeltest.Block{{Text: "x"}}})
		c := &talk{t: t, m: providers[1].open(t, w)}
		c.say(model.UserText(question))
		c.say(results(c.step().Message, ok, false))
		c.step()
		for _, b := range w.Bodies() {
			var body struct {
				Key string `json:"prompt_cache_key"`
			}
			require.NoError(t, json.Unmarshal(b, &body))
			keys[body.Key]++
		}
	}
	require.Len(t, keys, 2)
	for _, n := range keys {
		require.Equal(t, 2, n, "the same in each step of a run")
	}
}

// fixed is a server that answers each request with the next of the given bodies.
func fixed(t *testing.T, answers ...func(w http.ResponseWriter, body string)) (url string, asked func() []string) {
	t.Helper()
	var bodies []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(raw))
		if len(bodies) > len(answers) {
			t.Errorf("unexpected request %s", raw)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		answers[len(bodies)-1](w, string(raw))
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string { return bodies }
}

func says(status int, contentType, body string) func(http.ResponseWriter, string) {
	return func(w http.ResponseWriter, _ string) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func stream(chunks ...string) func(http.ResponseWriter, string) {
	return says(http.StatusOK, "text/event-stream", "data: "+strings.Join(chunks, "\n\ndata: ")+"\n\n")
}

func delta(d, finish string) string {
	if finish != "null" {
		finish = `"` + finish + `"`
	}
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, d, finish)
}

func local(t *testing.T, url string) model.Model {
	t.Helper()
	m, err := model.New(model.Options{Provider: "local", Model: "m", BaseURL: url + "/v1", Log: slog.New(slog.DiscardHandler), Retry: model.Retry{First: time.Millisecond, Most: 2}})
	require.NoError(t, err)
	return m
}

func ask(t *testing.T, m model.Model, thinking model.Level) (model.Reply, error) {
	t.Helper()
	return m.Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?")}, Tools: tools(), Thinking: thinking})
}

// What servers that call themselves compatible do in their own ways.
func TestCompatibleServersDiffer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		chunks []string
		want   []string
		stop   model.Stop
	}{
		"calls that say stop": {[]string{delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]}`, "stop"), "[DONE]"},
			[]string{"call a read {}"}, model.StopTools},
		"whole calls under one number": {[]string{delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"x\":1}"}}]}`, "null"),
			delta(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"grep","arguments":"{\"y\":2}"}}]}`, "tool_calls")},
			[]string{`call a read {"x":1}`, `call b grep {"y":2}`}, model.StopTools},
		"calls without numbers": {[]string{delta(`{"tool_calls":[{"id":"a","function":{"name":"read","arguments":"{\"x\":"}}]}`, "null"),
			delta(`{"tool_calls":[{"function":{"arguments":"1}"}}]}`, "null"), delta(`{"tool_calls":[{"id":"b","function":{"name":"grep","arguments":"{}"}}]}`, "tool_calls")},
			[]string{`call a read {"x":1}`, `call b grep {}`}, model.StopTools},
		"calls without ids": {[]string{delta(`{"tool_calls":[{"index":0,"function":{"name":"read","arguments":"{}"}},{"index":1,"function":{"name":"read","arguments":"{}"}}]}`, "tool_calls")},
			[]string{"call call_1_read read {}", "call call_2_read read {}"}, model.StopTools},
		"two calls of one id": {[]string{delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}},{"index":1,"id":"a","function":{"name":"grep","arguments":"{}"}}]}`, "tool_calls")},
			[]string{"call a read {}", "call call_2_grep grep {}"}, model.StopTools},
		"pieces that take turns": {[]string{delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":""}}]}`, "null"),
			delta(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"grep","arguments":"{\"p\""}}]}`, "null"), delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`, "null"),
			delta(`{"tool_calls":[{"index":1,"function":{"arguments":":1}"}}]}`, "tool_calls")},
			[]string{"call a read {}", `call b grep {"p":1}`}, model.StopTools},
		"the other name for thoughts": {[]string{delta(`{"reasoning":"Hm. "}`, "null"), delta(`{"reasoning":"So."}`, "null"), delta(`{"content":"Yes."}`, "stop")},
			[]string{"thinking Hm. So.", "text Yes."}, model.StopEnd},
		"no DONE and no usage": {[]string{delta(`{"content":"Yes."}`, "stop")}, []string{"text Yes."}, model.StopEnd},
		"a refusal":            {[]string{delta(`{"refusal":"No."}`, "stop")}, []string{"text No."}, model.StopRefusal},
		"filtered":             {[]string{delta(`{"content":"Ye"}`, "content_filter")}, []string{"text Ye"}, model.StopRefusal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, _ := fixed(t, stream(tc.chunks...))
			r, err := ask(t, local(t, url), model.Off)
			require.NoError(t, err)
			require.Equal(t, tc.want, shape(r.Message))
			require.Equal(t, tc.stop, r.Stop)
		})
	}
}

func TestCompatibleErrorsDiffer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer func(http.ResponseWriter, string)
		kind   model.ErrorKind
		says   string
		asked  int
	}{
		"llama.cpp: too long": {says(400, "application/json", `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`),
			model.ErrTooLong, "context size", 1},
		"ollama: no such model":   {says(404, "application/json", `{"error":{"message":"model 'm' not found","type":"not_found_error","param":null,"code":null}}`), model.ErrInvalid, "model 'm' not found", 1},
		"ollama: no tools":        {says(400, "application/json", `{"error":{"message":"registry.ollama.ai/library/m does not support tools","type":"api_error"}}`), model.ErrInvalid, "does not support tools", 1},
		"an error that is a word": {says(400, "application/json", `{"error":"bad thing"}`), model.ErrInvalid, "bad thing", 1},
		"a detail":                {says(422, "application/json", `{"detail":"not like this"}`), model.ErrInvalid, "not like this", 1},
		"a page":                  {says(502, "text/html", `<html>nginx</html>`), model.ErrOverloaded, "Bad Gateway", 2},
		"no money": {says(429, "application/json", `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`),
			model.ErrAuth, "quota", 1},
		"an error in the stream":     {stream(`{"error":{"message":"Provider returned error","code":502}}`), model.ErrOverloaded, "Provider returned", 2},
		"too long, in the stream":    {stream(`{"error":{"message":"maximum context length is 8192 tokens","code":"context_length_exceeded"}}`), model.ErrTooLong, "8192", 1},
		"an ending that is an error": {stream(delta(`{"content":"Ye"}`, "error")), model.ErrOverloaded, "broke off", 2},
		"a page instead of a stream": {says(200, "text/html; charset=utf-8", "<html>log in</html>"), model.ErrInvalid, "a web page; check the base URL", 1},
		"one piece instead of a stream": {says(200, "application/json", `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"Yes."}}]}`),
			model.ErrInvalid, "set no_stream", 1},
		"an error instead of a stream": {says(200, "application/json", `{"error":{"message":"Provider returned error","code":502}}`), model.ErrOverloaded, "Provider returned", 2},
		"no JSON in the stream":        {stream("{oops"), model.ErrNetwork, "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, asked := fixed(t, tc.answer, tc.answer)
			_, err := ask(t, local(t, url), model.Off)
			var e *model.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, tc.kind, e.Kind, err)
			require.Contains(t, e.Message, tc.says)
			require.Len(t, asked(), tc.asked)
		})
	}
}

func TestCompatibleDoesWithout(t *testing.T) {
	t.Parallel()
	refuse := func(what string) func(http.ResponseWriter, string) {
		return says(400, "application/json", `{"error":{"message":"Unrecognized request argument supplied: `+what+`","type":"invalid_request_error"}}`)
	}
	url, asked := fixed(t, refuse("stream_options"), refuse("reasoning_effort"), stream(delta(`{"content":"Yes."}`, "stop")))
	r, err := ask(t, local(t, url), model.High)
	require.NoError(t, err)
	require.Equal(t, "Yes.", r.Message.PlainText())
	require.Contains(t, asked()[0], "stream_options")
	require.NotContains(t, asked()[1], "stream_options")
	require.Contains(t, asked()[1], `"reasoning_effort":"high"`)
	require.NotContains(t, asked()[2], "reasoning_effort")
}
