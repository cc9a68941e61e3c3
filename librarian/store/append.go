package store

import (
	"context"

	"github.com/librarian-app/librarian/librarian"
)

// Append adds an event to a run's log and returns its number. data is written as JSON; a json.RawMessage byte for byte. It
// is on disk when Append returns. What others append at the same time is written together with it.
func (s *Store) Append(ctx context.Context, id librarian.RunID, kind librarian.EventKind, data any) (seq int64, err error) {
	raw, err := s.encode(id, kind, data)
	if err != nil {
		return 0, err
	}
	err = s.Together(ctx, func(ctx context.Context, t *Tx) (err error) {
		seq, err = t.append(ctx, id, kind, raw)
		return err
	})
	if err != nil {
		return 0, err
	}
	return seq, nil
}
