package githubsim_test

import (
	"testing"

	"github.com/google/go-github/v66/github"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/stretchr/testify/require"
)

// openPull opens a pull request of main into feature/x, which adds src/query.go.
func (s *sim) openPull(name string) githubsim.Issue {
	s.t.Helper()
	p, err := s.OpenPull(name, "ann", githubsim.PullOptions{Title: "P", Body: "B", Head: "main", Base: "feature/x", Draft: true})
	require.NoError(s.t, err)
	return p
}

func TestO4_OneInlineCommentMakesTwoEvents(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	s.openPull("acme/widget")
	got := s.listen(accepted)
	c, err := s.ReviewComment("acme/widget", 1, "bob", githubsim.ReviewCommentOptions{Path: "src/query.go", Line: 3, Body: "@librarian why?"})
	require.NoError(t, err)
	all := got()
	require.Len(t, all, 3) // with the ping
	events := map[string]map[string]any{}
	for _, h := range all[1:] {
		events[h.event+" "+h.payload["action"].(string)] = h.payload
	}
	review, _ := events["pull_request_review submitted"]["review"].(map[string]any)
	require.NotNil(t, review)
	require.Nil(t, review["body"])
	require.Equal(t, "commented", review["state"])
	comment, _ := events["pull_request_review_comment created"]["comment"].(map[string]any)
	require.NotNil(t, comment)
	require.EqualValues(t, c.ID, comment["id"])
	require.Equal(t, review["id"], comment["pull_request_review_id"])
	require.Equal(t, "@@ -0,0 +1,4 @@\n+package main\n+\n+// prepareQuery prepares.", comment["diff_hunk"])
	require.NotContains(t, comment, "in_reply_to_id")

	reply, err := s.ReplyReviewComment(c.ID, "ann", "because")
	require.NoError(t, err)
	require.Equal(t, c.ID, reply.InReplyTo)
	second, err := s.ReplyReviewComment(reply.ID, "bob", "hm")
	require.NoError(t, err)
	require.Equal(t, c.ID, second.InReplyTo, "a reply to a reply is a reply to the thread")
	require.Len(t, got(), 7)

	_, err = s.ReviewComment("acme/widget", 1, "bob", githubsim.ReviewCommentOptions{Path: "src/query.go", Line: 99, Body: "x"})
	require.ErrorContains(t, err, "part of the diff")
	_, err = s.ReviewComment("acme/widget", 1, "bob", githubsim.ReviewCommentOptions{Path: "README.md", Line: 1, Body: "x"})
	require.ErrorContains(t, err, "part of the diff")
}

func TestReviewCommentsOverREST(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	s.openPull("acme/vault")
	ctx, client := t.Context(), s.asInstallation()
	first, err := s.ReviewComment("acme/vault", 1, "bob", githubsim.ReviewCommentOptions{Path: "src/query.go", Line: 4, Body: "q"})
	require.NoError(t, err)

	made, _, err := client.PullRequests.CreateCommentInReplyTo(ctx, "acme", "vault", 1, "answer", first.ID)
	require.NoError(t, err)
	require.Equal(t, first.ID, made.GetInReplyTo())
	require.Equal(t, "librarian[bot]", made.GetUser().GetLogin())
	got := s.call("POST", "/repos/acme/vault/pulls/1/comments/"+itoa(first.ID)+"/replies", s.token(nil), `{"body":"another"}`)
	require.Equal(t, 201, got.status, got.body)
	got = s.call("POST", "/repos/acme/vault/pulls/1/comments/"+itoa(made.GetID())+"/replies", s.token(nil), `{"body":"another"}`)
	require.Equal(t, 422, got.status, "there are no replies to replies")

	list, _, err := client.PullRequests.ListComments(ctx, "acme", "vault", 1, nil)
	require.NoError(t, err)
	require.Len(t, list, 3)
	edited, _, err := client.PullRequests.EditComment(ctx, "acme", "vault", made.GetID(), &github.PullRequestComment{Body: new("better")})
	require.NoError(t, err)
	require.Equal(t, "better", edited.GetBody())
	_, _, err = client.Reactions.CreatePullRequestCommentReaction(ctx, "acme", "vault", first.ID, "eyes")
	require.NoError(t, err)
	require.Equal(t, "eyes", s.Reactions(first.ID)[0].Content)
	_, err = client.PullRequests.DeleteComment(ctx, "acme", "vault", made.GetID())
	require.NoError(t, err)
	_, _, err = client.PullRequests.GetComment(ctx, "acme", "vault", made.GetID())
	refused(t, err, 404, "")

	_, _, err = client.PullRequests.CreateComment(ctx, "acme", "vault", 1, &github.PullRequestComment{Body: new("x"), CommitID: new(s.head),
		Path: new("src/query.go"), Line: new(2)})
	require.NoError(t, err)
	_, _, err = client.PullRequests.CreateComment(ctx, "acme", "vault", 1, &github.PullRequestComment{Body: new("x"), CommitID: new(s.head),
		Path: new("src/query.go"), Line: new(77)})
	refused(t, err, 422, "Validation Failed")

	// Only with the right permission, only who sees the repository, not when it is locked.
	narrow := s.token(&github.InstallationTokenOptions{Permissions: &github.InstallationPermissions{Issues: new("write")}})
	require.Equal(t, 403, s.call("GET", "/repos/acme/vault/pulls/1/comments", narrow, "").status)
	require.Equal(t, 403, s.call("PATCH", "/repos/acme/vault/pulls/comments/"+itoa(first.ID), narrow, `{"body":"x"}`).status)
	_, _, err = s.asUser("eve").PullRequests.ListComments(ctx, "acme", "vault", 1, nil)
	refused(t, err, 404, "")
	_, _, err = s.asUser("bob").PullRequests.EditComment(ctx, "acme", "vault", list[2].GetID(), &github.PullRequestComment{Body: new("mine")})
	refused(t, err, 403, "")
	require.NoError(t, s.LockIssue("acme/vault", 1, "ann", true))
	_, _, err = client.PullRequests.CreateCommentInReplyTo(ctx, "acme", "vault", 1, "late", first.ID)
	refused(t, err, 403, "locked")
}

func TestReviewsDraftsAndOutdatedComments(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	s.openPull("acme/widget")
	got := s.listen(accepted)
	r, err := s.Review("acme/widget", 1, "bob", githubsim.ReviewOptions{State: "changes_requested", Body: "@librarian who calls this?",
		Comments: []githubsim.ReviewCommentOptions{{Path: "src/query.go", Line: 4, Body: "here"}}})
	require.NoError(t, err)
	require.Len(t, got(), 3)
	ctx, client := t.Context(), s.asInstallation()
	reviews, _, err := client.PullRequests.ListReviews(ctx, "acme", "widget", 1, nil)
	require.NoError(t, err)
	require.Equal(t, "CHANGES_REQUESTED", reviews[0].GetState())
	of, _, err := client.PullRequests.ListReviewComments(ctx, "acme", "widget", 1, r.ID, nil)
	require.NoError(t, err)
	require.Len(t, of, 1)
	pull, _, err := client.PullRequests.Get(ctx, "acme", "widget", 1)
	require.NoError(t, err)
	require.True(t, pull.GetDraft())
	files, _, err := client.PullRequests.ListFiles(ctx, "acme", "widget", 1, nil)
	require.NoError(t, err)
	patches := map[string]string{}
	for _, f := range files {
		patches[f.GetFilename()] = f.GetPatch()
	}
	require.Equal(t, "@@ -0,0 +1,4 @@\n+package main\n+\n+// prepareQuery prepares.\n+func prepareQuery() {}", patches["src/query.go"])
	require.Equal(t, "@@ -0,0 +1 @@\n+spaces", patches["docs/a b#c.md"])
	require.NoError(t, s.ReadyForReview("acme/widget", 1, "ann"))
	require.Equal(t, "ready_for_review", got()[3].payload["action"])
	// The head goes back to a commit without that file: what hung on it is outdated.
	require.NoError(t, s.PushPull("acme/widget", 1, "ann", "feature/x"))
	c, _, err := client.PullRequests.GetComment(ctx, "acme", "widget", of[0].GetID())
	require.NoError(t, err)
	require.Nil(t, c.Line)
	require.Equal(t, 4, c.GetOriginalLine())
	before := len(got())
	require.NoError(t, s.EditReview(r.ID, "bob", "never mind"))
	require.Equal(t, "pull_request_review", got()[before].event)
	require.NoError(t, s.DeleteReviewComment(c.GetID(), "bob"))
	require.Empty(t, s.ReviewComments("acme/widget", 1))
}
