package app

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/githubsim"
	"github.com/librarian-app/librarian/librarian/store"
)

// storm is what comes down on the App: deliveries, one in twenty of them a question, evenly over the installations, and a burst
// of questions in the first.
type storm struct {
	installations, deliveries, burst int
	over                             time.Duration
	kills                            []time.Duration // kill -9 and a new start, since the beginning
	faults                           bool
	delay                            time.Duration // of every call to GitHub
	patience                         time.Duration // after the last delivery
}

// stormed is a question of the storm.
type stormed struct {
	comment int64
	repo    string
	issue   int
	at      time.Time
}

const stormIssues = 4 // of each repository

var stormQuestions = []string{
	"how is it decided which jar is eaten first?", "what spoils first?", "how many days ahead is the reminder?", "where is a jar taken off the shelf?",
}

// newStorm is a flow with so many organisations, each with the App and a small repository, whose App is a process of its own
// that always listens on the same port.
func newStorm(t *testing.T, s storm) *flow {
	t.Helper()
	f := newFlow(t, nil, func(f *flow) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		f.cfg.Server.Listen = ln.Addr().String()
		require.NoError(t, ln.Close())
		f.cfg.Limits.UserRuns, f.cfg.Limits.RepoRuns = 10_000, 10_000
		for i := range s.installations {
			org := fmt.Sprintf("org%02d", i)
			_, err := f.sim.CreateOrg(org)
			require.NoError(t, err)
			visibility := githubsim.Public
			if i%2 == 0 {
				visibility = githubsim.Private
			}
			_, err = f.sim.CreateRepo(org, "code", githubsim.RepoOptions{Path: filepath.Join(filepath.Dir(f.cfg.Server.Data), "pantry.git"), Visibility: visibility})
			require.NoError(t, err)
			require.NoError(t, f.sim.SetPermission(org+"/code", simUser, "write", ""))
			_, err = f.sim.Install(f.world.app, org)
			require.NoError(t, err)
			for range stormIssues {
				_, err := f.sim.OpenIssue(org+"/code", simUser, "Questions", "Ask here.")
				require.NoError(t, err)
			}
		}
	})
	f.stop()
	return f
}

// rage lets the storm come down and waits until every run is over. It gives what was asked, and when the process was killed.
func (f *flow) rage(s storm) (all []stormed, kills []time.Time) {
	f.t.Helper()
	if s.delay > 0 {
		defer f.sim.Inject(githubsim.Fault{Path: regexp.MustCompile(`^/api/`), Delay: s.delay})()
	}
	process := f.spawn()
	began := time.Now()
	stop := make(chan struct{})
	var weather sync.WaitGroup
	if s.faults {
		weather.Go(func() { f.weather(stop) })
	}
	fed := make(chan error, 1)
	go func() { fed <- f.feed(s, began, func(a stormed) { all = append(all, a) }) }()
	for _, at := range s.kills {
		time.Sleep(time.Until(began.Add(at)))
		kill(process)
		kills = append(kills, time.Now())
		process = f.spawn()
	}
	require.NoError(f.t, <-fed)
	close(stop)
	weather.Wait()
	if f.stillLost() > 0 { // what came while nobody listened is asked for again at the start, and then every few minutes
		// Not by kill -9: the storm would have one more of those than it says, and a question that is killed in both of its attempts
		// is interrupted. One that is stopped gets its attempt back.
		terminate(process)
		f.spawn()
	}
	f.over(all, s.patience)
	return all, kills
}

// over waits until every run is over and every question was taken.
func (f *flow) over(all []stormed, patience time.Duration) {
	f.t.Helper()
	runs, err := store.Open(f.t.Context(), store.Options{Dir: f.cfg.Server.Data})
	require.NoError(f.t, err)
	defer func() { require.NoError(f.t, runs.Close()) }()
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		states, asked := map[librarian.State]int{}, map[int64]bool{}
		var open []librarian.RunID
		found, err := runs.Find(f.t.Context(), store.Filter{Kind: librarian.KindQuestion, Limit: 10_000})
		require.NoError(f.t, err)
		for _, r := range found {
			states[r.State]++
			asked[r.Request.Place.TriggerID] = true
			if !r.State.Final() {
				open = append(open, r.ID)
			}
		}
		if len(open) == 0 && len(asked) == len(all) {
			return
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("%d of %d questions were taken, %v are not over: %v\n%s", len(asked), len(all), open, states, tail(f.log.String()))
		}
	}
}

func tail(s string) string { return s[max(0, len(s)-20_000):] }

// mark is the sign on a question that ends it; empty while there is none.
func (f *flow) mark(comment int64) string {
	for _, r := range f.sim.Reactions(comment) {
		if r.Content == "rocket" || r.Content == "confused" {
			return r.Content
		}
	}
	return ""
}

// feed comments, and tells of those comments that ask.
func (f *flow) feed(s storm, began time.Time, ask func(stormed)) error {
	say := func(org, n int, body string, question bool) error {
		a := stormed{repo: fmt.Sprintf("org%02d/code", org), issue: n%stormIssues + 1, at: time.Now()}
		c, err := f.sim.Comment(a.repo, a.issue, simUser, body)
		if err != nil || !question {
			return err
		}
		a.comment = c.ID
		ask(a)
		return nil
	}
	question := func(n int) string { return fmt.Sprintf("@librarian %s (%d)", stormQuestions[n%len(stormQuestions)], n) }
	n := 0
	for i := range s.deliveries - s.burst {
		time.Sleep(time.Until(began.Add(s.over * time.Duration(i) / time.Duration(s.deliveries-s.burst))))
		asks := i%20 == 10
		body := "Nobody is asked anything here."
		if asks {
			body, n = question(n), n+1
		}
		if err := say(n%s.installations, i, body, asks); err != nil {
			return err
		}
		if i == (s.deliveries-s.burst)/4 {
			for j := range s.burst {
				if err := say(0, j, question(1000+j), true); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// weather has things go wrong until stop: GitHub's errors, its secondary limit, connections that are cut before or after the
// work was done, deliveries that come again.
func (f *flow) weather(stop <-chan struct{}) {
	rnd := rand.New(rand.NewPCG(6, 5))
	api, comments := regexp.MustCompile(`^/api/`), regexp.MustCompile(`/issues/\d+/comments$`)
	kinds := []githubsim.Fault{
		{Path: api, Count: 2, Status: 502}, {Path: api, Count: 1, Status: 500}, {Path: api, Count: 1, Cut: true}, {Path: api, Method: "GET", Count: 1, Cut: true, CutAfter: 20},
		{Path: comments, Method: "POST", Count: 1, Status: 502, AfterWork: true}, {Path: comments, Method: "POST", Count: 1, Cut: true, AfterWork: true},
		{Path: regexp.MustCompile(`/reactions`), Method: "POST", Count: 1, Status: 503}, {Path: gitPath, Count: 1, Cut: true, CutAfter: 100},
		githubsim.SecondaryLimit(comments, 1, time.Second), githubsim.SecondaryLimit(api, 1, 2*time.Second),
	}
	tick := time.NewTicker(150 * time.Millisecond)
	defer tick.Stop()
	clear := func() {}
	defer func() { clear() }()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		clear() // what struck nothing by now is over
		clear = f.sim.Inject(kinds[rnd.IntN(len(kinds))])
		if all := f.sim.Deliveries(); len(all) > 0 {
			_ = f.sim.Redeliver(all[rnd.IntN(len(all))].ID)
		}
	}
}

// stillLost is lost when the process that runs has asked for what it found: each delivery is asked for again once, and one that comes
// to a process that stops is lost.
func (f *flow) stillLost() int {
	f.t.Helper()
	n := -1
	for quiet := 0; quiet < 6 && n != 0; time.Sleep(500 * time.Millisecond) {
		require.NoError(f.t, f.sim.WaitDeliveries(f.t.Context()))
		now := f.lost()
		if quiet++; now != n {
			n, quiet = now, 0
		}
	}
	return n
}

// lost counts the events of which no delivery was taken.
func (f *flow) lost() int {
	taken := map[string]bool{}
	for _, d := range f.sim.Deliveries() {
		taken[d.GUID] = taken[d.GUID] || d.StatusCode/100 == 2
	}
	n := 0
	for _, ok := range taken {
		if !ok {
			n++
		}
	}
	return n
}

// Issue 6, 5, in small; LIBRARIAN_LONG=1 lets the whole storm come down.
func TestStorm(t *testing.T) {
	t.Parallel()
	s := storm{installations: 6, deliveries: 200, burst: 6, over: 6 * time.Second, kills: []time.Duration{3 * time.Second}, faults: true, patience: 60 * time.Second}
	if os.Getenv("LIBRARIAN_LONG") != "" {
		s = storm{installations: 30, deliveries: 3000, burst: 20, over: time.Minute, kills: []time.Duration{20 * time.Second, 40 * time.Second}, faults: true, patience: 4 * time.Minute}
	}
	f := newStorm(t, s)
	began := time.Now()
	all, kills := f.rage(s)
	took := time.Since(began).Round(time.Second)
	unanswered, marked := f.once(all)
	t.Logf("%d deliveries, %d questions, %d not answered, %d marked, the last after %s", len(f.sim.Deliveries()), len(all), len(unanswered), marked, took)
	f.onlyKilled(unanswered, kills)
	require.LessOrEqual(t, len(unanswered), len(all)/100)
	require.Equal(t, len(all), marked)
	f.limitsKept()
}

// 👀 comes within a second at the 99th percentile when GitHub takes 150 ms a call, to those of the burst too. Only the long form
// holds the time: a short one runs beside everything else, and asserts that no 👀 waits for research.
func TestStormAcknowledges(t *testing.T) {
	t.Parallel()
	long := os.Getenv("LIBRARIAN_LONG") != ""
	s := storm{installations: 6, deliveries: 200, burst: 8, over: 6 * time.Second, delay: 150 * time.Millisecond, patience: 60 * time.Second}
	if long {
		s = storm{installations: 30, deliveries: 3000, burst: 20, over: time.Minute, delay: 150 * time.Millisecond, patience: 4 * time.Minute}
	}
	f := newStorm(t, s)
	if !long {
		f.cfg.Queue.Research = 1
	}
	all, _ := f.rage(s)
	unanswered, marked := f.once(all)
	require.Empty(t, unanswered)
	require.Equal(t, len(all), marked)
	took := f.acknowledged(all, s.delay)
	require.Len(t, took, len(all))
	p99 := took[(len(took)*99+99)/100-1]
	t.Logf("%d questions, 👀 after %s in the middle, %s at the 95th, %s at the 99th percentile, %s at most", len(all), took[len(took)/2], took[len(took)*95/100], p99, took[len(took)-1])
	f.limitsKept()
	if long {
		require.LessOrEqual(t, p99, time.Second)
		slowest := f.slowestAnswer()
		t.Logf("the slowest answer was posted %s after its findings", slowest)
		require.LessOrEqual(t, slowest, 30*time.Second, "L1")
		return
	}
	burst := slices.DeleteFunc(slices.Clone(all), func(a stormed) bool { return a.repo != "org00/code" })
	require.LessOrEqual(t, f.answersBeforeEyes(burst), len(burst)/2)
}
