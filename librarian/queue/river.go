package queue

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/store"
)

// The kinds of jobs. Each has a River queue and workers of its own, so that none waits for another kind: who asks is given a sign
// however many runs are in line to be researched.
const (
	kindAcknowledge = "acknowledge"
	kindResearch    = "research"
	kindPublish     = "publish"
	kindCommand     = "command"
)

type acknowledgeJob struct {
	Run librarian.RunID `json:"run"`
}

type researchJob struct {
	Run librarian.RunID `json:"run"`
}

type publishJob struct {
	Run librarian.RunID `json:"run"`
}

type commandJob struct {
	Run librarian.RunID `json:"run"`
}

func (acknowledgeJob) Kind() string { return kindAcknowledge }
func (researchJob) Kind() string    { return kindResearch }
func (publishJob) Kind() string     { return kindPublish }
func (commandJob) Kind() string     { return kindCommand }

// kindFor is the job that a run in this state needs.
func kindFor(kind librarian.RequestKind, state librarian.State) string {
	switch {
	case state == librarian.StateVerified:
		return kindPublish
	case kind == librarian.KindCommand:
		return kindCommand
	case state == librarian.StateQueued:
		return kindAcknowledge
	}
	return kindResearch
}

// insertJob adds a job to the transaction. River makes one attempt at a job; more attempts are new jobs, or snoozes, which do
// not count.
func (q *Queue) insertJob(ctx context.Context, t *store.Tx, kind string, id librarian.RunID) (int64, error) {
	if q.store.SQLite() {
		return insertFast(ctx, t, kind, id)
	}
	res, err := q.insert.InsertTx(ctx, t.SQL(), jobArgs(kind, id), jobOpts(kind))
	if err != nil {
		return 0, fmt.Errorf("queue: insert job: %w", err)
	}
	return res.Job.ID, nil
}

func jobArgs(kind string, id librarian.RunID) river.JobArgs {
	switch kind {
	case kindAcknowledge:
		return acknowledgeJob{Run: id}
	case kindResearch:
		return researchJob{Run: id}
	case kindPublish:
		return publishJob{Run: id}
	}
	return commandJob{Run: id}
}

func jobOpts(kind string) *river.InsertOpts { return &river.InsertOpts{MaxAttempts: 1, Queue: kind} }

// jobRow is a row of River's as its own insert writes it, which a test compares. X'0C' is {} in SQLite's JSONB, X'0B' is [].
const jobRow = `INSERT INTO river_job (args, created_at, kind, max_attempts, metadata, priority, queue, scheduled_at, state, tags)
	VALUES (jsonb(?), datetime('now', 'subsec'), ?, 1, X'0C', 1, ?, datetime('now', 'subsec'), 'available', X'0B')`

// insertFast writes a job's row without River, whose insert for SQLite takes the row apart from JSON and costs more than all
// else that a delivery writes. Nor does it leave a notice for River's listener, of which the bell took the place.
func insertFast(ctx context.Context, t *store.Tx, kind string, id librarian.RunID) (int64, error) {
	args, err := json.Marshal(jobArgs(kind, id))
	if err != nil {
		return 0, fmt.Errorf("queue: insert job: %w", err)
	}
	res, err := t.Exec(ctx, jobRow, string(args), kind, kind)
	if err != nil {
		return 0, fmt.Errorf("queue: insert job: %w", err)
	}
	n, err := res.LastInsertId()
	if err != nil {
		return 0, fmt.Errorf("queue: insert job: %w", err)
	}
	return n, nil
}

// next is the job that an orphan needs, and whether its newest one is that and still in line for a worker. A run whose newest
// job was to research it was acknowledged.
func (q *Queue) next(ctx context.Context, t *store.Tx, o store.Orphan) (kind string, inLine bool) {
	kind = kindFor(o.Kind, o.State)
	j, err := q.insert.JobGetTx(ctx, t.SQL(), o.Job)
	if err != nil {
		return kind, false
	}
	if kind == kindAcknowledge && j.Kind == kindResearch {
		kind = kindResearch
	}
	return kind, j.Kind == kind && j.State == rivertype.JobStateAvailable
}

// pollPostgres is how often new jobs are looked for on PostgreSQL at most, where each look is a round trip.
const pollPostgres = 100 * time.Millisecond

func (q *Queue) config(r *running) *river.Config {
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, j *river.Job[acknowledgeJob]) error {
		return q.do(ctx, r, kindAcknowledge, j.Args.Run)
	}))
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, j *river.Job[researchJob]) error {
		return q.do(ctx, r, kindResearch, j.Args.Run)
	}))
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, j *river.Job[publishJob]) error {
		return q.do(ctx, r, kindPublish, j.Args.Run)
	}))
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, j *river.Job[commandJob]) error {
		return q.do(ctx, r, kindCommand, j.Args.Run)
	}))
	// The bell rings for jobs of this process; polling finds those of others.
	cooldown, poll := time.Millisecond, time.Second
	if !q.store.SQLite() {
		cooldown, poll = 10*time.Millisecond, pollPostgres
	}
	if q.o.Poll > 0 {
		poll = q.o.Poll
	}
	// Above the time limits that are kept here, so that River's never strikes first; and a job that was running when the
	// process died is of no use to anybody, since the sweeper made a new one.
	limit := max(q.o.ResearchTimeout, q.o.PublishTimeout) + 5*time.Minute
	return &river.Config{
		Logger:               q.riverLog(),
		MaxAttempts:          1,
		JobTimeout:           limit,
		RescueStuckJobsAfter: limit + time.Hour,
		FetchCooldown:        min(cooldown, poll),
		FetchPollInterval:    poll,
		PollOnly:             !q.store.SQLite(),
		Workers:              workers,
		Queues: map[string]river.QueueConfig{
			kindAcknowledge: {MaxWorkers: q.o.Acknowledge},
			kindResearch:    {MaxWorkers: q.o.Research},
			kindPublish:     {MaxWorkers: q.o.Publish},
			kindCommand:     {MaxWorkers: q.o.Command},
		},
	}
}

func (q *Queue) driver() riverdriver.Driver[*sql.Tx] {
	if q.store.SQLite() {
		return &sqliteDriver{Driver: riversqlite.New(q.store.DB()), bell: q.bell}
	}
	return riverdatabasesql.New(q.store.DB())
}

// riverLog passes River's warnings and errors on to our log, and nothing below.
func (q *Queue) riverLog() *slog.Logger {
	return slog.New(warnings{q.log.Handler()}).With("component", "river")
}

type warnings struct{ slog.Handler }

func (h warnings) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && h.Handler.Enabled(ctx, l)
}

func (h warnings) WithAttrs(a []slog.Attr) slog.Handler { return warnings{h.Handler.WithAttrs(a)} }
func (h warnings) WithGroup(n string) slog.Handler      { return warnings{h.Handler.WithGroup(n)} }
