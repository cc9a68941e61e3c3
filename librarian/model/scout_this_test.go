package model

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScout_NamesOfTheLineUnderReview(t *testing.T) {
	t.Parallel()
	for hunk, want := range map[string]string{
		"@@ -1,3 +1,4 @@\n package x\n+func (s *Shelf) Weigh(n int) int {": "Weigh",
		"@@ -1,3 +1,4 @@\n const (\n+\tmaxBlank = 9":                       "maxBlank",
		"@@ -9,3 +9,4 @@ func park(n int) {\n+\treturn weigh(n)":           "weigh",
		"@@ -9,3 +9,4 @@ func park(n int) {\n x++\n+\tn++":                 "park",
		"@@ -1 +1 @@\n-def crate(self, n):\n+    def crate(self, n, m=1):": "crate",
		"@@ -1 +1 @@\n+export const crateSize = (n) => n + 1":              "crateSize",
		"@@ -1 +1 @@\n+static int weigh_all(struct crate *c)":              "weigh_all",
		"@@ -1 +1 @@\n+  public Crate weigh(int n) {":                      "weigh",
		"@@ -1 +1 @@\n+    return shelf.size":                              "shelf",
		"@@ -1 +1 @@\n+    if (lid) {\n+      rim = cut(lid);":             "rim",
		"@@ -1 +1 @@\n+}": "",
		"":                "",
	} {
		require.Equal(t, want, strings.Join(namesAt(hunk), " "), "%q", hunk)
	}
}

func TestScout_NamesOfWhatAPullRequestChanges(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"maxBlank", "lineLen", "Crate", "weigh", "far"}, namesChanged(strings.Join([]string{
		"diff 1..2", "", "2 files changed:", "M in/line.go (+3 -3)", "", "in/line.go", "@@",
		" 3: const (", "-4: \tmaxBlank = 8", "+4: \tmaxBlank = 9", " 5: \tother = 3", " 6: )",
		"@@ const (",
		" 8: // lineLen is long.", " 9: func lineLen(b []byte) int {", " 10: \tn := 0", "-11: \treturn n", "+11: \treturn n + 1", "-12: // gone", " 13: }",
		"", "in/crate.py", "@@", "+1: class Crate:", "+2:     size = 3", "+3:     def weigh(self):", "+4:         return 1",
		"@@ func far(n int) {", " 90: \tn++", "+91: \tn--", " 92: }", "", "+93: // far is near now",
	}, "\n")))
	require.Empty(t, namesChanged("README.md\n@@\n+1: # Title\n+2: Words (and more) of it.\n"))
	require.Empty(t, namesChanged(""))
}

func TestScout_WhatPointsAtTheChange(t *testing.T) {
	t.Parallel()
	review := &briefReview{Path: "a.go", Line: 3, Hunk: "@@ -1 +1 @@\n+func weigh() {"}
	for q, want := range map[string]bool{
		"who calls this?": true, "who calls what this changes?": true, "where else is this pattern used?": true, "Is this used anywhere else?": true,
		"what depends on this function?": true, "what does this do?": true, "can you show me all callers of it?": true,
		"who calls the gate in this repo?": false, "how is a crate weighed?": false, "who calls `weigh`?": false, "what is the rim of a lid?": false, "": false,
	} {
		c := &conversation{brief: brief{Question: q, Review: review}}
		require.Equal(t, want, c.aboutThis(), q)
	}
	require.False(t, (&conversation{brief: brief{Question: "who calls this?"}}).aboutThis(), "nothing is under review")
	for q, want := range map[string]bool{
		"who calls this?": true, "is it used elsewhere?": true, "does anything use this?": true, "show all code that uses this": true, "who depends on these?": true,
		"what does this call?": false, "what does it depend on?": false, "which functions this uses": false, "what is this?": false,
	} {
		require.Equal(t, want, (&conversation{brief: brief{Question: q}}).asksWho(), q)
	}
}

func TestScout_WhoUsesWhatIsUnderReview(t *testing.T) {
	t.Parallel()
	start := func(b brief) *conversation {
		b.Place = "acme/app"
		return &conversation{brief: b, asked: map[string]int{"checkout_repo": 1}, opened: []scoutCheckout{{Repo: "acme/lib", Name: "acme/lib"}, {Repo: "acme/app", Name: "acme/app@main"}},
			tools: map[string]bool{"grep": true, "git_diff": true, "find_code": true, "read_enclosing": true}}
	}
	grep := func(c *conversation, pattern string, lines ...string) {
		var matches []scoutCandidate
		for _, l := range lines {
			var m scoutCandidate
			_, err := fmt.Sscanf(strings.ReplaceAll(l, ":", " "), "%s %d", &m.Path, &m.Line)
			require.NoError(t, err)
			matches = append(matches, m)
		}
		c.asked["grep"]++
		c.takeUses(pattern, Part{Text: strings.Join(lines, "\n")}, matches, len(lines) == 2)
	}

	c := start(brief{Question: "who calls this?", Review: &briefReview{Path: "a.go", Line: 9, Hunk: "@@ -8 +9 @@\n+func lineLen(b []byte) int {"}})
	require.Equal(t, []use{{"grep", map[string]any{"repo": "acme/app", "pattern": `\blineLen\b`, "limit": scoutUses}}}, c.next())
	grep(c, `\blineLen\b`, "a.go:8: // lineLen is long.", "a.go:9: func lineLen(b []byte) int {", "b.go:5: \t\tb = b[lineLen(b):]", "b.go:13: func first(b []byte) []byte { return b[:lineLen(b)] }")
	end := c.next()[0]
	require.Equal(t, "provide_results", end.tool)
	require.Equal(t, "In acme/app: `lineLen` is used in 2 lines of one file.", end.args["summary"])
	locations := end.args["locations"].([]map[string]any)
	require.Len(t, locations, 3)
	require.Equal(t, map[string]any{"repo": "acme/app", "file": "b.go", "lines": "5", "note": "uses `lineLen`"}, locations[0])
	require.Equal(t, "declares `lineLen`", locations[2]["note"])

	c = start(brief{Question: "who calls what this changes?", Pull: &briefPull{BaseSHA: "abc"}})
	require.Equal(t, []use{{"git_diff", map[string]any{"repo": "acme/app", "from": "abc", "merge_base": true, "context": scoutContext}}}, c.next())
	c.asked["git_diff"], c.diff = 1, "a.go\n@@\n+3: func weigh() {\n"
	require.Equal(t, `\bweigh\b`, c.next()[0].args["pattern"])
	grep(c, `\bweigh\b`, "a.go:3: func weigh() {", "b.go:1: weigh()")
	require.Contains(t, c.next()[0].args["summary"], "`weigh` is used in at least one line of one file")
	c.looked, c.uses = nil, nil
	grep(c, `\bweigh\b`, "a.go:3: func weigh() {")
	require.Equal(t, "In acme/app: no line was found that uses `weigh`.", c.next()[0].args["summary"])
	c.diff = "a.go\n@@\n+3: func weigh() {\n+4: }\n+5: func a() {\n+6: }\n+7: func b() {\n+8: }\n+9: func d() {\n"
	require.Contains(t, c.next()[0].args["description"], "beside 3 more")
	c.looked = nil
	require.Contains(t, c.next()[0].args["summary"], "The uses of `weigh`, `a`, `b` could not be looked for.")

	c = start(brief{Question: "who uses this?", Pull: &briefPull{BaseSHA: "abc"}})
	c.asked["git_diff"] = 1
	require.Contains(t, c.next()[0].args["summary"], "What this changes could not be read.")
	c.diff = "README.md\n@@\n+1: # Title\n"
	require.Contains(t, c.next()[0].args["summary"], "declares nothing that could be looked for")

	c = start(brief{Question: "who uses this?", Pull: &briefPull{BaseSHA: "abc"}, Review: &briefReview{Path: "a.go"}})
	require.Equal(t, "a.go", c.next()[0].args["path"], "a comment on a whole file")

	c = start(brief{Question: "what does this call?", Review: &briefReview{Path: "a.go", Line: 9, Hunk: "@@ -8 +9 @@\n+func lineLen(b []byte) int {"}})
	require.Equal(t, "read_enclosing", c.next()[0].tool, "the other way round")
	c.opened = c.opened[:1]
	require.Equal(t, "find_code", c.next()[0].tool, "what is under review is not open")

	require.Equal(t, []string{`\bx\b`, `\$x\b`}, []string{wholeWord("x"), wholeWord("$x")})
	c = start(brief{})
	grep(c, wholeWord("$x"), "a.php:1: echo $x;")
	require.Equal(t, []string{"$x"}, c.looked)

	c = start(brief{Question: "what does this do?", Review: &briefReview{Path: "a.go", Line: 9, Hunk: "@@ -8 +9 @@\n+func lineLen(b []byte) int {"}})
	require.Equal(t, []use{{"read_enclosing", map[string]any{"repo": "acme/app", "path": "a.go", "line": 9}}}, c.next())
	c.asked["read_enclosing"] = 1
	c.takeRead(Part{Tool: "read_enclosing", Text: "// lineLen is long.\nfunc lineLen() {}", Data: []byte(`{"repo":"acme/app","path":"a.go","start":8,"end":12,"symbol":"lineLen","decl":"function"}`)})
	require.Contains(t, c.summary(), "The line under review is in the function `lineLen`")
}
