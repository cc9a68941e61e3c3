//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/sandbox"
)

// work is what the test's binary does to be killed at it: a command whose processes would go on.
func work(dir string) {
	s, err := sandbox.New(sandbox.Options{Dir: filepath.Join(dir, "scratch"), UIDBase: 61184 + os.Getpid()%500*8})
	if err == nil {
		_, err = s.Run(context.Background(), sandbox.Command{Dir: "/usr", Read: []string{"/usr"}, Timeout: time.Minute,
			Line: `sleep 1000 & (trap "" HUP TERM; while :; do sleep 1; done) & echo $$ > $TMPDIR/new; mv $TMPDIR/new $TMPDIR/group; wait`})
	}
	_, _ = os.Stdout.WriteString(err.Error())
}

// When we are killed our commands end, all of their processes, and their scratch folders go.
func TestKilled(t *testing.T) {
	t.Parallel()
	newCell(t, sandbox.Limits{})
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "work:"+dir)
	require.NoError(t, cmd.Start())
	scratch, group := "", 0
	require.Eventually(t, func() bool {
		found, _ := filepath.Glob(filepath.Join(dir, "scratch", "scratch-*", "group"))
		if len(found) != 1 {
			return false
		}
		b, _ := os.ReadFile(found[0])
		group, err = strconv.Atoi(strings.TrimSpace(string(b)))
		scratch = filepath.Dir(found[0])
		return err == nil && sandbox.Members(group) >= 4
	}, 30*time.Second, 5*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.Eventually(t, func() bool { return sandbox.Members(group) == 0 }, 30*time.Second, 5*time.Millisecond)
	require.Eventually(t, func() bool { _, err := os.Stat(scratch); return os.IsNotExist(err) }, 30*time.Second, 5*time.Millisecond)
}

// What was left when even the guard was killed goes with the next start, unless somebody works beside it.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	c := newCell(t, sandbox.Limits{})
	dir := t.TempDir()
	old := filepath.Join(dir, "scratch-old")
	require.NoError(t, os.MkdirAll(filepath.Join(old, "closed", "deep"), 0o700))
	require.NoError(t, os.Chmod(filepath.Join(old, "closed"), 0o300))
	run := func() *sandbox.Sandbox {
		s, err := sandbox.New(sandbox.Options{Dir: dir, UIDBase: 61184 + os.Getpid()%500*8})
		require.NoError(t, err)
		o, err := s.Run(t.Context(), sandbox.Command{Line: "echo fine", Dir: c.tree, Read: []string{c.tree}, Timeout: time.Minute})
		require.NoError(t, err)
		require.Equal(t, "fine", o.Text)
		return s
	}
	first := run()
	require.NoDirExists(t, old)
	require.NoError(t, os.Mkdir(old, 0o700))
	run()
	require.DirExists(t, old, "it may be another one's")
	_, err := first.Run(t.Context(), sandbox.Command{Line: "true", Dir: c.tree, Read: []string{c.tree}, Timeout: time.Minute})
	require.NoError(t, err)
}
