package githubsim

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Options says how a Server behaves. The zero value is a GitHub with GitHub's own limits.
type Options struct {
	Now  func() time.Time // the server's clock; nil means time.Now
	Log  *slog.Logger     // nil means no log
	TLS  *tls.Config      // with a certificate in it the server speaks HTTPS; nil means HTTP
	Git  string           // the git binary; "" means git from PATH
	Rate RateLimits       // requests an hour; zero fields take GitHub's numbers

	// ContentPerMinute and ContentPerHour bound the requests that create content (comments, issues, edits of them) for each
	// caller; past them the answer is GitHub's secondary limit. 0 means 80 and 500, which GitHub documents; negative means
	// no bound.
	ContentPerMinute, ContentPerHour int

	// ClockLeeway is how far in the future an App's JWT may claim to be issued. GitHub allows nothing to speak of.
	ClockLeeway time.Duration

	// ETagPerToken makes ETags depend on the Authorization header, so that a new token never meets a 304.
	ETagPerToken bool
}

// Server is the simulated GitHub. Its methods are safe for concurrent use. Make it with New, then call Start.
type Server struct {
	opts Options
	log  *slog.Logger
	now  func() time.Time

	mu    sync.Mutex // guards world, limits and base
	world world
	rate  map[string]*window // by caller and resource
	base  string             // scheme://host:port, no slash at the end

	faults   faultList
	requests requestLog
	hooks    hookQueue

	life     sync.Mutex // guards the fields below
	http     *http.Server
	listener net.Listener
	stop     context.CancelFunc
	work     sync.WaitGroup // the listener and the delivery workers
	closed   bool
	inflight inflight
}

// inflight counts running handlers, so that Close can wait for them.
type inflight struct {
	mu     sync.Mutex
	n      int
	closed bool
	idle   chan struct{} // closed when closed and n is 0
}

func (f *inflight) enter() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.n++
	return true
}

func (f *inflight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n--; f.n == 0 && f.closed {
		close(f.idle)
	}
}

// shut refuses new handlers and returns what is closed when the last one has ended.
func (f *inflight) shut() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.closed, f.idle = true, make(chan struct{})
		if f.n == 0 {
			close(f.idle)
		}
	}
	return f.idle
}

// New makes a server with an empty world. It does no I/O.
func New(opts Options) *Server {
	s := &Server{opts: opts, log: opts.Log, now: opts.Now, rate: map[string]*window{}, base: "http://127.0.0.1", world: newWorld()}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.opts.Git == "" {
		s.opts.Git = "git"
	}
	s.opts.Rate.fill()
	if s.opts.ContentPerMinute == 0 {
		s.opts.ContentPerMinute = 80
	}
	if s.opts.ContentPerHour == 0 {
		s.opts.ContentPerHour = 500
	}
	s.hooks.init()
	return s
}

// Start listens on addr, a loopback address such as "127.0.0.1:0", and begins to serve and to send webhooks. It returns as
// soon as requests are answered. When ctx ends the server closes itself.
func (s *Server) Start(ctx context.Context, addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("githubsim: listen: %w", err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("githubsim: listen: %s is not a loopback address", addr)
	}
	s.life.Lock()
	defer s.life.Unlock()
	if s.closed || s.http != nil {
		return errors.New("githubsim: listen: started or closed before")
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("githubsim: listen: %w", err)
	}
	scheme := "http"
	if s.opts.TLS != nil {
		scheme, l = "https", tls.NewListener(l, s.opts.TLS)
	}
	s.mu.Lock()
	s.base = scheme + "://" + l.Addr().String()
	s.mu.Unlock()

	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.listener, s.stop = l, stop
	s.http = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		BaseContext:       func(net.Listener) context.Context { return run },
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	srv := s.http
	s.work.Go(func() {
		if err := srv.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("githubsim: serve", "err", err)
		}
	})
	for range deliveryWorkers {
		s.work.Go(func() { s.deliverAll(run) })
	}
	context.AfterFunc(ctx, s.Close)
	return nil
}

// URL is where the host is, for example http://127.0.0.1:41234, without a slash at the end.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.base
}

// APIURL is the base of the REST API, for example http://127.0.0.1:41234/api/v3/, as clients of an Enterprise host want it.
func (s *Server) APIURL() string { return s.URL() + apiPrefix + "/" }

// GraphQLURL is where the GraphQL API answers, as on an Enterprise host.
func (s *Server) GraphQLURL() string { return s.URL() + graphqlPath }

// Close stops listening, ends running requests and deliveries and waits for them. It may be called twice.
func (s *Server) Close() {
	s.life.Lock()
	s.closed = true
	srv, stop := s.http, s.stop
	s.life.Unlock()
	// First of all: a connection that srv.Close does not know yet must find no handler, which would wait for its body.
	idle := s.inflight.shut()
	if srv != nil {
		stop()
		s.hooks.wake()
		if err := srv.Close(); err != nil {
			s.log.Debug("githubsim: close", "err", err)
		}
	}
	<-idle
	s.work.Wait()
}

const apiPrefix = "/api/v3"

// ServeHTTP answers one request. It is exported because http.Handler asks for it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.inflight.enter() {
		panic(http.ErrAbortHandler)
	}
	defer s.inflight.leave()
	rec := &recorder{ResponseWriter: w}
	entry := Request{Time: s.now(), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, UserAgent: r.UserAgent(),
		Conditional: r.Header.Get("If-None-Match") != ""}
	defer func() {
		entry.Status, entry.ETag = rec.status, rec.Header().Get("ETag")
		s.requests.add(entry)
		if s.log.Enabled(r.Context(), slog.LevelDebug) {
			s.log.Debug("githubsim: request", "method", entry.Method, "path", entry.Path, "query", entry.GraphQL, "status", entry.Status, "by", entry.Caller)
		}
	}()
	s.faults.serve(rec, r, func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.EscapedPath(); {
		case path == graphqlPath:
			s.serveGraphQL(w, r, &entry)
		case path == apiPrefix || strings.HasPrefix(path, apiPrefix+"/"):
			s.serveAPI(w, r, strings.TrimPrefix(path, apiPrefix), &entry)
		case isGitPath(r.URL.Path):
			s.serveGit(w, r, &entry)
		default:
			s.serveWeb(w, r, &entry)
		}
	})
}
