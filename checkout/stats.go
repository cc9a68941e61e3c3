package checkout

import (
	"sync/atomic"
	"time"
)

// counters count since New.
type counters struct {
	resolves, fetches, clones, trees, hits, evictions, repacks, indexes, ahead atomic.Int64
	requests, bytes, nanos, disk                                               atomic.Int64
}

// Stats are a Store's counters since New.
type Stats struct {
	Resolves  int64         // questions to a host what a ref is
	Fetches   int64         // git fetches, clones included
	Clones    int64         // stores made
	Trees     int64         // working trees written
	Hits      int64         // Acquires that found their tree there
	Evictions int64         // trees and stores removed for want of room
	Repacks   int64         // stores repacked
	Ahead     int64         // histories, or their beginnings, fetched in the background
	Indexes   int64         // made of trees, for searches
	Requests  int64         // HTTP requests to hosts
	Bytes     int64         // of their answers' bodies
	Network   time.Duration // spent in git commands that talked to a host
	Disk      int64         // bytes on disk, as the last maintenance saw it
}

// Stats gives the counters.
func (s *Store) Stats() Stats {
	c := &s.stats
	return Stats{
		Resolves: c.resolves.Load(), Fetches: c.fetches.Load(), Clones: c.clones.Load(), Trees: c.trees.Load(),
		Hits: c.hits.Load(), Evictions: c.evictions.Load(), Repacks: c.repacks.Load(), Indexes: c.indexes.Load(), Ahead: c.ahead.Load(),
		Requests: c.requests.Load(), Bytes: c.bytes.Load(), Network: time.Duration(c.nanos.Load()), Disk: c.disk.Load(),
	}
}
