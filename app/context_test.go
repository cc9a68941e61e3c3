package app

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
)

// T4: the first request of a review comment holds the thread, the pull request, the diff hunk, path:line and the question,
// and its code can be opened by the ref that it names.
func TestT4_AReviewCommentsFirstRequest(t *testing.T) {
	t.Parallel()
	m := modeltest.New(
		modeltest.Call(use("checkout_repo", args{"repo": "acme/lids", "ref": "refs/pull/1/head"})),
		modeltest.Call(use("read", args{"repo": "acme/lids", "path": "lid.go"})),
		results("It is 82 now.", args{"repo": "acme/lids", "file": "lid.go", "lines": "3", "note": "the new width"}))
	f := newFlow(t, m, func(f *flow) {
		dir := filepath.Join(filepath.Dir(f.cfg.Server.Data), "lids.git")
		day := time.Unix(1_770_000_000, 0)
		require.NoError(f.t, githubsim.NewGitRepo(f.t.Context(), "", dir,
			githubsim.Commit{Message: "Begin", When: day, Files: map[string]string{"lid.go": "package lids\n\nconst Width = 80\n"}}))
		wide := "package lids\n\nconst Width = 82\n"
		git := exec.Command("git", "-c", "safe.directory=*", "--git-dir="+dir, "fast-import", "--quiet")
		git.Stdin = strings.NewReader(fmt.Sprintf("commit refs/heads/wide\ncommitter A <a@example.com> %d +0000\ndata 5\nWiden\nfrom refs/heads/main^0\nM 100644 inline lid.go\ndata %d\n%s\n",
			day.Unix()+60, len(wide), wide))
		out, err := git.CombinedOutput()
		require.NoError(f.t, err, string(out))
		_, err = f.sim.CreateRepo("acme", "lids", githubsim.RepoOptions{Path: dir})
		require.NoError(f.t, err)
		require.NoError(f.t, f.sim.SetPermission("acme/lids", simUser, "write", ""))
	})
	p, err := f.sim.OpenPull("acme/lids", simUser, githubsim.PullOptions{Title: "Widen lids", Body: "They fell into the jars.", Head: "wide"})
	require.NoError(t, err)
	require.Equal(t, 1, p.Number)
	c, err := f.sim.ReviewComment("acme/lids", 1, simUser, githubsim.ReviewCommentOptions{Path: "lid.go", Line: 3, Body: "@librarian how wide was it before?"})
	require.NoError(t, err)
	f.eventually("the question is answered in its thread", func() bool {
		for _, r := range f.sim.ReviewComments("acme/lids", 1) {
			if r.InReplyTo == c.ID && r.App == f.world.app.Slug {
				return regexp.MustCompile(`/acme/lids/blob/[0-9a-f]{40}/lid\.go#L3\)`).MatchString(r.Body)
			}
		}
		return false
	})
	first := m.Calls()[0].Messages[0].Parts[0].Text
	for _, want := range []string{
		`<thread repository="acme/lids" number="1" kind="review comment">`, "Title: Widen lids", "They fell into the jars.",
		"merges wide into main. Its code is acme/lids at refs/pull/1/head (", "It changes 1 file:\n<changed-files>\nlid.go\n</changed-files>",
		"The question stands in a review thread on lid.go:3.", "-const Width = 80\n+const Width = 82", "ada asks:\n\nhow wide was it before?",
	} {
		require.Contains(t, first, want)
	}
}
