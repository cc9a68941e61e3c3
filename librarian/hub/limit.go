package hub

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

// Waiting when GitHub names no time, as its documentation asks: a minute, then longer each time.
const (
	untoldWait    = time.Minute
	maxUntoldWait = 15 * time.Minute
)

// allResources is the key under which a secondary limit is kept: it holds for every request.
const allResources = ""

// limits remembers, for one installation, until when GitHub wants no requests, so that they are not sent: GitHub bans
// clients that go on.
type limits struct {
	now func() time.Time

	mu     sync.Mutex
	until  map[string]time.Time // by resource, as x-ratelimit-resource names it
	untold int                  // secondary limits in a row that named no time
}

func newLimits(now func() time.Time) *limits { return &limits{now: now, until: map[string]time.Time{}} }

// blocked is the error for a request that may not be sent yet.
func (l *limits) blocked(req *http.Request) *librarian.RateLimitError {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range []string{allResources, resource(req)} {
		if after := l.until[key].Sub(l.now()); after > 0 {
			return &librarian.RateLimitError{After: after, Told: true, Err: errors.New("not sent: GitHub asked to wait")}
		}
	}
	return nil
}

// note learns from an answer. It returns an error if, and only if, the answer is a rate limit; what it reads of the
// body it puts back. The four forms are those of
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit.
func (l *limits) note(req *http.Request, resp *http.Response) *librarian.RateLimitError {
	l.mu.Lock()
	defer l.mu.Unlock()
	if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusTooManyRequests {
		if graphLimited(req, resp) {
			after := max(untilReset(resp.Header, l.now()), time.Second)
			l.until[resource(req)] = l.now().Add(after)
			return &librarian.RateLimitError{After: after, Told: true, Err: &refusal{resp.StatusCode, "RATE_LIMITED"}}
		}
		if resp.StatusCode < http.StatusBadRequest {
			l.untold = 0
		}
		return nil
	}
	message := peekMessage(resp)
	key, after, told := allResources, time.Duration(0), true
	switch retry, ok := retryAfter(resp.Header, l.now()); {
	case ok:
		after = retry
	case resp.Header.Get("X-Ratelimit-Remaining") == "0":
		key = resp.Header.Get("X-Ratelimit-Resource")
		if key == "" {
			key = resource(req)
		}
		after = untilReset(resp.Header, l.now())
	case resp.StatusCode == http.StatusTooManyRequests || secondary(message):
		after, told = untoldWait<<min(l.untold, 4), false
		after = min(after, maxUntoldWait)
		l.untold++
	default:
		return nil // a plain refusal
	}
	after = max(after, time.Second)
	l.until[key] = l.now().Add(after)
	return &librarian.RateLimitError{After: after, Told: told, Err: &refusal{resp.StatusCode, message}}
}

// refusal is GitHub's answer to a request over a limit.
type refusal struct {
	status  int
	message string
}

func (r *refusal) Error() string { return strconv.Itoa(r.status) + " " + r.message }

func secondary(message string) bool {
	m := strings.ToLower(message)
	return strings.Contains(m, "secondary rate limit") || strings.Contains(m, "abuse detection")
}

// resource is the limit that a request counts against.
// See https://docs.github.com/en/rest/rate-limit/rate-limit#get-rate-limit-status-for-the-authenticated-user.
func resource(req *http.Request) string {
	switch {
	case isGraph(req):
		return "graphql"
	case strings.HasSuffix(req.URL.Path, "/search/code"):
		return "code_search"
	case strings.Contains(req.URL.Path, "/search/"):
		return "search"
	}
	return "core"
}

// retryAfter reads both forms of the header, seconds and date (RFC 9110, section 10.2.3).
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0, false
	}
	if n, err := strconv.Atoi(v); err == nil && n >= 0 {
		return time.Duration(min(n, 24*3600)) * time.Second, true
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0, false
	}
	return at.Sub(serverTime(h, now)), true
}

func untilReset(h http.Header, now time.Time) time.Duration {
	reset, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64)
	if err != nil {
		return untoldWait
	}
	return min(time.Unix(reset, 0).Sub(serverTime(h, now)), 2*time.Hour) + time.Second // the difference may be the longest there is
}

// serverTime is the answer's Date: times that GitHub names are by its clock.
func serverTime(h http.Header, now time.Time) time.Time {
	if t, err := http.ParseTime(h.Get("Date")); err == nil {
		return t
	}
	return now
}

func peekMessage(resp *http.Response) string {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorAnswer))
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var e struct {
		Message string `json:"message"`
	}
	if err != nil || json.Unmarshal(body, &e) != nil {
		return http.StatusText(resp.StatusCode)
	}
	if len(e.Message) > 300 {
		e.Message = strings.ToValidUTF8(e.Message[:300], "") + "…"
	}
	return e.Message
}
