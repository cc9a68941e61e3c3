package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/model"
)

func TestProviderConfigIsChecked(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ in, want string }{
		"no base URL":       {"near: {}", "models.providers.near: base_url is missing"},
		"a cloud's key":     {"bedrock: {key_env: KEY}", "models.providers.bedrock: its credentials come as"},
		"a level":           {"openai: {max_thinking: hard}", "models.providers.openai.max_thinking"},
		"a negative wait":   {"openai: {first_byte: -1s}", "models.providers.openai.first_byte"},
		"a negative stall":  {"openai: {stall: -1s}", "models.providers.openai.stall"},
		"a wait in numbers": {"openai: {stall: soon}", "line 3"},
	} {
		_, err := Parse([]byte("models:\n  providers:\n    " + row.in + "\n"))
		require.ErrorContains(t, err, row.want, name)
	}
	c, err := Parse([]byte("models:\n  providers:\n    vertex: {max_thinking: low, first_byte: 7m, stall: 90s}\n"))
	require.NoError(t, err)
	require.Equal(t, ProviderConfig{MaxThinking: "low", FirstByte: 7 * time.Minute, Stall: 90 * time.Second}, c.Models.Providers["vertex"])
}

// The clouds need no key of ours, and what their environment holds is known as a secret.
func TestCloudModelsNeedNoKey(t *testing.T) {
	t.Parallel()
	c := Default().Models
	c.Default, c.Allowed = "bedrock/eu.anthropic.claude-opus-5-5-v1:0", []string{"vertex/claude-opus-5-5@20260901"}
	require.NoError(t, c.check())
	env := map[string]string{"AWS_SECRET_ACCESS_KEY": "the-secret", "AWS_SESSION_TOKEN": "the-token", "AWS_ACCESS_KEY_ID": "AKIA"}
	shop, err := newModelShop(c, func(k string) string { return env[k] }, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	for _, name := range c.all() {
		m, _, err := shop.Model(name)
		require.NoError(t, err)
		require.Equal(t, name, m.Name())
	}
	secrets := shop.secrets()
	slices.Sort(secrets)
	require.Equal(t, []string{"the-secret", "the-token"}, secrets)
}

// first_byte, stall and max_thinking reach the adapter.
func TestProviderLimitsReachTheModel(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]ProviderConfig{"first byte": {FirstByte: 50 * time.Millisecond}, "stall": {Stall: 50 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeoutCause(t.Context(), 30*time.Second, errors.New("nobody hung up"))
			defer cancel()
			ended := make(chan struct{})
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if !bytes.Contains(body, []byte(`"reasoning_effort":"low"`)) {
					t.Errorf("it thinks more than it may: %s", body)
				}
				if p.Stall > 0 {
					_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Half\"}}]}\n\n")
					_ = http.NewResponseController(w).Flush()
				}
				<-r.Context().Done() // the adapter hung up
				if ctx.Err() == nil {
					close(ended)
					cancel()
				}
			}))
			defer s.Close()
			c := Default().Models
			p.BaseURL, p.MaxThinking = s.URL+"/v1", "low"
			c.Default, c.Thinking, c.Providers = "near/model", "high", map[string]ProviderConfig{"near": p}
			shop, err := newModelShop(c, func(string) string { return "" }, slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			m, level, err := shop.Model("near/model")
			require.NoError(t, err)
			_, err = m.Generate(ctx, model.Call{Messages: []model.Message{model.UserText("?")}, Thinking: level})
			require.Error(t, err)
			select {
			case <-ended:
			default:
				require.Fail(t, "the limit was not kept", "%v", context.Cause(ctx))
			}
		})
	}
}
