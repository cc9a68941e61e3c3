package app

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
)

// Issue 6, 6: of a second identical run's cacheable calls at least 80 % are conditional and answered 304. Cacheable is a GET of an
// address that the first run read and whose answer is still the same, by GitHub's own word: its ETag. What did change is the thread,
// to which the first run's answer and the second's question were added; it has to be read anew, and counts in the share of all.
func TestASecondRunIsConfirmedNotFetched(t *testing.T) {
	t.Parallel()
	read := func(path string) modeltest.Use {
		return use("read_github_file", args{"owner": "acme", "repo": "pantry", "path": path})
	}
	look := []modeltest.Turn{
		modeltest.Call(use("search_repos", args{"query": "pantry"}), read("shelf/shelf.go"), read("README.md"), read("")),
		modeltest.Call(use("read_thread", args{"owner": "acme", "repo": "pantry", "number": 1})), results("It is a shelf."),
	}
	f := newFlow(t, modeltest.New(append(look, look...)...), nil)
	run := func() []githubsim.Request {
		before := len(f.sim.Requests())
		_, answers := f.ask("acme/pantry", simUser, "@librarian what is it?")
		require.Len(t, answers, 1)
		return f.sim.Requests()[before:]
	}
	known := map[string]string{} // address → ETag
	for _, r := range run() {
		if r.Method == http.MethodGet && r.ETag != "" && r.Caller == githubsim.InstallationToken {
			known[r.Path+"?"+r.Query] = r.ETag
		}
	}
	require.GreaterOrEqual(t, len(known), 8)
	all, cacheable, confirmed := 0, 0, 0
	for _, r := range run() {
		address := r.Path + "?" + r.Query
		if r.Method != http.MethodGet || r.Caller != githubsim.InstallationToken || known[address] == "" {
			continue
		}
		all++
		if known[address] != r.ETag {
			require.Contains(t, r.Path, "/issues/1", "nothing but the thread has changed")
			known[address] = r.ETag // what this run reads twice is cacheable the second time
			continue
		}
		cacheable++
		if r.Conditional && r.Status == http.StatusNotModified {
			confirmed++
			continue
		}
		t.Logf("%d %s", r.Status, address)
	}
	t.Logf("%d of %d cacheable calls confirmed, of %d in all", confirmed, cacheable, all)
	require.GreaterOrEqual(t, cacheable, 8)
	require.GreaterOrEqual(t, confirmed*100, cacheable*80)
}
