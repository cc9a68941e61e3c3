package model

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScout_FollowsALink(t *testing.T) {
	t.Parallel()
	const sha = "0123456789012345678901234567890123456789"
	start := func(question string) *conversation {
		return &conversation{brief: brief{Question: question, Place: "acme/app", Repos: []string{"acme/lib"}}, asked: map[string]int{}, tools: map[string]bool{"read_enclosing": true, "read": true, "find_code": true}}
	}
	open := func(c *conversation) []use {
		c.asked["checkout_repo"], c.opened = 1, []scoutCheckout{{Repo: "acme/lib", Name: "acme/lib"}}
		return c.next()
	}
	c := start("what does this function do? https://github.com/acme/lib/blob/" + sha + "/src/a%20b.go#L12.")
	require.Equal(t, "https://github.com/acme/lib/blob/"+sha+"/src/a%20b.go#L12", c.next()[0].args["repo"], "at the link's commit")
	uses := open(c)
	require.Len(t, uses, 1, "nothing else is asked")
	require.Equal(t, use{"read_enclosing", map[string]any{"repo": "acme/lib", "path": "src/a b.go", "line": 12}}, uses[0])
	c.asked["read_enclosing"] = 1
	c.takeRead(Part{Tool: "read_enclosing", Text: "// It parks.\nfunc park() {}", Data: []byte(`{"repo":"acme/lib","path":"src/a b.go","start":10,"end":20,"symbol":"park","decl":"function"}`)})
	require.Equal(t, "The link leads to the function `park` in `src/a b.go:12`: It parks.", c.summary())
	require.Equal(t, "provide_results", c.next()[0].tool)

	c = start("https://github.com/acme/lib/blob/main/src/a.go#L12-L14 who calls the gate?")
	uses = open(c)
	require.Equal(t, "find_code", uses[0].tool)
	require.Equal(t, "who calls the gate?", uses[0].args["question"])
	c.asked["find_code"], c.asked["read_enclosing"] = 1, 0
	require.Equal(t, "src/a.go", c.next()[0].args["path"], "what it links to is read first")
	c.takeRead(Part{Tool: "read_enclosing", Text: "x", Data: []byte(`{"repo":"acme/lib","path":"src/a.go","start":10,"end":20}`)})
	require.Equal(t, []int{12, 14}, []int{c.read[0].from, c.read[0].to}, "the lines that are linked to")

	c = start("https://github.com/acme/lib/blob/main/gone.go")
	require.Equal(t, "read", open(c)[0].tool)
	c.asked["read"] = 1
	c.takeRead(Part{Tool: "read", IsError: true, Text: "gone.go is not in acme/lib."})
	require.Equal(t, "find_code", c.next()[0].tool, "the words that are left")
	require.Contains(t, c.answer()["description"], "gone.go is not in acme/lib.")

	c = start("why? https://github.com/other/one/blob/main/src/a.go#L3")
	open(c)
	require.Equal(t, "why? src/a.go:3", c.question(), "not open here: the path may be found all the same")
}

func TestScout_OtherStyles(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"find_code"}, otherStyles("what does findCode do?"))
	require.Equal(t, []string{"findCode"}, otherStyles("what does find_code do?"))
	require.Equal(t, []string{"find_code", "findCode"}, otherStyles("FindCode"))
	require.Empty(t, otherStyles("how does it find code?"))
}

func TestScout_InDoubtOtherPartsAreReadToo(t *testing.T) {
	t.Parallel()
	found := func(fit string) scoutFound {
		f := scoutFound{Repo: "acme/app", Confidence: .5, Fit: fit}
		for i, p := range []string{"kit/src/a.ts", "kit/src/b.ts", "kit/src/c.ts", "kit/src/d.ts", "orm/src/e.ts", "web/src/f.ts"} {
			f.Candidates = append(f.Candidates, scoutCandidate{Path: p, Start: 1, End: 5, Score: []float64{1, 1, 1, 1, .9, .6}[i], Symbol: p[len(p)-4 : len(p)-3], Kind: "function"})
		}
		return f
	}
	paths := func(fit string) (out []string) {
		for _, w := range found(fit).worth() {
			out = append(out, w.Path)
		}
		return out
	}
	require.Equal(t, []string{"kit/src/a.ts", "kit/src/b.ts", "kit/src/c.ts", "kit/src/d.ts"}, paths("good"))
	require.Equal(t, []string{"kit/src/a.ts", "orm/src/e.ts", "kit/src/b.ts", "kit/src/c.ts"}, paths("doubtful"), "web fits less well")

	c := &conversation{brief: brief{Question: "how?", Repos: []string{"acme/app"}}, opened: []scoutCheckout{{Repo: "acme/app"}}, found: []scoutFound{found("doubtful")}}
	for _, w := range c.wanted() {
		w.from, w.to = w.Start, w.End
		c.read = append(c.read, w)
	}
	require.Equal(t, "The nearest match, which may not be what is asked, is the function `a` in `kit/src/a.ts:1`. Others elsewhere fit about as well: the function `e` in `orm/src/e.ts:1`.", c.summary())
}

func TestScout_NamedRepositoriesHaveTheirSay(t *testing.T) {
	t.Parallel()
	c := &conversation{brief: brief{Question: "compare the gates of acme/app and acme/lib", Place: "acme/app", Repos: []string{"acme/app", "acme/lib", "acme/doc"}}}
	for i, r := range c.brief.Repos {
		c.found = append(c.found, scoutFound{Repo: r, Confidence: []float64{.9, .3, .3}[i], Fit: []string{"good", "doubtful", "doubtful"}[i],
			Candidates: []scoutCandidate{{Path: "gate.go", Start: 1, End: 2, Score: 1}}})
	}
	var repos []string
	for _, w := range c.wanted() {
		repos = append(repos, w.repo)
	}
	require.Equal(t, []string{"acme/app", "acme/lib"}, repos, "acme/doc was not asked for")
}

func TestScout_WhatRaisesAnErrorBeforeItsType(t *testing.T) {
	t.Parallel()
	first := func(kind string, score float64, why string) string {
		f := scoutFound{Candidates: []scoutCandidate{{Symbol: "Lost", Kind: kind, Score: 1}, {Symbol: "other", Score: .9}, {Symbol: "raise", Kind: "function", Score: score, Why: []string{"mentions x", why}}}}
		f.raisedFirst()
		require.Len(t, f.Candidates, 3)
		require.ElementsMatch(t, []string{"Lost", "other", "raise"}, []string{f.Candidates[0].Symbol, f.Candidates[1].Symbol, f.Candidates[2].Symbol})
		return f.Candidates[0].Symbol
	}
	require.Equal(t, "raise", first("class", 1, "contains “was not found here”"))
	require.Equal(t, "Lost", first("class", 1, "contains “lost”"), "a word is no message")
	require.Equal(t, "Lost", first("class", .6, "contains “was not found here”"), "a test's copy of the message")
	require.Equal(t, "Lost", first("function", 1, "contains “was not found here”"))
}

func TestScout_SaysThatNoRepositoryWasFound(t *testing.T) {
	t.Parallel()
	c := &conversation{brief: brief{Question: "which web frameworks are there in python?"}, asked: map[string]int{"search_repos": 1}}
	require.Equal(t, "No repository was named, and GitHub's search finds none for `web frameworks` in Python. Name one as owner/repo in the question.", c.summary())
}

func TestScout_SaysWhatAPlaceHasToDoWithAMessage(t *testing.T) {
	t.Parallel()
	for want, w := range map[string]scoutCandidate{
		"function put: uses ErrFull, which is “no room left”": {Symbol: "put", Kind: "function", Why: []string{"mentions room", "contains “no room”", "uses ErrFull, which is “no room left”"}},
		"contains “no room left”":                             {Why: []string{"contains “no room left”", "mentions room"}},
		"function put":                                        {Symbol: "put", Kind: "function", Why: []string{"name has put"}},
		"matches the question's words":                        {},
	} {
		require.Equal(t, want, w.note())
	}
}
