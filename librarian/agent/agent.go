// Package agent is the model-and-tools loop of a run: it gives a model its turn, carries out the tools it calls, and sees
// to it that the run always ends well. It owns the limits, the reminders, the rule for the last steps, the guard against
// repeated calls, and the prompt. It promises that [Run] returns within its time limit and a short grace, whatever the
// model or a tool does, and that everything said and done was recorded before the next step began. It needs a
// [model.Model], a [tool.Catalog] whose finishing tool is provide_results, and a place to record.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/tool"
)

// MaxReminders is how often a model that stops without findings is asked for them.
const MaxReminders = 3

// NoFindings is what a run says that fails after the last reminder.
const NoFindings = "The librarian did not report structured findings after 3 reminders."

// reminder is what a model hears that stopped without findings.
const reminder = "You have not reported yet. Call provide_results now. If you could not answer, say so in the summary and cite what you have read."

// Limits bound a run. A zero field takes its default.
type Limits struct {
	Steps       int           // model turns, reminders included; default 40
	Time        time.Duration // default 10 minutes
	InputTokens int64         // uncached input tokens; default 400,000
	Cost        float64       // US dollars, where the price is known; default 1
	ToolTime    time.Duration // one tool call; default 3 minutes
	Parallel    int           // tool calls of one turn at once; default 4
}

func (l Limits) withDefaults() Limits {
	if l.Steps <= 0 {
		l.Steps = 40
	}
	if l.Time <= 0 {
		l.Time = 10 * time.Minute
	}
	if l.InputTokens <= 0 {
		l.InputTokens = 400_000
	}
	if l.Cost <= 0 {
		l.Cost = 1
	}
	if l.ToolTime <= 0 {
		l.ToolTime = 3 * time.Minute
	}
	if l.Parallel <= 0 {
		l.Parallel = 4
	}
	return l
}

// Options is what a run needs.
type Options struct {
	Model model.Model
	Tools *tool.Catalog
	// ToolsAt, when set, gives the tools of a step, from 1, instead of Tools: a group that was asked for joins, one that is
	// not wanted goes. Each change costs the provider's cache, so give the same catalogue for as long as nothing changes.
	ToolsAt  func(step int) *tool.Catalog
	System   string
	History  []model.Message // of the run that is continued; already recorded elsewhere
	Prompt   model.Message   // the question with its context
	Thinking model.Level
	Limits   Limits
	// Record appends to the run's log. An error of it ends the run: what is not recorded must not go on.
	Record func(ctx context.Context, kind librarian.EventKind, data any) error
	Now    func() time.Time
	Log    *slog.Logger
}

// End is how the loop ended.
type End string

// The ends of a loop. A cancelled context ends it with the context's cause as an error instead.
const (
	EndFindings End = "findings" // provide_results was accepted
	EndLimit    End = "limit"    // a limit was reached without; the host answers from what was read
	EndSilent   End = "silent"   // no findings after the last reminder
)

// Result is what came of a run.
type Result struct {
	End      End
	Limit    string // for EndLimit: which one, in words
	Usage    librarian.Usage
	Steps    int
	Calls    int
	Took     time.Duration
	LastText string // the model's last words outside of tools
}

var errTimeLimit = errors.New("agent: time limit")

// Run carries the conversation on until provide_results is accepted or a limit says enough. Errors are the model's, the
// recorder's, a tool's Go error, or the cause of ctx's end.
func Run(ctx context.Context, o Options) (Result, error) {
	o.Limits = o.Limits.withDefaults()
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	l := &loop{o: o, seen: map[string]*repeat{}, shown: map[string][]string{}, began: o.Now()}
	l.messages = append(slices.Clone(o.History), o.Prompt)
	end, err := l.run(ctx)
	l.result.End = end
	l.result.Took = o.Now().Sub(l.began)
	return l.result, err
}

type loop struct {
	o         Options
	tools     *tool.Catalog // of the present step
	specs     []model.ToolSpec
	messages  []model.Message
	began     time.Time
	reminders int
	refusing  int // turns taken since only provide_results is let through
	compacted int
	memory    model.Memory
	mu        sync.Mutex // guards seen and shown, which parallel calls share
	seen      map[string]*repeat
	shown     map[string][]string // call id → files that its result shows lines of
	result    Result
	costKnown bool
	cost      float64
}

func (l *loop) run(ctx context.Context) (End, error) {
	timed, stop := context.WithTimeoutCause(ctx, l.o.Limits.Time, errTimeLimit)
	defer stop()
	if err := l.o.Record(ctx, librarian.EventMessage, l.o.Prompt); err != nil {
		return "", err
	}
	for {
		if err := ctx.Err(); err != nil {
			return "", context.Cause(ctx)
		}
		if why := l.exhausted(timed); why != "" {
			l.result.Limit = why
			return EndLimit, nil
		}
		l.equip()
		reply, err := l.turn(timed)
		if err != nil {
			if ctx.Err() == nil && errors.Is(context.Cause(timed), errTimeLimit) {
				continue // exhausted says so
			}
			if tooLong(err) && l.result.Calls > 0 { // what was read is worth an answer
				l.result.Limit = "the model's context window is full"
				return EndLimit, nil
			}
			return "", err
		}
		final := l.finishing() != ""
		if final {
			l.refusing++
		}
		calls := reply.Message.Calls()
		if len(calls) == 0 {
			if l.reminders == MaxReminders && !final {
				return EndSilent, nil
			}
			l.reminders++
			if err := l.say(ctx, model.UserText(reminder)); err != nil {
				return "", err
			}
			continue
		}
		results, done, err := l.call(timed, calls)
		if err != nil {
			if ctx.Err() == nil && errors.Is(context.Cause(timed), errTimeLimit) {
				continue
			}
			return "", err
		}
		if err := l.say(ctx, results); err != nil {
			return "", err
		}
		if done {
			return EndFindings, nil
		}
	}
}

// equip lays out the tools of the step that begins.
func (l *loop) equip() {
	tools := l.o.Tools
	if l.o.ToolsAt != nil {
		tools = l.o.ToolsAt(l.result.Steps + 1)
	}
	if tools == l.tools {
		return
	}
	l.tools, l.specs = tools, nil
	for _, s := range tools.Specs() {
		l.specs = append(l.specs, model.ToolSpec{Name: s.Name, Description: s.Description, Schema: s.Schema})
	}
}

func tooLong(err error) bool {
	refused, ok := errors.AsType[*model.Error](err)
	return ok && refused.Kind == model.ErrTooLong
}

// turn asks the model for its next message and records it.
func (l *loop) turn(ctx context.Context) (model.Reply, error) {
	for {
		reply, err := l.o.Model.Generate(ctx, model.Call{
			System: l.o.System, Messages: l.messages, Tools: l.specs, Thinking: l.o.Thinking, Memory: &l.memory,
		})
		if ctx.Err() != nil {
			return model.Reply{}, context.Cause(ctx)
		}
		if tooLong(err) && l.compact() {
			continue
		}
		if err != nil {
			return model.Reply{}, err
		}
		l.account(reply)
		if len(reply.Message.Parts) == 0 { // an empty turn; a provider would refuse it in the history
			reply.Message.Parts = []model.Part{{Kind: model.Text, Text: "(no answer)"}}
		}
		if t := reply.Message.PlainText(); t != "" {
			l.result.LastText = t
		}
		if reply.Stop == model.StopMaxOutput {
			l.o.Log.WarnContext(ctx, "model reached its output limit", "model", l.o.Model.Name())
		}
		return reply, l.say(ctx, reply.Message)
	}
}

func (l *loop) say(ctx context.Context, m model.Message) error {
	l.messages = append(l.messages, m)
	return l.o.Record(ctx, librarian.EventMessage, withoutData(m))
}

// withoutData drops what only programs of this very run read, so that logs stay small.
func withoutData(m model.Message) model.Message {
	m.Parts = slices.Clone(m.Parts)
	for i := range m.Parts {
		m.Parts[i].Data = nil
	}
	return m
}

func (l *loop) account(r model.Reply) {
	l.result.Steps++
	u := &l.result.Usage
	u.InputTokens += r.Usage.Input
	u.CacheReadTokens += r.Usage.CacheRead
	u.CacheWriteTokens += r.Usage.CacheWrite
	u.OutputTokens += r.Usage.Output
	if r.Cost != nil {
		l.costKnown = true
		l.cost += *r.Cost
		c := l.cost
		u.Cost = &c
	}
}

// uncached is what the token limit counts: input that was not read from the provider's cache.
func (l *loop) uncached() int64 { return l.result.Usage.InputTokens + l.result.Usage.CacheWriteTokens }

// exhausted names the limit that lets no further turn begin, for "Limit reached: …"; empty: none.
func (l *loop) exhausted(ctx context.Context) string {
	switch {
	case errors.Is(context.Cause(ctx), errTimeLimit) || l.o.Now().Sub(l.began) >= l.o.Limits.Time:
		return Short(l.o.Limits.Time)
	case l.result.Steps >= l.o.Limits.Steps:
		return fmt.Sprintf("%d steps", l.o.Limits.Steps)
	case l.refusing >= 2:
		return l.finishing()
	case l.uncached() >= l.o.Limits.InputTokens:
		return fmt.Sprintf("%d input tokens", l.o.Limits.InputTokens)
	case l.costKnown && l.cost >= l.o.Limits.Cost:
		return fmt.Sprintf("a cost of $%.2f", l.o.Limits.Cost)
	}
	return ""
}

// Short writes a duration without its zeros: 10m, 1h30m.
func Short(d time.Duration) string {
	s := d.Round(time.Second).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// finishing says why only provide_results is let through in the turn that was just taken; empty: everything is.
func (l *loop) finishing() string {
	switch {
	case l.result.Steps > l.o.Limits.Steps-2:
		return fmt.Sprintf("the last of %d steps", l.o.Limits.Steps)
	case l.used(l.o.Now().Sub(l.began).Seconds(), l.o.Limits.Time.Seconds()) >= 0.9:
		return fmt.Sprintf("90 %% of %s", Short(l.o.Limits.Time))
	case l.used(float64(l.uncached()), float64(l.o.Limits.InputTokens)) >= 0.9:
		return fmt.Sprintf("90 %% of %d input tokens", l.o.Limits.InputTokens)
	case l.costKnown && l.used(l.cost, l.o.Limits.Cost) >= 0.9:
		return fmt.Sprintf("90 %% of a cost of $%.2f", l.o.Limits.Cost)
	}
	return ""
}

func (l *loop) used(have, limit float64) float64 { return have / limit }

// budget is the line that tool results carry from half of the tightest limit on.
func (l *loop) budget() string {
	lim := l.o.Limits
	passed := l.o.Now().Sub(l.began)
	most := max(l.used(float64(l.result.Steps), float64(lim.Steps)), l.used(passed.Seconds(), lim.Time.Seconds()),
		l.used(float64(l.uncached()), float64(lim.InputTokens)))
	if l.costKnown {
		most = max(most, l.used(l.cost, lim.Cost))
	}
	if most < 0.5 {
		return ""
	}
	steps := "steps"
	if lim.Steps-l.result.Steps == 1 {
		steps = "step"
	}
	s := fmt.Sprintf("[Left: %d %s, %s, %d thousand input tokens", max(lim.Steps-l.result.Steps, 0), steps, Short(max(lim.Time-passed, 0)), max(lim.InputTokens-l.uncached(), 0)/1000)
	if l.costKnown {
		s += fmt.Sprintf(", $%.2f", max(lim.Cost-l.cost, 0))
	}
	return s + ". Call provide_results before they run out.]"
}
