package app

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMetricsTellOfRunsAndCheckouts(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := ln.Addr().String()
	require.NoError(t, ln.Close())
	f := newFlow(t, nil, func(f *flow) { f.cfg.Server.Metrics = addr })
	f.ask("acme/pantry", simUser, "@librarian how is it decided which jar is eaten first?")
	resp, err := http.Get("http://" + addr + "/metrics")
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Contains(t, string(body), `librarian_runs_total{outcome="found"} 1`)
	require.Contains(t, string(body), "librarian_checkout_clones_total 1")
	require.Regexp(t, `librarian_checkout_received_bytes_total [1-9]`, string(body))
	require.NotContains(t, string(body), "pantry")
}
