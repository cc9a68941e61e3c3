package app

import (
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
	"github.com/librarian-app/librarian/librarian/run"
	"github.com/librarian-app/librarian/librarian/store"
)

// asked puts questions into the store that somebody asked before, in a thread of a repository, and that were answered.
func (f *flow) asked(n int, repo string, number int, login string) {
	f.t.Helper()
	require.NoError(f.t, os.MkdirAll(f.cfg.Server.Data, 0o700))
	runs, err := store.Open(f.t.Context(), store.Options{Dir: f.cfg.Server.Data})
	require.NoError(f.t, err)
	defer func() { require.NoError(f.t, runs.Close()) }()
	r, err := f.sim.Repo(repo)
	require.NoError(f.t, err)
	_, host, _ := strings.Cut(f.sim.URL(), "://")
	for i := range n {
		id, err := runs.CreateRun(f.t.Context(), librarian.Request{
			Kind: librarian.KindQuestion, Question: "why?", Principal: librarian.Principal{ID: int64(900 + i), Login: login},
			Place: librarian.Place{
				Kind: librarian.PlaceIssue, Repo: librarian.GitHubRepo(host, r.ID), RepoName: librarian.RepoName{Owner: r.Owner, Name: r.Name}, Number: number,
				Trigger: librarian.TriggerIssueComment, TriggerID: int64(i + 1),
			},
			AskedAt: time.Now(),
		})
		require.NoError(f.t, err)
		require.NoError(f.t, runs.SetState(f.t.Context(), id, librarian.StateQueued, librarian.StatePublished))
	}
}

// spend adds to what the run of a question cost; the App must not be running.
func (f *flow) spend(comment int64, dollars float64) {
	f.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(f.cfg.Server.Data, store.File))
	require.NoError(f.t, err)
	defer func() { require.NoError(f.t, db.Close()) }()
	done, err := db.ExecContext(f.t.Context(), "UPDATE runs SET cost = cost + ? WHERE trigger_id = ?", int64(dollars*1e6), comment)
	require.NoError(f.t, err)
	n, err := done.RowsAffected()
	require.NoError(f.t, err)
	require.EqualValues(f.t, 1, n)
}

// metrics is what Prometheus would scrape.
func (f *flow) metrics() string {
	f.t.Helper()
	resp, err := http.Get("http://" + f.cfg.Server.Metrics + "/metrics")
	require.NoError(f.t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(f.t, err)
	return string(body)
}

// Beside the cap of a person (see TestO7_TooManyQuestionsAreRefusedVisiblyOnce) those of a repository and of a thread.
func TestO7_TheCapsOfARepositoryAndOfAThread(t *testing.T) {
	t.Parallel()
	t.Run("O7 a repository", func(t *testing.T) {
		t.Parallel()
		f := newFlow(t, modeltest.New(results("Elsewhere.")), func(f *flow) {
			f.cfg.Server.Metrics = freeAddress(t)
			f.cfg.Limits.RepoRuns, f.cfg.Limits.UserRuns = 5, 1
			f.asked(5, "acme/pantry", 7, "many")
		})
		c, told := f.ask("acme/pantry", simUser, "@librarian why?")
		require.Equal(t, "confused", f.settled(c))
		require.Len(t, told, 1)
		require.Contains(t, told[0].Body, "5 questions were asked in this repository in the last 24 hours, which is the limit.")
		c, told = f.ask("acme/pantry", simUser, "@librarian and now?")
		require.Equal(t, "confused", f.settled(c))
		require.Empty(t, told, "in words once, then by a sign")
		_, answers := f.ask("acme/cellar", simUser, "@librarian why?")
		require.Contains(t, answers[0].Body, "Elsewhere.", "another repository has its own")
		require.Contains(t, f.metrics(), `librarian_budget_total{budget="repository",level="spent"} 2`)
		require.Contains(t, f.metrics(), `librarian_budget_total{budget="user",level="spent"} 0`, "what was refused is not counted")
	})
	t.Run("O7 a month's costs", func(t *testing.T) {
		t.Parallel()
		f := newFlow(t, modeltest.New(results("One."), results("The last one.")), func(f *flow) {
			f.cfg.Server.Metrics = freeAddress(t)
			f.cfg.Limits.MonthlyCost = 10
		})
		id, _ := f.ask("acme/pantry", simUser, "@librarian why?")
		f.stop()
		f.spend(id, 8.5)
		f.serve()
		id, answers := f.ask("acme/pantry", simUser, "@librarian and now?")
		require.Contains(t, answers[len(answers)-1].Body, "The last one.")
		require.Contains(t, f.metrics(), `librarian_budget_total{budget="installation",level="nearly"} 1`)
		f.stop()
		f.spend(id, 2)
		f.serve()
		_, told := f.ask("acme/pantry", simUser, "@librarian and now?  Once more.")
		require.Contains(t, told[0].Body, "This month's budget of $10 is spent; the next one begins on 1 ")
		require.Contains(t, f.metrics(), `librarian_budget_total{budget="installation",level="spent"} 1`)
	})
	t.Run("O7 forgetting does not let one ask anew", func(t *testing.T) {
		t.Parallel()
		f := newFlow(t, modeltest.New(results("One.")), func(f *flow) { f.cfg.Limits.UserRuns = 1 })
		_, answers := f.ask("acme/pantry", simUser, "@librarian why?")
		require.Contains(t, answers[0].Body, "One.")
		c := f.say("acme/pantry", 1, simUser, "@librarian forget")
		require.Equal(t, "rocket", f.settled(c.ID))
		_, told := f.ask("acme/pantry", simUser, "@librarian and now?")
		require.Contains(t, told[0].Body, "You have asked 1 question in the last 24 hours, which is the limit here.")
	})
	t.Run("O7 a thread", func(t *testing.T) {
		t.Parallel()
		f := newFlow(t, modeltest.New(results("Elsewhere.")), func(f *flow) {
			f.asked(run.ThreadRunsHour, "acme/pantry", 1, "many")
			_, err := f.sim.OpenIssue("acme/pantry", simUser, "Another", "thread")
			require.NoError(f.t, err)
		})
		c, told := f.ask("acme/pantry", simUser, "@librarian why?")
		require.Equal(t, "confused", f.settled(c))
		require.Len(t, told, 1)
		require.Contains(t, told[0].Body, "30 questions were asked in this thread in the last hour, which is the limit.")
		other := f.say("acme/pantry", 2, simUser, "@librarian why?")
		require.Equal(t, "rocket", f.settled(other.ID), "another thread has its own")
	})
}

// A stranger who does not leave off is not shown each refusal: it would cost the writes that answers need.
func TestO7_W3_RefusalsOfOnePersonAreShownTenTimesAnHour(t *testing.T) {
	t.Parallel()
	f := newFlow(t, modeltest.New(), func(f *flow) {
		_, err := f.sim.CreateUser("eve")
		require.NoError(f.t, err)
	})
	var asked []int64
	for i := range 13 {
		asked = append(asked, f.say("acme/pantry", 1, simReads, fmt.Sprintf("@librarian why %d?", i)).ID)
	}
	asked = append(asked, f.say("acme/pantry", 1, simReads, "@librarian status").ID)
	require.NoError(t, f.sim.WaitDeliveries(t.Context()))
	f.eventually("every run is over", func() bool { return len(f.runs(store.Filter{Open: true})) == 0 })
	shown := 0
	for _, id := range asked {
		shown += len(f.sim.Reactions(id))
	}
	require.Equal(t, 10, shown)
	require.Equal(t, "confused", f.settled(f.say("acme/pantry", 1, "eve", "@librarian why?").ID), "another person's")
	require.Zero(t, f.modelRuns())
}

// Who may read and not write asks where the server says that this is enough; by the App's alias as by its name.
func TestW3_UnlessConfigured(t *testing.T) {
	t.Parallel()
	f := newFlow(t, modeltest.New(results("One."), results("Two.")), func(f *flow) {
		f.cfg.Ask.Public = "read"
		f.cfg.GitHub.Alias = "marian"
	})
	_, answers := f.ask("acme/pantry", simReads, "@librarian why?")
	require.Contains(t, answers[0].Body, "One.")
	_, answers = f.ask("acme/pantry", simReads, "@Marian, why?")
	require.Contains(t, answers[0].Body, "Two.")
}

// A run that read what one may not is not there to be tried again; nor does "status" or "help" tell of it elsewhere.
func TestW12_RetryingWhatOneMayNotReadFindsNothing(t *testing.T) {
	t.Parallel()
	turn := func() []modeltest.Turn {
		return []modeltest.Turn{modeltest.Call(use("checkout_repo", args{"repo": "acme/cellar"})), modeltest.Fail(&model.Error{Kind: model.ErrOverloaded, Status: 529})}
	}
	m := modeltest.New(append(turn(), turn()...)...)
	f := newFlow(t, m, func(f *flow) {
		f.addRepo(".github", map[string]string{"librarian.yml": "share:\n- from: acme/cellar\n  into: acme/attic\n"}, nil)
		f.addRepo("attic", map[string]string{"README.md": "# Attic\n"}, nil)
		require.NoError(f.t, f.sim.SetVisibility("acme/attic", "private"))
		_, err := f.sim.CreateUser("wil")
		require.NoError(f.t, err)
		require.NoError(f.t, f.sim.SetPermission("acme/attic", "wil", "write", ""))
		_, err = f.sim.OpenIssue("acme/attic", simUser, "Attic", "What is up there?")
		require.NoError(f.t, err)
	})
	_, answers := f.ask("acme/attic", simUser, "@librarian what is in acme/cellar?")
	require.Contains(t, answers[0].Body, "overloaded")
	require.Contains(t, f.command("acme/attic", "wil", "@librarian retry"), "There is no question in this thread that failed")
	_, answers = f.ask("acme/attic", simUser, "@librarian retry")
	require.Contains(t, answers[0].Body, "overloaded", "who asked may read it, and tries again")
	require.NoError(t, m.Done())
}

// With the App's removal from an organisation everything of it goes: clones, runs, and what waits.
func TestT8_Uninstalled(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	f := newFlow(t, modeltest.New(
		modeltest.Call(use("checkout_repo", args{"repo": "acme/cellar"})), results("In the cellar."), modeltest.Hang(started)),
		func(f *flow) { f.cfg.Queue.Research = 1 })
	_, answers := f.ask("acme/cellar", simUser, "@librarian which vintage is it?")
	require.Len(t, answers, 1)
	require.NotZero(t, f.canaries())
	first := f.say("acme/pantry", 1, simUser, "@librarian one?")
	<-started
	second := f.say("acme/pantry", 1, simUser, "@librarian two?") // waits in the queue
	require.NoError(t, f.sim.WaitDeliveries(t.Context()))
	inst := f.sim.Deliveries()[len(f.sim.Deliveries())-1].Installation
	require.NoError(t, f.sim.RemoveInstallation(inst))
	f.eventually("the clone is deleted", func() bool { return f.canaries() == 0 })
	f.eventually("what was worked and what waited is gone", func() bool { return f.unfinished(first.ID)+f.unfinished(second.ID) == 0 })
	require.Empty(t, f.ours("acme/pantry", 0))
	require.Len(t, regexp.MustCompile(`msg="installation changed".* action=deleted`).FindAllString(f.log.String(), -1), 1, "logged once")
	require.NotContains(t, f.log.String(), "panic")
}

// A suspension drops what waits, too; when it ends the App works again, and what was dropped stays dropped.
func TestT8_SuspendedAndBack(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	m := modeltest.New(modeltest.Hang(started), results("Back again."))
	f := newFlow(t, m, func(f *flow) { f.cfg.Queue.Research = 1 })
	first := f.say("acme/pantry", 1, simUser, "@librarian one?")
	<-started
	second := f.say("acme/pantry", 1, simUser, "@librarian two?") // waits in the queue
	require.NoError(t, f.sim.WaitDeliveries(t.Context()))
	inst := f.sim.Deliveries()[len(f.sim.Deliveries())-1].Installation
	require.NoError(t, f.sim.SuspendInstallation(inst))
	f.eventually("both are over", func() bool { return f.unfinished(first.ID)+f.unfinished(second.ID) == 0 })
	require.NoError(t, f.sim.UnsuspendInstallation(inst))
	require.NoError(t, f.sim.WaitDeliveries(t.Context()))
	_, answers := f.ask("acme/pantry", simUser, "@librarian three?")
	require.Len(t, answers, 1)
	require.Contains(t, answers[0].Body, "Back again.")
	require.Len(t, f.ours("acme/pantry", 0), 1)
	require.NoError(t, m.Done())
}

// L6: a delivery of an installation that is not, or no longer, ours comes to one line, and to nothing on GitHub.
func TestL6_AnUnknownInstallationIsOneLine(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)
	repo, err := f.sim.Repo("acme/pantry")
	require.NoError(t, err)
	c := f.say("acme/pantry", 1, simUser, "nothing is asked here")
	require.NoError(t, f.sim.WaitDeliveries(t.Context()))
	before := len(f.log.String())
	_, err = f.sim.SendEvent(f.world.app, "issue_comment", map[string]any{
		"action": "created", "comment": map[string]any{"id": c.ID, "body": "@librarian why?", "user": map[string]any{"id": 7, "login": "ada", "type": "User"}},
		"issue":        map[string]any{"id": 1, "number": 1, "title": "t", "user": nil},
		"repository":   map[string]any{"id": repo.ID, "name": "pantry", "full_name": "acme/pantry", "owner": map[string]any{"login": "acme"}},
		"installation": map[string]any{"id": 999_999_999}, "sender": map[string]any{"id": 7, "login": "ada", "type": "User"},
	})
	require.NoError(t, err)
	f.eventually("the run is over", func() bool { return strings.Contains(f.log.String()[before:], "run ended") })
	f.quiet("acme/pantry", c.ID)
	var lines []string
	for line := range strings.Lines(f.log.String()[before:]) {
		if !strings.Contains(line, "level=DEBUG") && !strings.Contains(line, "run admitted") && !strings.Contains(line, "outcome=found") {
			lines = append(lines, line)
		}
	}
	require.Len(t, lines, 1, strings.Join(lines, ""))
}

// A finished answer that GitHub does not take outlives the process, and is not paid for twice.
func TestL2_AFinishedAnswerOutlivesARestart(t *testing.T) {
	t.Parallel()
	m := modeltest.New(results("Posted all the same."))
	f := newFlow(t, m, nil)
	remove := f.sim.Inject(githubsim.Fault{Method: "POST", Path: regexp.MustCompile(`/issues/1/comments$`), Status: http.StatusBadGateway})
	c := f.say("acme/pantry", 1, simUser, "@librarian why?")
	f.eventually("the answer has to wait", func() bool { return strings.Contains(f.log.String(), "will be tried again") })
	require.Empty(t, f.ours("acme/pantry", c.ID))
	f.stop()
	remove()
	f.serve()
	require.Equal(t, "rocket", f.settled(c.ID))
	require.Len(t, f.ours("acme/pantry", c.ID), 1)
	require.Contains(t, f.ours("acme/pantry", c.ID)[0].Body, "Posted all the same.")
	require.NoError(t, m.Done())
	require.Equal(t, 1, f.modelRuns())
}
