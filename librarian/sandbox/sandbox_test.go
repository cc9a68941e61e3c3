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

	"context"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/sandbox"
)

// furtherRound is set in the tests' further rounds, which a root's round starts.
const furtherRound = "LIBRARIAN_SANDBOX_TEST_ROUND"

func TestMain(m *testing.M) {
	sandbox.Child()
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "try:") {
		try(strings.TrimPrefix(os.Args[1], "try:"), os.Args[2:])
		return
	}
	if len(os.Args) == 4 && strings.HasPrefix(os.Args[1], "without:") {
		call, _ := strconv.Atoi(strings.TrimPrefix(os.Args[1], "without:"))
		errno, _ := strconv.Atoi(os.Args[2])
		without(uint32(call), syscall.Errno(errno), os.Args[3])
		return
	}
	os.Exit(m.Run())
}

// cell is a sandbox with a tree that it may read and a folder that it may not.
type cell struct {
	*sandbox.Sandbox
	tree, other, self string
}

func newCell(t *testing.T, limits sandbox.Limits) *cell {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	// User ids of this process alone: a bomb in another one's tests counts against the same user.
	s, err := sandbox.New(sandbox.Options{Dir: filepath.Join(dir, "scratch"), Exec: []string{self}, Limits: limits, UIDBase: 61184 + os.Getpid()%500*8})
	require.NoError(t, err)
	c := &cell{Sandbox: s, tree: filepath.Join(dir, "tree"), other: filepath.Join(dir, "other"), self: self}
	for _, d := range []string{c.tree, c.other} {
		require.NoError(t, os.Mkdir(d, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(d, "canary"), []byte("canary\n"), 0o644))
	}
	if err := s.Probe(t.Context()); err != nil {
		t.Skipf("this kernel cannot confine: %v", err) // CI runs where it can; see TestProbe
	}
	return c
}

func (c *cell) sh(t *testing.T, line string) sandbox.Output {
	t.Helper()
	o, err := c.Run(t.Context(), sandbox.Command{Line: line, Dir: c.tree, Read: []string{c.tree}, Timeout: 10 * time.Second})
	require.NoError(t, err)
	return o
}

// TestProbe fails where tests must not be skipped.
func TestProbe(t *testing.T) {
	t.Parallel()
	s, err := sandbox.New(sandbox.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	err = s.Probe(t.Context())
	if os.Getenv("LIBRARIAN_NO_SANDBOX") == "" {
		require.NoError(t, err, "set LIBRARIAN_NO_SANDBOX=1 on a kernel without Landlock")
	}
}

func TestRunGivesTheOutput(t *testing.T) {
	t.Parallel()
	c := newCell(t, sandbox.Limits{})
	o := c.sh(t, `cat canary; echo err >&2; pwd; wc -l < canary; exit 3`)
	require.Equal(t, "canary\nerr\n"+c.tree+"\n1", o.Text)
	require.Equal(t, 4, o.Lines)
	require.Equal(t, 4, o.Shown)
	require.Equal(t, 3, o.Code)
	require.Empty(t, o.Killed)
	o = c.sh(t, `env | sort; echo $#; read x; echo "<$x>"`)
	require.NotContains(t, o.Text, "LIBRARIAN")
	require.Contains(t, o.Text, "GIT_NO_LAZY_FETCH=1\n")
	require.Contains(t, o.Text, "\n<>")
	for line := range strings.SplitSeq(o.Text, "\n") {
		name, _, ok := strings.Cut(line, "=")
		require.True(t, !ok || strings.HasPrefix(name, "GIT_") || strings.Contains(" PATH HOME TMPDIR LANG TERM PAGER PWD OLDPWD SHLVL _ ", " "+name+" "), line)
	}
	o = c.sh(t, `kill -9 $$`)
	require.Equal(t, 137, o.Code)
	o = c.sh(t, `true`)
	require.Equal(t, sandbox.Output{Took: o.Took, Peak: o.Peak, View: o.View}, o)
}

func TestOutputKeepsTheEnd(t *testing.T) {
	t.Parallel()
	c := newCell(t, sandbox.Limits{})
	o := c.sh(t, `for ((i=1;i<=3000;i++)); do echo $i; done`)
	lines := strings.Split(o.Text, "\n")
	require.Len(t, lines, 2000)
	require.Equal(t, "1001", lines[0])
	require.Equal(t, "3000", lines[1999])
	require.Equal(t, 3000, o.Lines)
	require.Equal(t, 2000, o.Shown)

	o = c.sh(t, `for ((i=1;i<=200;i++)); do printf '%04d %0995d\n' $i 0; done`)
	require.LessOrEqual(t, len(o.Text), 50<<10)
	require.Greater(t, len(o.Text), 49<<10)
	require.Equal(t, 200, o.Lines)
	require.True(t, strings.HasPrefix(o.Text, fmt.Sprintf("%04d ", 200-o.Shown+1)), "it begins at a line's start")

	o = c.sh(t, `head -c 200000 /dev/zero | tr '\0' x`)
	require.Len(t, o.Text, 50<<10)
	require.Equal(t, 1, o.Lines)
	require.EqualValues(t, 200000, o.Bytes)
}

func TestEndlessOutputAndTimeOut(t *testing.T) {
	t.Parallel()
	c := newCell(t, sandbox.Limits{})
	began := time.Now()
	o, err := c.Run(t.Context(), sandbox.Command{Line: "yes endless", Dir: c.tree, Read: []string{c.tree}, Timeout: 300 * time.Millisecond})
	require.NoError(t, err)
	require.Equal(t, sandbox.TimedOut, o.Killed)
	require.Less(t, time.Since(began), 3*time.Second)
	require.LessOrEqual(t, len(o.Text), 50<<10)
	require.True(t, strings.HasSuffix(o.Text, "endless"), o.Text[len(o.Text)-20:])

	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = c.Run(ctx, sandbox.Command{Line: "sleep 60 & sleep 60", Dir: c.tree, Read: []string{c.tree}, Timeout: time.Minute})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	c := newCell(t, sandbox.Limits{})
	began := time.Now()
	o := c.sh(t, `sleep 1000 & echo $!; (trap '' HUP TERM; sleep 1000) & echo $!; setsid sleep 1000 2>/dev/null & echo $!; echo x > $TMPDIR/f; echo $TMPDIR`)
	require.Less(t, time.Since(began), 5*time.Second, "a process that holds the output does not hold the run")
	lines := strings.Split(strings.TrimSpace(o.Text), "\n")
	require.NotEmpty(t, lines)
	scratch := ""
	for _, l := range lines {
		if strings.HasPrefix(l, "/") {
			scratch = l
		}
		pid, err := strconv.Atoi(l)
		if err != nil {
			continue
		}
		if state, err := os.ReadFile("/proc/" + l + "/stat"); err == nil {
			i := strings.LastIndexByte(string(state), ')')
			require.Equal(t, "Z", string(state[i+2]), "process %d lives", pid)
		}
	}
	require.NotEmpty(t, scratch, "%+v", o)
	require.NoDirExists(t, scratch)
}

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
		cmd := exec.CommandContext(t.Context(), binary, "-test.run", "^(TestProbe|TestEscapes|TestBombs|TestRunGivesTheOutput|TestNothingIsLeftBehind)$", "-test.v")
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
		"+setfcap,+setpcap,+net_bind_service,+sys_chroot,+kill,+audit_write", self, "-test.v", "-test.run", "^(TestProbe|TestEscapes|TestBombs|TestRunGivesTheOutput|TestNothingIsLeftBehind)$")
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
	o := run(t, `echo fine`)
	require.Equal(t, "fine", o.Text)
}

// A command finds its folders under the names that it is given, and nothing tells where they lie.
func TestNames(t *testing.T) {
	t.Parallel()
	c := newCell(t, sandbox.Limits{})
	if err := c.Hidden(t.Context()); err != nil {
		t.Skip(err)
	}
	box, err := sandbox.New(sandbox.Options{Dir: filepath.Join(filepath.Dir(c.tree), "scratch")}) // nothing of /tmp is shown
	require.NoError(t, err)
	c.Sandbox = box
	second := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(second, "x"), []byte("second\n"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(c.tree, "sub"), 0o755))
	o, err := c.Run(t.Context(), sandbox.Command{Line: `pwd; cat ../canary /named/b@v1/x; echo $TMPDIR; echo y > /tmp/y && cat $HOME/y; cat /proc/mounts; ls /`,
		Dir: filepath.Join(c.tree, "sub"), Read: []string{c.tree, second}, As: map[string]string{c.tree: "/named/a", second: "/named/b@v1"}, Timeout: 10 * time.Second})
	require.NoError(t, err)
	require.True(t, o.View)
	require.Contains(t, o.Text, "/named/a/sub\ncanary\nsecond\n/tmp\ny\n")
	require.NotContains(t, o.Text, filepath.Dir(c.tree))
	// What is put into scratch first belongs to the command.
	o, err = c.Run(t.Context(), sandbox.Command{Line: `cat $F; echo b > $F; cat $F; rm -r $TMPDIR/d && echo gone`, Dir: c.tree, Read: []string{c.tree},
		Files: map[string][]byte{"d/e/f": []byte("a\n")}, Env: []string{"F=$SCRATCH/d/e/f"}, Timeout: 10 * time.Second})
	require.NoError(t, err)
	require.Equal(t, "a\nb\ngone", o.Text)
	_, err = c.Run(t.Context(), sandbox.Command{Line: "true", Dir: c.tree, Files: map[string][]byte{"../x": nil}, Timeout: 10 * time.Second})
	require.ErrorContains(t, err, "not below")
	_, err = c.Run(t.Context(), sandbox.Command{Line: "true", Dir: c.other, Read: []string{c.tree}, Timeout: 10 * time.Second})
	require.ErrorContains(t, err, "chdir", "a folder that is not to be read is not there")
}

func TestBadCommands(t *testing.T) {
	t.Parallel()
	_, err := sandbox.New(sandbox.Options{Dir: "relative"})
	require.Error(t, err)
	s, err := sandbox.New(sandbox.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	for _, c := range []sandbox.Command{
		{Dir: "/", Timeout: time.Second},
		{Line: "true", Dir: "/"},
		{Line: "true", Dir: "x", Timeout: time.Second},
		{Line: "true", Dir: "/", Read: []string{"x"}, Timeout: time.Second},
		{Line: "true", Dir: "/nonexistent", Timeout: time.Second},
		{Line: "true", Dir: t.TempDir(), Read: []string{"/nonexistent"}, Timeout: time.Second},
		{Line: "true", Dir: "/usr", Read: []string{"/usr"}, As: map[string]string{"/usr": "x"}, Timeout: time.Second},
		{Line: "true", Dir: "/usr/../etc", Read: []string{"/usr"}, Timeout: time.Second},
		{Line: "true\x00", Dir: t.TempDir(), Timeout: time.Second},
	} {
		_, err := s.Run(t.Context(), c)
		require.Error(t, err, "%+v", c)
		require.NotContains(t, err.Error(), "panic")
	}
}

func BenchmarkOverhead(b *testing.B) {
	dir := b.TempDir()
	s, err := sandbox.New(sandbox.Options{Dir: filepath.Join(dir, "scratch")})
	require.NoError(b, err)
	require.NoError(b, s.Probe(b.Context()))
	var plain, confined, seeing time.Duration
	open, err := sandbox.New(sandbox.Options{Dir: filepath.Join(dir, "scratch")})
	require.NoError(b, err)
	open.UseView(sandbox.ViewNone)
	for b.Loop() {
		began := time.Now()
		_ = exec.CommandContext(b.Context(), "/bin/bash", "--noprofile", "--norc", "-c", "true").Run()
		plain += time.Since(began)
		began = time.Now()
		_, err := s.Run(b.Context(), sandbox.Command{Line: "true", Dir: dir, Read: []string{dir}, Timeout: time.Minute})
		require.NoError(b, err)
		confined += time.Since(began)
		began = time.Now()
		_, err = open.Run(b.Context(), sandbox.Command{Line: "true", Dir: dir, Read: []string{dir}, Timeout: time.Minute})
		require.NoError(b, err)
		seeing += time.Since(began)
	}
	b.ReportMetric(float64(plain.Microseconds())/1000/float64(b.N), "ms-plain")
	b.ReportMetric(float64(seeing.Microseconds())/1000/float64(b.N), "ms-confined-without-a-view")
	b.ReportMetric(float64(confined.Microseconds())/1000/float64(b.N), "ms-confined")
}
