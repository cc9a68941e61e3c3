//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/librarian-app/librarian/librarian/sandbox"
)

// without is what the test's binary does on a system that refuses one system call, as a container's rules may: it says what becomes of
// the sandbox there.
func without(call uint32, errno unix.Errno, dir string) {
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
		{Code: unix.BPF_JMP | unix.BPF_K | unix.BPF_JEQ, K: call, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); e != 0 {
		err = errors.Join(err, e)
	}
	s, err2 := sandbox.New(sandbox.Options{Dir: dir + "/scratch"})
	ctx := context.Background()
	_, _ = fmt.Fprintln(os.Stdout, "filter:", errors.Join(err, err2))
	_, _ = fmt.Fprintln(os.Stdout, "probe:", s.Probe(ctx))
	o, err := s.Run(ctx, sandbox.Command{Line: "echo ran; touch " + dir + "/ran", Dir: dir, Read: []string{dir}, Timeout: 10 * time.Second})
	_, _ = fmt.Fprintln(os.Stdout, "run:", err, strings.TrimSpace(o.Text))
	_, _ = fmt.Fprintln(os.Stdout, "hidden:", s.Hidden(ctx))
}

// Where a wall cannot be put up no command is run. Where only a file system of its own is refused it is run, and that is told.
func TestFailsClosed(t *testing.T) {
	t.Parallel()
	newCell(t, sandbox.Limits{})
	for _, tt := range []struct {
		name   string
		call   uint32
		errno  unix.Errno
		closed string // what Probe and Run say; empty: they run
		hidden string
	}{
		{"no Landlock", unix.SYS_LANDLOCK_CREATE_RULESET, unix.ENOSYS, "landlock ABI 3 is needed, the kernel has 0", ""},
		{"Landlock is switched off", unix.SYS_LANDLOCK_CREATE_RULESET, unix.EOPNOTSUPP, "landlock ABI 3 is needed, the kernel has 0", ""},
		{"no rule can be added", unix.SYS_LANDLOCK_ADD_RULE, unix.EPERM, "landlock rule for", ""},
		{"no restriction", unix.SYS_LANDLOCK_RESTRICT_SELF, unix.EPERM, "landlock: operation not permitted", ""},
		{"no seccomp", unix.SYS_SECCOMP, unix.EPERM, "seccomp: operation not permitted", ""},
		{"no limits", unix.SYS_PRLIMIT64, unix.EPERM, "not permitted", ""},
		{"no mounts", unix.SYS_MOUNT, unix.EPERM, "", "private mounts: operation not permitted"},
		{"no new mounts", unix.SYS_OPEN_TREE, unix.ENOSYS, "", "function not implemented"},
		{"no new root", unix.SYS_PIVOT_ROOT, unix.EPERM, "", "pivot: operation not permitted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			self, err := os.Executable()
			require.NoError(t, err)
			dir := t.TempDir()
			out, err := exec.CommandContext(t.Context(), self, "without:"+strconv.Itoa(int(tt.call)), strconv.Itoa(int(tt.errno)), dir).CombinedOutput()
			require.NoError(t, err, string(out))
			got := map[string]string{}
			for line := range strings.SplitSeq(string(out), "\n") {
				name, rest, _ := strings.Cut(line, ": ")
				got[name] = rest
			}
			require.Equal(t, "<nil>", got["filter"])
			require.NoFileExists(t, dir+"/ran")
			if tt.closed != "" {
				require.Contains(t, got["probe"], tt.closed)
				require.Contains(t, got["run"], tt.closed)
				require.NotContains(t, got["run"], "ran")
				return
			}
			require.Equal(t, "<nil>", got["probe"])
			require.True(t, strings.HasPrefix(got["run"], "<nil> ran"), string(out))
			require.Contains(t, string(out), tt.hidden)
			require.NotEqual(t, "<nil>", got["hidden"])
		})
	}
}
