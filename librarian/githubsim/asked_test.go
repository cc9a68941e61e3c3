package githubsim_test

import (
	"testing"

	"github.com/google/go-github/v66/github"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/stretchr/testify/require"
)

// Whatever can ask can be made over HTTP, as whoever tries the App beside a githubsim that is a process of its own has to.
func TestPeopleCanAskOverHTTP(t *testing.T) {
	t.Parallel()
	s := start(t, githubsim.Options{})
	got := s.listen(accepted)
	c := s.asUser("ann")
	p, _, err := c.PullRequests.Create(t.Context(), "acme", "widget", &github.NewPullRequest{
		Title: new("P"), Body: new("@librarian what?"), Head: new("main"), Base: new("feature/x"),
	})
	require.NoError(t, err)
	require.Equal(t, s.head, p.GetHead().GetSHA())
	require.Positive(t, p.GetChangedFiles())
	r, _, err := c.PullRequests.CreateReview(t.Context(), "acme", "widget", p.GetNumber(), &github.PullRequestReviewRequest{
		Body: new("@librarian who?"), Event: new("COMMENT"),
		Comments: []*github.DraftReviewComment{{Path: new("src/query.go"), Line: new(3), Body: new("@librarian why?")}},
	})
	require.NoError(t, err)
	inline := s.ReviewComments("acme/widget", p.GetNumber())
	require.Len(t, inline, 1)
	require.Equal(t, r.GetID(), inline[0].Review)
	_, _, err = c.PullRequests.UpdateReview(t.Context(), "acme", "widget", p.GetNumber(), r.GetID(), "never mind")
	require.NoError(t, err)

	_, _, err = c.PullRequests.Create(t.Context(), "acme", "widget", &github.NewPullRequest{Title: new("P"), Head: new("none"), Base: new("main")})
	require.ErrorContains(t, err, "422")
	_, _, err = c.PullRequests.CreateReview(t.Context(), "acme", "widget", p.GetNumber(), &github.PullRequestReviewRequest{
		Event: new("COMMENT"), Comments: []*github.DraftReviewComment{{Path: new("src/query.go"), Line: new(300), Body: new("x")}},
	})
	require.ErrorContains(t, err, "422")
	_, _, err = s.asUser("bob").PullRequests.UpdateReview(t.Context(), "acme", "widget", p.GetNumber(), r.GetID(), "not mine")
	require.ErrorContains(t, err, "403")

	token, err := s.CreateUserToken("ann")
	require.NoError(t, err)
	data, kinds := s.graphql(token, `query { repository(owner: "acme", name: "widget") { id discussionCategories(first: 1) { nodes { id name } } } }`, nil)
	require.Empty(t, kinds)
	repo := dig(t, data, "repository", "id")
	category := dig(t, data, "repository", "discussionCategories", "nodes", 0, "id")
	const create = `mutation($repo: ID!, $category: ID!, $body: String!) { createDiscussion(input: {repositoryId: $repo, categoryId: $category, title: "T", body: $body}) { discussion { id number body category { id } } } }`
	data, kinds = s.graphql(token, create, map[string]any{"repo": repo, "category": category, "body": "@librarian how?"})
	require.Empty(t, kinds)
	require.Equal(t, category, dig(t, data, "createDiscussion", "discussion", "category", "id"))
	_, kinds = s.graphql(token, create, map[string]any{"repo": repo, "category": repo, "body": "x"})
	require.Equal(t, []string{"NOT_FOUND"}, kinds)
	_, kinds = s.graphql(token, `mutation($id: ID!) { updateDiscussion(input: {discussionId: $id, body: "how?"}) { discussion { body } } }`,
		map[string]any{"id": dig(t, data, "createDiscussion", "discussion", "id")})
	require.Empty(t, kinds)

	var events []string
	for _, h := range got() {
		if h.event != "ping" {
			events = append(events, h.event+"."+h.payload["action"].(string))
		}
	}
	require.ElementsMatch(t, []string{"pull_request.opened", "pull_request_review.submitted", "pull_request_review_comment.created", "pull_request_review.edited",
		"discussion.created", "discussion.edited"}, events)
}
