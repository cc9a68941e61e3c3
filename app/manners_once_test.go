package app

import (
	"fmt"
	"net/http"
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

// redeliver sends the delivery of a comment once more.
func (f *flow) redeliver(comment int64) {
	f.t.Helper()
	for _, d := range f.sim.Deliveries() {
		if d.Event == "issue_comment" && !d.Redelivery && strings.Contains(string(d.Payload), fmt.Sprintf(`"id":%d,`, comment)) {
			require.NoError(f.t, f.sim.Redeliver(d.ID))
			break
		}
	}
	require.NoError(f.t, f.sim.WaitDeliveries(f.t.Context()))
}

func TestO2_ARedeliveryRunsAgainOnlyWhatFailed(t *testing.T) {
	t.Parallel()
	m := modeltest.New(modeltest.Fail(&model.Error{Kind: model.ErrOverloaded, Status: 529}), results("Now it works."))
	f := newFlow(t, m, nil)
	c, answers := f.ask("acme/pantry", simUser, "@librarian why?")
	require.Contains(t, answers[0].Body, "overloaded")
	f.eventually("the run is over", func() bool { return strings.Contains(f.log.String(), "run ended") }) // a moment after its mark
	f.redeliver(c)
	f.eventually("it is asked again", func() bool {
		all := f.ours("acme/pantry", c)
		return strings.Contains(all[len(all)-1].Body, "Now it works.")
	})
	f.eventually("😕 became 🚀", func() bool { return slices.Equal(contents(f.sim.Reactions(c)), []string{"rocket"}) })
	f.eventually("the run is over", func() bool { return strings.Count(f.log.String(), "run ended") == 2 })
	f.redeliver(c)
	f.rest()
	require.Contains(t, f.command("acme/pantry", simUser, "@librarian status"), ": answered, asked by")
	require.NoError(t, m.Done())
	require.Equal(t, 2, f.modelRuns(), "what succeeded does not run again")
}

func TestO7_TooManyQuestionsAreRefusedVisiblyOnce(t *testing.T) {
	t.Parallel()
	f := newFlow(t, modeltest.New(results("One."), results("Two.")), func(f *flow) { f.cfg.Limits.UserRuns = 2 })
	var asked []githubsim.Comment
	for i := range 4 {
		asked = append(asked, f.say("acme/pantry", 1, simUser, fmt.Sprintf("@librarian question %d?", i)))
	}
	marks := map[string]int{}
	for _, c := range asked {
		marks[f.settled(c.ID)]++
	}
	require.Equal(t, map[string]int{"rocket": 2, "confused": 2}, marks, "of many at once the first ones are within the cap")
	told := 0
	for _, c := range f.ours("acme/pantry", 0) {
		told += strings.Count(c.Body, "which is the limit here")
	}
	require.Equal(t, 1, told, "in words once, then by a sign")
	require.Contains(t, f.command("acme/pantry", simUser, "@librarian help"), "0 of your 2 questions in 24 hours")
}

func TestO8_StopEndsWhatWaits(t *testing.T) {
	t.Parallel()
	t.Run("O8 in the queue behind another thread's run", func(t *testing.T) {
		t.Parallel()
		started := make(chan struct{})
		f := newFlow(t, modeltest.New(modeltest.Hang(started)), func(f *flow) {
			f.cfg.Queue.Research = 1
			_, err := f.sim.OpenIssue("acme/pantry", simUser, "Another", "thread")
			require.NoError(f.t, err)
		})
		first := f.say("acme/pantry", 2, simUser, "@librarian one?")
		<-started
		second := f.say("acme/pantry", 1, simUser, "@librarian two?")
		require.NoError(t, f.sim.WaitDeliveries(t.Context()))
		began := time.Now()
		f.say("acme/pantry", 1, simUser, "@librarian stop")
		require.Equal(t, "confused", f.settled(second.ID))
		t.Logf("stopped after %d ms", time.Since(began).Milliseconds())
		require.Less(t, time.Since(began), 30*time.Second) // the product's bound is 2 s; a busy machine's is not
		require.Equal(t, []string{"eyes"}, contents(f.sim.Reactions(first.ID)), "the other thread's goes on")
	})
	t.Run("O8 an answer that waits to be posted", func(t *testing.T) {
		t.Parallel()
		f := newFlow(t, modeltest.New(results("Too late.")), nil)
		f.sim.Inject(githubsim.Fault{Method: "POST", Path: regexp.MustCompile(`/issues/1/comments$`), Status: http.StatusBadGateway})
		c := f.say("acme/pantry", 1, simUser, "@librarian why?")
		f.eventually("the answer has to wait", func() bool { return strings.Contains(f.log.String(), "will be tried again") })
		began := time.Now()
		f.say("acme/pantry", 1, simUser, "@librarian stop")
		require.Equal(t, "confused", f.settled(c.ID))
		t.Logf("stopped after %d ms", time.Since(began).Milliseconds())
		require.Less(t, time.Since(began), 30*time.Second)
		require.Empty(t, f.ours("acme/pantry", c.ID))
	})
}
