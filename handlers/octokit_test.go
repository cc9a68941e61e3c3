package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
)

// Every event of GitHub's own examples goes through without loss or panic, also when its text mentions us. The examples are
// the npm package @octokit/webhooks-examples, read where it lies; they are never committed.
func TestOctokitExamples(t *testing.T) {
	t.Parallel()
	npm := os.Getenv("LIBRARIAN_NPM")
	if npm == "" {
		t.Skip("LIBRARIAN_NPM names no folder with node_modules/@octokit/webhooks-examples; .ci/run installs it")
	}
	files, err := filepath.Glob(filepath.Join(npm, "node_modules/@octokit/webhooks-examples", "*", "index.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	carriers := map[string]string{ // what carries the question
		"issue_comment.created": "comment", "issues.opened": "issue", "pull_request.opened": "pull_request", "pull_request_review.submitted": "review",
		"pull_request_review_comment.created": "comment", "discussion.created": "discussion", "discussion_comment.created": "comment",
	}
	heard := map[string]bool{}
	sent, asked := 0, 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		var events []struct {
			Name     string            `json:"name"`
			Examples []json.RawMessage `json:"examples"`
		}
		require.NoError(t, json.Unmarshal(b, &events), file)
		for _, e := range events {
			for i, example := range e.Examples {
				name := fmt.Sprintf("%s %s %d", filepath.Base(filepath.Dir(file)), e.Name, i)
				q := new(queue)
				s := serve(t, testOptions(q))
				status, text := deliver(t, s, e.Name, string(example))
				require.Contains(t, []int{http.StatusOK, http.StatusAccepted}, status, "%s: %s", name, text)
				sent++

				var p map[string]any
				require.NoError(t, json.Unmarshal(example, &p))
				action, _ := p["action"].(string)
				carrier, asks := carriers[e.Name+"."+action]
				if !asks {
					continue
				}
				set("@librarian why?", carrier, "body")(p)
				b, err := json.Marshal(p)
				require.NoError(t, err)
				status, text = deliver(t, s, e.Name, string(b))
				require.Equal(t, http.StatusOK, status, "%s: %s", name, text)
				if u, _ := p["sender"].(map[string]any); u["type"] == "Bot" {
					continue
				}
				require.Len(t, q.requests, 1, name)
				r := q.requests[0]
				require.Positive(t, r.Place.Number)
				require.Positive(t, r.Place.TriggerID)
				require.NotEmpty(t, r.Place.RepoName.Name)
				require.False(t, r.AskedAt.IsZero())
				require.Equal(t, r.Place.Kind == librarian.PlaceDiscussion, r.Place.ThreadNode != "", name)
				require.Equal(t, r.Place.Kind == librarian.PlaceReview, r.Place.Root > 0 && r.Place.Path != "", name)
				require.Equal(t, r.Place.Kind == librarian.PlacePull && e.Name != "issue_comment" || r.Place.Kind == librarian.PlaceReview, r.Place.SHA != "", name)
				asked++
				heard[e.Name] = true
			}
		}
	}
	require.Len(t, heard, len(carriers), "an example of each way to ask")
	t.Logf("%d examples, %d of them also as questions", sent, asked)
}
