package model

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// turns puts a question to scout and answers its calls, until it gives its results.
func turns(t *testing.T, briefing string, answer func(tool string, args map[string]any) Part) (asked []string, results map[string]any) {
	t.Helper()
	call := Call{Tools: []ToolSpec{{Name: "search_repos"}, {Name: "read_github_file"}, {Name: "checkout_repo"}, {Name: "find_code"}, {Name: "provide_results"}},
		Messages: []Message{{Role: User, Parts: []Part{{Kind: Text, Text: "?", Data: json.RawMessage(briefing)}}}}}
	for range 8 {
		reply, err := Scout{}.Generate(t.Context(), call)
		require.NoError(t, err)
		back := Message{Role: User}
		for _, p := range reply.Message.Parts {
			args := map[string]any{}
			require.NoError(t, json.Unmarshal(p.Args, &args))
			if p.Tool == "provide_results" {
				return asked, args
			}
			asked = append(asked, p.Tool+" "+string(p.Args))
			r := answer(p.Tool, args)
			r.Kind, r.CallID, r.Tool = ToolResult, p.CallID, p.Tool
			back.Parts = append(back.Parts, r)
		}
		call.Messages = append(call.Messages, reply.Message, back)
	}
	require.Fail(t, "it does not end")
	return nil, nil
}

func found(t *testing.T, hits ...repoHit) Part {
	t.Helper()
	d := scoutRepoSearch{Repos: []string{}, Found: hits}
	for _, h := range hits {
		d.Repos = append(d.Repos, h.Name)
	}
	b, err := json.Marshal(d)
	require.NoError(t, err)
	return Part{Data: b}
}

func TestScout_ComparesWhatASearchForRepositoriesFinds(t *testing.T) {
	t.Parallel()
	asked, results := turns(t, `{"question":"which web frameworks are there in python?"}`, func(tool string, args map[string]any) Part {
		switch {
		case tool == "search_repos" && args["query"] == "framework":
			return found(t,
				repoHit{Name: "old/big", URL: "https://h.example/old/big", Description: "A web framework", Language: "Python", Stars: 9000, Pushed: "2019-01-01", Archived: true},
				repoHit{Name: "new/web", URL: "https://h.example/new/web", Description: "Fast | <b>web</b> framework, ask @somebody", Language: "Python", Stars: 7000, Pushed: "2026-01-02"},
				repoHit{Name: "a/tests", Description: "For tests", Language: "Python", Stars: 8000, Pushed: "2026-01-01"})
		case tool == "search_repos":
			return found(t)
		case args["repo"] == "web":
			return Part{Text: "# Web\n\n[![ci](x.svg)](y)\n\nWeb serves pages for people. And more."}
		}
		return Part{IsError: true, Text: "README.md was not found."}
	})
	require.Equal(t, `search_repos {"language":"Python","limit":5,"query":"web frameworks"}`, asked[0])
	require.Contains(t, asked[1], `"query":"framework"`, "all the words together found none")
	require.Len(t, asked, 5)
	require.Equal(t, "No repository was named. Of what GitHub's search finds for `framework` in Python, [`new/web`](https://h.example/new/web) fits best: "+
		"what it says of itself has `web`, `frameworks`; it has 7,000 stars; its last push was on 2026-01-02, the newest. To have its code searched, name it: `@librarian … in new/web`.", results["summary"])
	table, _, _ := strings.Cut(results["description"].(string), "\n\n")
	require.Equal(t, "| repository | stars | language | last push | what it says of itself |\n|---|---:|---|---|---|\n"+
		"| [`new/web`](https://h.example/new/web) | 7,000 | Python | 2026-01-02 | Fast / bweb/b framework, ask somebody. README: Web serves pages for people. |\n"+
		"| [`old/big`](https://h.example/old/big) | 9,000 | Python | 2019-01-01 | (archived) A web framework |\n"+
		"| `a/tests` | 8,000 | Python | 2026-01-01 | For tests |", table)
}

func TestScout_ComparedNames(t *testing.T) {
	t.Parallel()
	for question, want := range map[string][]string{
		"compare how axum and caddy route requests":           {"axum", "caddy"},
		"flask vs. starlette: where are sessions signed?":     {"flask", "starlette"},
		"what is the difference between flask and django?":    {"flask", "django"},
		"how do axum and caddy route requests?":               {"axum", "caddy"},
		"compare how sessions and cookies are stored":         nil, // things of the code
		"difference between sessions and cookies in this app": nil,
		"compare tokio-rs/axum and caddyserver/caddy":         nil, // named with their owners
		"how does this and that work":                         nil,
		"where is the session cookie signed and checked?":     nil,
	} {
		c := &conversation{brief: brief{Question: question, Place: "acme/app"}}
		require.Equal(t, want, c.comparedNames(), question)
	}
}

func TestScout_TakesABareNameForTheRepositoryThatIsMeant(t *testing.T) {
	t.Parallel()
	c := &conversation{brief: brief{Question: "compare how axum and caddy route requests", Place: "acme/caddy"}, opened: []scoutCheckout{{Repo: "x"}}}
	taken := func(hits ...repoHit) string {
		c.searched = map[string][]repoHit{"axum in:name": hits}
		h, ok := c.taken("axum")
		require.Equal(t, ok, len(c.comparedRepos()) > 0)
		return map[bool]string{true: h.Name}[ok]
	}
	big, other := repoHit{Name: "tokio-rs/axum", URL: "https://h.example/tokio-rs/axum", Stars: 20000}, repoHit{Name: "a/axum", Stars: 3000}
	require.Equal(t, "tokio-rs/axum", taken(repoHit{Name: "a/axum-extra", Stars: 90000}, big, other))
	require.Equal(t, []string{"tokio-rs/axum", "acme/caddy"}, c.scope(), "the thread's own repository is one of the two")
	require.Equal(t, "how  and  route requests", c.question())
	require.Equal(t, "`axum` was taken for [`tokio-rs/axum`](https://h.example/tokio-rs/axum) (20,000 stars): of that name, it has by far the most stars, or is the only one.", c.takenAs())
	other.Stars = 9000
	require.Empty(t, taken(other, big), "either may be meant")
	require.Empty(t, taken(repoHit{Name: "a/axum", Stars: 3}), "there is one called like any word")
	require.Empty(t, taken())
	require.Equal(t, []string{"acme/caddy"}, c.scope())
}

func TestScout_ReadmeSentence(t *testing.T) {
	t.Parallel()
	for readme, want := range map[string]string{
		"<p align=\"center\"><img src=\"x.svg\"></p>\n<h3>Every site on HTTPS</h3>\n<p>It serves pages by TLS alone.</p>\n<p>Releases</p>": "It serves pages by TLS alone.",
		"# Name\n\n- [A](a)\n- [B](b)\n\n```\nmake it all work now\n```\n\nA [small](x) tool for jars of jam.\n":                           "A small tool for jars of jam.",
		"Name\n====\n\n![a](b)\n": "",
		"":                        "",
	} {
		require.Equal(t, want, readmeSentence(readme), readme)
	}
}
