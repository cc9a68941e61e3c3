//go:build !linux

package handlers

import "time"

func cpuTime(work func()) time.Duration {
	start := time.Now()
	work()
	return time.Since(start)
}
