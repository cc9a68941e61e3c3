//go:build amd64 || arm64

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	configName = "LIBRARIAN_SANDBOX" // the variable that tells the child how to confine itself
	statusFD   = 3                   // what goes wrong before the shell runs is written there; it is closed by the exec
)

// config is what the parent tells the child.
type config struct {
	Argv      []string
	Env       []string
	Dir       string
	Read      []string // folders and files to be read
	Exec      []string // to be read and run
	Write     []string // folders to be written
	UID       int      // 0: stay who we are
	Address   int64
	Processes int64
	FileSize  int64
	CPU       int64 // seconds of one process
	Parent    int
	View      *view // nil: the machine's file system
}

// Child makes this process a sandboxed command, or the guard of them, if that is what it was started for; then it does not return. It must be the
// first thing main does, because everything before it runs unconfined.
func Child() {
	if len(os.Args) == 1 && os.Args[0] == guardName {
		stand()
	}
	if len(os.Args) != 1 || os.Args[0] != childName {
		return
	}
	err := become()
	_, _ = unix.Write(statusFD, []byte(err.Error()))
	os.Exit(125)
}

// become confines this thread and replaces the process. Landlock, seccomp and no_new_privs belong to a thread; the one that calls
// exec passes them on, and the others end there.
func become() error {
	runtime.LockOSThread()
	unix.CloseOnExec(statusFD)
	unix.CloseOnExec(guardFD)
	var c config
	if err := json.Unmarshal([]byte(os.Getenv(configName)), &c); err != nil {
		return errors.New("configuration is malformed")
	}
	unix.Umask(0o077)
	if err := begun(c.Write[0]); err != nil {
		return err
	}
	walls, err := openWalls(c) // while we may still open anything
	if err != nil {
		return err
	}
	if c.View != nil {
		if err := c.View.enter(); err != nil {
			return viewError{err}
		}
		for _, dir := range c.View.made() {
			if err := walls.allow(dir, unix.LANDLOCK_ACCESS_FS_READ_DIR, true); err != nil {
				return err
			}
		}
	}
	if err := unix.Chdir(c.Dir); err != nil {
		return fmt.Errorf("chdir: %w", err)
	}
	if err := c.drop(); err != nil {
		return fmt.Errorf("drop privileges: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("parent death signal: %w", err)
	}
	if os.Getppid() != c.Parent {
		return errors.New("the parent is gone")
	}
	for resource, limit := range map[int]int64{unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: c.FileSize, unix.RLIMIT_NOFILE: 256, unix.RLIMIT_NPROC: c.Processes,
		unix.RLIMIT_CPU: c.CPU, unix.RLIMIT_MEMLOCK: 0, unix.RLIMIT_MSGQUEUE: 0, unix.RLIMIT_SIGPENDING: 256} {
		if err := setLimit(resource, limit); err != nil {
			return fmt.Errorf("limit %d: %w", resource, err)
		}
	}
	path, err := unix.BytePtrFromString(c.Argv[0])
	if err != nil {
		return err
	}
	argv, err := pointers(c.Argv)
	if err != nil {
		return err
	}
	env, err := pointers(c.Env)
	if err != nil {
		return err
	}
	if err := walls.restrict(); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if err := filterCalls(walls.abi >= scopeABI); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	// From here on nothing may be allocated: the limit is below what the Go runtime has reserved.
	limit := unix.Rlimit{Cur: uint64(c.Address), Max: uint64(c.Address)}
	if _, _, e := unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_AS, uintptr(unsafe.Pointer(&limit)), 0, 0, 0); e != 0 {
		return e
	}
	_, _, e := unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])))
	return e
}

// drop gives up what the view needed, and as root the user id.
func (c config) drop() error {
	switch {
	case c.UID != 0:
		return dropTo(c.UID)
	case c.View != nil:
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var nothing [2]unix.CapUserData
		return unix.Capset(&header, &nothing[0]) // the ambient set goes with it
	}
	return nil
}

func setLimit(resource int, n int64) error {
	limit := unix.Rlimit{Cur: uint64(n), Max: uint64(n)}
	return unix.Prlimit(0, resource, &limit, nil)
}

// pointers makes the vectors that execve takes.
func pointers(list []string) ([]*byte, error) {
	out := make([]*byte, len(list)+1)
	for i, s := range list {
		if strings.ContainsRune(s, 0) {
			return nil, errors.New("a NUL in the command")
		}
		p, err := unix.BytePtrFromString(s)
		if err != nil {
			return nil, err
		}
		out[i] = p
	}
	return out, nil
}

// secbitNoSetuidFixup is SECBIT_NO_SETUID_FIXUP of linux/securebits.h.
const secbitNoSetuidFixup = 1 << 2

// dropTo becomes a user that owns nothing but the scratch folder. Of root's capabilities it keeps one, to pass by the modes of
// folders on the way to the tree, because trees lie below folders that are closed to everybody else: what may be read and written
// is Landlock's to say. Reading and searching is enough; containers often have only the one that writes too.
func dropTo(uid int) error {
	// With this bit access(2) answers by the capability kept, as open(2) does, not by the modes alone; programs ask before they open.
	_ = unix.Prctl(unix.PR_SET_SECUREBITS, secbitNoSetuidFixup, 0, 0, 0)
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setresgid(uid, uid, uid); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := syscall.Setresuid(uid, uid, uid); err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if err := unix.Capget(&header, &have[0]); err != nil {
		return err
	}
	kept := uint32(0)
	var capability uintptr
	for _, c := range []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH} {
		if bit := uint32(1) << c; have[0].Permitted&bit != 0 {
			kept, capability = bit, c
		}
	}
	set := [2]unix.CapUserData{{Effective: kept, Permitted: kept, Inheritable: kept}}
	if err := unix.Capset(&header, &set[0]); err != nil {
		return err
	}
	if kept != 0 {
		return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, capability, 0, 0)
	}
	return nil
}
