package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every way to ask that needs no mention, and discussions, from the signed webhook to the answer at its place.
func TestFlowWaysToAsk(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)

	i, err := f.sim.OpenIssue("acme/pantry", simReads, "Which jar is eaten first?", "It is somewhere in the shelf.")
	require.NoError(t, err)
	require.NoError(t, f.sim.LabelIssue("acme/pantry", i.Number, simUser, "librarian"))
	f.eventually("the label is answered", func() bool {
		for _, c := range f.sim.Comments("acme/pantry", i.Number) {
			if c.App == f.world.app.Slug {
				return true
			}
		}
		return false
	})

	d, err := f.sim.OpenDiscussion("acme/pantry", simUser, "Jars", "Let us talk.")
	require.NoError(t, err)
	c, err := f.sim.CommentDiscussion("acme/pantry", d.Number, simUser, "@librarian which jar is eaten first?")
	require.NoError(t, err)
	f.eventually("the discussion's comment is answered under it", func() bool {
		for _, r := range f.sim.DiscussionComments("acme/pantry", d.Number) {
			if r.Author == f.world.app.Slug+"[bot]" && r.ReplyTo == c.ID {
				return true
			}
		}
		return false
	})

	reply, err := f.sim.ReplyDiscussion(c.ID, simUser, "@librarian and which jar is last?")
	require.NoError(t, err)
	f.eventually("T1: a reply is answered under the same comment", func() bool {
		for _, r := range f.sim.DiscussionComments("acme/pantry", d.Number) {
			if r.Author == f.world.app.Slug+"[bot]" && r.ReplyTo == c.ID && r.ID > reply.ID {
				return true
			}
		}
		return false
	})

	require.NoError(t, f.sim.Dispatch("acme/pantry", simUser, "librarian", map[string]any{"librarian": map[string]any{"issue_number": 1}}))
	f.eventually("L4: a fault is shown on the named issue", func() bool { return len(f.ours("acme/pantry", 0)) == 1 })
	require.Contains(t, f.ours("acme/pantry", 0)[0].Body, "`query` is missing")
}

// T8: a deleted repository is forgotten; what else the installation covers stays.
func TestT8_DeletedRepository(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)
	_, answers := f.ask("acme/pantry", simUser, "@librarian which jar is eaten first?")
	require.Len(t, answers, 1)
	require.NoError(t, f.sim.DeleteRepo("acme/cellar"))
	require.NoError(t, f.sim.WaitDeliveries(t.Context()))
	require.Contains(t, f.command("acme/pantry", simUser, "@librarian status"), "which jar is eaten first")
}
