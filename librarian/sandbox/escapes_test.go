//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/sandbox"
)

// eachView runs a test with every way of hiding the machine's files that this user has, and with none.
func eachView(t *testing.T, test func(t *testing.T, view int)) {
	t.Helper()
	kinds := map[string]int{"no view": sandbox.ViewNone, "user namespace": sandbox.ViewUser}
	switch {
	case os.Getenv(cgroupRound) != "": // there it is about something else
		kinds = map[string]int{"mount namespace": sandbox.ViewMount}
	case os.Geteuid() == 0:
		kinds["mount namespace"] = sandbox.ViewMount
	}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			if kind != sandbox.ViewNone {
				c := newCell(t, sandbox.Limits{})
				c.UseView(kind)
				if _, err := c.Run(t.Context(), sandbox.Command{Line: "true", Dir: c.tree, Read: []string{c.tree}, Timeout: time.Minute}); err != nil {
					t.Skipf("this system refuses it: %v", err)
				}
			}
			test(t, kind)
		})
	}
}

// Each attempt must print that it was refused; the canaries must stay as they are.
func TestEscapes(t *testing.T) {
	t.Parallel()
	eachView(t, escapes)
	if os.Geteuid() != 0 || os.Getenv(furtherRound) != "" {
		return
	}
	t.Run("as nobody", func(t *testing.T) {
		// The same binary once more, as a user without rights, from where that user can read it.
		dir, err := os.MkdirTemp("/tmp", "librarian-nobody-") //nolint:usetesting // the other user cannot pass the test's own folder
		require.NoError(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		require.NoError(t, os.Chmod(dir, 0o777))
		self, err := os.Executable()
		require.NoError(t, err)
		binary := filepath.Join(dir, "sandbox.test")
		copyFile(t, self, binary)
		cmd := exec.CommandContext(t.Context(), binary, "-test.run", "^(TestProbe|TestEscapes|TestBombs|TestRunGivesTheOutput|TestNothingIsLeftBehind|TestKilled|TestLeftovers)$", "-test.v")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), furtherRound+"=1", "TMPDIR="+dir, "HOME="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		if !raced && os.Getenv("LIBRARIAN_NO_SANDBOX") == "" {
			require.NotContains(t, regexp.MustCompile(`--- SKIP: \w+/(user_namespace|.*/setuid_binaries)`).ReplaceAllString(string(out), ""), "SKIP")
		}
		require.Contains(t, string(out), "--- PASS: TestEscapes")
	})
}

// A container's root has fewer capabilities than the machine's; LIBRARIAN_LONG=1 runs the tests as one.
func TestAsTheRootOfAContainer(t *testing.T) {
	setpriv, err := exec.LookPath("setpriv")
	if err != nil || os.Geteuid() != 0 || os.Getenv("LIBRARIAN_LONG") == "" || os.Getenv(furtherRound) != "" {
		t.Skip("needs root, setpriv and LIBRARIAN_LONG=1")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), setpriv, "--inh-caps=-all", "--bounding-set=-all,+chown,+dac_override,+fsetid,+fowner,+mknod,+net_raw,+setgid,+setuid,"+
		"+setfcap,+setpcap,+net_bind_service,+sys_chroot,+kill,+audit_write", self, "-test.v", "-test.run", "^(TestProbe|TestEscapes|TestBombs|TestRunGivesTheOutput|TestNothingIsLeftBehind|TestKilled|TestLeftovers)$")
	cmd.Env = append(os.Environ(), furtherRound+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: TestBombs")
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	require.NoError(t, err)
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(out, in)
	require.NoError(t, err)
	require.NoError(t, out.Close())
}

func escapes(t *testing.T, view int) {
	c := newCell(t, sandbox.Limits{})
	c.UseView(view)
	// A process of our own user that must not be touched.
	victim := exec.CommandContext(t.Context(), "sleep", "60")
	require.NoError(t, victim.Start())
	t.Cleanup(func() { _ = victim.Process.Kill(); _ = victim.Wait() })
	pid := victim.Process.Pid

	shell := map[string]string{
		"shadow":               `cat /etc/shadow`,
		"passwd":               `cat /etc/passwd`,
		"environ of another":   `cat /proc/` + strconv.Itoa(os.Getpid()) + `/environ`,
		"environ of itself":    `cat /proc/self/environ`,
		"environ of all":       `cat /proc/*/environ`,
		"the database":         `cat ` + c.other + `/canary`,
		"another run's tree":   `ls ` + c.other,
		"through a link":       `ln -s ` + c.other + ` $TMPDIR/l && cat $TMPDIR/l/canary`,
		"through dots":         `cat ` + c.tree + `/../other/canary`,
		"hard link":            `ln ` + c.tree + `/canary $TMPDIR/h && echo x >$TMPDIR/h`,
		"write the tree":       `echo x > canary`,
		"append to the tree":   `echo x >> canary`,
		"truncate the tree":    `truncate -s 0 canary`,
		"new file in the tree": `echo x > new`,
		"remove from the tree": `rm -f canary`,
		"move out of the tree": `mv canary $TMPDIR/`,
		"write to tmp":         `echo x > /tmp/librarian-escape-` + strconv.Itoa(pid),
		"write to home":        `echo x > ~root/x`,
		"write to dev shm":     `echo x > /dev/shm/librarian-escape-` + strconv.Itoa(pid),
		"chmod":                `chmod 0 canary`,
		"chmod in scratch":     `touch $TMPDIR/x; chmod 777 $TMPDIR/x`,
		"run from scratch":     `cp /bin/true $TMPDIR/t; $TMPDIR/t`,
		"kill another":         `kill -9 ` + strconv.Itoa(pid),
		"signal the parent":    `kill -0 ` + strconv.Itoa(os.Getpid()),
		"kill all":             `kill -9 -1; false`,
		"tcp":                  `exec 3<>/dev/tcp/127.0.0.1/1`,
		"udp":                  `exec 3<>/dev/udp/127.0.0.1/1`,
		"terminal":             `echo x > /dev/tty`,
		"unshare":              `unshare -U true`,
		"mount":                `mount -t tmpfs x $TMPDIR`,
		"device":               `mknod $TMPDIR/d b 8 0`,
		"memory device":        `head -c 1 /dev/mem`,
		"more address space":   `ulimit -v unlimited`,
		"more processes":       `ulimit -u 100000`,
	}
	for name, line := range shell {
		t.Run(name, func(t *testing.T) {
			o := c.sh(t, "("+line+`) >$TMPDIR/out 2>$TMPDIR/err && echo DONE; grep -l canary $TMPDIR/out; head -c 300 $TMPDIR/err`)
			require.NotContains(t, o.Text, "DONE", o.Text)
			require.NotContains(t, o.Text, "/out", "the canary was read: %s", o.Text)
		})
	}
	t.Run("setuid binaries", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("only root can make one that would give root")
		}
		dir, err := os.MkdirTemp("/var/tmp", "librarian-setuid-") //nolint:usetesting // not below the test's closed folder
		require.NoError(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		require.NoError(t, os.Chmod(dir, 0o755))
		id := filepath.Join(dir, "id")
		copyFile(t, "/usr/bin/id", id)
		require.NoError(t, os.Chmod(id, 0o755|os.ModeSetuid|os.ModeSetgid))
		uid := 61184 + os.Getpid()%500*8
		box, err := sandbox.New(sandbox.Options{Dir: filepath.Join(dir, "scratch"), Exec: []string{id}, UIDBase: uid, Slots: 1})
		require.NoError(t, err)
		box.UseView(view)
		o, err := box.Run(t.Context(), sandbox.Command{Line: id + " -u; " + id + " -g", Dir: c.tree, Read: []string{c.tree}, Timeout: 10 * time.Second})
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%d\n%[1]d", uid), o.Text, "the bits count for nothing")
	})
	t.Run("guessed paths", func(t *testing.T) {
		if view == sandbox.ViewNone {
			require.Error(t, c.Hidden(t.Context()), "Landlock alone does not hide what exists, and says so")
			return
		}
		require.NoError(t, c.Hidden(t.Context()))
		guesses := []string{c.other, c.other + "/canary", filepath.Dir(c.tree) + "/scratch", "/root", "/var/log", "/etc/passwd", "/etc/shadow", "/sys/kernel",
			"/proc/" + strconv.Itoa(pid) + "/cwd/.", "/proc/" + strconv.Itoa(pid) + "/root/etc", "/proc/1/root/etc"}
		if view == sandbox.ViewMount {
			guesses = append(guesses, "/proc/"+strconv.Itoa(pid), "/proc/"+strconv.Itoa(os.Getpid()), "/proc/meminfo")
		}
		for _, p := range guesses {
			if p != "/sys/kernel" && !strings.HasPrefix(p, "/proc/") {
				_, err := os.Stat(p)
				require.NoError(t, err, "a guess must be right to mean something")
			}
			o := c.sh(t, fmt.Sprintf(`[ -e %[1]s ] && echo THERE; stat -c found %[1]s 2>&1; cd %[1]s 2>/dev/null && echo ENTERED; cat <(echo this works)`, p))
			require.NotContains(t, o.Text, "THERE", p)
			require.NotContains(t, o.Text, "found", p)
			require.NotContains(t, o.Text, "ENTERED", p)
			require.Contains(t, o.Text, "this works")
		}
	})
	if !raced {
		o := c.sh(t, fmt.Sprintf("%s try:all %d %s", c.self, pid, c.other))
		got := strings.Split(o.Text, "\n")
		require.Len(t, got, len(attempts()), o.Text)
		for i, name := range attempts() {
			require.Equal(t, name+": refused", got[i])
		}
	}
	require.NoError(t, syscall.Kill(pid, 0), "the victim lives")
	for _, d := range []string{c.tree, c.other} {
		b, err := os.ReadFile(filepath.Join(d, "canary"))
		require.NoError(t, err)
		require.Equal(t, "canary\n", string(b))
		info, err := os.Stat(filepath.Join(d, "canary"))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o644), info.Mode())
		entries, err := os.ReadDir(d)
		require.NoError(t, err)
		require.Len(t, entries, 1)
	}
}
