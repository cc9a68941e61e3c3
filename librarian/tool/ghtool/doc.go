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
	"time"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/tool"
)

// API is one run's way to GitHub's REST API. It decides what the run may read.
type API interface {
	// Repo gives a repository that the run may read. For one that does not exist and for one that it may not read the error is
	// the same *librarian.UserError.
	Repo(ctx context.Context, name librarian.RepoName) (librarian.Repo, error)
	// Get sends a GET request for an escaped path below the API's root ("search/code"), with a credential that reads just
	// repo; with nil, one that reads what the run may and no more. Any status is an answer. The caller closes the body.
	Get(ctx context.Context, repo *librarian.Repo, path string, query url.Values, header http.Header) (*http.Response, error)
	// Readable reports whether the run may read a repository that a search named; private is what the search said of it.
	Readable(ctx context.Context, id librarian.RepoID, private bool) bool
}

// Options are what the tools over GitHub need.
type Options struct {
	API  API
	Host string           // of the GitHub that API asks, as in links
	Run  string           // names the run where Pace shares between runs
	Pace *Pace            // of code searches, one for all runs of an installation; nil: none
	Now  func() time.Time // nil: time.Now
	// Keep is told each file that read_github_file showed something of, so that what is said of it can be checked without asking again:
	// its kind as in ReadFileData and, of a file, its bytes. Nil: nobody wants to know.
	Keep func(repo librarian.Repo, sha, path, kind string, content []byte)
	// Big shows a window of a file that is too big to be read through the API: in a checkout, whose key is what `repo` parameters call it.
	// Its error may be a *tool.BoundsError or one with a sentence for people. Nil: such a file is refused.
	Big func(ctx context.Context, repo librarian.Repo, sha, path string, w tool.Window) (v tool.View, key string, err error)
	// Discussion reads a discussion of a repository that the run may read, which needs GraphQL; nil: read_thread cannot. Its error
	// is librarian.ErrNotFound where there is none.
	Discussion func(ctx context.Context, repo librarian.Repo, number int) (librarian.Thread, error)
}

// Tools makes the tools over GitHub, in the order a model is told of them.
func Tools(o Options) []tool.Tool {
	if o.Now == nil {
		o.Now = time.Now
	}
	g := github{o}
	return []tool.Tool{g.searchRepos(), g.searchCode(), g.readFile(), g.readThread()}
}
