//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/librarian-app/librarian/librarian/sandbox"
)

// cgroupRound names, in the round that TestInADelegatedCgroup starts, the group that was delegated to it.
const cgroupRound = "LIBRARIAN_SANDBOX_TEST_CGROUP"

// With a group delegated as systemd does it, each command has one of its own in it, and it goes with the command. Whether the kernel
// also bounds it depends on the machine's controllers: some still have them in cgroup v1.
//
// It does not run beside other tests: see TestBombs, which it starts.
func TestInADelegatedCgroup(t *testing.T) {
	if os.Geteuid() != 0 || os.Getenv(furtherRound) != "" {
		t.Skip("needs root, to delegate a group")
	}
	_, top, err := sandbox.OwnCgroup("/proc/self/cgroup", "/proc/self/mountinfo")
	if err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(top, "librarian-test-"+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("no group can be made: %v", err)
	}
	t.Cleanup(func() {
		require.Eventually(t, func() bool { // whoever is in it may still be ending
			_ = os.Remove(filepath.Join(dir, "librarian"))
			return os.Remove(dir) == nil
		}, 20*time.Second, 10*time.Millisecond)
	})
	if err := unix.Setxattr(dir, "trusted.delegate", []byte("1"), 0); err != nil {
		t.Skipf("a group cannot be marked: %v", err)
	}
	in, err := os.Open(dir)
	require.NoError(t, err)
	defer func() { _ = in.Close() }()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.v", "-test.run", "^(TestCommandsHaveACgroup|TestBombs|TestRunGivesTheOutput|TestNothingIsLeftBehind)$")
	cmd.Env = append(os.Environ(), furtherRound+"=1", cgroupRound+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(in.Fd())}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: TestCommandsHaveACgroup")
	left, err := filepath.Glob(filepath.Join(dir, "librarian-command-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestCommandsHaveACgroup runs in TestInADelegatedCgroup's round.
func TestCommandsHaveACgroup(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(cgroupRound)
	if dir == "" {
		s, err := sandbox.New(sandbox.Options{Dir: t.TempDir()})
		require.NoError(t, err)
		t.Skipf("no group was delegated to the tests: %v", s.Bounded())
	}
	c := newCell(t, sandbox.Limits{Memory: 256 << 20, Processes: 50})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.Run(ctx, sandbox.Command{Line: "sleep 1234 & sleep 1234", Dir: c.tree, Read: []string{c.tree}, Timeout: time.Minute})
		ended <- err
	}()
	group := ""
	require.Eventually(t, func() bool {
		found, _ := filepath.Glob(filepath.Join(dir, "librarian-command-*"))
		for _, d := range found {
			b, _ := os.ReadFile(filepath.Join(d, "cgroup.procs"))
			for pid := range strings.FieldsSeq(string(b)) {
				if line, _ := os.ReadFile("/proc/" + pid + "/cmdline"); strings.HasPrefix(string(line), "sleep\x001234") {
					group = d
				}
			}
		}
		return group != ""
	}, 20*time.Second, 5*time.Millisecond, "the command is in a group of its own")
	if err := c.Bounded(); err == nil {
		for name, want := range map[string]string{"memory.max": "268435456", "pids.max": "66"} {
			b, err := os.ReadFile(filepath.Join(group, name))
			require.NoError(t, err)
			require.Equal(t, want, strings.TrimSpace(string(b)), name)
		}
	} else {
		require.ErrorContains(t, err, "controllers")
		t.Logf("not bounded by the kernel here: %v", err)
	}
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	_, err := os.Stat(group)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// What the kernel is told of a command's group, on machines whose controllers are elsewhere: a folder stands for the hierarchy.
func TestWhatACgroupIsTold(t *testing.T) {
	t.Parallel()
	group, kill, outOfMemory, err := sandbox.CommandCgroup(t.TempDir(), sandbox.Limits{Memory: 256 << 20, Processes: 50})
	require.NoError(t, err)
	read := func(name string) string {
		require.NoError(t, os.Chmod(filepath.Join(group, name), 0o600)) // the kernel's files have modes of their own
		b, err := os.ReadFile(filepath.Join(group, name))
		require.NoError(t, err)
		return string(b)
	}
	for name, want := range map[string]string{"memory.max": "268435456", "memory.swap.max": "0", "memory.oom.group": "1", "pids.max": "66"} {
		require.Equal(t, want, read(name), name)
	}
	kill()
	require.Equal(t, "1", read("cgroup.kill"))
	require.False(t, outOfMemory(), "there is nothing that says so")
	for events, want := range map[string]bool{"low 0\noom 3\noom_kill 0\n": false, "oom 1\noom_kill 12\noom_group_kill 1\n": true, "": false} {
		require.NoError(t, os.WriteFile(filepath.Join(group, "memory.events"), []byte(events), 0o600))
		require.Equal(t, want, outOfMemory(), events)
	}
	_, _, _, err = sandbox.CommandCgroup(filepath.Join(group, "none"), sandbox.Limits{})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Where the group is comes from two files of the kernel's.
func TestOwnCgroup(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ cgroup, mounts, dir, top string }{
		"unified": {"0::/system.slice/librarian.service\n", "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n", "/sys/fs/cgroup/system.slice/librarian.service", "/sys/fs/cgroup"},
		"hybrid": {"3:pids:/x\n0::/a\n", "30 23 0:26 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n31 23 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			"/sys/fs/cgroup/unified/a", "/sys/fs/cgroup/unified"},
		"a container's part": {"0::/docker/abc/leaf\n", "30 23 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "/sys/fs/cgroup/leaf", "/sys/fs/cgroup"},
		"elsewhere":          {"0::/other\n", "30 23 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "", ""},
		"old":                {"3:pids:/x\n", "30 23 0:26 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n", "", ""},
		"nothing":            {"", "", "", ""},
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "cgroup"), []byte(c.cgroup), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "mounts"), []byte(c.mounts), 0o600))
		got, top, err := sandbox.OwnCgroup(filepath.Join(dir, "cgroup"), filepath.Join(dir, "mounts"))
		require.Equal(t, c.dir, got, name)
		require.Equal(t, c.top, top, name)
		require.Equal(t, c.dir == "", err != nil, name)
	}
	_, _, err := sandbox.OwnCgroup("/nonexistent", "/nonexistent")
	require.True(t, errors.Is(err, os.ErrNotExist))
}
