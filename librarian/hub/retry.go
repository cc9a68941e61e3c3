package hub

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

// Repeating a request that broke.
const (
	maxTries  = 4
	firstWait = 200 * time.Millisecond // doubled each time, with half of it left to chance
)

// retry is the highest layer. Reads are repeated after 5xx and cut connections, also those that were cut in an answer, and wait
// out a rate limit of up to maxWait; a write is sent once, because only its sender can tell whether it was carried out. Either way
// a rate limit becomes a [librarian.RateLimitError], and nothing is sent while one holds.
type retry struct {
	next    http.RoundTripper
	limits  *limits
	maxWait time.Duration
	all     bool // every request may be repeated: the App's own, which only mint tokens and read
}

func (t *retry) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	again := t.all || req.Method == http.MethodGet || req.Method == http.MethodHead || graphReads(req)
	var waited time.Duration
	for try := 1; ; try++ {
		resp, limit, err := t.once(req)
		if limit != nil {
			if resp != nil {
				drop(resp)
			}
			if !again || waited+limit.After > t.maxWait || !sleep(ctx, limit.After) {
				return nil, limit
			}
			waited += limit.After
			try-- // waiting as told is no failure; waited bounds it
		} else {
			if again && err == nil && resp.StatusCode < http.StatusInternalServerError {
				if err = whole(resp); err != nil {
					resp = nil
				}
			}
			broken := err != nil && ctx.Err() == nil && transient(err) || err == nil && resp.StatusCode >= http.StatusInternalServerError
			if !broken || !again || try == maxTries {
				return resp, err
			}
			pause := firstWait << (try - 1)
			if !sleep(ctx, pause/2+rand.N(pause/2)) {
				return resp, err
			}
			if resp != nil {
				drop(resp)
			}
		}
		next, ok := rewind(req, req.URL)
		if !ok {
			return nil, errors.New("cannot send the body again")
		}
		req = next
	}
}

func (t *retry) once(req *http.Request) (*http.Response, *librarian.RateLimitError, error) {
	if limit := t.limits.blocked(req); limit != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, limit, nil
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		// A token that could not be minted for a limit comes up here as an error.
		if limit, ok := errors.AsType[*librarian.RateLimitError](err); ok {
			return nil, limit, nil
		}
		return nil, nil, err
	}
	limit := t.limits.note(req, resp)
	// go-github would refuse requests by its own reckoning, which goes by our clock and cannot be asked to wait.
	resp.Header.Del("X-Ratelimit-Reset")
	return resp, limit, nil
}

// whole reads an answer to its end, or fails: one that is cut then can be asked for again. It is bounded as the wire bounds it.
func whole(resp *http.Response) error {
	body, err := io.ReadAll(resp.Body)
	if errors.Is(err, errLongAnswer) { // asking again would not help
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), resp.Body), resp.Body}
		return nil
	}
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return err
}

// transient tells what broke on the way from a token that could not be had: minting was repeated already.
func transient(err error) bool {
	_, mint := errors.AsType[*tokenError](err)
	return !mint
}

// sleep waits for d; it reports false when ctx ended first, or would.
func sleep(ctx context.Context, d time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < d {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
