package store

import (
	"context"
	"fmt"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

// How long things are kept by default.
const (
	KeepMessages = 30 * 24 * time.Hour
	KeepAudit    = 365 * 24 * time.Hour
)

// longestBudget is how far back budgets count: a month.
const longestBudget = 31 * 24 * time.Hour

// content are the events that hold what was said: they go with the messages. What is left is the audit: who asked what
// where, what was read (tool_end holds paths and lines, no contents), what was posted.
const content = "'message', 'tool_start', 'outcome', 'note'"

// Expire removes contents older than messages, whole runs and deliveries older than audit, and writes that count no more. A run's
// contents are kept until its last event is old enough, so that a log is never half there while the run is at work.
func (s *Store) Expire(ctx context.Context, messages, audit time.Time) (removed int64, err error) {
	err = s.Tx(ctx, func(t *Tx) error {
		for _, step := range []struct {
			query string
			args  []any
		}{
			{"DELETE FROM events WHERE kind IN (" + content + ") AND at < ? AND run IN (SELECT id FROM runs WHERE updated_at < ? AND state NOT IN (" +
				openStates + "))", []any{micros(messages), micros(messages)}},
			{"DELETE FROM runs WHERE updated_at < ?", []any{micros(audit)}},
			{"DELETE FROM deliveries WHERE at < ?", []any{micros(audit)}},
			{"DELETE FROM forgotten WHERE created_at < ?", []any{micros(t.s.Now().Add(-longestBudget))}},
			{"DELETE FROM writes WHERE at < ?", []any{micros(t.s.Now().Add(-keepWrites))}},
		} {
			n, err := t.exec(ctx, step.query, step.args...)
			if err != nil {
				return fmt.Errorf("store: expire: %w", err)
			}
			removed += n
		}
		return nil
	})
	return removed, err
}

// Forget removes a run with its log at once; budgets go on counting that there was one. Whoever works it finds it gone. A redelivery of the delivery that asked does
// not bring it back. The error for an unknown run wraps [librarian.ErrRunNotFound].
func (s *Store) Forget(ctx context.Context, id librarian.RunID) error {
	return s.Tx(ctx, func(t *Tx) error {
		if _, err := t.exec(ctx, "INSERT INTO forgotten (installation, repo, number, principal, created_at, cost) "+
			"SELECT installation, repo, number, principal, created_at, cost FROM runs WHERE id = ? AND kind = ? AND state <> ?",
			string(id), string(librarian.KindQuestion), string(librarian.StateDeclined)); err != nil {
			return fmt.Errorf("store: forget: %w", err)
		}
		n, err := t.exec(ctx, "DELETE FROM runs WHERE id = ?", string(id))
		if err != nil {
			return fmt.Errorf("store: forget: %w", err)
		}
		if n == 0 {
			return librarian.RunNotFound(id)
		}
		return nil
	})
}

// ForgetRepo removes all runs that were asked in a repository, at work or not, and says how many. What they cost the installation
// stays counted.
func (s *Store) ForgetRepo(ctx context.Context, repo librarian.RepoID) (int64, error) {
	return s.forgetWhere(ctx, "repo = ?", string(repo))
}

// ForgetInstallation removes all runs of an installation, at work or not, and says how many.
func (s *Store) ForgetInstallation(ctx context.Context, installation int64) (int64, error) {
	return s.forgetWhere(ctx, "installation = ?", installation)
}

func (s *Store) forgetWhere(ctx context.Context, where string, arg any) (n int64, err error) {
	err = s.Tx(ctx, func(t *Tx) error {
		for _, query := range []string{
			"DELETE FROM forgotten WHERE cost = 0 AND " + where,
			"UPDATE forgotten SET repo = '', number = 0, principal = 0 WHERE " + where,
			"INSERT INTO forgotten (installation, repo, number, principal, created_at, cost) SELECT installation, '', 0, 0, created_at, cost FROM runs WHERE cost > 0 AND " + where,
		} {
			if _, err := t.exec(ctx, query, arg); err != nil {
				return fmt.Errorf("store: forget: %w", err)
			}
		}
		if n, err = t.exec(ctx, "DELETE FROM runs WHERE "+where, arg); err != nil {
			return fmt.Errorf("store: forget: %w", err)
		}
		return nil
	})
	return n, err
}
