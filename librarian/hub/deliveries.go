package hub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/go-github/v66/github"

	"github.com/librarian-app/librarian/librarian"
)

// MissedDeliveries asks GitHub again for deliveries that failed, once each: GitHub does not do that by itself. See
// https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries.
type MissedDeliveries struct {
	Hub *Hub
	// Asked remembers what was asked for; nil: this process does. GitHub's own list tells of redeliveries too, so that a restart
	// asks for nothing twice unless it happens within the moment between the two.
	Asked Asked
	// Ready reports whether deliveries can be taken now; nil: they can. Until then nothing is asked for, since what fails once more is lost.
	Ready func(context.Context) error
	Every time.Duration // between two looks; 0 means 5 minutes
	Since time.Duration // how far back; 0 means 3 days, as long as GitHub can deliver again
}

// Asked remembers deliveries, by their GUID.
type Asked interface {
	// Remember notes a delivery; fresh is false when it was noted before.
	Remember(ctx context.Context, guid string) (fresh bool, err error)
}

// Bounds of one look.
const (
	deliveriesPage = 100
	deliveryPages  = 100 // 10,000 deliveries: those before them are left to the next look, or to nobody
	maxAgain       = 500 // deliveries asked for in one look
	againSpacing   = 20 * time.Millisecond
)

// Run looks at once, and then again and again until ctx ends. What goes wrong is logged and tried at the next look.
func (m *MissedDeliveries) Run(ctx context.Context) {
	every, since := m.Every, m.Since
	if every <= 0 {
		every = 5 * time.Minute
	}
	if since <= 0 {
		since = 72 * time.Hour
	}
	asked := m.Asked
	if asked == nil {
		asked = memory{}
	}
	for {
		n, err := 0, error(nil)
		if m.Ready != nil {
			err = m.Ready(ctx)
		}
		if err == nil {
			n, err = m.Hub.redeliver(ctx, m.Hub.now().Add(-since), asked)
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			m.Hub.log.Warn("hub: missed deliveries", "asked", n, "err", err)
		case n > 0:
			m.Hub.log.Info("hub: asked again for deliveries that failed", "asked", n)
		}
		wait := every
		if limit, ok := errors.AsType[*librarian.RateLimitError](err); ok {
			wait = max(wait, limit.After)
		}
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return
		}
	}
}

// memory is an Asked for one goroutine.
type memory map[string]bool

func (m memory) Remember(_ context.Context, guid string) (bool, error) {
	fresh := !m[guid]
	if len(m) > 100_000 { // more than days of failures; what is forgotten stands in GitHub's list
		clear(m)
	}
	m[guid] = true
	return fresh, nil
}

func (h *Hub) redeliver(ctx context.Context, since time.Time, asked Asked) (n int, err error) {
	failures, err := h.FailedDeliveries(ctx, since)
	if err != nil {
		return 0, err
	}
	for _, d := range failures {
		if n == maxAgain {
			return n, nil
		}
		fresh, err := asked.Remember(ctx, d.GUID) // before it is done: rather lost than twice
		if err != nil {
			return n, fmt.Errorf("hub: missed deliveries: %w", err)
		}
		if !fresh {
			continue
		}
		if err := h.Redeliver(ctx, d.ID); err != nil {
			if errors.Is(err, librarian.ErrNotFound) { // too old by now
				continue
			}
			return n, err
		}
		n++
		if !sleep(ctx, againSpacing) {
			return n, ctx.Err()
		}
	}
	return n, nil
}

// FailedDelivery is a delivery that never succeeded and was not yet asked for again.
type FailedDelivery struct {
	ID     int64  // of the attempt, for Redeliver
	GUID   string // of the delivery, as X-GitHub-Delivery says it
	Event  string
	Action string
	At     time.Time
	Status int // what we answered with; 0: nothing
}

// FailedDeliveries lists the deliveries since a time of which no attempt was answered with a 2xx and that GitHub was not yet
// asked to make again, the oldest first: in that order they were to come.
func (h *Hub) FailedDeliveries(ctx context.Context, since time.Time) ([]FailedDelivery, error) {
	if h.app == nil {
		return nil, errNoApp("deliveries")
	}
	settled := map[string]bool{}
	var failures []FailedDelivery
	opts := &github.ListCursorOptions{PerPage: deliveriesPage}
	for range deliveryPages {
		list, resp, err := h.app.Apps.ListHookDeliveries(ctx, opts)
		if err != nil {
			return nil, failed("deliveries", err)
		}
		old := false
		for _, d := range list { // the newest first
			if d.GetDeliveredAt().Before(since) {
				old = true
				break
			}
			ok := d.GetStatusCode() >= http.StatusOK && d.GetStatusCode() < http.StatusMultipleChoices
			if ok || d.GetRedelivery() {
				settled[d.GetGUID()] = true
				continue
			}
			if settled[d.GetGUID()] || d.GetGUID() == "" {
				continue
			}
			settled[d.GetGUID()] = true
			failures = append(failures, FailedDelivery{ID: d.GetID(), GUID: d.GetGUID(), Event: d.GetEvent(), Action: d.GetAction(),
				At: d.GetDeliveredAt().Time, Status: d.GetStatusCode()})
		}
		if old || resp.Cursor == "" {
			break
		}
		opts.Cursor = resp.Cursor
	}
	slices.Reverse(failures)
	return failures, nil
}

// Redeliver asks GitHub to make a delivery again. One that GitHub has no more is [librarian.ErrNotFound].
func (h *Hub) Redeliver(ctx context.Context, id int64) error {
	if h.app == nil {
		return errNoApp("redeliver")
	}
	_, _, err := h.app.Apps.RedeliverHookDelivery(ctx, id)
	if _, accepted := errors.AsType[*github.AcceptedError](err); accepted {
		return nil
	}
	return failed("redeliver", err)
}
