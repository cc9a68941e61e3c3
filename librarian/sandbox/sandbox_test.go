//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

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
	if len(os.Args) == 2 && strings.HasPrefix(os.Args[1], "work:") {
		work(strings.TrimPrefix(os.Args[1], "work:"))
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

// newUIDs gives user ids of one cell alone: a bomb in another one, even while it is dying, counts against the same user.
func newUIDs() int { return 61184 + (1+(os.Getpid()+37*int(cells.Add(1)))%499)*8 }

var cells atomic.Int32

func newCell(t *testing.T, limits sandbox.Limits) *cell {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	s, err := sandbox.New(sandbox.Options{Dir: filepath.Join(dir, "scratch"), Exec: []string{self}, Limits: limits, UIDBase: newUIDs()})
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
	require.Contains(t, o.Text, "ls: cannot open directory '/'")
	// The names can be listed.
	o, err = c.Run(t.Context(), sandbox.Command{Line: `ls /named; find /named -type f | sort; echo x > /named/x || ls /proc`, Dir: c.tree, Read: []string{c.tree, second},
		As: map[string]string{c.tree: "/named/a", second: "/named/b@v1"}, Timeout: 10 * time.Second})
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(o.Text, "a\nb@v1\n/named/a/canary\n/named/b@v1/x\n"), o.Text)
	require.Contains(t, o.Text, "ls: cannot open directory '/proc'")
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
