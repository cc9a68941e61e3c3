package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

const runColumns = "id, request, state, attempt, cancel_requested, created_at, updated_at"

// MaxRequest is the largest request that is kept, in bytes of JSON. A comment's question is cut long before.
const MaxRequest = 1 << 20

// NewRun is a run to be written.
type NewRun struct {
	ID      librarian.RunID
	Request librarian.Request
	Ordinal int       // which run of the request's key this is, from 1
	Job     int64     // number of the job that will work it
	WakeAt  time.Time // when it must have been touched; zero: nobody looks after it
}

// CreateRun writes a run. created is false, and nothing is written, if the key has a run of this ordinal: another
// replica was faster.
func (t *Tx) CreateRun(ctx context.Context, r NewRun) (created bool, err error) {
	req, err := json.Marshal(r.Request)
	if err != nil {
		return false, fmt.Errorf("store: create run: %w", err)
	}
	if len(req) > MaxRequest {
		return false, &TooLargeError{Run: r.ID, What: fmt.Sprintf("a request of %d bytes (at most %d)", len(req), MaxRequest)}
	}
	now := micros(t.s.Now())
	p := r.Request.Place
	n, err := t.exec(ctx, `INSERT INTO runs (id, key, ordinal, kind, request, state, state_at, wake_at, job, installation, repo, number,
		trigger_kind, trigger_id, principal, created_at, updated_at)
		VALUES (`+placeholders(17)+`) ON CONFLICT (key, ordinal) DO NOTHING`,
		string(r.ID), requestKey(r.ID, r.Request), r.Ordinal, string(r.Request.Kind), req, string(librarian.StateQueued), now,
		nullTime(r.WakeAt), r.Job, p.Installation, string(p.Repo), p.Number, string(p.Trigger), p.TriggerID, r.Request.Principal.ID,
		now, now)
	if err != nil {
		return false, fmt.Errorf("store: create run: %w", err)
	}
	return checkRows(n)
}

// CreateRun writes a run that no job works: the terminal's, which its own process works at once.
func (s *Store) CreateRun(ctx context.Context, req librarian.Request) (librarian.RunID, error) {
	id := librarian.NewRunID()
	err := s.Tx(ctx, func(t *Tx) error {
		created, err := t.CreateRun(ctx, NewRun{ID: id, Request: req, Ordinal: 1})
		if err == nil && !created {
			err = errors.New("store: create run: the request has a run already")
		}
		return err
	})
	return id, err
}

// requestKey is the request's key. On the terminal nothing is the same request twice, so that the run is its own key.
func requestKey(id librarian.RunID, r librarian.Request) string {
	if r.Place.Trigger == librarian.TriggerTerminal || r.Place.TriggerID == 0 {
		return "run/" + string(id)
	}
	return r.Key()
}

// Asked is what is known of a delivery, and of its request's earlier runs.
type Asked struct {
	Delivered bool            // the delivery was seen
	For       librarian.RunID // the delivery's run; empty if that was forgotten

	Latest   librarian.RunID // empty: never asked before
	State    librarian.State // of the latest
	Runs     int
	Attempts int // over all of them
}

// Asked looks a delivery and the request's key up, in one go. A delivery without an id was never seen.
func (t *Tx) Asked(ctx context.Context, delivery string, r librarian.Request) (Asked, error) {
	var a Asked
	rows, err := t.tx.QueryContext(ctx, t.s.d.rebind(`SELECT 0 AS ordinal, run, '' AS state, 0 AS attempt FROM deliveries WHERE id = ?
		UNION ALL SELECT ordinal, id, state, attempt FROM runs WHERE key = ? ORDER BY ordinal`), delivery, requestKey("", r))
	if err != nil {
		return a, fmt.Errorf("store: asked before: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var ordinal, attempt int
		var run sql.NullString
		var state string
		if err := rows.Scan(&ordinal, &run, &state, &attempt); err != nil {
			return a, fmt.Errorf("store: asked before: %w", err)
		}
		if ordinal == 0 {
			a.Delivered, a.For = true, librarian.RunID(run.String)
			continue
		}
		a.Latest, a.State = librarian.RunID(run.String), librarian.State(state)
		a.Runs++
		a.Attempts += attempt
	}
	if err := rows.Err(); err != nil {
		return a, fmt.Errorf("store: asked before: %w", err)
	}
	return a, nil
}

// Deliver notes that a delivery asked for a run; a redelivery may ask for another one.
func (t *Tx) Deliver(ctx context.Context, d librarian.Delivery, id librarian.RunID) error {
	_, err := t.exec(ctx, "INSERT INTO deliveries (id, event, at, run) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET run = excluded.run",
		d.ID, d.Event, micros(t.s.Now()), string(id))
	if err != nil {
		return fmt.Errorf("store: deliver: %w", err)
	}
	return nil
}

// Run reads one run; the error for an unknown one wraps [librarian.ErrRunNotFound].
func (s *Store) Run(ctx context.Context, id librarian.RunID) (librarian.Run, error) {
	return s.run(ctx, s.read, id)
}

// Run reads one run inside the transaction.
func (t *Tx) Run(ctx context.Context, id librarian.RunID) (librarian.Run, error) {
	return t.s.run(ctx, t.tx, id)
}

func (s *Store) run(ctx context.Context, q querier, id librarian.RunID) (librarian.Run, error) {
	r, err := scanRun(q.QueryRowContext(ctx, s.d.rebind("SELECT "+runColumns+" FROM runs WHERE id = ?"), string(id)))
	if errors.Is(err, sql.ErrNoRows) {
		return librarian.Run{}, librarian.RunNotFound(id)
	}
	if err != nil {
		return librarian.Run{}, fmt.Errorf("store: run: %w", err)
	}
	return r, nil
}

// Filter chooses runs; zero fields choose all.
type Filter struct {
	Repo      librarian.RepoID
	Number    int                   // of the issue or pull request; together with Repo the thread
	Trigger   librarian.TriggerKind // with TriggerID: the comment or issue that asked
	TriggerID int64
	Kind      librarian.RequestKind
	Principal int64 // the asker's user id
	Open      bool  // only runs that are not over
	Limit     int   // 0 or over [MaxFind]: MaxFind
}

// MaxFind bounds what Find returns.
const MaxFind = 1000

// Find lists runs, the newest first.
func (s *Store) Find(ctx context.Context, f Filter) ([]librarian.Run, error) {
	var where []string
	var args []any
	add := func(cond string, arg any) { where, args = append(where, cond), append(args, arg) }
	if f.Repo != "" {
		add("repo = ?", string(f.Repo))
	}
	if f.Number != 0 {
		add("number = ?", f.Number)
	}
	if f.Trigger != "" {
		add("trigger_kind = ?", string(f.Trigger))
	}
	if f.TriggerID != 0 {
		add("trigger_id = ?", f.TriggerID)
	}
	if f.Kind != "" {
		add("kind = ?", string(f.Kind))
	}
	if f.Principal != 0 {
		add("principal = ?", f.Principal)
	}
	if f.Open {
		where = append(where, "state IN ("+openStates+")")
	}
	query := "SELECT " + runColumns + " FROM runs"
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	if f.Limit <= 0 || f.Limit > MaxFind {
		f.Limit = MaxFind
	}
	query += " ORDER BY created_at DESC, id LIMIT ?"
	rows, err := s.read.QueryContext(ctx, s.d.rebind(query), append(args, f.Limit)...)
	if err != nil {
		return nil, fmt.Errorf("store: find: %w", err)
	}
	out, err := scanRuns(rows)
	if err != nil {
		return nil, fmt.Errorf("store: find: %w", err)
	}
	return out, nil
}

// openStates are the states that are not final, for SQL. A test holds it to [librarian.State.Final].
const openStates = "'queued', 'running', 'verified'"

// RequestCancel asks a run to stop: whoever works it looks for this every now and then. asked is false if the run is over.
func (s *Store) RequestCancel(ctx context.Context, id librarian.RunID) (asked bool, err error) {
	err = s.Tx(ctx, func(t *Tx) error {
		n, err := t.exec(ctx, "UPDATE runs SET cancel_requested = 1, updated_at = ? WHERE id = ? AND state IN ("+openStates+")",
			micros(s.Now()), string(id))
		if err != nil {
			return fmt.Errorf("store: request cancel: %w", err)
		}
		if asked, err = checkRows(n); err != nil || asked {
			return err
		}
		_, err = t.Run(ctx, id) // over, or not there?
		return err
	})
	return asked, err
}

// Cancelled reports whether the run was asked to stop. A run that is gone counts as asked.
func (s *Store) Cancelled(ctx context.Context, id librarian.RunID) (bool, error) {
	var flag int
	switch err := s.read.QueryRowContext(ctx, s.d.rebind("SELECT cancel_requested FROM runs WHERE id = ?"), string(id)).Scan(&flag); {
	case errors.Is(err, sql.ErrNoRows):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("store: cancelled: %w", err)
	}
	return flag != 0, nil
}

type scanner interface{ Scan(dest ...any) error }

func scanRun(row scanner) (librarian.Run, error) {
	var (
		r                librarian.Run
		id, state        string
		req              []byte
		cancel           int
		created, updated int64
	)
	if err := row.Scan(&id, &req, &state, &r.Attempt, &cancel, &created, &updated); err != nil {
		return r, err
	}
	if err := json.Unmarshal(req, &r.Request); err != nil {
		return r, fmt.Errorf("request of run %s: %w", id, err)
	}
	r.ID, r.State, r.CancelRequested = librarian.RunID(id), librarian.State(state), cancel != 0
	r.CreatedAt, r.UpdatedAt = fromMicros(created), fromMicros(updated)
	return r, nil
}

// scanRuns reads and closes rows.
func scanRuns(rows *sql.Rows) ([]librarian.Run, error) {
	defer func() { _ = rows.Close() }()
	var out []librarian.Run
	for rows.Next() {
		r, err := scanRun(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}

func nullTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return micros(t)
}

// CancelInstallation asks every unfinished run of an installation to stop and says how many there are.
func (s *Store) CancelInstallation(ctx context.Context, installation int64) (n int64, err error) {
	err = s.Tx(ctx, func(t *Tx) error {
		n, err = t.exec(ctx, "UPDATE runs SET cancel_requested = 1, updated_at = ? WHERE installation = ? AND state IN ("+openStates+")",
			micros(s.Now()), installation)
		if err != nil {
			return fmt.Errorf("store: cancel installation: %w", err)
		}
		return nil
	})
	return n, err
}
