//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/sandbox"
)

// What a bomb can reach is bounded for its processes together. It does not run beside other tests: commands of one user, without
// root's user ids of their own, share that user's limit of processes until the watch ends a bomb.
func TestBombs(t *testing.T) {
	eachView(t, bombs)
}

func bombs(t *testing.T, view int) {
	limits := sandbox.Limits{Memory: 256 << 20, Processes: 100, Disk: 16 << 20, Files: 500}
	c := newCell(t, limits)
	c.UseView(view)
	run := func(t *testing.T, line string) sandbox.Output {
		t.Helper()
		began := time.Now()
		o, err := c.Run(t.Context(), sandbox.Command{Line: line, Dir: c.tree, Read: []string{c.tree}, Timeout: 4 * time.Second})
		require.NoError(t, err)
		require.Less(t, time.Since(began), 8*time.Second)
		return o
	}
	t.Run("fork", func(t *testing.T) {
		o := run(t, `b() { b | b & }; b; sleep 1`)
		require.Less(t, o.Peak.Processes, 400, "the hard limit of the user's processes")
		require.NotEqual(t, 0, o.Peak.Processes)
	})
	t.Run("memory of many", func(t *testing.T) {
		if raced {
			t.Skip("see raced")
		}
		o := run(t, `for i in 1 2 3 4 5 6 7 8; do `+c.self+` try:memory 60 x & done; wait; echo DONE`)
		require.NotContains(t, o.Text, "DONE")
		require.Equal(t, sandbox.Memory, o.Killed)
		require.Less(t, o.Peak.Memory, int64(1<<30))
	})
	t.Run("memory of one", func(t *testing.T) {
		if raced {
			t.Skip("see raced")
		}
		o := run(t, c.self+` try:memory 300 x; echo DONE`)
		require.NotContains(t, o.Text, "DONE")
		require.Equal(t, sandbox.Memory, o.Killed)
		o = run(t, c.self+` try:memory 3000 x || echo FAILED`)
		require.Contains(t, o.Text, "FAILED", "the address space of one process has an end")
	})
	t.Run("one big file", func(t *testing.T) {
		o := run(t, `head -c 500000000 /dev/zero > $TMPDIR/x; ls -ls $TMPDIR/x; sleep 0.2; echo DONE`)
		require.LessOrEqual(t, o.Peak.Disk, limits.Disk+(1<<20))
	})
	t.Run("many big files", func(t *testing.T) {
		o := run(t, `for i in 1 2 3 4 5 6 7 8 9; do head -c 15000000 /dev/zero > $TMPDIR/x$i; done; sleep 1; echo DONE`)
		require.NotContains(t, o.Text, "DONE")
		require.Equal(t, sandbox.Disk, o.Killed)
	})
	t.Run("files without a name", func(t *testing.T) {
		o := run(t, `for i in 3 4 5 6 7 8 9; do eval "exec $i>$TMPDIR/x"; rm $TMPDIR/x; head -c 15000000 /dev/zero >&$i; done; sleep 1; echo DONE`)
		require.NotContains(t, o.Text, "DONE")
		require.Equal(t, sandbox.Disk, o.Killed)
	})
	t.Run("many small files", func(t *testing.T) {
		o := run(t, `for ((i=0;i<20000;i++)); do : > $TMPDIR/$i; done; sleep 1; echo DONE`)
		require.NotContains(t, o.Text, "DONE")
		require.Equal(t, sandbox.Disk, o.Killed)
	})
	for name := range hides {
		t.Run("hidden "+name, func(t *testing.T) {
			if raced {
				t.Skip("see raced")
			}
			o := run(t, "exec "+c.self+" try:"+name)
			want := sandbox.Disk
			if strings.HasPrefix(name, "memory") {
				want = sandbox.Memory
			}
			require.Equal(t, want, o.Killed, "%+v", o)
		})
	}
	o := run(t, `echo fine`)
	require.Equal(t, "fine", o.Text)
}

// Another librarian on the machine uses the same user ids, and the dead of a fork bomb count until the system has buried them, which it may
// take its time for: neither takes processes away from a command.
func TestTheSameUserElsewhere(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root has user ids to give")
	}
	uid := newUIDs()
	dir := t.TempDir()
	box, err := sandbox.New(sandbox.Options{Dir: filepath.Join(dir, "scratch"), UIDBase: uid, Slots: 1, Limits: sandbox.Limits{Processes: 10}})
	require.NoError(t, err)
	if err := box.Probe(t.Context()); err != nil {
		t.Skip(err)
	}
	for range 12 {
		other := exec.CommandContext(t.Context(), "sleep", "60")
		other.Dir, other.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
		require.NoError(t, other.Start())
		t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	}
	tree := filepath.Join(dir, "tree")
	require.NoError(t, os.Mkdir(tree, 0o755))
	run := func(line string) sandbox.Output {
		o, err := box.Run(t.Context(), sandbox.Command{Line: line, Dir: tree, Read: []string{tree}, Timeout: 4 * time.Second})
		require.NoError(t, err)
		return o
	}
	require.Equal(t, "a\nb", run(`echo a | cat; echo b | cat | cat`).Text)
	o := run(`for ((i=0;i<100;i++)); do sleep 50 & done; wait`)
	require.Less(t, o.Peak.Processes, 30, "it is bounded all the same")
}
