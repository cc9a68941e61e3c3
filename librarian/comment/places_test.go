package comment_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout/checkouttest"
	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
)

const code = `
-- @commit first --
-- a.txt --
a
-- @branch topic --
-- @commit second --
-- a.txt --
b
`

// withCode adds acme/code, with a pull request, and turns place to it.
func (h *thread) withCode() (githubsim.Issue, map[string]string) {
	h.t.Helper()
	h.code = h.t.TempDir() + "/code.git"
	shas := checkouttest.Build(h.t, h.code, code)
	repo, err := h.CreateRepo("acme", "code", githubsim.RepoOptions{Path: h.code})
	require.NoError(h.t, err)
	require.NoError(h.t, h.SetPermission("acme/code", "ada", "admin", ""))
	pull, err := h.OpenPull("acme/code", "ada", githubsim.PullOptions{Title: "t", Body: "b", Head: "topic"})
	require.NoError(h.t, err)
	h.place.Repo, h.place.RepoName.Name, h.place.Number = librarian.GitHubRepo(h.hub.Host(), repo.ID), "code", pull.Number
	return pull, shas
}

// surface is one kind of thread, to be tried like every other.
type surface struct {
	*thread
	ours   func() []string // bodies of the App's comments without their markers, oldest first
	marks  func() []string // reactions on what asked
	forge  func(body string) int64
	noise  func(n int)
	remote string // a part of the path that makes a comment
	lock   func() error
}

func stripped(body string) string {
	_, rest, _ := strings.Cut(body, "-->\n")
	return rest
}

func marksOf(list []githubsim.Reaction) []string {
	var out []string
	for _, r := range list {
		out = append(out, r.User+" "+r.Content)
	}
	slices.Sort(out)
	return out
}

var surfaces = map[string]func(*testing.T) *surface{
	"issue": func(t *testing.T) *surface {
		h := newThread(t, githubsim.Options{})
		return &surface{thread: h, ours: h.ours, marks: h.marks, remote: "/comments$",
			forge: func(body string) int64 {
				c, err := h.Comment("acme/app", h.issue.Number, "mallory", body)
				require.NoError(t, err)
				return c.ID
			},
			noise: func(n int) {
				for i := range n {
					_, err := h.Comment("acme/app", h.issue.Number, "mallory", fmt.Sprint(i))
					require.NoError(t, err)
				}
			},
			lock: func() error { return h.LockIssue("acme/app", h.issue.Number, "ada", true) },
		}
	},
	"review": func(t *testing.T) *surface {
		h := newThread(t, githubsim.Options{})
		pull, _ := h.withCode()
		root, err := h.ReviewComment("acme/code", pull.Number, "ada", githubsim.ReviewCommentOptions{Path: "a.txt", Line: 1, Body: "hm"})
		require.NoError(t, err)
		asked, err := h.ReplyReviewComment(root.ID, "ada", "@librarian why?")
		require.NoError(t, err)
		h.place.Kind, h.place.Trigger = librarian.PlaceReview, librarian.TriggerReviewComment
		h.place.TriggerID, h.place.Root = asked.ID, root.ID
		return &surface{thread: h, remote: "/replies$",
			marks: func() []string { return marksOf(h.Reactions(asked.ID)) },
			ours: func() []string {
				var list []string
				for _, c := range h.ReviewComments("acme/code", pull.Number) {
					if c.App == "librarian" {
						require.Equal(t, root.ID, c.InReplyTo, "T1")
						list = append(list, stripped(c.Body))
					}
				}
				return list
			},
			forge: func(body string) int64 {
				c, err := h.ReplyReviewComment(root.ID, "mallory", body)
				require.NoError(t, err)
				return c.ID
			},
			noise: func(n int) {
				for i := range n {
					_, err := h.ReplyReviewComment(root.ID, "mallory", fmt.Sprint(i))
					require.NoError(t, err)
				}
			},
			lock: func() error { return h.LockIssue("acme/code", pull.Number, "ada", true) },
		}
	},
	"discussion": func(t *testing.T) *surface { return discussionSurface(t, false) },
	"reply":      func(t *testing.T) *surface { return discussionSurface(t, true) },
}

func discussionSurface(t *testing.T, reply bool) *surface {
	h := newThread(t, githubsim.Options{})
	d, err := h.OpenDiscussion("acme/app", "ada", "title", "body")
	require.NoError(t, err)
	h.place.Kind, h.place.Trigger, h.place.TriggerID = librarian.PlaceDiscussion, librarian.TriggerDiscussionBody, d.ID
	h.place.ThreadNode, h.place.TriggerNode, h.place.Number = d.NodeID, d.NodeID, d.Number
	s := &surface{thread: h, remote: "/graphql$", lock: func() error { return h.LockDiscussion("acme/app", d.Number, "ada", true) }}
	asked, parent := d.ID, int64(0)
	if reply {
		top, err := h.CommentDiscussion("acme/app", d.Number, "mallory", "hm")
		require.NoError(t, err)
		c, err := h.ReplyDiscussion(top.ID, "ada", "@librarian why?")
		require.NoError(t, err)
		asked, parent = c.ID, top.ID
		h.place.Trigger, h.place.TriggerID, h.place.TriggerNode, h.place.ReplyTo = librarian.TriggerDiscussionComment, c.ID, c.NodeID, top.NodeID
	}
	s.marks = func() []string { return marksOf(h.Reactions(asked)) }
	s.ours = func() []string {
		var list []string
		for _, c := range h.DiscussionComments("acme/app", d.Number) {
			if c.App == "librarian" && !c.Deleted {
				require.Equal(t, parent, c.ReplyTo)
				list = append(list, stripped(c.Body))
			}
		}
		return list
	}
	s.forge = func(body string) int64 {
		add := func() (githubsim.DiscussionComment, error) {
			return h.CommentDiscussion("acme/app", d.Number, "mallory", body)
		}
		if reply {
			add = func() (githubsim.DiscussionComment, error) { return h.ReplyDiscussion(parent, "mallory", body) }
		}
		c, err := add()
		require.NoError(t, err)
		return c.ID
	}
	s.noise = func(n int) {
		for i := range n {
			s.forge(fmt.Sprint(i))
		}
	}
	return s
}

func eachSurface(t *testing.T, f func(*testing.T, *surface)) {
	t.Parallel()
	for name, make := range surfaces {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, make(t))
		})
	}
}

func TestT1_PostedWhereItWasAsked(t *testing.T) {
	eachSurface(t, func(t *testing.T, s *surface) {
		shown := s.say(s.post(librarian.RoleProgress, "working"))
		require.NotZero(t, shown.Comment)
		require.NotEmpty(t, shown.URL)
		again := s.post(librarian.RoleProgress, "still")
		again.Known = shown.Comment
		require.Equal(t, shown, s.say(again))
		require.Equal(t, []string{"still"}, s.ours())

		answered := s.say(s.post(librarian.RoleAnswer, "answer"))
		require.NotEqual(t, shown.Comment, answered.Comment)
		before := s.writes()
		require.Equal(t, answered, s.say(s.post(librarian.RoleAnswer, "answer")))
		require.LessOrEqual(t, s.writes()-before, 1, "nothing to do costs no write; a query by GraphQL is a POST too")

		require.NoError(t, s.poster.Remove(ctx, s.place, shown.Comment))
		require.NoError(t, s.poster.Remove(ctx, s.place, shown.Comment), "twice is as once")
		require.Equal(t, []string{"answer"}, s.ours())
		there, err := s.poster.Exists(ctx, s.place, answered.Comment)
		require.NoError(t, err)
		require.True(t, there)
		there, err = s.poster.Exists(ctx, s.place, shown.Comment)
		require.NoError(t, err)
		require.False(t, there)
	})
}

func TestO6_FoundAgainInEveryPlace(t *testing.T) {
	eachSurface(t, func(t *testing.T, s *surface) {
		first := s.say(s.post(librarian.RoleAnswer, "said just before the crash"))
		s.noise(120)
		s.poster = s.newPoster()
		require.Equal(t, first, s.say(s.post(librarian.RoleAnswer, "said after it")))
		require.Equal(t, []string{"said after it"}, s.ours())

		forged := s.forge(fmt.Sprintf("<!-- librarian run=%s role=progress part=1/1 -->\nbelieve me", s.run))
		known := s.post(librarian.RoleProgress, "progress")
		known.Known = forged // a record that is wrong
		require.NotEqual(t, forged, s.say(known).Comment)
		require.Error(t, s.poster.Remove(ctx, s.place, forged))
		require.Len(t, s.ours(), 2)
	})
}

func TestReactInEveryPlace(t *testing.T) {
	eachSurface(t, func(t *testing.T, s *surface) {
		require.NoError(t, s.poster.React(ctx, s.place, librarian.ReactionEyes))
		require.NoError(t, s.poster.React(ctx, s.place, librarian.ReactionEyes))
		require.Equal(t, []string{"librarian[bot] eyes"}, s.marks())
		require.NoError(t, s.poster.React(ctx, s.place, librarian.ReactionConfused))
		require.NoError(t, s.newPoster().React(ctx, s.place, librarian.ReactionRocket))
		require.Equal(t, []string{"librarian[bot] rocket"}, s.marks())
	})
}

func TestFaultsInEveryPlace(t *testing.T) {
	eachSurface(t, func(t *testing.T, s *surface) {
		skip := 0
		if s.place.Kind == librarian.PlaceDiscussion {
			skip = 1 // the query that looks for the comment
		}
		s.Inject(githubsim.Fault{Method: http.MethodPost, Path: regexp.MustCompile(s.remote), Skip: skip, Count: 1, Status: 502, AfterWork: true})
		s.say(s.post(librarian.RoleAnswer, "once"))
		require.Equal(t, []string{"once"}, s.ours())

		_, err := s.poster.Say(ctx, s.place, s.post(librarian.RoleAnswer, strings.Repeat("😀", 33_000)))
		require.ErrorIs(t, err, librarian.ErrTooLong)

		nowhere := s.place
		nowhere.Number, nowhere.Root, nowhere.ReplyTo = 77, 77, ""
		if nowhere.ThreadNode != "" {
			nowhere.ThreadNode = "D_nothing"
		}
		_, err = s.poster.Say(ctx, nowhere, s.post(librarian.RoleProgress, "x"))
		require.ErrorIs(t, err, librarian.ErrCannotPost, "W5")
		require.NoError(t, s.lock())
		_, err = s.poster.Say(ctx, s.place, s.post(librarian.RoleProgress, "x"))
		require.ErrorIs(t, err, librarian.ErrCannotPost, "T6")
		require.Equal(t, []string{"once"}, s.ours())
	})
}

func TestT6_P1_WhatGitHubSays(t *testing.T) {
	t.Parallel()
	rest := func(message string) githubsim.Fault {
		return githubsim.Fault{Status: 422, Body: fmt.Sprintf(`{"message":"Validation Failed","errors":[{"message":%q}]}`, message)}
	}
	graph := func(kind, message string) githubsim.Fault {
		return githubsim.Fault{Skip: 1, Status: 200, Body: fmt.Sprintf(`{"data":{"made":null},"errors":[{"type":%q,"message":%q}]}`, kind, message)}
	}
	for _, tt := range []struct {
		surface string
		fault   githubsim.Fault
		want    error
	}{
		{"review", rest("Unable to create comment because issue is locked."), librarian.ErrCannotPost},
		{"review", rest("Body is too long (maximum is 65536 characters)"), librarian.ErrTooLong},
		{"review", rest("No commit found for SHA: dddd"), librarian.ErrCannotPost},
		{"review", rest("something else"), nil},
		{"discussion", graph("UNPROCESSABLE", "Repository was archived so is read-only."), librarian.ErrCannotPost},
		{"discussion", graph("UNPROCESSABLE", "Body is too long"), librarian.ErrTooLong},
		{"discussion", graph("FORBIDDEN", "Resource not accessible by integration"), librarian.ErrCannotPost},
		{"discussion", graph("UNPROCESSABLE", "something else"), nil},
	} {
		t.Run(tt.surface+" "+tt.fault.Body, func(t *testing.T) {
			t.Parallel()
			s := surfaces[tt.surface](t)
			tt.fault.Method, tt.fault.Path = http.MethodPost, regexp.MustCompile(s.remote)
			s.Inject(tt.fault)
			_, err := s.poster.Say(ctx, s.place, s.post(librarian.RoleAnswer, "x"))
			require.Error(t, err)
			for _, kind := range []error{librarian.ErrCannotPost, librarian.ErrTooLong} {
				require.Equal(t, errors.Is(kind, tt.want), errors.Is(err, kind), "%v", err)
			}
			require.Empty(t, s.ours())
		})
	}
}

func TestReactToReviewsLabelsAndDispatches(t *testing.T) {
	t.Parallel()
	h := newThread(t, githubsim.Options{})
	pull, _ := h.withCode()
	review, err := h.Review("acme/code", pull.Number, "ada", githubsim.ReviewOptions{State: "commented", Body: "@librarian why?"})
	require.NoError(t, err)
	h.place.Kind, h.place.Trigger, h.place.TriggerID, h.place.TriggerNode = librarian.PlacePull, librarian.TriggerReviewBody, review.ID, review.NodeID
	require.NoError(t, h.poster.React(ctx, h.place, librarian.ReactionEyes))
	require.NoError(t, h.poster.React(ctx, h.place, librarian.ReactionRocket))
	require.Equal(t, []string{"librarian[bot] rocket"}, marksOf(h.Reactions(review.ID)))
	h.say(h.post(librarian.RoleAnswer, "in the conversation"))
	require.Len(t, h.Comments("acme/code", pull.Number), 1)

	for _, kind := range []librarian.TriggerKind{librarian.TriggerLabel, librarian.TriggerEvent} {
		h.place.Trigger, h.place.TriggerID, h.place.TriggerNode = kind, pull.ID, ""
		require.NoError(t, h.poster.React(ctx, h.place, librarian.ReactionConfused))
		require.Equal(t, []string{"librarian[bot] confused"}, marksOf(h.IssueReactions("acme/code", pull.Number)))
	}
	h.place.Trigger = librarian.TriggerDispatch
	n := len(h.Requests())
	require.NoError(t, h.poster.React(ctx, h.place, librarian.ReactionEyes), "L4: nothing to react to")
	require.Len(t, h.Requests(), n)
	h.place.Trigger = librarian.TriggerReviewBody
	require.Error(t, h.poster.React(ctx, h.place, librarian.ReactionEyes), "no node id")
}

func TestL7_CheckRun(t *testing.T) {
	t.Parallel()
	for _, named := range []bool{true, false} {
		t.Run(fmt.Sprintf("sha named %v", named), func(t *testing.T) {
			t.Parallel()
			h := newThread(t, githubsim.Options{})
			_, shas := h.withCode()
			h.place = librarian.Place{Kind: librarian.PlaceCommit, Repo: h.place.Repo, RepoName: h.place.RepoName, Installation: h.place.Installation,
				Trigger: librarian.TriggerDispatch}
			sha := shas["first"] // main
			if named {
				sha = shas["second"]
				h.place.SHA = sha
			}
			runs := func() []githubsim.CheckRun { return h.CheckRuns("acme/code", sha) }

			shown := h.say(h.post(librarian.RoleProgress, "working"))
			require.Len(t, runs(), 1)
			require.Equal(t, "in_progress", runs()[0].Status)
			require.Equal(t, "librarian", runs()[0].Name)
			require.Equal(t, string(h.run), runs()[0].ExternalID)
			require.Equal(t, runs()[0].URL, shown.URL)
			again := h.post(librarian.RoleProgress, "still")
			again.Known = shown.Comment
			require.Equal(t, shown, h.say(again))
			there, err := h.poster.Exists(ctx, h.place, shown.Comment)
			require.NoError(t, err)
			require.True(t, there)

			h.poster = h.newPoster() // a restart
			done := h.say(h.post(librarian.RoleAnswer, "the answer"))
			require.NotEqual(t, shown.Comment, done.Comment, "removing the one is not removing the other")
			require.NoError(t, h.poster.Remove(ctx, h.place, shown.Comment))
			require.Len(t, runs(), 1)
			require.Equal(t, "completed", runs()[0].Status)
			require.Equal(t, "neutral", runs()[0].Conclusion)
			require.Equal(t, "the answer", stripped(runs()[0].Summary))
			late := h.post(librarian.RoleProgress, "late")
			h.say(late)
			require.Equal(t, "completed", runs()[0].Status, "an answer does not become progress again")

			second := h.post(librarian.RoleAnswer, "more")
			second.Part, second.Of = 2, 2
			h.say(second)
			h.say(second)
			require.Len(t, runs(), 2)
			other := h.post(librarian.RoleRefusal, "no")
			other.Run = librarian.NewRunID()
			h.say(other)
			require.Len(t, runs(), 3)

			_, err = h.poster.Say(ctx, h.place, h.post(librarian.RoleAnswer, strings.Repeat("x", 65_600)))
			require.ErrorIs(t, err, librarian.ErrTooLong)
			require.NoError(t, h.poster.Remove(ctx, h.place, done.Comment))
			for _, c := range runs() {
				require.NotContains(t, c.Summary, "the answer")
			}
			require.NoError(t, h.poster.React(ctx, h.place, librarian.ReactionRocket))
		})
	}
}

func TestCheckRunStaysAtItsCommit(t *testing.T) {
	t.Parallel()
	h := newThread(t, githubsim.Options{})
	_, shas := h.withCode()
	h.place.Kind, h.place.Number, h.place.Trigger = librarian.PlaceCommit, 0, librarian.TriggerDispatch
	shown, err := h.poster.Say(ctx, h.place, h.post(librarian.RoleProgress, "working"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(h.code+"/refs/heads/main", []byte(shas["second"]+"\n"), 0o600)) // a push meanwhile
	done, err := h.poster.Say(ctx, h.place, h.post(librarian.RoleAnswer, "the answer"))
	require.NoError(t, err)
	require.Equal(t, -shown.Comment, done.Comment)
	require.Empty(t, h.CheckRuns("acme/code", shas["second"]))
	other := h.post(librarian.RoleAnswer, "another run")
	other.Run = librarian.NewRunID()
	h.say(other)
	require.Len(t, h.CheckRuns("acme/code", shas["second"]), 1, "who asks now is answered at the head of now")
}

func TestCheckRunOfAnotherAppIsNotOurs(t *testing.T) {
	t.Parallel()
	h := newThread(t, githubsim.Options{})
	_, shas := h.withCode()
	h.place.Kind, h.place.SHA, h.place.Number = librarian.PlaceCommit, shas["first"], 0
	other, err := h.CreateApp("impostor", "acme", githubsim.AppOptions{PrivateKeyPEM: appKey()})
	require.NoError(t, err)
	in, err := h.Install(other, "acme")
	require.NoError(t, err)
	theirs := &thread{Server: h.Server, t: t, app: other, hub: h.hubOf(other), run: h.run, began: h.began, place: h.place}
	theirs.place.Installation = in.ID
	theirs.poster = theirs.newPoster()
	forged := theirs.say(h.post(librarian.RoleAnswer, "believe me"))
	mine := h.say(h.post(librarian.RoleAnswer, "the answer"))
	require.NotEqual(t, forged.Comment, mine.Comment)
	require.Error(t, h.poster.Remove(ctx, h.place, forged.Comment))
	require.Len(t, h.CheckRuns("acme/code", shas["first"]), 2)
}

func TestW5_TokensAreForTheirKindOfThread(t *testing.T) {
	t.Parallel()
	h := newThread(t, githubsim.Options{})
	h.withCode()
	for _, kind := range []librarian.PlaceKind{librarian.PlaceIssue, librarian.PlaceDiscussion, librarian.PlaceCommit} {
		p := h.place
		p.Kind = kind
		c, name, err := h.hub.PostClient(ctx, p)
		require.NoError(t, err)
		req, err := c.NewRequest(http.MethodPost, "repos/"+name.String()+"/check-runs", map[string]string{"name": "x", "head_sha": strings.Repeat("0", 40)})
		require.NoError(t, err)
		resp, err := c.Do(ctx, req, nil)
		require.Error(t, err)
		require.Equal(t, kind == librarian.PlaceCommit, resp.StatusCode == http.StatusUnprocessableEntity, "%s: only a commit's may make check runs", kind)
		req, err = c.NewRequest(http.MethodPut, "repos/"+name.String()+"/contents/x", map[string]string{"message": "m", "content": ""})
		require.NoError(t, err)
		_, err = c.Do(ctx, req, nil)
		require.Error(t, err, "none writes contents")
	}
	_, _, err := h.hub.PostClient(ctx, librarian.Place{Kind: librarian.PlaceTerminal, Repo: h.place.Repo, Installation: h.place.Installation})
	require.ErrorIs(t, err, librarian.ErrNotFound)
}
