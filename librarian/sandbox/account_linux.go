//go:build amd64 || arm64

package sandbox

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// process is what /proc says of one.
type process struct {
	pid      int
	threads  int
	resident int64 // pages
	tasks    []int // its threads that live, for what each of them holds
}

// members lists the processes of a group. One whose first thread has ended looks dead and empty to all who ask for the process;
// its other threads go on, and what they hold is asked of them.
func members(group int) []process {
	var out []process
	for _, pid := range pids() {
		st, ok := readStat("/proc/" + pid + "/stat")
		if !ok || st.group != group || st.dead && st.threads <= 1 {
			continue
		}
		p := process{threads: st.threads, resident: st.resident}
		p.pid, _ = strconv.Atoi(pid)
		if p.threads <= 1 {
			p.tasks = []int{p.pid}
			out = append(out, p)
			continue
		}
		tasks, _ := os.ReadDir("/proc/" + pid + "/task")
		for _, task := range tasks {
			if st, ok := readStat("/proc/" + pid + "/task/" + task.Name() + "/stat"); ok && !st.dead {
				tid, _ := strconv.Atoi(task.Name())
				p.tasks = append(p.tasks, tid)
				p.resident = max(p.resident, st.resident)
			}
		}
		if len(p.tasks) > 0 {
			out = append(out, p)
		}
	}
	return out
}

type stat struct {
	group, threads int
	resident       int64 // pages
	dead           bool
}

// readStat reads proc(5), /proc/pid/stat: after the name in parentheses, the state is the first field, pgrp the third, the
// number of threads the 18th, the resident set the 22nd.
func readStat(path string) (stat, bool) {
	f, err := os.Open(path)
	if err != nil {
		return stat{}, false
	}
	var buf [1024]byte
	n, _ := f.Read(buf[:])
	_ = f.Close()
	i := bytes.LastIndexByte(buf[:n], ')')
	if i < 0 {
		return stat{}, false
	}
	fields := strings.Fields(string(buf[i+1 : n]))
	if len(fields) < 22 {
		return stat{}, false
	}
	s := stat{dead: fields[0] == "Z" || fields[0] == "X"}
	s.group, _ = strconv.Atoi(fields[2])
	s.threads, _ = strconv.Atoi(fields[17])
	s.resident, _ = strconv.ParseInt(fields[21], 10, 64)
	return s, true
}

// kept is what processes hold that no folder names: open or mapped files that were deleted, and memory that is shared without a
// name, whose pages stay when a process gives its own view of them up.
type kept struct {
	device uint64
	open   map[uint64]int64 // bytes by inode
	mapped map[uint64]int64
	memory map[uint64]int64
}

func newKept(scratch string) kept {
	k := kept{open: map[uint64]int64{}, mapped: map[uint64]int64{}, memory: map[uint64]int64{}}
	if home, err := os.Stat(scratch); err == nil {
		k.device = deviceOf(home)
	}
	return k
}

func (k kept) unlinked() int64 {
	sum := int64(0)
	for _, n := range k.open {
		sum += n
	}
	for inode, n := range k.mapped {
		if _, open := k.open[inode]; !open {
			sum += n
		}
	}
	return sum
}

func (k kept) shared() int64 {
	sum := int64(0)
	for _, n := range k.memory {
		sum += n
	}
	return sum
}

// look adds what a process holds. It is false if the kernel does not show it, as of one that has made itself undumpable.
func (k kept) look(p process) bool {
	for _, tid := range p.tasks { // threads may have files of their own
		if !k.files("/proc/" + strconv.Itoa(p.pid) + "/task/" + strconv.Itoa(tid) + "/fd") {
			return false
		}
	}
	return len(p.tasks) == 0 || k.maps("/proc/"+strconv.Itoa(p.pid)+"/task/"+strconv.Itoa(p.tasks[0])+"/maps")
}

// shown reports whether an error is that of a process which has ended.
func shown(err error) bool {
	return err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}

const deleted = " (deleted)"

func (k kept) files(dir string) bool {
	fds, err := os.ReadDir(dir)
	if err != nil {
		return shown(err)
	}
	for _, fd := range fds {
		target, err := os.Readlink(dir + "/" + fd.Name())
		if err != nil || !strings.HasSuffix(target, deleted) { // the path before it is that of the command's view
			continue
		}
		info, err := os.Stat(dir + "/" + fd.Name())
		if err != nil {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Dev == k.device && st.Mode&syscall.S_IFMT == syscall.S_IFREG {
			k.open[st.Ino] = st.Blocks * 512
		}
	}
	return true
}

// maps reads proc(5), /proc/pid/maps: addresses, permissions, offset, device, inode, path. Of a mapped file only the stretch that
// is mapped is known; its device is not compared, because some file systems show another one here.
func (k kept) maps(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return shown(err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if !bytes.HasSuffix(lines.Bytes(), []byte(deleted)) {
			continue
		}
		fields := strings.Fields(lines.Text())
		from, to, ok := strings.Cut(fields[0], "-")
		if len(fields) < 6 || !ok {
			continue
		}
		a, _ := strconv.ParseUint(from, 16, 64)
		b, _ := strconv.ParseUint(to, 16, 64)
		offset, _ := strconv.ParseUint(fields[2], 16, 64)
		inode, _ := strconv.ParseUint(fields[4], 10, 64)
		where := k.mapped
		if fields[5] == "/dev/zero" {
			where = k.memory
		}
		where[inode] = max(where[inode], int64(offset+b-a)) //nolint:gosec // addresses and offsets have less than 63 bits
	}
	return shown(lines.Err())
}

func deviceOf(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Dev
	}
	return 0
}

// measured is what a folder holds.
type measured struct {
	size    int64 // bytes on disk
	files   int   // folders too
	closed  bool  // something in it cannot be looked at: too deep for a path, or closed to its owner
	shifted bool  // something was no longer where it had just been listed
}

// measure sums a folder's files, looking at no more than one over the limit.
func measure(dir string, limit int) (m measured) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			m.shifted = true
			return nil
		case err != nil:
			m.closed = true
			return filepath.SkipAll
		}
		if m.files++; m.files > limit {
			return filepath.SkipAll
		}
		info, err := d.Info()
		if err != nil {
			m.shifted = true
			return nil
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			m.size += st.Blocks * 512
		}
		return nil
	})
	return m
}
