package app

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/librarian-app/librarian/librarian/sandbox"
)

// Child makes this process a confined command if it was started to be one; then it does not return. It is the first thing main does.
func Child() { sandbox.Child() }

// openSandbox gives what bash runs in, or nil, with the reason in the log, where the kernel cannot confine: then the tool is not
// offered. dir is the directory of data that is disposable.
func openSandbox(ctx context.Context, dir string, tools ToolsConfig, log *slog.Logger) *sandbox.Sandbox {
	if slices.Contains(tools.Disabled, "bash") {
		return nil
	}
	path, err := filepath.Abs(filepath.Join(dir, "scratch"))
	if err != nil {
		log.WarnContext(ctx, "bash is not offered", "err", err)
		return nil
	}
	s, err := sandbox.New(sandbox.Options{Dir: path})
	if err == nil {
		err = s.Probe(ctx)
	}
	if err != nil {
		log.WarnContext(ctx, "bash is not offered: this system cannot confine a command", "err", err)
		return nil
	}
	if err := s.Hidden(ctx); err != nil {
		log.WarnContext(ctx, "commands of bash can tell whether a path that they guess exists on this machine, though not read it: "+
			"allow the process a mount namespace (CAP_SYS_ADMIN) or user namespaces", "err", err)
	}
	if err := s.Bounded(); err != nil {
		log.InfoContext(ctx, "memory and processes of bash's commands are watched every 50 ms, not bounded by the kernel: delegate a cgroup "+
			"(systemd: Delegate=yes) for that", "reason", err)
	}
	return s
}
