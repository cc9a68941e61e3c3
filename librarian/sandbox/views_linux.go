//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// views remembers which kind of view this system allows.
type views struct {
	mu    sync.Mutex
	known bool
	kind  viewKind
	why   error // why there is none
}

// viewError says that a view could not be made, which is not for the command's sake.
type viewError struct{ error }

const viewMark = "a file system of its own: "

func (e viewError) Error() string { return viewMark + e.error.Error() }
func (e viewError) Unwrap() error { return e.error }

// Hidden reports why a command can find out whether paths exist that it may not read; nil: it cannot, because it has a file system
// of its own. What is asked first runs a command.
func (s *Sandbox) Hidden(ctx context.Context) error {
	s.views.mu.Lock()
	known, kind, why := s.views.known, s.views.kind, s.views.why
	s.views.mu.Unlock()
	if !known {
		if _, err := s.Run(ctx, Command{Line: "true", Dir: "/usr", Read: []string{"/usr"}, Timeout: time.Minute}); err != nil {
			return err
		}
		return s.Hidden(ctx)
	}
	if kind == viewNone {
		return why
	}
	return nil
}

// viewKind tries once which view can be had; the slot and its scratch are the caller's.
func (s *Sandbox) viewKind(ctx context.Context, slot int, scratch string) (viewKind, error) {
	s.views.mu.Lock()
	defer s.views.mu.Unlock()
	if s.views.known {
		return s.views.kind, nil
	}
	kinds := []viewKind{viewUser}
	if os.Geteuid() == 0 {
		kinds = []viewKind{viewMount, viewUser}
	}
	var why []error
	for _, kind := range kinds {
		o, err := s.runIn(ctx, Command{Line: "[ ! -e /root ] && [ ! -e /var ]", Dir: "/usr", Read: []string{"/usr"}, Timeout: time.Minute}, slot, scratch, kind)
		if err == nil && o.Code == 0 {
			s.views.known, s.views.kind = true, kind
			return kind, nil
		}
		switch {
		case ctx.Err() != nil:
			return viewNone, ctx.Err()
		case err == nil:
			err = fmt.Errorf("exit code %d: %s", o.Code, o.Text)
		case !refusesView(err):
			return viewNone, err
		}
		why = append(why, err)
	}
	s.views.known, s.views.why = true, fmt.Errorf("sandbox: no file system of its own for a command: %w", errors.Join(why...))
	return viewNone, nil
}

// refusesView reports whether it was the namespace that could not be had: its making, or what is mounted in it.
func refusesView(err error) bool {
	return strings.Contains(err.Error(), viewMark) || errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EUSERS) ||
		errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EACCES)
}

// attributes begin a process in the namespaces of its view, in a group of its own and without a terminal.
func (k viewKind) attributes(uid int) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true}
	switch k {
	case viewMount:
		a.Cloneflags = syscall.CLONE_NEWNS
	case viewUser:
		// Ids mean the same inside. Root also needs the one that it will become.
		a.Cloneflags = syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		if uid != 0 {
			a.UidMappings = append(a.UidMappings, syscall.SysProcIDMap{ContainerID: uid, HostID: uid, Size: 1})
			a.GidMappings = append(a.GidMappings, syscall.SysProcIDMap{ContainerID: uid, HostID: uid, Size: 1})
			a.GidMappingsEnableSetgroups = true
		} else {
			a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN} // is not root inside, so the exec would take all of them
		}
	case viewNone:
	}
	return a
}
