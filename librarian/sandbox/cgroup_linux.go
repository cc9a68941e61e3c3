//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A command gets a control group (cgroup v2) of its own where one was delegated to us, as by systemd's Delegate=yes: then the kernel
// itself bounds memory and processes of all that it starts, and ends it all at once. Where there is none, or the controllers are
// not in it, the watch does that every 50 ms. See https://docs.kernel.org/admin-guide/cgroup-v2.html, "Delegation".

const (
	cgroupPrefix = "librarian-command-"
	cgroupOurs   = "librarian" // the leaf that we move to: a group that has limited children holds no process itself
)

// cgroups is the delegated group.
type cgroups struct {
	once   sync.Once
	dir    string
	limits bool // memory and pids are bounded in it
	err    error
}

// cgroupCount numbers the groups that this process made.
var cgroupCount atomic.Int64

// Bounded reports why the limits of memory and processes are kept by a look every 50 ms alone; nil: the kernel keeps them.
func (s *Sandbox) Bounded() error {
	c := s.openCgroups()
	if c.err == nil && !c.limits {
		return fmt.Errorf("sandbox: the controllers memory and pids are not in the delegated group %s", c.dir)
	}
	return c.err
}

func (s *Sandbox) openCgroups() *cgroups {
	c := &s.cgroups
	c.once.Do(func() {
		if c.dir, c.limits, c.err = delegated(); c.err != nil {
			c.err = fmt.Errorf("sandbox: no cgroup of its own for a command: %w", c.err)
		}
	})
	return c
}

// delegated finds the group in which we may make others, and moves this process out of the way if it is in there itself.
func delegated() (dir string, limits bool, err error) {
	own, top, err := ownCgroup("/proc/self/cgroup", "/proc/self/mountinfo")
	if err != nil {
		return "", false, err
	}
	dir = own
	if !isDelegated(dir) && dir != top {
		dir = filepath.Dir(dir)
	}
	if !isDelegated(dir) {
		return "", false, fmt.Errorf("%s is not delegated", own)
	}
	if dir == own {
		leaf := filepath.Join(dir, cgroupOurs)
		if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, os.ErrExist) { //nolint:gosec // as its siblings
			return "", false, err
		}
		if err := writeControl(leaf, "cgroup.procs", strconv.Itoa(os.Getpid())); err != nil {
			return "", false, err
		}
	}
	old, _ := filepath.Glob(filepath.Join(dir, cgroupPrefix+"*"))
	for _, d := range old {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(d), cgroupPrefix), "-")
		if _, err := os.Stat("/proc/" + pid); errors.Is(err, os.ErrNotExist) {
			_ = os.Remove(d) // left by one of us that was killed
		}
	}
	has, _ := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	controllers := strings.Fields(string(has))
	if !slices.Contains(controllers, "memory") || !slices.Contains(controllers, "pids") {
		return dir, false, nil
	}
	if err := writeControl(dir, "cgroup.subtree_control", "+memory +pids"); err != nil {
		return "", false, err // somebody else is in there
	}
	return dir, true, nil
}

// isDelegated reports whether a group was handed over to be divided: systemd marks it so. What merely can be written is not ours to
// divide, which root could anywhere.
func isDelegated(dir string) bool {
	for _, name := range []string{"trusted.delegate", "user.delegate"} {
		var b [8]byte
		if n, err := unix.Getxattr(dir, name, b[:]); err == nil && string(b[:n]) == "1" {
			return true
		}
	}
	return false
}

// ownCgroup gives this process's group in the unified hierarchy, and the hierarchy's top, as paths of the file system.
func ownCgroup(cgroup, mountinfo string) (dir, top string, err error) {
	b, err := os.ReadFile(cgroup)
	if err != nil {
		return "", "", err
	}
	path := ""
	for line := range strings.Lines(string(b)) {
		if p, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			path = p
		}
	}
	if b, err = os.ReadFile(mountinfo); err != nil {
		return "", "", err
	}
	for line := range strings.Lines(string(b)) {
		// id, parent, device, root, mount point, options, optional fields, "-", type, …
		before, after, ok := strings.Cut(line, " - ")
		f := strings.Fields(before)
		if !ok || len(f) < 5 || !strings.HasPrefix(after, "cgroup2 ") {
			continue
		}
		below, err := filepath.Rel(f[3], path)
		if path == "" || err != nil || !filepath.IsLocal(below) {
			continue
		}
		return filepath.Join(f[4], below), f[4], nil
	}
	return "", "", errors.New("no cgroup v2 is mounted that this process is in")
}

func writeControl(dir, name, value string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(value), 0) //nolint:gosec // it exists
}

// cgroup is one command's. A nil one does nothing.
type cgroup struct {
	dir string
	fd  *os.File
}

// make makes a command's group; nil where there can be none.
func (c *cgroups) make(l Limits) (*cgroup, error) {
	if c.err != nil {
		return nil, nil
	}
	g := &cgroup{dir: filepath.Join(c.dir, fmt.Sprintf("%s%d-%d", cgroupPrefix, os.Getpid(), cgroupCount.Add(1)))}
	if err := os.Mkdir(g.dir, 0o755); err != nil { //nolint:gosec // as its siblings
		return nil, err
	}
	if c.limits {
		// A few processes more than the limit: so the watch sees that it was passed, and ends the command instead of letting it fail to fork.
		for name, value := range map[string]int64{"memory.max": l.Memory, "memory.oom.group": 1, "pids.max": int64(l.Processes) + 16} {
			if err := writeControl(g.dir, name, strconv.FormatInt(value, 10)); err != nil {
				g.remove()
				return nil, err
			}
		}
		_ = writeControl(g.dir, "memory.swap.max", "0") // a kernel that counts no swap has no such file
	}
	var err error
	if g.fd, err = os.Open(g.dir); err != nil {
		g.remove()
		return nil, err
	}
	return g, nil
}

// kill ends every process of the group, also one that forks meanwhile.
func (g *cgroup) kill() {
	if g != nil {
		_ = writeControl(g.dir, "cgroup.kill", "1")
	}
}

// outOfMemory reports whether the kernel ended the group because of its memory.
func (g *cgroup) outOfMemory() bool {
	if g == nil {
		return false
	}
	b, _ := os.ReadFile(filepath.Join(g.dir, "memory.events"))
	for line := range bytes.Lines(b) {
		if n, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("oom_kill ")); ok {
			return string(n) != "0"
		}
	}
	return false
}

// remove takes the group away once nothing is in it.
func (g *cgroup) remove() {
	if g == nil {
		return
	}
	if g.fd != nil {
		_ = g.fd.Close()
	}
	for until := time.Now().Add(2 * time.Second); time.Now().Before(until); time.Sleep(2 * time.Millisecond) {
		if err := os.Remove(g.dir); err == nil || errors.Is(err, os.ErrNotExist) {
			return
		}
		g.kill()
	}
}
