//go:build !linux

package checkout

// limitMemory does nothing where a running process's limits cannot be set.
func limitMemory(int, int64) {}
