//go:build amd64 || arm64

package sandbox

import (
	"context"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// interval is how often a group is looked at. What it can do in one is bounded by the limits of each process.
const interval = 50 * time.Millisecond

// watch sums what a command's group uses. The group cannot be left: setsid and setpgid are refused inside.
type watch struct {
	group   int
	guard   *os.File // told when the group has ended
	uid     int      // of the group; 0: our own
	scratch string
	limits  Limits
	peak    Usage
	cgroup  *cgroup // nil: there is none

	blind    map[int]int // how many looks in a row a process could not be looked into
	shifting int         // in how many looks in a row something was no longer where it had just been listed
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

// How many looks in a row may fail before the group counts as one that hides what it holds. A process that begins or ends cannot
// be looked into for a moment, and a file may go while it is listed.
const (
	maxBlind    = 4
	maxShifting = 20
)

// excess names the bound that is met. What cannot be measured counts as too much.
func (w *watch) excess() Reason {
	var now Usage
	group := members(w.group)
	for _, p := range group {
		now.Processes += p.threads
		now.Memory += p.resident * int64(os.Getpagesize())
	}
	blind := map[int]int{}
	for _, p := range group {
		blind[p.pid] = w.blind[p.pid] + 1
	}
	hidden := newKept(w.scratch)
	as(w.uid, func() {
		for _, p := range group {
			if hidden.look(p) {
				delete(blind, p.pid)
			}
		}
	})
	w.blind = blind
	in := measure(w.scratch, w.limits.Files)
	if w.shifting++; !in.shifted {
		w.shifting = 0
	}
	now.Memory += hidden.shared()
	now.Disk, now.Files = in.size+hidden.unlinked(), in.files
	w.peak = Usage{Processes: max(w.peak.Processes, now.Processes), Memory: max(w.peak.Memory, now.Memory), Disk: max(w.peak.Disk, now.Disk),
		Files: max(w.peak.Files, now.Files)}
	switch {
	case now.Processes > w.limits.Processes:
		return Processes
	case now.Memory > w.limits.Memory:
		return Memory
	case now.Disk > w.limits.Disk || now.Files > w.limits.Files || in.closed || w.shifting >= maxShifting:
		return Disk
	}
	for _, n := range blind {
		if n >= maxBlind {
			return Disk
		}
	}
	return ""
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
