package githubsim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-github/v66/github"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/stretchr/testify/require"
)

func TestCheckRuns(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	ctx, client := t.Context(), s.asInstallation()
	made, _, err := client.Checks.CreateCheckRun(ctx, "acme", "vault", github.CreateCheckRunOptions{Name: "librarian", HeadSHA: s.head,
		Status: new("in_progress"), ExternalID: new("run-1")})
	require.NoError(t, err)
	require.Equal(t, "in_progress", made.GetStatus())
	require.Nil(t, made.Conclusion)
	require.Equal(t, s.app.ID, made.GetApp().GetID())
	done, _, err := client.Checks.UpdateCheckRun(ctx, "acme", "vault", made.GetID(), github.UpdateCheckRunOptions{Name: "librarian",
		Conclusion: new("neutral"), Output: &github.CheckRunOutput{Title: new("T"), Summary: new("S"), Text: new("X")}})
	require.NoError(t, err)
	require.Equal(t, "completed", done.GetStatus())
	require.Equal(t, "run-1", done.GetExternalID())
	require.NotNil(t, done.CompletedAt)
	_, _, err = client.Checks.CreateCheckRun(ctx, "acme", "vault", github.CreateCheckRunOptions{Name: "librarian", HeadSHA: s.head})
	require.NoError(t, err)
	for filter, want := range map[string]int{"": 1, "latest": 1, "all": 2} {
		opts := &github.ListCheckRunsOptions{CheckName: new("librarian")}
		if filter != "" {
			opts.Filter = new(filter)
		}
		list, _, err := client.Checks.ListCheckRunsForRef(ctx, "acme", "vault", "main", opts)
		require.NoError(t, err)
		require.Len(t, list.CheckRuns, want, filter)
		require.Equal(t, "queued", list.CheckRuns[0].GetStatus(), "the newest first")
	}
	require.Equal(t, "X", s.CheckRuns("acme/vault", s.head)[0].Text)

	long := strings.Repeat("ä", githubsim.MaxCheckText)
	_, _, err = client.Checks.UpdateCheckRun(ctx, "acme", "vault", made.GetID(), github.UpdateCheckRunOptions{Name: "n",
		Output: &github.CheckRunOutput{Title: new("T"), Summary: new(long), Text: new(long)}})
	require.NoError(t, err)
	_, _, err = client.Checks.UpdateCheckRun(ctx, "acme", "vault", made.GetID(), github.UpdateCheckRunOptions{Name: "n",
		Output: &github.CheckRunOutput{Title: new("T"), Summary: new("S"), Text: new(long + "x")}})
	refused(t, err, 422, "")
	_, _, err = client.Checks.CreateCheckRun(ctx, "acme", "vault", github.CreateCheckRunOptions{Name: "n", HeadSHA: strings.Repeat("1", 40)})
	refused(t, err, 422, "No commit found")
	_, _, err = client.Checks.CreateCheckRun(ctx, "acme", "vault", github.CreateCheckRunOptions{Name: "n", HeadSHA: s.head, Status: new("completed")})
	refused(t, err, 422, "")
	_, _, err = s.asUser("ann").Checks.CreateCheckRun(ctx, "acme", "vault", github.CreateCheckRunOptions{Name: "n", HeadSHA: s.head})
	refused(t, err, 403, "GitHub App")
	_, _, err = s.asUser("eve").Checks.GetCheckRun(ctx, "acme", "vault", made.GetID())
	refused(t, err, 404, "")

	// Another App sees it and may not change it.
	other, err := s.CreateApp("other", "acme", githubsim.AppOptions{PrivateKeyPEM: appKey()})
	require.NoError(t, err)
	inst, err := s.Install(other, "acme")
	require.NoError(t, err)
	o := &sim{Server: s.Server, t: t, app: other, inst: inst}
	_, _, err = o.asInstallation().Checks.UpdateCheckRun(ctx, "acme", "vault", made.GetID(), github.UpdateCheckRunOptions{Name: "mine"})
	refused(t, err, 403, "Invalid app_id")
}

func TestL4_L7_Dispatches(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	got := s.listen(accepted)
	_, err := s.CreateBot("github-actions")
	require.NoError(t, err)
	require.NoError(t, s.Dispatch("acme/widget", "github-actions[bot]", "librarian", map[string]any{"question": "why?"}))
	h := got()[1]
	require.Equal(t, "repository_dispatch", h.event)
	require.Equal(t, "librarian", h.payload["action"])
	require.Equal(t, "main", h.payload["branch"])
	require.Equal(t, map[string]any{"question": "why?"}, h.payload["client_payload"])
	require.Equal(t, "Bot", h.payload["sender"].(map[string]any)["type"])
	require.NoError(t, s.Dispatch("acme/widget", "ann", "bare", nil))
	require.Nil(t, got()[2].payload["client_payload"])

	ann, err := s.CreateUserToken("ann")
	require.NoError(t, err)
	eve, err := s.CreateUserToken("eve")
	require.NoError(t, err)
	eleven := map[string]string{}
	for n := range 11 {
		eleven[fmt.Sprintf("%q", fmt.Sprint("k", n))] = "1"
	}
	var pairs []string
	for k, v := range eleven {
		pairs = append(pairs, k+":"+v)
	}
	for name, tc := range map[string]struct {
		token, body string
		status      int
	}{
		"good":          {ann, `{"event_type":"x","client_payload":{"a":1}}`, 204},
		"no type":       {ann, `{"client_payload":{}}`, 422},
		"long type":     {ann, `{"event_type":"` + strings.Repeat("x", 101) + `"}`, 422},
		"a list":        {ann, `{"event_type":"x","client_payload":[1]}`, 422},
		"eleven keys":   {ann, `{"event_type":"x","client_payload":{` + strings.Join(pairs, ",") + `}}`, 422},
		"too large":     {ann, `{"event_type":"x","client_payload":{"a":"` + strings.Repeat("x", 64<<10) + `"}}`, 422},
		"a stranger":    {eve, `{"event_type":"x"}`, 403},
		"nobody":        {"", `{"event_type":"x"}`, 401},
		"reading token": {s.token(nil), `{"event_type":"x"}`, 403},
	} {
		require.Equal(t, tc.status, s.call("POST", "/repos/acme/widget/dispatches", tc.token, tc.body).status, name)
	}
	require.Len(t, got(), 4)
}

func TestLabelsAtOpeningAndLater(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	got := s.listen(accepted)
	_, err := s.OpenIssue("acme/widget", "ann", "T", "B", "librarian")
	require.NoError(t, err)
	_, err = s.OpenPull("acme/widget", "ann", githubsim.PullOptions{Title: "P", Head: "main", Base: "feature/x"})
	require.NoError(t, err)
	require.NoError(t, s.LabelIssue("acme/widget", 2, "ann", "librarian"))
	require.NoError(t, s.UnlabelIssue("acme/widget", 2, "ann", "Librarian"))
	require.ErrorIs(t, s.UnlabelIssue("acme/widget", 2, "ann", "librarian"), githubsim.ErrUnknown)
	counts := map[string]int{}
	for _, h := range got()[1:] {
		action, _ := h.payload["action"].(string)
		counts[h.event+" "+action]++
		if h.event == "issues" && action == "opened" {
			require.Len(t, h.payload["issue"].(map[string]any)["labels"], 1)
		}
	}
	require.Equal(t, map[string]int{"issues opened": 1, "issues labeled": 1, "pull_request opened": 1, "pull_request labeled": 1,
		"pull_request unlabeled": 1}, counts)
}
