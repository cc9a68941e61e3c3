package app

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
)

// Issue 6, 6: of a second identical run's cacheable calls at least 80 % are conditional and answered 304. Cacheable is what was
// read before and has not changed: the thread has, by the first answer.
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
	known := map[string]bool{}
	for _, r := range run() {
		if r.Method == http.MethodGet && r.Status == http.StatusOK && r.Caller == githubsim.InstallationToken {
			known[r.Path+"?"+r.Query] = true
		}
	}
	require.GreaterOrEqual(t, len(known), 8)
	reads, confirmed := 0, 0
	for _, r := range run() {
		if r.Method != http.MethodGet || !known[r.Path+"?"+r.Query] || strings.Contains(r.Path, "/issues/1") {
			continue
		}
		reads++
		if r.Conditional && r.Status == http.StatusNotModified {
			confirmed++
			continue
		}
		t.Logf("%d %s?%s", r.Status, r.Path, r.Query)
	}
	t.Logf("%d of %d confirmed", confirmed, reads)
	require.GreaterOrEqual(t, reads, 8)
	require.GreaterOrEqual(t, confirmed*100, reads*80)
}
