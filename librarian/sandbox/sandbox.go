// Package sandbox runs a shell command that only looks.
//
// The command runs in a process of our own binary that first takes its rights away and then becomes the shell: a mount namespace
// shows it, and Landlock leaves it, only the folders it may read, the system's programs and a scratch folder; seccomp takes
// sockets, other processes, namespaces, keys, modes, owners and io_uring; resource limits and, as root, a user id of its own bound
// it, and a cgroup where one was delegated to us ([Sandbox.Bounded]); a watch sums up what the whole group of its processes uses
// every 50 ms and kills the group. Nothing it leaves behind outlives the command, nor us: a guard beside us sees to that.
//
// It promises to fail closed: [Sandbox.Probe] tries the walls, and a host that cannot build every one of them gets an
// error and no sandbox. Only the mount namespace may be missing, where a container's rules refuse one: then nothing more can be
// read or changed, but a command can find out whether a path that it guesses exists, and [Sandbox.Hidden] says so. It needs Linux with Landlock ABI 3 (kernel 6.2), no privileges, and [Child] as the first thing main does.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// childName is what our binary is called when it is to become a sandboxed command.
const childName = "librarian-sandbox"

const scratchPrefix = "scratch-"

// Limits of one command and everything it starts. Zero fields take their defaults.
type Limits struct {
	Memory    int64 // resident, of the group; bytes. 1 GiB
	Address   int64 // address space of each process; bytes. 2 GiB
	Processes int   // of the group, threads count. 64
	Disk      int64 // in the scratch folder; bytes. 64 MiB
	Files     int   // in the scratch folder. 5,000
	Output    int   // kept of the output's end; bytes. 50 KiB
	Lines     int   // kept of the output's end. 2,000
}

func (l Limits) withDefaults() Limits {
	or := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	if l.Memory == 0 {
		l.Memory = 1 << 30
	}
	if l.Address == 0 {
		l.Address = 2 << 30
	}
	if l.Disk == 0 {
		l.Disk = 64 << 20
	}
	or(&l.Processes, 64)
	or(&l.Files, 5000)
	or(&l.Output, 50<<10)
	or(&l.Lines, 2000)
	return l
}

// Options of a [Sandbox]. Dir is required.
type Options struct {
	Dir     string   // where scratch folders are made; absolute
	Slots   int      // commands at a time; more wait. 4
	UIDBase int      // as root, slot n runs as the user id UIDBase+n, which must be nobody's. 61184
	Exec    []string // further folders and programs that may be read and run, besides the system's; absolute
	Limits  Limits
}

// Sandbox runs commands. It is safe for concurrent use.
type Sandbox struct {
	opt   Options
	slots chan int
	views views

	cgroups cgroups

	begun sync.Once
	inUse *os.File // locked for as long as scratch folders may be ours
}

// Command is one line for bash.
type Command struct {
	Line    string
	Dir     string        // where it runs; absolute, one of Read or below
	Read    []string      // folders it may read; absolute
	Timeout time.Duration // the whole group is killed then
	Env     []string      // further variables, "NAME=value"
	// As says where folders of Read appear, absolute, in a view (see [Output.View]); others, and without a view all, are
	// where they are. The folders above such names can be listed. No name may lie below another, nor where the system has something.
	As map[string]string
	// Files are put into the scratch folder first, by their paths in it; their bytes count against its limits. In Env, $SCRATCH
	// stands for that folder.
	Files map[string][]byte
}

// at is where a path of Read, or one below, appears in a view.
func (c Command) at(p string) string {
	if name, ok := c.As[p]; ok {
		return name
	}
	for dir, name := range c.As {
		if rest, ok := strings.CutPrefix(p, dir+"/"); ok {
			return name + "/" + rest
		}
	}
	return p
}

// Reason is why a command was killed; empty: it ended by itself.
type Reason string

// The bounds a command can meet.
const (
	TimedOut  Reason = "time"
	Memory    Reason = "memory"
	Processes Reason = "processes"
	Disk      Reason = "disk"
)

// Output is what came of a command.
type Output struct {
	Text   string // the end of what it wrote to standard output and error, in whole lines where they fit
	Lines  int    // lines it wrote in all
	Shown  int    // lines of Text
	Bytes  int64  // bytes it wrote in all
	Code   int    // exit code; 128 and the signal's number where it was killed by one
	Killed Reason
	Took   time.Duration
	Peak   Usage
	View   bool // it had a file system of its own, in which nothing else exists
}

// Usage is what the watch saw a group use at most.
type Usage struct {
	Processes int   // threads
	Memory    int64 // resident, bytes
	Disk      int64 // in scratch, bytes
	Files     int   // in scratch
}

// New does no I/O.
func New(opt Options) (*Sandbox, error) {
	if !filepath.IsAbs(opt.Dir) {
		return nil, fmt.Errorf("sandbox: Options.Dir must be an absolute path, not %q", opt.Dir)
	}
	if opt.Slots == 0 {
		opt.Slots = 4
	}
	if opt.UIDBase == 0 {
		opt.UIDBase = 61184
	}
	opt.Limits = opt.Limits.withDefaults()
	s := &Sandbox{opt: opt, slots: make(chan int, opt.Slots)}
	for i := range opt.Slots {
		s.slots <- i
	}
	return s, nil
}

// Run runs a command to its end or its kill. An error says that it was not run, or not confined; how the command itself fared is in the
// output. When ctx ends the group is killed and ctx's error returned.
func (s *Sandbox) Run(ctx context.Context, c Command) (Output, error) {
	if err := c.check(); err != nil {
		return Output{}, err
	}
	if os.Args[0] == childName { // else a program that forgot Child would start itself over and over
		return Output{}, errors.New("sandbox: main does not begin with sandbox.Child")
	}
	var slot int
	select {
	case <-ctx.Done():
		return Output{}, ctx.Err()
	case slot = <-s.slots:
	}
	defer func() { s.slots <- slot }()
	scratch, err := s.scratch(slot)
	if err != nil {
		return Output{}, fmt.Errorf("sandbox: scratch: %w", err)
	}
	defer func() { _ = removeAll(scratch) }()
	for name, content := range c.Files {
		if err := put(scratch, name, content, s.uid(slot)); err != nil {
			return Output{}, fmt.Errorf("sandbox: scratch: %w", err)
		}
	}
	return s.run(ctx, c, slot, scratch)
}

func (c Command) check() error {
	switch {
	case c.Line == "" || len(c.Line) > 64<<10:
		return errors.New("sandbox: a command has 1 byte to 64 KiB")
	case c.Timeout <= 0:
		return errors.New("sandbox: a command needs a time-out")
	}
	paths := append([]string{c.Dir}, c.Read...)
	for _, name := range c.As {
		paths = append(paths, name)
	}
	for _, p := range paths {
		if !filepath.IsAbs(p) || filepath.Clean(p) != p {
			return fmt.Errorf("sandbox: %q is not an absolute path in its shortest form", p)
		}
	}
	return nil
}

// scratch makes an empty folder that belongs to the slot's user.
func (s *Sandbox) scratch(slot int) (string, error) {
	if err := os.MkdirAll(s.opt.Dir, 0o700); err != nil {
		return "", err
	}
	s.begun.Do(s.begin)
	dir, err := os.MkdirTemp(s.opt.Dir, scratchPrefix)
	if err != nil {
		return "", err
	}
	if uid := s.uid(slot); uid != 0 {
		if err := os.Chown(dir, uid, uid); err != nil {
			_ = os.Remove(dir)
			return "", err
		}
	}
	return dir, nil
}

// put writes a file below scratch, which nobody else has been given yet, for the user that the command runs as.
func put(scratch, name string, content []byte, uid int) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("%q is not below it", name)
	}
	var paths []string
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		paths = append(paths, dir)
	}
	paths = append(paths, name)
	if err := os.MkdirAll(filepath.Join(scratch, filepath.Dir(name)), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(scratch, name), content, 0o600); err != nil || uid == 0 {
		return err
	}
	for _, p := range paths {
		if err := os.Chown(filepath.Join(scratch, p), uid, uid); err != nil {
			return err
		}
	}
	return nil
}

// uid is the user a slot's commands run as; 0: who we are.
func (s *Sandbox) uid(slot int) int {
	if os.Geteuid() != 0 {
		return 0
	}
	return s.opt.UIDBase + slot
}

// removeAll deletes a folder whatever modes are in it, and however deep it is.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	// Every folder is opened to us and brought to the top, where a path leads to it.
	flat, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+"-")
	if err != nil {
		return err
	}
	todo := []string{dir}
	for n := 0; len(todo) > 0; {
		at := todo[0]
		todo = todo[1:]
		_ = os.Chmod(at, 0o700) //nolint:gosec // about to be deleted
		entries, _ := os.ReadDir(at)
		for _, e := range entries {
			if !e.IsDir() {
				continue
			}
			from, to := filepath.Join(at, e.Name()), filepath.Join(flat, strconv.Itoa(n))
			n++
			_ = os.Chmod(from, 0o700) //nolint:gosec // as above; a folder that moves is written to
			if os.Rename(from, to) == nil {
				todo = append(todo, to)
			}
		}
	}
	return errors.Join(os.RemoveAll(dir), os.RemoveAll(flat))
}

// tail keeps the end of what is written to it.
type tail struct {
	mu    sync.Mutex
	keep  int
	buf   []byte // at most twice keep
	bytes int64
	lines int
	last  byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if n == 0 {
		return 0, nil
	}
	for _, c := range p {
		if c == '\n' {
			t.lines++
		}
	}
	t.bytes += int64(n)
	t.last = p[n-1]
	if n > t.keep {
		p = p[n-t.keep:]
	}
	if len(t.buf)+len(p) > 2*t.keep {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-min(len(t.buf), t.keep):]...)
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

// end gives the kept text: at most keep bytes and maxLines lines, begun at a line where one begins in it.
func (t *tail) end(maxLines int) (text string, total, shown int, bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.buf
	cut := t.bytes > int64(len(b))
	if len(b) > t.keep {
		b, cut = b[len(b)-t.keep:], true
	}
	if cut {
		for i, c := range b {
			if c == '\n' && i+1 < len(b) {
				b = b[i+1:]
				break
			}
		}
	}
	total = t.lines
	if t.bytes > 0 && t.last != '\n' {
		total++
	}
	end := len(b)
	if end > 0 && b[end-1] == '\n' {
		end--
	}
	shown = 0
	start := end
	for start > 0 {
		if b[start-1] == '\n' {
			if shown++; shown == maxLines {
				break
			}
		}
		start--
	}
	if start == 0 && end > 0 {
		shown++
	}
	return string(b[start:end]), total, shown, t.bytes
}
