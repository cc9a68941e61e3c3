package app

import (
	"bytes"
	"context"
	"net/http"
	"regexp"
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

// Whatever is written, in whatever kind of thread: what GitHub sees of one installation is a second apart.
func TestL1_AnswersAreSpaced(t *testing.T) {
	t.Parallel()
	var f *flow
	var atWork atomic.Bool // the first question to come has the slow answer, and it must be the first that was asked
	slow := func(ctx context.Context, c model.Call) (model.Reply, error) {
		atWork.Store(true)
		f.eventually("progress is shown", func() bool {
			return slices.ContainsFunc(f.sim.Comments("acme/pantry", 1), func(c githubsim.Comment) bool { return strings.Contains(c.Body, "role=progress") })
		})
		return results("Slow.")(ctx, c)
	}
	f = newFlow(t, modeltest.New(slow, results("One."), results("Two."), results("Three."), results("Four.")), func(f *flow) {
		f.cfg.Limits.Progress = time.Second
	})
	asked := []int64{f.say("acme/pantry", 1, simUser, "@librarian why?").ID}
	f.eventually("the slow one is at work", atWork.Load)
	for range 2 {
		asked = append(asked, f.say("acme/pantry", 1, simUser, "@librarian why?").ID)
	}
	d, err := f.sim.OpenDiscussion("acme/pantry", simUser, "Jars", "@librarian why?")
	require.NoError(t, err)
	require.NoError(t, f.sim.Dispatch("acme/pantry", simUser, "librarian", map[string]any{"librarian": map[string]any{"query": "why?"}}))
	for _, id := range asked {
		require.Equal(t, "rocket", f.settled(id))
	}
	done := regexp.MustCompile(`/check-runs(/\d+)?$`)
	f.eventually("the discussion and the dispatch are answered", func() bool {
		return len(f.sim.DiscussionComments("acme/pantry", d.Number)) > 0 && slices.ContainsFunc(f.sim.Requests(), func(r githubsim.Request) bool {
			return done.MatchString(r.Path) && r.Method != http.MethodGet && strings.Contains(r.Body, "completed")
		})
	})
	n, _ := f.contentSpaced()
	require.GreaterOrEqual(t, n, 5+1, "answers, and progress of the slow one")
}

func TestL2_ALimitIsWaitedOutAndTheAnswerPosted(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]githubsim.Fault{
		"L2 a secondary limit with a time": githubsim.SecondaryLimit(regexp.MustCompile(`/issues/1/comments$`), 1, time.Second),
		"L2 429":                           {Path: regexp.MustCompile(`/issues/1/comments$`), Method: "POST", Count: 1, Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"1"}}},
		"L2 a server error":                {Path: regexp.MustCompile(`/issues/1/comments$`), Method: "POST", Count: 1, Status: http.StatusBadGateway},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFlow(t, modeltest.New(results("Posted all the same.")), nil)
			f.sim.Inject(fault)
			_, answers := f.ask("acme/pantry", simUser, "@librarian why?")
			require.Len(t, answers, 1)
			require.Contains(t, answers[0].Body, "Posted all the same.")
		})
	}
}

// What GitHub fails at while code is fetched costs another try, not the answer.
func TestL2_AFaultWhileCodeIsFetched(t *testing.T) {
	t.Parallel()
	t.Run("the model is told that GitHub gave no token", func(t *testing.T) {
		t.Parallel()
		var f *flow
		var ahead atomic.Int64
		heal := func() {}
		clock := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		open := modeltest.Call(use("checkout_repo", args{"repo": "acme/cellar"}))
		f = newFlowOn(t, false, githubsim.Options{Now: clock}, modeltest.New(
			func(ctx context.Context, c model.Call) (model.Reply, error) {
				ahead.Store(int64(65 * time.Minute)) // the token has to be minted anew
				heal = f.sim.Inject(githubsim.Fault{Method: http.MethodPost, Path: regexp.MustCompile(`/access_tokens$`), Count: 100, Status: http.StatusBadGateway,
					Sent: regexp.MustCompile(`"permissions":\{"contents":"read","metadata":"read"\}`)}) // git's, and nobody else's
				return open(ctx, c)
			},
			func(ctx context.Context, c model.Call) (model.Reply, error) {
				heal()
				return open(ctx, c)
			},
			modeltest.Call(use("read", args{"repo": "acme/cellar", "path": "wine.go"})),
			results("Nine.", args{"repo": "acme/cellar", "file": "wine.go", "lines": "4", "note": "the vintage"})), func(f *flow) { f.cfg.Limits.Time = 3 * time.Hour })
		asked, answers := f.ask("acme/cellar", simUser, "@librarian which vintage?")
		require.Equal(t, "rocket", f.settled(asked))
		require.Len(t, answers, 1)
		require.Contains(t, answers[0].Body, "wine.go#L4")
		require.Contains(t, answers[0].Body, "GitHub gave no access to it just now", "the trace tells of it")
	})
	t.Run("scout asks once more", func(t *testing.T) {
		t.Parallel()
		f := newFlow(t, nil, nil)
		f.sim.Inject(githubsim.Fault{Path: gitPath, Count: 1, Cut: true})
		_, answers := f.ask("acme/cellar", simUser, "@librarian which vintage is it?")
		require.Len(t, answers, 1)
		require.Contains(t, answers[0].Body, "/blob/")
		require.NotContains(t, answers[0].Body, "Not looked at")
	})
}

func TestL3_ARunLongerThanItsTokens(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	clock := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	m := modeltest.New(
		func(ctx context.Context, c model.Call) (model.Reply, error) {
			ahead.Store(int64(65 * time.Minute))
			return modeltest.Call(use("checkout_repo", args{"repo": "acme/cellar"}))(ctx, c)
		},
		modeltest.Call(use("read", args{"repo": "acme/cellar", "path": "wine.go"})),
		results("It took long.", args{"repo": "acme/cellar", "file": "wine.go", "lines": "4", "note": "the vintage"}))
	f := newFlowOn(t, false, githubsim.Options{Now: clock}, m, func(f *flow) { f.cfg.Limits.Time = 3 * time.Hour })
	_, answers := f.ask("acme/cellar", simUser, "@librarian which vintage?")
	require.Len(t, answers, 1)
	require.Contains(t, answers[0].Body, "wine.go#L4")
}

func TestL6_DeliveriesThatAreRefused(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, nil)
	require.NoError(t, f.sim.WaitDeliveries(t.Context()))
	ping := f.sim.Deliveries()[0]
	require.Equal(t, "ping", ping.Event)
	require.Equal(t, http.StatusOK, ping.StatusCode)
	post := func(body []byte, sign string, old bool) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, ping.URL, bytes.NewReader(body))
		require.NoError(t, err)
		r.Header = ping.Header.Clone()
		r.Header.Del("X-Hub-Signature-256")
		if sign != "" && !old {
			r.Header.Set("X-Hub-Signature-256", sign)
		}
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode
	}
	require.Equal(t, http.StatusUnauthorized, post(ping.Payload, "", false), "no signature")
	require.Equal(t, http.StatusUnauthorized, post(ping.Payload, githubsim.Sign("wrong", ping.Payload), false))
	require.Equal(t, http.StatusUnauthorized, post(ping.Payload, githubsim.Sign(f.world.app.WebhookSecret, ping.Payload), true), "SHA-1 alone")
	require.Equal(t, http.StatusRequestEntityTooLarge, post(make([]byte, 27_000_000), "sha256="+strings.Repeat("0", 64), false))
	require.Error(t, NewServer(f.cfg, Secrets{PrivateKey: f.world.app.PrivateKeyPEM}, ServerOptions{}).Run(t.Context()), "no secret, no start")
}

func TestL4_L7_DispatchesByAListedBotAndByOthers(t *testing.T) {
	t.Parallel()
	f := newFlow(t, nil, func(f *flow) {
		for _, login := range []string{"flows[bot]", "evil[bot]"} {
			b, err := f.sim.CreateBot(login)
			require.NoError(f.t, err)
			require.NoError(f.t, f.sim.SetPermission("acme/pantry", login, "write", ""))
			if login == "flows[bot]" {
				f.cfg.Ask.Bots = []int64{b.ID}
			}
		}
	})
	head := func() []githubsim.CheckRun {
		var out []githubsim.CheckRun
		for _, r := range f.sim.Requests() {
			if m := regexp.MustCompile(`/commits/([0-9a-f]{40})/check-runs`).FindStringSubmatch(r.Path); m != nil && len(out) == 0 {
				out = f.sim.CheckRuns("acme/pantry", m[1])
			}
		}
		return out
	}
	ask := map[string]any{"librarian": map[string]any{"query": "what spoils first?", "unknown": 1}}
	require.NoError(t, f.sim.Dispatch("acme/pantry", "evil[bot]", "librarian", ask))
	require.NoError(t, f.sim.Dispatch("acme/pantry", "flows[bot]", "librarian", ask))
	f.eventually("the answer is a check run on the default branch's head", func() bool {
		all := head()
		return len(all) > 0 && all[0].Status == "completed"
	})
	require.Len(t, head(), 1, "one dispatch was by a bot that is not listed")
	require.Contains(t, head()[0].Summary, "/blob/")
	require.NoError(t, f.sim.Dispatch("acme/pantry", simUser, "librarian", map[string]any{"librarian": map[string]any{"query": 7}}))
	f.eventually("L4: a fault is shown where it can be", func() bool {
		return slices.ContainsFunc(head(), func(c githubsim.CheckRun) bool { return strings.Contains(c.Summary, "`query`") })
	})
}

// L5: what an Enterprise host changes (the paths, TLS with a CA of its own, clone URLs and permalinks) is met by one flow of
// each kind always; with LIBRARIAN_TEST_TLS every flow of this package runs against one.
func TestL5_AnEnterpriseHost(t *testing.T) {
	t.Parallel()
	f := newFlowOn(t, true, githubsim.Options{}, nil, lids)
	require.True(t, strings.HasPrefix(f.sim.APIURL(), "https://127.0.0.1:"))
	require.Contains(t, f.sim.APIURL(), "/api/v3")
	_, answers := f.ask("acme/cellar", simUser, "@librarian which vintage is it?")
	require.Len(t, answers, 1, "a private clone over TLS")
	require.Contains(t, answers[0].Body, f.sim.URL()+"/acme/cellar/blob/")
	_, answers = f.ask("acme/pantry", simUser, "@librarian what spoils first?")
	good, all, err := checkLinks(t.Context(), f.web, answers[0].Body)
	require.NoError(t, err)
	require.Positive(t, all)
	require.Equal(t, all, good)
	require.Contains(t, f.command("acme/pantry", simUser, "@librarian search_repos pantry"), "acme/pantry")

	p, err := f.sim.OpenPull("acme/lids", simUser, githubsim.PullOptions{Title: "Widen lids", Body: "@librarian what is the rim?", Head: "wide"})
	require.NoError(t, err)
	f.eventually("a pull request", func() bool { return len(f.comments("acme/lids", p.Number)) == 1 })
	require.Contains(t, f.comments("acme/lids", p.Number)[0].Body, f.sim.URL()+"/acme/lids/blob/"+p.HeadSHA)
	d, err := f.sim.OpenDiscussion("acme/pantry", simUser, "Jars", "@librarian which jar is eaten first?")
	require.NoError(t, err)
	f.eventually("a discussion, by GraphQL", func() bool {
		return slices.ContainsFunc(f.sim.DiscussionComments("acme/pantry", d.Number), func(c githubsim.DiscussionComment) bool { return c.Author == f.world.app.Slug+"[bot]" })
	})
}
