package report

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
)

func TestTraceAsInTheContract(t *testing.T) {
	t.Parallel()
	want := `checkout  drizzle-team/drizzle-orm@main (cached · 2.1k files)        3.2s
search    code /prepare\w+\(/ in drizzle-team/* (23 hits · 4 repos)  0.9s
grep      "prepareQuery" drizzle-orm/src (14 matches)                0.3s
read      drizzle-orm/src/pg-core/session.ts:80-140                  0.1s
log       -S prepareQuery (12 commits)                               0.7s
results   3 locations                                                0.1s`
	require.Equal(t, want, Trace(calls(), nil))
	for i, line := range strings.Split(want, "\n") {
		require.Equal(t, line, TraceLine(calls()[i]), "one by one they stand in the same columns")
	}
}

func TestTraceLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   librarian.ToolEndData
		want string
	}{
		{librarian.ToolEndData{Verb: "read", Subject: "a/b.go", Summary: "o/r:b.go not found at 1234567 (check the path and ref).", IsError: true}, "read      a/b.go (o/r:b.go not found at 1234567 (check the path and ref)."},
		{librarian.ToolEndData{Verb: "read", Subject: "a/b.go", IsError: true}, "read      a/b.go (failed)"},
		{librarian.ToolEndData{Tool: "read"}, "read"},
		{librarian.ToolEndData{Verb: "read", Summary: "x"}, "read (x)"},
		{librarian.ToolEndData{Verb: "bash", Subject: "for i in *\ndo\n\techo $i\x1b[31m\ndone"}, "bash      for i in * do echo $i[31m done"},
		{librarian.ToolEndData{Verb: "bash", Subject: strings.Repeat("x", 500)}, "bash      " + strings.Repeat("x", 119) + "…"},
	} {
		got := TraceLine(c.in)
		require.NotContains(t, got, "\n")
		require.True(t, strings.HasPrefix(got, c.want), "%q", got)
		require.True(t, strings.HasSuffix(got, "  0.0s"), "%q", got)
	}
}

func TestTook(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0.0s", 40 * time.Millisecond: "0.0s", 950 * time.Millisecond: "0.9s", 59940 * time.Millisecond: "59.9s",
		59960 * time.Millisecond: "1m00s", 125 * time.Second: "2m05s", time.Hour + 90*time.Second: "1h01m",
	} {
		require.Equal(t, want, Took(d), d.String())
	}
}

func TestFooter(t *testing.T) {
	t.Parallel()
	price := 0.034
	for want, o := range map[string]librarian.Outcome{
		"1 tool call · 1.0s · builtin/scout (ranked search, no language model)":      {Calls: 1, Took: time.Second, Model: Scout, Thinking: "high"},
		"12 tool calls · 1m02s · anthropic/some-model (high) · 12.3k tokens · $0.03": {Calls: 12, Took: 62 * time.Second, Model: "anthropic/some-model", Thinking: "high", Usage: librarian.Usage{InputTokens: 12000, OutputTokens: 300, Cost: &price}},
		"0 tool calls · 0.5s · openai/m · 1 token":                                   {Took: 500 * time.Millisecond, Model: "openai/m", Thinking: "off", Usage: librarian.Usage{OutputTokens: 1}},
		"1,234 tool calls · 0.0s · x/y · 2.0M tokens":                                {Calls: 1234, Model: "x/y", Usage: librarian.Usage{CacheReadTokens: 2_000_000}},
	} {
		require.Equal(t, want, Footer(o))
	}
}

func TestW6_TraceColumnsStandWithSecretsRedacted(t *testing.T) {
	t.Parallel()
	const key, shape = "an-exact-value-that-is-held", "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
	cut := strings.Repeat("x", maxSubject-5) + " " + shape // a clip before would leave half of it
	got := Trace([]librarian.ToolEndData{
		{Verb: "grep", Subject: key, Summary: "no matches"}, {Verb: "find", Subject: "code " + shape}, {Verb: "read", Subject: "a/b.go", Summary: "1 line"}, {Verb: "ls", Subject: cut},
	}, []string{key})
	require.NotContains(t, got, key)
	require.NotContains(t, got, "ghp")
	lines := strings.Split(got, "\n")
	require.Equal(t, strings.Index(lines[0], " 0.0s"), strings.Index(lines[1], " 0.0s"), got)
	require.Equal(t, strings.Index(lines[0], " 0.0s"), strings.Index(lines[2], " 0.0s"), got)
}
