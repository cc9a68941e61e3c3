package app

import (
	"context"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
	"github.com/librarian-app/librarian/librarian/report"
	"github.com/librarian-app/librarian/librarian/run"
	"github.com/librarian-app/librarian/librarian/store"
	"github.com/librarian-app/librarian/librarian/tool"
)

// The load: as many runs at once as loadRuns, each of loadSteps turns of a model that takes loadThinks, with 4 tool calls a
// turn and 300 kB of results in all.
const (
	loadRuns   = 100
	loadSteps  = 7
	loadThinks = 2 * time.Second
	loadResult = 300_000 / ((loadSteps - 1) * 4)
)

type textArgs struct {
	Text string `json:"text"`
}

// slow is a model that takes its time. It notes how long each step of a run took, from one of its turns to the next.
type slow struct {
	mu   sync.Mutex
	last map[string]time.Time // by the run's question
	took []time.Duration
	peak uint64 // bytes of heap, after a collection in the last step of the first run that came there
	once sync.Once
}

func (*slow) Name() string { return "test/slow" }

func (m *slow) Generate(ctx context.Context, c model.Call) (model.Reply, error) {
	now, turn := time.Now(), len(c.Messages)/2+1
	key := c.Messages[0].Parts[0].Text
	m.mu.Lock()
	if before, ok := m.last[key]; ok {
		m.took = append(m.took, now.Sub(before))
	}
	m.last[key] = now
	m.mu.Unlock()
	select {
	case <-ctx.Done():
		return model.Reply{}, ctx.Err()
	case <-time.After(loadThinks):
	}
	if turn == loadSteps {
		m.once.Do(func() { m.peak = heap() })
		return results("done")(ctx, c)
	}
	var uses []modeltest.Use
	for i := range 4 {
		uses = append(uses, use("say", args{"text": strings.Repeat("x", turn*10+i)}))
	}
	return modeltest.Call(uses...)(ctx, c)
}

func heap() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// nothing is a tree and sources of a run that opened nothing.
type nothing struct{ report.Tree }

func (nothing) Source(string) (report.Source, bool) { return report.Source{}, false }
func (nothing) Sources() []report.Source            { return nil }

// TestLoadAHundredRunsAtOnce works runs by the very runner and store of the server. It takes half a minute of an otherwise
// idle machine: LIBRARIAN_LOAD=1 starts it.
func TestLoadAHundredRunsAtOnce(t *testing.T) { //nolint:paralleltest // measures
	if os.Getenv("LIBRARIAN_LOAD") == "" {
		t.Skip("set LIBRARIAN_LOAD=1")
	}
	runtime.GOMAXPROCS(2)
	work := func(n int) *slow {
		runs, err := store.Open(t.Context(), store.Options{Dir: t.TempDir()})
		require.NoError(t, err)
		defer func() { require.NoError(t, runs.Close()) }()
		m := &slow{last: map[string]time.Time{}}
		text := strings.Repeat("x", loadResult)
		say := tool.New(tool.Definition[textArgs]{Name: "say", Effect: tool.Read, Verb: "say", Run: func(context.Context, textArgs) (tool.Result, error) {
			return tool.Result{Text: strings.Clone(text), Summary: "ok"}, nil
		}})
		runner := run.New(run.Options{
			Log: runs, Progression: progression{runs}, Poster: nowhere{}, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Host: "github.test", Base: Default().base(),
			Models: func(string) (model.Model, model.Level, error) { return m, model.Off, nil },
			Toolbox: func(*run.Gate) run.Kit {
				return run.Kit{Tools: []tool.Tool{say}, Sources: nothing{}, Tree: nothing{}, Close: func() {}}
			},
		})
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				id, err := runs.CreateRun(t.Context(), librarian.Request{
					Kind: librarian.KindQuestion, Question: "why " + strings.Repeat("?", i+1), Principal: librarian.Principal{Login: "you", Local: true},
					Place: librarian.Place{Kind: librarian.PlaceTerminal, Trigger: librarian.TriggerTerminal}, AskedAt: time.Now(),
				})
				if err == nil {
					err = runner.Run(t.Context(), id)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		require.Len(t, m.took, n*(loadSteps-1))
		slices.Sort(m.took)
		return m
	}
	alone := work(1)
	before := heap()
	many := work(loadRuns)
	perRun := float64(many.peak-before) / loadRuns / (1 << 20)
	worst, usual := many.took[len(many.took)-1], alone.took[len(alone.took)-1]
	t.Logf("a step alone: %v at most; of %d runs at once: median %v, 99 of 100 below %v, at most %v; %.2f MiB a run",
		usual, loadRuns, many.took[len(many.took)/2], many.took[len(many.took)*99/100], worst, perRun)
	require.Less(t, worst.Seconds(), usual.Seconds()*1.1, "no step is delayed by more than 10 %")
	require.Less(t, perRun, 20.0)
}
