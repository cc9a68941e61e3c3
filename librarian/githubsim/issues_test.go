package githubsim_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/stretchr/testify/require"
)

func body(text string) *github.IssueComment { return &github.IssueComment{Body: new(text)} }

func TestLifeOfAComment(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	ctx, c := t.Context(), s.asInstallation()
	_, err := s.OpenIssue("acme/widget", "eve", "How?", "")
	require.NoError(t, err)
	made, res, err := c.Issues.CreateComment(ctx, "acme", "widget", 1, body("one"))
	require.NoError(t, err)
	require.Equal(t, 201, res.StatusCode)
	require.Equal(t, "librarian[bot]", made.GetUser().GetLogin())
	require.Equal(t, "Bot", made.GetUser().GetType())
	require.Equal(t, s.app.BotUserID, made.GetUser().GetID())
	raw := s.call("GET", fmt.Sprintf("/repos/acme/widget/issues/comments/%d", made.GetID()), "", "").json(t)
	via, _ := raw["performed_via_github_app"].(map[string]any)
	require.Equal(t, "librarian", via["slug"])
	require.EqualValues(t, s.app.ID, via["id"])

	s.clock.Add(time.Minute)
	edited, _, err := c.Issues.EditComment(ctx, "acme", "widget", made.GetID(), body("two"))
	require.NoError(t, err)
	require.Equal(t, "two", edited.GetBody())
	require.True(t, edited.GetUpdatedAt().After(made.GetUpdatedAt().Time))
	require.Equal(t, []string{"two"}, bodies(s.Comments("acme/widget", 1)))
	require.Equal(t, "librarian", s.Comments("acme/widget", 1)[0].App)

	_, _, err = s.asUser("eve").Issues.EditComment(ctx, "acme", "widget", made.GetID(), body("mine"))
	refused(t, err, 403, "")
	theirs, err := s.Comment("acme/widget", 1, "eve", "hers")
	require.NoError(t, err)
	_, _, err = c.Issues.EditComment(ctx, "acme", "widget", theirs.ID, body("an App with issues:write may"))
	require.NoError(t, err)

	_, err = c.Issues.DeleteComment(ctx, "acme", "widget", made.GetID())
	require.NoError(t, err)
	_, _, err = c.Issues.GetComment(ctx, "acme", "widget", made.GetID())
	refused(t, err, 404, "")
	_, _, err = c.Issues.GetComment(ctx, "acme", "vault", theirs.ID)
	refused(t, err, 404, "")
	_, _, err = s.asUser("").Issues.CreateComment(ctx, "acme", "widget", 1, body("x"))
	refused(t, err, 401, "Requires authentication")
	_, _, err = c.Issues.CreateComment(ctx, "acme", "widget", 2, body("x"))
	refused(t, err, 404, "")
}

func bodies(list []githubsim.Comment) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.Body)
	}
	return out
}

func TestLimitsOfAComment(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	ctx, c := t.Context(), s.asInstallation()
	_, err := s.OpenIssue("acme/widget", "eve", "How?", "")
	require.NoError(t, err)
	_, _, err = c.Issues.CreateComment(ctx, "acme", "widget", 1, body(strings.Repeat("ä", 65536)))
	require.NoError(t, err)
	_, _, err = c.Issues.CreateComment(ctx, "acme", "widget", 1, body(strings.Repeat("ä", 65537)))
	refused(t, err, 422, "Validation Failed")
	_, _, err = c.Issues.CreateComment(ctx, "acme", "widget", 1, body(" "))
	refused(t, err, 422, "Validation Failed")
	require.Equal(t, 400, s.call("POST", "/repos/acme/widget/issues/1/comments", s.token(nil), "{").status)
	require.Len(t, s.Comments("acme/widget", 1), 1)

	require.NoError(t, s.LockIssue("acme/widget", 1, "ann", true))
	_, _, err = c.Issues.CreateComment(ctx, "acme", "widget", 1, body("x"))
	refused(t, err, 403, "locked")
	_, _, err = c.Reactions.CreateIssueReaction(ctx, "acme", "widget", 1, "eyes")
	refused(t, err, 403, "locked")
	_, _, err = s.asUser("ann").Issues.CreateComment(ctx, "acme", "widget", 1, body("those who may write may"))
	require.NoError(t, err)
	require.NoError(t, s.LockIssue("acme/widget", 1, "ann", false))

	require.NoError(t, s.SetArchived("acme/widget", true))
	_, _, err = c.Issues.CreateComment(ctx, "acme", "widget", 1, body("x"))
	refused(t, err, 403, "archived")
	_, _, err = c.Issues.Get(ctx, "acme", "widget", 1)
	require.NoError(t, err)
}

func TestPages(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	_, err := s.OpenIssue("acme/widget", "eve", "Long", "")
	require.NoError(t, err)
	for i := range 250 {
		_, err := s.Comment("acme/widget", 1, "eve", fmt.Sprint(i))
		require.NoError(t, err)
	}
	opts := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 100}}
	var got []string
	for {
		page, res, err := s.asInstallation().Issues.ListComments(t.Context(), "acme", "widget", 1, opts)
		require.NoError(t, err)
		for _, c := range page {
			got = append(got, c.GetBody())
		}
		if opts.Page = res.NextPage; res.NextPage == 0 {
			require.Equal(t, 2, res.PrevPage)
			break
		}
		require.Equal(t, 3, res.LastPage)
	}
	require.Equal(t, bodies(s.Comments("acme/widget", 1)), got)
	page, _, err := s.asInstallation().Issues.ListComments(t.Context(), "acme", "widget", 1, nil)
	require.NoError(t, err)
	require.Len(t, page, 30)
	over := s.call("GET", "/repos/acme/widget/issues/1/comments?page=99", "", "")
	require.Equal(t, "[]", over.body)
	s.clock.Add(time.Hour)
	_, err = s.Comment("acme/widget", 1, "eve", "late")
	require.NoError(t, err)
	since := s.clock.Now().Add(-time.Minute)
	page, _, err = s.asUser("").Issues.ListComments(t.Context(), "acme", "widget", 1, &github.IssueListCommentsOptions{Since: &since})
	require.NoError(t, err)
	require.Len(t, page, 1)
}

func TestReactionsAreIdempotent(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	ctx, c := t.Context(), s.asInstallation()
	_, err := s.OpenIssue("acme/widget", "eve", "How?", "")
	require.NoError(t, err)
	asked, err := s.Comment("acme/widget", 1, "eve", "hm")
	require.NoError(t, err)
	first, res, err := c.Reactions.CreateIssueCommentReaction(ctx, "acme", "widget", asked.ID, "eyes")
	require.NoError(t, err)
	require.Equal(t, 201, res.StatusCode)
	again, res, err := c.Reactions.CreateIssueCommentReaction(ctx, "acme", "widget", asked.ID, "eyes")
	require.NoError(t, err)
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, first.GetID(), again.GetID())
	require.NoError(t, s.React(asked.ID, "ann", "+1"))
	comment, _, err := c.Issues.GetComment(ctx, "acme", "widget", asked.ID)
	require.NoError(t, err)
	require.Equal(t, 2, comment.GetReactions().GetTotalCount())
	require.Equal(t, 1, comment.GetReactions().GetEyes())
	all, _, err := c.Reactions.ListIssueCommentReactions(ctx, "acme", "widget", asked.ID, nil)
	require.NoError(t, err)
	require.Len(t, all, 2)
	_, err = c.Reactions.DeleteIssueCommentReaction(ctx, "acme", "widget", asked.ID, all[1].GetID())
	refused(t, err, 403, "")
	_, err = c.Reactions.DeleteIssueCommentReaction(ctx, "acme", "widget", asked.ID, first.GetID())
	require.NoError(t, err)
	require.Equal(t, []githubsim.Reaction{{ID: all[1].GetID(), User: "ann", Content: "+1"}}, s.Reactions(asked.ID))
	_, _, err = c.Reactions.CreateIssueReaction(ctx, "acme", "widget", 1, "rocket")
	require.NoError(t, err)
	require.Equal(t, "librarian[bot]", s.IssueReactions("acme/widget", 1)[0].User)
	_, _, err = c.Reactions.CreateIssueReaction(ctx, "acme", "widget", 1, "shrug")
	refused(t, err, 422, "")
}

// W8
func TestW8_DeletedAccountsAreNull(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	_, err := s.OpenIssue("acme/widget", "eve", "How?", "")
	require.NoError(t, err)
	asked, err := s.Comment("acme/widget", 1, "eve", "hm")
	require.NoError(t, err)
	token, err := s.CreateUserToken("eve")
	require.NoError(t, err)
	require.NoError(t, s.DeleteUser("eve"))
	require.Nil(t, s.call("GET", "/repos/acme/widget/issues/1", "", "").json(t)["user"])
	o := s.call("GET", fmt.Sprintf("/repos/acme/widget/issues/comments/%d", asked.ID), "", "").json(t)
	require.Contains(t, o, "user")
	require.Nil(t, o["user"])
	require.Equal(t, 401, s.call("GET", "/user", token, "").status)
	require.Empty(t, s.Comments("acme/widget", 1)[0].Author)
}

func TestIssuesByAPI(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	ctx, eve, c := t.Context(), s.asUser("eve"), s.asInstallation()
	made, _, err := eve.Issues.Create(ctx, "acme", "widget", &github.IssueRequest{Title: new("T"), Body: new("B")})
	require.NoError(t, err)
	require.Equal(t, 1, made.GetNumber())
	_, _, err = eve.Issues.Create(ctx, "acme", "widget", &github.IssueRequest{})
	refused(t, err, 422, "")
	_, _, err = c.Issues.AddLabelsToIssue(ctx, "acme", "widget", 1, []string{"librarian"})
	require.NoError(t, err)
	_, err = c.Issues.Lock(ctx, "acme", "widget", 1, nil)
	require.NoError(t, err)
	_, _, err = c.Issues.Edit(ctx, "acme", "widget", 1, &github.IssueRequest{State: new("closed"), Title: new("T2")})
	require.NoError(t, err)
	got, _, err := c.Issues.Get(ctx, "acme", "widget", 1)
	require.NoError(t, err)
	require.Equal(t, "closed T2 true librarian", fmt.Sprint(got.GetState(), " ", got.GetTitle(), " ", got.GetLocked(), " ", got.Labels[0].GetName()))
	open, _, err := c.Issues.ListByRepo(ctx, "acme", "widget", nil)
	require.NoError(t, err)
	require.Empty(t, open)
	all, _, err := c.Issues.ListByRepo(ctx, "acme", "widget", &github.IssueListByRepoOptions{State: "all", Labels: []string{"librarian"}})
	require.NoError(t, err)
	require.Len(t, all, 1)
	_, err = c.Issues.RemoveLabelForIssue(ctx, "acme", "widget", 1, "librarian")
	require.NoError(t, err)
	seen, err := s.Issue("acme/widget", 1)
	require.NoError(t, err)
	require.Empty(t, seen.Labels)
}

// T7
func TestT7_RenamesRedirect(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	ctx, c := t.Context(), s.asInstallation()
	before, _, err := c.Repositories.Get(ctx, "acme", "widget")
	require.NoError(t, err)
	_, err = s.OpenIssue("acme/widget", "eve", "How?", "")
	require.NoError(t, err)
	require.NoError(t, s.RenameRepo("acme/widget", "gadget"))
	got := s.call("GET", "/repos/acme/widget/issues/1?x=y", "", "")
	require.Equal(t, 301, got.status)
	require.Equal(t, fmt.Sprintf("%srepositories/%d/issues/1?x=y", s.APIURL(), before.GetID()), got.header.Get("Location"))
	require.Equal(t, 307, s.call("POST", "/repos/acme/widget/issues/1/comments", s.token(nil), `{"body":"x"}`).status)
	after, _, err := c.Repositories.Get(ctx, "acme", "widget")
	require.NoError(t, err, "go-github follows the redirect")
	require.Equal(t, before.GetID(), after.GetID())
	require.Equal(t, "acme/gadget", after.GetFullName())
	byID, _, err := c.Repositories.GetByID(ctx, before.GetID())
	require.NoError(t, err)
	require.Equal(t, "acme/gadget", byID.GetFullName())
	require.Equal(t, 301, s.call("GET", s.URL()+"/acme/widget.git/info/refs?service=git-upload-pack", "", "").status)

	require.NoError(t, s.RenameRepo("acme/vault", "safe"))
	require.Equal(t, 404, s.call("GET", "/repos/acme/vault", "", "").status, "a redirect would tell that it exists")

	require.NoError(t, s.TransferRepo("acme/gadget", "ann"))
	_, _, err = c.Repositories.GetPermissionLevel(ctx, "ann", "gadget", "eve")
	refused(t, err, 403, "Resource not accessible")
	require.NoError(t, s.SetVisibility("ann/gadget", githubsim.Private))
	_, _, err = c.Repositories.GetByID(ctx, before.GetID())
	refused(t, err, 404, "")
	_, err = s.CreateRepo("acme", "widget", githubsim.RepoOptions{})
	require.NoError(t, err, "the old name is free again")
	fresh, _, err := c.Repositories.Get(ctx, "acme", "widget")
	require.NoError(t, err)
	require.NotEqual(t, before.GetID(), fresh.GetID())
	require.NoError(t, s.DeleteRepo("acme/widget"))
	require.Equal(t, http.StatusNotFound, s.call("GET", "/repos/acme/widget", "", "").status)
}

func TestT10_DeletedIssuesAreGone(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	got := s.listen(accepted)
	_, err := s.OpenIssue("acme/widget", "eve", "One", "")
	require.NoError(t, err)
	_, err = s.OpenIssue("acme/widget", "eve", "Two", "")
	require.NoError(t, err)
	require.Len(t, got(), 3)
	require.NoError(t, s.DeleteIssue("acme/widget", 1, "ann"))
	require.Equal(t, "deleted", got()[3].payload["action"])
	require.Equal(t, 410, s.call("GET", "/repos/acme/widget/issues/1", s.token(nil), "").status)
	require.Equal(t, 200, s.call("GET", "/repos/acme/widget/issues/2", s.token(nil), "").status)
	require.Equal(t, 404, s.call("GET", "/repos/acme/widget/issues/3", s.token(nil), "").status)
	third, err := s.OpenIssue("acme/widget", "eve", "Three", "")
	require.NoError(t, err)
	require.Equal(t, 3, third.Number, "numbers are not given twice")
}
