package hub

import (
	"net/http"
	"testing"

	"github.com/google/go-github/v66/github"
	"github.com/stretchr/testify/require"
)

func TestGraphPath(t *testing.T) {
	t.Parallel()
	for api, want := range map[string]string{
		"":                               "https://api.github.com/graphql",
		"https://ghe.example.com/api/v3": "https://ghe.example.com/api/graphql",
		"https://api.acme.ghe.com/":      "https://api.acme.ghe.com/graphql",
		"http://127.0.0.1:8080/api/v3/":  "http://127.0.0.1:8080/api/graphql",
	} {
		host, err := newEndpoint(api, "")
		require.NoError(t, err)
		c := github.NewClient(nil)
		c.BaseURL = host.api
		req, err := c.NewRequest(http.MethodPost, graphPath(c), map[string]string{})
		require.NoError(t, err)
		require.Equal(t, want, req.URL.String())
		require.True(t, isGraph(req))
		require.True(t, host.is(req.URL), "a token may go there")
		require.Equal(t, "graphql", resource(req))
	}
}

// A mutation that broke on the way may have been carried out: only its sender can tell.
func TestOnlyQueriesAreRepeated(t *testing.T) {
	t.Parallel()
	c := github.NewClient(nil)
	for query, want := range map[string]bool{discussionQuery: true, talkQuery: true, "mutation { x }": false, " query { x }": false, "": false} {
		req, err := c.NewRequest(http.MethodPost, "graphql", struct {
			Query string `json:"query"`
		}{query})
		require.NoError(t, err)
		require.Equal(t, want, graphReads(req), query)
	}
	req, err := c.NewRequest(http.MethodPost, "repos/a/b/issues/1/comments", struct {
		Query string `json:"query"`
	}{talkQuery})
	require.NoError(t, err)
	require.False(t, graphReads(req))
}
