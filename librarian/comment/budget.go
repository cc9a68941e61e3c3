package comment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

// kind is what a write is, in the order in which writes go when several have to wait.
type kind int

const (
	eyes       kind = iota // the first mark: somebody looks whether they were heard
	ending                 // the mark that says how it ended
	answer                 // a comment that ends a run
	tidy                   // a mark or comment of ours that is taken away
	withdrawal             // a check run of ours that is emptied, since it cannot be taken away
	progress               // a comment that will be replaced
	kinds
)

var kindNames = [kinds]string{"eyes", "ending", "answer", "tidy", "withdrawal", "progress"}

func (k kind) String() string { return kindNames[k] }

// comments reports whether a write of this kind makes or edits a comment.
func (k kind) comments() bool { return k == answer || k == withdrawal || k == progress }

// What GitHub allows, for each installation:
//
//   - "no more than 80 content-generating requests per minute and no more than 500 content-generating requests per hour"
//     (https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits). What
//     generates content is not defined. Comments and check runs do: their endpoints warn that creating content too quickly is
//     limited. Reactions do not warn, and a deletion makes nothing; but since GitHub says that it may limit for undisclosed
//     reasons, every write counts here.
//   - 900 points a minute, of which a write costs 5 and a GraphQL mutation too: 80 writes are 400.
//   - 100 requests at once. How many are under way is bounded by the workers of package queue.
//   - A second between writes, if there are many, and one after another
//     (https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#pause-between-mutative-requests).
//     That is kept for what notifies people, comments; a mark notifies nobody, and 👀 a second after 👀 would come late to most of
//     those who ask at once. The second begins when GitHub has answered: a request may be on its way for long, but what was answered
//     had arrived, so that GitHub never sees two comments nearer to each other, however late either comes.
const (
	perMinute = 80
	perHour   = 500
	spacing   = time.Second // between two comments
)

// drift is how much later than others a write may arrive at GitHub, which counts when it comes there: the windows are longer by
// that, and so is the second after a comment of which GitHub said nothing.
const drift = 2 * time.Second

// limit is how many writes of every kind there may be in a window for one more of this kind to go, and how many of its own.
type limit struct{ all, own int }

// Each kind leaves room for those that matter more. A run needs four writes: 👀, the answer, 🚀, and 👀 taken off. Of twenty
// questions at once all are marked at once and answered one a second; some of the 🚀, and most of what is to be taken off, comes in the
// next minute, and so does progress. Those who ask in the meantime find room for their 👀, which in turn leaves a quarter of the
// minute to answers. In an hour a hundred runs have room; progress goes while less than two fifths are used.
var (
	minuteLimits = [kinds]limit{eyes: {80, 60}, ending: {56, 56}, answer: {72, 72}, tidy: {44, 44}, withdrawal: {44, 44}, progress: {32, 20}}
	hourLimits   = [kinds]limit{eyes: {500, 300}, ending: {480, 480}, answer: {490, 490}, tidy: {470, 470}, withdrawal: {470, 470}, progress: {200, 200}}
)

// patience is how long a write waits here before it is given back to who can wait longer and hold up nothing. 👀 holds up the 👀 of
// other installations, so it does not wait at all.
func (k kind) patience() time.Duration {
	switch k {
	case eyes:
		return 0
	case answer:
		return 30 * time.Second
	case ending:
		return 10 * time.Second
	}
	return 5 * time.Second
}

// Ledger keeps what was written, so that a process that was killed passes its spent budget on to the next. Processes that run
// beside each other share the windows by it, as far as they saw each other's writes, while each spaces its own comments. How long
// GitHub asked to wait is not in it; another process is told so again.
type Ledger interface {
	// Writes lists an installation's writes since a time, oldest first.
	Writes(ctx context.Context, installation int64, since time.Time) ([]librarian.Write, error)
	// Wrote keeps one; when it returns, the death of the process does not undo it.
	Wrote(ctx context.Context, installation int64, w librarian.Write) error
}

// maxInstallations bounds what is kept in memory; beyond it the budgets that are full again are dropped.
const maxInstallations = 1000

// budget says when a write may go, for each installation.
type budget struct {
	now    func() time.Time
	ledger Ledger // nil: nothing is known of other processes
	shared bool   // others write into the ledger meanwhile

	mu  sync.Mutex
	all map[int64]*account
}

// account is the budget of one installation.
type account struct {
	now func() time.Time

	mu      sync.Mutex
	booked  bool      // there is a ledger
	known   bool      // what it has is in writes
	writes  []spent   // of the last hour, oldest first
	pending []spent   // those of them that are not in the ledger yet
	saying  bool      // a comment is on its way
	comment time.Time // when the last one had arrived
	until   time.Time // GitHub asked to wait
	waiting [kinds][]*waiter
	timer   *time.Timer // of the next look at waiting
}

type spent struct {
	at   time.Time
	kind kind
}

type waiter struct {
	kind kind
	free chan struct{} // closed when it may go
	gone bool
	at   time.Time // when it was let go
}

func newBudget(now func() time.Time, l Ledger, shared bool) *budget {
	return &budget{now: now, ledger: l, shared: shared, all: map[int64]*account{}}
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
		a = &account{now: b.now, booked: b.ledger != nil}
		b.all[installation] = a
	}
	return a
}

// spend waits until a write of this kind may be made, counts it, and makes it by send; no other comment goes while one is on its way.
// One that would have to wait for longer than its kind's patience is a [librarian.RateLimitError], and is not made.
func (b *budget) spend(ctx context.Context, installation int64, k kind, send func() error) error {
	if err := b.acquire(ctx, installation, k); err != nil {
		return err
	}
	arrived := false
	defer func() { b.done(installation, k, arrived) }() // also if send panics, which ends a run and not the process
	err := send()
	arrived = err == nil || answered(err)
	return err
}

// done tells that a write is over; arrived is false if it may still come to GitHub.
func (b *budget) done(installation int64, k kind, arrived bool) {
	if !k.comments() {
		return
	}
	a := b.account(installation)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.saying, a.comment = false, a.now()
	if !arrived {
		a.comment = a.comment.Add(drift)
	}
	a.dispatch()
}

// acquire waits until a write of this kind may be made, and counts it. Who got it calls done.
func (b *budget) acquire(ctx context.Context, installation int64, k kind) error {
	a := b.account(installation)
	if err := b.recall(ctx, a, installation); err != nil {
		return err
	}
	news := func() error { return nil }
	if b.shared {
		news = func() error { return b.recall(ctx, a, installation) }
	}
	at, err := a.wait(ctx, k, news)
	if err != nil || b.ledger == nil {
		return err
	}
	if err := b.ledger.Wrote(ctx, installation, librarian.Write{At: at, Kind: k.String()}); err != nil {
		b.done(installation, k, true) // it is not made
		return fmt.Errorf("the write cannot be accounted for: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending = slices.DeleteFunc(a.pending, func(s spent) bool { return s.at.Equal(at) && s.kind == k })
	return nil
}

// recall reads what the ledger has of an installation: once, and if it is shared each time.
func (b *budget) recall(ctx context.Context, a *account, installation int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if b.ledger == nil || a.known && !b.shared {
		return nil
	}
	now := b.now()
	before, err := b.ledger.Writes(ctx, installation, now.Add(-time.Hour-drift))
	if err != nil {
		return fmt.Errorf("the write budget: %w", err)
	}
	a.writes = a.writes[:0]
	for _, w := range before {
		s := spent{at: w.At, kind: max(0, kind(slices.Index(kindNames[:], w.Kind)))}
		if s.at.After(now) { // the clock was set back
			s.at = now
		}
		a.writes = append(a.writes, s)
	}
	a.writes = append(a.writes, a.pending...)
	slices.SortStableFunc(a.writes, func(x, y spent) int { return x.at.Compare(y.at) })
	late := time.Duration(0)
	if !a.known { // a process that was killed may have sent its last one when it died
		late = drift
	}
	for _, s := range a.writes {
		if s.kind.comments() {
			a.comment = latest(a.comment, s.at.Add(late))
		}
	}
	a.known = true
	a.dispatch()
	return nil
}

// newsEvery is how often who waits looks what other processes wrote.
const newsEvery = time.Second

// wait waits and gives when the write was let go.
func (a *account) wait(ctx context.Context, k kind, news func() error) (time.Time, error) {
	a.mu.Lock()
	if after := a.earliest(k).Sub(a.now()); after > k.patience() {
		a.mu.Unlock()
		return time.Time{}, &librarian.RateLimitError{After: after, Err: errBudget}
	}
	w := &waiter{kind: k, free: make(chan struct{})}
	a.waiting[k] = append(a.waiting[k], w)
	a.dispatch()
	gone := w.gone
	a.mu.Unlock()
	if gone {
		return w.at, nil
	}
	timeout := time.NewTimer(k.patience())
	defer timeout.Stop()
	look := time.NewTicker(newsEvery)
	defer look.Stop()
	var err error
	for err == nil {
		select {
		case <-w.free:
			return w.at, nil
		case <-look.C:
			err = news()
		case <-timeout.C:
			err = &librarian.RateLimitError{After: k.patience(), Err: errBudget}
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if w.gone {
		return w.at, nil // let go at the same moment: it is counted, so it may as well be made
	}
	a.leave(w)
	a.dispatch()
	return time.Time{}, err
}

// leave takes a waiter out. a.mu is held.
func (a *account) leave(w *waiter) {
	a.waiting[w.kind] = slices.DeleteFunc(a.waiting[w.kind], func(o *waiter) bool { return o == w })
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

// dispatch lets go who may: of the kinds that have room, the one that matters most. It sets the time for the next look. a.mu is
// held.
func (a *account) dispatch() {
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
	for {
		next, wait := kinds, time.Duration(0)
		for k := range kinds {
			if len(a.waiting[k]) == 0 {
				continue
			}
			if d := a.earliest(k).Sub(a.now()); d <= 0 {
				next = k
				break
			} else if wait == 0 || d < wait {
				wait = d
			}
		}
		if next == kinds {
			if wait > 0 {
				a.timer = time.AfterFunc(wait, func() {
					a.mu.Lock()
					defer a.mu.Unlock()
					a.dispatch()
				})
			}
			return
		}
		w := a.waiting[next][0]
		a.waiting[next] = a.waiting[next][1:]
		now := a.now()
		a.writes = append(a.writes, spent{now, next})
		if a.booked {
			a.pending = append(a.pending, spent{now, next})
		}
		if next.comments() {
			a.saying = true
		}
		w.gone, w.at = true, now
		close(w.free)
	}
}

// earliest is when a write of kind k may go if nothing else goes before. a.mu is held.
func (a *account) earliest(k kind) time.Time {
	now := a.now()
	old := 0
	for old < len(a.writes) && now.Sub(a.writes[old].at) >= time.Hour+drift {
		old++
	}
	a.writes = append(a.writes[:0], a.writes[old:]...)
	at := a.until
	for _, w := range []struct {
		limit
		span time.Duration
	}{{minuteLimits[k], time.Minute + drift}, {hourLimits[k], time.Hour + drift}} {
		all, own := 0, 0
		for _, s := range slices.Backward(a.writes) { // until the one that has to leave the window first
			all++
			if s.kind == k {
				own++
			}
			if all == w.all || s.kind == k && own == w.own {
				at = latest(at, s.at.Add(w.span))
				break
			}
		}
	}
	switch {
	case !k.comments():
	case a.saying:
		at = latest(at, now.Add(spacing)) // at the earliest
	case !a.comment.IsZero():
		at = latest(at, a.comment.Add(spacing))
	}
	return at
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (a *account) idle() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.waiting {
		if len(w) > 0 {
			return false
		}
	}
	n := len(a.writes)
	return !a.saying && (n == 0 || a.now().Sub(a.writes[n-1].at) >= time.Hour+drift) && !a.until.After(a.now())
}
