package app

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
)

// between asks, has change happen before the run is admitted, and lets it go on.
func (f *flow) between(repo string, change func()) githubsim.Comment {
	f.t.Helper()
	remove := f.sim.Inject(githubsim.Fault{Path: regexp.MustCompile(`^/api/v3/`), Delay: 20 * time.Second})
	c := f.say(repo, 1, simUser, "@librarian what spoils first, and how wide is the rim of a lid?")
	require.NoError(f.t, f.sim.WaitDeliveries(f.t.Context()))
	f.stop() // the question is on disk
	remove()
	change()
	f.serve()
	return c
}

func TestT6_LockedAndArchivedSpendNothing(t *testing.T) {
	t.Parallel()
	f := newFlow(t, modeltest.New(), nil)
	require.NoError(t, f.sim.LockIssue("acme/pantry", 1, simUser, true))
	c := f.say("acme/pantry", 1, simUser, "@librarian why?")
	f.eventually("the run ends as declined", func() bool { return strings.Contains(f.log.String(), "the thread is locked") })
	require.NoError(t, f.sim.LockIssue("acme/pantry", 1, simUser, false))
	f.between("acme/pantry", func() { require.NoError(t, f.sim.SetArchived("acme/pantry", true)) })
	f.eventually("the run ends as declined", func() bool { return strings.Contains(f.log.String(), "the repository is archived") })
	require.Zero(t, f.modelRuns())
	require.Empty(t, f.ours("acme/pantry", c.ID))
}

func TestT7_ChangedBetweenQuestionAndRun(t *testing.T) {
	t.Parallel()
	t.Run("T7 renamed and made private", func(t *testing.T) {
		t.Parallel()
		f := newFlow(t, nil, nil)
		c := f.between("acme/pantry", func() {
			require.NoError(t, f.sim.RenameRepo("acme/pantry", "larder"))
			require.NoError(t, f.sim.SetVisibility("acme/larder", "private"))
		})
		require.Equal(t, "rocket", f.settled(c.ID))
		require.Len(t, f.ours("acme/larder", c.ID), 1)
		require.Contains(t, f.ours("acme/larder", c.ID)[0].Body, "/acme/larder/blob/")
	})
	t.Run("T7 transferred to where the App is not", func(t *testing.T) {
		t.Parallel()
		f := newFlow(t, nil, nil)
		c := f.between("acme/pantry", func() {
			_, err := f.sim.CreateOrg("globex")
			require.NoError(t, err)
			require.NoError(t, f.sim.TransferRepo("acme/pantry", "globex"))
		})
		f.eventually("the run ends with the reason", func() bool {
			return regexp.MustCompile(`the repository is gone|could not be posted`).MatchString(f.log.String())
		})
		require.Empty(t, f.ours("globex/pantry", c.ID))
	})
	t.Run("T7 another default branch", func(t *testing.T) {
		t.Parallel()
		f := newFlow(t, nil, lids)
		_, err := f.sim.OpenIssue("acme/lids", simUser, "Lids", "About lids.")
		require.NoError(t, err)
		c := f.between("acme/lids", func() { require.NoError(t, f.sim.SetDefaultBranch("acme/lids", "wide")) })
		require.Equal(t, "rocket", f.settled(c.ID))
		require.Contains(t, f.ours("acme/lids", c.ID)[0].Body, "Rim")
	})
}

func TestT8_RemovedAndSuspended(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)
	id, answers := f.ask("acme/cellar", simUser, "@librarian which vintage is it?")
	require.Len(t, answers, 1)
	require.NotZero(t, f.canaries(), "a clone is kept")
	inst := f.sim.Deliveries()[len(f.sim.Deliveries())-1].Installation
	require.NoError(t, f.sim.RemoveRepositories(inst, "acme/cellar"))
	f.eventually("the clone is deleted", func() bool { return f.canaries() == 0 })

	hang := f.sim.Inject(githubsim.Fault{Path: gitPath, Delay: 20 * time.Second})
	c := f.say("acme/pantry", 1, simUser, "@librarian what spoils first?")
	f.eventually("it is worked", func() bool { return len(f.sim.Reactions(c.ID)) == 1 })
	require.NoError(t, f.sim.SuspendInstallation(inst))
	f.eventually("the run ends", func() bool { return regexp.MustCompile(`run ended.*repo=acme/pantry`).MatchString(f.log.String()) })
	hang()
	require.Empty(t, f.ours("acme/pantry", 0))
	require.Len(t, f.ours("acme/cellar", id), 1, "what was posted stays with the repository")
}

// canaries counts the files below the server's data that are of acme/cellar.
func (f *flow) canaries() int {
	n := 0
	_ = filepath.WalkDir(f.cfg.Server.Data, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "wine.go" {
			n++
		}
		return nil
	})
	return n
}

func TestT9_SettingsThatCannotBeReadMakeAccessTheStrictest(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, func(f *flow) {
		f.addRepo("lids", map[string]string{"lid.go": "package lids\n\n// Width is the width of a lid.\nconst Width = 80\n", ".github/librarian.yml": "ask: [what\n"}, nil)
		_, err := f.sim.CreateUser("tri")
		require.NoError(f.t, err)
		require.NoError(f.t, f.sim.SetPermission("acme/lids", "tri", "triage", ""))
		_, err = f.sim.OpenIssue("acme/lids", simUser, "Lids", "About lids.")
		require.NoError(f.t, err)
	})
	c := f.say("acme/lids", 1, "tri", "@librarian how wide is a lid?")
	require.Equal(t, "confused", f.settled(c.ID), "triage would do on a public repository; now write is needed")
	require.Empty(t, f.ours("acme/lids", c.ID))
	require.Zero(t, f.modelRuns())
	_, answers := f.ask("acme/lids", simUser, "@librarian how wide is a lid?")
	require.Contains(t, answers[0].Body, "**Settings:**")
	require.Contains(t, answers[0].Body, "librarian.yml")
	_, answers = f.ask("acme/pantry", simUser, "@librarian what spoils first?")
	require.NotContains(t, answers[0].Body, "Settings:", "no word of it elsewhere")
}

func TestT3_ALongThreadIsReadFromItsEnd(t *testing.T) {
	t.Parallel()
	m := modeltest.New(results("Long."))
	f := newFlow(t, m, nil)
	for i := range 250 {
		f.say("acme/pantry", 1, simUser, fmt.Sprintf("remark %d of many", i))
	}
	_, answers := f.ask("acme/pantry", simUser, "@librarian what was said?")
	require.Len(t, answers, 1)
	first := m.Calls()[0].Messages[0].Parts[0].Text
	require.Contains(t, first, "remark 249 of many")
	require.NotContains(t, first, "remark 9 of many")
	require.Regexp(t, `Left out: \d+ older comments`, first)
	require.Contains(t, first, "what was said?")
	require.Contains(t, first, "A place to ask.", "T4: the issue's body")
}

func TestT10_WhatIsDeletedIsWithdrawn(t *testing.T) {
	t.Parallel()
	slow := func(f *flow) {
		f.cfg.Limits.Progress = time.Second
		f.sim.Inject(githubsim.Fault{Path: gitPath, Delay: 60 * time.Second})
	}
	t.Run("T10 the question while it is worked", func(t *testing.T) {
		t.Parallel()
		f := newFlow(t, nil, slow)
		c := f.say("acme/pantry", 1, simUser, "@librarian what spoils first?")
		f.eventually("progress is shown", func() bool { return len(f.ours("acme/pantry", c.ID)) == 1 })
		require.NoError(t, f.sim.DeleteComment(c.ID, simUser))
		f.eventually("the run ends", func() bool { return strings.Contains(f.log.String(), "outcome=cancelled") })
		require.Empty(t, f.ours("acme/pantry", c.ID))
	})
	t.Run("T10 the question after it was answered", func(t *testing.T) {
		t.Parallel()
		f := newFlow(t, nil, nil)
		id, answers := f.ask("acme/pantry", simUser, "@librarian what spoils first?")
		require.Len(t, answers, 1)
		require.NoError(t, f.sim.DeleteComment(id, simUser))
		f.eventually("the answer is removed", func() bool { return len(f.ours("acme/pantry", id)) == 0 })
	})
	t.Run("T10 the progress comment", func(t *testing.T) {
		t.Parallel()
		f := newFlow(t, nil, slow)
		c := f.say("acme/pantry", 1, simUser, "@librarian what spoils first?")
		f.eventually("progress is shown", func() bool { return len(f.ours("acme/pantry", c.ID)) == 1 })
		require.NoError(t, f.sim.DeleteComment(f.ours("acme/pantry", c.ID)[0].ID, simUser))
		f.eventually("the run ends", func() bool { return strings.Contains(f.log.String(), "outcome=cancelled") })
		require.Empty(t, f.ours("acme/pantry", c.ID))
	})
	t.Run("T10 the progress comment just before the answer", func(t *testing.T) {
		t.Parallel()
		shown, goOn := make(chan struct{}), make(chan struct{})
		m := modeltest.New(func(ctx context.Context, c model.Call) (model.Reply, error) {
			close(shown)
			<-goOn
			return results("Too late.")(ctx, c)
		})
		f := newFlow(t, m, func(f *flow) { f.cfg.Limits.Progress = time.Second })
		c := f.say("acme/pantry", 1, simUser, "@librarian what spoils first?")
		<-shown
		f.eventually("progress is shown, and known", func() bool { return f.posted(c.ID) == 1 })
		require.NoError(t, f.sim.DeleteComment(f.ours("acme/pantry", c.ID)[0].ID, simUser))
		close(goOn)
		f.eventually("the run ends", func() bool { return strings.Contains(f.log.String(), "run ended") })
		require.Empty(t, f.ours("acme/pantry", c.ID))
	})
}
