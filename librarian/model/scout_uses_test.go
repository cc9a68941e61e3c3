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

func TestScout_WhatDerivesFromWhatTheQuestionNames(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]bool{
		"which classes implement JarStore?": true, "what are all subclasses of the class Crate::Base?": true, "implementations of `Lid`": true,
		"who calls parseHead?": false, "who implements the retry logic?": false, "what extends the timeout?": false,
	} {
		c := &conversation{brief: brief{Question: question}}
		require.Equal(t, want, c.heirs() && c.namedUse() != "", question)
	}
	for line, want := range map[string]bool{
		"public class Shelf extends Base implements Named, JarStore {": true, "class Shelf(JarStore):": true, "class Shelf : Base(), JarStore {": true,
		"impl<T> JarStore for Shelf<T> {": true, "class Shelf < Jars::JarStore": true, "  include JarStore": true, "\timplements JarStore": true, "instance JarStore Shelf where": true,
		"class Shelf final : public JarStore {": true, "defimpl JarStore, for: Shelf do": true, "extension Shelf: JarStore {": true, "        JarStore<TJar>,": true, "    JarStore": true,
		"interface JarStore {": false, "var s JarStore = newShelf()": false, "    JarStore store = open(x);": false, "def f(store: JarStore):": false, "struct Shelf {": false,
	} {
		require.Equal(t, want, usage{name: "JarStore", path: "a", text: line, line: 1}.inherits(), line)
	}
	c := &conversation{brief: brief{Question: "who implements JarStore?"}, asked: map[string]int{"checkout_repo": 1, "grep": 1}, opened: []scoutCheckout{{Repo: "acme/app", Name: "acme/app@main"}},
		tools: map[string]bool{"grep": true, "find_code": true}}
	take := func(lines ...string) {
		c.uses, c.looked = nil, nil
		var matches []scoutCandidate
		for i, l := range lines {
			path, _, _ := strings.Cut(l, ":")
			matches = append(matches, scoutCandidate{Path: path, Line: i + 1})
		}
		c.takeUses(`\bJarStore\b`, Part{Text: strings.Join(lines, "\n")}, matches, false)
	}
	take("a.java:1: interface JarStore {", "b.java:2: class Shelf implements JarStore {", "c.java:3: JarStore s = null;")
	end := c.next()[0]
	require.Equal(t, "In acme/app: one line of one file derives from `JarStore`.", end.args["summary"])
	locations := end.args["locations"].([]map[string]any)
	require.Len(t, locations, 2)
	require.Equal(t, "derives from `JarStore`", locations[0]["note"])
	take("a.go:1: type JarStore interface {", "c.go:2: var s JarStore")
	require.Equal(t, "find_code", c.next()[0].tool, "Go does not say it in a line")
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
