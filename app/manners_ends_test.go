package app

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
	"github.com/librarian-app/librarian/librarian/store"
)

// meanwhile is a turn of a model during which something happens.
func meanwhile(happens func(), then modeltest.Turn) modeltest.Turn {
	return func(ctx context.Context, c model.Call) (model.Reply, error) {
		happens()
		return then(ctx, c)
	}
}

// state is how the last run of a comment ended.
func (f *flow) state(comment int64) librarian.State {
	f.t.Helper()
	require.NoError(f.t, f.sim.WaitDeliveries(f.t.Context()))
	f.eventually("its run is over", func() bool { return f.unfinished(comment) == 0 })
	for _, r := range f.runs(store.Filter{Limit: 1000}) {
		if r.Request.Place.TriggerID == comment {
			return r.State
		}
	}
	f.t.Fatalf("no run of comment %d", comment)
	return ""
}

// An answer that can no longer be posted leaves no 👀 that says that it is still worked on, and no run that says it was posted.
func TestT6_T7_T10_WhatCanNoLongerBePostedIsNotLeftAtWork(t *testing.T) {
	t.Parallel()
	t.Run("W1 the asker may no longer ask", func(t *testing.T) {
		t.Parallel()
		var f *flow
		var ahead atomic.Int64
		m := modeltest.New(meanwhile(func() {
			ahead.Store(int64(2 * time.Minute)) // what is known of the asker is believed for a minute
			require.NoError(t, f.sim.SetPermission("acme/pantry", simUser, "read", ""))
		}, results("Not for everybody.")))
		f = newFlowOn(t, false, githubsim.Options{Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }}, m, nil)
		c := f.say("acme/pantry", 1, simUser, "@librarian why?")
		require.Equal(t, "confused", f.settled(c.ID))
		require.Equal(t, []string{"confused"}, contents(f.sim.Reactions(c.ID)))
		require.Empty(t, f.ours("acme/pantry", c.ID))
		require.Equal(t, librarian.StateFailed, f.state(c.ID))
	})
	t.Run("T6 the thread is locked, and opened again", func(t *testing.T) {
		t.Parallel()
		var f *flow
		f = newFlow(t, modeltest.New(meanwhile(func() {
			require.NoError(t, f.sim.LockIssue("acme/pantry", 1, simUser, true))
		}, results("Too late.")), results("Once more.")), nil)
		c := f.say("acme/pantry", 1, simUser, "@librarian why?")
		f.eventually("it ends", func() bool { return strings.Contains(f.log.String(), "could not be posted") })
		require.Equal(t, librarian.StateFailed, f.state(c.ID))
		require.Empty(t, f.sim.Reactions(c.ID))
		require.Empty(t, f.ours("acme/pantry", c.ID))
		require.NoError(t, f.sim.LockIssue("acme/pantry", 1, simUser, false))
		_, answers := f.ask("acme/pantry", simUser, "@librarian retry")
		require.Len(t, answers, 1)
		require.Contains(t, answers[0].Body, "Once more.")
	})
	t.Run("T6 a discussion is locked", func(t *testing.T) {
		t.Parallel()
		var f *flow
		number := 0
		f = newFlow(t, modeltest.New(meanwhile(func() {
			require.NoError(t, f.sim.LockDiscussion("acme/pantry", number, simUser, true))
		}, results("Too late."))), nil)
		d, err := f.sim.OpenDiscussion("acme/pantry", simUser, "Lids", "About lids.")
		require.NoError(t, err)
		number = d.Number
		c, err := f.sim.CommentDiscussion("acme/pantry", number, simUser, "@librarian why?")
		require.NoError(t, err)
		require.Equal(t, librarian.StateFailed, f.state(c.ID))
		require.Len(t, f.sim.DiscussionComments("acme/pantry", number), 1)
	})
	t.Run("T6 the repository is archived", func(t *testing.T) {
		t.Parallel()
		var f *flow
		f = newFlow(t, modeltest.New(meanwhile(func() { require.NoError(t, f.sim.SetArchived("acme/pantry", true)) }, results("Too late."))), nil)
		c := f.say("acme/pantry", 1, simUser, "@librarian why?")
		require.Equal(t, librarian.StateFailed, f.state(c.ID))
		require.Empty(t, f.ours("acme/pantry", c.ID))
	})
	t.Run("T7 the issue is transferred", func(t *testing.T) {
		t.Parallel()
		var f *flow
		f = newFlow(t, modeltest.New(meanwhile(func() { require.NoError(t, f.sim.TransferIssue("acme/pantry", 1, simUser, "acme/lids")) }, results("Too late."))), lids)
		c := f.say("acme/pantry", 1, simUser, "@librarian why?")
		require.Equal(t, librarian.StateCancelled, f.state(c.ID))
		require.Empty(t, f.comments("acme/lids", 1))
	})
	t.Run("T7 the issue is transferred before anything is spent", func(t *testing.T) {
		t.Parallel()
		f := newFlow(t, modeltest.New(), lids)
		c := f.between("acme/pantry", func() { require.NoError(t, f.sim.TransferIssue("acme/pantry", 1, simUser, "acme/lids")) })
		require.Equal(t, librarian.StateDeclined, f.state(c.ID))
		require.Zero(t, f.modelRuns())
		require.Empty(t, f.comments("acme/lids", 1))
	})
	t.Run("T10 the progress comment is deleted", func(t *testing.T) {
		t.Parallel()
		var f *flow
		var c githubsim.Comment
		f = newFlow(t, modeltest.New(meanwhile(func() {
			f.eventually("progress is shown, and known", func() bool { return f.posted(c.ID) == 1 })
			require.NoError(t, f.sim.DeleteComment(f.ours("acme/pantry", c.ID)[0].ID, simUser))
		}, results("Too late."))), func(f *flow) { f.cfg.Limits.Progress = time.Second })
		c = f.say("acme/pantry", 1, simUser, "@librarian why?")
		f.eventually("the run ends", func() bool { return strings.Contains(f.log.String(), "run ended") })
		require.Equal(t, librarian.StateCancelled, f.state(c.ID))
		require.Empty(t, f.sim.Reactions(c.ID))
		require.Empty(t, f.ours("acme/pantry", c.ID))
	})
	t.Run("T10 the progress comment is deleted, and that is seen while it is worked", func(t *testing.T) {
		t.Parallel()
		f := newFlow(t, modeltest.New(modeltest.Hang(nil)), func(f *flow) { f.cfg.Limits.Progress = time.Second })
		c := f.say("acme/pantry", 1, simUser, "@librarian why?")
		f.eventually("progress is shown, and known", func() bool { return f.posted(c.ID) == 1 })
		require.NoError(t, f.sim.DeleteComment(f.ours("acme/pantry", c.ID)[0].ID, simUser))
		require.Equal(t, librarian.StateCancelled, f.state(c.ID))
		require.Empty(t, f.sim.Reactions(c.ID))
		require.Empty(t, f.ours("acme/pantry", c.ID))
	})
}

// Faults of settings files are told once in a thread, and in full by help; what they come to is said.
func TestT9_FaultsOfSettingsAreToldOnceInAThread(t *testing.T) {
	t.Parallel()
	f := newFlow(t, modeltest.New(results("One."), results("Two."), results("Three.")), func(f *flow) {
		f.addRepo("lids", map[string]string{".github/librarian.yml": "limits:\n  steps: many\n  time: soon\nnotify: loud\naks: {public: none}\ntriggers: {mention: 'no'}\n"}, nil)
		for range 2 {
			_, err := f.sim.OpenIssue("acme/lids", simUser, "Lids", "About lids.")
			require.NoError(f.t, err)
		}
	})
	_, answers := f.ask("acme/lids", simUser, "@librarian how wide is a lid?")
	require.Equal(t, 1, strings.Count(answers[0].Body, "**Settings:**"))
	first, second := strings.Index(answers[0].Body, "limits.steps"), strings.Index(answers[0].Body, "limits.time")
	require.True(t, 0 < first && first < second, "in the order of the file: %s", answers[0].Body)
	require.Contains(t, answers[0].Body, "- and 2 others, which `@librarian help` lists")
	_, answers = f.ask("acme/lids", simUser, "@librarian and how thick?")
	require.Contains(t, answers[0].Body, "Two.")
	require.NotContains(t, answers[0].Body, "Settings", "it was told here")
	body := f.command("acme/lids", simUser, "@librarian help")
	require.Contains(t, body, "aks: there is no such key; until mended, only people with write permission may ask, and only this repository is read")
	require.Contains(t, body, "triggers.mention")
	c := f.say("acme/lids", 2, simUser, "@librarian how wide is a lid?")
	f.settled(c.ID)
	require.Contains(t, f.comments("acme/lids", 2)[0].Body, "**Settings:**", "another thread is other people")
}

// No word of an organisation's private file gets into threads that others can read.
func TestT9_AnOrganisationsPrivateFileIsNotQuotedElsewhere(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, func(f *flow) {
		f.addRepo(".github", map[string]string{"librarian.yml": "exclude: [acme/secret canary-project]\nread:\n  canary-key: true\n"}, nil)
		require.NoError(f.t, f.sim.SetVisibility("acme/.github", "private"))
		_, err := f.sim.OpenIssue("acme/.github", simUser, "Settings", "About settings.")
		require.NoError(f.t, err)
	})
	_, answers := f.ask("acme/pantry", simUser, "@librarian what spoils first?")
	elsewhere := answers[0].Body + f.command("acme/pantry", simUser, "@librarian help") + f.command("acme/cellar", simUser, "@librarian help")
	require.NotContains(t, elsewhere, "canary")
	require.Contains(t, elsewhere, ".github/librarian.yml, line 1: there is a fault")
	require.Contains(t, f.command("acme/.github", simUser, "@librarian help"), "canary-project", "who reads the thread reads the file")
}

// A month is GitHub's, in UTC, wherever the server's clock stands.
func TestO7_AMonthBeginsInUTC(t *testing.T) {
	t.Parallel()
	kiritimati := time.FixedZone("+14", 14*60*60)
	at := time.Date(2026, time.December, 1, 0, 30, 0, 0, kiritimati) // still November in UTC
	began := time.Now()
	now := func() time.Time { return at.Add(time.Since(began)) }
	f := newFlowOn(t, false, githubsim.Options{Now: now}, modeltest.New(results("One.")), func(f *flow) { f.cfg.Limits.MonthlyCost = 0.5 })
	id, _ := f.ask("acme/pantry", simUser, "@librarian why?")
	f.stop()
	f.spend(id, 0.6)
	f.serve()
	_, told := f.ask("acme/pantry", simUser, "@librarian and now?")
	require.Contains(t, told[0].Body, "This month's budget of $0.50 is spent; the next one begins on 1 December (UTC).")
}
