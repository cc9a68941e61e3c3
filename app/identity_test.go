package app

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/githubsim"
)

// A restart while GitHub is away takes deliveries; one with a key that is not the App's ends with what to check, also where the App
// was known before.
func TestAStartWithAKeyThatIsNotTheApps(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)
	f.stop()
	away := f.sim.Inject(githubsim.Fault{Path: regexp.MustCompile(`^/api/v3/app$`), Status: http.StatusServiceUnavailable})
	f.serve()
	f.stop()
	away()
	unauthorized := f.sim.Inject(githubsim.Fault{Path: regexp.MustCompile(`^/api/v3/app$`), Status: http.StatusUnauthorized})
	defer unauthorized()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := NewServer(f.cfg, Secrets{PrivateKey: f.world.app.PrivateKeyPEM, WebhookSecret: []byte(f.world.app.WebhookSecret)},
		ServerOptions{Log: slog.New(slog.DiscardHandler), Now: time.Now, Ready: func(string) { cancel() }}).Run(ctx)
	var usage *UsageError
	require.ErrorAs(t, err, &usage)
	require.Contains(t, usage.Hint, "private key")
}
