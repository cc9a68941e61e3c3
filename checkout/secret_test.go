package checkout_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

const canary = "ghs_CANARYcanaryCANARYcanaryCANARY012345"

// canaryForms are the ways in which the token could show.
var canaryForms = []string{canary, base64.StdEncoding.EncodeToString([]byte("x-access-token:" + canary)),
	base64.StdEncoding.EncodeToString([]byte(canary))}

func token(text string) checkout.Credentials {
	return func(context.Context) (checkout.Secret, error) { return checkout.BasicAuth("x-access-token", text), nil }
}

func TestSecretPrintsAsRedacted(t *testing.T) {
	t.Parallel()
	s := checkout.BasicAuth("x-access-token", canary)
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", s, "in", struct{ S checkout.Secret }{s})
	b, err := json.Marshal(map[string]any{"s": s})
	require.NoError(t, err)
	for _, text := range []string{s.String(), fmt.Sprintf("%v %+v %#v %s %q %x %d", s, s, s, s, s, s, s), string(b), log.String()} {
		for _, form := range canaryForms {
			require.NotContains(t, text, form)
		}
		require.Contains(t, text, "[redacted]")
	}
}

// hidden fails if a text holds the token in any form.
func hidden(t *testing.T, where, text string) {
	t.Helper()
	for _, form := range canaryForms {
		require.False(t, strings.Contains(text, form), "%s holds the token: %s", where, text)
	}
}

// TestG1_TokenStaysHidden has an Acquire fail in six ways and looks for the
// token in everything that is left: error, log, disk; and, where a command
// hangs, in the arguments and environments of all processes but this one.
func TestG1_TokenStaysHidden(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(t *testing.T, srv *checkouttest.Server, r *checkout.Repo, o *checkout.Options) context.Context{
		"DNS": func(t *testing.T, _ *checkouttest.Server, r *checkout.Repo, o *checkout.Options) context.Context {
			r.URL, o.Hosts = "https://nowhere.invalid/acme/one", []string{"nowhere.invalid"}
			return t.Context()
		},
		"401": func(t *testing.T, srv *checkouttest.Server, _ *checkout.Repo, _ *checkout.Options) context.Context {
			srv.Auth = func(string, string, string) int { return http.StatusUnauthorized }
			return t.Context()
		},
		"404": func(t *testing.T, srv *checkouttest.Server, _ *checkout.Repo, _ *checkout.Options) context.Context {
			srv.Auth = func(string, string, string) int { return http.StatusNotFound }
			return t.Context()
		},
		"disk full": func(t *testing.T, _ *checkouttest.Server, _ *checkout.Repo, o *checkout.Options) context.Context {
			o.Budget.FreeBytes = 1 << 60
			return t.Context()
		},
		"time-out": func(t *testing.T, srv *checkouttest.Server, _ *checkout.Repo, o *checkout.Options) context.Context {
			o.Budget.Time = 300 * time.Millisecond
			hang(t, srv, "fetch")
			return t.Context()
		},
		"kill": func(t *testing.T, srv *checkouttest.Server, _ *checkout.Repo, _ *checkout.Options) context.Context {
			ctx, cancel := context.WithCancel(t.Context())
			hanging := hang(t, srv, "fetch")
			go func() {
				<-hanging
				scanProcesses(t)
				cancel()
			}()
			return ctx
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t)
			srv.Add(t, "acme/one", small)
			var log bytes.Buffer
			opt := checkout.Options{Dir: t.TempDir(), Git: testGit(), PrivateHosts: []string{srv.Host()}, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
			r := repo(srv, "acme/one")
			r.Class = "private-1"
			budget := opt.Budget
			ctx := fail(t, srv, &r, &opt)
			limited := opt.Budget
			opt.Budget = budget
			if name == "time-out" || name == "disk full" {
				opt.Budget = limited
			}
			if name == "time-out" { // the probe needs more time than the fetch is given
				opt.Budget.Time = 3 * time.Second
			}
			s, err := checkout.New(opt)
			require.NoError(t, err)
			require.NoError(t, s.Start(t.Context()))
			t.Cleanup(func() { _ = s.Close() })
			began := time.Now()
			_, err = s.Acquire(ctx, checkout.Request{Repo: r, Credentials: token(canary)})
			require.Error(t, err)
			require.Less(t, time.Since(began), 6*time.Second)
			hidden(t, "error", fmt.Sprintf("%v %+v %#v", err, err, err))
			hidden(t, "log", log.String())
			for _, form := range canaryForms {
				grepDisk(t, opt.Dir, form)
			}
			onlyWhole(t, opt.Dir)
			found, err := filepath.Glob(opt.Dir + "/stores/*/*/repo.git")
			require.NoError(t, err)
			require.Empty(t, found, "nothing half-made counts as done")
		})
	}
}

// hang makes the server never answer a command; the channel closes when it came.
func hang(t *testing.T, srv *checkouttest.Server, command string) <-chan struct{} {
	came, done := make(chan struct{}), make(chan struct{})
	var once sync.Once
	t.Cleanup(func() { close(done) })
	srv.Intercept = func(_ http.ResponseWriter, r *http.Request) bool {
		log := srv.Log()
		if log[len(log)-1].Command != command {
			return false
		}
		once.Do(func() { close(came) })
		select {
		case <-done:
		case <-r.Context().Done():
		}
		return true
	}
	return came
}

// scanProcesses looks into the arguments and the environment of every process.
func scanProcesses(t *testing.T) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	seen := false
	for _, f := range files {
		for _, what := range []string{f, filepath.Join(filepath.Dir(f), "environ")} {
			b, _ := os.ReadFile(what)
			if strings.Contains(string(b), "remote-http") || strings.Contains(string(b), "X-Checkout-Pass") {
				seen = true
			}
			for _, form := range canaryForms {
				if strings.Contains(string(b), form) {
					t.Errorf("%s holds the token", what)
				}
			}
		}
	}
	if !seen && len(files) > 0 {
		t.Error("the scan saw no git at work, so it shows nothing")
	}
}

// TestG14_EchoAndRedirect: servers that say the header back, in an error's
// body, in an ERR packet and on the side band, and one that sends elsewhere.
func TestG14_EchoAndRedirect(t *testing.T) {
	t.Parallel()
	pkt := func(s string) string { return fmt.Sprintf("%04x%s", len(s)+4, s) }
	elsewhere := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		elsewhere <- r.Header.Get("Authorization")
	}))
	t.Cleanup(other.Close)
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request, auth string) bool{
		"error body": func(w http.ResponseWriter, _ *http.Request, auth string) bool {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(500)
			fmt.Fprint(w, "you sent ", auth, canary)
			return true
		},
		"ERR packet": func(w http.ResponseWriter, _ *http.Request, auth string) bool {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			fmt.Fprint(w, pkt("# service=git-upload-pack\n"), "0000", pkt("ERR you sent "+auth+" "+canary+"\n"))
			return true
		},
		"side band": func(w http.ResponseWriter, r *http.Request, auth string) bool {
			if r.Method != http.MethodPost {
				return false
			}
			w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
			fmt.Fprint(w, pkt("packfile\n"), pkt("\x02you sent "+auth+"\n"), pkt("\x03fatal: "+auth+" "+canary+"\n"), "0000")
			return true
		},
		"redirect": func(w http.ResponseWriter, r *http.Request, _ string) bool {
			http.Redirect(w, r, other.URL+r.URL.String(), http.StatusMovedPermanently)
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t)
			srv.Add(t, "acme/one", small)
			srv.Intercept = func(w http.ResponseWriter, r *http.Request) bool { return answer(w, r, r.Header.Get("Authorization")) }
			var log bytes.Buffer
			var dir string
			s := newStore(t, srv, func(o *checkout.Options) {
				o.Log, dir = slog.New(slog.NewTextHandler(&log, nil)), o.Dir
				o.PrivateHosts = append(o.PrivateHosts, strings.TrimPrefix(other.URL, "http://"))
			})
			_, err := s.Acquire(t.Context(), checkout.Request{Repo: repo(srv, "acme/one"), Credentials: token(canary)})
			require.Error(t, err)
			require.NotEmpty(t, srv.Log())
			require.NotEmpty(t, srv.Log()[0].Authorization, "the host itself is given the token")
			var text strings.Builder
			for e := err; e != nil; e = unwrap(e) {
				fmt.Fprintln(&text, e)
			}
			hidden(t, "error", text.String())
			hidden(t, "log", log.String())
			grepDisk(t, dir, canary)
			require.Empty(t, elsewhere, "nobody else hears of it")
		})
	}
}

func unwrap(err error) error {
	if u, ok := err.(interface{ Unwrap() error }); ok {
		return u.Unwrap()
	}
	return nil
}
