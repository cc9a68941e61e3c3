package handlers

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
)

const (
	testSecret = "a secret of the tests"
	testHost   = "github.example"
	testApp    = 4242
	testBot    = 777
)

// queue is an Enqueuer that remembers.
type queue struct {
	mu         sync.Mutex
	err        error
	panics     bool
	deliveries []librarian.Delivery
	requests   []librarian.Request
	changes    []InstallationChange
}

func (q *queue) Enqueue(_ context.Context, d librarian.Delivery, r librarian.Request) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.panics {
		panic("queue fell over")
	}
	q.deliveries, q.requests = append(q.deliveries, d), append(q.requests, r)
	return q.err
}

func (q *queue) Changed(_ context.Context, c InstallationChange) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.changes = append(q.changes, c)
	return q.err
}

func testOptions(q *queue) Options {
	return Options{
		Secret: testSecret, AppID: testApp, BotID: testBot, Names: []string{"librarian", "@Lib"}, Host: testHost, AllowBots: []int64{55},
		Enqueuer: q, Installations: q, Log: slog.New(slog.DiscardHandler),
	}
}

func serve(t testing.TB, o Options) *httptest.Server {
	t.Helper()
	h, err := NewWebhook(o)
	require.NoError(t, err)
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func sign(body []byte) string {
	mac := hmac.New(sha256.New, []byte(testSecret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// deliver sends body as GitHub does; change, if given, spoils the request.
func deliver(t testing.TB, s *httptest.Server, event, body string, change ...func(*http.Request)) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.URL, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-GitHub-Event", event)
	r.Header.Set("X-GitHub-Delivery", "0b9d8f2e-7a53-11ee-8f0e-0d8a1d2b3c4d")
	r.Header.Set("X-Hub-Signature-256", sign([]byte(body)))
	for _, c := range change {
		c(r)
	}
	res, err := s.Client().Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	out, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	require.NoError(t, err)
	return res.StatusCode, string(out)
}

// commentPayload is an issue_comment delivery; edits change its JSON.
func commentPayload(t testing.TB, body string, edits ...func(p map[string]any)) string {
	t.Helper()
	user := map[string]any{"id": 7, "login": "mona", "type": "User"}
	p := map[string]any{
		"action": "created",
		"comment": map[string]any{
			"id": 99, "body": body, "user": user, "created_at": "2026-11-30T12:00:00Z", "updated_at": "2026-11-30T13:00:00Z", "performed_via_github_app": nil,
			"reactions": map[string]any{"+1": 0}, "a_field_of_tomorrow": []int{1},
		},
		"issue":        map[string]any{"id": 5, "number": 12, "title": "It breaks", "body": "body", "user": user},
		"repository":   map[string]any{"id": 1001, "name": "app", "full_name": "acme/app", "owner": map[string]any{"login": "acme", "id": 3}, "private": true, "visibility": "internal"},
		"installation": map[string]any{"id": 31},
		"sender":       user,
	}
	for _, e := range edits {
		e(p)
	}
	b, err := json.Marshal(p)
	require.NoError(t, err)
	return string(b)
}

func set(value any, path ...string) func(map[string]any) {
	return func(p map[string]any) {
		for _, k := range path[:len(path)-1] {
			next, _ := p[k].(map[string]any)
			if next == nil {
				next = map[string]any{}
				p[k] = next
			}
			p = next
		}
		p[path[len(path)-1]] = value
	}
}

func TestCommentBecomesRequest(t *testing.T) {
	t.Parallel()
	q := new(queue)
	s := serve(t, testOptions(q))
	status, _ := deliver(t, s, "issue_comment", commentPayload(t, "@librarian why?\n\n> a quote"))
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, []librarian.Delivery{{ID: "0b9d8f2e-7a53-11ee-8f0e-0d8a1d2b3c4d", Event: "issue_comment"}}, q.deliveries)
	want := librarian.Request{
		Kind: librarian.KindQuestion, Question: "why?", Quoted: "a quote", Principal: librarian.Principal{ID: 7, Login: "mona"},
		Place: librarian.Place{
			Kind: librarian.PlaceIssue, Repo: "github:github.example:1001", RepoName: librarian.RepoName{Owner: "acme", Name: "app"},
			Visibility: librarian.Internal, Host: testHost, Installation: 31, Number: 12, Title: "It breaks",
			Trigger: librarian.TriggerIssueComment, TriggerID: 99,
		},
		AskedAt: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
	}
	require.Empty(t, cmp.Diff([]librarian.Request{want}, q.requests))
}

// Each row is one delivery; want is what was asked, or "" for nothing.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	ghost := func(p map[string]any) { set(nil, "comment", "user")(p); set(nil, "sender")(p) }
	bot := map[string]any{"id": 66, "login": "evil[bot]", "type": "Bot"}
	listed := map[string]any{"id": 55, "login": "good[bot]", "type": "Bot"}
	edited := func(from any) func(map[string]any) {
		return func(p map[string]any) { set("edited", "action")(p); set(from, "changes", "body", "from")(p) }
	}
	issue := func(title, body string) func(map[string]any) {
		return func(p map[string]any) {
			delete(p, "comment")
			set("opened", "action")(p)
			set(title, "issue", "title")(p)
			set(body, "issue", "body")(p)
		}
	}
	type row struct {
		name, event, body string
		edits             []func(map[string]any)
		want              string
		check             func(t *testing.T, r librarian.Request)
	}
	rows := []row{
		{"M1 an alias", "issue_comment", "@LIB why?", nil, "why?", nil},
		{"M1 twice in one comment", "issue_comment", "@librarian why? @librarian how?", nil, "why? librarian how?", nil},
		{"M3 in code", "issue_comment", "`@librarian` why?", nil, "", nil},
		{"M6 nothing asked", "issue_comment", "@librarian", nil, "/help", nil},
		{"M9 a command", "issue_comment", "@librarian stop", nil, "/stop", nil},
		{"M9 continue", "issue_comment", "@librarian continue 0B9D8F2E-7a53-4a33-8f0e-0d8a1d2b3c4d and\n\nwhy?", nil, "and\n\nwhy?",
			func(t *testing.T, r librarian.Request) {
				require.Equal(t, librarian.RunID("0b9d8f2e-7a53-4a33-8f0e-0d8a1d2b3c4d"), r.Continue)
			}},
		{"an escape in the JSON", "issue_comment", "", []func(map[string]any){set("@librarian why?", "comment", "body")}, "why?", nil},
		{"a pull request's conversation", "issue_comment", "@librarian why?", []func(map[string]any){set(map[string]any{"url": "x"}, "issue", "pull_request")}, "why?",
			func(t *testing.T, r librarian.Request) { require.Equal(t, librarian.PlacePull, r.Place.Kind) }},
		{"pull_request is null", "issue_comment", "@librarian why?", []func(map[string]any){set(nil, "issue", "pull_request")}, "why?",
			func(t *testing.T, r librarian.Request) { require.Equal(t, librarian.PlaceIssue, r.Place.Kind) }},
		{"T10 deleted", "issue_comment", "@librarian why?", []func(map[string]any){set("deleted", "action")}, "/withdraw", nil},
		{"T10 deleted, it never asked", "issue_comment", "`@librarian` why?", []func(map[string]any){set("deleted", "action")}, "", nil},
		{"T10 deleted by somebody else, without permission", "issue_comment", "@librarian why?",
			[]func(map[string]any){set("deleted", "action"), set(bot, "sender")}, "/withdraw",
			func(t *testing.T, r librarian.Request) {
				require.Equal(t, librarian.TriggerIssueComment, r.Place.Trigger)
				require.EqualValues(t, 99, r.Place.TriggerID)
			}},
		{"T10 a comment of ours is deleted", "issue_comment", "@librarian why?",
			[]func(map[string]any){set("deleted", "action"), set(testApp, "comment", "performed_via_github_app", "id")}, "", nil},
		{"O5 an edit adds the first mention", "issue_comment", "@librarian why?", []func(map[string]any){edited("why?")}, "why?",
			func(t *testing.T, r librarian.Request) { require.Equal(t, 13, r.AskedAt.Hour()) }},
		{"O5 an edit of a question", "issue_comment", "@librarian why not?", []func(map[string]any){edited("@librarian why?")}, "", nil},
		{"O5 an edit takes it out of code", "issue_comment", "@librarian why?", []func(map[string]any){edited("`@librarian` why?")}, "why?", nil},
		{"O5 an edit that does not touch the body", "issue_comment", "@librarian why?", []func(map[string]any){set("edited", "action")}, "", nil},
		{"an edit by somebody else asks as them", "issue_comment", "@librarian why?",
			[]func(map[string]any){edited("why?"), set(map[string]any{"id": 8, "login": "hubot", "type": "User"}, "sender")}, "why?",
			func(t *testing.T, r librarian.Request) { require.EqualValues(t, 8, r.Principal.ID) }},
		{"M8 written through the App", "issue_comment", "@librarian why?", []func(map[string]any){set(testApp, "comment", "performed_via_github_app", "id")}, "", nil},
		{"M8 written by its bot", "issue_comment", "@librarian why?", []func(map[string]any){set(testBot, "comment", "user", "id")}, "", nil},
		{"M8 edited by its bot", "issue_comment", "@librarian why?", []func(map[string]any){edited("why?"), set(map[string]any{"id": testBot}, "sender")}, "", nil},
		{"M8 the App's comment edited by a person", "issue_comment", "@librarian why?",
			[]func(map[string]any){edited("why?"), set(testApp, "comment", "performed_via_github_app", "id")}, "", nil},
		{"M8 another App, a person", "issue_comment", "@librarian why?", []func(map[string]any){set(1, "comment", "performed_via_github_app", "id")}, "why?", nil},
		{"M8 a login like ours is no bot of ours", "issue_comment", "@librarian why?", []func(map[string]any){set("librarian", "comment", "user", "login")}, "why?", nil},
		{"W2 a bot", "issue_comment", "@librarian why?", []func(map[string]any){set(bot, "comment", "user"), set(bot, "sender")}, "", nil},
		{"W2 a bot by its login alone", "issue_comment", "@librarian why?", []func(map[string]any){set("x[bot]", "comment", "user", "login")}, "", nil},
		{"W2 a bot that is listed", "issue_comment", "@librarian why?", []func(map[string]any){set(listed, "comment", "user"), set(listed, "sender")}, "why?",
			func(t *testing.T, r librarian.Request) { require.True(t, r.Principal.Bot) }},
		{"W8 a ghost", "issue_comment", "@librarian why?", []func(map[string]any){ghost}, "why?",
			func(t *testing.T, r librarian.Request) {
				require.Equal(t, librarian.Principal{Login: librarian.GhostLogin}, r.Principal)
			}},
		{"W8 the issue's author is a ghost", "issue_comment", "@librarian why?", []func(map[string]any){set(nil, "issue", "user")}, "why?", nil},
		{"private without visibility", "issue_comment", "@librarian why?", []func(map[string]any){set(nil, "repository", "visibility")}, "why?",
			func(t *testing.T, r librarian.Request) { require.Equal(t, librarian.Private, r.Place.Visibility) }},
		{"public without visibility", "issue_comment", "@librarian why?",
			[]func(map[string]any){set(nil, "repository", "visibility"), set(false, "repository", "private")}, "why?",
			func(t *testing.T, r librarian.Request) { require.Equal(t, librarian.Public, r.Place.Visibility) }},
		{"nothing said of visibility", "issue_comment", "@librarian why?",
			[]func(map[string]any){set(nil, "repository", "visibility"), set(nil, "repository", "private")}, "why?",
			func(t *testing.T, r librarian.Request) { require.Equal(t, librarian.Private, r.Place.Visibility) }},
		{"no installation", "issue_comment", "@librarian why?", []func(map[string]any){set(nil, "installation")}, "why?", nil},

		{"an issue", "issues", "", []func(map[string]any){issue("It breaks", "@librarian why?")}, "why?",
			func(t *testing.T, r librarian.Request) {
				require.Equal(t, librarian.TriggerIssueBody, r.Place.Trigger)
				require.EqualValues(t, 5, r.Place.TriggerID)
			}},
		{"an issue's title", "issues", "", []func(map[string]any){issue("@librarian why does it break", "Look here.")}, "why does it break\n\nLook here.", nil},
		{"an issue without a body", "issues", "", []func(map[string]any){issue("@librarian why", ""), set(nil, "issue", "body")}, "why", nil},
		{"an issue that mentions nobody", "issues", "", []func(map[string]any){issue("a", "b")}, "", nil},
		{"O5 an issue is labeled", "issues", "", []func(map[string]any){issue("a", "@librarian b"), set("labeled", "action")}, "", nil},
		{"O5 an issue is assigned", "issues", "", []func(map[string]any){issue("a", "@librarian b"), set("assigned", "action")}, "", nil},
		{"O5 an edit adds a first mention", "issues", "", []func(map[string]any){issue("a", "@librarian b"), edited("b")}, "b", nil},
		{"O5 an edit of a title under a mention", "issues", "",
			[]func(map[string]any){issue("a", "@librarian b"), set("edited", "action"), set("z", "changes", "title", "from")}, "", nil},
		{"O5 an edit adds a mention to the title", "issues", "",
			[]func(map[string]any){issue("@librarian a", "b"), set("edited", "action"), set("a", "changes", "title", "from")}, "a\n\nb", nil},
		{"T10 an issue is deleted", "issues", "", []func(map[string]any){issue("a", "@librarian b"), set("deleted", "action")}, "/withdraw", nil},
		{"M8 an issue by the App", "issues", "", []func(map[string]any){issue("a", "@librarian b"), set(testApp, "issue", "performed_via_github_app", "id")}, "", nil},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			q := new(queue)
			s := serve(t, testOptions(q))
			status, text := deliver(t, s, row.event, commentPayload(t, row.body, row.edits...))
			require.Equal(t, http.StatusOK, status, text)
			if row.want == "" {
				require.Empty(t, q.requests)
				return
			}
			require.Len(t, q.requests, 1)
			r := q.requests[0]
			got := r.Question
			if r.Kind == librarian.KindCommand {
				got = strings.TrimSpace("/" + r.Command + " " + r.Question)
			}
			require.Equal(t, row.want, got)
			if row.check != nil {
				row.check(t, r)
			}
		})
	}
}

func TestM7_LargestBody(t *testing.T) {
	t.Parallel()
	q := new(queue)
	s := serve(t, testOptions(q))
	body := "@librarian why $(x) ${{ y }} \"z\"\x00 " + strings.Repeat("`````\n[](\"😀 ", 65_536/14)
	status, _ := deliver(t, s, "issue_comment", commentPayload(t, body))
	require.Equal(t, http.StatusOK, status)
	require.Len(t, q.requests, 1)
	require.True(t, strings.HasPrefix(q.requests[0].Question, "why $(x) ${{ y }} \"z\""))
	require.Contains(t, q.requests[0].Question, "[Cut here: the first 16000 of ")
	require.NotContains(t, q.requests[0].Question, "\x00")
}

func TestInstallations(t *testing.T) {
	t.Parallel()
	q := new(queue)
	s := serve(t, testOptions(q))
	const who = `"installation":{"id":31,"account":{"id":3,"login":"acme"}}`
	for _, d := range []struct{ event, body string }{
		{"installation", `{"action":"created",` + who + `,"repositories":[{"id":1},{"id":2}]}`},
		{"installation", `{"action":"suspend","installation":{"id":31,"account":null}}`},
		{"installation", `{"action":"deleted",` + who + `,"repositories":[{"id":1}]}`},
		{"installation_repositories", `{"action":"removed",` + who + `,"repositories_added":[],"repositories_removed":[{"id":2},{"id":null}]}`},
	} {
		status, text := deliver(t, s, d.event, d.body)
		require.Equal(t, http.StatusOK, status, text)
	}
	d := librarian.Delivery{ID: "0b9d8f2e-7a53-11ee-8f0e-0d8a1d2b3c4d", Event: "installation"}
	r := librarian.Delivery{ID: d.ID, Event: "installation_repositories"}
	one, two := librarian.RepoID("github:github.example:1"), librarian.RepoID("github:github.example:2")
	require.Empty(t, cmp.Diff([]InstallationChange{
		{Delivery: d, Action: "created", Installation: 31, Account: "acme", Added: []librarian.RepoID{one, two}},
		{Delivery: d, Action: "suspend", Installation: 31, Account: "ghost"},
		{Delivery: d, Action: "deleted", Installation: 31, Account: "acme", Removed: []librarian.RepoID{one}},
		{Delivery: r, Action: "removed", Installation: 31, Account: "acme", Removed: []librarian.RepoID{two}},
	}, q.changes))
	require.Empty(t, q.requests)
}

func TestL6_NewWebhookRefuses(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*Options){
		"secret": func(o *Options) { o.Secret = "" }, "App id": func(o *Options) { o.AppID = 0 }, "name": func(o *Options) { o.Names = []string{" ", "@"} },
		"host": func(o *Options) { o.Host = "" }, "queue": func(o *Options) { o.Enqueuer = nil },
	} {
		o := testOptions(new(queue))
		spoil(&o)
		_, err := NewWebhook(o)
		require.ErrorContains(t, err, name)
	}
}

func TestL6_Guard(t *testing.T) {
	t.Parallel()
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Del(name)
			if value != "" {
				r.Header.Set(name, value)
			}
		}
	}
	payload := commentPayload(t, "@librarian why?")
	sha1Of := func(body string) string {
		mac := hmac.New(sha1.New, []byte(testSecret))
		mac.Write([]byte(body))
		return "sha1=" + hex.EncodeToString(mac.Sum(nil))
	}
	for _, tt := range []struct {
		name, event, body string
		change            []func(*http.Request)
		want              int
	}{
		{"a good one", "issue_comment", payload, nil, 200},
		{"ping", "ping", `{"zen":"x","hook_id":1}`, nil, 200},
		{"an event nobody handles", "star", `{"action":"created"}`, nil, 202},
		{"an unknown installation is nobody's matter here", "issue_comment", commentPayload(t, "@librarian why?", set(987654, "installation", "id")), nil, 200},
		{"no signature", "issue_comment", payload, []func(*http.Request){header("X-Hub-Signature-256", "")}, 401},
		{"SHA-1 alone", "issue_comment", payload, []func(*http.Request){header("X-Hub-Signature-256", ""), header("X-Hub-Signature", sha1Of(payload))}, 401},
		{"SHA-1 in the other header", "issue_comment", payload, []func(*http.Request){header("X-Hub-Signature-256", sha1Of(payload))}, 401},
		{"a wrong signature", "issue_comment", payload, []func(*http.Request){header("X-Hub-Signature-256", sign([]byte(payload+" ")))}, 401},
		{"upper case", "issue_comment", payload, []func(*http.Request){header("X-Hub-Signature-256", strings.ToUpper(sign([]byte(payload))))}, 401},
		{"a short signature", "issue_comment", payload, []func(*http.Request){header("X-Hub-Signature-256", "sha256=00")}, 401},
		{"a signature and more", "issue_comment", payload, []func(*http.Request){header("X-Hub-Signature-256", sign([]byte(payload))+"\t0")}, 401},
		{"a wrong signature of an event nobody handles", "star", "{}", []func(*http.Request){header("X-Hub-Signature-256", sign(nil))}, 401},
		{"GET", "issue_comment", payload, []func(*http.Request){func(r *http.Request) { r.Method = http.MethodGet }}, 405},
		{"a form", "issue_comment", "payload=" + payload, []func(*http.Request){header("Content-Type", "application/x-www-form-urlencoded")}, 415},
		{"no content type", "issue_comment", payload, []func(*http.Request){header("Content-Type", "")}, 415},
		{"JSON with a charset", "issue_comment", payload, []func(*http.Request){header("Content-Type", "application/json; charset=utf-8")}, 200},
		{"no event", "", payload, []func(*http.Request){header("X-GitHub-Event", "")}, 400},
		{"not JSON", "issue_comment", "@librarian", nil, 400},
		{"an empty body", "issue_comment", "", nil, 400},
		{"cut JSON", "issue_comment", payload[:len(payload)-3], nil, 400},
		{"broken JSON that mentions us", "issue_comment", `{"@librarian" "x"}`, nil, 400},
		{"an array", "issue_comment", `["@librarian"]`, nil, 400},
		{"of a wrong type", "issue_comment", `{"action":"created","comment":"@librarian"}`, nil, 400},
		{"without a comment", "issue_comment", `{"action":"created","x":"@librarian"}`, nil, 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := new(queue)
			status, text := deliver(t, serve(t, testOptions(q)), tt.event, tt.body, tt.change...)
			require.Equal(t, tt.want, status, text)
			require.Equal(t, tt.want == 200 && strings.Contains(tt.body, "why?"), len(q.requests) == 1)
			if tt.want >= 400 {
				require.NotEmpty(t, text)
				require.NotContains(t, text, testSecret)
			}
		})
	}
}

func TestL6_TooLarge(t *testing.T) {
	q := new(queue)
	s := serve(t, testOptions(q))
	const size = 26 << 20
	send := func(body io.Reader, length int64) int {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.URL, body)
		require.NoError(t, err)
		r.ContentLength = length
		for k, v := range map[string]string{
			"Content-Type": "application/json", "X-GitHub-Event": "issues", "X-Hub-Signature-256": "sha256=" + strings.Repeat("0", 64),
		} {
			r.Header.Set(k, v)
		}
		res, err := s.Client().Do(r)
		if err != nil { // the server hung up on a body that it does not want
			return http.StatusRequestEntityTooLarge
		}
		defer res.Body.Close()
		return res.StatusCode
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 20 {
		require.Equal(t, http.StatusRequestEntityTooLarge, send(io.LimitReader(zeros{}, size), size))
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20), "a body whose length is told is not read")

	require.Equal(t, http.StatusRequestEntityTooLarge, send(io.LimitReader(zeros{}, size), -1), "a body whose length is not told")
	require.Equal(t, http.StatusUnauthorized, send(io.LimitReader(zeros{}, 2<<20), -1), "the next one has its turn")
	require.Equal(t, http.StatusUnauthorized, send(io.LimitReader(zeros{}, 2<<20), 2<<20))
	require.Empty(t, q.requests)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestL6_SlowBody(t *testing.T) {
	t.Parallel()
	o := testOptions(new(queue))
	o.ReadTimeout = 50 * time.Millisecond
	s := serve(t, o)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-GitHub-Event: issues\r\nX-Hub-Signature-256: sha256=%064d\r\nContent-Length: 100\r\n\r\n{", 0)
	require.NoError(t, err)
	answer, err := io.ReadAll(conn) // ends when the server closes
	require.NoError(t, err)
	require.Contains(t, string(answer), "408 Request Timeout")
}

// What cannot be made durable is not acknowledged, so that it can be sent again (O3).
func TestO3_NotDurable(t *testing.T) {
	t.Parallel()
	payload := commentPayload(t, "@librarian why?")
	q := &queue{err: errors.New("disk full, and a secret path")}
	s := serve(t, testOptions(q))
	status, text := deliver(t, s, "issue_comment", payload)
	require.Equal(t, http.StatusInternalServerError, status)
	require.NotContains(t, text, "secret path")
	status, _ = deliver(t, s, "installation", `{"action":"created","installation":{"id":1}}`)
	require.Equal(t, http.StatusInternalServerError, status)
	q.err = nil
	status, _ = deliver(t, s, "issue_comment", payload)
	require.Equal(t, http.StatusOK, status)
}

func TestPanicIsContained(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	q := &queue{panics: true}
	o := testOptions(q)
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	s := serve(t, o)
	status, _ := deliver(t, s, "issue_comment", commentPayload(t, "@librarian why?"))
	require.Equal(t, http.StatusInternalServerError, status)
	require.Contains(t, log.String(), "queue fell over")
	q.panics = false
	status, _ = deliver(t, s, "issue_comment", commentPayload(t, "@librarian why?"))
	require.Equal(t, http.StatusOK, status)
}
