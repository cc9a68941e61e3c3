package handlers

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"
	"github.com/palantir/go-githubapp/githubapp"
	"github.com/stretchr/testify/require"
)

// bare is the least that an App on go-githubapp does: parse the payload.
type bare struct{}

func (bare) Handles() []string { return []string{"issue_comment"} }

func (bare) Handle(_ context.Context, event, _ string, payload []byte) error {
	_, err := github.ParseWebHook(event, payload)
	return err
}

// fullPayload is an issue_comment delivery of the size that GitHub sends: its many URLs are there, too.
func fullPayload(b *testing.B, body string) []byte {
	urls := func(path ...string) func(map[string]any) {
		return func(p map[string]any) {
			for i := range 45 {
				set(fmt.Sprintf("https://api.github.example/repos/acme/app/%s/%d{/id}", path[0], i), append(path, fmt.Sprintf("thing_%d_url", i))...)(p)
			}
		}
	}
	prose := strings.Repeat("A comment of the usual kind, with `code` and \"quotes\" & so on.\n", 20)
	return []byte(commentPayload(b, prose+body, urls("repository"), urls("issue"), urls("comment"), urls("sender"), urls("repository", "owner"), set(prose+prose, "issue", "body")))
}

// BenchmarkWebhook compares our webhook with the bare dispatcher over real connections, in turns, so that both see the same
// machine. ratio is how many times as many deliveries ours takes in the same time.
func BenchmarkWebhook(b *testing.B) {
	o := testOptions(new(queue))
	h, err := NewWebhook(o)
	require.NoError(b, err)
	ours := httptest.NewServer(h)
	defer ours.Close()
	theirs := httptest.NewServer(githubapp.NewEventDispatcher([]githubapp.EventHandler{bare{}}, testSecret))
	defer theirs.Close()
	for _, kind := range []struct{ name, body string }{{"firehose", "Thanks!"}, {"mention", "@librarian why?"}} {
		payload := fullPayload(b, kind.body)
		for _, connections := range []int{1, 32} {
			b.Run(fmt.Sprintf("%s/connections=%d", kind.name, connections), func(b *testing.B) {
				client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
				defer client.CloseIdleConnections()
				var spent, spentBare time.Duration
				const batch = 64
				for b.Loop() {
					spent += burst(b, client, ours.URL, payload, batch, connections)
					spentBare += burst(b, client, theirs.URL, payload, batch, connections)
				}
				b.ReportMetric(float64(b.N)*batch/spent.Seconds(), "deliveries/s")
				b.ReportMetric(float64(b.N)*batch/spentBare.Seconds(), "bare/s")
				b.ReportMetric(spentBare.Seconds()/spent.Seconds(), "ratio")
			})
		}
	}
}

func burst(b *testing.B, client *http.Client, url string, payload []byte, n, connections int) time.Duration {
	signed := sign(payload)
	start := time.Now()
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			for range n / connections {
				r, _ := http.NewRequestWithContext(b.Context(), http.MethodPost, url, bytes.NewReader(payload))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("X-GitHub-Event", "issue_comment")
				r.Header.Set("X-GitHub-Delivery", "0b9d8f2e-7a53-11ee-8f0e-0d8a1d2b3c4d")
				r.Header.Set("X-Hub-Signature-256", signed)
				res, err := client.Do(r)
				if err != nil || res.StatusCode != http.StatusOK {
					b.Error(res, err)
					return
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}
