//go:build amd64 || arm64

package sandbox

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// newestCall is the last system call (mseal) that this filter was made with in mind; later ones do not exist for the command.
// Numbers above the 300s are the same on all architectures.
const newestCall = 462

// denied are the calls that fail with EPERM on every architecture. archDenied are those that only an older one has.
var denied = []uint32{
	// The network, and ways to hand a descriptor over.
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4, unix.SYS_PIDFD_GETFD,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	// Other processes: a command's group cannot be left, and nobody else of the same user be touched.
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP, unix.SYS_SETSID, unix.SYS_SETPGID,
	unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETATTR, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET,
	unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES, unix.SYS_PROCESS_MRELEASE,
	// Namespaces, mounts and the machine.
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN,
	unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	unix.SYS_REBOOT, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_PERSONALITY,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT, unix.SYS_LSM_SET_SELF_ATTR,
	// Files by handle, which Landlock sees only when they are opened but modes do not guard.
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
	// Modes, owners and attributes, which Landlock leaves alone: a user's own files could be closed to him.
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
	// What outlives a process or is in nobody's account.
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_MSGGET, unix.SYS_MQ_OPEN, unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
}

// signals are denied too where Landlock cannot keep them inside.
var signals = []uint32{unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_PIDFD_SEND_SIGNAL}

const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// Offsets in struct seccomp_data; arguments are 8 bytes, of which the low 4 come first on the architectures we know.
const (
	atNumber = 0
	atArch   = 4
	atArgs   = 16
)

const (
	retAllow  = unix.SECCOMP_RET_ALLOW
	retKill   = unix.SECCOMP_RET_KILL_PROCESS
	retEPERM  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	retENOSYS = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

// program builds the filter.
func program(scoped bool) []unix.SockFilter {
	var p []unix.SockFilter
	load := func(at uint32) { p = append(p, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}) }
	ret := func(k uint32) { p = append(p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k}) }
	// skip jumps over the next n instructions unless the test holds.
	skip := func(code uint16, k uint32, n uint8) {
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | code, K: k, Jf: n})
	}
	load(atArch)
	p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | unix.BPF_JEQ, K: auditArch, Jt: 1})
	ret(retKill) // a second set of calls, with other numbers
	load(atNumber)
	skip(unix.BPF_JGT, newestCall, 1) // x32's calls, too
	ret(retENOSYS)
	skip(unix.BPF_JEQ, unix.SYS_CLONE3, 1) // its flags are in memory; the C library falls back to clone
	ret(retENOSYS)
	list := append(append([]uint32{}, denied...), archDenied...)
	if !scoped {
		list = append(list, signals...)
	}
	for _, nr := range list {
		skip(unix.BPF_JEQ, nr, 1)
		ret(retEPERM)
	}
	// Some depend on an argument: five instructions each, the test of which is the fourth.
	argument := func(nr, n uint32, code uint16, k uint32, deny, otherwise uint32) {
		skip(unix.BPF_JEQ, nr, 4)
		load(atArgs + 8*n)
		skip(code, k, 1)
		ret(deny)
		ret(otherwise)
	}
	argument(unix.SYS_CLONE, 0, unix.BPF_JSET, newNamespaces, retEPERM, retAllow)
	argument(unix.SYS_PRLIMIT64, 0, unix.BPF_JEQ, 0, retAllow, retEPERM)           // of oneself alone
	argument(unix.SYS_FCNTL, 1, unix.BPF_JEQ, unix.F_SETLEASE, retEPERM, retAllow) // a lease makes others wait
	argument(unix.SYS_IOCTL, 1, unix.BPF_JEQ, unix.TIOCSTI, retEPERM, retAllow)    // typing into a terminal
	// utimensat takes an open file's times where its path, an address of two words, is null; a named file's are refused.
	skip(unix.BPF_JEQ, unix.SYS_UTIMENSAT, 6)
	load(atArgs + 8)
	skip(unix.BPF_JEQ, 0, 3)
	load(atArgs + 12)
	skip(unix.BPF_JEQ, 0, 1)
	ret(retAllow)
	ret(retEPERM)
	ret(retAllow)
	return p
}

// filterCalls puts the filter on the calling thread.
func filterCalls(scoped bool) error {
	p := program(scoped)
	fprog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	if _, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog))); e != 0 {
		return e
	}
	return nil
}
