package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
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
				switch action := p["action"]; {
				case e.Name == "issue_comment" && action == "created":
					set("@librarian why?", "comment", "body")(p)
				case e.Name == "issues" && action == "opened":
					set("@librarian why?", "issue", "body")(p)
				default:
					continue
				}
				b, err := json.Marshal(p)
				require.NoError(t, err)
				status, text = deliver(t, s, e.Name, string(b))
				require.Equal(t, http.StatusOK, status, "%s: %s", name, text)
				if u, _ := p["sender"].(map[string]any); u["type"] != "Bot" {
					require.Len(t, q.requests, 1, name)
					require.Positive(t, q.requests[0].Place.Number)
					require.Positive(t, q.requests[0].Place.TriggerID)
					require.NotEmpty(t, q.requests[0].Place.RepoName.Name)
					require.False(t, q.requests[0].AskedAt.IsZero())
					asked++
				}
			}
		}
	}
	require.Positive(t, asked)
	t.Logf("%d examples, %d of them also as questions", sent, asked)
}
