package checkout_test

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

const proxyPassword = "CANARYproxyCANARY"

// connectProxy is a proxy that speaks CONNECT, for those who know its password,
// and leads every name to one address.
type connectProxy struct {
	*httptest.Server
	to string // "127.0.0.1:port"

	mu   sync.Mutex
	seen []*http.Request
}

func newConnectProxy(t *testing.T, to string) *connectProxy {
	t.Helper()
	p := &connectProxy{to: to}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *connectProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.seen = append(p.seen, r)
	p.mu.Unlock()
	if r.Method != http.MethodConnect || r.Header.Get("Proxy-Authorization") != checkouttest.BasicHeader("ann", proxyPassword) {
		http.Error(w, "who is "+r.Header.Get("Proxy-Authorization"), http.StatusProxyAuthRequired)
		return
	}
	up, err := net.Dial("tcp", p.to)
	if err != nil {
		http.Error(w, "no way", http.StatusBadGateway)
		return
	}
	down, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = up.Close()
		return
	}
	_, _ = io.WriteString(down, "HTTP/1.1 200 OK\r\n\r\n") // before it, the other side says nothing more
	go func() { _, _ = io.Copy(up, down); _ = up.Close() }()
	_, _ = io.Copy(down, up)
	_ = down.Close()
}

func (p *connectProxy) requests() []*http.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*http.Request(nil), p.seen...)
}

// behind makes a TLS server that is example.com to whom the proxy leads there, and the file with its authority.
func behind(t *testing.T) (*checkouttest.Server, *connectProxy, string) {
	t.Helper()
	srv := checkouttest.NewTLSServer(t)
	srv.Add(t, "acme/one", small)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600))
	return srv, newConnectProxy(t, srv.Host()), ca
}

var proxied = checkout.Repo{ID: "github:example.com:1", Name: "acme/one", URL: "https://example.com/acme/one", Class: "private-1"}

// TestProxyLeadsToTheHost: a host that only a proxy reaches, with an authority of
// its own. The proxy sees a name, and never the token.
func TestProxyLeadsToTheHost(t *testing.T) {
	t.Parallel()
	srv, proxy, ca := behind(t)
	srv.Auth = func(_, _, password string) int {
		if password != canary {
			return http.StatusUnauthorized
		}
		return 0
	}
	u, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	u.User = url.UserPassword("ann", proxyPassword)
	s := newStore(t, srv, func(o *checkout.Options) {
		o.Hosts, o.PrivateHosts, o.CAFile = []string{"example.com", "10.0.0.5", "169.254.169.254"}, nil, ca
		o.Proxy = func(*http.Request) (*url.URL, error) { return u, nil }
	})
	c := acquire(t, s, checkout.Request{Repo: proxied, Credentials: token(canary)})
	everything(t, c)
	require.NotEmpty(t, proxy.requests())
	for _, r := range proxy.requests() {
		require.Equal(t, "example.com:443", r.Host)
		for name, values := range r.Header {
			for _, v := range values {
				hidden(t, "the proxy's "+name, v)
			}
		}
	}
	// The rules about hosts are as they were.
	n := len(proxy.requests())
	for _, host := range []string{"example.org", "10.0.0.5", "169.254.169.254"} {
		other := proxied
		other.URL = "https://" + host + "/acme/one"
		_, err = s.Acquire(t.Context(), checkout.Request{Repo: other, Credentials: token(canary)})
		var re *checkout.RefusedError
		require.ErrorAs(t, err, &re, host)
	}
	require.Len(t, proxy.requests(), n)
}

// TestProxyFaultsKeepItsPassword: a proxy that refuses, one that is not there, and a URL that is none.
func TestProxyFaultsKeepItsPassword(t *testing.T) {
	t.Parallel()
	srv, proxy, ca := behind(t)
	for name, text := range map[string]string{
		"refuses":   "http://ann:x" + proxyPassword + "@" + proxy.Listener.Addr().String(),
		"not there": "http://ann:" + proxyPassword + "@" + checkouttest.DeadHost(t),
		"malformed": "http://ann:" + proxyPassword + "@host:port%",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t, srv, func(o *checkout.Options) {
				o.Hosts, o.PrivateHosts, o.CAFile = []string{"example.com"}, nil, ca
				o.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(text) }
			})
			_, err := s.Acquire(t.Context(), checkout.Request{Repo: proxied, Credentials: token(canary)})
			var ue *checkout.UpstreamError
			require.ErrorAs(t, err, &ue)
			require.NotContains(t, err.Error(), proxyPassword)
			require.NotContains(t, err.Error(), checkouttest.BasicHeader("ann", "x"+proxyPassword))
			hidden(t, "the error", err.Error())
		})
	}
}

// TestProxyOfTheEnvironment: HTTPS_PROXY is honoured, and a simulator at
// loopback is spoken to directly all the same. It takes a process of its own:
// net/http reads the environment once.
func TestProxyOfTheEnvironment(t *testing.T) {
	t.Parallel()
	srv, proxy, ca := behind(t)
	here := checkout.Repo{ID: "github:here:1", Name: "acme/one", URL: srv.RepoURL("acme/one"), Class: checkout.Public}
	exe, err := os.Executable()
	require.NoError(t, err)
	for _, r := range []checkout.Repo{here, proxied} {
		require.Empty(t, proxy.requests())
		job, err := json.Marshal(childJob{Dir: t.TempDir(), Host: srv.Host(), Hosts: []string{"example.com"}, CAFile: ca, Repos: []checkout.Repo{r}, Refs: []string{"main"}})
		require.NoError(t, err)
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), childEnv + "=" + string(job), "HTTPS_PROXY=http://ann:" + proxyPassword + "@" + proxy.Listener.Addr().String()}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		require.NotContains(t, string(out), proxyPassword)
	}
	require.NotEmpty(t, proxy.requests())
}
