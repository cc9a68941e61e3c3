package checkout

import "golang.org/x/sys/unix"

// limitMemory bounds the address space of a git process that has just been
// started, and so that of every child it starts later. It stops a small pack
// that unpacks to gigabytes. Best effort: without it the machine's own limits hold.
func limitMemory(pid int, bytes int64) {
	if bytes <= 0 {
		return
	}
	lim := unix.Rlimit{Cur: uint64(bytes), Max: uint64(bytes)}
	_ = unix.Prlimit(pid, unix.RLIMIT_AS, &lim, nil)
}
