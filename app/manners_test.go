package app

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout/checkouttest"
	"github.com/librarian-app/librarian/librarian/githubsim"
)

// What CASES.md asks of the App is held by flows: a signed webhook in, a comment out. The tests' names carry the rows' ids;
// .ci/cases lists which row is held by which.

// addRepo makes acme/<name> of the files on main and, where there is one, of those on the branch "wide".
func (f *flow) addRepo(name string, files, wide map[string]string) {
	f.t.Helper()
	dir := filepath.Join(filepath.Dir(f.cfg.Server.Data), name)
	gitRepo(f.t, dir+".git", files)
	if wide != nil {
		checkouttest.Git(f.t, filepath.Dir(dir), "clone", "-q", dir+".git", dir)
		checkouttest.Git(f.t, dir, "checkout", "-q", "-b", "wide")
		for path, text := range wide {
			require.NoError(f.t, os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700))
			require.NoError(f.t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600))
		}
		checkouttest.Git(f.t, dir, "add", "-A")
		checkouttest.Git(f.t, dir, "commit", "-q", "-m", "Widen")
		checkouttest.Git(f.t, dir, "push", "-q", "origin", "wide")
	}
	_, err := f.sim.CreateRepo("acme", name, githubsim.RepoOptions{Path: dir + ".git"})
	require.NoError(f.t, err)
	require.NoError(f.t, f.sim.SetPermission("acme/"+name, simUser, "write", ""))
	require.NoError(f.t, f.sim.SetPermission("acme/"+name, simReads, "read", ""))
}

// lids is acme/lids, whose branch "wide" widens the lids of acme/lids.
func lids(f *flow) {
	f.addRepo("lids", map[string]string{"lid.go": "package lids\n\n// Width is the width of a lid.\nconst Width = 80\n"},
		map[string]string{"lid.go": "package lids\n\n// Width is the width of a lid.\nconst Width = 82\n\n// Rim is what a lid stands over.\nconst Rim = 2\n"})
}

// comments are the App's in a thread.
func (f *flow) comments(repo string, number int) []githubsim.Comment {
	var out []githubsim.Comment
	for _, c := range f.sim.Comments(repo, number) {
		if c.App == f.world.app.Slug {
			out = append(out, c)
		}
	}
	return out
}

// say comments without waiting for anything.
func (f *flow) say(repo string, number int, login, body string) githubsim.Comment {
	f.t.Helper()
	c, err := f.sim.Comment(repo, number, login, body)
	require.NoError(f.t, err)
	return c
}

// modelRuns counts the runs that were admitted.
func (f *flow) modelRuns() int { return strings.Count(f.log.String(), "run admitted") }
