package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// newcomer is somebody who goes by what githubsim prints, and by GitHub's API.
type newcomer struct {
	t     *testing.T
	out   *lockedBuffer // of githubsim
	log   *lockedBuffer // of serve
	token string
	api   string // of the repository
}

func (n *newcomer) send(method, address, body string) map[string]any {
	n.t.Helper()
	status, raw := n.request(method, address, body)
	require.Less(n.t, status, 300, "%s %s: %s", method, address, raw)
	var got map[string]any
	if bytes.HasPrefix(raw, []byte("{")) { // else nothing, or a list
		require.NoError(n.t, json.Unmarshal(raw, &got))
	}
	require.NotContains(n.t, got, "errors")
	return got
}

func (n *newcomer) request(method, address, body string) (int, []byte) {
	n.t.Helper()
	r, err := http.NewRequestWithContext(n.t.Context(), method, address, strings.NewReader(body))
	require.NoError(n.t, err)
	r.Header.Set("Authorization", n.token)
	resp, err := http.DefaultClient.Do(r)
	require.NoError(n.t, err)
	raw, err := io.ReadAll(resp.Body)
	require.NoError(n.t, err)
	require.NoError(n.t, resp.Body.Close())
	return resp.StatusCode, raw
}

// answered waits until so many answers can be read at an address.
func (n *newcomer) answered(what, method, address, body string, count int) {
	n.t.Helper()
	deadline := time.After(60 * time.Second)
	for {
		status, raw := n.request(method, address, body)
		if status == http.StatusOK && strings.Count(string(raw), "role=answer") >= count {
			return
		}
		select {
		case <-deadline:
			n.t.Fatalf("%s was not answered: %d %s\n%s", what, status, raw, n.log)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Issue 6, 8: from what githubsim prints alone to a working App, asked in every way that it tells of.
func TestANewcomerAsksInEveryWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bare, clone := filepath.Join(dir, "pantry.git"), filepath.Join(dir, "pantry")
	gitRepo(t, bare, sampleFiles())
	checkouttest.Git(t, dir, "clone", "-q", bare, clone)
	checkouttest.Git(t, clone, "checkout", "-q", "-b", "wide")
	checkouttest.Git(t, clone, "mv", "shelf/shelf.go", "shelf/board.go")
	checkouttest.Git(t, clone, "commit", "-q", "-m", "Call it a board")
	checkouttest.Git(t, clone, "checkout", "-q", "main")
	sha := strings.TrimSpace(checkouttest.Git(t, clone, "rev-parse", "wide"))

	n := &newcomer{t: t, out: &lockedBuffer{}, log: &lockedBuffer{}}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { stop(); running.Wait() })
	hook := "http://" + freeAddress(t) + WebhookPath
	running.Go(func() {
		err := Simulate(ctx, SimOptions{Listen: "127.0.0.1:0", Repos: []string{"acme/pantry=" + clone}, Webhook: hook, Dir: filepath.Join(dir, "sim"),
			Out: n.out, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Errorf("githubsim: %v", err)
		}
	})
	printed := func() string { return n.out.String() }
	require.Eventually(t, func() bool { return strings.Contains(printed(), "who may only read") }, time.Minute, 10*time.Millisecond)

	// serve, with the printed configuration as it stands.
	_, text, _ := strings.Cut(printed(), "server:\n")
	text, _, _ = strings.Cut("server:\n"+text, "\n\n")
	cfg, err := Parse([]byte(text))
	require.NoError(t, err)
	cfg.Server.Data = filepath.Join(dir, "data")
	secrets, err := LoadSecrets(cfg, func(string) string { return "" }, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	up := make(chan string, 1)
	running.Go(func() {
		err := NewServer(cfg, secrets, ServerOptions{Log: slog.New(slog.NewTextHandler(n.log, nil)), Now: time.Now, Ready: func(u string) { up <- u }}).Run(ctx)
		if err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	select {
	case u := <-up:
		require.Equal(t, hook, u)
	case <-time.After(time.Minute):
		t.Fatal("serve did not start: " + n.log.String())
	}

	// What is printed is what is sent: each line is taken apart as a shell would.
	shell := regexp.MustCompile(`(?m)^T='(Authorization): ([^']+)' A=(\S+)$`).FindStringSubmatch(printed())
	require.NotNil(t, shell, printed())
	n.token, n.api = shell[2], shell[3]
	lines := regexp.MustCompile(`(?m)^curl -sS -H "\$T" (?:-X (\w+) )?(\S+)(?: -d '([^']*)')?(?: # (.*))?$`).FindAllStringSubmatch(printed(), -1)
	require.Len(t, lines, 10, printed())
	pull, comment := 0, 0
	thread := func(number int) string { return fmt.Sprintf("%s/issues/%d/comments?per_page=100", n.api, number) }
	count := func(at string) int {
		_, raw := n.request(http.MethodGet, at, "")
		return strings.Count(string(raw), "role=answer")
	}
	var asked []string
	for _, l := range lines {
		method, address, body, what := cmp.Or(l[1], http.MethodPost), strings.Replace(l[2], "$A", n.api, 1), l[3], l[4]
		if body == "" {
			continue // to see the thread
		}
		if strings.Contains(address, "/ID") {
			made := n.send(http.MethodPost, n.api+"/issues/1/comments", `{"body":"to be edited"}`)
			comment = int(made["id"].(float64))
			address = strings.Replace(address, "/ID", fmt.Sprint("/", comment), 1)
		}
		fill := strings.NewReplacer("NUMBER", fmt.Sprint(pull), "BRANCH", "wide", "PATH", "shelf/board.go", "LINE", "11", "SHA", sha)
		address, body = fill.Replace(address), fill.Replace(body)
		at := thread(1)
		switch what {
		case "a line of its diff":
			at = address
		case "a review":
			at = thread(pull)
		}
		before := count(at)
		made := n.send(method, address, body)
		asked = append(asked, what)
		if number, ok := made["number"].(float64); ok { // a thread of its own
			at, before = thread(int(number)), 0
			if what == "a pull request" {
				pull = int(number)
			}
		}
		if what == "a discussion" {
			number := made["data"].(map[string]any)["createDiscussion"].(map[string]any)["discussion"].(map[string]any)["number"]
			n.answered(what, http.MethodPost, address, fmt.Sprintf(
				`{"query":"query { repository(owner: \"acme\", name: \"pantry\") { discussion(number: %v) { comments(first: 5) { nodes { body } } } } }"}`, number), 1)
			continue
		}
		n.answered(what, http.MethodGet, at, "", before+1)
	}
	require.Equal(t, []string{"", "an issue's title", "an edit that adds the mention", "a label", "a pull request", "a line of its diff", "a review",
		"a discussion", "a dispatch"}, asked)
}

// freeAddress is one that nobody listens on just now.
func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = ln.Close() }()
	return ln.Addr().String()
}
