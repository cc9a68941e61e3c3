package githubsim_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/githubsim"
)

// What -v shows: each request and how it was answered, and no token of who made it.
func TestRequestsAreLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := githubsim.New(githubsim.Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	require.NoError(t, s.Start(t.Context(), "127.0.0.1:0"))
	_, err := s.CreateUser("ann")
	require.NoError(t, err)
	token, err := s.CreateUserToken("ann")
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.APIURL()+"user", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	s.Close() // nothing is written any more
	require.Contains(t, log.String(), `msg="githubsim: request" method=GET path=/api/v3/user query="" status=200 by=user`)
	require.NotContains(t, log.String(), token)
}
