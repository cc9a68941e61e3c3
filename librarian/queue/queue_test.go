package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/store"
	"github.com/librarian-app/librarian/librarian/store/storetest"
)

// patience is how long a test waits for what must happen; it never waits that long when it passes.
const patience = 20 * time.Second

// quick are options under which nothing takes long.
func quick(t *testing.T) Options {
	return Options{
		RenewEvery: 50 * time.Millisecond, SweepEvery: 20 * time.Millisecond, WakeAfter: 200 * time.Millisecond,
		Poll: 50 * time.Millisecond, FirstRetry: 10 * time.Millisecond, LastRetry: 40 * time.Millisecond, Grace: -1,
		Log: slog.New(slog.NewTextHandler(&logTo{t: t}, &slog.HandlerOptions{Level: slog.LevelInfo})),
	}
}

type logTo struct{ t *testing.T }

func (l *logTo) Write(p []byte) (int, error) {
	if l.t.Context().Err() == nil {
		l.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}

func openQueue(t *testing.T, s *store.Store, o Options) *Queue {
	t.Helper()
	q, err := Open(t.Context(), s, o)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(t, q.Stop(ctx))
	})
	return q
}

func enqueue(t *testing.T, q *Queue, delivery string, r librarian.Request) librarian.RunID {
	t.Helper()
	id, created, err := q.Enqueue(t.Context(), librarian.Delivery{ID: delivery, Event: "issue_comment"}, r)
	require.NoError(t, err)
	require.True(t, created)
	return id
}

// worker is a Work that counts, and does by default what the runner does.
type worker struct {
	s  *store.Store
	mu sync.Mutex
	n  map[string]int // "research <id>" → calls

	acknowledge, research, publish, command func(ctx context.Context, id librarian.RunID, n int) error // nil: succeed
}

func newWorker(s *store.Store) *worker { return &worker{s: s, n: map[string]int{}} }

func (w *worker) count(kind string, id librarian.RunID) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n[kind+" "+string(id)]++
	return w.n[kind+" "+string(id)]
}

func (w *worker) calls(kind string, id librarian.RunID) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n[kind+" "+string(id)]
}

// find does a research that succeeds.
func (w *worker) find(ctx context.Context, id librarian.RunID) error {
	if _, err := w.s.Begin(ctx, id); err != nil {
		return err
	}
	_, err := w.s.Advance(ctx, id, store.Step{To: librarian.StateVerified, Kind: librarian.EventOutcome, Data: librarian.Outcome{Kind: librarian.OutcomeFound}})
	return err
}

// decline is a Work's that decides against a run.
func (w *worker) decline(ctx context.Context, id librarian.RunID, _ int) error {
	_, err := w.s.Advance(ctx, id, store.Step{To: librarian.StateVerified, Kind: librarian.EventOutcome, Data: librarian.Outcome{Kind: librarian.OutcomeDeclined}})
	return err
}

// post ends a run well.
func (w *worker) post(ctx context.Context, id librarian.RunID) error {
	_, err := w.s.Advance(ctx, id, store.Step{To: librarian.StatePublished, Kind: librarian.EventPosted, Data: librarian.PostedData{Role: "answer"}})
	return err
}

func (w *worker) work() Work {
	do := func(kind string, own *func(context.Context, librarian.RunID, int) error, usual func(context.Context, librarian.RunID) error) func(context.Context, librarian.RunID) error {
		return func(ctx context.Context, id librarian.RunID) error {
			n := w.count(kind, id)
			if *own != nil {
				return (*own)(ctx, id, n)
			}
			return usual(ctx, id)
		}
	}
	return Work{
		Acknowledge: do("acknowledge", &w.acknowledge, func(context.Context, librarian.RunID) error { return nil }),
		Research:    do("research", &w.research, w.find),
		Publish:     do("publish", &w.publish, w.post),
		Command:     do("command", &w.command, w.post),
	}
}

func waitFor(t *testing.T, s *store.Store, id librarian.RunID, state librarian.State) librarian.Run {
	t.Helper()
	var r librarian.Run
	require.Eventually(t, func() bool {
		var err error
		r, err = s.Run(t.Context(), id)
		return err == nil && r.State == state
	}, patience, 2*time.Millisecond, "the run must become %s", state)
	return r
}

func jobs(t *testing.T, s *store.Store) (n int) {
	t.Helper()
	require.NoError(t, s.DB().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM river_job").Scan(&n))
	return n
}

// eachQueue runs f with an empty store, opened, on both databases.
func eachQueue(t *testing.T, f func(t *testing.T, s *store.Store)) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, o store.Options) { f(t, storetest.Open(t, o)) })
}

func TestResearchThenPublish(t *testing.T) {
	eachQueue(t, func(t *testing.T, s *store.Store) {
		q, w := openQueue(t, s, quick(t)), newWorker(s)
		require.NoError(t, q.Start(t.Context(), w.work()))
		require.Error(t, q.Start(t.Context(), w.work()), "it was started")
		id := enqueue(t, q, "d1", storetest.Question(1))
		r := waitFor(t, s, id, librarian.StatePublished)
		require.Equal(t, 1, r.Attempt)
		require.Equal(t, 1, w.calls("research", id))
		require.Equal(t, 1, w.calls("publish", id))
		require.NoError(t, q.Stop(t.Context()))
		require.NoError(t, q.Stop(t.Context()), "Stop may be called twice")
	})
}

func TestCommandsOvertake(t *testing.T) { // O8
	eachQueue(t, func(t *testing.T, s *store.Store) {
		o := quick(t)
		o.Research, o.Publish, o.Command = 1, 1, 1
		q, w := openQueue(t, s, o), newWorker(s)
		release := make(chan struct{})
		block := func(ctx context.Context, id librarian.RunID, _ int) error {
			select {
			case <-release:
			case <-ctx.Done():
				return ctx.Err()
			}
			return w.find(ctx, id)
		}
		w.research = block
		require.NoError(t, q.Start(t.Context(), w.work()))
		var ids []librarian.RunID
		for i := range 20 {
			ids = append(ids, enqueue(t, q, fmt.Sprint("d", i), storetest.Question(int64(i+1))))
		}
		stop := storetest.Question(100)
		stop.Kind, stop.Command = librarian.KindCommand, "stop"
		waitFor(t, s, enqueue(t, q, "stop", stop), librarian.StatePublished)
		for _, id := range ids {
			require.Zero(t, w.calls("publish", id), "all questions are still queued")
		}
		close(release)
		for _, id := range ids {
			waitFor(t, s, id, librarian.StatePublished)
			require.Equal(t, 1, w.calls("research", id))
		}
	})
}

// However long research takes: those who ask are given a sign.
func TestAcknowledgeWaitsForNoResearch(t *testing.T) {
	eachQueue(t, func(t *testing.T, s *store.Store) {
		o := quick(t)
		o.Research, o.WakeAfter = 1, time.Minute // no job is replaced because this machine is slow
		q, w := openQueue(t, s, o), newWorker(s)
		release := make(chan struct{})
		w.research = func(ctx context.Context, id librarian.RunID, n int) error {
			<-release
			if n == 1 {
				return errors.New("the thread could not be read") // before an attempt began
			}
			return w.find(ctx, id)
		}
		w.acknowledge = func(_ context.Context, _ librarian.RunID, n int) error {
			if n == 1 {
				return retryIn(time.Millisecond)
			}
			return nil
		}
		require.NoError(t, q.Start(t.Context(), w.work()))
		var ids []librarian.RunID
		for i := range 12 {
			ids = append(ids, enqueue(t, q, fmt.Sprint("d", i), storetest.Question(int64(i+1))))
		}
		for _, id := range ids {
			require.Eventually(t, func() bool { return w.calls("acknowledge", id) == 2 }, patience, time.Millisecond)
			require.Zero(t, w.calls("publish", id))
		}
		close(release)
		for _, id := range ids {
			waitFor(t, s, id, librarian.StatePublished)
			require.Equal(t, 2, w.calls("research", id))
			require.Equal(t, 2, w.calls("acknowledge", id), "what was acknowledged is not so again")
		}

		w.acknowledge = w.decline
		declined := enqueue(t, q, "e", storetest.Question(100))
		waitFor(t, s, declined, librarian.StatePublished)
		require.Zero(t, w.calls("research", declined), "what is declined is not researched")
	})
}

// retryIn is an error that says when to try again.
type retryIn time.Duration

func (e retryIn) Error() string             { return "rate limited" }
func (e retryIn) RetryAfter() time.Duration { return time.Duration(e) }

func TestPublishIsTriedAgain(t *testing.T) {
	eachQueue(t, func(t *testing.T, s *store.Store) {
		q, w := openQueue(t, s, quick(t)), newWorker(s)
		var mu sync.Mutex
		var at []time.Time
		w.publish = func(ctx context.Context, id librarian.RunID, n int) error {
			mu.Lock()
			at = append(at, time.Now())
			mu.Unlock()
			switch n {
			case 1:
				return errors.New("GitHub is down")
			case 2:
				return fmt.Errorf("comment: %w", retryIn(300*time.Millisecond))
			case 3:
				panic("boom")
			}
			return w.post(ctx, id)
		}
		require.NoError(t, q.Start(t.Context(), w.work()))
		id := enqueue(t, q, "d1", storetest.Question(1))
		waitFor(t, s, id, librarian.StatePublished)
		require.Equal(t, 1, w.calls("research", id), "nothing is researched anew")
		require.Equal(t, 4, w.calls("publish", id))
		mu.Lock()
		defer mu.Unlock()
		require.GreaterOrEqual(t, at[2].Sub(at[1]), 300*time.Millisecond, "not before it was told")
	})
}

func TestResearchIsTriedAgainAfterAnError(t *testing.T) {
	eachQueue(t, func(t *testing.T, s *store.Store) {
		q, w := openQueue(t, s, quick(t)), newWorker(s)
		w.research = func(ctx context.Context, id librarian.RunID, n int) error {
			switch n {
			case 1:
				return errors.New("the store was away") // before an attempt began
			case 2:
				if _, err := w.s.Begin(ctx, id); err != nil {
					return err
				}
				panic("boom")
			case 3:
				return nil // a fault: it says it is done and is not
			}
			return w.find(ctx, id)
		}
		require.NoError(t, q.Start(t.Context(), w.work()))
		id := enqueue(t, q, "d1", storetest.Question(1))
		r := waitFor(t, s, id, librarian.StatePublished)
		require.Equal(t, 2, r.Attempt)
		require.Equal(t, 4, w.calls("research", id))
	})
}

func TestAttemptsEnd(t *testing.T) {
	eachQueue(t, func(t *testing.T, s *store.Store) {
		q, w := openQueue(t, s, quick(t)), newWorker(s)
		w.research = func(ctx context.Context, id librarian.RunID, _ int) error {
			if _, err := w.s.Begin(ctx, id); err != nil {
				return err
			}
			return errors.New("boom")
		}
		require.NoError(t, q.Start(t.Context(), w.work()))
		id := enqueue(t, q, "d1", storetest.Question(1))
		r := waitFor(t, s, id, librarian.StateInterrupted)
		require.Equal(t, librarian.MaxAttempts, r.Attempt)
		require.Equal(t, librarian.MaxAttempts+1, w.calls("research", id), "the last call is told that there is no attempt left")
	})
}

func TestGiveUp(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, so store.Options) {
		var later atomic.Int64 // the clock is set on by half a day and more at the third failure
		so.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
		s := storetest.Open(t, so)
		q, w := openQueue(t, s, quick(t)), newWorker(s)
		w.publish = func(_ context.Context, _ librarian.RunID, n int) error {
			if n == 3 {
				later.Store(int64(13 * time.Hour))
			}
			return errors.New("locked out")
		}
		w.command = w.publish
		require.NoError(t, q.Start(t.Context(), w.work()))
		id := enqueue(t, q, "d1", storetest.Question(1))
		waitFor(t, s, id, librarian.StateFailed)
		require.GreaterOrEqual(t, w.calls("publish", id), 3)
		events, err := s.Events(t.Context(), id, 0)
		require.NoError(t, err)
		require.Equal(t, librarian.EventNote, events[len(events)-1].Kind)

		cmd := storetest.Question(2)
		cmd.Kind, cmd.Command = librarian.KindCommand, "help"
		later.Store(0)
		waitFor(t, s, enqueue(t, q, "d2", cmd), librarian.StateInterrupted)
	})
}

func TestForgottenWhileAtWork(t *testing.T) {
	eachQueue(t, func(t *testing.T, s *store.Store) {
		q, w := openQueue(t, s, quick(t)), newWorker(s)
		ended := make(chan error, 1)
		w.research = func(ctx context.Context, id librarian.RunID, _ int) error {
			if err := s.Forget(ctx, id); err != nil {
				return err
			}
			<-ctx.Done() // the lease is gone with the run
			ended <- context.Cause(ctx)
			return ctx.Err()
		}
		require.NoError(t, q.Start(t.Context(), w.work()))
		id := enqueue(t, q, "d1", storetest.Question(1))
		select {
		case err := <-ended:
			require.ErrorIs(t, err, store.ErrLeaseLost)
		case <-time.After(patience):
			t.Fatal("the work was not cancelled")
		}
		again, created, err := q.Enqueue(t.Context(), librarian.Delivery{ID: "d1"}, storetest.Question(1))
		require.NoError(t, err)
		require.False(t, created, "a redelivery does not bring it back")
		require.Empty(t, again)
		require.Equal(t, 1, w.calls("research", id))
	})
}

func TestUselessJobsDoNothing(t *testing.T) {
	eachQueue(t, func(t *testing.T, s *store.Store) {
		q, w := openQueue(t, s, quick(t)), newWorker(s)
		at, release := make(chan struct{}, 10), make(chan struct{})
		w.research = func(ctx context.Context, id librarian.RunID, _ int) error {
			at <- struct{}{}
			<-release
			return w.find(ctx, id)
		}
		require.NoError(t, q.Start(t.Context(), w.work()))
		id := enqueue(t, q, "d1", storetest.Question(1))
		<-at
		more := func() {
			for _, kind := range []string{kindResearch, kindPublish, kindCommand} {
				require.NoError(t, s.Tx(t.Context(), func(tx *store.Tx) error {
					_, err := q.insertJob(t.Context(), tx, kind, id)
					return err
				}))
				q.bell.ring(kind)
			}
		}
		done := func() {
			require.Eventually(t, func() bool {
				var open int
				err := s.DB().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM river_job WHERE state <> 'completed'").Scan(&open)
				return err == nil && open <= 1
			}, patience, 5*time.Millisecond)
		}
		more() // while it is leased
		done()
		require.Equal(t, 1, w.calls("research", id))
		require.Zero(t, w.calls("command", id))
		close(release)
		waitFor(t, s, id, librarian.StatePublished)
		more() // when it is over
		done()
		require.Equal(t, 1, w.calls("research", id))
		require.Equal(t, 1, w.calls("publish", id))
		require.Zero(t, w.calls("command", id))
	})
}

func TestStopGivesRunsBackUncounted(t *testing.T) {
	eachQueue(t, func(t *testing.T, s *store.Store) {
		o := quick(t)
		o.Grace = 30 * time.Millisecond
		w := newWorker(s)
		begun, cause := make(chan struct{}, 1), make(chan error, 1)
		var first atomic.Bool
		w.research = func(ctx context.Context, id librarian.RunID, _ int) error {
			if !first.CompareAndSwap(false, true) {
				return w.find(ctx, id)
			}
			if _, err := w.s.Begin(ctx, id); err != nil {
				return err
			}
			begun <- struct{}{}
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return ctx.Err()
		}
		q := openQueue(t, s, o)
		require.NoError(t, q.Start(t.Context(), w.work()))
		id := enqueue(t, q, "d1", storetest.Question(1))
		<-begun
		require.NoError(t, q.Stop(t.Context()))
		require.ErrorIs(t, <-cause, ErrStopping)
		r, err := s.Run(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, librarian.StateRunning, r.State)
		require.Zero(t, r.Attempt)

		// What came in meanwhile is on disk; the next process takes both up.
		late := enqueue(t, q, "d2", storetest.Question(2))
		next := openQueue(t, s, o)
		require.NoError(t, next.Start(t.Context(), w.work()))
		require.Equal(t, 1, waitFor(t, s, id, librarian.StatePublished).Attempt)
		waitFor(t, s, late, librarian.StatePublished)
	})
}

func TestStopLetsWorkFinish(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{Dir: t.TempDir()})
	o := quick(t)
	o.Grace = patience
	q, w := openQueue(t, s, o), newWorker(s)
	begun, release := make(chan struct{}), make(chan struct{})
	w.research = func(ctx context.Context, id librarian.RunID, _ int) error {
		close(begun)
		<-release
		return w.find(ctx, id)
	}
	require.NoError(t, q.Start(t.Context(), w.work()))
	id := enqueue(t, q, "d1", storetest.Question(1))
	<-begun

	stopped := make(chan error, 1)
	go func() { stopped <- q.Stop(context.Background()) }()
	require.Eventually(t, q.running.stopping.Load, patience, time.Millisecond)
	close(release)
	require.NoError(t, <-stopped)
	r, err := s.Run(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, librarian.StateVerified, r.State)
	require.Zero(t, w.calls("publish", id), "nothing new was begun")
}

func TestStopInAHurry(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{Dir: t.TempDir()})
	o := quick(t)
	o.Grace = time.Hour
	q, w := openQueue(t, s, o), newWorker(s)
	begun, cause := make(chan struct{}), make(chan error, 1)
	w.research = func(ctx context.Context, id librarian.RunID, _ int) error {
		close(begun)
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return ctx.Err()
	}
	require.NoError(t, q.Start(t.Context(), w.work()))
	enqueue(t, q, "d1", storetest.Question(1))
	<-begun
	over, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, q.Stop(over), context.Canceled, "Stop returns when its context ends")
	require.ErrorIs(t, <-cause, ErrStopping, "and the work is cancelled then")
	require.NoError(t, q.Stop(t.Context()))
}

func TestSweeperLeavesQueuedRunsTheirPlace(t *testing.T) {
	eachQueue(t, func(t *testing.T, s *store.Store) {
		o := quick(t)
		o.Research, o.WakeAfter, o.SweepEvery = 1, time.Second, 100*time.Millisecond
		q, w := openQueue(t, s, o), newWorker(s)
		begun, release := make(chan struct{}, 9), make(chan struct{})
		w.research = func(ctx context.Context, id librarian.RunID, _ int) error {
			begun <- struct{}{}
			<-release
			return w.find(ctx, id)
		}
		require.NoError(t, q.Start(t.Context(), w.work()))
		first := enqueue(t, q, "d0", storetest.Question(1))
		<-begun
		before := jobs(t, s)
		var ids []librarian.RunID
		for i := range 5 {
			ids = append(ids, enqueue(t, q, fmt.Sprint("e", i), storetest.Question(int64(i+10))))
		}
		count := func(where string) (n int64) {
			require.NoError(t, s.DB().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+where).Scan(&n))
			return n
		}
		const inLine = "runs WHERE state = 'queued' AND lease_until IS NULL"
		require.Eventually(t, func() bool { return jobs(t, s) == before+10 && count(inLine) == 5 }, patience, 2*time.Millisecond, "all are acknowledged and in line")
		var last int64
		require.NoError(t, s.DB().QueryRowContext(t.Context(), "SELECT MAX(wake_at) FROM "+inLine).Scan(&last))
		require.Eventually(t, func() bool { return count(fmt.Sprint(inLine, " AND wake_at > ", last)) == 5 }, patience, 2*time.Millisecond, "the sweeper has moved every one on")
		require.Equal(t, before+10, jobs(t, s), "no job was added for a run whose job is in line")
		close(release)
		for _, id := range append(ids, first) {
			waitFor(t, s, id, librarian.StatePublished)
			require.Equal(t, 1, w.calls("research", id))
			require.Equal(t, 1, w.calls("acknowledge", id))
		}
	})
}

// A crash between the outcome and the publishing job, and a job that River lost.
func TestSweeperReplacesLostJobs(t *testing.T) {
	eachQueue(t, func(t *testing.T, s *store.Store) {
		q, w := openQueue(t, s, quick(t)), newWorker(s)
		verified, queued := enqueue(t, q, "d1", storetest.Question(1)), enqueue(t, q, "d2", storetest.Question(2))
		require.NoError(t, w.find(t.Context(), verified))
		_, err := s.DB().ExecContext(t.Context(), "DELETE FROM river_job")
		require.NoError(t, err)
		require.NoError(t, q.Start(t.Context(), w.work()))
		waitFor(t, s, verified, librarian.StatePublished)
		waitFor(t, s, queued, librarian.StatePublished)
		require.Zero(t, w.calls("research", verified))
		require.Equal(t, 1, w.calls("research", queued))
	})
}

// On PostgreSQL another machine takes over when a lease runs out.
func TestLeaseRunsOut(t *testing.T) {
	t.Parallel()
	o := store.Options{URL: storetest.Postgres(t), LeaseTTL: 300 * time.Millisecond}
	s := storetest.Open(t, o)
	q, w := openQueue(t, s, quick(t)), newWorker(s)
	id := enqueue(t, q, "d1", storetest.Question(1))
	_, ok, err := s.TakeLease(t.Context(), id, "a machine that died", librarian.StateQueued)
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, q.Start(t.Context(), w.work()))
	waitFor(t, s, id, librarian.StatePublished)
}

func TestLeaseIsHeldWhileAtWork(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, so store.Options) {
		so.LeaseTTL = 1500 * time.Millisecond
		s := storetest.Open(t, so)
		q, w := openQueue(t, s, quick(t)), newWorker(s)
		w.research = func(ctx context.Context, id librarian.RunID, _ int) error {
			select { // twice as long as a lease
			case <-time.After(2 * so.LeaseTTL):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			return w.find(ctx, id)
		}
		require.NoError(t, q.Start(t.Context(), w.work()))
		id := enqueue(t, q, "d1", storetest.Question(1))
		waitFor(t, s, id, librarian.StatePublished)
		require.Equal(t, 1, w.calls("research", id))
	})
}

func TestTimeLimit(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{Dir: t.TempDir()})
	o := quick(t)
	o.ResearchTimeout = time.Second
	q, w := openQueue(t, s, o), newWorker(s)
	w.research = func(ctx context.Context, id librarian.RunID, n int) error {
		if n > 1 {
			return w.find(context.WithoutCancel(ctx), id) // a slow machine's second is no matter here
		}
		<-ctx.Done()
		return context.Cause(ctx)
	}
	require.NoError(t, q.Start(t.Context(), w.work()))
	id := enqueue(t, q, "d1", storetest.Question(1))
	waitFor(t, s, id, librarian.StatePublished)
	require.Equal(t, 2, w.calls("research", id))
}

// A question of the moment must not wait for a poll.
func TestStartsAtOnce(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{Dir: t.TempDir()})
	o := quick(t)
	o.Poll = time.Hour
	q, w := openQueue(t, s, o), newWorker(s)
	require.NoError(t, q.Start(t.Context(), w.work()))
	for i := range 10 {
		waitFor(t, s, enqueue(t, q, fmt.Sprint("d", i), storetest.Question(int64(i+1))), librarian.StatePublished)
	}
}

func TestRiverLogsWarningsOnly(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{Dir: t.TempDir()})
	var mu sync.Mutex
	var out bytes.Buffer
	o := quick(t)
	o.SweepEvery = time.Hour // whose log lines are not River's
	o.Log = slog.New(slog.NewTextHandler(lockedWriter{&mu, &out}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	q, w := openQueue(t, s, o), newWorker(s)
	require.NoError(t, q.Start(t.Context(), w.work()))
	waitFor(t, s, enqueue(t, q, "d1", storetest.Question(1)), librarian.StatePublished)
	require.NoError(t, q.Stop(t.Context()))
	mu.Lock()
	defer mu.Unlock()
	require.Empty(t, out.String())
	q.riverLog().Warn("seen")
	require.Contains(t, out.String(), "component=river")
}

type lockedWriter struct {
	mu *sync.Mutex
	w  *bytes.Buffer
}

func (l lockedWriter) Write(p []byte) (int, error) {
	if l.mu.TryLock() {
		defer l.mu.Unlock()
	}
	return l.w.Write(p)
}

func TestOptionsWait(t *testing.T) {
	t.Parallel()
	o := Options{}.withDefaults()
	for tries, want := range map[int]time.Duration{0: 5 * time.Second, 1: 5 * time.Second, 2: 10 * time.Second, 7: 320 * time.Second,
		8: 10 * time.Minute, 1000: 10 * time.Minute} {
		require.Equal(t, want, o.wait(tries), tries)
	}
}
