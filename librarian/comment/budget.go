package comment

import (
	"container/heap"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

// kind is what a write is, in the order in which writes go when they have to wait.
type kind int

const (
	reaction kind = iota // a mark that somebody waits for
	answer               // a comment that ends a run
	tidy                 // a mark or comment of ours that is taken away
	progress             // a comment that will be replaced
)

// comments reports whether a write of this kind makes or edits a comment.
func (k kind) comments() bool { return k == answer || k == progress }

// What GitHub allows an installation, from
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits and
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#pause-between-mutative-requests.
const (
	perMinute = 80
	perHour   = 500
	spacing   = time.Second // between two comments
)

// Progress leaves room for a hundred runs an hour: when it stops at 200 writes, at 8 a run, at least 25 of them have begun,
// and 75 more need 4 each (two marks, the answer, a mark taken off).
const (
	progressPerMinute = 40
	progressPerHour   = 200
)

// patience is how long a write waits here before it is given back to who can wait longer and hold up nothing.
func (k kind) patience() time.Duration {
	switch k {
	case progress:
		return 5 * time.Second
	case reaction:
		return 30 * time.Second
	}
	return 90 * time.Second
}

// maxInstallations bounds what is kept; beyond it the budgets that are full again are dropped.
const maxInstallations = 1000

// budget says when a write may go, for each installation.
type budget struct {
	now func() time.Time

	mu  sync.Mutex
	all map[int64]*account
}

// account is the budget of one installation.
type account struct {
	now func() time.Time

	mu      sync.Mutex
	writes  []time.Time // of the last hour, oldest first
	comment time.Time   // the last one
	until   time.Time   // GitHub asked to wait
	waiting waiters
	seq     int
	timer   *time.Timer // of the next look at waiting
}

type waiter struct {
	kind  kind
	seq   int
	index int // in the heap; -1 when it left
	free  chan struct{}
}

func newBudget(now func() time.Time) *budget {
	return &budget{now: now, all: map[int64]*account{}}
}

func (b *budget) account(installation int64) *account {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.all[installation]
	if a == nil {
		if len(b.all) >= maxInstallations {
			for id, old := range b.all {
				if old.idle() {
					delete(b.all, id)
				}
			}
		}
		a = &account{now: b.now}
		b.all[installation] = a
	}
	return a
}

// acquire waits until a write of this kind may be made, and counts it. One that would have to wait for longer than its
// kind's patience is a [librarian.RateLimitError].
func (b *budget) acquire(ctx context.Context, installation int64, k kind) error {
	a := b.account(installation)
	a.mu.Lock()
	if after := a.earliest(k).Sub(a.now()); after > k.patience() {
		a.mu.Unlock()
		return &librarian.RateLimitError{After: after, Err: errBudget}
	}
	w := &waiter{kind: k, seq: a.seq, free: make(chan struct{})}
	a.seq++
	heap.Push(&a.waiting, w)
	a.dispatch()
	a.mu.Unlock()

	timeout := time.NewTimer(k.patience())
	defer timeout.Stop()
	var err error = &librarian.RateLimitError{After: k.patience(), Err: errBudget}
	select {
	case <-w.free:
		return nil
	case <-timeout.C:
	case <-ctx.Done():
		err = ctx.Err()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if w.index < 0 {
		return nil // let go at the same moment: it is counted, so it may as well be made
	}
	heap.Remove(&a.waiting, w.index)
	a.dispatch()
	return err
}

// errBudget is why a write was given back.
var errBudget = errors.New("our own write budget")

// pause holds back every write of an installation.
func (b *budget) pause(installation int64, d time.Duration) {
	a := b.account(installation)
	a.mu.Lock()
	defer a.mu.Unlock()
	if until := a.now().Add(d); until.After(a.until) {
		a.until = until
	}
	a.dispatch()
}

// dispatch lets go who may, in order, and sets the time for the next look. a.mu is held.
func (a *account) dispatch() {
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
	for len(a.waiting) > 0 {
		w := a.waiting[0]
		if wait := a.earliest(w.kind).Sub(a.now()); wait > 0 {
			a.timer = time.AfterFunc(wait, func() {
				a.mu.Lock()
				defer a.mu.Unlock()
				a.dispatch()
			})
			return
		}
		heap.Pop(&a.waiting)
		now := a.now()
		a.writes = append(a.writes, now)
		if w.kind.comments() {
			a.comment = now
		}
		close(w.free)
	}
}

// earliest is when a write of kind k may go if nothing else goes before. a.mu is held.
func (a *account) earliest(k kind) time.Time {
	now := a.now()
	old := 0
	for old < len(a.writes) && now.Sub(a.writes[old]) >= time.Hour {
		old++
	}
	a.writes = append(a.writes[:0], a.writes[old:]...)
	minute, hour := perMinute, perHour
	if k == progress {
		minute, hour = progressPerMinute, progressPerHour
	}
	at := a.until
	later := func(t time.Time) {
		if t.After(at) {
			at = t
		}
	}
	if n := len(a.writes); n >= minute {
		later(a.writes[n-minute].Add(time.Minute))
	}
	if n := len(a.writes); n >= hour {
		later(a.writes[n-hour].Add(time.Hour))
	}
	if k.comments() && !a.comment.IsZero() {
		later(a.comment.Add(spacing))
	}
	return at
}

func (a *account) idle() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.waiting) == 0 && (len(a.writes) == 0 || a.now().Sub(a.writes[len(a.writes)-1]) >= time.Hour) && !a.until.After(a.now())
}

// waiters is a heap: the kind that goes first, and who came first among those.
type waiters []*waiter

func (w waiters) Len() int { return len(w) }
func (w waiters) Less(i, j int) bool {
	if w[i].kind != w[j].kind {
		return w[i].kind < w[j].kind
	}
	return w[i].seq < w[j].seq
}
func (w waiters) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].index, w[j].index = i, j
}

// Push implements [heap.Interface].
func (w *waiters) Push(x any) {
	one := x.(*waiter)
	one.index = len(*w)
	*w = append(*w, one)
}

// Pop implements [heap.Interface].
func (w *waiters) Pop() any {
	old := *w
	one := old[len(old)-1]
	old[len(old)-1] = nil
	*w = old[:len(old)-1]
	one.index = -1
	return one
}
