package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/agent"
	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/model/modeltest"
	"github.com/librarian-app/librarian/librarian/tool"
)

// log is a recorder that keeps what was recorded.
type log struct {
	mu     sync.Mutex
	events []string
	ends   []librarian.ToolEndData
}

func (l *log) record(_ context.Context, kind librarian.EventKind, data any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, string(kind))
	if e, ok := data.(librarian.ToolEndData); ok {
		l.ends = append(l.ends, e)
	}
	return nil
}

type echoArgs struct {
	Text string `json:"text,omitempty" jsonschema:"what to say"`
}

func echo(name string, run func(ctx context.Context, text string) (tool.Result, error)) tool.Tool {
	return tool.New(tool.Definition[echoArgs]{
		Name: name, Description: name, Effect: tool.Read, Verb: name, Subject: func(a echoArgs) string { return a.Text },
		Run: func(ctx context.Context, a echoArgs) (tool.Result, error) { return run(ctx, a.Text) },
	})
}

func say(_ context.Context, text string) (tool.Result, error) {
	return tool.Result{Text: "said " + text, Summary: "ok"}, nil
}

// finish accepts every provide_results but one whose text is "bad".
func finish() tool.Tool {
	return tool.New(tool.Definition[echoArgs]{
		Name: tool.ProvideResults, Description: "end", Effect: tool.Finish, Verb: "results",
		Run: func(_ context.Context, a echoArgs) (tool.Result, error) {
			if a.Text == "bad" {
				return tool.Errorf("bad location"), nil
			}
			return tool.Result{Text: "accepted", Done: true}, nil
		},
	})
}

func options(t *testing.T, m model.Model, l *log, tools ...tool.Tool) agent.Options {
	t.Helper()
	c, err := tool.NewCatalog(append(tools, finish())...)
	require.NoError(t, err)
	return agent.Options{Model: m, Tools: c, System: "s", Prompt: model.UserText("why?"), Record: l.record, Now: time.Now}
}

func use(name, text string) modeltest.Use {
	return modeltest.Use{Tool: name, Args: map[string]string{"text": text}}
}

func lastResult(m *modeltest.Scripted) model.Part {
	calls := m.Calls()
	msgs := calls[len(calls)-1].Messages
	parts := msgs[len(msgs)-1].Parts
	return parts[len(parts)-1]
}

func TestRunEndsWithFindings(t *testing.T) {
	t.Parallel()
	m := modeltest.New(modeltest.Call(use("say", "a"), use("say", "b")), modeltest.Call(use(tool.ProvideResults, "bad")), modeltest.Call(use(tool.ProvideResults, "good")))
	l := &log{}
	r, err := agent.Run(t.Context(), options(t, m, l, echo("say", say)))
	require.NoError(t, err)
	require.Equal(t, agent.EndFindings, r.End)
	require.Equal(t, 3, r.Steps)
	require.Equal(t, 4, r.Calls)
	require.NoError(t, m.Done())
	require.Equal(t, "message", l.events[0])
	require.Len(t, l.ends, 4)
	require.Equal(t, "bad location", l.ends[2].Summary)
	require.True(t, l.ends[2].IsError)
}

func TestRemindersThenSilence(t *testing.T) {
	t.Parallel()
	m := modeltest.New(modeltest.Say("one"), modeltest.Say("two"), modeltest.Say("three"), modeltest.Say("last words"))
	r, err := agent.Run(t.Context(), options(t, m, &log{}))
	require.NoError(t, err)
	require.Equal(t, agent.EndSilent, r.End)
	require.Equal(t, "last words", r.LastText)
	require.Len(t, m.Calls(), 4, "one turn and three reminders")
}

func TestReminderIsHeard(t *testing.T) {
	t.Parallel()
	m := modeltest.New(modeltest.Say("hm"), modeltest.Call(use(tool.ProvideResults, "x")))
	r, err := agent.Run(t.Context(), options(t, m, &log{}))
	require.NoError(t, err)
	require.Equal(t, agent.EndFindings, r.End)
	require.Contains(t, lastResult(m).Text, "Call provide_results now")
}

func TestLastStepsLetOnlyTheFinishThrough(t *testing.T) {
	t.Parallel()
	ran := 0
	count := echo("say", func(context.Context, string) (tool.Result, error) {
		ran++
		return tool.Result{Text: fmt.Sprint(ran)}, nil
	})
	var turns []modeltest.Turn
	for i := range 6 {
		turns = append(turns, modeltest.Call(use("say", fmt.Sprint(i))))
	}
	m := modeltest.New(turns...)
	o := options(t, m, &log{}, count)
	o.Limits.Steps = 6
	r, err := agent.Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, agent.EndLimit, r.End)
	require.Equal(t, 4, ran, "the last two of six steps carry out nothing else")
	require.Contains(t, lastResult(m).Text, "Only provide_results is accepted now")
	require.Len(t, m.Calls()[5].Tools, 2, "the tool list stays as it is")
}

func TestFinishOnTheVeryLastStep(t *testing.T) {
	t.Parallel()
	m := modeltest.New(modeltest.Call(use("say", "a")), modeltest.Call(use("say", "b")), modeltest.Call(use(tool.ProvideResults, "ok")))
	o := options(t, m, &log{}, echo("say", say))
	o.Limits.Steps = 3
	r, err := agent.Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, agent.EndFindings, r.End)
}

func TestBudgetLineFromHalfOn(t *testing.T) {
	t.Parallel()
	m := modeltest.New(modeltest.Call(use("say", "1")), modeltest.Call(use("say", "2")), modeltest.Call(use("say", "3")), modeltest.Call(use(tool.ProvideResults, "ok")))
	o := options(t, m, &log{}, echo("say", say))
	o.Limits.Steps = 6
	_, err := agent.Run(t.Context(), o)
	require.NoError(t, err)
	text := func(call int) string {
		msgs := m.Calls()[call].Messages
		return msgs[len(msgs)-1].Parts[0].Text
	}
	require.NotContains(t, text(2), "[Left:")
	require.Contains(t, text(3), "[Left: 3 steps")
}

func TestTokenAndCostLimits(t *testing.T) {
	t.Parallel()
	spend := func(u model.Usage, cost float64) modeltest.Turn {
		return func(ctx context.Context, c model.Call) (model.Reply, error) {
			r, err := modeltest.Call(use("say", fmt.Sprint(len(c.Messages))))(ctx, c)
			r.Usage = u
			if cost > 0 {
				r.Cost = &cost
			}
			return r, err
		}
	}
	for name, row := range map[string]struct {
		turn  modeltest.Turn
		limit agent.Limits
		want  string
	}{
		"tokens":               {spend(model.Usage{Input: 60, CacheWrite: 40}, 0), agent.Limits{InputTokens: 350}, "input tokens"},
		"cached input is free": {spend(model.Usage{Input: 1, CacheRead: 1000}, 0), agent.Limits{InputTokens: 350, Steps: 5}, "steps"},
		"cost":                 {spend(model.Usage{}, 0.4), agent.Limits{Cost: 1}, "cost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(row.turn, row.turn, row.turn, row.turn, row.turn, row.turn)
			o := options(t, m, &log{}, echo("say", say))
			o.Limits = row.limit
			r, err := agent.Run(t.Context(), o)
			require.NoError(t, err)
			require.Equal(t, agent.EndLimit, r.End)
			require.Contains(t, r.Limit, row.want)
		})
	}
}

func TestTimeLimitCutsTheModelOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := modeltest.New(modeltest.Hang(nil))
		o := options(t, m, &log{})
		o.Limits.Time = time.Minute
		r, err := agent.Run(t.Context(), o)
		require.NoError(t, err)
		require.Equal(t, agent.EndLimit, r.End)
		require.Equal(t, time.Minute, r.Took)
	})
}

func TestThirdIdenticalCallIsRefused(t *testing.T) {
	t.Parallel()
	ran := 0
	tl := echo("say", func(context.Context, string) (tool.Result, error) { ran++; return tool.Result{Text: "same"}, nil })
	again := modeltest.Call(use("say", "x"))
	m := modeltest.New(again, again, again, modeltest.Call(use(tool.ProvideResults, "ok")))
	l := &log{}
	_, err := agent.Run(t.Context(), options(t, m, l, tl))
	require.NoError(t, err)
	require.Equal(t, 2, ran)
	require.True(t, l.ends[2].IsError)
	require.Contains(t, l.ends[2].Summary, "not repeated")
}

func TestChangingResultsMayBeAskedAgain(t *testing.T) {
	t.Parallel()
	ran := 0
	tl := echo("say", func(context.Context, string) (tool.Result, error) {
		ran++
		return tool.Result{Text: fmt.Sprint(ran)}, nil
	})
	again := modeltest.Call(use("say", "x"))
	m := modeltest.New(again, again, again, again, modeltest.Call(use(tool.ProvideResults, "ok")))
	_, err := agent.Run(t.Context(), options(t, m, &log{}, tl))
	require.NoError(t, err)
	require.Equal(t, 4, ran)
}

func TestFaultyToolsAndCalls(t *testing.T) {
	t.Parallel()
	boom := echo("boom", func(context.Context, string) (tool.Result, error) { panic("secret detail") })
	slow := echo("slow", func(ctx context.Context, _ string) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	})
	deaf := echo("deaf", func(context.Context, string) (tool.Result, error) { select {} })
	bad := func(_ context.Context, c model.Call) (model.Reply, error) {
		return model.Reply{Message: model.Message{V: 1, Role: model.Assistant, Parts: []model.Part{
			{Kind: model.ToolCall, CallID: "1", Tool: "say", BadArgs: `{"text":`},
			{Kind: model.ToolCall, CallID: "2", Tool: "say", Args: json.RawMessage(`{"txet":"a"}`)},
			{Kind: model.ToolCall, CallID: "3", Tool: "nope", Args: json.RawMessage(`{}`)},
			{Kind: model.ToolCall, CallID: "4", Tool: "boom"},
			{Kind: model.ToolCall, CallID: "5", Tool: "slow"},
			{Kind: model.ToolCall, CallID: "6", Tool: "deaf"},
		}}}, nil
	}
	m := modeltest.New(bad, modeltest.Call(use(tool.ProvideResults, "ok")))
	o := options(t, m, &log{}, echo("say", say), boom, slow, deaf)
	o.Limits.ToolTime = 50 * time.Millisecond
	r, err := agent.Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, agent.EndFindings, r.End)
	msgs := m.Calls()[1].Messages
	parts := msgs[len(msgs)-1].Parts
	for i, want := range []string{"not valid JSON", `unknown field "txet"`, "The tools are: say, boom, slow, deaf, provide_results", "broke on this call", "took longer than", "took longer than"} {
		require.True(t, parts[i].IsError)
		require.Contains(t, parts[i].Text, want)
		require.NotContains(t, parts[i].Text, "secret detail")
	}
}

func TestGoErrorBreaksTheRun(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk gone")
	tl := echo("say", func(context.Context, string) (tool.Result, error) { return tool.Result{}, broken })
	_, err := agent.Run(t.Context(), options(t, modeltest.New(modeltest.Call(use("say", "x"))), &log{}, tl))
	require.ErrorIs(t, err, broken)
}

func TestCancelEndsModelAndTools(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped by a person")
	for name, turn := range map[string]func(chan struct{}) (modeltest.Turn, tool.Tool){
		"in the model": func(started chan struct{}) (modeltest.Turn, tool.Tool) {
			return modeltest.Hang(started), echo("say", say)
		},
		"in a tool": func(started chan struct{}) (modeltest.Turn, tool.Tool) {
			return modeltest.Call(use("say", "x")), echo("say", func(context.Context, string) (tool.Result, error) { close(started); select {} })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			started := make(chan struct{})
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() { <-started; cancel(stopped) }()
			tn, tl := turn(started)
			_, err := agent.Run(ctx, options(t, modeltest.New(tn), &log{}, tl))
			require.ErrorIs(t, err, stopped)
		})
	}
}

func TestParallelCallsAreCappedAndAnsweredInOrder(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now, most := 0, 0
	gate := make(chan struct{})
	var open sync.Once
	tl := echo("say", func(_ context.Context, text string) (tool.Result, error) {
		mu.Lock()
		now++
		most = max(most, now)
		if now == 3 {
			open.Do(func() { close(gate) })
		}
		mu.Unlock()
		<-gate
		mu.Lock()
		now--
		mu.Unlock()
		return tool.Result{Text: text}, nil
	})
	m := modeltest.New(modeltest.Call(use("say", "a"), use("say", "b"), use("say", "c"), use("say", "d"), use("say", "e")), modeltest.Call(use(tool.ProvideResults, "ok")))
	o := options(t, m, &log{}, tl)
	o.Limits.Parallel = 3
	_, err := agent.Run(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, 3, most)
	var got []string
	msgs := m.Calls()[1].Messages
	for _, p := range msgs[len(msgs)-1].Parts {
		got = append(got, p.Text)
	}
	require.Equal(t, []string{"a", "b", "c", "d", "e"}, got)
}

func TestTooLongAContextIsShortened(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	tl := echo("say", func(_ context.Context, text string) (tool.Result, error) { return tool.Result{Text: text + long}, nil })
	m := modeltest.New(modeltest.Call(use("say", "a")), modeltest.Call(use("say", "b")),
		modeltest.Fail(&model.Error{Kind: model.ErrTooLong, Message: "prompt is too long"}), modeltest.Call(use(tool.ProvideResults, "ok")))
	r, err := agent.Run(t.Context(), options(t, m, &log{}, tl))
	require.NoError(t, err)
	require.Equal(t, agent.EndFindings, r.End)
	last := m.Calls()[3].Messages
	require.Equal(t, "why?", last[0].Parts[0].Text)
	require.Contains(t, last[2].Parts[0].Text, "removed to make room")
	require.Contains(t, last[4].Parts[0].Text, long)
}

func TestWhatWasCitedAndTheThreadStayInATooLongContext(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	show := func(_ context.Context, path string) (tool.Result, error) {
		return tool.Result{Text: path + long, Evidence: []tool.Evidence{{Repo: "r", SHA: "s", Path: path, Start: 1, End: 9}}}, nil
	}
	m := modeltest.New(
		modeltest.Call(use("read_thread", "7"), use("read", "cited.go"), use("read", "other.go")),
		modeltest.Call(modeltest.Use{Tool: tool.ProvideResults, Args: map[string]string{"text": "bad"}}, modeltest.Use{Tool: "read", Args: map[string]string{"text": "newest.go"}}),
		modeltest.Call(modeltest.Use{Tool: tool.ProvideResults, Args: json.RawMessage(`{"text":"bad","locations":[{"file":"cited.go"}]}`)}),
		modeltest.Fail(&model.Error{Kind: model.ErrTooLong}), modeltest.Fail(&model.Error{Kind: model.ErrTooLong}), modeltest.Fail(&model.Error{Kind: model.ErrTooLong}))
	r, err := agent.Run(t.Context(), options(t, m, &log{}, echo("read_thread", say2(long)), echo("read", show)))
	require.NoError(t, err)
	require.Equal(t, agent.EndLimit, r.End, "a full context window is a limit")
	require.Contains(t, r.Limit, "context window")
	last := m.Calls()[5].Messages
	texts := map[string]string{}
	for _, msg := range last {
		for _, p := range msg.Parts {
			if p.Kind == model.ToolResult {
				texts[p.CallID] = p.Text
			}
		}
	}
	require.Contains(t, texts["c1_0"], long, "the thread stays")
	require.Contains(t, texts["c1_1"], long, "what was cited stays")
	require.Contains(t, texts["c1_2"], `removed to make room. Call read again with {"text":"other.go"}`)
	require.Contains(t, texts["c3_1"], "removed to make room")
}

func say2(text string) func(context.Context, string) (tool.Result, error) {
	return func(context.Context, string) (tool.Result, error) { return tool.Result{Text: text}, nil }
}

func TestWhatWasRemovedMayBeAskedForAgain(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1000)
	again := modeltest.Call(use("read", "a"))
	m := modeltest.New(again, again, modeltest.Fail(&model.Error{Kind: model.ErrTooLong}), again, modeltest.Call(use(tool.ProvideResults, "ok")))
	_, err := agent.Run(t.Context(), options(t, m, &log{}, echo("read", say2(long))))
	require.NoError(t, err)
	require.Equal(t, long, lastResult(m).Text, "the third call is not refused")
}

func TestToolsPerStep(t *testing.T) {
	t.Parallel()
	m := modeltest.New(modeltest.Call(use("more", "")), modeltest.Call(use("more", "")), modeltest.Call(use(tool.ProvideResults, "ok")))
	o := options(t, m, &log{}, echo("say", say))
	wide, err := tool.NewCatalog(echo("more", say), finish())
	require.NoError(t, err)
	narrow := o.Tools
	o.Tools = nil
	o.ToolsAt = func(step int) *tool.Catalog {
		if step == 1 {
			return narrow
		}
		return wide
	}
	_, err = agent.Run(t.Context(), o)
	require.NoError(t, err)
	calls := m.Calls()
	require.Equal(t, "say", calls[0].Tools[0].Name)
	require.Equal(t, "more", calls[1].Tools[0].Name)
	require.Contains(t, calls[1].Messages[2].Parts[0].Text, `There is no tool "more". The tools are: say, provide_results.`)
	require.Equal(t, "said ", lastResult(m).Text)
}
