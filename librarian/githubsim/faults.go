package githubsim

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// Fault is something that goes wrong with requests. The fields up to Count say which ones, the others what happens: first
// the delay, then an answer instead of the real one (Status), or a cut connection. With none of Status and Cut set, the
// real answer follows the delay.
type Fault struct {
	Method string         // "" means any
	Path   *regexp.Regexp // matched against the whole path, with /api/v3; nil means any
	Sent   *regexp.Regexp // matched against the first 64 KiB of the request's body; nil means any
	Skip   int            // let this many matching requests pass first
	Count  int            // strike this often, then no more; 0 means until removed

	Delay  time.Duration // before anything is done
	Status int           // answer with this status, Header and Body
	Header http.Header
	Body   string // "" means a JSON body with GitHub's message for the status

	Cut      bool  // end the connection
	CutAfter int64 // with Cut: first let so many bytes of the real answer's body out

	// AfterWork has the request carried out before its answer is replaced or cut: the comment is posted, and the client
	// does not hear of it.
	AfterWork bool
}

// SecondaryLimit is the fault of GitHub's secondary rate limit: 403, with Retry-After if retryAfter is above 0 (rounded to seconds).
func SecondaryLimit(path *regexp.Regexp, count int, retryAfter time.Duration) Fault {
	f := Fault{Path: path, Count: count, Status: http.StatusForbidden, Header: http.Header{}, Body: secondaryBody}
	if retryAfter > 0 {
		f.Header.Set("Retry-After", strconv.Itoa(int(retryAfter.Round(time.Second)/time.Second)))
	}
	return f
}

const secondaryBody = `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",` +
	`"documentation_url":"` + docsURL + `/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`

type activeFault struct {
	Fault
	seen, struck int
}

type faultList struct {
	mu  sync.Mutex
	all []*activeFault
}

// Inject makes the server misbehave from now on; the first fault that matches a request is the one that strikes. The
// returned func removes the fault.
func (s *Server) Inject(f Fault) (remove func()) {
	a := &activeFault{Fault: f}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.all = append(s.faults.all, a)
	return func() {
		s.faults.mu.Lock()
		defer s.faults.mu.Unlock()
		for i, x := range s.faults.all {
			if x == a {
				s.faults.all = append(s.faults.all[:i:i], s.faults.all[i+1:]...)
				return
			}
		}
	}
}

func (l *faultList) match(r *http.Request) (Fault, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.all {
		if f.Method != "" && f.Method != r.Method || f.Path != nil && !f.Path.MatchString(r.URL.Path) {
			continue
		}
		if f.Sent != nil && !f.Sent.Match(peek(r)) {
			continue
		}
		if f.Count > 0 && f.struck >= f.Count {
			continue
		}
		if f.seen++; f.seen <= f.Skip {
			continue
		}
		f.struck++
		return f.Fault, true
	}
	return Fault{}, false
}

// peek reads the begin of a request's body and leaves it to be read again.
func peek(r *http.Request) []byte {
	begin, _ := io.ReadAll(io.LimitReader(r.Body, 64<<10)) // whoever reads on meets the error
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(begin), r.Body), r.Body}
	return begin
}

// serve answers with next, or as a fault would have it.
func (l *faultList) serve(w *recorder, r *http.Request, next http.HandlerFunc) {
	f, ok := l.match(r)
	if !ok {
		next(w, r)
		return
	}
	if f.Delay > 0 {
		t := time.NewTimer(f.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		}
	}
	if f.AfterWork && (f.Cut || f.Status != 0) {
		next(&blackHole{header: http.Header{}}, r)
	}
	switch {
	case f.Cut && f.CutAfter > 0 && !f.AfterWork:
		next(&cutter{ResponseWriter: w, left: f.CutAfter}, r)
		panic(http.ErrAbortHandler)
	case f.Cut:
		panic(http.ErrAbortHandler)
	case f.Status != 0:
		maps.Copy(w.Header(), f.Header)
		body := f.Body
		if body == "" {
			body = fmt.Sprintf(`{"message":%q,"documentation_url":%q}`, http.StatusText(f.Status), docsURL)
		}
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", jsonType)
		}
		w.WriteHeader(f.Status)
		_, _ = io.WriteString(w, body) // the client may be gone; that is its affair
	default:
		next(w, r)
	}
}

// cutter lets a number of bytes through and then ends the connection.
type cutter struct {
	http.ResponseWriter
	left int64
}

func (w *cutter) Write(p []byte) (int, error) {
	if int64(len(p)) <= w.left {
		w.left -= int64(len(p))
		return w.ResponseWriter.Write(p)
	}
	_, _ = w.ResponseWriter.Write(p[:w.left])
	_ = http.NewResponseController(w.ResponseWriter).Flush()
	panic(http.ErrAbortHandler)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *cutter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// blackHole takes an answer that nobody gets.
type blackHole struct{ header http.Header }

func (w *blackHole) Header() http.Header         { return w.header }
func (w *blackHole) Write(p []byte) (int, error) { return len(p), nil }
func (w *blackHole) WriteHeader(int)             {}
