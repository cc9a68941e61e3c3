package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/store"
	"github.com/librarian-app/librarian/librarian/store/storetest"
)

// clock is a time that a test moves.
type clock struct{ us atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.us.Store(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC).UnixMicro())
	return c
}

func (c *clock) now() time.Time {
	return time.UnixMicro(c.us.Load()).In(time.FixedZone("elsewhere", 7*3600))
}
func (c *clock) advance(d time.Duration) { c.us.Add(d.Microseconds()) }

// withClock runs a test on each kind of store, at a time that the test moves.
func withClock(t *testing.T, f func(*testing.T, *store.Store, *clock)) {
	storetest.Each(t, func(t *testing.T, o store.Options) {
		c := newClock()
		o.Now = c.now
		f(t, storetest.Open(t, o), c)
	})
}

// create writes a run as the queue does.
func create(t *testing.T, s *store.Store, r librarian.Request) librarian.RunID {
	t.Helper()
	id := librarian.NewRunID()
	require.NoError(t, s.Tx(t.Context(), func(tx *store.Tx) error {
		before, err := tx.Asked(t.Context(), "", r)
		if err != nil {
			return err
		}
		created, err := tx.CreateRun(t.Context(), store.NewRun{ID: id, Request: r, Ordinal: before.Runs + 1, Job: 1, WakeAt: s.Now().Add(time.Minute)})
		require.True(t, created)
		return err
	}))
	return id
}

func TestRun(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, o store.Options) {
		c := newClock()
		o.Now = c.now
		s := storetest.Open(t, o)
		ctx := t.Context()

		req := storetest.Question(1)
		req.Question = "NUL \x00, \u2028, 日本 and \"quotes\""
		req.AskedAt = c.now().UTC()
		id := create(t, s, req)
		got, err := s.Run(ctx, id)
		require.NoError(t, err)
		want := librarian.Run{ID: id, Request: req, State: librarian.StateQueued, CreatedAt: c.now().UTC(), UpdatedAt: c.now().UTC()}
		require.Equal(t, want, got)
		require.Equal(t, time.UTC, got.CreatedAt.Location())

		_, err = s.Run(ctx, librarian.NewRunID())
		require.ErrorIs(t, err, librarian.ErrRunNotFound)
		_, ok := librarian.UserMessage(err)
		require.True(t, ok, "an unknown run is something to tell the asker")

		// It is still there when the store is opened anew.
		require.NoError(t, s.Close())
		require.NoError(t, s.Close(), "Close may be called twice")
		s = storetest.Open(t, o)
		again, err := s.Run(ctx, id)
		require.NoError(t, err)
		require.Equal(t, want, again)
	})
}

func TestRequestTooLarge(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{Dir: t.TempDir()})
	req := storetest.Question(1)
	req.Quoted = string(make([]byte, store.MaxRequest))
	_, err := s.CreateRun(t.Context(), req)
	var large *store.TooLargeError
	require.ErrorAs(t, err, &large)
}

func TestFind(t *testing.T) {
	t.Parallel()
	withClock(t, func(t *testing.T, s *store.Store, c *clock) {
		ctx := t.Context()

		var ids []librarian.RunID
		add := func(change func(*librarian.Request)) {
			r := storetest.Question(int64(len(ids) + 1))
			change(&r)
			ids = append(ids, create(t, s, r))
			c.advance(time.Second)
		}
		add(func(*librarian.Request) {})
		add(func(r *librarian.Request) { r.Place.Number = 8 })
		add(func(r *librarian.Request) { r.Place.Repo = librarian.GitHubRepo("github.example", 100) })
		add(func(r *librarian.Request) { r.Kind = librarian.KindCommand })
		add(func(r *librarian.Request) { r.Principal.ID = 43 })
		require.NoError(t, s.SetState(ctx, ids[0], librarian.StateQueued, librarian.StateFailed))

		repo := librarian.GitHubRepo("github.example", 99)
		for name, tc := range map[string]struct {
			f    store.Filter
			want []int
		}{
			"all, newest first":                 {store.Filter{}, []int{4, 3, 2, 1, 0}},
			"thread":                            {store.Filter{Repo: repo, Number: 7}, []int{4, 3, 0}},
			"open in the thread":                {store.Filter{Repo: repo, Number: 7, Open: true}, []int{4, 3}},
			"comment":                           {store.Filter{Repo: repo, Trigger: librarian.TriggerIssueComment, TriggerID: 2}, []int{1}},
			"same number, other kind of object": {store.Filter{Repo: repo, Trigger: librarian.TriggerIssueBody, TriggerID: 2}, nil},
			"commands":                          {store.Filter{Kind: librarian.KindCommand}, []int{3}},
			"asker":                             {store.Filter{Principal: 43}, []int{4}},
			"limit":                             {store.Filter{Limit: 2}, []int{4, 3}},
		} {
			var want []librarian.RunID
			for _, i := range tc.want {
				want = append(want, ids[i])
			}
			runs, err := s.Find(ctx, tc.f)
			require.NoError(t, err)
			var got []librarian.RunID
			for _, r := range runs {
				got = append(got, r.ID)
			}
			require.Equal(t, want, got, name)
		}
	})
}

func TestTerminalRunsAreNeverTheSame(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{Dir: t.TempDir()})
	req := librarian.Request{Kind: librarian.KindQuestion, Question: "why?", Place: librarian.Place{Trigger: librarian.TriggerTerminal}}
	a, err := s.CreateRun(t.Context(), req)
	require.NoError(t, err)
	b, err := s.CreateRun(t.Context(), req)
	require.NoError(t, err)
	require.NotEqual(t, a, b)
	orphans, err := s.Orphans(t.Context(), 10)
	require.NoError(t, err)
	require.Empty(t, orphans, "no sweeper may take a terminal's run")
}

func TestEventsAreGaplessAndExact(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, o store.Options) {
		s := storetest.Open(t, o)
		ctx := t.Context()
		id, other := create(t, s, storetest.Question(1)), create(t, s, storetest.Question(2))

		const writers, each = 6, 20
		var g errgroup.Group
		for w := range writers {
			g.Go(func() error {
				for i := range each {
					if _, err := s.Append(ctx, id, librarian.EventNote, librarian.NoteData{Text: fmt.Sprintf("%d/%d", w, i)}); err != nil {
						return err
					}
				}
				return nil
			})
		}
		require.NoError(t, g.Wait())
		events, err := s.Events(ctx, id, 0)
		require.NoError(t, err)
		require.Len(t, events, writers*each)
		for i, e := range events {
			require.Equal(t, int64(i+1), e.Seq)
			require.Equal(t, id, e.Run)
		}

		// What a provider gave comes back to the byte, even where it is not UTF-8.
		raw := json.RawMessage("{ \"b\":1.0, \"a\":\"\\u0000 \xff\" }")
		seq, err := s.Append(ctx, id, librarian.EventMessage, raw)
		require.NoError(t, err)
		require.Equal(t, int64(writers*each+1), seq)
		events, err = s.Events(ctx, id, seq-1)
		require.NoError(t, err)
		require.Len(t, events, 1)
		require.Equal(t, string(raw), string(events[0].Data))

		_, err = s.Append(ctx, id, librarian.EventMessage, json.RawMessage("{"))
		require.Error(t, err)
		var large *store.TooLargeError
		_, err = s.Append(ctx, id, librarian.EventMessage, json.RawMessage(`"`+strings.Repeat("x", store.MaxEventData)+`"`))
		require.ErrorAs(t, err, &large)
		_, err = s.Append(ctx, librarian.NewRunID(), librarian.EventNote, librarian.NoteData{})
		require.ErrorIs(t, err, librarian.ErrRunNotFound)
		seq, err = s.Append(ctx, id, librarian.EventNote, librarian.NoteData{})
		require.NoError(t, err)
		require.Equal(t, int64(writers*each+2), seq, "a refused event leaves no gap")

		none, err := s.Events(ctx, other, 0)
		require.NoError(t, err)
		require.Empty(t, none)
	})
}

func TestAdvanceIsOneStep(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, o store.Options) {
		s := storetest.Open(t, o)
		ctx := t.Context()
		id := create(t, s, storetest.Question(1))

		var won, late atomic.Int32
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				_, err := s.Advance(ctx, id, store.Step{To: librarian.StateVerified, Kind: librarian.EventOutcome,
					Data: librarian.Outcome{Message: fmt.Sprint(i)}})
				var state *store.StateError
				switch {
				case err == nil:
					won.Add(1)
				case errors.As(err, &state) && state.Got == librarian.StateVerified:
					late.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		require.Equal(t, int32(1), won.Load())
		require.Equal(t, int32(7), late.Load())
		events, err := s.Events(ctx, id, 0)
		require.NoError(t, err)
		require.Len(t, events, 1, "the losers wrote no outcome")

		// An event that cannot be written takes the change of state back.
		_, err = s.Advance(ctx, id, store.Step{From: []librarian.State{librarian.StateVerified}, To: librarian.StatePublished,
			Kind: librarian.EventPosted, Data: json.RawMessage("{")})
		require.Error(t, err)
		r, err := s.Run(ctx, id)
		require.NoError(t, err)
		require.Equal(t, librarian.StateVerified, r.State)

		require.NoError(t, s.SetState(ctx, id, librarian.StateVerified, librarian.StatePublished))
		var state *store.StateError
		require.ErrorAs(t, s.SetState(ctx, id, librarian.StateVerified, librarian.StateFailed), &state)
		_, err = s.Advance(ctx, id, store.Step{To: librarian.StateFailed, Kind: librarian.EventNote, Data: librarian.NoteData{}})
		require.ErrorAs(t, err, &state, "a final run stays as it ended")
		require.ErrorIs(t, s.SetState(ctx, librarian.NewRunID(), librarian.StateQueued, librarian.StateRunning), librarian.ErrRunNotFound)
	})
}

func TestCancel(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, o store.Options) {
		s := storetest.Open(t, o)
		ctx := t.Context()
		id := create(t, s, storetest.Question(1))
		cancelled, err := s.Cancelled(ctx, id)
		require.NoError(t, err)
		require.False(t, cancelled)

		asked, err := s.RequestCancel(ctx, id)
		require.NoError(t, err)
		require.True(t, asked)
		cancelled, err = s.Cancelled(ctx, id)
		require.NoError(t, err)
		require.True(t, cancelled)
		r, err := s.Run(ctx, id)
		require.NoError(t, err)
		require.True(t, r.CancelRequested)

		require.NoError(t, s.SetState(ctx, id, librarian.StateQueued, librarian.StateCancelled))
		asked, err = s.RequestCancel(ctx, id)
		require.NoError(t, err)
		require.False(t, asked, "the run is over")
		_, err = s.RequestCancel(ctx, librarian.NewRunID())
		require.ErrorIs(t, err, librarian.ErrRunNotFound)
		cancelled, err = s.Cancelled(ctx, librarian.NewRunID())
		require.NoError(t, err)
		require.True(t, cancelled, "a forgotten run must stop")
	})
}

func TestTxRollsBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, o store.Options) {
		s := storetest.Open(t, o)
		id := create(t, s, storetest.Question(1))
		boom := errors.New("boom")
		require.ErrorIs(t, s.Tx(t.Context(), func(tx *store.Tx) error {
			require.NoError(t, tx.SetState(t.Context(), id, librarian.StateFailed))
			return boom
		}), boom)
		r, err := s.Run(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, librarian.StateQueued, r.State)

		// A panic rolls back too and leaves the one writer free.
		require.Panics(t, func() {
			_ = s.Tx(t.Context(), func(tx *store.Tx) error {
				_ = tx.SetState(t.Context(), id, librarian.StateFailed)
				panic("boom")
			})
		})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		require.NoError(t, s.SetState(ctx, id, librarian.StateQueued, librarian.StateRunning))
	})
}

func TestFilesAreOurs(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a b?c#d%25&e")
	s := storetest.Open(t, store.Options{Dir: dir})
	create(t, s, storetest.Question(1))
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, n := range names {
		info, err := n.Info()
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), n.Name())
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	unlock, err := store.Lock(dir)
	require.NoError(t, err)
	_, err = store.Lock(dir)
	var locked *store.LockedError
	require.ErrorAs(t, err, &locked)
	require.Equal(t, dir, locked.Dir)
	require.NoError(t, unlock())
	require.NoError(t, unlock())
	unlock, err = store.Lock(dir)
	require.NoError(t, err)
	require.NoError(t, unlock())
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	t.Run("nothing", func(t *testing.T) {
		t.Parallel()
		_, err := store.Open(t.Context(), store.Options{})
		require.ErrorContains(t, err, "store: open:")
	})
	t.Run("a URL with a password in its error", func(t *testing.T) {
		t.Parallel()
		_, err := store.Open(t.Context(), store.Options{URL: "postgres://u:hunter2@[::1"})
		require.Error(t, err)
		require.NotContains(t, err.Error(), "hunter2")
	})
	t.Run("a file that is no database", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "librarian.db"), []byte("this is a text file of some length, and no database"), 0o600))
		_, err := store.Open(t.Context(), store.Options{Dir: dir})
		require.ErrorContains(t, err, "not a database")
	})
	storetest.Each(t, func(t *testing.T, o store.Options) {
		s := storetest.Open(t, o)
		_, err := s.DB().ExecContext(t.Context(), "INSERT INTO librarian_schema (version) VALUES (1000)")
		require.NoError(t, err)
		_, err = store.Open(t.Context(), o)
		require.ErrorContains(t, err, "newer librarian")
	})
}

func TestConcurrentOpen(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, o store.Options) {
		var g errgroup.Group
		for range 4 {
			g.Go(func() error {
				s, err := store.Open(context.WithoutCancel(t.Context()), o)
				if err != nil {
					return err
				}
				return s.Close()
			})
		}
		require.NoError(t, g.Wait())
	})
}
