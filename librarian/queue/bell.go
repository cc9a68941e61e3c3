package queue

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
)

// topicInsert is the topic on which River's producers hear of new jobs.
const topicInsert = "river_insert"

// bell tells the producers of this process of a new job once it is committed. River's own listener for SQLite asks the
// database each 50 ms over the one writing connection; since one process serves a SQLite store, it need not.
type bell struct {
	mu        sync.Mutex
	listeners map[*bellListener]struct{}
}

// ring announces new jobs of a kind. A listener that is behind misses nothing: one notice makes it fetch all there is.
func (b *bell) ring(kind string) {
	payload, _ := json.Marshal(map[string]string{"queue": kind})
	b.mu.Lock()
	defer b.mu.Unlock()
	for l := range b.listeners {
		select {
		case l.notices <- &riverdriver.Notification{Topic: topicInsert, Payload: string(payload)}:
		default:
		}
	}
}

// sqliteDriver is River's driver with the bell for its listener.
type sqliteDriver struct {
	*riversqlite.Driver
	bell *bell
}

// GetListener gives River a listener on the bell.
func (d *sqliteDriver) GetListener(p *riverdriver.GetListenenerParams) riverdriver.Listener {
	return &bellListener{bell: d.bell, schema: p.Schema, notices: make(chan *riverdriver.Notification, 64)}
}

type bellListener struct {
	bell    *bell
	schema  string
	notices chan *riverdriver.Notification
}

func (l *bellListener) Connect(context.Context) error {
	l.bell.mu.Lock()
	defer l.bell.mu.Unlock()
	if l.bell.listeners == nil {
		l.bell.listeners = map[*bellListener]struct{}{}
	}
	l.bell.listeners[l] = struct{}{}
	return nil
}

func (l *bellListener) Close(context.Context) error {
	l.bell.mu.Lock()
	defer l.bell.mu.Unlock()
	delete(l.bell.listeners, l)
	return nil
}

func (l *bellListener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	select {
	case n := <-l.notices:
		return n, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Topics are not told apart: there is one.
func (l *bellListener) Listen(context.Context, string) error   { return nil }
func (l *bellListener) Unlisten(context.Context, string) error { return nil }
func (l *bellListener) Ping(context.Context) error             { return nil }
func (l *bellListener) Schema() string                         { return l.schema }
func (l *bellListener) SetAfterConnectExec(string)             {}
