package checkout

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"
)

// locks are file locks by name, safe between goroutines and between processes.
// The kernel drops them when their holders die, so none is ever stale. A lock's
// file may be removed by whoever holds it alone, which keeps the folder small.
type locks struct {
	dir string

	mu    sync.Mutex
	queue map[string]*queued // goroutines of this process that want one name alone
}

type queued struct {
	turn chan struct{} // holds one token
	n    int           // goroutines that hold or await it
}

// fileLock is a lock that is held.
type fileLock struct {
	f       *os.File
	path    string
	release func() // leaves the in-process queue, nil for shared locks
}

// errHeld says that somebody else holds the lock.
var errHeld = errors.New("held")

func newLocks(dir string) *locks { return &locks{dir: dir, queue: map[string]*queued{}} }

// exclusive waits until it holds name alone. Goroutines of this process queue
// up in memory; only the first of them polls the file, for other processes.
func (l *locks) exclusive(ctx context.Context, name string) (*fileLock, error) {
	l.mu.Lock()
	q := l.queue[name]
	if q == nil {
		q = &queued{turn: make(chan struct{}, 1)}
		q.turn <- struct{}{}
		l.queue[name] = q
	}
	q.n++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if q.n--; q.n == 0 {
			delete(l.queue, name)
		}
	}
	select {
	case <-q.turn:
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
	release := func() { q.turn <- struct{}{}; leave() }
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		fl, err := l.open(name, syscall.LOCK_EX)
		if err == nil {
			fl.release = release
			return fl, nil
		}
		if !errors.Is(err, errHeld) {
			release()
			return nil, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			release()
			return nil, context.Cause(ctx)
		}
	}
}

// shared takes name together with others. Only a short exclusive holder (an
// eviction) can be in the way, so it waits without a queue.
func (l *locks) shared(ctx context.Context, name string) (*fileLock, error) {
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		fl, err := l.open(name, syscall.LOCK_SH)
		if err == nil || !errors.Is(err, errHeld) {
			return fl, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// try takes name alone, or soon fails with errHeld. Not at once: a process that is
// just being started has copies of all locks of ours until it runs its program.
func (l *locks) try(name string) (fl *fileLock, err error) {
	for range 4 {
		if fl, err = l.open(name, syscall.LOCK_EX); !errors.Is(err, errHeld) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return fl, err
}

func (l *locks) open(name string, how int) (*fileLock, error) {
	path := l.dir + "/" + name
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_CLOEXEC, 0o600)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err != nil {
			_ = f.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, errHeld
			}
			return nil, err
		}
		// Whoever held it before may have removed the file; then this is a lock
		// on nothing.
		have, err1 := f.Stat()
		now, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(have, now) {
			return &fileLock{f: f, path: path}, nil
		}
		_ = f.Close()
	}
}

// unlock gives the lock back.
func (fl *fileLock) unlock() {
	if fl == nil || fl.f == nil {
		return
	}
	_ = fl.f.Close()
	fl.f = nil
	if fl.release != nil {
		fl.release()
	}
}

// remove gives the lock back and deletes its file. Only for exclusive locks.
func (fl *fileLock) remove() {
	_ = os.Remove(fl.path)
	fl.unlock()
}
