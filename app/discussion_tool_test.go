package app

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
)

// A run that was asked in an issue reads the discussions that its gate opens, and no others.
func TestReadThreadReadsAnyDiscussionTheRunMay(t *testing.T) {
	t.Parallel()
	var own, closed string
	last := func(c model.Call) string {
		var b strings.Builder
		for _, p := range c.Messages[len(c.Messages)-1].Parts {
			b.WriteString(p.Text)
		}
		return b.String()
	}
	read := func(repo string, number int) modeltest.Use {
		return use("read_thread", args{"owner": "acme", "repo": repo, "number": number})
	}
	var here, there int
	m := modeltest.New(
		func(ctx context.Context, c model.Call) (model.Reply, error) {
			return modeltest.Call(read("pantry", here))(ctx, c)
		},
		func(ctx context.Context, c model.Call) (model.Reply, error) {
			own = last(c)
			return modeltest.Call(read("cellar", there))(ctx, c)
		},
		func(ctx context.Context, c model.Call) (model.Reply, error) {
			closed = last(c)
			return results("Read.")(ctx, c)
		})
	f := newFlow(t, m, nil)
	d, err := f.sim.OpenDiscussion("acme/pantry", simUser, "Jars", "Shall they be round?")
	require.NoError(t, err)
	here = d.Number
	c, err := f.sim.CommentDiscussion("acme/pantry", d.Number, simUser, "Square ones stack.")
	require.NoError(t, err)
	_, err = f.sim.ReplyDiscussion(c.ID, simUser, "They do.")
	require.NoError(t, err)
	d, err = f.sim.OpenDiscussion("acme/cellar", simUser, "Wine", "canary-cellar-talk")
	require.NoError(t, err)
	there = d.Number
	_, answers := f.ask("acme/pantry", simUser, "@librarian what was said of jars?")
	require.Len(t, answers, 1)
	require.Contains(t, own, fmt.Sprintf("Discussion acme/pantry#%d: Jars (open)", here))
	require.Contains(t, own, "> Square ones stack.")
	require.Contains(t, own, "answering remark 1")
	require.NotContains(t, closed, "canary-cellar-talk", "W4")
	require.NotEmpty(t, closed)
	require.NoError(t, m.Done())
}
