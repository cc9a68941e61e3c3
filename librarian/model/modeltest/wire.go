package modeltest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// Key is the only key that the wire servers take.
const Key = "sk-test-0123456789abcdefghij"

// Block is a piece of an answer, in no provider's words.
type Block struct {
	Text     string
	Thinking string // its signature or encryption is the server's affair
	Redacted string // thinking that may not be read
	Call     string // a tool's name; with ID and Args
	ID       string
	Args     string // as the model writes them, JSON or not
}

// Answer is what a wire server answers one request with.
type Answer struct {
	Blocks []Block
	Stop   string // "" (the end, or tools if there are calls), "length", "refusal", "context"

	Status  int // an error instead, with Type (or code) and Message
	Type    string
	Message string
	Header  map[string]string

	Cut      int  // the connection ends after this many events of the stream
	Stall    bool // instead of ending there it falls silent
	InStream bool // Status, Type and Message come as an event after Cut events
	Redirect string
}

// Wire is a provider on 127.0.0.1. It speaks one provider's wire format, streaming or not as it is asked to, and checks
// requests as strictly as that provider does: a request that the provider would refuse fails the test, except for what the
// adapters are to recover from, which is refused as the provider would.
type Wire struct {
	URL string

	t       testing.TB
	speak   dialect
	mu      sync.Mutex
	answers []Answer
	bodies  []json.RawMessage
	refused []string
	issued  map[string]json.RawMessage // by signature, encryption or id: what came with it
	cached  map[string]int             // prefixes that are in the cache, with their size
}

// dialect is one provider's format.
type dialect interface {
	// check returns the parsed request, or refuses it with a status and a message.
	check(w *Wire, r *http.Request, body []byte) (req any, status int, message string)
	fail(rw http.ResponseWriter, status int, kind, message string)
	// answer returns the whole answer, and the events that it is streamed as.
	answer(w *Wire, req any, a Answer) (whole []byte, events [][]byte)
	failEvent(kind, message string) []byte
}

func newWire(t testing.TB, d dialect, answers []Answer) *Wire {
	w := &Wire{t: t, speak: d, answers: answers, issued: map[string]json.RawMessage{}, cached: map[string]int{}}
	s := httptest.NewServer(w)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		w.mu.Lock()
		defer w.mu.Unlock()
		if !t.Failed() && len(w.answers) > 0 {
			t.Errorf("modeltest: %d answers were never asked for", len(w.answers))
		}
	})
	w.URL = s.URL
	return w
}

// Bodies lists the requests so far, the refused ones too.
func (w *Wire) Bodies() []json.RawMessage {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]json.RawMessage(nil), w.bodies...)
}

// Refused lists the messages by which requests were refused so far.
func (w *Wire) Refused() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.refused...)
}

// violation is a request that the provider would not take and the adapter should never have sent.
func (w *Wire) violation(format string, args ...any) (any, int, string) {
	m := fmt.Sprintf(format, args...)
	w.t.Errorf("modeltest: the provider would refuse this request: %s", m)
	return nil, http.StatusBadRequest, m
}

// ServeHTTP implements [http.Handler].
func (w *Wire) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 32<<20))
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bodies = append(w.bodies, body)
	req, status, message := w.speak.check(w, r, body)
	if status != 0 {
		w.refused = append(w.refused, message)
		w.speak.fail(rw, status, "invalid_request_error", message)
		return
	}
	if len(w.answers) == 0 {
		w.t.Errorf("modeltest: unexpected request %d", len(w.bodies))
		w.speak.fail(rw, http.StatusBadRequest, "invalid_request_error", "unexpected")
		return
	}
	a := w.answers[0]
	w.answers = w.answers[1:]
	for k, v := range a.Header {
		rw.Header().Set(k, v)
	}
	if a.Redirect != "" {
		http.Redirect(rw, r, a.Redirect, http.StatusTemporaryRedirect)
		return
	}
	if a.Status != 0 && !a.InStream {
		w.speak.fail(rw, a.Status, a.Type, a.Message)
		return
	}
	whole, events := w.speak.answer(w, req, a)
	if !w.wantsStream(r, body) {
		rw.Header().Set("Content-Type", "application/json")
		_, _ = rw.Write(whole)
		return
	}
	w.stream(rw, r, a, events)
}

// pathStream is a dialect whose requests ask for a stream by their path, and which may have a framing of its own.
type pathStream interface {
	streams(path string) bool
	contentType() string
}

func (w *Wire) wantsStream(r *http.Request, body []byte) bool {
	if d, ok := w.speak.(pathStream); ok {
		return d.streams(r.URL.Path)
	}
	var asked struct {
		Stream bool `json:"stream"`
	}
	_ = json.Unmarshal(body, &asked)
	return asked.Stream
}

func (w *Wire) stream(rw http.ResponseWriter, r *http.Request, a Answer, events [][]byte) {
	kind := "text/event-stream; charset=utf-8"
	if d, ok := w.speak.(pathStream); ok {
		kind = d.contentType()
	}
	rw.Header().Set("Content-Type", kind)
	rc := http.NewResponseController(rw)
	for i, ev := range events {
		if (a.Cut > 0 || a.Stall || a.InStream) && i == a.Cut {
			switch {
			case a.Stall:
				_ = rc.Flush()
				w.mu.Unlock() // others may ask meanwhile
				select {
				case <-r.Context().Done():
				case <-time.After(time.Minute):
				}
				w.mu.Lock()
			case a.InStream:
				_, _ = rw.Write(w.speak.failEvent(a.Type, a.Message))
			default:
				_ = rc.Flush()
				panic(http.ErrAbortHandler) // the connection ends in the middle
			}
			return
		}
		if _, err := rw.Write(ev); err != nil {
			return
		}
		_ = rc.Flush()
	}
}

// digest names a value.
func digest(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:", len(p))
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// canonical is JSON with sorted keys and without the keys named.
func canonical(raw []byte, without ...string) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return raw
	}
	out, _ := json.Marshal(strip(v, without))
	return out
}

func strip(v any, without []string) any {
	switch x := v.(type) {
	case map[string]any:
		for _, k := range without {
			delete(x, k)
		}
		for k := range x {
			x[k] = strip(x[k], without)
		}
	case []any:
		for i := range x {
			x[i] = strip(x[i], without)
		}
	}
	return v
}

// pieces cuts a string in three, at characters, so that streams are put together from more than one piece.
func pieces(s string) []string {
	r := []rune(s)
	if len(r) < 3 {
		return []string{s}
	}
	n := len(r) / 3
	return []string{string(r[:n]), string(r[n : 2*n]), string(r[2*n:])}
}

// encode is JSON as providers write it, with < and & as they are.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return bytes.TrimSpace(b.Bytes())
}

// event writes a server-sent event.
func event(name string, data any) []byte {
	raw := encode(data)
	if name == "" {
		return []byte("data: " + string(raw) + "\n\n")
	}
	return []byte("event: " + name + "\ndata: " + string(raw) + "\n\n")
}

// onlyKeys finds a key that is not allowed.
func onlyKeys(raw []byte, allowed ...string) string {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return "(not an object)"
	}
	for k := range m {
		known := false
		for _, a := range allowed {
			known = known || a == k
		}
		if !known {
			return k
		}
	}
	return ""
}

func isObject(raw json.RawMessage) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(raw, &m) == nil && m != nil
}
