package app

import (
	"fmt"
	"strings"

	"github.com/librarian-app/librarian/librarian/githubsim"
)

// simWay is a way to ask, as the request by which somebody does it. Words in capitals are placeholders.
type simWay struct {
	what, method string
	path         string // below the repository's; empty: GraphQL
	body         string // JSON without single quotes
}

// simWays are the ways to ask beside a comment.
func simWays(r githubsim.Repo, slug string) []simWay {
	return []simWay{
		{"an issue's title", "POST", "/issues", `{"title":"@` + slug + ` where does it begin?"}`},
		{"an edit that adds the mention", "PATCH", "/issues/comments/ID", `{"body":"@` + slug + ` where does it end?"}`},
		{"a label", "POST", "/issues/1/labels", `{"labels":["librarian"]}`},
		{"a pull request", "POST", "/pulls", `{"title":"Try it","body":"@` + slug + ` what does this change?","head":"BRANCH","base":"` + r.DefaultBranch + `"}`},
		{"a line of its diff", "POST", "/pulls/NUMBER/comments", `{"body":"@` + slug + ` who uses this?","path":"PATH","line":LINE,"commit_id":"SHA"}`},
		{"a review", "POST", "/pulls/NUMBER/reviews", `{"event":"COMMENT","body":"@` + slug + ` is this done elsewhere?"}`},
		{"a discussion", "POST", "", `{"query":"mutation { createDiscussion(input: {repositoryId: \"` + r.NodeID + `\", categoryId: \"` + r.CategoryID +
			`\", title: \"Where?\", body: \"@` + slug + ` where does it begin?\"}) { discussion { number } } }"}`},
		{"a dispatch", "POST", "/dispatches", `{"event_type":"librarian","client_payload":{"librarian":{"query":"where does it begin?","issue_number":1}}}`},
	}
}

// curls are ways as commands for a shell in which A is the repository's address and T the header with a token.
func curls(ways []simWay, graphql string) string {
	var b strings.Builder
	for _, w := range ways {
		at, method := "$A"+w.path, ""
		if w.path == "" {
			at = graphql
		}
		if w.method != "POST" {
			method = "-X " + w.method + " "
		}
		fmt.Fprintf(&b, "curl -sS -H \"$T\" %s%s -d '%s' # %s\n", method, at, w.body, w.what)
	}
	return b.String()
}
