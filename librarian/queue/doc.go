// Package queue runs the work on runs: durable jobs, kept by River in the same database as the runs, that hold nothing but
// a run's id.
//
// It promises that a run and its job are written in one transaction or not at all; that a run is worked by one worker
// at a time, by lease; that a run whose worker died is taken up again; that an answer is posted again and again for
// hours without researching anew; that whoever asks is given a sign however many runs are in line; and that commands overtake
// everything. What the work is, it is told in [Work].
//
// It needs a [store.Store], and on SQLite that [store.Lock] is held while a queue is started.
package queue
