package hub

import (
	"fmt"
	"net/url"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLRUIsBounded(t *testing.T) {
	t.Parallel()
	c := newLRU(100)
	for i := range 10 { // of 11 bytes each
		c.Set(fmt.Sprint(i), make([]byte, 10))
		_, ok := c.Get("0")
		require.True(t, ok, "what is used stays")
	}
	require.LessOrEqual(t, c.bytes, int64(100))
	_, ok := c.Get("1")
	require.False(t, ok, "what was not used longest went")
	_, ok = c.Get("9")
	require.True(t, ok)
	c.Set("big", make([]byte, 50))
	_, ok = c.Get("big")
	require.False(t, ok)
	_, ok = c.Get("9")
	require.True(t, ok, "one big answer drives out nothing")
	c.Set("9", make([]byte, 5))
	c.Delete("0")
	c.Delete("0")
	sum := int64(0)
	for k, el := range c.byKey {
		require.Equal(t, k, el.Value.(lruEntry).key)
		sum += el.Value.(lruEntry).size()
	}
	require.Equal(t, sum, c.bytes)
	require.Equal(t, len(c.byKey), c.order.Len())
}

func TestEndpoint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ api, web, wantAPI, wantWeb, host string }{
		{"", "", "https://api.github.com/", "https://github.com", "github.com"},
		{"https://GHE.example/api/v3", "", "https://ghe.example/api/v3/", "https://ghe.example", "ghe.example"},
		{"https://ghe.example:8443/api/v3/", "", "https://ghe.example:8443/api/v3/", "https://ghe.example:8443", "ghe.example:8443"},
		{"https://api.octo.ghe.com", "", "https://api.octo.ghe.com/", "https://octo.ghe.com", "octo.ghe.com"},
		{"https://api.intern/api/v3", "", "https://api.intern/api/v3/", "https://api.intern", "api.intern"},
		{"http://127.0.0.1:99/api/v3/", "", "http://127.0.0.1:99/api/v3/", "http://127.0.0.1:99", "127.0.0.1:99"},
		{"https://ghe.example/api/v3", "https://code.example/", "https://ghe.example/api/v3/", "https://code.example", "code.example"},
	} {
		e, err := newEndpoint(c.api, c.web)
		require.NoError(t, err, c.api)
		require.Equal(t, []string{c.wantAPI, c.wantWeb, c.host}, []string{e.api.String(), e.web, e.host})
		u, err := url.Parse(c.wantAPI + "app")
		require.NoError(t, err)
		require.True(t, e.is(u))
		for _, other := range []string{"https://evil.example/app", "http://" + u.Hostname() + ".evil.example/", "ftp://" + u.Host} {
			u, err := url.Parse(other)
			require.NoError(t, err)
			require.False(t, e.is(u), other)
		}
	}
}

// Issue 6, 6: the memory of a cache is flat however many URLs pass through it.
func TestMillionURLs(t *testing.T) {
	c := newLRU(4 << 20)
	body := make([]byte, 600) // an answer with its headers
	fill := func(from, to int) uint64 {
		for i := from; i < to; i++ {
			c.Set(fmt.Sprintf("https://api.example/repos/acme/app/issues/%d", i), append([]byte(nil), body...))
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	early := fill(0, 50_000)
	late := fill(50_000, 1_000_000)
	require.Less(t, late, early+2<<20, "bytes after a million, against those after the first 50,000")
	require.LessOrEqual(t, c.bytes, int64(4<<20))
	require.Equal(t, len(c.byKey), c.order.Len())
}
