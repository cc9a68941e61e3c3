package githubsim

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RateLimits are the requests an hour for each kind of caller, and a minute for searches. Zero fields take GitHub's numbers.
type RateLimits struct {
	Installation int // 5000
	User         int // 5000
	App          int // 5000
	Anonymous    int // 60
	Search       int // 30 a minute; 10 for anonymous callers
	CodeSearch   int // 10 a minute
}

func (l *RateLimits) fill() {
	for _, f := range []struct {
		field *int
		value int
	}{{&l.Installation, 5000}, {&l.User, 5000}, {&l.App, 5000}, {&l.Anonymous, 60}, {&l.Search, 30}, {&l.CodeSearch, 10}} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
}

// window counts the requests of one caller for one resource until it is reset.
type window struct {
	used  int
	reset time.Time
}

func (s *Server) limitOf(kind CallerKind, resource string) (limit int, span time.Duration) {
	l := s.opts.Rate
	switch {
	case resource == "search" && kind == Anonymous:
		return min(l.Search, 10), time.Minute
	case resource == "search":
		return l.Search, time.Minute
	case resource == "code_search":
		return l.CodeSearch, time.Minute
	case kind == InstallationToken:
		return l.Installation, time.Hour
	case kind == UserToken:
		return l.User, time.Hour
	case kind == AppToken:
		return l.App, time.Hour
	}
	return l.Anonymous, time.Hour
}

func (s *Server) window(key string, span time.Duration) *window {
	w := s.rate[key]
	if now := s.now(); w == nil || !now.Before(w.reset) {
		w = &window{reset: now.Add(span).Truncate(time.Second)}
		s.rate[key] = w
	}
	return w
}

// rateHeaders tells the caller of its limit.
func rateHeaders(h http.Header, resource string, limit int, w *window) {
	h.Set("X-RateLimit-Limit", strconv.Itoa(limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(0, limit-w.used)))
	h.Set("X-RateLimit-Used", strconv.Itoa(w.used))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(w.reset.Unix(), 10))
	h.Set("X-RateLimit-Resource", resource)
}

// refund takes a request back: a 304 for an authenticated caller is free.
func (s *Server) refund(h http.Header, c caller, resource string) {
	if c.kind == Anonymous {
		return
	}
	if resource == "" {
		resource = "core"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	limit, span := s.limitOf(c.kind, resource)
	w := s.window(c.key+" "+resource, span)
	w.used = max(0, w.used-1)
	rateHeaders(h, resource, limit, w)
}

// spend counts a request against the caller's limits and writes the headers that tell of them.
func (s *Server) spend(h http.Header, c caller, method, path, resource string) error {
	if resource == "" {
		resource = "core"
	}
	limit, span := s.limitOf(c.kind, resource)
	w := s.window(c.key+" "+resource, span)
	over := w.used >= limit
	if !over && path != "/rate_limit" {
		w.used++
	}
	rateHeaders(h, resource, limit, w)
	if over {
		return &apiError{status: http.StatusForbidden, message: "API rate limit exceeded for " + c.key + "."}
	}
	if method == http.MethodGet || method == http.MethodHead || method == http.MethodDelete || !createsContent(path) {
		return nil
	}
	return s.spendContent(c)
}

// spendContent counts a request that creates content against GitHub's secondary limit.
func (s *Server) spendContent(c caller) error {
	for _, b := range []struct {
		name string
		max  int
		span time.Duration
	}{{"minute", s.opts.ContentPerMinute, time.Minute}, {"hour", s.opts.ContentPerHour, time.Hour}} {
		if b.max < 0 {
			continue
		}
		w := s.window(c.key+" content a "+b.name, b.span)
		if w.used >= b.max {
			wait := max(1, int(w.reset.Sub(s.now()).Seconds()))
			return &apiError{status: http.StatusForbidden, header: http.Header{"Retry-After": {strconv.Itoa(wait)}},
				message: "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry your request again later."}
		}
		w.used++
	}
	return nil
}

// createsContent tells which writes GitHub's limits on content creation count; tokens and reactions are not among them.
func createsContent(path string) bool {
	return strings.HasPrefix(path, "/repos/") && !strings.HasSuffix(path, "/reactions")
}

func rateLimits(c *call) (reply, error) {
	resources := object{}
	for _, name := range []string{"core", "search", "code_search", "graphql", "integration_manifest"} {
		limit, span := c.limitOf(c.caller.kind, name)
		w := c.window(c.caller.key+" "+name, span)
		resources[name] = object{"limit": limit, "remaining": limit - w.used, "reset": w.reset.Unix(), "used": w.used}
	}
	return ok(object{"resources": resources, "rate": resources["core"]})
}
