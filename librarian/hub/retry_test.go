package hub

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
)

// script answers requests in turn; the last answer is repeated.
type script struct {
	answers []answer
	at      []time.Time // when each request came
	bodies  []string
}

type answer struct {
	status int
	header map[string]string
	body   string
	cut    bool // in the body
	err    error
}

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	a := s.answers[min(len(s.at), len(s.answers)-1)]
	s.at = append(s.at, time.Now())
	if req.Body != nil {
		b, _ := io.ReadAll(req.Body)
		s.bodies = append(s.bodies, string(b))
	}
	if a.err != nil {
		return nil, a.err
	}
	h := http.Header{"Date": {time.Now().UTC().Format(http.TimeFormat)}}
	for k, v := range a.header {
		h.Set(k, v)
	}
	var body io.Reader = strings.NewReader(a.body)
	if a.cut {
		body = io.MultiReader(body, iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	return &http.Response{StatusCode: a.status, Header: h, Body: io.NopCloser(body), Request: req}, nil
}

func (s *script) waits() []time.Duration {
	var d []time.Duration
	for i := 1; i < len(s.at); i++ {
		d = append(d, s.at[i].Sub(s.at[i-1]))
	}
	return d
}

const secondaryAnswer = `{"message":"You have exceeded a secondary rate limit."}`

func send(t *testing.T, r *retry, ctx context.Context, method, path string) (int, error) {
	t.Helper()
	var body io.Reader
	if method == http.MethodPost {
		body = strings.NewReader("body")
	}
	req, err := http.NewRequestWithContext(ctx, method, "https://api.example"+path, body)
	require.NoError(t, err)
	resp, err := r.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, nil
}

func TestL2_RateLimits(t *testing.T) {
	t.Parallel()
	reset := map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "946684830"} // synctest begins at 946684800
	for name, c := range map[string]struct {
		answer answer
		after  time.Duration // 0: no rate limit
		told   bool
	}{
		"403 with Retry-After":           {answer{status: 403, header: map[string]string{"Retry-After": "40"}}, 40 * time.Second, true},
		"403 with a date":                {answer{status: 403, header: map[string]string{"Retry-After": "Sat, 01 Jan 2000 00:01:00 GMT"}}, time.Minute, true},
		"429":                            {answer{status: 429}, time.Minute, false},
		"429 with Retry-After":           {answer{status: 429, header: map[string]string{"Retry-After": "20"}}, 20 * time.Second, true},
		"secondary, no header":           {answer{status: 403, body: secondaryAnswer}, time.Minute, false},
		"abuse detection":                {answer{status: 403, body: `{"message":"You have triggered an abuse detection mechanism."}`}, time.Minute, false},
		"nothing remains":                {answer{status: 403, header: reset}, 31 * time.Second, true},
		"nothing remains, 429":           {answer{status: 429, header: reset}, 31 * time.Second, true},
		"nothing remains, but it worked": {answer{status: 200, header: reset}, 0, false},
		"a plain 403":                    {answer{status: 403, header: map[string]string{"X-RateLimit-Remaining": "4000"}, body: `{"message":"Resource not accessible by integration"}`}, 0, false},
		"a 404":                          {answer{status: 404, header: map[string]string{"X-RateLimit-Remaining": "1"}}, 0, false},
		"absurd Retry-After":             {answer{status: 403, header: map[string]string{"Retry-After": "99999999999999999999"}}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &script{answers: []answer{c.answer}}
				r := &retry{next: s, limits: newLimits(time.Now), maxWait: 10 * time.Second}
				status, err := send(t, r, t.Context(), http.MethodGet, "/repos/a/b")
				require.Len(t, s.at, 1)
				if c.after == 0 {
					require.NoError(t, err)
					require.Equal(t, c.answer.status, status)
					return
				}
				var limit *librarian.RateLimitError
				require.ErrorAs(t, err, &limit)
				require.Equal(t, c.after, limit.RetryAfter())
				require.Equal(t, c.told, limit.Told)

				time.Sleep(c.after / 2)
				_, err = send(t, r, t.Context(), http.MethodPost, "/repos/a/b/issues/1/comments")
				require.ErrorAs(t, err, &limit)
				require.LessOrEqual(t, limit.RetryAfter(), c.after-c.after/2)
				require.Len(t, s.at, 1, "nothing is sent while the limit holds")
				time.Sleep(c.after)
				s.answers = []answer{{status: 200}}
				_, err = send(t, r, t.Context(), http.MethodGet, "/repos/a/b")
				require.NoError(t, err)
			})
		})
	}
}

func TestL2_ShortLimitsAreWaitedOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited := answer{status: 403, header: map[string]string{"Retry-After": "4"}}
		s := &script{answers: []answer{limited, limited, {status: 200}}}
		r := &retry{next: s, limits: newLimits(time.Now), maxWait: 10 * time.Second}
		_, err := send(t, r, t.Context(), http.MethodGet, "/x")
		require.NoError(t, err)
		require.Equal(t, []time.Duration{4 * time.Second, 4 * time.Second}, s.waits())

		s = &script{answers: []answer{limited}} // for ever
		r = &retry{next: s, limits: newLimits(time.Now), maxWait: 10 * time.Second}
		start := time.Now()
		var limit *librarian.RateLimitError
		_, err = send(t, r, t.Context(), http.MethodGet, "/x")
		require.ErrorAs(t, err, &limit)
		require.LessOrEqual(t, time.Since(start), 10*time.Second)

		s = &script{answers: []answer{limited, {status: 200}}}
		r = &retry{next: s, limits: newLimits(time.Now), maxWait: 10 * time.Second}
		_, err = send(t, r, t.Context(), http.MethodPost, "/x")
		require.ErrorAs(t, err, &limit, "a write's sender waits itself")
		require.Len(t, s.at, 1)
	})
}

func TestL2_WaitsGrowWhenNothingIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []answer{{status: 403, body: secondaryAnswer}}}
		r := &retry{next: s, limits: newLimits(time.Now), maxWait: time.Second}
		var waits []time.Duration
		for range 7 {
			var limit *librarian.RateLimitError
			_, err := send(t, r, t.Context(), http.MethodGet, "/x")
			require.ErrorAs(t, err, &limit)
			waits = append(waits, limit.After/time.Minute)
			time.Sleep(limit.After)
		}
		require.Equal(t, []time.Duration{1, 2, 4, 8, 15, 15, 15}, waits)

		s.answers = []answer{{status: 200}}
		_, err := send(t, r, t.Context(), http.MethodGet, "/x")
		require.NoError(t, err)
		s.answers = []answer{{status: 403, body: secondaryAnswer}}
		var limit *librarian.RateLimitError
		_, err = send(t, r, t.Context(), http.MethodGet, "/x")
		require.ErrorAs(t, err, &limit)
		require.Equal(t, time.Minute, limit.After, "an answer ends the row")
	})
}

func TestOneResourceDoesNotBlockAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []answer{{status: 403, header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "946684860",
			"X-RateLimit-Resource": "code_search"}}, {status: 200}}}
		r := &retry{next: s, limits: newLimits(time.Now), maxWait: time.Second}
		var limit *librarian.RateLimitError
		_, err := send(t, r, t.Context(), http.MethodGet, "/api/v3/search/code")
		require.ErrorAs(t, err, &limit)
		_, err = send(t, r, t.Context(), http.MethodGet, "/api/v3/repos/a/b")
		require.NoError(t, err)
		_, err = send(t, r, t.Context(), http.MethodGet, "/api/v3/search/code")
		require.ErrorAs(t, err, &limit)
		require.Len(t, s.at, 2)
	})
}

func TestBrokenRequests(t *testing.T) {
	t.Parallel()
	broken := []answer{{status: 502}, {err: errors.New("connection reset")}, {status: 500}, {status: 200}}
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: broken}
		r := &retry{next: s, limits: newLimits(time.Now), maxWait: time.Second}
		status, err := send(t, r, t.Context(), http.MethodGet, "/x")
		require.NoError(t, err)
		require.Equal(t, 200, status)
		for i, d := range s.waits() {
			whole := firstWait << i
			require.True(t, d >= whole/2 && d <= whole, "%v for try %d", d, i)
		}

		s = &script{answers: []answer{{status: 200, body: `{"id":`, cut: true}, {status: 200, body: `{"id":1}`}}}
		r.next = s
		status, err = send(t, r, t.Context(), http.MethodGet, "/x")
		require.NoError(t, err)
		require.Equal(t, 200, status)
		require.Len(t, s.at, 2, "half an answer is none")
		s = &script{answers: []answer{{status: 200, body: `{"id":`, cut: true}}}
		r.next = s
		_, err = send(t, r, t.Context(), http.MethodGet, "/x")
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Len(t, s.at, maxTries)
		s = &script{answers: []answer{{status: 200, body: strings.Repeat("x", maxAnswer+1)}}}
		r.next = &wire{next: s}
		resp, err := r.RoundTrip(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://a.example/x", nil))
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.ErrorIs(t, err, errLongAnswer)
		require.Len(t, body, maxAnswer)
		require.Len(t, s.at, 1, "what is too long stays so")

		s = &script{answers: []answer{{status: 503}}}
		r.next = s
		status, err = send(t, r, t.Context(), http.MethodGet, "/x")
		require.NoError(t, err, "the last answer is the answer")
		require.Equal(t, 503, status)
		require.Len(t, s.at, maxTries)

		s = &script{answers: broken}
		r.next = s
		status, _ = send(t, r, t.Context(), http.MethodPost, "/x")
		require.Equal(t, 502, status)
		require.Len(t, s.at, 1, "a write is sent once")

		s = &script{answers: broken}
		_, err = send(t, &retry{next: s, limits: newLimits(time.Now), all: true}, t.Context(), http.MethodPost, "/x")
		require.NoError(t, err)
		require.Equal(t, []string{"body", "body", "body", "body"}, s.bodies)

		s = &script{answers: broken}
		r.next = s
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		start := time.Now()
		_, _ = send(t, r, ctx, http.MethodGet, "/x")
		require.Zero(t, time.Since(start), "no wait that cannot end in time")
	})
}

func TestWireSendsTokensHomeOnly(t *testing.T) {
	t.Parallel()
	home, err := newEndpoint("https://api.example/", "")
	require.NoError(t, err)
	s := &script{answers: []answer{{status: 200}}}
	for target, ok := range map[string]bool{"https://api.example/x": true, "https://evil.example/x": false, "http://api.example/x": false,
		"https://api.example:444/x": false} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer x")
		resp, err := wire{home, s}.RoundTrip(req)
		if !ok {
			require.ErrorContains(t, err, "refused", target)
			continue
		}
		require.NoError(t, err, target)
		require.NoError(t, resp.Body.Close())
	}
	require.Len(t, s.at, 1)
}
