package comment_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"
	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/comment"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/hub"
)

var ctx = context.Background()

var appKey = sync.OnceValue(func() []byte {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
})

// thread is an issue of acme/app in a simulated GitHub, in which ada asked.
type thread struct {
	*githubsim.Server
	t      *testing.T
	app    *githubsim.App
	hub    *hub.Hub
	poster *comment.Poster
	issue  githubsim.Issue
	asked  githubsim.Comment
	place  librarian.Place
	run    librarian.RunID
	began  time.Time
	code   string // where acme/code lies, once withCode made it
}

func newThread(t *testing.T, sim githubsim.Options) *thread {
	t.Helper()
	h := &thread{Server: githubsim.New(sim), t: t, run: librarian.NewRunID(), began: time.Now()}
	require.NoError(t, h.Start(t.Context(), "127.0.0.1:0"))
	t.Cleanup(h.Close)
	_, err := h.CreateOrg("acme")
	require.NoError(t, err)
	for _, login := range []string{"ada", "mallory"} {
		_, err = h.CreateUser(login)
		require.NoError(t, err)
	}
	repo, err := h.CreateRepo("acme", "app", githubsim.RepoOptions{})
	require.NoError(t, err)
	require.NoError(t, h.SetPermission("acme/app", "ada", "admin", ""))
	h.app, err = h.CreateApp("librarian", "acme", githubsim.AppOptions{PrivateKeyPEM: appKey()})
	require.NoError(t, err)
	in, err := h.Install(h.app, "acme")
	require.NoError(t, err)
	h.issue, err = h.OpenIssue("acme/app", "ada", "title", "body")
	require.NoError(t, err)
	h.asked, err = h.Comment("acme/app", h.issue.Number, "ada", "@librarian why?")
	require.NoError(t, err)
	h.hub = h.hubOf(h.app)
	h.place = librarian.Place{Kind: librarian.PlaceIssue, Repo: librarian.GitHubRepo(h.hub.Host(), repo.ID), Installation: in.ID,
		RepoName: librarian.RepoName{Owner: "acme", Name: "app"}, Number: h.issue.Number, Trigger: librarian.TriggerIssueComment, TriggerID: h.asked.ID}
	h.poster = h.newPoster()
	return h
}

func (h *thread) hubOf(app *githubsim.App) *hub.Hub {
	h.t.Helper()
	made, err := hub.New(hub.Options{APIURL: h.APIURL(), AppID: app.ID, PrivateKey: appKey()})
	require.NoError(h.t, err)
	return made
}

// newPoster makes another Poster on the same GitHub: what a restart leaves.
func (h *thread) newPoster() *comment.Poster {
	return comment.New(comment.Options{AppID: h.app.ID, BotID: h.app.BotUserID, Client: h.hub.PostClient})
}

func (h *thread) post(role, body string) librarian.Post {
	return librarian.Post{Run: h.run, Role: role, Part: 1, Of: 1, Body: body, Since: h.began}
}

// say has another process say it each time: that is as good as the same one, and need not wait a second after each comment.
func (h *thread) say(p librarian.Post) librarian.PostedData {
	h.t.Helper()
	got, err := h.newPoster().Say(ctx, h.place, p)
	require.NoError(h.t, err)
	return got
}

// ours are the bodies of the App's comments in the thread, without the marker.
func (h *thread) ours() []string {
	var list []string
	for _, c := range h.Comments("acme/app", h.issue.Number) {
		if c.App == "librarian" {
			_, body, _ := strings.Cut(c.Body, "-->\n")
			list = append(list, body)
		}
	}
	return list
}

func (h *thread) marks() []string {
	var list []string
	for _, r := range h.Reactions(h.asked.ID) {
		list = append(list, r.User+" "+r.Content)
	}
	slices.Sort(list)
	return list
}

// writes counts the requests that changed something.
func (h *thread) writes() int {
	n := 0
	for _, r := range h.Requests() {
		if r.Method != http.MethodGet && !strings.HasSuffix(r.Path, "/access_tokens") {
			n++
		}
	}
	return n
}

func TestReactions(t *testing.T) {
	t.Parallel()
	h := newThread(t, githubsim.Options{})
	require.NoError(t, h.React(h.asked.ID, "ada", "eyes"))
	require.NoError(t, h.poster.React(ctx, h.place, librarian.ReactionEyes))
	require.NoError(t, h.poster.React(ctx, h.place, librarian.ReactionEyes))
	require.Equal(t, []string{"ada eyes", "librarian[bot] eyes"}, h.marks())
	require.NoError(t, h.poster.React(ctx, h.place, librarian.ReactionConfused))
	require.Equal(t, []string{"ada eyes", "librarian[bot] confused"}, h.marks(), "somebody else's stays")
	require.NoError(t, h.poster.React(ctx, h.place, librarian.ReactionEyes)) // tried again
	require.NoError(t, h.newPoster().React(ctx, h.place, librarian.ReactionRocket))
	require.Equal(t, []string{"ada eyes", "librarian[bot] rocket"}, h.marks())

	body := h.place
	body.Trigger, body.TriggerID = librarian.TriggerIssueBody, h.issue.ID
	require.NoError(t, h.poster.React(ctx, body, librarian.ReactionEyes))
	require.NoError(t, h.poster.React(ctx, body, librarian.ReactionRocket))
	marks := h.IssueReactions("acme/app", h.issue.Number)
	require.Len(t, marks, 1)
	require.Equal(t, "rocket", marks[0].Content)
	require.Error(t, h.poster.React(ctx, librarian.Place{Kind: librarian.PlaceTerminal, Trigger: librarian.TriggerTerminal}, librarian.ReactionEyes))
}

func TestSayOnce(t *testing.T) {
	t.Parallel()
	h := newThread(t, githubsim.Options{})
	first := h.say(h.post(librarian.RoleAnswer, "one"))
	require.Equal(t, librarian.RoleAnswer, first.Role)
	c := h.Comments("acme/app", h.issue.Number)[1]
	require.Equal(t, c.ID, first.Comment)
	require.Equal(t, c.URL, first.URL)
	require.Equal(t, fmt.Sprintf("<!-- librarian run=%s role=answer part=1/1 -->\none", h.run), c.Body)

	before := h.writes()
	require.Equal(t, first, h.say(h.post(librarian.RoleAnswer, "one")))
	require.Equal(t, before, h.writes(), "nothing to do costs no write")

	known := h.post(librarian.RoleAnswer, "two")
	known.Known = first.Comment
	require.Equal(t, first, h.say(known))
	require.Equal(t, []string{"two"}, h.ours())

	other := h.post(librarian.RoleAnswer, "another run")
	other.Run, other.Known = librarian.NewRunID(), first.Comment // a record that is wrong
	require.NotEqual(t, first.Comment, h.say(other).Comment)
	h.Inject(githubsim.Fault{Method: http.MethodPatch, Status: 404, Count: 1}) // deleted while we looked
	require.NotEqual(t, first.Comment, h.say(h.post(librarian.RoleAnswer, "three")).Comment)
}

func TestReactIsTriedAgain(t *testing.T) {
	t.Parallel()
	h := newThread(t, githubsim.Options{})
	reactions := regexp.MustCompile(`/reactions$`)
	h.Inject(githubsim.Fault{Path: reactions, Method: "POST", Count: 1, Status: 503})
	h.Inject(githubsim.Fault{Path: reactions, Method: "POST", Count: 1, Cut: true, AfterWork: true})
	require.NoError(t, h.poster.React(ctx, h.place, librarian.ReactionEyes))
	require.Equal(t, []string{"librarian[bot] eyes"}, h.marks())
	h.Inject(githubsim.Fault{Path: reactions, Method: "POST", Count: 3, Status: 503})
	require.Error(t, h.poster.React(ctx, h.place, librarian.ReactionRocket), "but not for ever")
	require.NoError(t, h.poster.React(ctx, h.place, librarian.ReactionRocket))
}

// A run that comes back for what it could not take off writes nothing else again.
func TestReactWritesOnlyWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, crowd := range []int{0, 150} {
		t.Run(fmt.Sprint(crowd), func(t *testing.T) {
			t.Parallel()
			h := newThread(t, githubsim.Options{})
			for i := range crowd {
				user := fmt.Sprint("user", i)
				_, err := h.CreateUser(user)
				require.NoError(t, err)
				require.NoError(t, h.React(h.asked.ID, user, []string{"heart", "eyes"}[i%2]))
			}
			require.NoError(t, h.poster.React(ctx, h.place, librarian.ReactionEyes))
			before := h.writes()
			h.Inject(githubsim.Fault{Path: regexp.MustCompile(`/reactions/\d+$`), Method: "DELETE", Count: 2, Status: 503})
			require.NoError(t, h.poster.React(ctx, h.place, librarian.ReactionRocket))
			require.Equal(t, before+1+3, h.writes())
			require.NoError(t, h.newPoster().React(ctx, h.place, librarian.ReactionRocket))
			require.Equal(t, before+1+3, h.writes(), "all is as it shall be")
			ours := slices.DeleteFunc(h.marks(), func(m string) bool { return !strings.HasPrefix(m, "librarian[bot]") })
			require.Equal(t, []string{"librarian[bot] rocket"}, ours)
		})
	}
}

func TestReactWaitsOutAShortLimit(t *testing.T) {
	t.Parallel()
	h := newThread(t, githubsim.Options{})
	h.Inject(githubsim.SecondaryLimit(regexp.MustCompile(`/reactions$`), 1, time.Second))
	var limit *librarian.RateLimitError
	require.ErrorAs(t, h.poster.React(ctx, h.place, librarian.ReactionEyes), &limit, "a first mark is given back, for it holds up others")
	require.Empty(t, h.marks())
	require.NoError(t, h.poster.React(ctx, h.place, librarian.ReactionRocket))
	require.Equal(t, []string{"librarian[bot] rocket"}, h.marks())
}

func TestSayPartsAndRoles(t *testing.T) {
	t.Parallel()
	h := newThread(t, githubsim.Options{})
	h.say(h.post(librarian.RoleAnswer, "answer"))
	h.say(h.post(librarian.RoleProgress, "progress"))
	second := h.post(librarian.RoleAnswer, "part two")
	second.Part, second.Of = 2, 2
	h.say(second)
	other := h.post(librarian.RoleAnswer, "another run")
	other.Run = librarian.NewRunID()
	h.say(other)
	require.Equal(t, []string{"answer", "progress", "part two", "another run"}, h.ours())
	first := h.post(librarian.RoleAnswer, "cut elsewhere")
	first.Of = 3
	h.say(first)
	require.Equal(t, []string{"cut elsewhere", "progress", "part two", "another run"}, h.ours())
	for _, bad := range []librarian.Post{{}, {Run: h.run}, {Run: "x", Role: "answer"}, {Run: h.run, Role: "a -->"}, {Run: h.run, Role: "answer", Part: 2}} {
		_, err := h.poster.Say(ctx, h.place, bad)
		require.Error(t, err)
	}
}

func TestO6_FoundAgainAfterARestart(t *testing.T) {
	t.Parallel()
	h := newThread(t, githubsim.Options{})
	first := h.say(h.post(librarian.RoleAnswer, "said just before the crash"))
	for i := range 250 { // more than two pages later
		_, err := h.Comment("acme/app", h.issue.Number, "mallory", fmt.Sprint(i))
		require.NoError(t, err)
	}
	h.poster = h.newPoster()
	require.Equal(t, first, h.say(h.post(librarian.RoleAnswer, "said after it")))
	require.Equal(t, []string{"said after it"}, h.ours())
}

func TestO6_ForgedMarkerIsNotOurs(t *testing.T) {
	t.Parallel()
	h := newThread(t, githubsim.Options{})
	forged, err := h.Comment("acme/app", h.issue.Number, "mallory", fmt.Sprintf("<!-- librarian run=%s role=answer part=1/1 -->\nbelieve me", h.run))
	require.NoError(t, err)
	got := h.say(h.post(librarian.RoleAnswer, "the answer"))
	require.NotEqual(t, forged.ID, got.Comment)
	known := h.post(librarian.RoleProgress, "progress")
	known.Known = forged.ID // a record that is wrong
	require.NotEqual(t, forged.ID, h.say(known).Comment)
	require.ErrorContains(t, h.poster.Remove(ctx, h.place, forged.ID), "not ours")
	require.Equal(t, []string{"the answer", "progress"}, h.ours())
	require.Contains(t, h.Comments("acme/app", h.issue.Number)[1].Body, "believe me")

	// Another App's comment, and a marker of another run inside an answer of ours, are not this run's either.
	other, err := h.CreateApp("impostor", "acme", githubsim.AppOptions{PrivateKeyPEM: appKey()})
	require.NoError(t, err)
	in, err := h.Install(other, "acme")
	require.NoError(t, err)
	theirs := h.place
	theirs.Installation = in.ID
	c, _, err := h.hubOf(other).PostClient(ctx, theirs)
	require.NoError(t, err)
	run := librarian.NewRunID()
	marker := fmt.Sprintf("<!-- librarian run=%s role=answer part=1/1 -->\n", run)
	_, _, err = c.Issues.CreateComment(ctx, "acme", "app", h.issue.Number, &github.IssueComment{Body: new(marker + "x")})
	require.NoError(t, err)
	h.say(h.post(librarian.RoleAnswer, "quoting:\n"+marker))
	next := h.post(librarian.RoleAnswer, "next")
	next.Run = run
	h.say(next)
	require.Len(t, h.ours(), 3)
}

func TestSayThroughFaults(t *testing.T) {
	t.Parallel()
	comments := regexp.MustCompile(`/issues/\d+/comments$`)
	for name, f := range map[string]githubsim.Fault{
		"made, but the connection was cut": {Cut: true, AfterWork: true},
		"made, but 502":                    {Status: 502, AfterWork: true},
		"not made, connection cut":         {Cut: true},
		"not made, 500":                    {Status: 500},
		"short secondary limit":            githubsim.SecondaryLimit(nil, 0, time.Second),
		"token refused":                    {Status: 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newThread(t, githubsim.Options{})
			f.Method, f.Path, f.Count = http.MethodPost, comments, 1
			h.Inject(f)
			h.say(h.post(librarian.RoleAnswer, "once"))
			require.Equal(t, []string{"once"}, h.ours())
		})
	}
}

func TestSayRefused(t *testing.T) {
	t.Parallel()
	t.Run("P1 too long", func(t *testing.T) {
		t.Parallel()
		h := newThread(t, githubsim.Options{})
		n := len(h.Requests())
		_, err := h.poster.Say(ctx, h.place, h.post(librarian.RoleAnswer, strings.Repeat("😀", 33_000)))
		require.ErrorIs(t, err, librarian.ErrTooLong)
		require.Len(t, h.Requests(), n, "known before it is sent")
		h.Inject(githubsim.Fault{Method: http.MethodPost, Path: regexp.MustCompile(`/comments$`), Status: 422,
			Body: `{"message":"Validation Failed","errors":[{"resource":"IssueComment","code":"custom","field":"body","message":"body is too long (maximum is 65536 characters)"}]}`})
		_, err = h.poster.Say(ctx, h.place, h.post(librarian.RoleAnswer, "x"))
		require.ErrorIs(t, err, librarian.ErrTooLong)
		require.Empty(t, h.ours())
	})
	t.Run("P1 at the limit", func(t *testing.T) {
		t.Parallel()
		h := newThread(t, githubsim.Options{})
		h.say(h.post(librarian.RoleAnswer, strings.Repeat("😀", 32_500)))
		require.Len(t, h.ours(), 1)
	})
	t.Run("another 422", func(t *testing.T) {
		t.Parallel()
		h := newThread(t, githubsim.Options{})
		h.Inject(githubsim.Fault{Method: http.MethodPost, Path: regexp.MustCompile(`/comments$`), Status: 422})
		_, err := h.poster.Say(ctx, h.place, h.post(librarian.RoleAnswer, "x"))
		require.Error(t, err)
		require.NotErrorIs(t, err, librarian.ErrTooLong)
		require.NotErrorIs(t, err, librarian.ErrCannotPost)
	})
	for name, spoil := range map[string]func(*thread) error{
		"T6 locked":   func(h *thread) error { return h.LockIssue("acme/app", h.issue.Number, "ada", true) },
		"T6 archived": func(h *thread) error { return h.SetArchived("acme/app", true) },
		"T8 removed":  func(h *thread) error { return h.RemoveInstallation(h.place.Installation) },
		"deleted":     func(h *thread) error { return h.DeleteRepo("acme/app") },
		"W5 nowhere":  func(h *thread) error { h.place.Number = 77; return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newThread(t, githubsim.Options{})
			require.NoError(t, spoil(h))
			_, err := h.poster.Say(ctx, h.place, h.post(librarian.RoleAnswer, "x"))
			require.ErrorIs(t, err, librarian.ErrCannotPost)
			require.Empty(t, h.ours())
			_, limited := hasRetryAfter(err)
			require.False(t, limited)
		})
	}
	t.Run("L2 long limit", func(t *testing.T) {
		t.Parallel()
		h := newThread(t, githubsim.Options{})
		h.Inject(githubsim.SecondaryLimit(regexp.MustCompile(`/comments$`), 0, 90*time.Second))
		_, err := h.poster.Say(ctx, h.place, h.post(librarian.RoleAnswer, "x"))
		after, limited := hasRetryAfter(err)
		require.True(t, limited)
		require.InDelta(t, 90*time.Second, after, float64(2*time.Second))
	})
}

func hasRetryAfter(err error) (time.Duration, bool) {
	for ; err != nil; err = unwrap(err) {
		if r, ok := err.(interface{ RetryAfter() time.Duration }); ok {
			return r.RetryAfter(), true
		}
	}
	return 0, false
}

func unwrap(err error) error {
	if u, ok := err.(interface{ Unwrap() error }); ok {
		return u.Unwrap()
	}
	return nil
}

func TestRemove(t *testing.T) {
	t.Parallel()
	h := newThread(t, githubsim.Options{})
	mine := h.say(h.post(librarian.RoleProgress, "working"))
	ok, err := h.poster.Exists(ctx, h.place, mine.Comment)
	require.NoError(t, err)
	require.True(t, ok)

	other, err := h.OpenIssue("acme/app", "ada", "another", "thread")
	require.NoError(t, err)
	elsewhere := h.place
	elsewhere.Number = other.Number
	require.Error(t, h.poster.Remove(ctx, elsewhere, mine.Comment), "W5: it stands in another thread")
	require.Error(t, h.poster.Remove(ctx, h.place, h.asked.ID), "the asker's")
	require.Len(t, h.ours(), 1)

	require.NoError(t, h.poster.Remove(ctx, h.place, mine.Comment))
	require.NoError(t, h.poster.Remove(ctx, h.place, mine.Comment), "twice is as once")
	require.Empty(t, h.ours())
	require.Len(t, h.Comments("acme/app", h.issue.Number), 1)
	ok, err = h.poster.Exists(ctx, h.place, mine.Comment)
	require.NoError(t, err)
	require.False(t, ok)

	known := h.post(librarian.RoleProgress, "again")
	known.Known = mine.Comment // which somebody deleted
	require.NotEqual(t, mine.Comment, h.say(known).Comment)
}

func TestT7_RenamedWhileTheRunWorked(t *testing.T) {
	t.Parallel()
	h := newThread(t, githubsim.Options{})
	require.NoError(t, h.poster.React(ctx, h.place, librarian.ReactionEyes))
	require.NoError(t, h.RenameRepo("acme/app", "application"))
	h.say(h.post(librarian.RoleAnswer, "the answer"))
	require.NoError(t, h.poster.React(ctx, h.place, librarian.ReactionRocket))
	require.Equal(t, []string{"librarian[bot] rocket"}, h.marks())
	require.Len(t, h.Comments("acme/application", h.issue.Number), 2)
}

// The order and the numbers are tested in virtual time; this shows that they reach the wire.
func TestL1_CommentsAreSpaced(t *testing.T) {
	t.Parallel()
	h := newThread(t, githubsim.Options{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			p := h.post(librarian.RoleAnswer, "x")
			p.Run = librarian.NewRunID()
			_, err := h.poster.Say(ctx, h.place, p)
			require.NoError(t, err)
		})
	}
	wg.Wait()
	var at []time.Time
	for _, r := range h.Requests() {
		if r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/comments") {
			at = append(at, r.Time)
		}
	}
	require.Len(t, at, 4)
	for i := 1; i < len(at); i++ {
		require.GreaterOrEqual(t, at[i].Sub(at[i-1]), 900*time.Millisecond)
	}
}
