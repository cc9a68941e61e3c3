package checkout

import (
	"net/netip"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestW10_Addresses(t *testing.T) {
	t.Parallel()
	for _, a := range []string{"10.0.0.5", "127.0.0.1", "172.16.1.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "198.18.0.1", "224.0.0.1",
		"255.255.255.255", "240.0.0.1", "192.0.2.1", "::", "::1", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "64:ff9b::a00:5", "2002:a00:5::1", "2001:db8::1", "::ffff:10.0.0.5"} {
		require.False(t, isPublic(netip.MustParseAddr(a).Unmap()), a)
	}
	for _, a := range []string{"140.82.121.4", "1.1.1.1", "2606:50c0:8000::154", "172.32.0.1", "100.128.0.1"} {
		require.True(t, isPublic(netip.MustParseAddr(a)), a)
	}
}

func TestW10_HostRules(t *testing.T) {
	t.Parallel()
	h := hostRules{allow: []string{"git.example.com", "10.0.0.5"}, private: []string{"127.0.0.1:8080", "ghe.internal"}}
	for text, ok := range map[string]bool{
		"https://git.example.com/a/b":             true,
		"https://GIT.example.com/a/b":             true,
		"https://ghe.internal/a/b":                true,
		"http://127.0.0.1:8080/a/b":               true,
		"https://127.0.0.1:8080/a/b":              true,
		"http://git.example.com/a/b":              false,
		"http://ghe.internal/a/b":                 false, // only loopback may be plain
		"http://127.0.0.1:9090/a/b":               false,
		"https://other.example.com/a/b":           false,
		"https://git.example.com.evil.test/a/b":   false,
		"https://user:pw@git.example.com/a/b":     false,
		"https://user@git.example.com/a/b":        false,
		"https://git.example.com/a/b?x=secret":    false,
		"https://git.example.com/a/b#secret":      false,
		"ssh://git.example.com/a/b":               false,
		"file:///etc/passwd":                      false,
		"ext::sh -c touch%20/tmp/x":               false,
		"https://git.example.com:22/a/b":          true, // the host is allowed on any port
		"https://127.0.0.1:8080@evil.test/a/b":    false,
		"https://git.example.com%2eevil.test/a/b": false,
	} {
		u, err := url.Parse(text)
		got := err == nil && h.check(u) == nil
		require.Equal(t, ok, got, text)
	}
}

// TestW10_DialChecksTheAddress: an allowed host at an address that is not public.
func TestW10_DialChecksTheAddress(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"10.0.0.5", "127.0.0.1", "localhost", "169.254.169.254"} {
		s, err := New(Options{Dir: t.TempDir(), Hosts: []string{host}})
		require.NoError(t, err)
		require.NoError(t, s.Start(t.Context()))
		began := time.Now()
		_, err = s.Acquire(t.Context(), Request{Repo: Repo{ID: "git:" + host + "/a/b", Name: "a/b", URL: "https://" + host + "/a/b", Class: Public}})
		var re *RefusedError
		require.ErrorAs(t, err, &re)
		require.ErrorContains(t, err, "public address")
		require.Less(t, time.Since(began), 5*time.Second, "nobody was dialled")
		require.NoError(t, s.Close())
	}
}
