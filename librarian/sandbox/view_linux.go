//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Landlock says who may open what; it does not hide that a path exists. So a command gets a file system of its own that holds
// nothing but what it may read, where the kernel lets us make one: a mount namespace, as root by CAP_SYS_ADMIN, else in a user
// namespace of its own. Landlock's walls stand inside it all the same.

// viewKind is how a file system of its own is made.
type viewKind int

const (
	viewNone  viewKind = iota // it sees the machine's; Landlock alone guards it
	viewMount                 // a mount namespace
	viewUser                  // a mount namespace in a user namespace
)

// scratchAt is where scratch appears in a view: where programs look for such a place, or beside it if something else is shown below.
func scratchAt(mounts []mount) string {
	if slices.ContainsFunc(mounts, func(m mount) bool { return m.At == "/tmp" || strings.HasPrefix(m.At, "/tmp/") }) {
		return "/scratch"
	}
	return "/tmp"
}

// mount is a folder or file that appears in the view.
type mount struct {
	From, At string
	Write    bool
}

// view is what become makes a file system of.
type view struct {
	Mounts []mount           // a folder before what lies in it
	Links  map[string]string // symbolic links: where, and where to
	Root   string            // an empty folder that it is put together on
	User   bool              // in a user namespace
	Tmp    string            // where scratch appears
}

// planView says what is seen: the command's folders under their names, the system's programs, a few devices, and scratch.
func planView(c Command, exec []string, scratch string, kind viewKind) (*view, error) {
	v := &view{Root: scratch, User: kind == viewUser, Links: map[string]string{"/dev/fd": "/proc/self/fd", "/dev/stdin": "/proc/self/fd/0",
		"/dev/stdout": "/proc/self/fd/1", "/dev/stderr": "/proc/self/fd/2"}}
	for _, p := range exec {
		info, err := os.Lstat(p)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if info.Mode()&os.ModeSymlink == 0 {
			v.Mounts = append(v.Mounts, mount{From: p, At: p})
			continue
		}
		to, err := os.Readlink(p)
		if err != nil {
			return nil, err
		}
		v.Links[p] = to
	}
	for _, p := range []string{"/dev/null", "/dev/zero", "/dev/urandom"} {
		if _, err := os.Stat(p); err == nil {
			v.Mounts = append(v.Mounts, mount{From: p, At: p})
		}
	}
	for _, p := range c.Read {
		v.Mounts = append(v.Mounts, mount{From: p, At: c.at(p)})
	}
	v.Tmp = scratchAt(v.Mounts)
	v.Mounts = append(v.Mounts, mount{From: scratch, At: v.Tmp, Write: true})
	slices.SortStableFunc(v.Mounts, func(a, b mount) int { return strings.Compare(a.At, b.At) })
	return v, nil
}

// made are the folders at the view's top that exist for what appears under another name than its own. They may be listed: they hold nothing
// but what may be read.
func (v *view) made() []string {
	var out []string
	for _, m := range v.Mounts {
		top := "/" + strings.SplitN(m.At, "/", 3)[1]
		if m.At != m.From && !m.Write && m.At != top && !slices.Contains(out, top) {
			out = append(out, top)
		}
	}
	return out
}

// enter makes the view this process's file system. What it shows is taken before anything is covered, so nothing can be swapped
// for a link on the way.
func (v *view) enter() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	fds := make([]int, len(v.Mounts))
	dirs := make([]bool, len(v.Mounts))
	for i, m := range v.Mounts {
		fd, err := unix.OpenTree(unix.AT_FDCWD, m.From, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		if err != nil {
			return fmt.Errorf("take %s: %w", m.From, err)
		}
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_RDONLY}
		if m.Write {
			attr.Attr_set = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC
		}
		if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
			return fmt.Errorf("guard %s: %w", m.From, err)
		}
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return fmt.Errorf("stat %s: %w", m.From, err)
		}
		fds[i], dirs[i] = fd, st.Mode&unix.S_IFMT == unix.S_IFDIR
	}
	proc, err := v.proc()
	if err != nil {
		return err
	}
	if err := unix.Mount("view", v.Root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=755,size=1m,nr_inodes=4k"); err != nil {
		return fmt.Errorf("tmpfs: %w", err)
	}
	for at, to := range v.Links {
		if err := mkdirs(v.Root, filepath.Dir(at)); err != nil {
			return err
		}
		if err := unix.Symlink(to, v.Root+at); err != nil {
			return fmt.Errorf("link %s: %w", at, err)
		}
	}
	if err := v.put(proc, "/proc", true); err != nil {
		return err
	}
	for i, m := range v.Mounts {
		if err := v.put(fds[i], m.At, dirs[i]); err != nil {
			return err
		}
	}
	if err := unix.Mount("", v.Root, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("guard the root: %w", err)
	}
	if err := unix.Chdir(v.Root); err != nil {
		return err
	}
	// pivot_root(2): with both on one place the old root lies on top of the new one, and is taken off.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	return unix.Chdir("/")
}

// proc takes what /dev/fd needs. Landlock refuses to open anything in it; one of our own also hides the processes of others, but
// a user namespace is not given one without a pid namespace.
func (v *view) proc() (int, error) {
	if !v.User {
		if fd, err := newProc(); err == nil {
			return fd, nil
		}
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, "/proc", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return -1, fmt.Errorf("take /proc: %w", err)
	}
	return fd, nil
}

func newProc() (int, error) {
	fs, err := unix.Fsopen("proc", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(fs) }()
	for _, o := range [][2]string{{"hidepid", "invisible"}, {"subset", "pid"}} {
		if err := unix.FsconfigSetString(fs, o[0], o[1]); err != nil {
			return -1, err
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
}

// put attaches what fd holds at a place in the view.
func (v *view) put(fd int, at string, dir bool) error {
	defer func() { _ = unix.Close(fd) }()
	if dir {
		if err := mkdirs(v.Root, at); err != nil {
			return err
		}
	} else {
		if err := mkdirs(v.Root, filepath.Dir(at)); err != nil {
			return err
		}
		f, err := unix.Open(v.Root+at, unix.O_CREAT|unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return fmt.Errorf("place for %s: %w", at, err)
		}
		_ = unix.Close(f)
	}
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, v.Root+at, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("put %s: %w", at, err)
	}
	return nil
}

// mkdirs makes the folders of a path in the view, to be passed by everybody.
func mkdirs(root, at string) error {
	parts := strings.Split(strings.Trim(at, "/"), "/")
	for i := range parts {
		dir := filepath.Join(root, filepath.Join(parts[:i+1]...))
		err := unix.Mkdir(dir, 0o755)
		if err == nil {
			err = unix.Chmod(dir, 0o755) // the umask is stricter
		}
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("place for %s: %w", at, err)
		}
	}
	return nil
}
