package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
)

// Contract, Keeping: who asked may have it forgotten, and an administrator; nobody else, whatever they may write.
func TestForgetIsForTheAskerAndForAdministrators(t *testing.T) {
	t.Parallel()
	f := newFlow(t, modeltest.New(results("One."), results("Two.")), func(f *flow) {
		for login, level := range map[string]string{"tri": "triage", "wri": "write", "adm": "admin"} {
			_, err := f.sim.CreateUser(login)
			require.NoError(f.t, err)
			require.NoError(f.t, f.sim.SetPermission("acme/pantry", login, level, ""))
		}
	})
	first, _ := f.ask("acme/pantry", "tri", "@librarian one?")
	second, _ := f.ask("acme/pantry", simUser, "@librarian two?")
	require.Contains(t, f.command("acme/pantry", "wri", "@librarian forget"), "nothing of yours to forget")
	require.Contains(t, f.ours("acme/pantry", first)[0].Body, "One.")

	c := f.say("acme/pantry", 1, "tri", "@librarian forget")
	require.Equal(t, "rocket", f.settled(c.ID))
	bodies := ""
	for _, x := range f.ours("acme/pantry", 0) {
		bodies += x.Body
	}
	require.NotContains(t, bodies, "One.")
	require.Contains(t, bodies, "Two.", "what others asked stays")
	require.Equal(t, []string{"rocket"}, contents(f.sim.Reactions(second)))

	c = f.say("acme/pantry", 1, "adm", "@librarian forget")
	require.Equal(t, "rocket", f.settled(c.ID))
	require.Empty(t, f.ours("acme/pantry", 0))
	require.Empty(t, f.sim.Reactions(second))
}

// Where librarian was turned off nobody asks any more, and what it said can still be taken back.
func TestForgetWhereLibrarianWasTurnedOff(t *testing.T) {
	t.Parallel()
	f := newFlow(t, modeltest.New(results("One.")), func(f *flow) {
		f.addRepo("lids", map[string]string{"lid.go": "package lids\n"}, map[string]string{".github/librarian.yml": "enabled: false\ntriggers: {mention: false}\n"})
		_, err := f.sim.OpenIssue("acme/lids", simUser, "Lids", "About lids.")
		require.NoError(f.t, err)
	})
	id, answers := f.ask("acme/lids", simUser, "@librarian one?")
	require.Contains(t, answers[0].Body, "One.")
	require.NoError(t, f.sim.SetDefaultBranch("acme/lids", "wide"))
	f.stop()
	f.serve()
	c := f.say("acme/lids", 1, simUser, "@librarian two?")
	require.Equal(t, "confused", f.settled(c.ID))
	c = f.say("acme/lids", 1, simUser, "@librarian forget")
	require.Equal(t, "rocket", f.settled(c.ID))
	require.Empty(t, f.ours("acme/lids", id))
}

// W13's other side: whoever has write stops what others asked.
func TestW13_StopByAWriter(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	f := newFlow(t, modeltest.New(modeltest.Hang(started)), func(f *flow) {
		_, err := f.sim.CreateUser("tri")
		require.NoError(f.t, err)
		require.NoError(f.t, f.sim.SetPermission("acme/pantry", "tri", "triage", ""))
	})
	asked := f.say("acme/pantry", 1, "tri", "@librarian one?")
	<-started
	c := f.say("acme/pantry", 1, simUser, "@librarian stop")
	require.Equal(t, "rocket", f.settled(c.ID))
	require.Equal(t, "confused", f.settled(asked.ID))
}

// Commands work wherever one can ask: in discussions and in review threads as in issues.
func TestCommandsWhereverOneCanAsk(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, lids)
	d, err := f.sim.OpenDiscussion("acme/pantry", simUser, "Jars", "@librarian which jar is eaten first?")
	require.NoError(t, err)
	talks := func() (ours []githubsim.DiscussionComment) {
		for _, c := range f.sim.DiscussionComments("acme/pantry", d.Number) {
			if c.App == f.world.app.Slug && !c.Deleted {
				ours = append(ours, c)
			}
		}
		return ours
	}
	f.eventually("the discussion is answered", func() bool { return len(talks()) == 1 })
	f.ended(1)
	look, err := f.sim.CommentDiscussion("acme/pantry", d.Number, simUser, "@librarian read acme/pantry/shelf/shelf.go#L1-L2")
	require.NoError(t, err)
	f.eventually("a look-up is answered under it", func() bool {
		all := talks()
		return len(all) == 2 && all[1].ReplyTo == look.ID
	})
	require.Contains(t, talks()[1].Body, "// Package shelf stores jars.")
	_, err = f.sim.CommentDiscussion("acme/pantry", d.Number, simUser, "@librarian forget")
	require.NoError(t, err)
	f.eventually("the discussion's answers are gone", func() bool { return len(talks()) == 0 })
	f.eventually("and the mark on the discussion", func() bool { return len(f.sim.Reactions(d.ID)) == 0 })

	_, err = f.sim.OpenPull("acme/lids", simUser, githubsim.PullOptions{Title: "Widen lids", Body: "b", Head: "wide"})
	require.NoError(t, err)
	c, err := f.sim.ReviewComment("acme/lids", 1, simUser, githubsim.ReviewCommentOptions{Path: "lid.go", Line: 4, Body: "@librarian grep acme/lids Width"})
	require.NoError(t, err)
	f.eventually("a look-up is answered in its thread", func() bool { return len(f.replies("acme/lids", 1, c.ID)) == 1 })
	require.Contains(t, f.replies("acme/lids", 1, c.ID)[0].Body, "lid.go:4")
	_, err = f.sim.ReplyReviewComment(c.ID, simUser, "@librarian help")
	require.NoError(t, err)
	f.eventually("help is given in its thread", func() bool { return len(f.replies("acme/lids", 1, c.ID)) == 2 })
	require.Empty(t, f.comments("acme/lids", 1), "nothing beside the thread")
}
