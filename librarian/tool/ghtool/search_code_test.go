package ghtool_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/tool"
	"github.com/librarian-app/librarian/librarian/tool/ghtool"
)

// grepApp is a server that checks a request as strictly as the real one and answers with the next of its replies.
func grepApp(t *testing.T, wantArgs string, replies ...http.HandlerFunc) (ghtool.GrepApp, *atomic.Int32) {
	t.Helper()
	var calls atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(calls.Add(1))
		body, _ := io.ReadAll(r.Body)
		want := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"searchGitHub","arguments":` + wantArgs + `}}`
		var got, wanted any
		if err := json.Unmarshal(body, &got); err != nil {
			t.Errorf("body is not JSON: %s", body)
		}
		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			t.Errorf("the test's arguments are not JSON: %s", want)
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("body (-want +got):\n%s", diff)
		}
		if r.Method != http.MethodPost || r.URL.Path != "/" || r.URL.RawQuery != "" {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Authorization": "", "Cookie": ""} {
			if got := r.Header.Get(name); got != value {
				t.Errorf("header %s is %q, not %q", name, got, value)
			}
		}
		replies[min(n, len(replies))-1](w, r)
	}))
	t.Cleanup(s.Close)
	return ghtool.GrepApp{URL: s.URL, Pause: time.Millisecond}, &calls
}

// blocks is a result of these text blocks.
func blocks(texts ...string) string {
	type content struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	var c []content
	for _, t := range texts {
		c = append(c, content{"text", t})
	}
	b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "result": map[string]any{"content": c}})
	return string(b)
}

func plainJSON(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
}

func eventStream(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, ": ping\n\nevent: message\r\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\r\n\r\nevent: message\ndata: %s\n\n", body)
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

const defaults = `"matchCase":false,"matchWholeWords":false,"useRegexp":false`

func call(t *testing.T, tl tool.Tool, args string) tool.Result {
	t.Helper()
	got, err := tl.Call(t.Context(), json.RawMessage(args))
	require.NoError(t, err)
	return got
}

func TestSearchCodeReadsGrepApp(t *testing.T) {
	t.Parallel()
	first := "Repository: acme/widgets\nPath: src/a b.ts\nURL: https://forge.example/acme/widgets/blob/main/src/a%20b.ts\nLicense: MIT\n\nSnippets:\n" +
		"--- Snippet 1 (Line 39) ---\n\nl39\n\tl41\nRepository: not a heading\nl43\nl44\nl45\nl46\nl47\nl48\n\n--- Snippet 2 (Line 90) ---\nl90\x1b[31m\n\n--- Snippet 3 (Line 120) ---\nl120\n"
	second := "Repository: Acme/Widgets\nPath: b.go\nURL: https://forge.example/acme/widgets/blob/main/b.go\nLicense: Unknown\n\nSnippets:\n--- Snippet 1 (Line 7) ---\n" + strings.Repeat("x", 400) + "\n"
	want := `2 matches across 1 repos (grep.app).

acme/widgets:src/a b.ts
https://forge.example/acme/widgets/blob/main/src/a%20b.ts
    40: l39
    41: 	l41
    42: Repository: not a heading
    43: l43
    44: l44
    45: l45
    46: l46
    47: l47
…
    90: l90 [31m

Acme/Widgets:b.go
https://forge.example/acme/widgets/blob/main/b.go
     7: ` + strings.Repeat("x", 300) + "…"
	for name, reply := range map[string]http.HandlerFunc{"plain": plainJSON(blocks(first, second)), "events": eventStream(blocks(first, second))} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, calls := grepApp(t, `{"query":"foo(","repo":"acme/","path":"src/","language":["TSX"],"matchCase":true,"matchWholeWords":true,"useRegexp":false}`, reply)
			got := call(t, ghtool.SearchCode(g), `{"pattern":"foo(","repo":"acme/","path":"src/","language":"TSX","match_case":true,"whole_words":true}`)
			require.False(t, got.IsError)
			require.Equal(t, want, got.Text)
			require.Equal(t, "2 hits · 1 repo", got.Summary)
			require.Empty(t, got.Evidence, "a search shows candidates, not evidence")
			require.EqualValues(t, 1, calls.Load())
		})
	}
}

// What a third party answers has its bound here.
func TestSearchCodeCutsALongAnswer(t *testing.T) {
	t.Parallel()
	var texts []string
	for i := range 3000 {
		texts = append(texts, fmt.Sprintf("Repository: acme/r%d\nPath: a.go\n\nSnippets:\n--- Snippet 1 (Line 7) ---\n%s\n", i, strings.Repeat("x", 300)))
	}
	g, _ := grepApp(t, `{"query":"x","matchCase":false,"matchWholeWords":false,"useRegexp":false}`, plainJSON(blocks(texts...)))
	got := call(t, ghtool.SearchCode(g), `{"pattern":"x"}`)
	require.True(t, strings.HasPrefix(got.Text, "3000 matches across 3000 repos (grep.app).\n"), got.Text[:100])
	require.True(t, strings.HasSuffix(got.Text, "\n\n[50.0KB limit reached. Refine the pattern.]"), got.Text[len(got.Text)-100:])
	require.Less(t, len(got.Text), tool.MaxBytes+100)
	require.Less(t, len(got.Data), 2*tool.MaxBytes, "nor do programs get more than is shown")
	require.Equal(t, "3000 hits · 3000 repos", got.Summary)
}

func TestSearchCodeWithoutMatches(t *testing.T) {
	t.Parallel()
	for _, texts := range [][]string{{"No results found for your query."}, {}} {
		g, _ := grepApp(t, `{"query":"foo.*","matchCase":false,"matchWholeWords":false,"useRegexp":true}`, plainJSON(blocks(texts...)))
		got := call(t, ghtool.SearchCode(g), `{"pattern":"foo.*","regex":true}`)
		require.Equal(t, "No matches. Note: private repositories need search_github_code or checkout_repo + grep.", got.Text)
		require.False(t, got.IsError)
	}
}

func TestSearchCodeTriesAgainOnlyWhereThatHelps(t *testing.T) {
	t.Parallel()
	ok := plainJSON(blocks("Repository: a/b\nPath: c\nURL: https://forge.example/c\n\nSnippets:\n--- Snippet 1 (Line 1) ---\nfoo\n"))
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "500")
		_, _ = io.WriteString(w, "{")
	}
	slow := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	tests := []struct {
		name    string
		replies []http.HandlerFunc
		calls   int32
		failure string
	}{
		{name: "5xx twice", replies: []http.HandlerFunc{status(504), status(500), ok}, calls: 3},
		{name: "5xx always", replies: []http.HandlerFunc{status(503)}, calls: 3, failure: "HTTP status 503"},
		{name: "connection cut", replies: []http.HandlerFunc{cut, ok}, calls: 2},
		{name: "time-out once", replies: []http.HandlerFunc{slow, ok}, calls: 2},
		{name: "time-out always", replies: []http.HandlerFunc{slow}, calls: 3, failure: "no answer within 100ms"},
		{name: "4xx", replies: []http.HandlerFunc{status(429), ok}, calls: 1, failure: "HTTP status 429"},
		{name: "W10 redirect", replies: []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(307)
		}, ok}, calls: 1, failure: "HTTP status 307"},
		{name: "JSON-RPC error", replies: []http.HandlerFunc{plainJSON(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid arguments"}}`), ok},
			calls: 1, failure: `it answered "Invalid arguments"`},
		{name: "isError", replies: []http.HandlerFunc{eventStream(`{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"type":"text","text":"bad regex"}]}}`), ok},
			calls: 1, failure: `it answered "bad regex"`},
		{name: "HTML", replies: []http.HandlerFunc{plainJSON("<html>"), ok}, calls: 1, failure: "an answer that is not JSON-RPC"},
		{name: "endless", replies: []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) {
			for range 5 << 10 {
				_, _ = io.WriteString(w, strings.Repeat("x", 1<<10))
			}
		}, ok}, calls: 1, failure: "an answer over 4 MB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, calls := grepApp(t, `{"query":"foo",`+defaults+`}`, tt.replies...)
			switch tt.name {
			case "time-out once":
				g.Timeouts = []time.Duration{100 * time.Millisecond, 10 * time.Second}
			case "time-out always":
				g.Timeouts = []time.Duration{100 * time.Millisecond, 100 * time.Millisecond, 100 * time.Millisecond}
			}
			got := call(t, ghtool.SearchCode(g), `{"pattern":"foo"}`)
			require.Equal(t, tt.calls, calls.Load())
			if tt.failure == "" {
				require.Contains(t, got.Text, "1 matches across 1 repos (grep.app).")
				return
			}
			require.True(t, got.IsError)
			require.Equal(t, "grep.app search failed: "+tt.failure+". Try search_github_code, or checkout_repo + grep.", got.Text)
		})
	}
}

func TestSearchCodeRefusesBeforeItAsks(t *testing.T) {
	t.Parallel()
	g, calls := grepApp(t, `{}`, status(500))
	for args, want := range map[string]string{
		`{"pattern":" "}`:                                "pattern must not be empty.",
		`{"pattern":"(","regex":true}`:                   "pattern is not a regular expression: error parsing regexp: missing closing ): `(`. For literal code leave regex out.",
		`{"pattern":"` + strings.Repeat("é", 501) + `"}`: "pattern must be at most 500 characters.",
	} {
		got := call(t, ghtool.SearchCode(g), args)
		require.True(t, got.IsError)
		require.Equal(t, want, got.Text)
	}
	require.Zero(t, calls.Load())
}

func TestSearchCodeTrace(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{"pattern":"prepare\\w+\\(","regex":true,"repo":"drizzle-team/"}`: `code /prepare\w+\(/ in drizzle-team/*`,
		`{"pattern":"a\nb","repo":"a/b"}`:                                  `code "a b" in a/b`,
	} {
		verb, subject := ghtool.SearchCode(ghtool.GrepApp{}).Trace(json.RawMessage(args))
		require.Equal(t, "search", verb)
		require.Equal(t, want, subject)
	}
}
