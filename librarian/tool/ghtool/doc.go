// Package ghtool holds the tools that ask services instead of checkouts: search_repos, search_github_code, read_github_file and
// read_thread over GitHub's REST API, and search_code over grep.app.
//
// It owns the wire formats and the texts. It promises that what it prints of GitHub was allowed by the run's [API], that
// everything is bounded, that no back end is swapped for another behind the model's back, and that a failure says what to
// try instead. It needs an API, which decides access and adds a credential that no tool sees.
package ghtool

import (
	"context"
	"net/http"
	"net/url"

	"github.com/librarian-app/librarian/librarian"
)

// API is one run's way to GitHub's REST API. It decides what the run may read.
type API interface {
	// Repo gives a repository that the run may read through the API. For one that does not exist and for one that it may not
	// read the error is the same *librarian.UserError.
	Repo(ctx context.Context, name librarian.RepoName) (librarian.Repo, error)
	// Get sends a GET request for a path below the API's root ("search/code"), already escaped, with a credential that reads
	// just repo; with nil, one that reads what the run may. Any status is an answer. The caller closes the body.
	Get(ctx context.Context, repo *librarian.Repo, path string, query url.Values, header http.Header) (*http.Response, error)
	// Readable reports whether the run may read a repository that a search named.
	Readable(ctx context.Context, id librarian.RepoID) bool
}
