package queue

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/store"
	"github.com/librarian-app/librarian/librarian/store/storetest"
)

// These name what a child process is to do: serve the store at a directory or URL, and hang in a kind of work.
const (
	childDir  = "QUEUE_TEST_CHILD_DIR"
	childURL  = "QUEUE_TEST_CHILD_URL"
	childHang = "QUEUE_TEST_CHILD_HANG"
)

const crashLease = 1500 * time.Millisecond

func TestMain(m *testing.M) {
	if os.Getenv(childHang) != "" {
		if err := child(); err != nil {
			fmt.Fprintln(os.Stdout, "error", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child serves until it is killed, and says on its standard output when it hangs.
func child() error {
	ctx := context.Background()
	o := store.Options{Dir: os.Getenv(childDir), URL: os.Getenv(childURL), LeaseTTL: crashLease}
	if o.Dir != "" {
		if _, err := store.Lock(o.Dir); err != nil {
			return err
		}
	}
	s, err := store.Open(ctx, o)
	if err != nil {
		return err
	}
	q, err := Open(ctx, s, Options{RenewEvery: crashLease / 5, SweepEvery: crashLease / 5})
	if err != nil {
		return err
	}
	w := newWorker(s)
	hang := func(kind string) func(context.Context, librarian.RunID, int) error {
		if os.Getenv(childHang) != kind {
			return nil
		}
		return func(ctx context.Context, id librarian.RunID, _ int) error {
			if kind == kindResearch {
				if _, err := s.Begin(ctx, id); err != nil {
					return err
				}
			}
			if _, err := s.Append(ctx, id, librarian.EventNote, librarian.NoteData{Text: "hanging"}); err != nil {
				return err
			}
			fmt.Fprintln(os.Stdout, "hangs", id)
			select {}
		}
	}
	w.research, w.publish, w.command = hang(kindResearch), hang(kindPublish), hang(kindCommand)
	if err := q.Start(ctx, w.work()); err != nil {
		return err
	}
	select {}
}

type process struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startChild(t *testing.T, o store.Options, hang string) *process {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe, "-test.run=^$")
	cmd.Env = append(os.Environ(), childDir+"="+o.Dir, childURL+"="+o.URL, childHang+"="+hang)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := &process{cmd: cmd, lines: bufio.NewScanner(out)}
	t.Cleanup(p.kill)
	return p
}

func (p *process) line() string {
	p.lines.Scan()
	return p.lines.Text()
}

// kill is kill -9: nothing of the process runs afterwards.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// tellInterrupted is what the runner does when no attempt is left: it ends the run in an outcome that says so.
func tellInterrupted(w *worker) func(context.Context, librarian.RunID, int) error {
	return func(ctx context.Context, id librarian.RunID, _ int) error {
		err := w.find(ctx, id)
		if !errors.Is(err, store.ErrAttemptsSpent) {
			return err
		}
		_, err = w.s.Advance(ctx, id, store.Step{To: librarian.StateVerified, Kind: librarian.EventOutcome,
			Data: librarian.Outcome{Kind: librarian.OutcomeInterrupted}})
		return err
	}
}

func TestO6_KilledInResearch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := storetest.Open(t, store.Options{Dir: dir})
	id := enqueue(t, openQueue(t, s, quick(t)), "d1", storetest.Question(1))

	for attempt := 1; attempt <= librarian.MaxAttempts; attempt++ {
		began := time.Now()
		p := startChild(t, store.Options{Dir: dir}, kindResearch)
		require.Equal(t, "hangs "+string(id), p.line())
		t.Logf("attempt %d begun %v after the process was started", attempt, time.Since(began).Round(time.Millisecond))
		if attempt == 1 {
			second := startChild(t, store.Options{Dir: dir}, kindResearch)
			require.Contains(t, second.line(), "another librarian serves", "two must not serve one directory")
		}
		p.kill()
		r, err := s.Run(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, attempt, r.Attempt)
		require.Equal(t, librarian.StateRunning, r.State)
	}

	unlock, err := store.Lock(dir)
	require.NoError(t, err, "a killed process leaves no lock")
	defer func() { require.NoError(t, unlock()) }()
	q, w := openQueue(t, s, quick(t)), newWorker(s)
	w.research = tellInterrupted(w)
	require.NoError(t, q.Start(t.Context(), w.work()))
	waitFor(t, s, id, librarian.StatePublished)
	require.Equal(t, 1, w.calls("publish", id), "told once")

	events, err := s.Events(t.Context(), id, 0)
	require.NoError(t, err)
	var kinds []string
	for i, e := range events {
		require.Equal(t, int64(i+1), e.Seq)
		kinds = append(kinds, string(e.Kind))
	}
	require.Equal(t, "note note outcome posted", strings.Join(kinds, " "), "what was written before each kill is there")
}

func TestO6_KilledOnceIsAnswered(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{kindResearch, kindPublish, kindCommand} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := storetest.Open(t, store.Options{Dir: dir})
			req := storetest.Question(1)
			if kind == kindCommand {
				req.Kind, req.Command = librarian.KindCommand, "help"
			}
			id := enqueue(t, openQueue(t, s, quick(t)), "d1", req)
			p := startChild(t, store.Options{Dir: dir}, kind)
			require.Equal(t, "hangs "+string(id), p.line())
			p.kill()

			q, w := openQueue(t, s, quick(t)), newWorker(s)
			require.NoError(t, q.Start(t.Context(), w.work()))
			waitFor(t, s, id, librarian.StatePublished)
			require.Equal(t, 1, w.calls(kind, id))
			if kind == kindPublish {
				require.Zero(t, w.calls(kindResearch, id), "an answer that was paid for is not researched again")
			}
		})
	}
}

// With several machines on one PostgreSQL, the others take over when the lease of the dead one runs out.
func TestO6_AnotherMachineTakesOver(t *testing.T) {
	t.Parallel()
	o := store.Options{URL: storetest.Postgres(t), LeaseTTL: crashLease}
	s := storetest.Open(t, o)
	q, w := openQueue(t, s, quick(t)), newWorker(s)
	id := enqueue(t, q, "d1", storetest.Question(1))
	p := startChild(t, o, kindResearch)
	require.Equal(t, "hangs "+string(id), p.line())
	require.NoError(t, q.Start(t.Context(), w.work()))
	require.Never(t, func() bool { return w.calls("research", id) > 0 }, 2*crashLease, crashLease/20, "the living one keeps its run")
	p.kill()
	require.Equal(t, 2, waitFor(t, s, id, librarian.StatePublished).Attempt)
}
