package checkout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// git starts git. It is the only place of this package that does, so that the
// environment below is the only one git ever sees.
type git struct {
	path    string
	timeout time.Duration // for one command
	memory  int64         // address space of one git process, bytes
	// backfill says that "git backfill" takes commits, which the start-up probe
	// finds out: it came with 2.49, and looked at HEAD alone up to 2.53.
	backfill bool
}

// findGit looks for the program on PATH.
func findGit() (string, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return "", errors.New("git is not installed (it must be on PATH)")
	}
	return path, nil
}

// gitCommand is one call of git.
type gitCommand struct {
	dir    string // the bare repository, "" for none
	args   []string
	config []string // further "key=value" settings, handed over by environment
	stdin  io.Reader
	input  string // standard input as text, which a second run can read again
	// stdout consumes the output; an error from it ends the command and is the
	// command's error. nil discards the output.
	stdout func(io.Reader) error
	// locks are inherited by git and its children: as long as any of them lives,
	// they are held, even if this process is killed.
	locks      []*fileLock
	scrub      func(string) string // removes secrets from what git says
	limit      int64               // bytes that may come from the host; 0 is Budget.FetchBytes
	background bool                // nobody waits for it; it takes no turn of those who do
	// lazy lets git fetch objects on its own. Only Backfill sets it, and the
	// start-up probe, to see that its absence is honoured.
	lazy bool
}

// gitError is a git command that ended badly. Its text is scrubbed and clipped.
type gitError struct {
	verb   string
	code   int // exit code, -1 when killed by a signal
	signal syscall.Signal
	stderr string
}

func (e *gitError) Error() string {
	return fmt.Sprintf("git %s: exit %d: %s", e.verb, e.code, e.stderr)
}

// hardConfig holds for every git command. Settings on the command line beat
// those of a repository's own configuration.
var hardConfig = []string{
	"core.hooksPath=/dev/null",
	"core.fsmonitor=false",
	"core.untrackedCache=false",
	"core.symlinks=false",
	"core.bigFileThreshold=16m",
	"core.packedGitWindowSize=32m",
	"core.packedGitLimit=512m",
	"core.deltaBaseCacheLimit=64m",
	"core.protectHFS=true",
	"core.protectNTFS=true",
	"core.logAllRefUpdates=false",
	"core.commitGraph=true",
	"gc.auto=0",
	"maintenance.auto=false",
	"credential.helper=",
	"protocol.allow=never",
	"protocol.http.allow=always", // the relay, see relay.go
	"protocol.version=2",
	"http.followRedirects=false",
	"http.proxy=",
	"http.emptyAuth=false",
	"fetch.unpackLimit=1", // always index-pack, which streams
	"fetch.writeCommitGraph=false",
	"fetch.recurseSubmodules=false",
	"submodule.recurse=false",
	"transfer.bundleURI=false",
	"transfer.fsckObjects=true",
	"pack.threads=2",
	"pack.windowMemory=64m",
	"index.threads=1",
	"log.showSignature=false",
	"diff.external=",
	"uploadpack.packObjectsHook=",
	"safe.directory=*", // only stores this package made itself are ever opened
}

// benignFaults are the object faults that old, honest histories have and that
// can do no harm here, where nothing but Go code reads names from trees. The
// others, above all hasDotgit and its kind, refuse the fetch.
// The list of names is in git-config(1), "fsck.<msg-id>", and git-fsck(1).
var benignFaults = []string{
	"badDate", "badDateOverflow", "badEmail", "badName", "badTimezone", "emptyName", "missingAuthor",
	"missingCommitter", "missingEmail", "missingNameBeforeEmail", "missingSpaceBeforeDate",
	"missingSpaceBeforeEmail", "missingTaggerEntry", "missingTag", "missingTagEntry", "multipleAuthors", "nulInCommit",
	"zeroPaddedDate", "zeroPaddedFilemode", "badFilemode", "badTagName",
	"missingTypeEntry", "treeNotSorted", "gitmodulesBlob", "gitmodulesLarge", "gitmodulesMissing",
	"gitmodulesName", "gitmodulesParse", "gitmodulesPath", "gitmodulesSymlink", "gitmodulesUpdate", "gitmodulesUrl",
}

// env is the whole environment of a git command. Nothing of our own
// environment is passed on but PATH.
func (c *gitCommand) env() []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=/nonexistent",
		"XDG_CONFIG_HOME=/nonexistent",
		"LC_ALL=C",
		"TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=/bin/false",
		"SSH_ASKPASS=/bin/false",
		"GIT_SSH_COMMAND=/bin/false",
		"GIT_PROTOCOL_FROM_USER=0",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_LITERAL_PATHSPECS=1",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_ADVICE=0",
		"GIT_PAGER=cat",
		"GIT_EDITOR=/bin/false",
	}
	if !c.lazy {
		env = append(env, "GIT_NO_LAZY_FETCH=1")
	}
	if c.dir != "" {
		env = append(env, "GIT_DIR="+c.dir)
	} else {
		env = append(env, "GIT_DIR=/nonexistent", "GIT_CEILING_DIRECTORIES=/")
	}
	n := 0
	add := func(kv string) {
		k, v, _ := strings.Cut(kv, "=")
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, k), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, v))
		n++
	}
	for _, kv := range hardConfig {
		add(kv)
	}
	for _, id := range benignFaults {
		add("fetch.fsck." + id + "=ignore")
	}
	for _, kv := range c.config {
		add(kv)
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(n))
}

// run runs c to its end. When ctx ends, or the command's time is over, git and
// all its children are killed at once.
func (g *git) run(ctx context.Context, c gitCommand) error {
	ctx, cancel := context.WithTimeoutCause(ctx, g.timeout, errTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, g.path, c.args...)
	cmd.Env = c.env()
	cmd.Dir = "/"
	if cmd.Stdin = c.stdin; c.input != "" {
		cmd.Stdin = strings.NewReader(c.input)
	}
	cmd.SysProcAttr = ownGroup()
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	cmd.WaitDelay = time.Second
	var said tail
	cmd.Stderr = &said
	for _, fl := range c.locks {
		cmd.ExtraFiles = append(cmd.ExtraFiles, fl.f)
	}
	var out io.ReadCloser
	if c.stdout != nil {
		var err error
		if out, err = cmd.StdoutPipe(); err != nil {
			return err
		}
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start git: %w", err)
	}
	limitMemory(cmd.Process.Pid, g.memory)
	var readErr error
	if c.stdout != nil {
		if readErr = c.stdout(out); readErr != nil {
			_ = killGroup(cmd.Process)
		}
		_, _ = io.Copy(io.Discard, out)
	}
	err := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		_ = killGroup(cmd.Process)
		return context.Cause(ctx)
	case readErr != nil:
		return readErr
	case errors.Is(err, exec.ErrWaitDelay):
		// Git ended well and its output was read to the end. What did not end is what it says beside that: a child of its that
		// lingers has it open, or this machine stood still for the delay.
		_ = killGroup(cmd.Process)
		return nil
	case err != nil:
		_ = killGroup(cmd.Process)
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return fmt.Errorf("git %s: %w", c.verb(), err)
		}
		text := strings.ToValidUTF8(said.String(), "?")
		if c.scrub != nil {
			text = c.scrub(text)
		}
		ge := &gitError{verb: c.verb(), code: exit.ExitCode(), stderr: clip(strings.TrimSpace(text), 600)}
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			ge.signal = ws.Signal()
		}
		return ge
	}
	return nil
}

// output runs c and gives its output, which may be max bytes at most.
func (g *git) output(ctx context.Context, c gitCommand, max int64) ([]byte, error) {
	var buf bytes.Buffer
	c.stdout = func(r io.Reader) error {
		n, err := buf.ReadFrom(io.LimitReader(r, max+1))
		if err == nil && n > max {
			err = fmt.Errorf("git %s: more than %d bytes of output", c.verb(), max)
		}
		return err
	}
	err := g.run(ctx, c)
	return buf.Bytes(), err
}

// errTime is the cause when a git command used up its time.
var errTime = errors.New("git took longer than its time limit")

// verb is the sub-command, for error texts.
func (c *gitCommand) verb() string {
	for i := 0; i < len(c.args); i++ {
		if c.args[i] == "-c" {
			i++
			continue
		}
		return c.args[i]
	}
	return ""
}

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills a process and all of its group.
func killGroup(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// tail keeps the last few kilobytes written to it.
type tail struct{ b []byte }

const tailSize = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if len(t.b) > 2*tailSize {
		t.b = append(t.b[:0], t.b[len(t.b)-tailSize:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	if len(t.b) > tailSize {
		return string(t.b[len(t.b)-tailSize:])
	}
	return string(t.b)
}
