package hub_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout/checkouttest"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/hub"
)

// withCode adds acme/code with a pull request that changes a.txt.
func (w *world) withCode() (pull githubsim.Issue, shas map[string]string) {
	w.t.Helper()
	dir := w.t.TempDir() + "/code.git"
	shas = checkouttest.Build(w.t, dir, pullArchive)
	_, err := w.CreateRepo("acme", "code", githubsim.RepoOptions{Path: dir})
	require.NoError(w.t, err)
	require.NoError(w.t, w.SetPermission("acme/code", "ada", "write", ""))
	require.NoError(w.t, w.AddRepositories(w.inst, "code"))
	w.repo["acme/code"], err = w.Repo("acme/code")
	require.NoError(w.t, err)
	pull, err = w.OpenPull("acme/code", "ada", githubsim.PullOptions{Title: "t", Body: "b", Head: "topic"})
	require.NoError(w.t, err)
	return pull, shas
}

func (w *world) exists(p librarian.Place) bool {
	w.t.Helper()
	ok, err := w.hub.TriggerExists(ctx, p)
	require.NoError(w.t, err)
	return ok
}

func TestT4_ReviewThread(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	pull, shas := w.withCode()
	other, err := w.ReviewComment("acme/code", pull.Number, "mallory", githubsim.ReviewCommentOptions{Path: "a.txt", Line: 1, Body: "another thread"})
	require.NoError(t, err)
	root, err := w.ReviewComment("acme/code", pull.Number, "bob", githubsim.ReviewCommentOptions{Path: "a.txt", Line: 1, Body: "hm"})
	require.NoError(t, err)
	var last githubsim.ReviewComment
	for i := range 120 {
		last, err = w.ReplyReviewComment(root.ID, "ada", fmt.Sprint(i))
		require.NoError(t, err)
	}
	_, err = w.Review("acme/code", pull.Number, "ada", githubsim.ReviewOptions{State: "changes_requested", Body: "please"})
	require.NoError(t, err)
	place := w.place("acme/code", pull, 0)
	place.Kind, place.Trigger, place.TriggerID, place.Root = librarian.PlaceReview, librarian.TriggerReviewComment, last.ID, root.ID

	got, err := w.hub.Thread(ctx, place)
	require.NoError(t, err)
	require.Equal(t, shas["second"], got.Pull.HeadSHA)
	require.Equal(t, []string{"a.txt"}, got.Pull.Files)
	require.Equal(t, 1, got.Pull.Changed)
	require.Len(t, got.Pull.Reviews, 1, "those that only hold an inline comment say nothing")
	require.Equal(t, "please", got.Pull.Reviews[0].Body)
	require.Equal(t, "CHANGES_REQUESTED", got.Pull.Reviews[0].State)
	require.False(t, got.Pull.Reviews[0].CreatedAt.IsZero())
	require.Equal(t, "a.txt", got.Review.Path)
	require.Equal(t, 1, got.Review.Line)
	require.Contains(t, got.Review.Hunk, "@@")
	require.Len(t, got.Review.Comments, 121)
	require.Equal(t, "hm", got.Review.Comments[0].Body)
	require.Equal(t, w.principal("bob"), got.Review.Comments[0].Author)
	require.Equal(t, root.ID, got.Review.Comments[120].ReplyTo)
	require.Equal(t, last.ID, got.Review.Comments[120].ID)
	require.False(t, got.TriggerGone)

	require.True(t, w.exists(place))
	elsewhere := place
	elsewhere.Number = 99
	require.False(t, w.exists(elsewhere))
	require.NoError(t, w.DeleteReviewComment(last.ID, "ada"))
	require.False(t, w.exists(place), "T10")
	got, err = w.hub.Thread(ctx, place)
	require.NoError(t, err)
	require.True(t, got.TriggerGone)
	require.NotZero(t, other.ID)
}

func TestT10_ReviewThatAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	pull, _ := w.withCode()
	review, err := w.Review("acme/code", pull.Number, "ada", githubsim.ReviewOptions{State: "approved", Body: "@librarian why?"})
	require.NoError(t, err)
	place := w.place("acme/code", pull, 0)
	place.Kind, place.Trigger, place.TriggerID, place.TriggerNode = librarian.PlacePull, librarian.TriggerReviewBody, review.ID, review.NodeID
	require.True(t, w.exists(place))
	got, err := w.hub.Thread(ctx, place)
	require.NoError(t, err)
	require.False(t, got.TriggerGone)
	require.Equal(t, "@librarian why?", got.Pull.Reviews[0].Body)
	place.TriggerID++
	require.False(t, w.exists(place))
	got, err = w.hub.Thread(ctx, place)
	require.NoError(t, err)
	require.True(t, got.TriggerGone)

	body := w.place("acme/code", pull, 0)
	body.Kind = librarian.PlacePull
	require.True(t, w.exists(body), "a pull request's own id is not that of its issue")
	for _, kind := range []librarian.TriggerKind{librarian.TriggerLabel, librarian.TriggerEvent, librarian.TriggerDispatch} {
		body.Trigger = kind
		require.True(t, w.exists(body))
	}
	commit, err := w.hub.Thread(ctx, librarian.Place{Kind: librarian.PlaceCommit, Repo: w.id("acme/code"), Installation: w.inst})
	require.NoError(t, err)
	require.Zero(t, commit)
}

func TestT3_Discussion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	d, err := w.OpenDiscussion("acme/app", "bob", "How?", "I wonder.")
	require.NoError(t, err)
	var all []githubsim.DiscussionComment
	for i := range 300 {
		c, err := w.CommentDiscussion("acme/app", d.Number, "mallory", fmt.Sprint(i))
		require.NoError(t, err)
		all = append(all, c)
	}
	reply, err := w.ReplyDiscussion(all[299].ID, "ada", "@librarian why?")
	require.NoError(t, err)
	require.NoError(t, w.DeleteUser("mallory"))
	place := librarian.Place{Kind: librarian.PlaceDiscussion, Repo: w.id("acme/app"), Host: w.hub.Host(), Installation: w.inst, Number: d.Number,
		Trigger: librarian.TriggerDiscussionComment, TriggerID: reply.ID, TriggerNode: reply.NodeID, ThreadNode: d.NodeID, ReplyTo: all[299].NodeID}
	n := len(w.Requests())
	got, err := w.hub.Thread(ctx, place)
	require.NoError(t, err)
	require.Less(t, len(w.Requests())-n, 8)
	require.Equal(t, "How?", got.Title)
	require.Equal(t, "I wonder.", got.Body)
	require.Equal(t, w.principal("bob"), got.Author)
	require.Equal(t, d.Number, got.Number)
	require.Len(t, got.Comments, 251)
	require.Equal(t, 50, got.Omitted)
	require.Equal(t, "50", got.Comments[0].Body)
	require.Equal(t, librarian.GhostLogin, got.Comments[0].Author.Login, "W8")
	require.Equal(t, reply.ID, got.Comments[250].ID)
	require.Equal(t, all[299].ID, got.Comments[250].ReplyTo)
	require.Equal(t, w.principal("ada"), got.Comments[250].Author)
	require.False(t, got.Locked || got.TriggerGone)

	early := place
	early.TriggerID, early.TriggerNode = all[3].ID, all[3].NodeID
	got, err = w.hub.Thread(ctx, early)
	require.NoError(t, err)
	require.Equal(t, all[3].ID, got.Comments[0].ID, "the one that asked is there")
	require.Equal(t, 49, got.Omitted)

	require.True(t, w.exists(place))
	body := place
	body.Trigger, body.TriggerID, body.TriggerNode = librarian.TriggerDiscussionBody, d.ID, d.NodeID
	require.True(t, w.exists(body))
	remove := w.Inject(githubsim.Fault{Path: regexp.MustCompile(`/graphql`), Status: 200, Body: `{"data":null,"errors":[{"type":"FORBIDDEN","message":"Resource not accessible by integration"}]}`})
	_, err = w.hub.TriggerExists(ctx, place)
	require.ErrorIs(t, err, librarian.ErrNotFound)
	remove()
	require.NoError(t, w.LockDiscussion("acme/app", d.Number, "ada", true))
	require.NoError(t, w.DeleteDiscussionComment(reply.ID, "ada"))
	require.False(t, w.exists(place), "T10")
	got, err = w.hub.Thread(ctx, place)
	require.NoError(t, err)
	require.True(t, got.TriggerGone && got.Locked)

	for name, change := range map[string]func(*librarian.Place){
		"number":     func(p *librarian.Place) { p.Number++ },
		"repository": func(p *librarian.Place) { p.Repo = w.id("acme/secret") },
		"node":       func(p *librarian.Place) { p.ThreadNode = "D_none" },
		"no node":    func(p *librarian.Place) { p.ThreadNode = "" },
	} {
		p := place
		change(&p)
		_, err := w.hub.Thread(ctx, p)
		require.ErrorIs(t, err, librarian.ErrNotFound, name)
	}
	require.NoError(t, w.DeleteDiscussion("acme/app", d.Number, "ada"))
	require.False(t, w.exists(body))
}

// Any discussion of a repository that may be read is found by its number: one of the installation's, one of a public repository
// elsewhere, and none where there is none.
func TestDiscussionByNumber(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	for _, name := range []string{"acme/secret", "globex/lib"} {
		d, err := w.OpenDiscussion(name, "bob", "How?", "I wonder about "+name)
		require.NoError(t, err)
		c, err := w.CommentDiscussion(name, d.Number, "bob", "So.")
		require.NoError(t, err)
		_, err = w.ReplyDiscussion(c.ID, "bob", "Or so.")
		require.NoError(t, err)
		parsed, err := librarian.ParseRepoName(name)
		require.NoError(t, err)
		repo, err := w.hub.ByName(ctx, w.inst, parsed)
		require.NoError(t, err)
		got, err := w.hub.Discussion(ctx, w.inst, repo, d.Number)
		require.NoError(t, err, name)
		require.Equal(t, "I wonder about "+name, got.Body)
		require.Len(t, got.Comments, 2)
		require.Equal(t, c.ID, got.Comments[1].ReplyTo)
		_, err = w.hub.Discussion(ctx, w.inst, repo, d.Number+1)
		require.ErrorIs(t, err, librarian.ErrNotFound)
		repo.ID = w.id("acme/app")
		_, err = w.hub.Discussion(ctx, w.inst, repo, d.Number)
		require.ErrorIs(t, err, librarian.ErrNotFound, "the repository of that name is another one by now")
		repo.ID = "github:elsewhere.example:1"
		_, err = w.hub.Discussion(ctx, w.inst, repo, d.Number)
		require.ErrorIs(t, err, librarian.ErrNotFound)
	}

	// Nor does anybody without a token, for whom GraphQL has no answer: it is not even asked.
	anyone := w.newHub(hub.Options{})
	public, err := anyone.ByName(ctx, 0, librarian.RepoName{Owner: "globex", Name: "lib"})
	require.NoError(t, err)
	n := len(w.Requests())
	_, err = anyone.Discussion(ctx, 0, public, 1)
	require.ErrorIs(t, err, librarian.ErrNotFound)
	require.Len(t, w.Requests(), n)

	// An App without the permission finds none.
	few := newWorld(t, githubsim.Options{})
	d, err := few.OpenDiscussion("acme/secret", "bob", "How?", "b")
	require.NoError(t, err)
	permissions := githubsim.DefaultPermissions()
	delete(permissions, "discussions")
	require.NoError(t, few.AcceptPermissions(few.inst, permissions))
	repo, err := few.hub.ByName(ctx, few.inst, librarian.RepoName{Owner: "acme", Name: "secret"})
	require.NoError(t, err)
	_, err = few.hub.Discussion(ctx, few.inst, repo, d.Number)
	require.ErrorIs(t, err, librarian.ErrNotFound)
}

func TestDiscussionByAppAndLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	d, err := w.OpenDiscussion("acme/app", "ada", "t", "b")
	require.NoError(t, err)
	place := librarian.Place{Kind: librarian.PlaceDiscussion, Repo: w.id("acme/app"), Installation: w.inst, Number: d.Number,
		Trigger: librarian.TriggerDiscussionBody, TriggerNode: d.NodeID, ThreadNode: d.NodeID}
	c, _, err := w.hub.PostClient(ctx, place)
	require.NoError(t, err)
	req, err := c.NewRequest(http.MethodPost, "../graphql", map[string]any{
		"query":     "mutation($i: AddDiscussionCommentInput!) { addDiscussionComment(input: $i) { comment { id } } }",
		"variables": map[string]any{"i": map[string]any{"discussionId": d.NodeID, "body": "mine"}}})
	require.NoError(t, err)
	_, err = c.Do(ctx, req, nil)
	require.NoError(t, err)
	got, err := w.hub.Thread(ctx, place)
	require.NoError(t, err)
	require.Len(t, got.Comments, 1)
	require.Equal(t, w.app.ID, got.Comments[0].App)
	require.Equal(t, "librarian[bot]", got.Comments[0].Author.Login)
	require.True(t, got.Comments[0].Author.Bot)

	// A query is repeated after a 5xx, and L2: an hour's points that are spent are told with a status of 200.
	w.Inject(githubsim.Fault{Path: regexp.MustCompile(`/graphql`), Status: 502, Count: 1})
	_, err = w.hub.Thread(ctx, place)
	require.NoError(t, err)
	w.Inject(githubsim.Fault{Path: regexp.MustCompile(`/graphql`), Status: 200, Count: 1, Header: http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"99999999999"}},
		Body: `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`})
	for range 2 { // the second is not sent
		n := len(w.Requests())
		_, err = w.hub.Thread(ctx, place)
		var limit *librarian.RateLimitError
		require.ErrorAs(t, err, &limit)
		require.True(t, limit.Told)
		require.LessOrEqual(t, len(w.Requests())-n, 1)
	}
	issue, err := w.OpenIssue("acme/app", "ada", "t", "b")
	require.NoError(t, err)
	_, err = w.hub.Thread(ctx, w.place("acme/app", issue, 0))
	require.NoError(t, err, "the REST API has points of its own")
	require.False(t, strings.Contains(w.log.String(), "token"))
}
