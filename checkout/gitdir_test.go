package checkout_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// git finds in a checkout's git directory the commit, the tree as it is on disk, and the branch or tag that was asked for; nothing in it
// names the host or is the store's own to be changed.
func TestGitDir(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	long := strings.Repeat(strings.Repeat("x", 200)+"/", 15) + "y"
	ids := srv.Add(t, "acme/one", "-- @commit one --\n-- a --\n1\n-- @commit two --\n-- a/b.txt --\nb\n-- a.txt --\nx\n-- a (delete) --\n-- a/c.txt --\nc\n-- a0 --\nz\n-- run (exec) --\n#!/bin/sh\n-- link (symlink) --\na.txt\n"+
		"-- sub (submodule) --\n"+strings.Repeat("1", 40)+"\n-- empty --\n-- "+long+" --\nlong\n-- @tag v1 --\n-- @branch next --\n-- @commit three --\n-- n --\nn\n")
	s := newStore(t, srv, nil)
	for ref, want := range map[string]struct{ commit, branch string }{"": {"two", "refs/heads/main"}, "next": {"three", "refs/heads/next"}, "v1": {"two", ""}, ids["three"]: {"three", ""}} {
		c := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/one"), Ref: ref})
		files, err := c.GitDir(c.Objects())
		require.NoError(t, err)
		dir := t.TempDir()
		for name, b := range files {
			require.NotContains(t, string(b), srv.Host())
			require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
		}
		git := func(args ...string) string {
			cmd := exec.CommandContext(t.Context(), "git", args...)
			cmd.Dir = c.Dir()
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_DIR=" + dir, "GIT_WORK_TREE=" + c.Dir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0"}
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s: %s", args, out)
			return strings.TrimSpace(string(out))
		}
		sha := ids[want.commit]
		require.Equal(t, sha, git("rev-parse", "HEAD"))
		if want.branch != "" {
			require.Equal(t, want.branch, git("symbolic-ref", "HEAD"))
		}
		if ref == "v1" {
			require.Equal(t, sha, git("rev-parse", "v1^{commit}"))
		}
		require.Empty(t, git("status", "--short"), "the tree is as the index has it")
		var staged []string // "<mode> <id> 0\t<path>", where ls-tree says "<mode> <kind> <id>\t<path>"
		for line := range strings.SplitSeq(git("ls-files", "--stage"), "\n") {
			f := strings.Fields(line)
			staged = append(staged, f[0]+" "+f[1]+" "+f[3])
		}
		var listed []string
		for line := range strings.SplitSeq(checkouttest.Git(t, filepath.Join(filepath.Dir(c.Objects())), "ls-tree", "-r", sha), "\n") {
			if f := strings.Fields(line); len(f) == 4 {
				listed = append(listed, f[0]+" "+f[2]+" "+f[3])
			}
		}
		require.Equal(t, listed, staged)
		require.NoError(t, c.Verify(t.Context()))
	}
}
