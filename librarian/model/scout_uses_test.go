package model

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScout_TheNameWhoseUsesAreAskedFor(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"who calls parseHead?":                          "parseHead",
		"What uses `weigh`":                             "weigh",
		"which functions call crate.weigh()?":           "weigh",
		"which functions calls Crate::weigh()?":         "weigh",
		"show me all callers of the function park_all":  "park_all",
		"usages of MAX_LIDS in acme/app?":               "MAX_LIDS",
		"where is park_all called from?":                "park_all",
		"where is the method $park used":                "$park",
		"who uses cookies?":                             "",
		"who calls this?":                               "",
		"what calls does parseHead make?":               "",
		"where is the cache used by the parser?":        "",
		"who calls parseHead and why is it so slow?":    "",
		"how is parseHead called when a file is empty?": "",
		"": "",
	} {
		require.Equal(t, want, (&conversation{brief: brief{Question: question}}).namedUse(), question)
	}
}

func TestScout_WhoCallsWhatTheQuestionNames(t *testing.T) {
	t.Parallel()
	c := &conversation{brief: brief{Question: "who calls lineLen()?"}, asked: map[string]int{"checkout_repo": 1}, opened: []scoutCheckout{{Repo: "acme/app", Name: "acme/app@main"}},
		tools: map[string]bool{"grep": true, "find_code": true}}
	require.Equal(t, []use{{"grep", map[string]any{"repo": "acme/app", "pattern": `\blineLen\b`, "limit": scoutUses}}}, c.next())
	c.asked["grep"] = 1
	lines := []string{"a_test.go:3: lineLen(nil)", "a.go:9: func lineLen(b []byte) int {", "b.go:5: \t\tb = b[lineLen(b):]"}
	c.takeUses(`\blineLen\b`, Part{Text: strings.Join(lines, "\n")}, []scoutCandidate{{Path: "a_test.go", Line: 3}, {Path: "a.go", Line: 9}, {Path: "b.go", Line: 5}}, false)
	end := c.next()[0]
	require.Equal(t, "In acme/app: `lineLen` is used in 2 lines of 2 files.", end.args["summary"])
	locations := end.args["locations"].([]map[string]any)
	require.Equal(t, []any{"b.go", "a_test.go", "a.go"}, []any{locations[0]["file"], locations[1]["file"], locations[2]["file"]}, "tests come after the code, the declaration last")
	require.Contains(t, end.args["description"], "which it names")

	c.uses = nil
	require.Equal(t, "find_code", c.next()[0].tool, "a name that stands nowhere may be meant otherwise")
	c.asked["grep"], c.opened = 0, append(c.opened, scoutCheckout{Repo: "acme/lib", Name: "acme/lib@main"})
	require.Equal(t, "find_code", c.next()[0].tool, "in several repositories they are compared")
}
