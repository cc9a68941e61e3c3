package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/librarian-app/librarian/librarian/githubsim"
)

// serveForTest is the child process of the tests that kill one: the App with the configuration that the environment
// names. It prints where deliveries are taken.
func serveForTest() int {
	cfg, err := Load(os.Getenv("LIBRARIAN_TEST_SERVE"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	secrets, err := LoadSecrets(cfg, os.Getenv, slog.New(slog.DiscardHandler))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	err = NewServer(cfg, secrets, ServerOptions{
		Log:   slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Ready: func(u string) { fmt.Fprintln(os.Stdout, u) },
	}).Run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// spawn starts the App as a process of its own and points the webhook at it.
func (f *flow) spawn() *exec.Cmd {
	f.t.Helper()
	cmd, u := f.process(f.cfg, f.log)
	require.NoError(f.t, f.sim.SetWebhookURL(f.world.app, u))
	return cmd
}

// process starts the App as a process of its own, with its files beside its data, and tells where it takes deliveries.
func (f *flow) process(cfg Config, log io.Writer, env ...string) (*exec.Cmd, string) {
	f.t.Helper()
	dir := filepath.Dir(cfg.Server.Data)
	key := filepath.Join(dir, "key.pem")
	require.NoError(f.t, os.WriteFile(key, f.world.app.PrivateKeyPEM, 0o600))
	cfg.GitHub.PrivateKeyFile = key
	raw, err := yaml.Marshal(cfg)
	require.NoError(f.t, err)
	file := filepath.Join(dir, "config.yml")
	require.NoError(f.t, os.WriteFile(file, raw, 0o600))
	exe, err := os.Executable()
	require.NoError(f.t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), "LIBRARIAN_TEST_SERVE="+file, EnvWebhookSecret+"="+f.world.app.WebhookSecret)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	require.NoError(f.t, err)
	require.NoError(f.t, cmd.Start())
	f.t.Cleanup(func() { kill(cmd) })
	line := make(chan string, 1)
	go func() {
		s := bufio.NewScanner(out)
		for s.Scan() {
			line <- s.Text()
		}
		close(line)
	}()
	select {
	case u, ok := <-line:
		require.True(f.t, ok, "the process ended: %s", f.log)
		return cmd, u
	case <-time.After(60 * time.Second):
		f.t.Fatalf("the process did not start: %s", f.log)
	}
	return nil, ""
}

func kill(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait()
}

// terminate has the process stop as its supervisor does, and waits for that.
func terminate(cmd *exec.Cmd) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
}

// crashing is a flow whose App is a process of its own.
func crashing(t *testing.T) *flow {
	t.Helper()
	f := newFlow(t, nil, nil)
	f.stop()
	return f
}

var gitPath = regexp.MustCompile(`\.git/`)

func TestO6_KilledWhileCloningIsTakenUp(t *testing.T) {
	t.Parallel()
	f := crashing(t)
	first := f.spawn()
	slow := f.sim.Inject(githubsim.Fault{Path: gitPath, Delay: time.Minute})
	c, err := f.sim.Comment("acme/pantry", 1, simUser, "@librarian how is it decided which jar is eaten first?")
	require.NoError(t, err)
	f.eventually("the run is at work", func() bool { return len(f.sim.Reactions(c.ID)) == 1 })
	kill(first)
	slow()
	began := time.Now()
	f.spawn()
	require.Equal(t, "rocket", f.settled(c.ID))
	require.Less(t, time.Since(began), 30*time.Second)
	require.Len(t, f.ours("acme/pantry", c.ID), 1)
	require.Contains(t, f.ours("acme/pantry", c.ID)[0].Body, "/blob/")
}

func TestO6_KilledBetweenPostingAndRecordingPostsOnce(t *testing.T) {
	t.Parallel()
	f := crashing(t)
	first := f.spawn()
	// The comment is made and its answer never arrives, so the process does not know of it when it dies.
	f.sim.Inject(githubsim.Fault{Method: "POST", Path: regexp.MustCompile(`/issues/1/comments$`), Count: 1, AfterWork: true, Cut: true})
	c, err := f.sim.Comment("acme/pantry", 1, simUser, "@librarian how is it decided which jar is eaten first?")
	require.NoError(t, err)
	f.eventually("the answer is posted", func() bool { return len(f.ours("acme/pantry", c.ID)) == 1 })
	kill(first)
	f.spawn()
	require.Equal(t, "rocket", f.settled(c.ID))
	require.Len(t, f.ours("acme/pantry", c.ID), 1)
}

func TestO6_KilledTwiceEndsAsInterruptedOnce(t *testing.T) {
	t.Parallel()
	f := crashing(t)
	f.sim.Inject(githubsim.Fault{Path: gitPath, Delay: time.Minute})
	var c githubsim.Comment
	for attempt := 1; attempt <= 2; attempt++ {
		p := f.spawn()
		if attempt == 1 {
			var err error
			c, err = f.sim.Comment("acme/pantry", 1, simUser, "@librarian how is it decided which jar is eaten first?")
			require.NoError(t, err)
		}
		f.eventually("the attempt is begun", func() bool { return strings.Count(f.log.String(), "run admitted") >= attempt })
		kill(p)
	}
	f.spawn()
	require.Equal(t, "confused", f.settled(c.ID))
	ours := f.ours("acme/pantry", c.ID)
	require.Len(t, ours, 1)
	require.Contains(t, ours[0].Body, "Interrupted")
}

func TestO6_AForgedMarkerIsNotTakenForOurs(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)
	id, answers := f.ask("acme/pantry", simUser, "@librarian what spoils first?")
	require.Len(t, answers, 1)
	marker, _, _ := strings.Cut(answers[0].Body, "\n")
	forged, err := f.sim.Comment("acme/pantry", 1, simReads, marker+"\nnot by the App")
	require.NoError(t, err)
	_, more := f.ask("acme/pantry", simUser, "@librarian how many days ahead is the reminder?")
	require.Len(t, more, 1)
	for _, c := range f.sim.Comments("acme/pantry", 1) {
		if c.ID == forged.ID {
			require.Equal(t, forged.Body, c.Body, "nobody edited it")
		}
	}
	require.Len(t, f.ours("acme/pantry", id), 2)
}
