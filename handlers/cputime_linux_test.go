package handlers

import (
	"runtime"
	"syscall"
	"time"
)

// cpuTime is what work costs this thread: on a busy machine the clock on the wall says nothing of it.
func cpuTime(work func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	work()
	return threadTime() - before
}

func threadTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thread, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
