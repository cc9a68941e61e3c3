package githubsim_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/stretchr/testify/require"
)

// hook is what an App received.
type hook struct {
	event, guid string
	header      http.Header
	payload     map[string]any
}

// listen gives the App a receiver that checks signatures and answers with what status says.
func (s *sim) listen(status func(n int) int) func() []hook {
	s.t.Helper()
	var mu sync.Mutex
	var got []hook
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		if _, err := github.ValidatePayload(r, []byte(s.app.WebhookSecret)); err != nil {
			w.WriteHeader(http.StatusTeapot) // shows in the delivery
			return
		}
		h := hook{event: github.WebHookType(r), guid: github.DeliveryID(r), header: r.Header}
		_ = json.Unmarshal(raw, &h.payload)
		if d, _ := description(); d != nil && h.payload["action"] != "made up" {
			if err := d.event(h.event, raw); err != nil {
				s.t.Errorf("event %s %v is otherwise than GitHub describes: %s", h.event, h.payload["action"], short(err))
			}
		}
		mu.Lock()
		got = append(got, h)
		n := len(got)
		mu.Unlock()
		w.WriteHeader(status(n))
		_, _ = io.WriteString(w, "thanks")
	}))
	s.t.Cleanup(receiver.Close)
	require.NoError(s.t, s.SetWebhookURL(s.app, receiver.URL))
	require.NoError(s.t, s.WaitDeliveries(s.t.Context()))
	return func() []hook {
		require.NoError(s.t, s.WaitDeliveries(s.t.Context()))
		mu.Lock()
		defer mu.Unlock()
		return append([]hook(nil), got...)
	}
}

func accepted(int) int { return http.StatusAccepted }

func TestEventsAreSentSigned(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	got := s.listen(accepted)
	require.Equal(t, "ping", got()[0].event)
	next := 1
	// expect runs f and checks that just this event follows, and that go-github can read it.
	expect := func(event, action string, f func() error) map[string]any {
		t.Helper()
		require.NoError(t, f())
		all := got()
		require.Len(t, all, next+1, "one event for %s %s", event, action)
		h := all[next]
		next++
		require.Equal(t, event, h.event)
		require.Equal(t, action, h.payload["action"])
		require.Len(t, h.guid, 36)
		require.Equal(t, "application/json", h.header.Get("Content-Type"))
		require.Equal(t, "integration", h.header.Get("X-GitHub-Hook-Installation-Target-Type"))
		require.Contains(t, h.payload, "installation")
		raw, err := json.Marshal(h.payload)
		require.NoError(t, err)
		_, err = github.ParseWebHook(h.event, raw)
		require.NoError(t, err)
		return h.payload
	}
	at := func(o map[string]any, path ...string) any {
		var v any = o
		for _, p := range path {
			m, _ := v.(map[string]any)
			v = m[p]
		}
		return v
	}
	var comment githubsim.Comment
	p := expect("issues", "opened", func() error { _, err := s.OpenIssue("acme/vault", "ann", "T", "B"); return err })
	require.Equal(t, "B", at(p, "issue", "body"))
	require.Equal(t, true, at(p, "repository", "private"))
	require.EqualValues(t, s.inst.ID, at(p, "installation", "id"))
	require.Equal(t, "ann", at(p, "sender", "login"))
	require.Equal(t, "acme", at(p, "organization", "login"))
	p = expect("issue_comment", "created", func() (err error) { comment, err = s.Comment("acme/vault", 1, "bob", "@librarian hm"); return err })
	require.EqualValues(t, comment.ID, at(p, "comment", "id"))
	p = expect("issue_comment", "edited", func() error { return s.EditComment(comment.ID, "bob", "new") })
	require.Equal(t, "@librarian hm", at(p, "changes", "body", "from"))
	p = expect("issue_comment", "created", func() error {
		_, _, err := s.asInstallation().Issues.CreateComment(t.Context(), "acme", "vault", 1, body("answer"))
		return err
	})
	require.Equal(t, "Bot", at(p, "sender", "type"))
	require.Equal(t, "librarian", at(p, "comment", "performed_via_github_app", "slug"))
	expect("issue_comment", "deleted", func() error { return s.DeleteComment(comment.ID, "ann") })
	expect("issues", "labeled", func() error { return s.LabelIssue("acme/vault", 1, "ann", "librarian") })
	expect("issues", "assigned", func() error { return s.AssignIssue("acme/vault", 1, "ann", "bob") })
	expect("issues", "edited", func() error { return s.EditIssue("acme/vault", 1, "ann", "T2", "B2") })
	expect("issues", "locked", func() error { return s.LockIssue("acme/vault", 1, "ann", true) })
	expect("issues", "closed", func() error { return s.CloseIssue("acme/vault", 1, "ann") })
	expect("issues", "reopened", func() error { return s.ReopenIssue("acme/vault", 1, "ann") })
	expect("pull_request", "opened", func() error {
		_, err := s.OpenPull("acme/vault", "ann", githubsim.PullOptions{Title: "P", Head: "main", Base: "feature/x"})
		return err
	})
	expect("repository", "renamed", func() error { return s.RenameRepo("acme/vault", "safe") })
	expect("repository", "publicized", func() error { return s.SetVisibility("acme/safe", githubsim.Public) })
	p = expect("installation_repositories", "removed", func() error { return s.RemoveRepositories(s.inst.ID, "safe") })
	require.Len(t, p["repositories_removed"], 1)
	_, err := s.Comment("acme/safe", 1, "ann", "not told any more")
	require.NoError(t, err)
	expect("installation_repositories", "added", func() error { return s.AddRepositories(s.inst.ID, "safe") })
	expect("installation", "new_permissions_accepted", func() error {
		return s.AcceptPermissions(s.inst.ID, githubsim.DefaultPermissions())
	})
	expect("installation", "suspend", func() error { return s.SuspendInstallation(s.inst.ID) })
	_, err = s.Comment("acme/safe", 1, "ann", "not told either")
	require.NoError(t, err)
	expect("installation", "unsuspend", func() error { return s.UnsuspendInstallation(s.inst.ID) })
	expect("installation", "deleted", func() error { return s.RemoveInstallation(s.inst.ID) })
}

func TestDeliveriesAndRedelivery(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	got := s.listen(func(n int) int {
		if n == 2 { // the first after the ping
			return http.StatusBadGateway
		}
		return http.StatusOK
	})
	_, err := s.OpenIssue("acme/widget", "ann", "T", "B")
	require.NoError(t, err)
	require.Len(t, got(), 2)
	ctx, app := t.Context(), s.asApp()
	list, _, err := app.Apps.ListHookDeliveries(ctx, nil)
	require.NoError(t, err)
	require.Len(t, list, 2)
	failed := list[0]
	require.Equal(t, 502, failed.GetStatusCode())
	require.Equal(t, "issues", failed.GetEvent())
	require.Equal(t, s.inst.ID, failed.GetInstallationID())
	one, _, err := app.Apps.GetHookDelivery(ctx, failed.GetID())
	require.NoError(t, err)
	require.Contains(t, string(*one.Request.RawPayload), `"title":"T"`)
	require.Equal(t, failed.GetGUID(), one.Request.Headers["X-Github-Delivery"])
	_, res, err := app.Apps.RedeliverHookDelivery(ctx, failed.GetID())
	require.IsType(t, &github.AcceptedError{}, err)
	require.Equal(t, 202, res.StatusCode)
	all := got()
	require.Len(t, all, 3)
	require.Equal(t, all[1].guid, all[2].guid, "a redelivery has the same GUID")
	require.Equal(t, all[1].payload, all[2].payload)
	list, res, err = app.Apps.ListHookDeliveries(ctx, &github.ListCursorOptions{PerPage: 1})
	require.NoError(t, err)
	require.True(t, list[0].GetRedelivery())
	require.Equal(t, 200, list[0].GetStatusCode())
	next, _, err := app.Apps.ListHookDeliveries(ctx, &github.ListCursorOptions{PerPage: 1, Cursor: res.Cursor})
	require.NoError(t, err)
	require.Equal(t, failed.GetID(), next[0].GetID())
	require.NoError(t, s.Redeliver(failed.GetID()))
	require.Len(t, got(), 4)
	_, _, err = app.Apps.GetHookDelivery(ctx, 5)
	refused(t, err, 404, "")
	s.clock.Add(73 * time.Hour) // GitHub forgets after three days
	now := s.clock.Now().Unix()
	token := jwt(t, appKey(), `{"alg":"RS256"}`, fmt.Sprintf(`{"iss":%d,"iat":%d,"exp":%d}`, s.app.ID, now, now+300))
	require.Equal(t, 404, s.call("POST", fmt.Sprintf("/app/hook/deliveries/%d/attempts", failed.GetID()), token, "").status)
}

func TestDeliveryToNobody(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	require.NoError(t, s.SetWebhookURL(s.app, "http://127.0.0.1:1/"))
	_, err := s.SendEvent(s.app, "issues", map[string]any{"action": "made up"})
	require.NoError(t, err)
	require.NoError(t, s.WaitDeliveries(t.Context()))
	for _, d := range s.Deliveries() {
		require.Zero(t, d.StatusCode)
		require.Equal(t, "failed to connect to host", d.Status)
	}
	require.Len(t, s.Deliveries(), 2)
}

func TestEventsNeedPermissions(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	got := s.listen(accepted)
	less := githubsim.DefaultPermissions()
	delete(less, "discussions")
	require.NoError(t, s.AcceptPermissions(s.inst.ID, less))
	before := len(got())
	_, err := s.OpenDiscussion("acme/widget", "ann", "T", "B")
	require.NoError(t, err)
	require.Len(t, got(), before)
	require.NoError(t, s.AcceptPermissions(s.inst.ID, githubsim.DefaultPermissions()))
	_, err = s.OpenDiscussion("acme/widget", "ann", "T", "B")
	require.NoError(t, err)
	require.Len(t, got(), before+2)
}
