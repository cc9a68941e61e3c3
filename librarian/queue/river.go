package queue

import (
	"context"
	"database/sql"
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
	var args river.JobArgs
	switch kind {
	case kindAcknowledge:
		args = acknowledgeJob{Run: id}
	case kindResearch:
		args = researchJob{Run: id}
	case kindPublish:
		args = publishJob{Run: id}
	default:
		args = commandJob{Run: id}
	}
	opts := &river.InsertOpts{MaxAttempts: 1, Queue: kind}
	if q.store.SQLite() {
		return q.insertFast(ctx, t, river.InsertManyParams{Args: args, InsertOpts: opts})
	}
	res, err := q.insert.InsertTx(ctx, t.SQL(), args, opts)
	if err != nil {
		return 0, fmt.Errorf("queue: insert job: %w", err)
	}
	return res.Job.ID, nil
}

// insertFast does not have the whole row given back, which would cost as much again as the insert. The transaction is the only
// one that writes, so that its job is the one with the highest number.
func (q *Queue) insertFast(ctx context.Context, t *store.Tx, job river.InsertManyParams) (id int64, err error) {
	if _, err := q.insert.InsertManyFastTx(ctx, t.SQL(), []river.InsertManyParams{job}); err != nil {
		return 0, fmt.Errorf("queue: insert job: %w", err)
	}
	if err := t.SQL().QueryRowContext(ctx, "SELECT MAX(id) FROM river_job").Scan(&id); err != nil {
		return 0, fmt.Errorf("queue: insert job: %w", err)
	}
	return id, nil
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
