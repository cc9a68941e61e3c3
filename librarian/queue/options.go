package queue

import (
	"log/slog"
	"time"
)

// Options tune a queue. A zero field means its default.
type Options struct {
	Acknowledge int // questions acknowledged at once; 24: each makes up to three requests at once, and GitHub takes 100
	Research    int // runs researched at once; 4
	Publish     int // answers posted at once, most of which wait for their turn; 32
	Command     int // commands worked at once; 8

	ResearchTimeout time.Duration // one attempt at a research; 30 min
	PublishTimeout  time.Duration // one attempt to post or to acknowledge, and one command; 5 min

	// Grace is how long Stop lets work that is under way go on before it cancels it; 5 s. Negative: not at all.
	Grace time.Duration

	RenewEvery time.Duration // a held lease is renewed this often; 10 s
	SweepEvery time.Duration // runs that nobody looks after are looked for this often; 10 s
	WakeAfter  time.Duration // a job that was not taken this long after it was due is replaced; 60 s
	Poll       time.Duration // how often new jobs of other processes are looked for; 1 s on SQLite, 100 ms on PostgreSQL

	FirstRetry time.Duration // wait after a first failure to post; doubled each time; 5 s
	LastRetry  time.Duration // the longest wait; 10 min
	GiveUp     time.Duration // a run that stays in one state for longer is given up at its next failure; 12 h

	Log *slog.Logger // nil: slog.Default()
}

func (o Options) withDefaults() Options {
	count := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	dur := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	count(&o.Acknowledge, 24)
	count(&o.Research, 4)
	count(&o.Publish, 32)
	count(&o.Command, 8)
	dur(&o.ResearchTimeout, 30*time.Minute)
	dur(&o.PublishTimeout, 5*time.Minute)
	dur(&o.Grace, 5*time.Second)
	dur(&o.RenewEvery, 10*time.Second)
	dur(&o.SweepEvery, 10*time.Second)
	dur(&o.WakeAfter, time.Minute)
	dur(&o.FirstRetry, 5*time.Second)
	dur(&o.LastRetry, 10*time.Minute)
	dur(&o.GiveUp, 12*time.Hour)
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// wait is how long to wait after the given number of failures in a row.
func (o Options) wait(tries int) time.Duration {
	d := o.FirstRetry
	for range min(tries-1, 30) {
		if d *= 2; d >= o.LastRetry {
			return o.LastRetry
		}
	}
	return d
}
