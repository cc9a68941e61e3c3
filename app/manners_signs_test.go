package app

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
	"github.com/librarian-app/librarian/librarian/store"
)

// A short run writes four times, and each write is on the books that outlive the process.
func TestL1_WritesOfARun(t *testing.T) {
	t.Parallel()
	f := newFlow(t, modeltest.New(results("Found.")), nil)
	f.ask("acme/pantry", simUser, "@librarian why?")
	var writes []string
	var installation int64
	for _, r := range f.sim.Requests() {
		if r.Method != http.MethodGet && r.Caller == githubsim.InstallationToken && strings.Contains(r.Path, "/repos/") {
			writes, installation = append(writes, r.Method+" "+r.Path[strings.LastIndexByte(r.Path, '/')+1:]), r.Installation
		}
	}
	require.Len(t, writes, 4)
	require.Equal(t, []string{"POST reactions", "POST comments", "POST reactions"}, writes[:3])
	require.Contains(t, writes[3], "DELETE")
	f.stop()
	runs, err := store.Open(t.Context(), store.Options{Dir: f.cfg.Server.Data})
	require.NoError(t, err)
	defer func() { require.NoError(t, runs.Close()) }()
	kept, err := runs.Writes(t.Context(), installation, time.Now().Add(-time.Hour))
	require.NoError(t, err)
	var kinds []string
	for _, w := range kept {
		kinds = append(kinds, w.Kind)
	}
	require.Equal(t, []string{"eyes", "answer", "ending", "tidy"}, kinds)
}

// While an answered run waits for its last sign, nothing of it is left to be stopped; the sign comes when it can.
func TestO8_StopLeavesWhatWasAnswered(t *testing.T) {
	t.Parallel()
	f := newFlow(t, modeltest.New(results("Found.")), nil)
	broken := f.sim.Inject(githubsim.Fault{Path: regexp.MustCompile(`/issues/comments/\d+/reactions$`), Method: "POST", Skip: 1, Status: http.StatusBadGateway})
	c := f.say("acme/pantry", 1, simUser, "@librarian why?")
	f.eventually("the answer is there and its sign is not", func() bool {
		failed := 0
		for _, r := range f.sim.Requests() {
			if r.Status == http.StatusBadGateway {
				failed++
			}
		}
		return failed > 0
	})
	require.Contains(t, f.command("acme/pantry", simUser, "@librarian stop"), "Nothing is running")
	broken()
	require.Equal(t, "rocket", f.settled(c.ID))
	require.Equal(t, []string{"rocket"}, contents(f.sim.Reactions(c.ID)))
	require.Contains(t, f.ours("acme/pantry", c.ID)[0].Body, "Found.")
}
