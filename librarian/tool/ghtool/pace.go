package ghtool

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Pace lets at most N calls begin in any Per, and shares them between runs: of those that wait, the run with the fewest calls in the
// last Per goes first, then the one that came first. It is meant for GitHub's code search, 10 a minute
// (https://docs.github.com/rest/search/search#rate-limit). The zero value of Now means time.Now. Its fields are set before
// its first use.
type Pace struct {
	N   int
	Per time.Duration
	Now func() time.Time

	mu      sync.Mutex
	begun   []turn // in the last Per, oldest first
	waiting []*turn
}

// turn is a call that began, or waits to.
type turn struct {
	run   string
	at    time.Time
	again chan struct{} // closed when it may look again
}

// Wait returns when a call of run may begin, and how long that took.
func (p *Pace) Wait(ctx context.Context, run string) (time.Duration, error) {
	now := p.Now
	if now == nil {
		now = time.Now
	}
	came := now()
	me := &turn{run: run, again: make(chan struct{}, 1)}
	p.mu.Lock()
	p.waiting = append(p.waiting, me)
	for {
		at := now()
		p.begun = slices.DeleteFunc(p.begun, func(t turn) bool { return at.Sub(t.at) >= p.Per })
		if len(p.begun) < p.N && p.next() == me {
			p.leave(me)
			p.begun = append(p.begun, turn{run: run, at: at})
			p.wake()
			p.mu.Unlock()
			return at.Sub(came), nil
		}
		pause := p.Per
		if len(p.begun) > 0 {
			pause = p.begun[0].at.Add(p.Per).Sub(at)
		}
		p.mu.Unlock()
		timer := time.NewTimer(max(pause, time.Millisecond))
		select {
		case <-ctx.Done():
			timer.Stop()
			p.mu.Lock()
			p.leave(me)
			p.wake()
			p.mu.Unlock()
			return 0, ctx.Err()
		case <-me.again:
			timer.Stop()
		case <-timer.C:
		}
		p.mu.Lock()
	}
}

// next is the one that may go. p.mu is held, and somebody waits.
func (p *Pace) next() *turn {
	return slices.MinFunc(p.waiting, func(a, b *turn) int { return p.used(a.run) - p.used(b.run) })
}

func (p *Pace) used(run string) int {
	n := 0
	for _, t := range p.begun {
		if t.run == run {
			n++
		}
	}
	return n
}

func (p *Pace) leave(t *turn) {
	p.waiting = slices.DeleteFunc(p.waiting, func(w *turn) bool { return w == t })
}

// wake lets those that wait look again whose turn it is.
func (p *Pace) wake() {
	for _, w := range p.waiting {
		select {
		case w.again <- struct{}{}:
		default:
		}
	}
}
