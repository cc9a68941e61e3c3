// Package store keeps runs, their event logs and the deliveries that were seen, in SQL: a SQLite file by default, or a
// PostgreSQL database.
//
// It promises that a log is append-only and numbered without gaps, that every change of a run's state is a
// compare-and-set, and that what a call wrote is on disk when the call returns. A run is worked by whoever holds its
// lease; a lease that is not renewed runs out. Times are UTC, to the microsecond.
//
// It needs a data directory of its own for SQLite. One serving process at a time may use that directory: see [Lock].
package store
