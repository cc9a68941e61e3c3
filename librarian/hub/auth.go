package hub

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/golang-jwt/jwt/v4"
)

// tolerance is how far our clock may be off GitHub's without a word. ghinstallation dates a JWT 30 s back and has it end 90 s
// ahead, so it works with a clock up to 30 s fast and 90 s slow.
const tolerance = 10 * time.Second

// appAuth authenticates as the App, with a fresh JWT for each request. When GitHub refuses one while its Date and our clock
// disagree, the difference is kept for all JWTs from then on, logged, and the request is sent once more.
type appAuth struct {
	apps *ghinstallation.AppsTransport
	now  func() time.Time
	log  *slog.Logger
	skew *atomic.Int64 // nanoseconds to add to our clock
}

// skewedSigner dates what ghinstallation signs by GitHub's clock instead of the wall's.
type skewedSigner struct {
	sign ghinstallation.Signer
	now  func() time.Time
	skew *atomic.Int64
}

// Sign implements [ghinstallation.Signer].
func (s skewedSigner) Sign(claims jwt.Claims) (string, error) {
	c, ok := claims.(*jwt.RegisteredClaims)
	if !ok || c.IssuedAt == nil || c.ExpiresAt == nil {
		return s.sign.Sign(claims)
	}
	life := c.ExpiresAt.Sub(c.IssuedAt.Time)
	issued := s.now().Add(time.Duration(s.skew.Load()) - 30*time.Second).Truncate(time.Second)
	dated := *c
	dated.IssuedAt, dated.ExpiresAt = jwt.NewNumericDate(issued), jwt.NewNumericDate(issued.Add(life))
	return s.sign.Sign(&dated)
}

func newAppAuth(appID int64, pem []byte, next http.RoundTripper, now func() time.Time, log *slog.Logger) (*appAuth, error) {
	key, err := jwt.ParseRSAPrivateKeyFromPEM(pem)
	if err != nil {
		return nil, err
	}
	a := &appAuth{now: now, log: log, skew: new(atomic.Int64)}
	signer := skewedSigner{ghinstallation.NewRSASigner(jwt.SigningMethodRS256, key), now, a.skew}
	a.apps, err = ghinstallation.NewAppsTransportWithOptions(next, appID, ghinstallation.WithSigner(signer))
	return a, err
}

// clock is GitHub's clock, as far as we know it.
func (a *appAuth) clock() time.Time { return a.now().Add(time.Duration(a.skew.Load())) }

func (a *appAuth) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := a.apps.RoundTrip(clone(req)) // a clone, because it writes headers into what it is given
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	theirs, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil || theirs.Sub(a.clock()).Abs() <= tolerance {
		return resp, nil
	}
	skew := theirs.Sub(a.now())
	again, ok := rewind(req, req.URL)
	if !ok {
		return resp, nil
	}
	a.skew.Store(int64(skew))
	a.log.Warn("hub: our clock and GitHub's differ; JWTs are dated by theirs", "ours_is_behind_by", skew.Round(time.Second).String())
	drop(resp)
	return a.apps.RoundTrip(again)
}

// tokenAuth authenticates with tokens. It stands below the cache, so that an answer is found again under the next token.
type tokenAuth struct {
	token    func(context.Context) (Token, error)
	rejected func(Token) // nil: there is no other to be had
	host     endpoint
	next     http.RoundTripper
}

func (a *tokenAuth) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, t, err := a.send(clone(req))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusUnauthorized && a.rejected != nil {
		if again, ok := rewind(req, req.URL); ok {
			drop(resp)
			a.rejected(t)
			if resp, _, err = a.send(again); err != nil {
				return nil, err
			}
		}
	}
	if to := a.redirect(req, resp); to != nil {
		if again, ok := rewind(req, to); ok {
			drop(resp)
			resp, _, err = a.send(again)
		}
	}
	return resp, err
}

// tokenError is a request that was not sent for want of a token.
type tokenError struct{ err error }

func (e *tokenError) Error() string { return e.err.Error() }
func (e *tokenError) Unwrap() error { return e.err }

func (a *tokenAuth) send(req *http.Request) (*http.Response, Token, error) {
	t, err := a.token(req.Context())
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, t, &tokenError{err}
	}
	if !t.IsZero() {
		req.Header.Set("Authorization", "Bearer "+t.secret())
	}
	resp, err := a.next.RoundTrip(req)
	return resp, t, err
}

// redirect is where a write to a renamed repository is to be repeated verbatim, as GitHub asks for every kind of redirect; Go's
// client would make a GET of it. Nil for all else. See
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects.
func (a *tokenAuth) redirect(req *http.Request, resp *http.Response) *url.URL {
	if req.Method == http.MethodGet || req.Method == http.MethodHead {
		return nil
	}
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		if to, err := resp.Location(); err == nil && a.host.is(to) {
			return to
		}
	}
	return nil
}

// clone copies a request so that its headers can be changed.
func clone(req *http.Request) *http.Request {
	c := *req
	c.Header = req.Header.Clone()
	return &c
}

// rewind makes the request anew, to be sent a second time; ok is false when its body cannot be had again.
func rewind(req *http.Request, to *url.URL) (again *http.Request, ok bool) {
	again = clone(req)
	again.URL, again.Host = to, to.Host
	if req.Body == nil || req.Body == http.NoBody {
		return again, true
	}
	if req.GetBody == nil {
		return nil, false
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, false
	}
	again.Body = body
	return again, true
}

// drop ends an answer that is not used, so that its connection can be.
func drop(resp *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxErrorAnswer))
	_ = resp.Body.Close()
}
