//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The versions of Landlock that matter (https://docs.kernel.org/userspace-api/landlock.html): the least we take knows truncation;
// then TCP, ioctl on devices, and the scope of signals and abstract sockets.
const (
	leastABI = 3
	netABI   = 4
	ioctlABI = 5
	scopeABI = 6
)

const (
	readRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	execRights = readRights | unix.LANDLOCK_ACCESS_FS_EXECUTE
	// Nothing in scratch can be run but by an interpreter, nothing linked or moved in from elsewhere, no device or socket made.
	writeRights = readRights | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE
	fileRights  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	allRightsV3 = 1<<15 - 1
)

// walls is a Landlock ruleset that is ready to be put up.
type walls struct {
	fd  int
	abi int
}

// landlockABI is the kernel's version of Landlock; 0: it has none, or it is switched off.
func landlockABI() int {
	v, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return 0
	}
	return int(v)
}

// openWalls makes the ruleset: everything is refused but what c names.
func openWalls(c config) (*walls, error) {
	w := &walls{abi: landlockABI()}
	if w.abi < leastABI {
		return nil, fmt.Errorf("landlock ABI %d is needed, the kernel has %d", leastABI, w.abi)
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: allRightsV3}
	if w.abi >= netABI {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if w.abi >= ioctlABI {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if w.abi >= scopeABI {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	// The three fields above are all that these versions know; a longer structure is refused only if the rest is not zero.
	fd, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Offsetof(attr.Quiet_access_fs), 0)
	if e != 0 {
		return nil, fmt.Errorf("landlock ruleset: %w", e)
	}
	w.fd = int(fd)
	for _, list := range []struct {
		paths  []string
		rights uint64
		must   bool
	}{{c.Read, readRights, true}, {c.Write, writeRights, true}, {c.Exec, execRights, false},
		{[]string{"/dev/null"}, unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE, true},
		{[]string{"/dev/zero", "/dev/urandom"}, unix.LANDLOCK_ACCESS_FS_READ_FILE, false}} {
		for _, p := range list.paths {
			if err := w.allow(p, list.rights, list.must); err != nil {
				return nil, err
			}
		}
	}
	return w, nil
}

// allow adds a rule for a folder and what is below it, or for a file.
func (w *walls) allow(path string, rights uint64, must bool) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		if !must && errors.Is(err, unix.ENOENT) {
			return nil
		}
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("stat %s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	if _, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(w.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); e != 0 {
		return fmt.Errorf("landlock rule for %s: %w", path, e)
	}
	return nil
}

// restrict puts the walls up around the calling thread.
func (w *walls) restrict() error {
	if _, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(w.fd), 0, 0); e != 0 {
		return e
	}
	return unix.Close(w.fd)
}
