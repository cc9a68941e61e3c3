package store

import (
	"context"
	"fmt"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

// VotesDue lists the answered questions, asked since a time, whose votes are to be counted by now, at most limit, longest due first.
func (s *Store) VotesDue(ctx context.Context, since time.Time, limit int) ([]librarian.Run, error) {
	rows, err := s.read.QueryContext(ctx, s.d.rebind("SELECT "+runColumns+
		" FROM runs WHERE created_at >= ? AND kind = ? AND state = ? AND votes_due <= ? ORDER BY votes_due, created_at, id LIMIT ?"),
		micros(since), string(librarian.KindQuestion), string(librarian.StatePublished), micros(s.Now()), limit)
	if err != nil {
		return nil, fmt.Errorf("store: votes due: %w", err)
	}
	out, err := scanRuns(rows)
	if err != nil {
		return nil, fmt.Errorf("store: votes due: %w", err)
	}
	return out, nil
}

// SetVotes keeps what a count of a run's votes gave, nil if it could not be made, and when the next is due. The log gets what
// changed. A vote keeps no run's contents longer.
func (s *Store) SetVotes(ctx context.Context, id librarian.RunID, v *librarian.VotesData, due time.Time) error {
	return s.Tx(ctx, func(t *Tx) error {
		n, err := t.exec(ctx, "UPDATE runs SET votes_due = ? WHERE id = ?", micros(due), string(id))
		if err == nil && n == 0 {
			return librarian.RunNotFound(id)
		}
		if err != nil {
			return fmt.Errorf("store: votes: %w", err)
		}
		if v == nil {
			return nil
		}
		n, err = t.exec(ctx, "UPDATE runs SET votes_up = ?, votes_down = ? WHERE id = ? AND (votes_up <> ? OR votes_down <> ?)",
			v.Up, v.Down, string(id), v.Up, v.Down)
		if err != nil {
			return fmt.Errorf("store: votes: %w", err)
		}
		if n == 0 {
			return nil
		}
		var updated int64
		if err := t.row(ctx, "SELECT updated_at FROM runs WHERE id = ?", string(id)).Scan(&updated); err != nil {
			return fmt.Errorf("store: votes: %w", err)
		}
		if _, err := t.Append(ctx, id, librarian.EventVotes, *v); err != nil {
			return err
		}
		if _, err := t.exec(ctx, "UPDATE runs SET updated_at = ? WHERE id = ?", updated, string(id)); err != nil {
			return fmt.Errorf("store: votes: %w", err)
		}
		return nil
	})
}

// Votes sums the votes on the answers to what was asked since a time.
func (s *Store) Votes(ctx context.Context, since time.Time) (v librarian.VotesData, err error) {
	err = s.read.QueryRowContext(ctx, s.d.rebind("SELECT CAST(COALESCE(SUM(votes_up), 0) AS BIGINT), CAST(COALESCE(SUM(votes_down), 0) AS BIGINT) FROM runs WHERE created_at >= ?"),
		micros(since)).Scan(&v.Up, &v.Down)
	if err != nil {
		return v, fmt.Errorf("store: votes: %w", err)
	}
	return v, nil
}
