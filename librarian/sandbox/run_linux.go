//go:build amd64 || arm64

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// system are the folders and files that programs need to be found, loaded and run.
var system = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/alternatives", "/etc/localtime"}

// environment is all that a command gets of one.
func environment(scratch string, more []string) []string {
	return append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + scratch, "TMPDIR=" + scratch, "LANG=C.UTF-8", "TERM=dumb", "PAGER=cat",
		"GIT_NO_LAZY_FETCH=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0",
		"GIT_ASKPASS=/bin/false", "GIT_PAGER=cat", "GIT_NO_REPLACE_OBJECTS=1"}, expand(more, scratch)...)
}

func expand(env []string, scratch string) []string {
	out := make([]string, len(env))
	for i, e := range env {
		out[i] = strings.ReplaceAll(e, "$SCRATCH", scratch)
	}
	return out
}

func (s *Sandbox) run(ctx context.Context, c Command, slot int, scratch string) (Output, error) {
	kind, err := s.viewKind(ctx, slot, scratch)
	if err != nil {
		return Output{}, err
	}
	return s.runIn(ctx, c, slot, scratch, kind)
}

// runIn runs a command with that kind of view.
func (s *Sandbox) runIn(ctx context.Context, c Command, slot int, scratch string, kind viewKind) (Output, error) {
	shell, err := exec.LookPath("/bin/bash")
	if err != nil {
		return Output{}, errors.New("sandbox: there is no /bin/bash")
	}
	// The kernel's limit counts all that a user runs, the watch what the group does. A user id of the slot's own may be at work in another
	// librarian on the machine, or hold the dead of the last command for as long as the system does not bury them.
	processes := int64(s.opt.Limits.Processes)
	uid := s.uid(slot)
	if uid == 0 {
		processes += int64(threadsOf(os.Geteuid())) + 64
	} else {
		processes += int64(threadsOf(uid))
	}
	programs := append(append([]string{}, system...), s.opt.Exec...)
	var v *view
	dir, tmp := c.Dir, scratch
	if kind != viewNone {
		if v, err = planView(c, programs, scratch, kind); err != nil {
			return Output{}, fmt.Errorf("sandbox: %w", err)
		}
		dir, tmp = c.at(c.Dir), v.Tmp
	}
	raw, err := json.Marshal(config{
		Argv: []string{shell, "--noprofile", "--norc", "-c", c.Line}, Env: environment(tmp, c.Env), Dir: dir, View: v,
		Read: c.Read, Exec: programs, Write: []string{scratch}, UID: uid, Address: s.opt.Limits.Address, Processes: processes,
		FileSize: s.opt.Limits.Disk, CPU: int64(c.Timeout/time.Second) + 2, Parent: os.Getpid()})
	if err != nil {
		return Output{}, fmt.Errorf("sandbox: %w", err)
	}
	status, statusWrite, err := os.Pipe()
	if err != nil {
		return Output{}, fmt.Errorf("sandbox: %w", err)
	}
	defer func() { _ = status.Close() }()
	out, outWrite, err := os.Pipe()
	if err != nil {
		_ = statusWrite.Close()
		return Output{}, fmt.Errorf("sandbox: %w", err)
	}
	defer func() { _ = out.Close() }()
	guarded, err := theGuard.open()
	if err != nil {
		_, _ = statusWrite.Close(), outWrite.Close()
		return Output{}, fmt.Errorf("sandbox: guard: %w", err)
	}
	cmd := exec.Command("/proc/self/exe") //nolint:gosec,noctx // our own binary; the group is killed below
	cmd.Args = []string{childName}
	cmd.Env = []string{configName + "=" + string(raw)}
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = outWrite, outWrite
	cmd.ExtraFiles = []*os.File{statusWrite, guarded}
	cmd.SysProcAttr = kind.attributes(uid)
	w := watch{guard: guarded, uid: uid, scratch: scratch, limits: s.opt.Limits}
	if w.cgroup, err = s.openCgroups().make(s.opt.Limits); err != nil {
		_, _ = statusWrite.Close(), outWrite.Close()
		return Output{}, fmt.Errorf("sandbox: cgroup: %w", err)
	}
	defer w.cgroup.remove()
	if w.cgroup != nil {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(w.cgroup.fd.Fd())
	}
	o, err := s.wait(ctx, c, cmd, &w, status, out, func() { _ = statusWrite.Close(); _ = outWrite.Close() })
	o.View = err == nil && kind != viewNone
	return o, err
}

// wait starts the process, watches its group and gathers the output.
func (s *Sandbox) wait(ctx context.Context, c Command, cmd *exec.Cmd, w *watch, status, out *os.File, closeOurs func()) (Output, error) {
	began := time.Now()
	started, over := make(chan error, 1), make(chan error, 1)
	go func() {
		// The child is to die with the thread that started it, so that thread must stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		closeOurs()
		started <- err
		if err == nil {
			over <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return Output{}, fmt.Errorf("sandbox: start: %w", err)
	}
	group := cmd.Process.Pid
	end := &tail{keep: s.opt.Limits.Output}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(end, out)
	}()
	said := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(io.LimitReader(status, 4096))
		said <- string(b)
	}()

	w.group = group
	killed, exit := w.until(ctx, c.Timeout, over)
	// Whatever is left of the group goes, and with it the last writers of the pipe.
	w.kill()
	<-read
	waitEmpty(group)
	ended(w.guard, group)
	if killed == "" && w.cgroup.outOfMemory() {
		killed = Memory
	}
	if failure := <-said; failure != "" {
		return Output{}, fmt.Errorf("sandbox: not confined, not run: %s", failure)
	}
	if ctx.Err() != nil {
		return Output{}, ctx.Err()
	}
	o := Output{Killed: killed, Took: time.Since(began), Code: exitCode(exit), Peak: w.peak}
	o.Text, o.Lines, o.Shown, o.Bytes = end.end(s.opt.Limits.Lines)
	o.Text = strings.ToValidUTF8(o.Text, "\uFFFD")
	return o, nil
}

func exitCode(err error) int {
	var bad *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &bad):
		if st, ok := bad.Sys().(syscall.WaitStatus); ok && st.Signaled() {
			return 128 + int(st.Signal())
		}
		return bad.ExitCode()
	}
	return -1
}

// waitEmpty returns when nothing of a killed group runs any more. Where we are the one that inherits orphans, as the first process of a
// container, it takes their exit codes.
func waitEmpty(group int) {
	for until := time.Now().Add(2 * time.Second); time.Now().Before(until); time.Sleep(2 * time.Millisecond) {
		for {
			if pid, err := syscall.Wait4(-group, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
		if syscall.Kill(-group, 0) != nil || len(members(group)) == 0 { // zombies of somebody else's do not count
			return
		}
	}
}

// killGroup kills every process of a group at once: a process that forks meanwhile does not get away, because its fork fails.
func killGroup(group int) { _ = syscall.Kill(-group, syscall.SIGKILL) }
