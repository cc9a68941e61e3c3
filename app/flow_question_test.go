package app

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
)

func TestFlowAMentionBecomesVerifiedFindings(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)
	id, answers := f.ask("acme/pantry", simUser, "@librarian how is it decided which jar is eaten first?")
	require.Len(t, answers, 1)
	body := answers[0].Body
	require.Regexp(t, `/acme/pantry/blob/[0-9a-f]{40}/shelf/shelf\.go#L\d+-L\d+`, body)
	require.Contains(t, body, "builtin/scout")
	require.Regexp(t, `run <code>[0-9a-f-]{36}</code>`, body)
	good, all, err := checkLinks(t.Context(), f.web, body)
	require.NoError(t, err)
	require.Positive(t, all)
	require.Equal(t, all, good, "every link opens")
	f.eventually("👀 became 🚀", func() bool { return slices.Equal(contents(f.sim.Reactions(id)), []string{"rocket"}) })
}

func TestO3_DurableBeforeTheAnswerThoughGitHubIsSlow(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)
	remove := f.sim.Inject(githubsim.Fault{Path: regexp.MustCompile(`^/api/v3/repos|^/api/v3/repositories|access_tokens`), Delay: 30 * time.Second})
	began := time.Now()
	c, err := f.sim.Comment("acme/pantry", 1, simUser, "@librarian what spoils first?")
	require.NoError(t, err)
	require.NoError(t, f.sim.WaitDeliveries(t.Context()))
	require.Less(t, time.Since(began), 5*time.Second, "the delivery is answered without asking GitHub")
	f.stop() // what was acknowledged is on disk
	remove()
	f.serve()
	require.Equal(t, "rocket", f.settled(c.ID))
	require.Len(t, f.ours("acme/pantry", c.ID), 1)
}

func TestO1_ARedeliveryIsOneRun(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)
	id, answers := f.ask("acme/pantry", simUser, "@librarian what spoils first?")
	require.Len(t, answers, 1)
	for _, d := range f.sim.Deliveries() {
		if d.Event == "issue_comment" {
			require.NoError(t, f.sim.Redeliver(d.ID))
		}
	}
	require.NoError(t, f.sim.WaitDeliveries(t.Context()))
	f.stop()
	f.serve() // also after a restart
	for _, d := range f.sim.Deliveries() {
		if d.Event == "issue_comment" {
			require.NoError(t, f.sim.Redeliver(d.ID))
			break
		}
	}
	require.NoError(t, f.sim.WaitDeliveries(t.Context()))
	_, _ = f.ask("acme/pantry", simUser, "@librarian how many days ahead is the reminder?")
	require.Len(t, f.ours("acme/pantry", id), 2, "one answer for each question")
}

func TestW2_BotsAreIgnored(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, func(f *flow) {
		_, err := f.sim.CreateBot("evil[bot]")
		require.NoError(t, err)
		require.NoError(t, f.sim.SetPermission("acme/pantry", "evil[bot]", "admin", ""))
	})
	c, err := f.sim.Comment("acme/pantry", 1, "evil[bot]", "@librarian tell me everything")
	require.NoError(t, err)
	f.quiet("acme/pantry", c.ID)
}

func TestW3_AStrangerOnAPublicRepositoryIsDeclinedByASign(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)
	c, err := f.sim.Comment("acme/pantry", 1, simReads, "@librarian what spoils first?")
	require.NoError(t, err)
	require.Equal(t, "confused", f.settled(c.ID))
	require.Empty(t, f.ours("acme/pantry", c.ID))
	require.Zero(t, f.requests(".git/"), "nothing was cloned for a stranger")
}

func TestW4_APrivateRepositoryDoesNotExistForAPublicThread(t *testing.T) {
	t.Parallel()
	answer := func(repo string) (string, string) {
		seen := ""
		m := modeltest.New(
			modeltest.Call(use("checkout_repo", args{"repo": repo})),
			func(ctx context.Context, c model.Call) (model.Reply, error) {
				seen = c.Messages[len(c.Messages)-1].Parts[0].Text
				return results("It could not be read.")(ctx, c)
			})
		// The clock stands still, so that nothing cached lapses on a slow machine and is asked for twice.
		at := time.Now()
		f := newFlowOn(t, os.Getenv("LIBRARIAN_TEST_TLS") != "", githubsim.Options{Now: func() time.Time { return at }}, m, nil)
		id, answers := f.ask("acme/pantry", simUser, "@librarian what is in "+repo+"?")
		require.Len(t, answers, 1)
		f.eventually("👀 became 🚀, the last request", func() bool { return slices.Equal(contents(f.sim.Reactions(id)), []string{"rocket"}) })
		require.NotContains(t, f.log.String()+answers[0].Body, "canary-cellar-9")
		require.Zero(t, f.requests("cellar.git"), "git was not even asked")
		var calls []string
		for _, r := range f.sim.Requests() {
			if strings.Contains(r.Path, "/repos/") {
				calls = append(calls, fmt.Sprintf("%s %s", r.Method, strings.ReplaceAll(r.Path, strings.TrimPrefix(repo, "acme/"), "X")))
			}
		}
		slices.Sort(calls) // two of them go out at once
		return strings.ReplaceAll(seen, repo, "X"), strings.Join(calls, "\n")
	}
	hidden, hiddenCalls := answer("acme/cellar")
	missing, missingCalls := answer("acme/nowhere")
	require.Equal(t, missing, hidden, "no access and does not exist read the same")
	require.Equal(t, missingCalls, hiddenCalls, "and make the same calls")
}

func TestW4_WhatWasNamedAndNotReadIsSaid(t *testing.T) {
	t.Parallel()
	answer := func(repo string) string {
		f := newFlow(t, nil, nil)
		_, answers := f.ask("acme/pantry", simUser, "@librarian in "+repo+", which jar is eaten first?")
		require.Len(t, answers, 1)
		body := answers[0].Body
		require.Contains(t, body, "/acme/pantry/blob/", "the thread's own repository is searched")
		require.NotContains(t, body, "canary-cellar-9")
		_, rest, ok := strings.Cut(body, "Not looked at:")
		require.True(t, ok, body)
		rest, _, _ = strings.Cut(strings.TrimSpace(rest), "\n")
		return strings.ReplaceAll(rest, repo, "X")
	}
	missing := answer("acme/nowhere")
	require.Contains(t, missing, "X was not found, or may not be read from here")
	require.Equal(t, missing, answer("acme/cellar"))
}

func TestPrivateRepositoryAnswersInItsOwnThread(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)
	_, answers := f.ask("acme/cellar", simReads, "@librarian which vintage is it?")
	require.Len(t, answers, 1)
	require.Contains(t, answers[0].Body, "/acme/cellar/blob/")
}

func TestW6_SecretsNeverReachAComment(t *testing.T) {
	t.Parallel()
	token := "ghp_" + strings.Repeat("Ab1", 12)
	m := modeltest.New(results("The token is " + token + " and the key AKIAABCDEFGHIJKLMNOP."))
	f := newFlow(t, m, nil)
	_, answers := f.ask("acme/pantry", simUser, "@librarian what is the token?")
	require.Len(t, answers, 1)
	require.NotContains(t, answers[0].Body, token)
	require.NotContains(t, answers[0].Body, "AKIAABCDEFGHIJKLMNOP")
	require.NotContains(t, f.log.String(), f.world.app.WebhookSecret)
	require.NotContains(t, f.log.String(), "ghs_")
}

func TestW5_NoToolCanNameAPlaceToWriteTo(t *testing.T) {
	t.Parallel()
	var seen model.Call
	m := modeltest.New(func(ctx context.Context, c model.Call) (model.Reply, error) {
		seen = c
		return results("Posted where it was asked. See acme/cellar#1.")(ctx, c)
	})
	f := newFlow(t, m, nil)
	_, answers := f.ask("acme/pantry", simUser, "@librarian post this to acme/cellar#1")
	require.Len(t, answers, 1)
	require.Empty(t, f.ours("acme/cellar", 0))
	for _, tl := range seen.Tools {
		for _, word := range []string{"comment_id", "issue_number", "\"body\""} {
			require.NotContains(t, string(tl.Schema), word, tl.Name)
		}
	}
}

func TestAFailureIsToldOnce(t *testing.T) {
	t.Parallel()
	m := modeltest.New(modeltest.Fail(&model.Error{Kind: model.ErrAuth, Status: 401, Message: "bad key sk-secret"}))
	f := newFlow(t, m, nil)
	c, answers := f.ask("acme/pantry", simUser, "@librarian why?")
	require.Len(t, answers, 1)
	require.Contains(t, answers[0].Body, "refused the configured key")
	require.NotContains(t, answers[0].Body, "sk-secret")
	f.eventually("👀 became 😕", func() bool { return slices.Equal(contents(f.sim.Reactions(c)), []string{"confused"}) })
}

func TestP7_CitationsThatDoNotHoldAreDroppedAndCounted(t *testing.T) {
	t.Parallel()
	bad := results("It is in the shelf.", args{"repo": "acme/pantry", "file": "shelf/shelf.go", "lines": "9000-9001", "note": "there"},
		args{"repo": "acme/pantry", "file": "no/such.go", "note": "nowhere"}, args{"repo": "acme/pantry", "file": "shelf/shelf.go", "lines": "1-3", "note": "the package"})
	m := modeltest.New(
		modeltest.Call(use("checkout_repo", args{"repo": "acme/pantry"})),
		modeltest.Call(use("read", args{"repo": "acme/pantry", "path": "shelf/shelf.go", "limit": 10})),
		bad, bad, bad)
	f := newFlow(t, m, nil)
	_, answers := f.ask("acme/pantry", simUser, "@librarian where?")
	require.Len(t, answers, 1)
	require.NoError(t, m.Done())
	require.Contains(t, answers[0].Body, "#L1-L3")
	require.NotContains(t, answers[0].Body, "9000")
	require.Contains(t, answers[0].Body, "2 references could not be verified")
}
