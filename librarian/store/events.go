package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/librarian-app/librarian/librarian"
)

// Limits of a run's log. They bound what reading it can cost.
const (
	MaxEvents    = 20_000
	MaxEventData = 8 << 20 // bytes of JSON
)

// Append adds an event inside the transaction. data is written as JSON; a json.RawMessage byte for byte.
func (t *Tx) Append(ctx context.Context, id librarian.RunID, kind librarian.EventKind, data any) (int64, error) {
	raw, err := t.s.encode(id, kind, data)
	if err != nil {
		return 0, err
	}
	return t.append(ctx, id, kind, raw)
}

// encode makes the JSON of an event, as it is kept.
func (s *Store) encode(id librarian.RunID, kind librarian.EventKind, data any) (json.RawMessage, error) {
	raw, ok := data.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(data); err != nil {
			return nil, fmt.Errorf("store: append %s: %w", kind, err)
		}
	} else if !json.Valid(raw) {
		return nil, fmt.Errorf("store: append %s: the data is not JSON", kind)
	}
	if s.clean != nil {
		if raw = s.clean(raw); !json.Valid(raw) {
			return nil, fmt.Errorf("store: append %s: what was cleaned is not JSON", kind)
		}
	}
	if len(raw) > MaxEventData {
		return nil, &TooLargeError{Run: id, What: fmt.Sprintf("an event of %d bytes (at most %d)", len(raw), MaxEventData)}
	}
	return raw, nil
}

func (t *Tx) append(ctx context.Context, id librarian.RunID, kind librarian.EventKind, raw json.RawMessage) (int64, error) {
	now := micros(t.s.Now())
	// The update locks the run's row, so that numbers have no gaps even with several writers.
	var seq int64
	var attempt int
	err := t.row(ctx, "UPDATE runs SET last_seq = last_seq + 1, updated_at = ? WHERE id = ? RETURNING last_seq, attempt",
		now, string(id)).Scan(&seq, &attempt)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, librarian.RunNotFound(id)
	}
	if err != nil {
		return 0, fmt.Errorf("store: append %s: %w", kind, err)
	}
	if seq > MaxEvents {
		return 0, &TooLargeError{Run: id, What: fmt.Sprintf("more than %d events", MaxEvents)}
	}
	if _, err := t.exec(ctx, "INSERT INTO events (run, seq, at, attempt, kind, data) VALUES (?, ?, ?, ?, ?, ?)",
		string(id), seq, now, attempt, string(kind), []byte(raw)); err != nil {
		return 0, fmt.Errorf("store: append %s: %w", kind, err)
	}
	return seq, nil
}

// Events reads a run's log from the event behind number after (0: from the start), in order. Old events may have been
// removed (see [Store.Expire]). An unknown run has none.
func (s *Store) Events(ctx context.Context, id librarian.RunID, after int64) ([]librarian.Event, error) {
	rows, err := s.read.QueryContext(ctx, s.d.rebind(
		"SELECT seq, at, attempt, kind, data FROM events WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?"), string(id), after, MaxEvents)
	if err != nil {
		return nil, fmt.Errorf("store: events: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []librarian.Event
	for rows.Next() {
		e := librarian.Event{Run: id}
		var at int64
		var kind string
		var data []byte
		if err := rows.Scan(&e.Seq, &at, &e.Attempt, &kind, &data); err != nil {
			return nil, fmt.Errorf("store: events: %w", err)
		}
		e.At, e.Kind, e.Data = fromMicros(at), librarian.EventKind(kind), data
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("store: events: %w", err)
	}
	return out, nil
}

// Last reads the newest event of a kind in a run's log; ok is false if there is none.
func (s *Store) Last(ctx context.Context, id librarian.RunID, kind librarian.EventKind) (e librarian.Event, ok bool, err error) {
	var at int64
	var data []byte
	err = s.read.QueryRowContext(ctx, s.d.rebind("SELECT seq, at, attempt, data FROM events WHERE run = ? AND kind = ? ORDER BY seq DESC LIMIT 1"),
		string(id), string(kind)).Scan(&e.Seq, &at, &e.Attempt, &data)
	if errors.Is(err, sql.ErrNoRows) {
		return librarian.Event{}, false, nil
	}
	if err != nil {
		return librarian.Event{}, false, fmt.Errorf("store: last event: %w", err)
	}
	e.Run, e.At, e.Kind, e.Data = id, fromMicros(at), kind, data
	return e, true, nil
}

// SetState changes a run's state if it is in from, else the error is *[StateError].
func (s *Store) SetState(ctx context.Context, id librarian.RunID, from, to librarian.State) error {
	return s.Tx(ctx, func(t *Tx) error { return t.SetState(ctx, id, to, from) })
}

// SetState changes a run's state inside the transaction if it is in one of from; none given: in any that is neither
// final nor to.
func (t *Tx) SetState(ctx context.Context, id librarian.RunID, to librarian.State, from ...librarian.State) error {
	if len(from) == 0 {
		for _, s := range []librarian.State{librarian.StateQueued, librarian.StateRunning, librarian.StateVerified} {
			if s != to {
				from = append(from, s)
			}
		}
	}
	now := micros(t.s.Now())
	args := []any{string(to), now, now, string(id)}
	for _, s := range from {
		args = append(args, string(s))
	}
	n, err := t.exec(ctx, "UPDATE runs SET state = ?, state_at = ?, tries = 0, updated_at = ? WHERE id = ? AND state IN ("+
		placeholders(len(from))+")", args...)
	if err != nil {
		return fmt.Errorf("store: set state: %w", err)
	}
	if changed, err := checkRows(n); err != nil || changed {
		return err
	}
	r, err := t.Run(ctx, id)
	if err != nil {
		return err
	}
	return &StateError{Run: id, Got: r.State, To: to}
}

// Step is an event and the change of state that it stands for.
type Step struct {
	From []librarian.State // empty: any state that is neither final nor To
	To   librarian.State
	Kind librarian.EventKind
	Data any
	Cost float64 // US dollars that the step adds to what the run cost
}

// Advance writes a step: both or nothing. If the run is in none of the states From, the error is *[StateError], so that
// of two who would end a run only one does.
func (s *Store) Advance(ctx context.Context, id librarian.RunID, step Step) (seq int64, err error) {
	err = s.Tx(ctx, func(t *Tx) error {
		if err := t.SetState(ctx, id, step.To, step.From...); err != nil {
			return err
		}
		if err := t.addCost(ctx, id, step.Cost); err != nil {
			return err
		}
		seq, err = t.Append(ctx, id, step.Kind, step.Data)
		return err
	})
	return seq, err
}
