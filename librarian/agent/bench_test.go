package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/agent"
	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
	"github.com/librarian-app/librarian/librarian/tool"
)

// The run that the benchmark plays: 40 steps, 4 tools a step, 300 kB of tool results in all.
const (
	benchSteps   = 40
	benchCalls   = 4
	benchResults = 300_000 / ((benchSteps - 1) * benchCalls) // bytes of one result
)

// instant takes its turns without latency and counts what a provider would be sent.
type instant struct{ steps, sent int }

func (*instant) Name() string { return "test/instant" }

func (m *instant) Generate(ctx context.Context, c model.Call) (model.Reply, error) {
	m.steps++
	for _, msg := range c.Messages {
		for _, p := range msg.Parts {
			m.sent += len(p.Text) + len(p.Args)
		}
	}
	m.sent += len(c.System)
	for _, t := range c.Tools {
		m.sent += len(t.Description) + len(t.Schema)
	}
	if m.steps == benchSteps {
		return modeltest.Call(use(tool.ProvideResults, "ok"))(ctx, c)
	}
	uses := make([]modeltest.Use, benchCalls)
	for i := range uses {
		uses[i] = use("say", strings.Repeat("a", m.steps)+strings.Repeat("b", i))
	}
	return modeltest.Call(uses...)(ctx, c)
}

// BenchmarkLoop measures the loop's own cost: a model without latency, tools that only answer, a log that is marshalled
// and thrown away.
func BenchmarkLoop(b *testing.B) {
	text := strings.Repeat("x", benchResults)
	c, err := tool.NewCatalog(echo("say", say2(text)), finish())
	require.NoError(b, err)
	b.ReportAllocs()
	sent := 0
	for b.Loop() {
		m := &instant{}
		r, err := agent.Run(b.Context(), agent.Options{
			Model: m, Tools: c, System: "s", Prompt: model.UserText("why?"), Now: time.Now, Limits: agent.Limits{Steps: benchSteps + 2},
			Record: func(_ context.Context, _ librarian.EventKind, data any) error {
				_, err := json.Marshal(data)
				return err
			},
		})
		require.NoError(b, err)
		require.Equal(b, agent.EndFindings, r.End)
		sent = m.sent
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N)/benchSteps, "ms/step")
	b.ReportMetric(float64(sent)/benchSteps, "sent-B/step")
}
