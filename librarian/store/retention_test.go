package store_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/store"
	"github.com/librarian-app/librarian/librarian/store/storetest"
)

func TestExpire(t *testing.T) {
	t.Parallel()
	withClock(t, func(t *testing.T, s *store.Store, c *clock) {
		ctx := t.Context()
		kinds := func(id librarian.RunID) (out []librarian.EventKind) {
			events, err := s.Events(ctx, id, 0)
			require.NoError(t, err)
			for _, e := range events {
				out = append(out, e.Kind)
			}
			return out
		}
		all := []librarian.EventKind{librarian.EventAdmitted, librarian.EventMessage, librarian.EventToolStart, librarian.EventToolEnd,
			librarian.EventOutcome, librarian.EventPosted}
		fill := func(id librarian.RunID) {
			for _, k := range all {
				_, err := s.Append(ctx, id, k, librarian.NoteData{})
				require.NoError(t, err)
			}
		}
		over, running := create(t, s, storetest.Question(1)), create(t, s, storetest.Question(2))
		fill(over)
		fill(running)
		require.NoError(t, s.SetState(ctx, over, librarian.StateQueued, librarian.StatePublished))
		require.NoError(t, s.Tx(ctx, func(tx *store.Tx) error {
			return tx.Deliver(ctx, librarian.Delivery{ID: "d1", Event: "issue_comment"}, over)
		}))
		c.advance(31 * 24 * time.Hour)
		young := create(t, s, storetest.Question(3))
		fill(young)
		require.NoError(t, s.SetState(ctx, young, librarian.StateQueued, librarian.StatePublished))

		expire := func() {
			_, err := s.Expire(ctx, c.now().Add(-store.KeepMessages), c.now().Add(-store.KeepAudit))
			require.NoError(t, err)
		}
		expire()
		require.Equal(t, []librarian.EventKind{librarian.EventAdmitted, librarian.EventToolEnd, librarian.EventPosted}, kinds(over),
			"the audit stays")
		require.Equal(t, all, kinds(running), "a run at work keeps its log")
		require.Equal(t, all, kinds(young))
		seq, err := s.Append(ctx, over, librarian.EventNote, librarian.NoteData{})
		require.NoError(t, err)
		require.Equal(t, int64(len(all)+1), seq, "numbers are not used again")

		c.advance(335 * 24 * time.Hour)
		expire()
		_, err = s.Run(ctx, running)
		require.ErrorIs(t, err, librarian.ErrRunNotFound)
		_, err = s.Run(ctx, young)
		require.NoError(t, err)
		require.NoError(t, s.Tx(ctx, func(tx *store.Tx) error {
			a, err := tx.Asked(ctx, "d1", storetest.Question(1))
			require.False(t, a.Delivered)
			return err
		}))
	})
}

func TestForget(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, o store.Options) {
		s := storetest.Open(t, o)
		ctx := t.Context()
		id, other := create(t, s, storetest.Question(1)), create(t, s, storetest.Question(2))
		for _, r := range []librarian.RunID{id, other} {
			_, err := s.Append(ctx, r, librarian.EventNote, librarian.NoteData{Text: "x"})
			require.NoError(t, err)
		}
		require.NoError(t, s.Tx(ctx, func(tx *store.Tx) error {
			return tx.Deliver(ctx, librarian.Delivery{ID: "d1", Event: "issue_comment"}, id)
		}))
		require.NoError(t, s.Forget(ctx, id))
		require.ErrorIs(t, s.Forget(ctx, id), librarian.ErrRunNotFound)
		_, err := s.Run(ctx, id)
		require.ErrorIs(t, err, librarian.ErrRunNotFound)
		_, err = s.Append(ctx, id, librarian.EventNote, librarian.NoteData{})
		require.ErrorIs(t, err, librarian.ErrRunNotFound, "its worker must find it gone")
		events, err := s.Events(ctx, id, 0)
		require.NoError(t, err)
		require.Empty(t, events)
		require.NoError(t, s.Tx(ctx, func(tx *store.Tx) error {
			a, err := tx.Asked(ctx, "d1", storetest.Question(1))
			require.True(t, a.Delivered, "the delivery is still known")
			require.Empty(t, a.For)
			return err
		}))
		_, err = s.Run(ctx, other)
		require.NoError(t, err)

		n, err := s.ForgetRepo(ctx, librarian.GitHubRepo("github.example", 1))
		require.NoError(t, err)
		require.Zero(t, n)
		n, err = s.ForgetRepo(ctx, librarian.GitHubRepo("github.example", 99))
		require.NoError(t, err)
		require.Equal(t, int64(1), n)
		create(t, s, storetest.Question(3))
		n, err = s.ForgetInstallation(ctx, 5)
		require.NoError(t, err)
		require.Equal(t, int64(1), n)
	})
}

// What was forgotten is not to be found in the file, either.
func TestForgetOverwrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := store.Open(t.Context(), store.Options{Dir: dir})
	require.NoError(t, err)
	id := create(t, s, storetest.Question(1))
	secret := []byte("the-forgotten-sentence")
	_, err = s.Append(t.Context(), id, librarian.EventNote, librarian.NoteData{Text: string(secret)})
	require.NoError(t, err)
	inFiles := func() bool {
		found := false
		for _, name := range []string{"librarian.db", "librarian.db-wal"} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil && bytes.Contains(b, secret) {
				found = true
			}
		}
		return found
	}
	require.True(t, inFiles(), "else this test could not fail")
	require.NoError(t, s.Forget(t.Context(), id))
	require.NoError(t, s.Close())
	require.False(t, inFiles())
}
