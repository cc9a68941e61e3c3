//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// interval is how often a group is looked at. What it can do in one is bounded by the limits of each process.
const interval = 50 * time.Millisecond

// watch sums what a command's group uses. The group cannot be left: setsid and setpgid are refused inside.
type watch struct {
	group   int
	uid     int // of the group; 0: our own
	scratch string
	limits  Limits
	peak    Usage
	cgroup  *cgroup // nil: there is none
}

func (w *watch) kill() {
	killGroup(w.group)
	w.cgroup.kill()
}

// until waits for the first process to end; it kills the group when the time is over, ctx ends, or a bound is met.
func (w *watch) until(ctx context.Context, timeout time.Duration, ended <-chan error) (killed Reason, exit error) {
	over := time.NewTimer(timeout)
	defer over.Stop()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	done := ctx.Done()
	late := over.C
	for {
		select {
		case exit = <-ended:
			return killed, exit
		case <-done:
			w.kill()
			done = nil
		case <-late:
			killed = TimedOut
			w.kill()
		case <-tick.C:
			if killed != "" {
				w.kill()
				continue
			}
			if killed = w.excess(); killed != "" {
				w.kill()
			}
		}
	}
}

// excess names the bound that is met.
func (w *watch) excess() Reason {
	processes, pages := 0, int64(0)
	var unlinked int64
	seen := map[uint64]bool{}
	group := members(w.group)
	for _, p := range group {
		processes += p.threads
		pages += p.resident
	}
	as(w.uid, func() {
		for _, p := range group {
			unlinked += w.unlinked(p.pid, seen)
		}
	})
	size, files := usage(w.scratch, w.limits.Files)
	now := Usage{Processes: processes, Memory: pages * int64(os.Getpagesize()), Disk: size + unlinked, Files: files}
	w.peak = Usage{Processes: max(w.peak.Processes, now.Processes), Memory: max(w.peak.Memory, now.Memory), Disk: max(w.peak.Disk, now.Disk),
		Files: max(w.peak.Files, now.Files)}
	switch {
	case now.Processes > w.limits.Processes:
		return Processes
	case now.Memory > w.limits.Memory:
		return Memory
	case now.Disk > w.limits.Disk || now.Files > w.limits.Files:
		return Disk
	}
	return ""
}

// process is what /proc says of one.
type process struct {
	pid      int
	threads  int
	resident int64 // pages
}

// members lists the processes of a group (proc(5), /proc/pid/stat: after the name in parentheses, pgrp is the third field, the
// number of threads the 18th, the resident set the 22nd).
func members(group int) []process {
	var out []process
	var buf [1024]byte
	for _, pid := range pids() {
		f, err := os.Open("/proc/" + pid + "/stat")
		if err != nil {
			continue
		}
		n, _ := f.Read(buf[:])
		_ = f.Close()
		i := bytes.LastIndexByte(buf[:n], ')')
		if i < 0 {
			continue
		}
		fields := strings.Fields(string(buf[i+1 : n]))
		if len(fields) < 22 || fields[2] != strconv.Itoa(group) || fields[0] == "Z" {
			continue
		}
		p := process{}
		p.pid, _ = strconv.Atoi(pid)
		p.threads, _ = strconv.Atoi(fields[17])
		p.resident, _ = strconv.ParseInt(fields[21], 10, 64)
		out = append(out, p)
	}
	return out
}

func pids() []string {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = d.Close() }()
	names, _ := d.Readdirnames(-1)
	out := names[:0]
	for _, n := range names {
		if n[0] >= '0' && n[0] <= '9' {
			out = append(out, n)
		}
	}
	return out
}

// threadsOf counts the threads of a user, which is what RLIMIT_NPROC counts.
func threadsOf(uid int) int {
	n := 0
	for _, pid := range pids() {
		info, err := os.Stat("/proc/" + pid)
		if err != nil {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != uid {
			continue
		}
		tasks, err := os.ReadDir("/proc/" + pid + "/task")
		if err == nil {
			n += len(tasks)
		}
	}
	return n
}

// as does something with a user's rights to look at his processes, which root has only with CAP_SYS_PTRACE. For that the
// kernel compares the user id for files, which belongs to a thread, and the effective capabilities, which it takes away with it
// (ptrace(2), capabilities(7)). A thread that cannot be set back is given up.
func as(uid int, do func()) {
	if uid == 0 {
		do()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var caps [2]unix.CapUserData
		if unix.Capget(&header, &caps[0]) != nil {
			return
		}
		was := caps
		setFile(uid)
		caps[0].Effective, caps[1].Effective = caps[0].Permitted, caps[1].Permitted
		if unix.Capset(&header, &caps[0]) == nil {
			do()
		}
		setFile(0)
		if unix.Capset(&header, &was[0]) == nil {
			runtime.UnlockOSThread()
		}
	}()
	<-done
}

// setFile sets the user and group id for files of this thread alone.
func setFile(id int) {
	_, _, _ = unix.RawSyscall(unix.SYS_SETFSGID, uintptr(id), 0, 0)
	_, _, _ = unix.RawSyscall(unix.SYS_SETFSUID, uintptr(id), 0, 0)
}

// unlinked sums the open files of scratch that have no name any more.
func (w *watch) unlinked(pid int, seen map[uint64]bool) int64 {
	home, err := os.Stat(w.scratch)
	if err != nil {
		return 0
	}
	device := deviceOf(home)
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	fds, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	var sum int64
	for _, fd := range fds {
		target, err := os.Readlink(dir + "/" + fd.Name())
		if err != nil || !strings.HasSuffix(target, " (deleted)") { // the path before it is that of the command's view
			continue
		}
		info, err := os.Stat(dir + "/" + fd.Name())
		if err != nil {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Dev == device && st.Mode&syscall.S_IFMT == syscall.S_IFREG && !seen[st.Ino] {
			seen[st.Ino] = true
			sum += st.Blocks * 512
		}
	}
	return sum
}

func deviceOf(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Dev
	}
	return 0
}

// usage sums a folder's files, looking at no more than one over the limit.
func usage(dir string, limit int) (size int64, files int) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if files++; files > limit {
			return filepath.SkipAll
		}
		if info, err := d.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				size += st.Blocks * 512
			}
		}
		return nil
	})
	return size, files
}
