package handlers

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/palantir/go-githubapp/githubapp"

	"github.com/librarian-app/librarian/librarian"
)

// Limits of a delivery.
const (
	MaxPayload         = 25 << 20 // bytes; GitHub sends no more (https://docs.github.com/en/webhooks/webhook-events-and-payloads)
	DefaultReadTimeout = 10 * time.Second

	smallPayload  = 1 << 20 // bytes; a larger body waits for one of bigPayloads places, so that memory stays bounded
	bigPayloads   = 2
	maxKeptBuffer = 256 << 10 // bytes of a buffer that is used again
)

// Enqueuer makes a request durable. When it returns nil, the request survives a crash; the same delivery or the same
// request given again is no error and starts nothing.
type Enqueuer interface {
	Enqueue(ctx context.Context, d librarian.Delivery, r librarian.Request) error
}

// Installations is told what happens to the App's installations. An error makes the delivery fail, to be sent again.
type Installations interface {
	Changed(ctx context.Context, c InstallationChange) error
}

// Options of a webhook. Secret, AppID, Names, Host and Enqueuer are required.
type Options struct {
	Secret        string // of the App's webhook
	AppID         int64
	BotID         int64         // user id of the App's own bot account; 0 if not known
	Names         []string      // the App's slug, and its alias
	Host          string        // of GitHub, as in repository ids
	AllowBots     []int64       // user ids of the bots whose requests are passed on, marked as a bot's
	Enqueuer      Enqueuer      //
	Installations Installations // may be nil
	Label         string        // that asks when it is put on an issue or pull request; empty: none does
	Events        []EventRule   // questions that repositories ask by themselves
	Log           *slog.Logger  // nil: slog.Default()
	ReadTimeout   time.Duration // for a request's body; 0: DefaultReadTimeout
	Now           func() time.Time
}

// errMalformed marks a payload that cannot be what GitHub sends. Sending it again would not help.
var errMalformed = errors.New("malformed payload")

// Webhook is the App's webhook: a guard that checks size, form and signature and lets nearly everything that does not
// concern us end there, before go-githubapp's dispatcher and its inline scheduler.
type Webhook struct {
	options    Options
	secret     []byte
	handled    []string
	words      map[string][][]byte // see wakingWords
	dispatcher http.Handler
	buffers    sync.Pool
	big        chan struct{}
}

// NewWebhook makes the webhook. It refuses to work without a secret, since anybody could then speak as GitHub.
func NewWebhook(o Options) (*Webhook, error) {
	o.Names = cleanNames(o.Names)
	switch {
	case o.Secret == "":
		return nil, errors.New("handlers: the webhook secret is empty")
	case o.AppID <= 0:
		return nil, errors.New("handlers: the App id is missing")
	case len(o.Names) == 0:
		return nil, errors.New("handlers: the App has no name to be mentioned by")
	case o.Host == "":
		return nil, errors.New("handlers: the GitHub host is missing")
	case o.Enqueuer == nil:
		return nil, errors.New("handlers: there is no queue")
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.ReadTimeout <= 0 {
		o.ReadTimeout = DefaultReadTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	h := &Webhook{options: o, secret: []byte(o.Secret), big: make(chan struct{}, bigPayloads)}
	h.buffers.New = func() any { return new(bytes.Buffer) }
	rules, err := readRules(o.Events)
	if err != nil {
		return nil, err
	}
	h.words = wakingWords(o)
	asks := &asker{o, rules}
	events := []githubapp.EventHandler{
		&issueComment{asks}, &issues{asks}, &pullRequest{asks}, &pullRequestReview{asks}, &pullRequestReviewComment{asks},
		&discussions{asks}, &discussionComment{asks}, &repositoryDispatch{asks},
		&installation{o}, &installationRepositories{o}, &repositories{o}, ping{},
	}
	for _, e := range events {
		for _, name := range e.Handles() {
			if slices.Contains(h.handled, name) { // the dispatcher would drop the later one in silence
				return nil, fmt.Errorf("handlers: two handlers for %s", name)
			}
			h.handled = append(h.handled, name)
		}
	}
	// The dispatcher gets no secret, and requests without a signature: it would check once more what ServeHTTP, the only way to
	// it, has checked more strictly.
	h.dispatcher = githubapp.NewEventDispatcher(events, "", githubapp.WithErrorCallback(h.failed))
	return h, nil
}

var signature = regexp.MustCompile(`^sha256=[0-9a-f]{64}$`)

// ServeHTTP answers one delivery: 200 when it was handled or does not concern us, 202 for an event that nobody handles, 4xx
// for what GitHub would not send, 500 when it could not be made durable, so that GitHub shows it as failed and it can be
// sent again.
func (h *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(p)
			}
			h.log(r).Error("panic in a webhook handler", "panic", fmt.Sprint(p))
			http.Error(w, "internal error", http.StatusInternalServerError)
		}
	}()
	if code, why := h.refuse(r); code != 0 {
		h.reject(w, r, code, why)
		return
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(h.options.ReadTimeout)) // fails only where no connection is behind w
	buf := h.buffers.Get().(*bytes.Buffer)
	defer func() {
		if buf.Cap() <= maxKeptBuffer {
			buf.Reset()
			h.buffers.Put(buf)
		}
	}()
	release, err := h.read(buf, r)
	defer release()
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		h.reject(w, r, http.StatusRequestEntityTooLarge, "payload is larger than 25 MiB")
		return
	} else if err != nil {
		h.reject(w, r, http.StatusRequestTimeout, "payload could not be read in time")
		return
	}
	_ = control.SetReadDeadline(time.Time{}) // or it would cancel a slow Enqueue
	body := buf.Bytes()
	if !h.signed(r.Header.Get("X-Hub-Signature-256"), body) {
		h.reject(w, r, http.StatusUnauthorized, "signature does not match")
		return
	}
	if b := bytes.TrimSpace(body); len(b) < 2 || b[0] != '{' || b[len(b)-1] != '}' {
		h.reject(w, r, http.StatusBadRequest, "payload is not a JSON object")
		return
	}
	event := r.Header.Get("X-GitHub-Event")
	switch {
	case !slices.Contains(h.handled, event):
		w.WriteHeader(http.StatusAccepted)
		return
	case !h.concerns(event, body):
		w.WriteHeader(http.StatusOK)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(essence(event, body))) // of which the dispatcher makes a copy
	r.Header.Del("X-Hub-Signature-256")
	r.Header.Del("X-Hub-Signature")
	h.dispatcher.ServeHTTP(w, r)
}

// refuse looks at what can be seen before the body is read.
func (h *Webhook) refuse(r *http.Request) (code int, why string) {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "deliveries are sent by POST"
	case r.ContentLength > MaxPayload:
		return http.StatusRequestEntityTooLarge, "payload is larger than 25 MiB"
	case err != nil || media != "application/json":
		return http.StatusUnsupportedMediaType, "set the webhook's content type to application/json"
	case r.Header.Get("X-GitHub-Event") == "":
		return http.StatusBadRequest, "X-GitHub-Event is missing"
	case r.Header.Get("X-Hub-Signature-256") == "":
		return http.StatusUnauthorized, "X-Hub-Signature-256 is missing"
	case !signature.MatchString(r.Header.Get("X-Hub-Signature-256")):
		return http.StatusUnauthorized, "X-Hub-Signature-256 is not a SHA-256 signature"
	}
	return 0, ""
}

// read reads the body into buf. A large one first waits for its turn; release gives that back.
func (h *Webhook) read(buf *bytes.Buffer, r *http.Request) (release func(), err error) {
	release = func() {}
	body := http.MaxBytesReader(nil, r.Body, MaxPayload)
	if n := r.ContentLength; n > 0 && n <= smallPayload {
		buf.Grow(int(n) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(body, smallPayload+1))
	if err != nil || n <= smallPayload {
		return release, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.options.ReadTimeout)
	defer cancel()
	select {
	case h.big <- struct{}{}:
		release = func() { <-h.big }
	case <-ctx.Done():
		return release, ctx.Err()
	}
	_, err = buf.ReadFrom(body)
	return release, err
}

// signed checks the signature of a webhook delivery: it must be the HMAC-SHA256 of the body under the secret that only GitHub
// and we know. They are compared in constant time, so that how long it takes tells nothing.
func (h *Webhook) signed(header string, body []byte) bool {
	want, err := hex.DecodeString(header[len("sha256="):])
	mac := hmac.New(sha256.New, h.secret)
	mac.Write(body)
	return err == nil && hmac.Equal(mac.Sum(nil), want)
}

func (h *Webhook) reject(w http.ResponseWriter, r *http.Request, code int, why string) {
	h.log(r).Warn("webhook delivery refused", "status", code, "reason", why)
	if code == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodPost)
	}
	if code == http.StatusRequestEntityTooLarge || code == http.StatusRequestTimeout {
		w.Header().Set("Connection", "close") // the rest of the body is not read
	}
	http.Error(w, why, code)
}

// failed answers for a handler that returned an error.
func (h *Webhook) failed(w http.ResponseWriter, r *http.Request, err error) {
	var invalid githubapp.ValidationError
	if errors.As(err, &invalid) || errors.Is(err, errMalformed) {
		h.reject(w, r, http.StatusBadRequest, "payload is not what this event sends")
		return
	}
	h.log(r).Error("webhook delivery failed", "error", err)
	http.Error(w, "could not be queued; send it again", http.StatusInternalServerError)
}

func (h *Webhook) log(r *http.Request) *slog.Logger {
	return h.options.Log.With("event", clipHeader(r, "X-GitHub-Event"), "delivery", clipHeader(r, "X-GitHub-Delivery"))
}

func clipHeader(r *http.Request, name string) string {
	v := r.Header.Get(name)
	return v[:min(len(v), 64)]
}
