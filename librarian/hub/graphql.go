package hub

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/google/go-github/v66/github"

	"github.com/librarian-app/librarian/librarian"
)

// graphPath is the GraphQL endpoint, relative to the REST API: an Enterprise Server has it at /api/graphql beside /api/v3/.
// See https://docs.github.com/en/enterprise-server/graphql/guides/introduction-to-graphql.
func graphPath(c *github.Client) string {
	if strings.HasSuffix(c.BaseURL.Path, "/v3/") {
		return "../graphql"
	}
	return "graphql"
}

// graph asks a query; into is filled from its data. A node that is not there, or may not be seen, is [librarian.ErrNotFound].
func graph(ctx context.Context, c *github.Client, query string, variables map[string]any, into any) error {
	// The order of the fields is what graphReads goes by.
	req, err := c.NewRequest(http.MethodPost, graphPath(c), struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
	}{query, variables})
	if err != nil {
		return err
	}
	answer := struct {
		Data   any `json:"data"`
		Errors []struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"errors"`
	}{Data: into}
	if _, err := c.Do(ctx, req, &answer); err != nil {
		return err
	}
	if len(answer.Errors) == 0 {
		return nil
	}
	e := &graphError{kind: answer.Errors[0].Type, message: answer.Errors[0].Message}
	if len(e.message) > 300 {
		e.message = strings.ToValidUTF8(e.message[:300], "") + "…"
	}
	return e
}

// graphError is an error that GraphQL told with a status of 200.
type graphError struct{ kind, message string }

func (e *graphError) Error() string { return "GraphQL: " + e.kind + " " + e.message }

// Is makes what is not there and what may not be seen one error.
func (e *graphError) Is(target error) bool {
	return target == librarian.ErrNotFound && (e.kind == "NOT_FOUND" || e.kind == "FORBIDDEN")
}

func isGraph(req *http.Request) bool {
	return req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/graphql")
}

// graphReads reports whether a request is a GraphQL query, which may be sent twice, and not a mutation.
func graphReads(req *http.Request) bool {
	if !isGraph(req) || req.GetBody == nil {
		return false
	}
	body, err := req.GetBody()
	if err != nil {
		return false
	}
	defer func() { _ = body.Close() }()
	const start = `{"query":"query`
	got := make([]byte, len(start))
	_, err = io.ReadFull(body, got)
	return err == nil && string(got) == start
}

// graphLimited reports whether a GraphQL answer says, with a status of 200, that the hour's points are spent. What it reads of
// the body it puts back. See https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api.
func graphLimited(req *http.Request, resp *http.Response) bool {
	if !isGraph(req) || resp.StatusCode != http.StatusOK || resp.Header.Get("X-Ratelimit-Remaining") != "0" {
		return false
	}
	start, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorAnswer))
	rest := resp.Body
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(start), rest), rest}
	return err == nil && bytes.Contains(start, []byte(`"RATE_LIMITED"`)) && bytes.Contains(start, []byte(`"errors"`))
}
