package hub

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Bounds of what is read from GitHub.
const (
	maxAnswer      = 16 << 20 // bytes of one answer
	maxErrorAnswer = 64 << 10 // bytes of one that is an error; more is cut
)

// wire is the lowest layer, next to the network. It sends a credential to the API's own host and to no other, bounds what is
// read, and takes the credential out of what comes back: servers and proxies have been seen to repeat headers in error pages,
// and go-github puts the server's words and the whole request into its errors.
type wire struct {
	host endpoint
	next http.RoundTripper
}

func (t wire) RoundTrip(req *http.Request) (*http.Response, error) {
	auth := req.Header.Get("Authorization")
	if auth != "" && !t.host.is(req.URL) {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, fmt.Errorf("refused to send a token to %s", req.URL.Host)
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorAnswer))
		_ = resp.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("read error answer: %w", err)
		}
		for _, secret := range secretsIn(auth) {
			body = bytes.ReplaceAll(body, []byte(secret), []byte(hiddenToken))
		}
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	} else {
		resp.Body = &boundedBody{body: resp.Body, left: maxAnswer}
	}
	if auth != "" {
		bare := *req
		bare.Header = req.Header.Clone()
		bare.Header.Del("Authorization")
		resp.Request = &bare
	}
	return resp, nil
}

// secretsIn lists the forms in which the credential of an Authorization header can be repeated.
func secretsIn(auth string) []string {
	_, secret, _ := strings.Cut(auth, " ")
	if secret == "" {
		return nil
	}
	return []string{secret, base64.StdEncoding.EncodeToString([]byte("x-access-token:" + secret))}
}

var errLongAnswer = fmt.Errorf("the answer is longer than %d MiB", maxAnswer>>20)

// boundedBody fails, instead of ending early, when an answer is too long: half an answer would pass for a whole one.
type boundedBody struct {
	body io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errLongAnswer
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return n - 1, errLongAnswer
	}
	return n, err
}

func (b *boundedBody) Close() error { return b.body.Close() }
