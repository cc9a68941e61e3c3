//go:build amd64 || arm64

package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	guardName = "librarian-sandbox-guard" // what our binary is called when it is to be the guard
	guardFD   = 4                         // where a child says that it begins
)

// guard is a process beside ours that ends what commands run when we are killed: of a command's processes only the first is told
// of our death, and nobody would watch the others. It reads from a pipe whose end is ours: a child says "+group scratch" there
// before it becomes the command, we say "-group" when all of it has ended. When the pipe ends we are gone.
type guard struct {
	mu   sync.Mutex
	pipe *os.File
	gone chan struct{} // closed when the process has ended
}

// theGuard is that of all sandboxes of this process.
var theGuard guard

// open gives the guard's pipe; it starts one if there is none, or none any more.
func (g *guard) open() (*os.File, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pipe != nil {
		select {
		case <-g.gone:
			_ = g.pipe.Close()
			g.pipe = nil
		default:
			return g.pipe, nil
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	cmd := exec.Command("/proc/self/exe") //nolint:gosec,noctx // our own binary; it ends with us
	cmd.Args, cmd.Env, cmd.Dir, cmd.Stdin = []string{guardName}, []string{}, "/", r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what is typed at our terminal is not meant for it
	if err := cmd.Start(); err != nil {
		_ = w.Close()
		return nil, err
	}
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(gone)
	}()
	g.pipe, g.gone = w, gone
	return w, nil
}

// ended says that nothing of a group is left.
func ended(pipe *os.File, group int) { _, _ = fmt.Fprintf(pipe, "-%d\n", group) }

// begun says, in the child, that a group begins whose scratch folder that is.
func begun(scratch string) error {
	if strings.ContainsRune(scratch, '\n') {
		return fmt.Errorf("guard: a line break in %q", scratch)
	}
	if _, err := unix.Write(guardFD, fmt.Appendf(nil, "+%d %s\n", os.Getpid(), scratch)); err != nil {
		return fmt.Errorf("guard: %w", err)
	}
	return nil
}

// stand is the guard.
func stand() {
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT) // it goes after us, not with us
	groups := map[int]string{}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		line := in.Text()
		if group, err := strconv.Atoi(strings.TrimPrefix(line, "-")); err == nil && strings.HasPrefix(line, "-") {
			delete(groups, group)
			continue
		}
		pid, scratch, _ := strings.Cut(strings.TrimPrefix(line, "+"), " ")
		if group, err := strconv.Atoi(pid); err == nil && group > 1 && filepath.IsAbs(scratch) {
			groups[group] = scratch
		}
	}
	for group := range groups {
		killGroup(group)
	}
	for group, scratch := range groups {
		waitEmpty(group)
		_ = removeAll(scratch)
	}
	os.Exit(0)
}

// begin is called once, before the first scratch folder. If nobody else works in the folder of scratch folders, what is there was
// left by one that was killed, together with its guard, as when a machine stops.
func (s *Sandbox) begin() {
	f, err := os.OpenFile(filepath.Join(s.opt.Dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return // nor can scratch folders be made
	}
	fd := int(f.Fd()) //nolint:gosec // a descriptor is small
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
		old, _ := filepath.Glob(filepath.Join(s.opt.Dir, scratchPrefix+"*"))
		for _, dir := range old {
			_ = removeAll(dir)
		}
	}
	// Between the two locks there is none, which does no harm: nothing of ours is there yet.
	_ = unix.Flock(fd, unix.LOCK_SH)
	s.inUse = f
}
