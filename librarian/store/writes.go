package store

import (
	"context"
	"fmt"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

// keepWrites is how long a write to GitHub is kept: GitHub's limits look back an hour.
const keepWrites = 2 * time.Hour

// Wrote keeps that an installation wrote to GitHub, or is about to. What others keep at the same time is written together with it.
func (s *Store) Wrote(ctx context.Context, installation int64, w librarian.Write) error {
	err := s.Together(ctx, func(ctx context.Context, t *Tx) error {
		_, err := t.exec(ctx, "INSERT INTO writes (installation, at, kind) VALUES (?, ?, ?)", installation, micros(w.At), w.Kind)
		return err
	})
	if err != nil {
		return fmt.Errorf("store: wrote: %w", err)
	}
	return nil
}

// Writes lists what an installation wrote to GitHub since a time, at most two hours ago, oldest first.
func (s *Store) Writes(ctx context.Context, installation int64, since time.Time) ([]librarian.Write, error) {
	rows, err := s.read.QueryContext(ctx, s.d.rebind("SELECT at, kind FROM writes WHERE installation = ? AND at >= ? ORDER BY at"), installation, micros(since))
	if err != nil {
		return nil, fmt.Errorf("store: writes: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []librarian.Write
	for rows.Next() {
		var at int64
		var w librarian.Write
		if err := rows.Scan(&at, &w.Kind); err != nil {
			return nil, fmt.Errorf("store: writes: %w", err)
		}
		w.At = fromMicros(at)
		out = append(out, w)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("store: writes: %w", err)
	}
	return out, nil
}
