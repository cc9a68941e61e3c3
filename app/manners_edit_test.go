package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
)

// ended waits until so many runs of questions are over.
func (f *flow) ended(n int) {
	f.t.Helper()
	f.eventually(fmt.Sprintf("%d runs are over", n), func() bool { return strings.Count(f.log.String(), `msg="run ended"`) >= n })
}

// T10's kin: an edit that takes the mention out takes the question back.
func TestT10_AnEditTakesAQuestionBack(t *testing.T) {
	t.Parallel()
	t.Run("T10 while it is worked", func(t *testing.T) {
		t.Parallel()
		started := make(chan struct{})
		f := newFlow(t, modeltest.New(modeltest.Hang(started), results("Now then.")), nil)
		c := f.say("acme/pantry", 1, simUser, "@librarian what spoils first?")
		<-started
		f.eventually("👀 is there", func() bool { return len(f.sim.Reactions(c.ID)) == 1 })
		require.NoError(t, f.sim.EditComment(c.ID, simUser, "never mind"))
		f.ended(1)
		require.Empty(t, f.ours("acme/pantry", 0), "nobody is told: who asked took it back")
		require.Empty(t, f.sim.Reactions(c.ID))

		require.NoError(t, f.sim.EditComment(c.ID, simUser, "@librarian but what spoils first?"))
		require.Equal(t, "rocket", f.settled(c.ID), "a mention that is put in again asks again")
		require.Contains(t, f.ours("acme/pantry", c.ID)[0].Body, "Now then.")
	})
	t.Run("T10 and asks once more by the same words", func(t *testing.T) {
		t.Parallel()
		started := make(chan struct{})
		f := newFlow(t, modeltest.New(modeltest.Hang(started), results("Now then.")), nil)
		c := f.say("acme/pantry", 1, simUser, "@librarian what spoils first?")
		<-started
		require.NoError(t, f.sim.EditComment(c.ID, simUser, "never mind"))
		f.ended(1)
		require.NoError(t, f.sim.EditComment(c.ID, simUser, "@librarian what spoils first?"))
		require.Equal(t, "rocket", f.settled(c.ID))
		require.Len(t, f.ours("acme/pantry", c.ID), 1)
	})
	t.Run("T10 and its delivery comes after the edit's", func(t *testing.T) {
		t.Parallel()
		var ahead atomic.Int64
		f := newFlowOn(t, false, githubsim.Options{Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }}, modeltest.New(), nil)
		require.NoError(t, f.sim.WaitDeliveries(t.Context()))
		f.caughtUp()
		hook := f.sim.Deliveries()[0].URL
		require.NoError(t, f.sim.SetWebhookURL(f.world.app, "http://127.0.0.1:1/webhook"))
		c := f.say("acme/pantry", 1, simUser, "@librarian what spoils first?")
		ahead.Store(int64(3 * time.Second))
		require.NoError(t, f.sim.EditComment(c.ID, simUser, "never mind"))
		require.NoError(t, f.sim.WaitDeliveries(t.Context()))
		require.NoError(t, f.sim.SetWebhookURL(f.world.app, hook))
		var late []int64
		for _, d := range f.sim.Deliveries() {
			if d.Event == "issue_comment" {
				late = append(late, d.ID)
			}
		}
		require.Len(t, late, 2)
		for _, id := range slices.Backward(late) {
			require.NoError(t, f.sim.Redeliver(id))
			require.NoError(t, f.sim.WaitDeliveries(t.Context()))
		}
		f.eventually("the question is over", func() bool { return f.unfinished(c.ID) == 0 })
		require.Zero(t, f.modelRuns())
		require.Empty(t, f.ours("acme/pantry", 0))
		require.Empty(t, f.sim.Reactions(c.ID))
	})
	t.Run("T10 while it waits in the queue", func(t *testing.T) {
		t.Parallel()
		started := make(chan struct{})
		f := newFlow(t, modeltest.New(modeltest.Hang(started)), func(f *flow) { f.cfg.Queue.Research = 1 })
		first := f.say("acme/pantry", 1, simUser, "@librarian one?")
		<-started
		second := f.say("acme/pantry", 1, simUser, "@librarian two?")
		require.NoError(t, f.sim.WaitDeliveries(t.Context()))
		require.NoError(t, f.sim.EditComment(second.ID, simUser, "two"))
		require.NoError(t, f.sim.WaitDeliveries(t.Context()))
		f.say("acme/pantry", 1, simUser, "@librarian stop")
		require.Equal(t, "confused", f.settled(first.ID))
		f.eventually("the second is over", func() bool { return f.unfinished(second.ID) == 0 })
		f.eventually("no mark is left", func() bool { return len(f.sim.Reactions(second.ID)) == 0 })
		for _, c := range f.ours("acme/pantry", second.ID) {
			require.NotContains(t, c.Body, "two")
		}
		require.Equal(t, 1, f.modelRuns())
	})
	t.Run("T10 after it was answered", func(t *testing.T) {
		t.Parallel()
		f := newFlow(t, nil, nil)
		id, answers := f.ask("acme/pantry", simUser, "@librarian what spoils first?")
		require.Len(t, answers, 1)
		require.NoError(t, f.sim.EditComment(id, simUser, "what spoils first? (answered below)"))
		require.NoError(t, f.sim.WaitDeliveries(t.Context()))
		_, more := f.ask("acme/pantry", simUser, "@librarian how many days ahead is the reminder?") // by then the edit was followed
		require.Len(t, more, 1)
		require.Len(t, f.ours("acme/pantry", id), 2, "the answer stays, people may have read it")
		require.Equal(t, []string{"rocket"}, contents(f.sim.Reactions(id)))
	})
	t.Run("T10 of a pull request, a discussion and a review", func(t *testing.T) {
		t.Parallel()
		started := []chan struct{}{make(chan struct{}), make(chan struct{}), make(chan struct{})}
		f := newFlow(t, modeltest.New(modeltest.Hang(started[0]), modeltest.Hang(started[1]), modeltest.Hang(started[2])), lids)
		p, err := f.sim.OpenPull("acme/lids", simUser, githubsim.PullOptions{Title: "Widen lids", Body: "@librarian why?", Head: "wide"})
		require.NoError(t, err)
		<-started[0]
		d, err := f.sim.OpenDiscussion("acme/pantry", simUser, "Jars", "@librarian why?")
		require.NoError(t, err)
		<-started[1]
		r, err := f.sim.Review("acme/lids", p.Number, simUser, githubsim.ReviewOptions{Body: "@librarian who?"})
		require.NoError(t, err)
		<-started[2]
		require.NoError(t, f.sim.EditIssue("acme/lids", p.Number, simUser, "Widen lids", "why"))
		require.NoError(t, f.sim.EditDiscussion("acme/pantry", d.Number, simUser, "Jars", "why"))
		require.NoError(t, f.sim.EditReview(r.ID, simUser, "who"))
		f.ended(3)
		require.Empty(t, f.comments("acme/lids", p.Number))
		require.Empty(t, f.sim.DiscussionComments("acme/pantry", d.Number))
		require.Empty(t, f.sim.Reactions(r.ID))
		require.Empty(t, f.sim.Reactions(d.ID))
	})
}

// twice makes a review that asks the same as a whole and on a line, and gives the two deliveries, neither of which came through.
func (f *flow) twice(question string) (review, line, asWhole, onLine int64) {
	f.t.Helper()
	_, err := f.sim.OpenPull("acme/lids", simUser, githubsim.PullOptions{Title: "Widen lids", Body: "b", Head: "wide"})
	require.NoError(f.t, err)
	require.NoError(f.t, f.sim.WaitDeliveries(f.t.Context()))
	f.caughtUp()
	hook := f.sim.Deliveries()[0].URL
	require.NoError(f.t, f.sim.SetWebhookURL(f.world.app, "http://127.0.0.1:1/webhook"))
	r, err := f.sim.Review("acme/lids", 1, simUser, githubsim.ReviewOptions{
		Body: question, Comments: []githubsim.ReviewCommentOptions{{Path: "lid.go", Line: 4, Body: question}},
	})
	require.NoError(f.t, err)
	require.NoError(f.t, f.sim.WaitDeliveries(f.t.Context()))
	require.NoError(f.t, f.sim.SetWebhookURL(f.world.app, hook))
	for _, d := range f.sim.Deliveries() {
		switch d.Event {
		case "pull_request_review":
			asWhole = d.ID
		case "pull_request_review_comment":
			onLine = d.ID
		}
	}
	return r.ID, f.sim.ReviewComments("acme/lids", 1)[0].ID, asWhole, onLine
}

func TestO4_AReviewThatAsksTheSameOnALineIsAnsweredThere(t *testing.T) {
	t.Parallel()
	t.Run("O4 both at once", func(t *testing.T) {
		t.Parallel()
		f := newFlow(t, nil, lids)
		_, err := f.sim.OpenPull("acme/lids", simUser, githubsim.PullOptions{Title: "Widen lids", Body: "b", Head: "wide"})
		require.NoError(t, err)
		r, err := f.sim.Review("acme/lids", 1, simUser, githubsim.ReviewOptions{
			Body: "@librarian how wide is it?", Comments: []githubsim.ReviewCommentOptions{{Path: "lid.go", Line: 4, Body: "@librarian how wide is it?"}},
		})
		require.NoError(t, err)
		line := f.sim.ReviewComments("acme/lids", 1)[0].ID
		f.ended(2)
		require.Len(t, f.replies("acme/lids", 1, line), 1)
		require.Empty(t, f.comments("acme/lids", 1))
		require.Empty(t, f.sim.Reactions(r.ID))
		require.Equal(t, "rocket", f.settled(line))
	})
	t.Run("O4 the line while the whole is worked", func(t *testing.T) {
		t.Parallel()
		started := make(chan struct{})
		f := newFlow(t, modeltest.New(modeltest.Hang(started), results("At the line.")), lids)
		review, line, asWhole, onLine := f.twice("@librarian how wide is it?")
		require.NoError(t, f.sim.Redeliver(asWhole))
		<-started
		require.NoError(t, f.sim.Redeliver(onLine))
		f.ended(2)
		require.Len(t, f.replies("acme/lids", 1, line), 1)
		require.Empty(t, f.comments("acme/lids", 1))
		require.Empty(t, f.sim.Reactions(review))
	})
	t.Run("O4 the line when the whole was answered", func(t *testing.T) {
		t.Parallel()
		m := modeltest.New(func(ctx context.Context, c model.Call) (model.Reply, error) { return results("As a whole.")(ctx, c) })
		f := newFlow(t, m, lids)
		_, line, asWhole, onLine := f.twice("@librarian how wide is it?")
		require.NoError(t, f.sim.Redeliver(asWhole))
		f.ended(1)
		require.Len(t, f.comments("acme/lids", 1), 1)
		f.rest()
		require.NoError(t, f.sim.Redeliver(onLine))
		f.ended(2)
		require.Len(t, f.replies("acme/lids", 1, line), 1)
		require.Contains(t, f.replies("acme/lids", 1, line)[0].Body, "in this pull request's conversation")
		require.NoError(t, m.Done(), "it was researched once")
	})
}

// Forgetting leaves no sign: neither an answer nor a mark on what asked, or on what asked again.
func TestForgetTakesTheMarksOff(t *testing.T) {
	t.Parallel()
	m := modeltest.New(modeltest.Fail(&model.Error{Kind: model.ErrOverloaded, Status: 529}), results("Now it works."))
	f := newFlow(t, m, nil)
	id, _ := f.ask("acme/pantry", simUser, "@librarian why?")
	again, answers := f.ask("acme/pantry", simUser, "@librarian retry")
	require.Contains(t, answers[0].Body, "Now it works.")
	forget, _ := f.ask("acme/pantry", simUser, "@librarian forget")
	require.Empty(t, f.ours("acme/pantry", 0))
	require.Empty(t, f.sim.Reactions(id))
	require.Empty(t, f.sim.Reactions(again))
	require.Equal(t, []string{"rocket"}, contents(f.sim.Reactions(forget)))
}
