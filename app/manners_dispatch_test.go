package app

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
	"github.com/librarian-app/librarian/librarian/store"
)

// Every fault of a payload is told where the payload says that the answer should go, and nothing of the payload is repeated.
func TestL4_FaultsOfADispatchAreShownWhereTheAnswerWouldBe(t *testing.T) {
	t.Parallel()
	f := newFlow(t, modeltest.New(), nil) // no model is asked
	for name, row := range map[string]struct {
		ask  map[string]any
		want string
	}{
		"L4 no query":              {map[string]any{}, "`query` is missing"},
		"L4 a query that is none":  {map[string]any{"query": map[string]any{"canary": 1}}, "`query` is not a string"},
		"L4 an empty query":        {map[string]any{"query": " \n"}, "`query` is empty"},
		"L4 a query too large":     {map[string]any{"query": strings.Repeat("canary ", 3000)}, "has 21000 characters; 16000 are allowed"},
		"L4 too many repositories": {map[string]any{"query": "why?", "repos": strings.Split(strings.Repeat("a/canary,", 20)+"a/b", ",")}, "`repos` has 21 entries; 20 are allowed"},
		"L4 not a repository":      {map[string]any{"query": "why?", "repos": []string{"canary"}}, "`repos` has an entry that is not owner/name"},
		"L4 repositories by name":  {map[string]any{"query": "why?", "repos": "canary/x"}, "`repos` is not a list of strings"},
		"L4 not a run":             {map[string]any{"query": "why?", "continue_from": "canary"}, "`continue_from` is not a run's id"},
		"L4 two targets":           {map[string]any{"query": "why?", "pull_number": 1}, "name only one of issue_number, pull_number and sha"},
	} {
		i, err := f.sim.OpenIssue("acme/pantry", simUser, name, "")
		require.NoError(t, err)
		row.ask["issue_number"], row.ask["canary"] = i.Number, "an unknown key"
		require.NoError(t, f.sim.Dispatch("acme/pantry", simUser, "librarian", map[string]any{"librarian": row.ask}))
		f.eventually(name+" is told", func() bool { return len(f.comments("acme/pantry", i.Number)) == 1 })
		body := f.comments("acme/pantry", i.Number)[0].Body
		require.Contains(t, body, row.want, name)
		require.NotContains(t, body, "canary", name)
	}
}

// The answer goes to what the payload names: a pull request, or a commit by a check run, and is about the code there.
func TestL4_DispatchTargets(t *testing.T) {
	t.Parallel()
	m := modeltest.New(results("On the pull request."),
		modeltest.Call(use("checkout_repo", args{"repo": "acme/lids"})),
		modeltest.Call(use("read", args{"repo": "acme/lids", "path": "lid.go"})),
		results("On the commit.", args{"repo": "acme/lids", "file": "lid.go", "lines": "3", "note": "as wide as there"}))
	f := newFlow(t, m, lids)
	p, err := f.sim.OpenPull("acme/lids", simUser, githubsim.PullOptions{Title: "Widen lids", Body: "b", Head: "wide"})
	require.NoError(t, err)
	require.NoError(t, f.sim.Dispatch("acme/lids", simUser, "librarian", map[string]any{"librarian": map[string]any{"query": "how wide?", "pull_number": p.Number}}))
	f.eventually("the pull request is answered", func() bool { return len(f.comments("acme/lids", p.Number)) == 1 })
	require.Contains(t, f.comments("acme/lids", p.Number)[0].Body, "On the pull request.")
	require.Contains(t, m.Calls()[0].Messages[0].Parts[0].Text, "lid.go", "its files are in the context")

	require.NoError(t, f.sim.Dispatch("acme/lids", simUser, "librarian", map[string]any{"librarian": map[string]any{"query": "how wide?", "sha": p.HeadSHA}}))
	f.eventually("the commit has a check run", func() bool {
		all := f.sim.CheckRuns("acme/lids", p.HeadSHA)
		return len(all) == 1 && all[0].Status == "completed"
	})
	summary := f.sim.CheckRuns("acme/lids", p.HeadSHA)[0].Summary
	require.Contains(t, summary, "On the commit.")
	require.Contains(t, summary, "/acme/lids/blob/"+p.HeadSHA+"/lid.go#L3", "the code is read where it was asked about")
	require.Contains(t, m.Calls()[1].Messages[0].Parts[0].Text, "The question is about acme/lids at "+p.HeadSHA)
	require.NotEqual(t, "failure", f.sim.CheckRuns("acme/lids", p.HeadSHA)[0].Conclusion, "an answer breaks no build")

	gone := strings.Repeat("d", 40) // nothing can be shown there: no model is asked, and nothing is tried again and again
	for _, query := range []any{"how wide?", 42} {
		require.NoError(t, f.sim.Dispatch("acme/lids", simUser, "librarian", map[string]any{"librarian": map[string]any{"query": query, "sha": gone}}))
	}
	f.eventually("both are over", func() bool {
		over := 0
		for _, r := range f.runs(store.Filter{}) {
			if r.Request.Place.SHA == gone && r.State.Final() {
				over++
			}
		}
		return over == 2
	})
	require.NoError(t, m.Done())
}
