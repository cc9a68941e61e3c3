package model

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Retry says how failures that pass are waited out: 408, 409, 429, 5xx, 529, broken and silent streams. The SDKs' own
// retries are off. Text that was streamed before a failure is streamed again.
type Retry struct {
	First   time.Duration // wait after the first failure, doubled each time; 1 s
	Longest time.Duration // the longest wait that we choose; 30 s
	Total   time.Duration // no attempt is begun later than this after the first; 3 min
	Most    int           // attempts; 8
}

func (r Retry) withDefaults() Retry {
	if r.First <= 0 {
		r.First = time.Second
	}
	if r.Longest <= 0 {
		r.Longest = 30 * time.Second
	}
	if r.Total <= 0 {
		r.Total = 3 * time.Minute
	}
	if r.Most <= 0 {
		r.Most = 8
	}
	return r
}

// failure is an error on its way through the retries.
type failure struct {
	e     *Error
	retry bool
	few   bool // more than a few attempts would only keep the asker waiting
}

// fewAttempts are made where nobody listens at all: a wrong address is likelier than a restart that takes minutes.
const fewAttempts = 3

func (f *failure) Error() string { return f.e.Error() }

// do calls f until it succeeds, fails for good, or time or attempts are over. A provider that says how long to wait is
// waited for as told; if that is longer than what is left, the failure is returned at once, with the time in it.
func (r Retry) do(ctx context.Context, log *slog.Logger, f func() (Reply, error)) (Reply, error) {
	began := time.Now()
	wait := r.First
	for attempt := 1; ; attempt++ {
		reply, err := f()
		var fail *failure
		if err == nil || !errors.As(err, &fail) || !fail.retry || attempt >= r.Most || fail.few && attempt >= fewAttempts {
			return reply, err
		}
		pause := time.Duration(float64(wait) * (0.8 + 0.4*rand.Float64()))
		if fail.e.RetryAfter > 0 {
			pause = fail.e.RetryAfter
		}
		if time.Since(began)+pause > r.Total {
			return Reply{}, err
		}
		log.Warn("the provider failed; trying again", "attempt", attempt, "kind", string(fail.e.Kind), "status", fail.e.Status, "after", pause)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return Reply{}, context.Cause(ctx)
		case <-timer.C:
		}
		wait = min(2*wait, r.Longest)
	}
}

// statusFailure is what an HTTP status alone says.
func statusFailure(status int, message string, header http.Header) *failure {
	f := &failure{e: &Error{Status: status, Message: message, RetryAfter: retryAfter(header)}}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusPaymentRequired:
		f.e.Kind = ErrAuth
	case status == http.StatusRequestEntityTooLarge:
		f.e.Kind = ErrTooLong
	case status == http.StatusTooManyRequests:
		f.e.Kind, f.retry = ErrRateLimited, true
	case status == http.StatusRequestTimeout || status == http.StatusConflict || status >= 500:
		f.e.Kind, f.retry = ErrOverloaded, true
	default:
		f.e.Kind = ErrInvalid
	}
	return f
}

// retryAfter reads how long to wait: milliseconds first (both providers send them), then RFC 9110's seconds or date.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return min(time.Duration(ms*float64(time.Millisecond)), time.Hour)
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return min(time.Duration(s*float64(time.Second)), time.Hour)
	}
	if t, err := http.ParseTime(v); err == nil {
		return min(max(time.Until(t), 0), time.Hour)
	}
	return 0
}

// unreachable reports whether err says that no connection came about.
func unreachable(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// untrusted reports whether err is a certificate that is not to be trusted, which no retry mends.
func untrusted(err error) bool {
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}
