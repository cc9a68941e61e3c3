package app

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/githubsim"
)

func TestVotesOnAnAnswerAreCountedWhereAStatusIsAsked(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)
	_, answers := f.ask("acme/pantry", simUser, "@librarian what spoils first?")
	require.NoError(t, f.sim.React(answers[0].ID, simUser, "+1"))
	require.NoError(t, f.sim.React(answers[0].ID, simReads, "-1"))
	require.Contains(t, f.command("acme/pantry", simUser, "@librarian status"), "👍 1 👎 1")
}

// Nobody asks for a status here: the server looks by itself, and what it saw outlives it.
func TestVotesOnAnswersAreCountedUnasked(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := ln.Addr().String()
	require.NoError(t, ln.Close())
	var ahead atomic.Int64
	clock := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	f := newFlowOn(t, false, githubsim.Options{Now: clock}, nil, func(f *flow) {
		f.votes = 20 * time.Millisecond
		f.cfg.Server.Metrics = addr
	})
	list := func() string {
		var out bytes.Buffer
		require.NoError(t, ListRuns(t.Context(), RunsOptions{Dir: f.cfg.Server.Data, Out: &out, Now: clock}, 10))
		return out.String()
	}
	_, answers := f.ask("acme/pantry", simUser, "@librarian what spoils first?")
	d, err := f.sim.OpenDiscussion("acme/pantry", simUser, "Jars", "@librarian which jar is eaten first?")
	require.NoError(t, err)
	said := func() (ours []githubsim.DiscussionComment) {
		for _, c := range f.sim.DiscussionComments("acme/pantry", d.Number) {
			if c.App == f.world.app.Slug {
				ours = append(ours, c)
			}
		}
		return ours
	}
	f.eventually("the discussion is answered", func() bool { return len(said()) == 1 })
	f.rest()
	require.NotContains(t, list(), "👍")

	require.NoError(t, f.sim.React(answers[0].ID, simUser, "+1"))
	require.NoError(t, f.sim.React(answers[0].ID, simReads, "-1"))
	require.NoError(t, f.sim.React(said()[0].ID, simReads, "+1"))
	ahead.Store(int64(20 * time.Minute)) // each answer is due by now, whether or not it was looked at before
	f.eventually("both answers' votes are counted", func() bool {
		all := list()
		return strings.Contains(all, "👍 1 👎 1") && strings.Contains(all, "👍 1 👎 0")
	})
	resp, err := http.Get("http://" + addr + "/metrics")
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Contains(t, string(body), `librarian_votes{vote="up"} 2`)
	require.Contains(t, string(body), `librarian_votes{vote="down"} 1`)

	path := fmt.Sprintf("/issues/comments/%d", answers[0].ID)
	asked := func() int {
		n := 0
		for _, r := range f.sim.Requests() {
			if r.Method == http.MethodGet && strings.HasSuffix(r.Path, path) {
				n++
			}
		}
		return n
	}
	before := asked()
	require.Positive(t, before)
	f.stop()
	f.serve()
	f.ask("acme/pantry", simUser, "@librarian how wide is a lid?")
	require.Contains(t, list(), "👍 1 👎 1")
	require.Equal(t, before, asked(), "what was just counted is not asked for again")
}
