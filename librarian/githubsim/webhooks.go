package githubsim

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	deliveryWorkers = 8                // deliveries under way at once; they start in the order of their events
	deliveryTimeout = 10 * time.Second // as GitHub's
	keepDeliveries  = 10_000
	keepResponse    = 64 << 10 // bytes of a receiver's answer that are kept
)

// Delivery is one attempt to hand an event to an App.
type Delivery struct {
	ID           int64
	GUID         string // the same for all attempts at one event
	AppID        int64
	Event        string
	Action       string
	Installation int64 // 0 when there is none
	Repository   int64 // 0 when there is none
	Redelivery   bool
	Created      time.Time
	Delivered    time.Time // when the attempt ended; zero while it has not
	Duration     time.Duration
	StatusCode   int    // of the answer; 0 when there was none
	Status       string // "OK", or what went wrong
	URL          string
	Payload      []byte
	Header       http.Header // of the request
	ReplyHeader  http.Header
	Reply        string // up to 64 KiB of it
}

// Sign is the value of X-Hub-Signature-256 for a payload.
func Sign(secret string, payload []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(payload)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

type hookQueue struct {
	mu      sync.Mutex
	change  *sync.Cond
	waiting []*Delivery
	running int
	log     []*Delivery // oldest first
	stopped bool
}

func (q *hookQueue) init() { q.change = sync.NewCond(&q.mu) }

func (q *hookQueue) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
	q.change.Broadcast()
}

func (q *hookQueue) put(d *Delivery) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.log) >= keepDeliveries {
		q.log = append(q.log[:0:0], q.log[keepDeliveries/2:]...)
	}
	q.log = append(q.log, d)
	q.waiting = append(q.waiting, d)
	q.change.Broadcast()
}

func (q *hookQueue) take() *Delivery {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 && !q.stopped {
		q.change.Wait()
	}
	if q.stopped {
		return nil
	}
	d := q.waiting[0]
	q.waiting = q.waiting[1:]
	q.running++
	return d
}

// send queues an event for an App. The server's lock is held.
func (s *Server) send(a *app, in *installation, r *repo, event string, payload object) *Delivery {
	if a.hookURL == "" {
		return nil
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		panic(err) // our own maps always marshal
	}
	d := &Delivery{ID: s.world.id(), GUID: newGUID(), AppID: a.ID, Event: event, Created: s.now(), URL: a.hookURL, Payload: raw, Status: "pending"}
	d.Action, _ = payload["action"].(string)
	if in != nil {
		d.Installation = in.id
	}
	if r != nil {
		d.Repository = r.id
	}
	d.Header = http.Header{
		"Accept": {"*/*"}, "Content-Type": {"application/json"}, "User-Agent": {"GitHub-Hookshot/0000000"}, "X-Github-Event": {event},
		"X-Github-Delivery": {d.GUID}, "X-Github-Hook-Id": {strconv.FormatInt(a.hookID, 10)},
		"X-Github-Hook-Installation-Target-Id": {strconv.FormatInt(a.ID, 10)}, "X-Github-Hook-Installation-Target-Type": {"integration"},
		"X-Hub-Signature-256": {Sign(a.WebhookSecret, raw)}, "X-Hub-Signature": {sha1Signature(a.WebhookSecret, raw)},
	}
	s.hooks.put(d)
	return d
}

func sha1Signature(secret string, payload []byte) string {
	mac := hmac.New(sha1.New, []byte(secret))
	mac.Write(payload)
	return "sha1=" + hex.EncodeToString(mac.Sum(nil))
}

func newGUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails: it ends the program instead
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// deliverAll works the queue off until ctx ends.
func (s *Server) deliverAll(ctx context.Context) {
	for {
		d := s.hooks.take()
		if d == nil {
			return
		}
		done := s.deliver(ctx, *d)
		s.hooks.mu.Lock()
		*d = done
		s.hooks.running--
		s.hooks.change.Broadcast()
		s.hooks.mu.Unlock()
	}
}

// deliver makes one attempt and fills in how it went.
func (s *Server) deliver(ctx context.Context, d Delivery) (done Delivery) {
	started := time.Now()
	ctx, cancel := context.WithTimeout(ctx, deliveryTimeout)
	defer cancel()
	defer func() {
		done.Duration, done.Delivered = time.Since(started), s.now()
		s.log.Debug("githubsim: delivery", "event", done.Event, "action", done.Action, "guid", done.GUID, "status", done.StatusCode)
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, bytes.NewReader(d.Payload))
	if err != nil {
		d.Status = "invalid URL"
		return d
	}
	req.Header = d.Header.Clone()
	res, err := hookClient.Do(req)
	if err != nil {
		d.Status = "failed to connect to host"
		if errors.Is(err, context.DeadlineExceeded) {
			d.Status = "timed out"
		}
		return d
	}
	defer func() { _ = res.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(res.Body, keepResponse)) // a cut answer is still an answer
	d.StatusCode, d.ReplyHeader, d.Reply = res.StatusCode, res.Header, string(body)
	if d.Status = "OK"; res.StatusCode >= 400 {
		d.Status = "Invalid HTTP Response: " + strconv.Itoa(res.StatusCode)
	}
	return d
}

// hookClient follows no redirects, as GitHub's does not, and keeps enough connections for all workers.
var hookClient = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{MaxIdleConnsPerHost: deliveryWorkers, IdleConnTimeout: 5 * time.Second},
}

// SendEvent delivers any payload to an App as if an event had happened, and returns the delivery's GUID.
func (s *Server) SendEvent(a *App, event string, payload map[string]any) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, err := s.app(a)
	if err != nil {
		return "", fmt.Errorf("githubsim: send event: %w", err)
	}
	d := s.send(x, nil, nil, event, payload)
	if d == nil {
		return "", errors.New("githubsim: send event: the App has no webhook URL")
	}
	s.hooks.mu.Lock() // a worker may be writing down how it went
	defer s.hooks.mu.Unlock()
	return d.GUID, nil
}

// Deliveries lists the deliveries, oldest first: the last 5,000 at least.
func (s *Server) Deliveries() []Delivery {
	s.hooks.mu.Lock()
	defer s.hooks.mu.Unlock()
	list := make([]Delivery, len(s.hooks.log))
	for i, d := range s.hooks.log {
		list[i] = *d
	}
	return list
}

// Redeliver sends a delivery again, with its GUID and payload as they were, to the App's present URL.
func (s *Server) Redeliver(id int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.Deliveries() {
		if d.ID == id {
			s.sendAgain(d)
			return nil
		}
	}
	return fmt.Errorf("githubsim: redeliver %d: %w", id, ErrUnknown)
}

// sendAgain queues another attempt. The server's lock is held.
func (s *Server) sendAgain(d Delivery) {
	again := &Delivery{ID: s.world.id(), GUID: d.GUID, AppID: d.AppID, Event: d.Event, Action: d.Action, Installation: d.Installation,
		Repository: d.Repository, Redelivery: true, Created: s.now(), Status: "pending", URL: d.URL, Payload: d.Payload, Header: d.Header}
	for _, a := range s.world.apps {
		if a.ID == d.AppID {
			again.URL = a.hookURL
		}
	}
	s.hooks.put(again)
}

// WaitDeliveries returns when no delivery is waiting or under way.
func (s *Server) WaitDeliveries(ctx context.Context) error {
	defer context.AfterFunc(ctx, s.hooks.change.Broadcast)()
	s.hooks.mu.Lock()
	defer s.hooks.mu.Unlock()
	for len(s.hooks.waiting)+s.hooks.running > 0 {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("githubsim: wait for deliveries: %w", err)
		}
		s.hooks.change.Wait()
	}
	return nil
}
