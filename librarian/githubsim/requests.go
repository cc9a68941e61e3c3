package githubsim

import (
	"net/http"
	"sync"
	"time"
)

// Request is one request that the server answered, for tests to assert on. No token is in it.
type Request struct {
	Time         time.Time
	Method       string
	Path         string // with /api/v3 for the API, unescaped
	Query        string // as sent
	Status       int    // 0 when the connection was cut before an answer
	Caller       CallerKind
	Installation int64  // for a caller with an installation token
	Body         string // of API requests that are not GET, up to 64 KiB
	GraphQL      string // what a GraphQL request asks for, such as "query node" or "mutation addReaction"
	UserAgent    string
	Conditional  bool   // If-None-Match was sent
	ETag         string // of the answer, also of a 304
}

// keepRequests bounds the log; older entries are dropped.
const keepRequests = 50_000

type requestLog struct {
	mu  sync.Mutex
	all []Request
}

func (l *requestLog) add(r Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) >= keepRequests {
		l.all = append(l.all[:0:0], l.all[keepRequests/2:]...)
	}
	l.all = append(l.all, r)
}

// Requests lists the answered requests, oldest first: the last 25,000 at least.
func (s *Server) Requests() []Request {
	s.requests.mu.Lock()
	defer s.requests.mu.Unlock()
	return append([]Request(nil), s.requests.all...)
}

// recorder notes the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
