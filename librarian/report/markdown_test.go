package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark/ast"

	"github.com/librarian-app/librarian/librarian"
)

func thread() Comment {
	return Comment{Run: run1, Bot: "librarian", Asker: "alice", Repo: librarian.GitHubRepo("github.com", 1), Secrets: []string{"s3cr3t-value"}, Commands: []string{"stop", "continue"}}
}

func location(name, path string, start, end int, note string) librarian.Location {
	n := int64(1)
	if name != "acme/app" {
		n = 2
	}
	return librarian.Location{Repo: librarian.GitHubRepo("github.com", n), Name: name, SHA: shaA, Path: path, Start: start, End: end, Note: note, Web: "https://github.com/" + name}
}

func outcome(kind librarian.OutcomeKind, f *librarian.Findings) librarian.Outcome {
	return librarian.Outcome{Kind: kind, Findings: f, Model: Scout, Calls: 6, Took: 5300 * time.Millisecond}
}

func findings() *librarian.Findings {
	return &librarian.Findings{
		Summary: "Queries are prepared in `src/server.go:10-20`, by prepareQuery.",
		Locations: []librarian.Location{
			location("acme/app", "src/server.go", 10, 20, "prepares the query"),
			location("acme/app", "app/(main)/[id]/my page.md", 3, 3, ""),
			location("acme/lib", "core/pool.go", 0, 0, "the pool"),
		},
		Description: "First the pool (core/pool.go:7), then:\n\n```go\nfunc f() {} // src/server.go:10-20\n```\n\nEnd.",
		References:  []librarian.Location{location("acme/app", "src/server.go", 10, 20, ""), location("acme/lib", "core/pool.go", 7, 7, "")},
		Dropped:     2,
	}
}

func one(t *testing.T, bodies []string) string {
	t.Helper()
	require.Len(t, bodies, 1)
	return bodies[0]
}

func TestAnswerGoldens(t *testing.T) {
	t.Parallel()
	c := thread()
	price := 0.0042
	llm := outcome(librarian.OutcomeFound, findings())
	llm.Model, llm.Thinking, llm.Usage = "anthropic/some-model", "high", librarian.Usage{InputTokens: 12_345, Cost: &price}
	limit := outcome(librarian.OutcomeLimit, &librarian.Findings{Summary: "These places were read.", Locations: findings().Locations[:1]})
	limit.Message = "The run took more than 10 minutes."
	failed := outcome(librarian.OutcomeFailed, &librarian.Findings{Locations: findings().Locations[:1]})
	failed.Message = "The librarian did not report structured findings after 3 reminders."
	failed.LastText = "I think it is somewhere."
	cancelled := outcome(librarian.OutcomeCancelled, nil)
	cancelled.Message = "alice asked to stop."
	local := outcome(librarian.OutcomeFound, &librarian.Findings{Summary: "Here.", Locations: []librarian.Location{{Repo: librarian.FileRepo("/x"), Name: "x", SHA: shaA, Path: "a b.go", Start: 1, End: 2}}})
	for name, body := range map[string]string{
		"answer.md":      one(t, c.Answer(outcome(librarian.OutcomeFound, findings()), calls())),
		"answer-llm.md":  one(t, c.Answer(llm, calls())),
		"limit.md":       one(t, c.Answer(limit, calls())),
		"failed.md":      one(t, c.Answer(failed, calls())),
		"cancelled.md":   one(t, c.Answer(cancelled, nil)),
		"local.md":       one(t, c.Answer(local, calls())),
		"interrupted.md": one(t, c.Interrupted(findings(), calls())),
		"refusal.md":     c.Refusal("Only people with triage rights may ask here."),
		"help.md":        c.Help(Help{Model: Scout, WhoMay: "People with triage rights may ask here.", Reads: "I read this repository and public ones.", Version: "v0.1.0"}),
		"progress.md":    c.Progress(Progress{Question: "Where are queries prepared?\nI looked.", Calls: calls()[:5], Running: "grep prepareQuery", Took: 35 * time.Second, Model: Scout}),
		"plain.txt":      Plain(run1, outcome(librarian.OutcomeFound, findings()), nil),
	} {
		golden(t, name, body)
	}
	raw, err := NewAnswer(run1, llm, calls(), nil).JSON()
	require.NoError(t, err)
	golden(t, "answer.json", string(raw))
}

// whole holds what every body of ours must: within the limit, and nothing left open in it.
func whole(t *testing.T, body string) {
	t.Helper()
	require.LessOrEqual(t, units(body), MaxComment)
	require.True(t, closed(body), "%s", body)
}

func TestP1_LongAnswer(t *testing.T) {
	t.Parallel()
	para := strings.Repeat("Words about the code, with `names` in it. ", 40)
	var b strings.Builder
	for i := 0; b.Len() < 195_000; i++ {
		fmt.Fprintf(&b, "## Section %d\n\n%s\n\n```go\nfunc f%d() {\n\n\treturn\n}\n```\n\n- item\n- item\n\n", i, para, i)
	}
	f := findings()
	f.Description = b.String()
	bodies := thread().Answer(outcome(librarian.OutcomeFound, f), calls())
	require.Greater(t, len(bodies), 1)
	require.LessOrEqual(t, len(bodies), MaxParts)
	all := strings.Join(bodies, "")
	for i, body := range bodies {
		whole(t, body)
		if i+1 < len(bodies) {
			require.Contains(t, body, fmt.Sprintf("*Part %d of %d; it goes on in the next comment.*", i+1, len(bodies)))
		}
	}
	for i := range strings.Count(b.String(), "## Section") {
		require.Contains(t, all, fmt.Sprintf("## Section %d\n", i), "nothing is lost")
		require.Contains(t, all, fmt.Sprintf("func f%d() {", i))
	}
	require.Contains(t, bodies[0], "**Locations**")
	require.Contains(t, bodies[len(bodies)-1], "<summary>Trace: 6 tool calls</summary>")
	require.NotContains(t, all, "did not fit")

	c := thread()
	c.Limit = 10_000 // GitHub called one too long
	bodies = c.Answer(outcome(librarian.OutcomeFound, f), calls())
	require.Len(t, bodies, MaxParts)
	for _, body := range bodies {
		require.LessOrEqual(t, units(body), c.Limit)
		whole(t, body)
	}
	require.Contains(t, bodies[MaxParts-1], "The answer was cut here: ", "and that is said")
}

func TestP1_Units(t *testing.T) {
	t.Parallel()
	f := &librarian.Findings{Summary: "s", Description: strings.Repeat("\U0001F600 a ", 30_000)}
	for i, body := range thread().Answer(outcome(librarian.OutcomeFound, f), calls()) {
		require.LessOrEqual(t, units(body), MaxComment, "part %d", i)
	}
}

func TestLongTrace(t *testing.T) {
	t.Parallel()
	var trace []librarian.ToolEndData
	for i := range 2_000 {
		trace = append(trace, librarian.ToolEndData{Verb: "read", Subject: fmt.Sprintf("app/file%d.go", i)})
	}
	body := one(t, thread().Answer(outcome(librarian.OutcomeFound, findings()), trace))
	require.Less(t, units(body), 20_000)
	require.Contains(t, body, "file0.go")
	require.Contains(t, body, "file1999.go")
	require.Contains(t, body, " calls left out …")
}

func TestP2_TraceFence(t *testing.T) {
	t.Parallel()
	trace := []librarian.ToolEndData{{Verb: "grep", Subject: "```` </details> @bob <!-- x"}}
	body := one(t, thread().Answer(outcome(librarian.OutcomeFound, findings()), trace))
	whole(t, body)
	var code []string
	_ = ast.Walk(parseMarkdown([]byte(body)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if f, ok := n.(*ast.FencedCodeBlock); ok && entering {
			code = append(code, string(f.Lines().Value([]byte(body))))
		}
		return ast.WalkContinue, nil
	})
	require.Contains(t, code[len(code)-1], "```` </details> @bob <!-- x")
}

// Whatever a model, a tool or a person wrote reaches a body only cleaned.
func TestW6_W7_P3_P4_EverythingIsCleaned(t *testing.T) {
	t.Parallel()
	const bad = "@mallory fixes #1 ![x](https://evil.example/?d=1) [y](https://evil.example/) <img src=x> ghs_0123456789abcdefghijABCDEFGHIJ012345 s3cr3t-value"
	f := findings()
	f.Summary += " " + bad
	f.Description += " " + bad
	f.Locations[0].Note = bad
	o := outcome(librarian.OutcomeLimit, f)
	o.Message, o.LastText = bad, bad
	trace := []librarian.ToolEndData{{Verb: "bash", Subject: bad, Summary: bad, IsError: true}}
	c := thread()
	bodies := append(c.Answer(o, trace), c.Refusal(bad), c.Notice(bad), c.Help(Help{Problems: []string{bad, bad}, WhoMay: bad}), c.Progress(Progress{Question: bad, Running: bad, Calls: trace}))
	for _, body := range bodies {
		require.NotContains(t, body, "ghs_0123456789")
		require.NotContains(t, body, "s3cr3t-value")
		source := []byte(body)
		_ = ast.Walk(parseMarkdown(source), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			switch n := n.(type) {
			case *ast.Image:
				t.Errorf("live image in %s", body)
			case *ast.Link:
				require.Contains(t, string(n.Destination), "https://github.com/acme/")
			case *ast.AutoLink:
				require.Contains(t, string(n.URL(source)), "https://github.com/acme/")
			case *ast.Text:
				if _, code := n.Parent().(*ast.CodeSpan); !code {
					require.NotContains(t, string(n.Segment.Value(source)), "@mallory")
					require.NotContains(t, string(n.Segment.Value(source)), "#1")
				}
			case *ast.RawHTML:
				require.NotContains(t, string(n.Segments.Value(source)), "img")
			}
			return ast.WalkContinue, nil
		})
	}
	plain := Plain(run1, o, c.Secrets)
	require.NotContains(t, plain, "ghs_0123456789")
	require.NotContains(t, plain, "s3cr3t-value")
	raw, err := NewAnswer(run1, o, trace, c.Secrets).JSON()
	require.NoError(t, err)
	require.NotContains(t, string(raw), "ghs_0123456789")
	require.NotContains(t, string(raw), "s3cr3t-value")
}

func TestUnfoldedPermalinks(t *testing.T) {
	t.Parallel()
	bare := func(locations ...librarian.Location) int {
		body := one(t, thread().Answer(outcome(librarian.OutcomeFound, &librarian.Findings{Summary: "s", Locations: locations}), nil))
		n := 0
		for line := range strings.Lines(body) {
			if strings.HasPrefix(line, "https://github.com/") {
				n++
			}
		}
		return n
	}
	a := func(i int) librarian.Location { return location("acme/app", "a.go", i, i+1, "") }
	require.Equal(t, 3, bare(a(1), a(2), a(3)))
	require.Equal(t, 3, bare(a(1), a(2), a(3), a(4)), "more would bury the answer")
	require.Zero(t, bare(location("acme/lib", "a.go", 1, 2, "")), "another repository")
	require.Zero(t, bare(location("acme/app", "a.go", 0, 0, "")), "a whole file is not unfolded")
}

func TestLabelsTellApart(t *testing.T) {
	t.Parallel()
	fork := location("other/app", "a.go", 1, 1, "")
	old := location("acme/app", "a.go", 1, 1, "")
	old.SHA = shaB
	require.Equal(t, []string{"acme/app/a.go:1 @ aaaaaaa", "other/app/a.go:1", "acme/app/a.go:1 @ bbbbbbb"}, labels([]librarian.Location{location("acme/app", "a.go", 1, 1, ""), fork, old}))
}

func TestLinkMentions(t *testing.T) {
	t.Parallel()
	refs := findings().References
	refs = append(refs, location("acme/app", "__init__.py", 3, 3, ""), location("acme/app", "docs/my file.md", 3, 3, ""))
	server := Permalink(refs[0])
	for in, want := range map[string]string{
		"see src/server.go:10-20.":          "see [`src/server.go:10-20`](" + server + ").",
		"see `src/server.go:10–20`.":        "see [`src/server.go:10–20`](" + server + ").",
		"see `` server.go#L10-L20 ``":       "see [`` server.go#L10-L20 ``](" + server + ")",
		"app/src/server.go:10-20":           "[`app/src/server.go:10-20`](" + server + ")",
		"acme/app:src/server.go:10-20":      "[`acme/app:src/server.go:10-20`](" + server + ")",
		"in \\_\\_init\\_\\_.py:3":          "in [`__init__.py:3`](" + Permalink(refs[2]) + ")",
		"`docs/my file.md:3`":               "[`docs/my file.md:3`](" + Permalink(refs[3]) + ")",
		"**src/server.go:10-20**":           "**[`src/server.go:10-20`](" + server + ")**",
		"[src/server.go:10-20](/x)":         "[src/server.go:10-20](/x)",
		"`call src/server.go:10-20 now`":    "`call src/server.go:10-20 now`",
		"src/server.go:10-21":               "src/server.go:10-21",
		"```\nsrc/server.go:10-20\n```":     "```\nsrc/server.go:10-20\n```",
		"- a\n  - src/server.go:10-20, b":   "- a\n  - [`src/server.go:10-20`](" + server + "), b",
		"| a |\n|---|\n| server.go:10-20 |": "| a |\n|---|\n| [`server.go:10-20`](" + server + ") |",
	} {
		require.Equal(t, want, linkMentions(in, refs, ""))
	}
	require.Equal(t, "src/server.go:10-20", linkMentions("src/server.go:10-20", []librarian.Location{{Path: "src/server.go", Start: 10, End: 20, SHA: shaA}}, ""), "no page, no link")
}

func TestPlainObeysNoOne(t *testing.T) {
	t.Parallel()
	f := findings()
	f.Summary = "red \x1b[31m bell\a \u202etxt.exe"
	f.Locations[0].Note = "a\r\x1b]0;title\a"
	out := Plain(run1, outcome(librarian.OutcomeFound, f), nil)
	for _, bad := range []string{"\x1b", "\a", "\r", "\u202e"} {
		require.NotContains(t, out, bad)
	}
	require.Contains(t, out, "red [31m bell txt.exe")
}

// What does not work here is not offered.
func TestCommandsOffered(t *testing.T) {
	t.Parallel()
	c := thread()
	all := func() string {
		return one(t, c.Answer(outcome(librarian.OutcomeFound, findings()), nil)) + c.Progress(Progress{Question: "q"}) + c.Help(Help{})
	}
	require.Contains(t, all(), "`@librarian continue "+string(run1)+" <question>`")
	require.Contains(t, all(), "`@librarian stop` stops")
	require.Contains(t, all(), "to stop it, comment `@librarian stop`")
	require.NotContains(t, all(), "retry")
	c.Commands = nil
	require.NotContains(t, all(), "continue")
	require.NotContains(t, all(), "stop")
	require.Contains(t, all(), "mention `@librarian` again")
}

func TestLimitIsSaidOnce(t *testing.T) {
	t.Parallel()
	o := outcome(librarian.OutcomeLimit, &librarian.Findings{Summary: "Limit reached: 40 steps. This is what was read."})
	o.Message = "40 steps"
	require.Equal(t, 1, strings.Count(one(t, thread().Answer(o, nil)), "Limit reached"))
	require.Equal(t, 1, strings.Count(Plain(run1, o, nil), "Limit reached"))
}

func TestAnswerSaysHowItEnded(t *testing.T) {
	t.Parallel()
	for kind, want := range map[librarian.OutcomeKind]string{
		librarian.OutcomeLimit: "Limit reached", librarian.OutcomeFailed: "could not be answered", librarian.OutcomeCancelled: "Stopped",
	} {
		body := one(t, thread().Answer(outcome(kind, nil), nil))
		whole(t, body)
		require.Contains(t, body, want)
		require.Contains(t, body, string(run1))
	}
	body := one(t, thread().Answer(outcome(librarian.OutcomeFound, findings()), calls()))
	whole(t, body)
	require.Contains(t, body, "builtin/scout (ranked search, no language model)")
	require.Contains(t, body, "2 references could not be verified.")
}
