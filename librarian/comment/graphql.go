package comment

import (
	"context"
	"net/http"
	"strings"
)

// graphError is an error that GraphQL told with a status of 200. What was asked is then known not to be done, unless it has no
// kind: so GitHub tells of its own faults.
type graphError struct{ kind, message string }

func (e *graphError) Error() string { return "GraphQL: " + e.kind + " " + e.message }

// graph sends a query or a mutation; into is filled from its data. An Enterprise Server has GraphQL at /api/graphql beside
// /api/v3/; see https://docs.github.com/en/enterprise-server/graphql/guides/introduction-to-graphql.
func (t target) graph(ctx context.Context, query string, variables map[string]any, into any) error {
	path := "graphql"
	if strings.HasSuffix(t.client.BaseURL.Path, "/v3/") {
		path = "../graphql"
	}
	req, err := t.client.NewRequest(http.MethodPost, path, struct { // the client tells queries, which it repeats, by how this begins
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
	if _, err := t.client.Do(ctx, req, &answer); err != nil {
		return err
	}
	if len(answer.Errors) == 0 {
		return nil
	}
	e := &graphError{answer.Errors[0].Type, answer.Errors[0].Message}
	if len(e.message) > 300 {
		e.message = strings.ToValidUTF8(e.message[:300], "") + "…"
	}
	return e
}
