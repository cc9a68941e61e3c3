package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

// Lease is the right to work a run until Until.
type Lease struct {
	Run     librarian.Run
	Owner   string
	At      time.Time // when it was taken
	Until   time.Time
	Tries   int       // how often a lease was taken while the run was in this state, this one included
	StateAt time.Time // when the run came into this state
}

// TakeLease takes the run's lease for owner if nobody holds one, the run is in one of the states, and it is not to wait. ok
// is false if not.
func (s *Store) TakeLease(ctx context.Context, id librarian.RunID, owner string, states ...librarian.State) (l Lease, ok bool, err error) {
	err = s.Tx(ctx, func(t *Tx) error {
		now := s.Now()
		l = Lease{Owner: owner, At: now, Until: now.Add(s.ttl)}
		args := []any{micros(l.Until), owner, string(id), micros(now), micros(now)}
		for _, st := range states {
			args = append(args, string(st))
		}
		var at int64
		err := t.row(ctx, `UPDATE runs SET lease_until = ?, lease_owner = ?, lease_began = 0, tries = tries + 1
			WHERE id = ? AND (lease_until IS NULL OR lease_until <= ?) AND not_before <= ? AND state IN (`+placeholders(len(states))+`)
			RETURNING tries, state_at`, args...).Scan(&l.Tries, &at)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("store: take lease: %w", err)
		}
		ok, l.StateAt = true, fromMicros(at)
		l.Run, err = t.Run(ctx, id)
		return err
	})
	return l, ok && err == nil, err
}

// RenewLease holds the lease for another term, or says [ErrLeaseLost]: the lease ran out, was taken by somebody else, or
// the run is gone.
func (s *Store) RenewLease(ctx context.Context, id librarian.RunID, owner string) error {
	return s.Tx(ctx, func(t *Tx) error {
		now := s.Now()
		n, err := t.exec(ctx, "UPDATE runs SET lease_until = ? WHERE id = ? AND lease_owner = ? AND lease_until > ?",
			micros(now.Add(s.ttl)), string(id), owner, micros(now))
		if err != nil {
			return fmt.Errorf("store: renew lease: %w", err)
		}
		if n == 0 {
			return ErrLeaseLost
		}
		return nil
	})
}

// Begin starts an attempt at a run: the state becomes running, and the attempt is counted. Called twice under one lease
// it counts once. If the request was begun [librarian.MaxAttempts] times already, over all its runs, the error is
// [ErrAttemptsSpent] and nothing changes.
func (s *Store) Begin(ctx context.Context, id librarian.RunID) (attempt int, err error) {
	err = s.Tx(ctx, func(t *Tx) error {
		var state string
		var began, spent int
		err := t.row(ctx, `SELECT state, attempt, CASE WHEN lease_owner IS NULL THEN 0 ELSE lease_began END,
			(SELECT SUM(attempt) FROM runs AS same WHERE same.key = runs.key) FROM runs WHERE id = ?`, string(id)).
			Scan(&state, &attempt, &began, &spent)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return librarian.RunNotFound(id)
		case err != nil:
			return fmt.Errorf("store: begin: %w", err)
		}
		now := librarian.State(state)
		if now != librarian.StateQueued && now != librarian.StateRunning {
			return &StateError{Run: id, Got: now, To: librarian.StateRunning}
		}
		if began == 1 {
			return nil
		}
		if spent >= librarian.MaxAttempts {
			return ErrAttemptsSpent
		}
		at := micros(s.Now())
		_, err = t.exec(ctx, `UPDATE runs SET attempt = attempt + 1, lease_began = 1, updated_at = ?,
			state_at = CASE WHEN state = ? THEN state_at ELSE ? END, state = ? WHERE id = ?`,
			at, string(librarian.StateRunning), at, string(librarian.StateRunning), string(id))
		if err != nil {
			return fmt.Errorf("store: begin: %w", err)
		}
		attempt++
		return nil
	})
	return attempt, err
}

// Release says how a lease is given back.
type Release struct {
	NotBefore time.Time // until when the run is to wait; zero: not at all
	WakeAt    time.Time // when it must have been touched again; of no effect on a final run
	Job       int64     // the job that will touch it; 0: the one it has
	Uncount   bool      // the attempt begun under this lease does not count: the process is being stopped
	Fresh     bool      // the tries are counted anew: what was to be done under this lease is done
}

// ReleaseLease gives the lease back inside the transaction. A lease that is not held any more is [ErrLeaseLost].
func (t *Tx) ReleaseLease(ctx context.Context, id librarian.RunID, owner string, r Release) error {
	uncount, keep, notBefore := 0, 1, int64(0)
	if r.Uncount {
		uncount = 1
	}
	if r.Fresh {
		keep = 0
	}
	if !r.NotBefore.IsZero() {
		notBefore = micros(r.NotBefore)
	}
	n, err := t.exec(ctx, `UPDATE runs SET lease_until = NULL, lease_owner = NULL, lease_began = 0, attempt = attempt - CAST(? AS BIGINT) * lease_began,
		tries = tries * CAST(? AS BIGINT), not_before = ?, job = CASE WHEN CAST(? AS BIGINT) = 0 THEN job ELSE CAST(? AS BIGINT) END,
		wake_at = CASE WHEN state IN (`+openStates+`) THEN CAST(? AS BIGINT) END
		WHERE id = ? AND lease_owner = ?`, uncount, keep, notBefore, r.Job, r.Job, nullTime(r.WakeAt), string(id), owner)
	if err != nil {
		return fmt.Errorf("store: release lease: %w", err)
	}
	if n == 0 {
		return ErrLeaseLost
	}
	return nil
}

// ReleaseLease gives the lease back.
func (s *Store) ReleaseLease(ctx context.Context, id librarian.RunID, owner string, r Release) error {
	return s.Tx(ctx, func(t *Tx) error { return t.ReleaseLease(ctx, id, owner, r) })
}

// ExpireLeases ends every lease that is held, and the wait for a worker that may have taken a job without coming to its lease.
// Only a process that serves alone (see [Lock]) may call it, at its start: they are all dead.
func (s *Store) ExpireLeases(ctx context.Context) error {
	now := micros(s.Now())
	return s.Tx(ctx, func(t *Tx) error {
		for _, q := range []string{
			"UPDATE runs SET lease_until = ? WHERE lease_until > ?",
			"UPDATE runs SET wake_at = ? WHERE lease_until IS NULL AND wake_at > ? AND not_before <= " + strconv.FormatInt(now, 10) + " AND state IN (" + openStates + ")",
		} {
			if _, err := t.exec(ctx, q, now, now); err != nil {
				return fmt.Errorf("store: expire leases: %w", err)
			}
		}
		return nil
	})
}

// Orphan is a run that nobody looks after: its lease ran out, or it was not touched in time.
type Orphan struct {
	Run   librarian.RunID
	Kind  librarian.RequestKind
	State librarian.State
	Job   int64 // the newest job that was to touch it
	// StateAt is when the run came into its state.
	StateAt time.Time
}

// Orphans lists up to limit of them. Final runs whose worker died before it gave the lease back are tidied on the way.
func (s *Store) Orphans(ctx context.Context, limit int) ([]Orphan, error) {
	now := micros(s.Now())
	const query = `SELECT id, kind, state, job, state_at FROM runs WHERE lease_until <= ?
		UNION ALL SELECT id, kind, state, job, state_at FROM runs WHERE lease_until IS NULL AND wake_at <= ? LIMIT ?`
	rows, err := s.read.QueryContext(ctx, s.d.rebind(query), now, now, limit)
	if err != nil {
		return nil, fmt.Errorf("store: orphans: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var out []Orphan
	tidy := false
	for rows.Next() {
		var o Orphan
		var id, kind, state string
		var at int64
		if err := rows.Scan(&id, &kind, &state, &o.Job, &at); err != nil {
			return nil, fmt.Errorf("store: orphans: %w", err)
		}
		o.Run, o.Kind, o.State, o.StateAt = librarian.RunID(id), librarian.RequestKind(kind), librarian.State(state), fromMicros(at)
		if o.State.Final() {
			tidy = true
			continue
		}
		out = append(out, o)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("store: orphans: %w", err)
	}
	if tidy {
		if err := s.tidy(ctx, now); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Store) tidy(ctx context.Context, now int64) error {
	return s.Tx(ctx, func(t *Tx) error {
		_, err := t.exec(ctx, `UPDATE runs SET lease_until = NULL, lease_owner = NULL, wake_at = NULL WHERE state NOT IN (`+openStates+`)
			AND (lease_until <= ? OR (lease_until IS NULL AND wake_at <= ?))`, now, now)
		if err != nil {
			return fmt.Errorf("store: orphans: %w", err)
		}
		return nil
	})
}

// Adopt notes inside the transaction that job will touch an orphan by wakeAt. ok is false if the run is no orphan any
// more: another sweeper was faster, or its worker came back.
func (t *Tx) Adopt(ctx context.Context, id librarian.RunID, job int64, wakeAt time.Time) (ok bool, err error) {
	now := micros(t.s.Now())
	n, err := t.exec(ctx, `UPDATE runs SET lease_until = NULL, lease_owner = NULL, lease_began = 0, wake_at = ?, job = ?
		WHERE id = ? AND state IN (`+openStates+`) AND (lease_until <= ? OR (lease_until IS NULL AND wake_at <= ?))`,
		micros(wakeAt), job, string(id), now, now)
	if err != nil {
		return false, fmt.Errorf("store: adopt: %w", err)
	}
	return checkRows(n)
}
