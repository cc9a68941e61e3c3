package model_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/model"
)

const proxyChild = "MODEL_TEST_PROXY_CHILD" // holds the CA file; set in a process of its own, since Go reads HTTPS_PROXY once

func TestMain(m *testing.M) {
	if ca := os.Getenv(proxyChild); ca != "" {
		if err := askThroughProxy(ca); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	end, err := cloudEnvironment()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	end()
	os.Exit(code)
}

func askThroughProxy(ca string) error {
	client, err := model.HTTPClient(ca)
	if err != nil {
		return err
	}
	// The name that the test's certificate is for. Nothing is asked of the network: the proxy leads to the test's server.
	m, err := model.New(model.Options{Provider: "local", Model: "m", BaseURL: "https://example.com/v1", HTTP: client, Retry: model.Retry{Most: 1}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r, err := m.Generate(ctx, model.Call{Messages: []model.Message{model.UserText("?")}})
	if err == nil && r.Message.PlainText() != "Yes." {
		err = fmt.Errorf("said %q", r.Message.PlainText())
	}
	return err
}

func TestProxyAndCA(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		stream(delta(`{"content":"Yes."}`, "stop"))(w, "")
	}))
	defer server.Close()
	var tunnels atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != "example.com:443" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		tunnels.Add(1)
		up, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			return
		}
		defer up.Close()
		w.WriteHeader(http.StatusOK)
		down, buf, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer down.Close()
		go func() { _, _ = io.Copy(up, buf) }()
		_, _ = io.Copy(down, up)
	}))
	defer proxy.Close()

	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), proxyChild+"="+ca, "HTTPS_PROXY="+proxy.URL, "NO_PROXY=")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, int32(1), tunnels.Load())
}

func TestCAFile(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		t.Error("an untrusted server was told something")
	}))
	defer server.Close()
	m, err := model.New(model.Options{Provider: "local", Model: "m", BaseURL: server.URL, Retry: model.Retry{First: time.Hour}})
	require.NoError(t, err)
	_, err = m.Generate(t.Context(), model.Call{Messages: []model.Message{model.UserText("?")}})
	var e *model.Error
	require.ErrorAs(t, err, &e, "and it is not tried again")
	require.Equal(t, model.ErrNetwork, e.Kind)
	require.Contains(t, e.Message, "certificate")

	_, err = model.HTTPClient(filepath.Join(t.TempDir(), "none.pem"))
	require.ErrorContains(t, err, "CA file")
	empty := filepath.Join(t.TempDir(), "empty.pem")
	require.NoError(t, os.WriteFile(empty, []byte("hello"), 0o600))
	_, err = model.HTTPClient(empty)
	require.ErrorContains(t, err, "no certificate")
}
