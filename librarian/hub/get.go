package hub

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"

	"github.com/librarian-app/librarian/librarian"
)

// Get sends a GET request for an escaped path below the API's root, for the tools of a run. The credential reads repo alone; where
// repo is public and outside of the installation, one that reads nothing private. Any status is an answer; the caller
// closes the body. Answers are kept and confirmed with GitHub like all others.
func (h *Hub) Get(ctx context.Context, installation int64, repo librarian.Repo, path string, query url.Values, header http.Header) (*http.Response, error) {
	key := tokenKey{class: classFacts, installation: installation}
	if host, number, ok := repo.ID.GitHub(); ok && host == h.host.host && repo.Installation != 0 && repo.Installation == installation {
		key = tokenKey{classResearch, installation, number}
	}
	c := h.client(key)
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	req, err := c.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return nil, failed("get", err)
	}
	maps.Copy(req.Header, header)
	resp, err := c.Client().Do(req.WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("hub: get: %w", withoutURL(err))
	}
	return resp, nil
}

// withoutURL takes off what net/http adds: a query can hold what a model wrote.
func withoutURL(err error) error {
	if u, ok := err.(*url.Error); ok { //nolint:errorlint // the outermost one alone
		return u.Err
	}
	return err
}
