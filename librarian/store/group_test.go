package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/store"
	"github.com/librarian-app/librarian/librarian/store/storetest"
)

// What is written together with work that fails, breaks the transaction, panics or comes too late is on disk all the same, and
// what failed left nothing.
func TestTogetherFailsForItselfAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, o store.Options) {
		s := storetest.Open(t, o)
		run := create(t, s, storetest.Question(1))
		var in sync.WaitGroup // all are given before the first is done
		in.Add(1)
		first := make(chan error, 1)
		go func() {
			first <- s.Together(t.Context(), func(context.Context, *store.Tx) error { in.Wait(); return nil })
		}()
		gone, stop := context.WithCancel(t.Context())
		stop()
		errMine := errors.New("mine")
		deliver := func(id string, then func(context.Context, *store.Tx) error) func(context.Context, *store.Tx) error {
			return func(ctx context.Context, tx *store.Tx) error {
				if err := tx.Deliver(ctx, librarian.Delivery{ID: id, Event: "ping"}, run); err != nil {
					return err
				}
				return then(ctx, tx)
			}
		}
		well := func(context.Context, *store.Tx) error { return nil }
		kinds := map[string]struct {
			ctx  context.Context
			then func(context.Context, *store.Tx) error
			want string
		}{
			"good":  {t.Context(), well, ""},
			"fails": {t.Context(), func(context.Context, *store.Tx) error { return errMine }, "mine"},
			"breaks": {t.Context(), func(ctx context.Context, tx *store.Tx) error {
				_, err := tx.Exec(ctx, "INSERT INTO nowhere VALUES (1)")
				return err
			}, "nowhere"},
			"panics": {t.Context(), func(context.Context, *store.Tx) error { panic("at the disco") }, "at the disco"},
			"late":   {gone, well, "context canceled"},
		}
		var all sync.WaitGroup
		const each = 8
		for kind, k := range kinds {
			for i := range each {
				all.Go(func() {
					err := s.Together(k.ctx, deliver(fmt.Sprint(kind, i), k.then))
					if k.want == "" && err != nil || k.want != "" && (err == nil || !strings.Contains(err.Error(), k.want)) {
						t.Errorf("%s: %v", kind, err)
					}
				})
			}
		}
		in.Done()
		all.Wait()
		require.NoError(t, <-first)
		var n, good int
		require.NoError(t, s.DB().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM deliveries").Scan(&n))
		require.NoError(t, s.DB().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM deliveries WHERE id LIKE 'good%'").Scan(&good))
		require.Equal(t, each, good)
		require.Equal(t, each, n)
	})
}

// A commit that fails leaves no transaction open on the connection, nor does one that SQLite ended by itself.
func TestTogetherGoesOnAfterAFailedCommit(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Options{Dir: t.TempDir()})
	ctx := t.Context()
	run := create(t, s, storetest.Question(1))
	for _, tc := range []struct{ name, statement, want string }{
		{"commit fails", "PRAGMA defer_foreign_keys = 1", "store: commit: "},
		{"ended by itself", "ROLLBACK", "no transaction"},
	} {
		err := s.Together(ctx, func(ctx context.Context, tx *store.Tx) error {
			if _, err := tx.Exec(ctx, tc.statement); err != nil {
				return err
			}
			if tc.statement == "ROLLBACK" {
				return errors.New("no transaction")
			}
			return tx.Deliver(ctx, librarian.Delivery{ID: tc.name, Event: "ping"}, librarian.NewRunID())
		})
		require.ErrorContains(t, err, tc.want, tc.name)
		require.NoError(t, s.Together(ctx, func(ctx context.Context, tx *store.Tx) error {
			return tx.Deliver(ctx, librarian.Delivery{ID: "after " + tc.name, Event: "ping"}, run)
		}))
		require.NoError(t, s.Tx(ctx, func(tx *store.Tx) error {
			return tx.Deliver(ctx, librarian.Delivery{ID: "and after " + tc.name, Event: "ping"}, run)
		}))
	}
	var n int
	require.NoError(t, s.DB().QueryRowContext(ctx, "SELECT COUNT(*) FROM deliveries WHERE id LIKE '%after%'").Scan(&n))
	require.Equal(t, 4, n)
	require.NoError(t, s.DB().QueryRowContext(ctx, "SELECT COUNT(*) FROM deliveries").Scan(&n))
	require.Equal(t, 4, n)
}
