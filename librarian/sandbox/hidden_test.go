//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// hides are ways to hold more than the limits where a look at folders, open files and the resident set of processes misses it.
// Each holds it until it is killed.
var hides = map[string]func() error{
	// Below a path that is longer than a path can be.
	"disk-deep": func() error {
		if err := os.Chdir(os.Getenv("TMPDIR")); err != nil {
			return err
		}
		name := strings.Repeat("d", 200)
		for range 25 {
			if err := unix.Mkdir(name, 0o700); err != nil {
				return err
			}
			if err := unix.Chdir(name); err != nil {
				return err
			}
		}
		return fill()
	},
	// In a folder that may be passed, not listed.
	"disk-closed": func() error {
		if err := unix.Mkdir(os.Getenv("TMPDIR")+"/closed", 0o300); err != nil {
			return err
		}
		if err := unix.Chdir(os.Getenv("TMPDIR") + "/closed"); err != nil {
			return err
		}
		return fill()
	},
	// In folders that take each other's names all the time.
	"disk-moving": func() error {
		if err := os.Chdir(os.Getenv("TMPDIR")); err != nil {
			return err
		}
		for range 6 {
			if err := unix.Mkdir("a", 0o700); err != nil {
				return err
			}
			above, err := unix.Open(".", unix.O_PATH, 0)
			if err != nil {
				return err
			}
			if err := unix.Chdir("a"); err != nil {
				return err
			}
			go func() {
				for from, to := "a", "b"; ; from, to = to, from {
					_ = unix.Renameat(above, from, above, to)
				}
			}()
		}
		return fill()
	},
	// In a file without a name that is mapped, not open.
	"disk-mapped": func() error {
		for range 8 {
			f, err := os.CreateTemp("", "mapped")
			if err != nil {
				return err
			}
			if _, err = f.Write(make([]byte, 8<<20)); err != nil {
				return err
			}
			if _, err = unix.Mmap(int(f.Fd()), 0, 8<<20, unix.PROT_READ, unix.MAP_PRIVATE); err != nil {
				return err
			}
			_, _ = os.Remove(f.Name()), f.Close()
		}
		return nil
	},
	// In files without a name of a process that does not let itself be looked into.
	"disk-undumpable": func() error {
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
			return err
		}
		for range 8 {
			f, err := os.CreateTemp("", "open")
			if err != nil {
				return err
			}
			_ = os.Remove(f.Name())
			if _, err = f.Write(make([]byte, 8<<20)); err != nil {
				return err
			}
			held = append(held, f)
		}
		return nil
	},
	// In a process whose first thread has ended.
	"memory-threads": func() error {
		runtime.GOMAXPROCS(4)
		b, err := unix.Mmap(-1, 0, 400<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return err
		}
		going := make(chan struct{})
		go func() {
			<-going
			time.Sleep(200 * time.Millisecond) // /proc, where it would show, cannot be read in here
			touch(b)
			hold()
		}()
		close(going)
		_, _, e := unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
		return e
	},
	// Shared without a name, and each process's own view of it given up.
	"memory-shared": func() error {
		b, err := unix.Mmap(-1, 0, 400<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
		if err != nil {
			return err
		}
		for i := 0; i < len(b); i += 8 << 20 {
			touch(b[i : i+8<<20])
			if err := unix.Madvise(b[i:i+8<<20], unix.MADV_DONTNEED); err != nil {
				return err
			}
		}
		return nil
	},
}

// The first thread of a process is that of main for sure only if an init says so.
func init() {
	if len(os.Args) > 1 && os.Args[1] == "try:memory-threads" {
		runtime.LockOSThread()
	}
}

var held []*os.File

func touch(b []byte) {
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
}

// fill writes 64 MB into the working directory.
func fill() error {
	for i := range 8 {
		if err := os.WriteFile(fmt.Sprint("f", i), make([]byte, 8<<20), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// hold waits until it is killed.
func hold() {
	var fds [2]int
	var b [1]byte
	_ = unix.Pipe(fds[:])
	_, _ = unix.Read(fds[0], b[:])
}
