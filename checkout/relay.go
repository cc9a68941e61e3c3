package checkout

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// relay stands between git and the git host. Git speaks to it on 127.0.0.1; it
// speaks to the host and adds the Authorization. So no git process, and
// nothing that a git process could be made to start, ever holds a token: what
// git is given, through its environment, is a pass that is good for one
// command. The relay is also where the rules of the network are kept: allowed
// hosts only, addresses checked after resolution and dialled as checked, no
// redirect followed, bytes counted and bounded, stalls ended, and an answer
// that is not git's smart protocol refused before git sees it.
type relay struct {
	hosts    hostRules
	stall    time.Duration // longest silence of the host
	listener net.Listener
	server   *http.Server
	direct   *http.Client // dials addresses that were checked
	proxied  *http.Client // by way of a proxy, which resolves for itself
	proxy    func(*http.Request) (*url.URL, error)

	mu      sync.Mutex
	passes  map[string]*pass
	adverts map[string]*advert // see advert.go
}

const (
	uploadPackResult = "application/x-git-upload-pack-result"
	userAgent        = "git/librarian" // some hosts give other agents their web pages
)

// pass admits one git command to one repository.
type pass struct {
	relay  *relay
	ctx    context.Context
	id     string // in the URL, no secret
	token  string // in a header that git is given by environment
	repo   Repo
	secret Secret
	limit  int64 // bytes that may come from the host

	mu       sync.Mutex
	bytes    int64
	requests int64
	err      error // the first fault, which explains git's own
}

func newRelay(ctx context.Context, hosts hostRules, caFile string, proxy func(*http.Request) (*url.URL, error), stall time.Duration) (*relay, error) {
	tlsConfig := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, fmt.Errorf("CA file: %w", err)
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("CA file %s holds no certificate", caFile)
		}
		tlsConfig.RootCAs = pool
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{hosts: hosts, stall: stall, listener: ln, proxy: proxy, passes: map[string]*pass{}, adverts: map[string]*advert{}}
	client := func(t *http.Transport) *http.Client {
		t.TLSClientConfig, t.ForceAttemptHTTP2, t.DisableCompression = tlsConfig.Clone(), true, true
		t.TLSHandshakeTimeout, t.ResponseHeaderTimeout, t.IdleConnTimeout = 15*time.Second, stall, 30*time.Second
		t.MaxResponseHeaderBytes, t.MaxIdleConnsPerHost = 64<<10, 4
		return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	// The address of a host behind a proxy is the proxy's to find, and which hosts it reaches the operator's to say, who set it.
	r.direct = client(&http.Transport{DialContext: hosts.dial})
	r.proxied = client(&http.Transport{DialContext: (&net.Dialer{Timeout: 15 * time.Second}).DialContext, Proxy: proxy})
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 32 << 10}
	go func() { _ = r.server.Serve(ln) }()
	return r, nil
}

func (r *relay) close() error {
	err := r.server.Close()
	r.direct.CloseIdleConnections()
	r.proxied.CloseIdleConnections()
	return err
}

// admit makes a pass for one git command. Its end method must be called.
func (r *relay) admit(ctx context.Context, repo Repo, cred Credentials, limit int64) (*pass, error) {
	p := &pass{relay: r, ctx: ctx, id: randomHex(8), token: randomHex(24), repo: repo, limit: limit}
	if cred != nil {
		var err error
		if p.secret, err = cred(ctx); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	r.passes[p.id] = p
	r.mu.Unlock()
	return p, nil
}

// end makes the pass void.
func (p *pass) end() {
	p.relay.mu.Lock()
	delete(p.relay.passes, p.id)
	p.relay.mu.Unlock()
}

// config is what git must be told to go through the relay: the URL of a remote
// named origin, and the pass, scoped to that URL.
func (p *pass) config() []string {
	base := "http://" + p.relay.listener.Addr().String() + "/" + p.id
	return []string{
		"remote.origin.url=" + base,
		"http." + base + ".extraHeader=X-Checkout-Pass: " + p.token,
	}
}

// scrub removes every secret of this pass from text.
func (p *pass) scrub(text string) string {
	text = strings.ReplaceAll(text, p.token, redacted)
	text = strings.ReplaceAll(text, "http://"+p.relay.listener.Addr().String()+"/"+p.id, p.repo.URL)
	return p.secret.scrub(text)
}

// fault notes why the pass failed; the first reason stays.
func (p *pass) fault(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}

func (p *pass) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// ServeHTTP passes one request of git on to its host.
func (r *relay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	id, rest, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/"), "/")
	r.mu.Lock()
	p := r.passes[id]
	r.mu.Unlock()
	if p == nil || subtle.ConstantTimeCompare([]byte(req.Header.Get("X-Checkout-Pass")), []byte(p.token)) != 1 {
		http.Error(w, "no such pass", http.StatusForbidden)
		return
	}
	var want string
	switch {
	case req.Method == http.MethodGet && rest == "info/refs" && req.URL.RawQuery == "service=git-upload-pack":
		want = advertType
	case req.Method == http.MethodPost && rest == "git-upload-pack" && req.URL.RawQuery == "":
		want = uploadPackResult
	default:
		p.fault(&RefusedError{Repo: p.repo.Name, Reason: "is not served by git's smart protocol"})
		http.Error(w, "not git's smart protocol", http.StatusForbidden)
		return
	}
	answer := func() error { return p.forward(w, req, rest, want) }
	if want == advertType && req.Header.Get("Git-Protocol") == "version=2" {
		answer = func() error { return p.advertise(w, req) }
	}
	if err := answer(); err != nil {
		if req.Context().Err() != nil && p.ctx.Err() == nil {
			return // git went away, and that ended the request; its own end says why
		}
		p.fault(err)
		if errors.Is(err, errCut) {
			panic(http.ErrAbortHandler) // the answer has begun: only a cut connection says that it is not whole
		}
		http.Error(w, "relay: refused", http.StatusBadGateway)
	}
}

// errCut marks faults that came after the answer had begun.
var errCut = errors.New("cut")

type cutError struct{ error }

func (e cutError) Is(target error) bool { return target == errCut }
func (e cutError) Unwrap() error        { return e.error }

// forward sends one request to the host and its answer back.
func (p *pass) forward(w http.ResponseWriter, req *http.Request, rest, wantType string) error {
	ctx, cancel := context.WithCancelCause(p.ctx)
	defer cancel(nil)
	stop := context.AfterFunc(req.Context(), func() { cancel(context.Canceled) })
	defer stop()
	if req.URL.RawQuery != "" {
		rest += "?" + req.URL.RawQuery
	}
	out, err := http.NewRequestWithContext(ctx, req.Method, strings.TrimSuffix(p.repo.URL, "/")+"/"+rest, nil)
	if err != nil {
		return err
	}
	if req.Method == http.MethodPost {
		out.Body, out.ContentLength = req.Body, req.ContentLength
	}
	for _, h := range []string{"Accept", "Accept-Encoding", "Content-Type", "Content-Encoding", "Git-Protocol"} {
		if v := req.Header.Get(h); v != "" {
			out.Header.Set(h, v)
		}
	}
	resp, err := p.send(out, wantType)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	for _, h := range []string{"Content-Type", "Content-Encoding", "Cache-Control"} {
		if v := resp.Header.Get(h); v != "" {
			w.Header().Set(h, v)
		}
	}
	w.WriteHeader(http.StatusOK)
	if err := p.copy(ctx, cancel, w, resp.Body); err != nil {
		return cutError{err}
	}
	return nil
}

// send sends one request to the host: to an allowed one only, and with the
// Authorization. The answer is git's, or it is an error.
func (p *pass) send(req *http.Request, wantType string) (*http.Response, error) {
	if err := p.relay.hosts.check(req.URL); err != nil {
		return nil, &RefusedError{Repo: p.repo.Name, Reason: err.Error()}
	}
	req.Header.Set("User-Agent", userAgent)
	if !p.secret.IsZero() {
		req.Header.Set("Authorization", p.secret.header)
	}
	p.mu.Lock()
	p.requests++
	p.mu.Unlock()
	client := p.relay.direct
	if to, err := p.relay.proxy(req); err != nil {
		// The cause's text may hold the proxy's URL, and that a password.
		return nil, &UpstreamError{Repo: p.repo.Name, Reason: "the host could not be reached: the proxy's URL in the environment (HTTPS_PROXY) is malformed"}
	} else if to != nil {
		client = p.relay.proxied
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, p.unreachable(err)
	}
	if err := p.judge(resp, wantType); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// judge turns an answer that is not git's into the error that explains it.
func (p *pass) judge(resp *http.Response, wantType string) error {
	name := p.repo.Name
	switch code := resp.StatusCode; {
	case code == http.StatusOK:
		if got := resp.Header.Get("Content-Type"); got != wantType {
			return &UpstreamError{Repo: name, Status: code, Reason: "the host's answer is not git's"}
		}
		return nil
	case code == http.StatusForbidden && resp.Header.Get("Retry-After") == "",
		code == http.StatusUnauthorized, code == http.StatusNotFound, code == http.StatusGone,
		code == http.StatusUnavailableForLegalReasons:
		return &NotFoundError{Repo: name}
	case code >= 300 && code < 400:
		return &UpstreamError{Repo: name, Status: code,
			Reason: "the host answered with a redirect, which is not followed; the repository may have been renamed"}
	default:
		e := &UpstreamError{Repo: name, Status: code, Reason: fmt.Sprintf("the host answered %d", code)}
		if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 && s < 24*3600 {
			e.RetryAfter = time.Duration(s) * time.Second
		}
		return e
	}
}

// unreachable explains a request that got no answer. The cause's text may hold
// the URL, which holds no secret; it is left out all the same.
func (p *pass) unreachable(err error) error {
	var ee *egressError
	var ne net.Error
	switch {
	case p.ctx.Err() != nil:
		return context.Cause(p.ctx)
	case errors.As(err, &ee):
		return &RefusedError{Repo: p.repo.Name, Reason: ee.Error()}
	case errors.As(err, &ne) && ne.Timeout():
		return &UpstreamError{Repo: p.repo.Name, Reason: "the host did not answer in time"}
	}
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	return &UpstreamError{Repo: p.repo.Name, Reason: "the host could not be reached", Err: err}
}

// copy hands the answer's body on, counts it, and ends it when it is too long
// or when the host falls silent.
func (p *pass) copy(ctx context.Context, cancel context.CancelCauseFunc, w http.ResponseWriter, body io.Reader) error {
	silent := time.AfterFunc(p.relay.stall, func() { cancel(errStall) })
	defer silent.Stop()
	flush := http.NewResponseController(w)
	buf := make([]byte, 64<<10)
	for {
		n, err := body.Read(buf)
		silent.Reset(p.relay.stall)
		p.mu.Lock()
		p.bytes += int64(n)
		over := p.bytes > p.limit
		p.mu.Unlock()
		if over {
			return &BudgetError{Repo: p.repo.Name, Limit: p.limit,
				What: "needs more than the " + humanBytes(p.limit) + " that one fetch may bring"}
		}
		if n > 0 {
			if _, werr := w.Write(buf[:n]); werr != nil {
				return nil // git went away; its own end says why
			}
			_ = flush.Flush()
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && p.ctx.Err() != nil:
			return context.Cause(p.ctx)
		case err != nil && errors.Is(context.Cause(ctx), errStall):
			return &UpstreamError{Repo: p.repo.Name, Reason: "the host fell silent"}
		case err != nil:
			return &UpstreamError{Repo: p.repo.Name, Reason: "the host's answer was cut off", Err: err}
		}
	}
}

var errStall = errors.New("the host fell silent")

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails, see crypto/rand
	return hex.EncodeToString(b)
}

// humanBytes prints a number of bytes for people.
func humanBytes(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
