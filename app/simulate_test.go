package app

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// TestSimulatePrintsAConfigurationThatFits: what githubsim prints can be served from as it stands, from any directory.
func TestSimulatePrintsAConfigurationThatFits(t *testing.T) {
	t.Parallel()
	repo := filepath.Join(t.TempDir(), "repo.git")
	checkouttest.InitBare(t, repo)
	dir := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	out := &stopWriter{stop: stop}
	err := Simulate(ctx, SimOptions{
		Listen: "127.0.0.1:0", Repos: []string{"acme/app=" + repo}, Webhook: "http://127.0.0.1:9/webhook", Dir: dir, Out: out, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	_, text, ok := strings.Cut(out.String(), "server:\n")
	require.True(t, ok, out.String())
	text, _, ok = strings.Cut("server:\n"+text, "\n\n")
	require.True(t, ok)
	c, err := Parse([]byte(text))
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:9", c.Server.Listen, "where the deliveries go")
	require.Equal(t, filepath.Join(dir, simKeyFile), c.GitHub.PrivateKeyFile)
	require.True(t, filepath.IsAbs(c.GitHub.WebhookSecretFile))
}

func TestSimulateRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	repo := filepath.Join(t.TempDir(), "repo.git")
	checkouttest.InitBare(t, repo)
	for name, row := range map[string]struct {
		o    SimOptions
		want string
	}{
		"a hook that is no URL":   {SimOptions{Repos: []string{"a/b=" + repo}, Webhook: "ftp://x"}, "--webhook"},
		"a hook without a host":   {SimOptions{Repos: []string{"a/b=" + repo}, Webhook: "http:///webhook"}, "--webhook"},
		"a name that comes twice": {SimOptions{Repos: []string{"a/b=" + repo, "A/B=" + repo}}, "named twice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row.o.Listen, row.o.Dir, row.o.Out, row.o.Log = "127.0.0.1:0", t.TempDir(), &bytes.Buffer{}, slog.New(slog.DiscardHandler)
			err := Simulate(t.Context(), row.o)
			var usage *UsageError
			require.ErrorAs(t, err, &usage)
			require.ErrorContains(t, err, row.want)
		})
	}
}

// stopWriter keeps what is written, and stops who writes once the configuration is there.
type stopWriter struct {
	bytes.Buffer
	stop context.CancelFunc
}

func (w *stopWriter) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if strings.Contains(w.String(), "webhook_secret_file") {
		w.stop()
	}
	return n, err
}
