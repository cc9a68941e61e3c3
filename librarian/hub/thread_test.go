package hub_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout/checkouttest"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
)

func TestT4_Thread(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	issue, err := w.OpenIssue("acme/app", "bob", "It breaks", "When I press it.")
	require.NoError(t, err)
	_, err = w.Comment("acme/app", issue.Number, "mallory", "gone by now")
	require.NoError(t, err)
	asked, err := w.Comment("acme/app", issue.Number, "ada", "@librarian why?")
	require.NoError(t, err)
	require.NoError(t, w.DeleteUser("mallory"))
	post, n, err := w.hub.PostClient(ctx, w.postPlace("acme/app"))
	require.NoError(t, err)
	body := "mine"
	req, err := post.NewRequest("POST", fmt.Sprintf("repos/%s/issues/%d/comments", n, issue.Number), map[string]string{"body": body})
	require.NoError(t, err)
	_, err = post.Do(ctx, req, nil)
	require.NoError(t, err)

	got, err := w.hub.Thread(ctx, w.place("acme/app", issue, asked.ID))
	require.NoError(t, err)
	require.Equal(t, "It breaks", got.Title)
	require.Equal(t, "When I press it.", got.Body)
	require.Equal(t, w.principal("bob"), got.Author)
	require.Equal(t, issue.Number, got.Number)
	require.False(t, got.Locked || got.Closed || got.TriggerGone)
	require.Nil(t, got.Pull)
	require.Len(t, got.Comments, 3)
	require.Equal(t, librarian.Principal{Login: librarian.GhostLogin}, got.Comments[0].Author, "W8")
	require.Equal(t, w.principal("ada"), got.Comments[1].Author)
	require.Equal(t, "@librarian why?", got.Comments[1].Body)
	require.Equal(t, "COLLABORATOR", got.Comments[1].Role)
	require.False(t, got.Comments[1].CreatedAt.IsZero())
	require.Equal(t, w.app.ID, got.Comments[2].App)
	require.True(t, got.Comments[2].Author.Bot)
	require.Zero(t, got.Comments[1].App)

	require.NoError(t, w.LockIssue("acme/app", issue.Number, "ada", true))
	require.NoError(t, w.CloseIssue("acme/app", issue.Number, "ada"))
	got, err = w.hub.Thread(ctx, w.place("acme/app", issue, 0))
	require.NoError(t, err)
	require.True(t, got.Locked && got.Closed)
}

func TestT3_LongThread(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	issue, err := w.OpenIssue("acme/app", "ada", "t", "b")
	require.NoError(t, err)
	ids := make([]int64, 0, 750)
	for i := range 750 {
		c, err := w.Comment("acme/app", issue.Number, "ada", fmt.Sprint(i))
		require.NoError(t, err)
		ids = append(ids, c.ID)
	}
	for _, c := range []struct{ asked, want int }{{asked: 3, want: 451}, {asked: 749, want: 450}} {
		n := len(w.Requests())
		got, err := w.hub.Thread(ctx, w.place("acme/app", issue, ids[c.asked]))
		require.NoError(t, err)
		require.Len(t, got.Comments, c.want)
		require.Equal(t, 750-c.want, got.Omitted)
		require.Equal(t, "749", got.Comments[len(got.Comments)-1].Body)
		require.Equal(t, ids[749], got.Comments[len(got.Comments)-1].ID)
		if c.asked == 3 {
			require.Equal(t, ids[3], got.Comments[0].ID, "the one that asked is there")
			require.Equal(t, ids[300], got.Comments[1].ID)
		}
		require.LessOrEqual(t, len(w.Requests())-n, 10)
	}
}

func TestT3_LongComments(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	issue, err := w.OpenIssue("acme/app", "ada", "t", "b")
	require.NoError(t, err)
	var last githubsim.Comment
	for range 20 {
		last, err = w.Comment("acme/app", issue.Number, "ada", strings.Repeat("é", 60_000)) // 120 kB
		require.NoError(t, err)
	}
	got, err := w.hub.Thread(ctx, w.place("acme/app", issue, last.ID))
	require.NoError(t, err)
	size := 0
	for _, c := range got.Comments {
		size += len(c.Body)
		require.True(t, c.Clipped)
		require.LessOrEqual(t, len(c.Body), 65_536)
	}
	require.LessOrEqual(t, size, 1<<20)
	require.Equal(t, 20, len(got.Comments)+got.Omitted)
	require.Equal(t, last.ID, got.Comments[len(got.Comments)-1].ID)
}

func TestT10_TriggerDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	issue, err := w.OpenIssue("acme/app", "ada", "t", "b")
	require.NoError(t, err)
	asked, err := w.Comment("acme/app", issue.Number, "ada", "@librarian why?")
	require.NoError(t, err)
	place := w.place("acme/app", issue, asked.ID)
	exists := func(p librarian.Place) bool {
		ok, err := w.hub.TriggerExists(ctx, p)
		require.NoError(t, err)
		return ok
	}
	require.True(t, exists(place))
	require.True(t, exists(w.place("acme/app", issue, 0)))
	elsewhere := place
	elsewhere.Number = 99
	require.False(t, exists(elsewhere), "a comment of another thread did not ask here")

	remove := w.Inject(githubsim.Fault{Path: regexp.MustCompile(`/comments/`), Status: 403})
	_, err = w.hub.TriggerExists(ctx, place)
	require.Error(t, err, "not to be seen is not gone")
	remove()
	require.NoError(t, w.DeleteComment(asked.ID, "ada"))
	require.False(t, exists(place))
	got, err := w.hub.Thread(ctx, place)
	require.NoError(t, err)
	require.True(t, got.TriggerGone)

	require.NoError(t, w.SuspendInstallation(w.inst))
	w.hub.Forget(w.inst, 0)
	ok, err := w.hub.TriggerExists(ctx, place)
	require.Error(t, err, "a suspended App cannot tell")
	require.False(t, ok)
}

func TestThreadThatIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	issue, err := w.OpenIssue("acme/app", "ada", "t", "b")
	require.NoError(t, err)
	for name, change := range map[string]func(*librarian.Place){
		"number":       func(p *librarian.Place) { p.Number = 7 },
		"repository":   func(p *librarian.Place) { p.Repo = w.id("acme/other") },
		"installation": func(p *librarian.Place) { p.Installation = 1 },
		"host":         func(p *librarian.Place) { p.Repo = librarian.GitHubRepo("elsewhere.example", 3) },
		"terminal":     func(p *librarian.Place) { *p = librarian.Place{Kind: librarian.PlaceTerminal} },
	} {
		p := w.place("acme/app", issue, 0)
		change(&p)
		_, err := w.hub.Thread(ctx, p)
		require.ErrorIs(t, err, librarian.ErrNotFound, name)
	}
}

const pullArchive = `
-- @commit first --
-- a.txt --
a
-- @branch topic --
-- @commit second --
-- a.txt --
b
`

func TestT2_PullRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	dir := t.TempDir() + "/code.git"
	shas := checkouttest.Build(t, dir, pullArchive)
	_, err := w.CreateRepo("acme", "code", githubsim.RepoOptions{Path: dir})
	require.NoError(t, err)
	require.NoError(t, w.AddRepositories(w.inst, "code"))
	w.repo["acme/code"], err = w.Repo("acme/code")
	require.NoError(t, err)
	pull, err := w.OpenPull("acme/code", "ada", githubsim.PullOptions{Title: "t", Body: "b", Head: "topic", ForkDeleted: true})
	require.NoError(t, err)
	got, err := w.hub.Thread(ctx, w.place("acme/code", pull, 0))
	require.NoError(t, err)
	require.NotNil(t, got.Pull)
	require.Equal(t, shas["second"], got.Pull.HeadSHA)
	require.Equal(t, "main", got.Pull.BaseRef)
	require.Empty(t, got.Pull.HeadRepo, "the fork is gone")
}

// A repository's new name leads to the same issue, also while the name that its token was minted with is believed; a transfer does not.
func TestT7_ThreadOfARenamedRepositoryAndOfATransferredIssue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, githubsim.Options{})
	i, err := w.OpenIssue("acme/app", "ada", "Where?", "Here.")
	require.NoError(t, err)
	place := w.place("acme/app", i, 0)
	_, err = w.hub.Thread(ctx, place)
	require.NoError(t, err)
	require.NoError(t, w.RenameRepo("acme/app", "application"))
	_, err = w.hub.Thread(ctx, place)
	require.NoError(t, err)
	require.NoError(t, w.TransferIssue("acme/application", i.Number, "ada", "acme/other"))
	_, err = w.hub.Thread(ctx, place)
	require.ErrorIs(t, err, librarian.ErrNotFound)
}
