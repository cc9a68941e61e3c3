package ghtool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/tool"
)

// github asks GitHub for one run.
type github struct{ Options }

// The media types asked for (https://docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api#media-types).
const (
	acceptJSON      = "application/vnd.github+json"
	acceptTextMatch = "application/vnd.github.text-match+json"
	acceptObject    = "application/vnd.github.object+json"
	acceptRaw       = "application/vnd.github.raw+json"
	acceptSHA       = "application/vnd.github.sha"
)

// statusError is an answer of GitHub that is not a success.
type statusError struct {
	status  int
	message string
	retry   time.Duration // of a rate limit; 0: it was none
}

func (e *statusError) Error() string {
	s := fmt.Sprintf("GitHub answered %d", e.status)
	if e.message != "" {
		s += " (" + strings.TrimSuffix(e.message, ".") + ")"
	}
	if e.retry > 0 {
		s += fmt.Sprintf(", a rate limit; retry after %d seconds", int(e.retry.Seconds()))
	}
	return s
}

// get asks for a path and gives the body of a success, at most limit bytes of it.
func (g github) get(ctx context.Context, repo *librarian.Repo, path string, query url.Values, accept string, limit int64) ([]byte, error) {
	header := http.Header{"Accept": {accept}, "X-Github-Api-Version": {"2022-11-28"}}
	resp, err := g.API.Get(ctx, repo, path, query, header)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, g.statusError(resp)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, errCut
	}
	if int64(len(body)) > limit {
		return nil, fmt.Errorf("GitHub's answer is over %s", tool.Size(limit))
	}
	return body, nil
}

var errCut = errors.New("GitHub's answer was cut")

// getJSON asks for a path and reads the fields of into from the answer.
func (g github) getJSON(ctx context.Context, repo *librarian.Repo, path string, query url.Values, accept string, into any) error {
	body, err := g.get(ctx, repo, path, query, accept, 16<<20)
	if err != nil {
		return err
	}
	if json.Unmarshal(body, into) != nil {
		return errors.New("GitHub's answer is not the JSON that was expected")
	}
	return nil
}

// statusError reads a refusal. Only a rate limit has a time to wait
// (https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit).
func (g github) statusError(resp *http.Response) error {
	e := &statusError{status: resp.StatusCode}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	var said struct {
		Message string `json:"message"`
		Errors  []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	if json.Unmarshal(body, &said) == nil {
		e.message = said.Message
		for _, m := range said.Errors {
			if m.Message != "" {
				e.message += ": " + m.Message
			}
		}
		e.message = tool.OneLine(tool.Clip(e.message, 300))
	}
	if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusTooManyRequests {
		return e
	}
	after, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	reset, resetErr := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64)
	switch {
	case err == nil && after >= 0:
		e.retry = time.Duration(max(after, 1)) * time.Second
	case resp.Header.Get("X-RateLimit-Remaining") == "0" && resetErr == nil:
		e.retry = max(time.Unix(reset, 0).Sub(g.Now()).Truncate(time.Second)+time.Second, time.Second)
	case resp.StatusCode == http.StatusTooManyRequests, strings.Contains(strings.ToLower(e.message), "secondary rate limit"):
		e.retry = time.Minute // what GitHub asks for where it says nothing
	}
	return e
}

// refusal makes a result of a failure. What the API itself refuses has a sentence of its own; instead says what to try.
func refusal(ctx context.Context, what string, err error, instead string) (tool.Result, error) {
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	if message, ok := librarian.UserMessage(err); ok {
		return tool.Errorf("%s", message), nil
	}
	var status *statusError
	var limited interface{ RetryAfter() time.Duration }
	text := err.Error()
	switch {
	case errors.As(err, &status):
		text = status.Error()
		if status.retry == 0 && (status.status == http.StatusForbidden || status.status == http.StatusNotFound) {
			instead = "Report that in the findings if it matters. " + instead
		}
	case errors.As(err, &limited):
		text = fmt.Sprintf("GitHub's rate limit is reached; retry after %d seconds", int(max(limited.RetryAfter(), time.Second).Seconds()))
	default:
		if _, ok := errors.AsType[*url.Error](err); ok {
			text = "GitHub could not be reached"
		}
	}
	return tool.Errorf("%s failed: %s. %s", what, text, instead), nil
}

// open asks the API for a repository that owner and name parameters name.
func (g github) open(ctx context.Context, owner, name string) (librarian.Repo, error) {
	n, err := librarian.ParseRepoName(owner + "/" + name)
	if err != nil {
		return librarian.Repo{}, &librarian.UserError{Message: sentence(err.Error()) + " " + resolveHint, Err: err}
	}
	return g.API.Repo(ctx, n)
}

// resolveHint ends the refusal of a repository that was not found.
const resolveHint = "If the name is uncertain, resolve it with search_repos first."

// repoPath is the API's path of a repository and what is below it; the parts are escaped, slashes in them too.
func repoPath(r librarian.Repo, parts ...string) string {
	all := []string{"repos", url.PathEscape(r.Owner), url.PathEscape(r.Name)}
	for _, p := range parts {
		all = append(all, url.PathEscape(p))
	}
	return strings.Join(all, "/")
}

func sentence(s string) string {
	if strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}
