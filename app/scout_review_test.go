package app

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/githubsim"
)

// TestFlowScoutAnswersAboutWhatIsUnderReview: with no model, "this" is the line that a comment stands at, or what the pull request changes.
func TestFlowScoutAnswersAboutWhatIsUnderReview(t *testing.T) {
	t.Parallel()
	const head = "package shop\n\n// Weigh is what a crate weighs.\nfunc Weigh(n int) int {\n\treturn n * "
	f := newFlow(t, nil, func(f *flow) {
		shop := map[string]string{
			"weigh.go": head + "2\n}\n",
			"sale.go":  "package shop\n\nfunc price(n int) int {\n\treturn 3 * Weigh(n)\n}\n",
			"gate.go":  "package shop\n\nfunc pass(n int) bool {\n\treturn Weigh(n) < limit\n}\n",
		}
		f.addRepo("shop", shop, map[string]string{"weigh.go": head + "3\n}\n", "sale.go": shop["sale.go"], "gate.go": shop["gate.go"]})
	})
	p, err := f.sim.OpenPull("acme/shop", simUser, githubsim.PullOptions{Title: "Weigh more", Body: "@librarian who calls what this changes?", Head: "wide"})
	require.NoError(t, err)
	f.eventually("the pull request is answered", func() bool { return len(f.comments("acme/shop", p.Number)) == 1 })
	answers := []string{f.comments("acme/shop", p.Number)[0].Body}
	for n, q := range []string{"@librarian who calls this?", "@librarian what does this do?"} {
		c, err := f.sim.ReviewComment("acme/shop", p.Number, simUser, githubsim.ReviewCommentOptions{Path: "weigh.go", Line: 5 - n, Body: q})
		require.NoError(t, err)
		f.eventually("the comment is answered", func() bool { return len(f.replies("acme/shop", p.Number, c.ID)) == 1 })
		answers = append(answers, f.replies("acme/shop", p.Number, c.ID)[0].Body)
	}
	for _, a := range answers[:2] {
		require.Contains(t, a, "`Weigh` is used in 2 lines of 2 files")
		for _, link := range []string{"/sale.go#L4", "/gate.go#L4", "/weigh.go#L4"} {
			require.Contains(t, a, "/acme/shop/blob/"+p.HeadSHA+link)
		}
	}
	require.Contains(t, answers[2], "The line under review is in the function `Weigh`")
	require.Contains(t, answers[2], "Weigh is what a crate weighs.")
	good, all, err := checkLinks(t.Context(), f.web, strings.Join(answers, "\n"))
	require.NoError(t, err)
	require.Equal(t, all, good)
	require.GreaterOrEqual(t, all, 7)
}
