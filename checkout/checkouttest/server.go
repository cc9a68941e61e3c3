// Package checkouttest gives tests real git repositories and a real git server:
// Build makes a repository from a txtar archive, Server serves bare
// repositories over smart HTTP by "git http-backend".
package checkouttest

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Server serves bare repositories below one folder over smart HTTP.
type Server struct {
	*httptest.Server
	Root string // repositories lie at Root/<owner>/<name>.git

	// Latency is added to every request.
	Latency time.Duration
	// Auth, if set, decides whether a request may see a repository: 0 lets it
	// pass, anything else is the HTTP status of the refusal.
	Auth func(repo, user, password string) int
	// Intercept, if set, may answer a request itself; it reports whether it did.
	Intercept func(w http.ResponseWriter, r *http.Request) bool
	// Cut, if set, breaks the connection after so many bytes of a fetch's answer.
	Cut int64
	// Env is added to http-backend's environment.
	Env []string

	requests, bytes atomic.Int64
	mu              sync.Mutex
	log             []Request
}

// Request is one request that the server saw.
type Request struct {
	Method, Path, Query, Authorization string
	Command                            string // of protocol version 2: "ls-refs", "fetch" or ""
	Body                               string // of a POST, uncompressed or not as it came, at most 64 KiB
}

// NewServer starts a server on 127.0.0.1 that is closed when the test ends.
// Set its fields before the first request.
func NewServer(t testing.TB) *Server {
	t.Helper()
	return start(t, httptest.NewServer)
}

// NewTLSServer is NewServer with https and httptest's own certificate.
func NewTLSServer(t testing.TB) *Server {
	t.Helper()
	return start(t, httptest.NewTLSServer)
}

func start(t testing.TB, run func(http.Handler) *httptest.Server) *Server {
	s := &Server{Root: t.TempDir()}
	s.Server = run(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// Host is "127.0.0.1:port".
func (s *Server) Host() string { return s.Listener.Addr().String() }

// RepoURL is the clone URL of owner/name.
func (s *Server) RepoURL(name string) string { return s.URL + "/" + name }

// Dir is the folder of the bare repository owner/name.
func (s *Server) Dir(name string) string { return filepath.Join(s.Root, name+".git") }

// Requests is the number of requests and the bytes of the answers' bodies since
// the last Reset.
func (s *Server) Requests() (requests, bytes int64) { return s.requests.Load(), s.bytes.Load() }

// Log gives the requests since the last Reset.
func (s *Server) Log() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.log...)
}

// Reset sets the counters back.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests.Store(0)
	s.bytes.Store(0)
	s.log = nil
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	time.Sleep(s.Latency)
	s.requests.Add(1)
	body, err := io.ReadAll(r.Body) // cgi refuses chunked bodies, so they are spooled
	if err != nil {
		http.Error(w, "body", http.StatusBadRequest)
		return
	}
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	rec := Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Authorization: r.Header.Get("Authorization"),
		Body: string(body[:min(len(body), 64<<10)])}
	for _, c := range []string{"ls-refs", "fetch"} {
		if strings.Contains(rec.Body, "command="+c) {
			rec.Command = c
		}
	}
	s.mu.Lock()
	s.log = append(s.log, rec)
	s.mu.Unlock()
	w = &counted{w, &s.bytes}
	if s.Intercept != nil && s.Intercept(w, r) {
		return
	}
	name := r.URL.Path
	for _, suffix := range []string{"/info/refs", "/git-upload-pack"} {
		name = strings.TrimSuffix(name, suffix)
	}
	name = strings.TrimSuffix(strings.Trim(name, "/"), ".git")
	if s.Auth != nil {
		user, password, _ := r.BasicAuth()
		if code := s.Auth(name, user, password); code != 0 {
			if code == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			}
			http.Error(w, http.StatusText(code), code)
			return
		}
	}
	dir := s.Dir(name)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() || strings.Contains(name, "..") {
		http.NotFound(w, r)
		return
	}
	if rec.Command == "fetch" && s.Cut > 0 {
		w = &cut{ResponseWriter: w, left: s.Cut}
	}
	r.URL.Path = "/" + name + ".git" + strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/"+name), ".git")
	Backend(s.Root, dir, s.Env).ServeHTTP(w, r)
}

// Backend is git http-backend as a handler for the repositories below root.
// safe is the one folder that may belong to somebody else. The request's body
// must have a length.
func Backend(root, safe string, env []string) http.Handler {
	git, _ := exec.LookPath("git")
	// A bare repository that is a symbolic link is named by where it really is.
	if real, err := filepath.EvalSymlinks(safe); err == nil {
		safe = real
	}
	return &cgi.Handler{
		Path: git, Args: []string{"http-backend"}, Dir: "/",
		Env: append([]string{
			"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_CONFIG_COUNT=3",
			"GIT_CONFIG_KEY_0=uploadpack.allowFilter", "GIT_CONFIG_VALUE_0=true",
			"GIT_CONFIG_KEY_1=uploadpack.allowAnySHA1InWant", "GIT_CONFIG_VALUE_1=true",
			"GIT_CONFIG_KEY_2=safe.directory", "GIT_CONFIG_VALUE_2=" + safe,
		}, env...),
		Stderr: io.Discard,
	}
}

// counted counts the bytes of an answer's body.
type counted struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.n.Add(int64(n))
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// cut breaks the connection after some bytes.
type cut struct {
	http.ResponseWriter
	left int64
}

func (c *cut) Write(b []byte) (int, error) {
	if int64(len(b)) > c.left {
		_, _ = c.ResponseWriter.Write(b[:c.left])
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	c.left -= int64(len(b))
	return c.ResponseWriter.Write(b)
}

// BasicHeader is the Authorization that user and password make.
func BasicHeader(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// DeadHost is an address on 127.0.0.1 where nobody listens.
func DeadHost(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// Git runs git in a folder with a fixed identity and no configuration of the
// machine's, and gives its output without the final line end.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return GitInput(t, dir, "", args...)
}

// GitInput is Git with standard input.
func GitInput(t testing.TB, dir, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, Env(), strings.NewReader(stdin)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, errs.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}

// Env is the environment in which test repositories are made.
func Env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Ann Author", "GIT_AUTHOR_EMAIL=ann@example.com",
		"GIT_COMMITTER_NAME=Ann Author", "GIT_COMMITTER_EMAIL=ann@example.com",
	}
}
