//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tries are escapes by system call. Each is given a foreign process and a closed folder, and returns an error if it was refused.
var tries = map[string]func(pid int, closed string) error{
	"socket-unix":    func(int, string) error { return socket(unix.AF_UNIX) },
	"socket-inet":    func(int, string) error { return socket(unix.AF_INET) },
	"socket-inet6":   func(int, string) error { return socket(unix.AF_INET6) },
	"socket-netlink": func(int, string) error { return socket(unix.AF_NETLINK) },
	"socket-packet":  func(int, string) error { return socket(unix.AF_PACKET) },
	"socket-vsock":   func(int, string) error { return socket(unix.AF_VSOCK) },
	"socket-alg":     func(int, string) error { return socket(unix.AF_ALG) },
	"socket-every-family": func(int, string) error {
		for family := range 64 { // AF_MAX is 46
			for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_RAW, unix.SOCK_SEQPACKET} {
				if fd, err := unix.Socket(family, kind, 0); err != unix.EPERM {
					_ = unix.Close(fd)
					return nil
				}
			}
		}
		return unix.EPERM
	},
	"socketpair": func(int, string) error {
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		return err
	},
	"io-uring": func(int, string) error {
		var params [120]byte
		return call(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&params)), 0)
	},
	"ptrace-attach": func(pid int, _ string) error { return unix.PtraceAttach(pid) },
	"ptrace-seize":  func(pid int, _ string) error { return unix.PtraceSeize(pid) },
	"read-memory": func(pid int, _ string) error {
		var b [8]byte
		_, err := unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &b[0], Len: 8}}, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0)
		return err
	},
	"kill":   func(pid int, _ string) error { return unix.Kill(pid, unix.SIGTERM) },
	"tgkill": func(pid int, _ string) error { return unix.Tgkill(pid, pid, unix.SIGTERM) },
	"pidfd-kill": func(pid int, _ string) error {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return err
		}
		return unix.PidfdSendSignal(fd, unix.SIGTERM, nil, 0)
	},
	"prlimit-other": func(pid int, _ string) error {
		return unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1, Max: 1}, nil)
	},
	"priority-other": func(pid int, _ string) error { return unix.Setpriority(unix.PRIO_PROCESS, pid, 19) },
	"unshare-user":   func(int, string) error { return unix.Unshare(unix.CLONE_NEWUSER) },
	"unshare-net":    func(int, string) error { return unix.Unshare(unix.CLONE_NEWNET) },
	"clone-user":     func(int, string) error { return call(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD), 0, 0) },
	"clone3": func(int, string) error {
		var a [88]byte
		return call(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&a)), 88, 0)
	},
	"setns":       func(int, string) error { return unix.Setns(0, 0) },
	"mount":       func(int, string) error { return unix.Mount("x", os.Getenv("TMPDIR"), "tmpfs", 0, "") },
	"fsopen":      func(int, string) error { _, err := unix.Fsopen("tmpfs", 0); return err },
	"chroot":      func(int, string) error { return unix.Chroot("/") },
	"setuid-root": func(int, string) error { return unix.Setresuid(0, 0, 0) },
	"new-privileges": func(int, string) error {
		if n, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err == nil && n == 1 {
			return unix.EPERM
		}
		return nil
	},
	"capabilities": func(int, string) error {
		h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var d [2]unix.CapUserData
		if err := unix.Capget(&h, &d[0]); err != nil {
			return err
		}
		if p := d[0].Permitted; d[1].Permitted == 0 && (p == 0 || p == 1<<unix.CAP_DAC_READ_SEARCH || p == 1<<unix.CAP_DAC_OVERRIDE) {
			return unix.EPERM
		}
		return nil
	},
	"setsid":  func(int, string) error { _, err := unix.Setsid(); return err },
	"setpgid": func(int, string) error { return unix.Setpgid(0, 0) },
	"handle": func(_ int, closed string) error {
		_, _, err := unix.NameToHandleAt(unix.AT_FDCWD, closed+"/canary", 0)
		if err != nil {
			_, err2 := unix.OpenByHandleAt(0, unix.NewFileHandle(1, make([]byte, 8)), unix.O_RDONLY)
			if err2 != unix.EPERM {
				return nil
			}
		}
		return err
	},
	"chmod-closed": func(_ int, closed string) error { return unix.Chmod(closed+"/canary", 0) },
	"fchmodat2":    func(int, string) error { return call(unix.SYS_FCHMODAT2, 0, 0, 0) },
	"chown-closed": func(_ int, closed string) error { return unix.Chown(closed+"/canary", 1, 1) },
	"utimes-closed": func(_ int, closed string) error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, closed+"/canary", []unix.Timespec{{}, {}}, 0)
	},
	"xattr-closed":    func(_ int, closed string) error { return unix.Setxattr(closed+"/canary", "user.x", []byte("x"), 0) },
	"truncate-closed": func(_ int, closed string) error { return unix.Truncate(closed+"/canary", 0) },
	"open-truncate": func(_ int, closed string) error {
		_, err := unix.Open(closed+"/canary", unix.O_RDONLY|unix.O_TRUNC, 0)
		return err
	},
	"rename-closed": func(_ int, closed string) error { return unix.Rename(closed+"/canary", closed+"/x") },
	"unlink-closed": func(_ int, closed string) error { return unix.Unlink(closed + "/canary") },
	"lease": func(int, string) error {
		fd, err := unix.Open("canary", unix.O_RDONLY, 0)
		if err != nil {
			return nil // it may be read; only the lease is refused
		}
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
		return err
	},
	"memfd": func(int, string) error { _, err := unix.MemfdCreate("x", 0); return err },
	"shm":   func(int, string) error { return call(unix.SYS_SHMGET, 0, 4096, 0o1600) },
	"bpf":   func(int, string) error { return call(unix.SYS_BPF, 0, 0, 0) },
	"perf":  func(int, string) error { return call(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0) },
	"keys": func(int, string) error {
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
		return err
	},
	"newer": func(int, string) error { return call(463, 0, 0, 0) },
	"memory-limit": func(int, string) error {
		return unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY})
	},
}

var errRefused = errors.New("refused")

func socket(family int) error {
	_, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	if err != unix.EPERM { // whatever the kernel itself thinks of the family
		return nil
	}
	return err
}

func call(nr, a, b, c uintptr) error {
	if _, _, e := unix.RawSyscall(nr, a, b, c); e != 0 {
		return e
	}
	return nil
}

func attempts() []string {
	names := make([]string, 0, len(tries))
	for n := range tries {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// try is what the test's binary does inside the sandbox.
func try(name string, args []string) {
	if hide, ok := hides[name]; ok {
		_, _ = fmt.Fprintln(os.Stdout, "held:", hide())
		hold()
	}
	n, _ := strconv.Atoi(args[0])
	if name == "memory" { // n MB, held
		b := make([]byte, n<<20)
		for i := range b {
			b[i] = 1
		}
		hold()
	}
	for _, name := range attempts() {
		err := tries[name](n, args[1])
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.EXDEV) ||
			errors.Is(err, unix.ENOENT) && (strings.HasSuffix(name, "-closed") || name == "open-truncate") || // in a view it does not exist
			errors.Is(err, unix.EINVAL) && name == "setuid-root" { // nor does root, in a user namespace
			err = errRefused
		}
		_, _ = fmt.Fprintf(os.Stdout, "%s: %v\n", name, err)
	}
}
