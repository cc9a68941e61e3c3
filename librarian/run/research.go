package run

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/agent"
	"github.com/librarian-app/librarian/librarian/report"
	"github.com/librarian-app/librarian/librarian/settings"
	"github.com/librarian-app/librarian/librarian/tool"
)

// Kit is what one run works with: its tools, and what its answer is checked against.
type Kit struct {
	Tools   []tool.Tool // without provide_results
	Sources report.Sources
	Tree    report.Tree
	Close   func() // gives the checkouts back
}

// Toolbox makes the kit of a run behind its gate.
type Toolbox func(*Gate) Kit

// research runs the agent and turns its end into an outcome.
func (r *Runner) research(ctx context.Context, run librarian.Run, adm admission, stop context.CancelCauseFunc) (librarian.Outcome, error) {
	out := librarian.Outcome{Model: adm.model.Name(), Thinking: string(adm.level)}
	gate := r.gate(run, adm.repo, adm.set)
	gate.Past, gate.Head = adm.past, headOf(run.Request.Place, adm.thread)
	gate.opened = r.opener(run.ID)
	if err := gate.takeOver(ctx); err != nil {
		return out, err
	}
	kit := r.o.Toolbox(gate)
	defer kit.Close()

	ledger := report.NewLedger()
	for _, end := range adm.past.Evidence {
		ledger.Replay(end)
	}
	results := report.NewResults(report.ResultsOptions{Ledger: ledger, Sources: kit.Sources, Tree: kit.Tree})
	tools, err := tool.NewCatalog(append(kit.Tools, results.Tool())...)
	if err != nil {
		return out, err
	}
	system, prompt, err := agent.Prompt(r.briefing(ctx, run, adm, gate), tools)
	if err != nil {
		return out, err
	}
	view := &trace{}
	progress := r.startProgress(ctx, run, view, out, stop)
	defer progress()

	res, err := agent.Run(ctx, agent.Options{
		Model: adm.model, Tools: tools, System: system, History: adm.past.Messages, Prompt: prompt, Thinking: adm.level, Limits: limits(adm.set.Limits),
		Now: r.o.Now, Log: r.o.Logger.With("run", string(run.ID)),
		Record: func(ctx context.Context, kind librarian.EventKind, data any) error {
			view.take(kind, data)
			if end, ok := data.(librarian.ToolEndData); ok {
				ledger.Replay(end)
			}
			return r.record(ctx, run.ID, kind, data)
		},
	})
	out.Usage, out.Calls, out.LastText = res.Usage, res.Calls, res.LastText
	found, ok := results.Findings()
	switch {
	case err != nil: // what was found so far is kept
		if ok {
			out.Findings = &found
		} else if f := report.Fallback(ledger, kit.Sources, ""); len(f.Locations) > 0 {
			out.Findings = &f
		}
		return out, err
	case res.End == agent.EndFindings:
		out.Kind, out.Findings = librarian.OutcomeFound, &found
		out.LastText = ""
	case res.End == agent.EndLimit:
		f := report.Fallback(ledger, kit.Sources, "Limit reached: "+res.Limit+". This is what was read until then; it was not put together into an answer.")
		out.Kind, out.Findings, out.Message = librarian.OutcomeLimit, &f, res.Limit
	default:
		f := report.Fallback(ledger, kit.Sources, "")
		out.Kind, out.Message = librarian.OutcomeFailed, agent.NoFindings
		if len(f.Locations) > 0 {
			out.Findings = &f
		}
	}
	return out, nil
}

func (r *Runner) gate(run librarian.Run, own librarian.Repo, set settings.Settings) *Gate {
	return &Gate{
		reader: r.reader(run.Request, own, set), Tokens: r.o.Tokens, Checkouts: r.o.Checkouts, Run: run.ID, GitHosts: r.o.GitHosts, Local: r.o.Local,
	}
}

func limits(l settings.Limits) agent.Limits {
	return agent.Limits{Steps: l.Steps, Time: l.Time, InputTokens: l.InputTokens, Cost: l.Cost}
}

// trace is the view of a run's log that progress and answer show: the calls that ended, and those under way.
type trace struct {
	mu      sync.Mutex
	ended   []librarian.ToolEndData
	running []librarian.ToolStartData
}

func (t *trace) take(kind librarian.EventKind, data any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch d := data.(type) {
	case librarian.ToolStartData:
		t.running = append(t.running, d)
	case librarian.ToolEndData:
		t.ended = append(t.ended, d)
		for i, s := range t.running {
			if s.CallID == d.CallID {
				t.running = append(t.running[:i:i], t.running[i+1:]...)
				break
			}
		}
	}
	_ = kind
}

func (t *trace) calls() (ended []librarian.ToolEndData, running []librarian.ToolStartData) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(ended, t.ended...), append(running, t.running...)
}

// history is what a run's log holds for its answer: the outcome, the calls of the attempt that reached it, and what was
// posted so far.
type history struct {
	outcome *librarian.Outcome
	calls   []librarian.ToolEndData
	posted  []librarian.PostedData
	opened  []librarian.RepoID // by any attempt
	votes   librarian.VotesData
	faults  string // of settings, to be told by the answer that is being posted; see digest
}

// history is what a run's log tells of it.
func (r *Runner) history(ctx context.Context, run librarian.Run) (history, error) {
	events, err := r.o.Log.Events(ctx, run.ID, 0)
	if err != nil {
		return history{}, fmt.Errorf("run: %w", err)
	}
	return readHistory(events, run.Attempt)
}

func readHistory(events []librarian.Event, attempt int) (history, error) {
	var h history
	for _, e := range events {
		var err error
		switch e.Kind {
		case librarian.EventOutcome:
			h.outcome = new(librarian.Outcome)
			err = json.Unmarshal(e.Data, h.outcome)
		case librarian.EventToolEnd:
			var d librarian.ToolEndData
			if err = json.Unmarshal(e.Data, &d); err == nil && e.Attempt == attempt {
				h.calls = append(h.calls, d)
			}
		case librarian.EventPosted:
			var d librarian.PostedData
			err = json.Unmarshal(e.Data, &d)
			h.posted = append(h.posted, d)
		case librarian.EventOpened:
			var d librarian.OpenedData
			err = json.Unmarshal(e.Data, &d)
			h.opened = append(h.opened, d.Repo)
		case librarian.EventVotes:
			err = json.Unmarshal(e.Data, &h.votes)
		}
		if err != nil {
			return h, fmt.Errorf("run: event %d: %w", e.Seq, err)
		}
	}
	return h, nil
}

// comment is the comment that was last known for a role and part; 0: none.
func (h history) comment(role string, part int) int64 {
	var id int64
	n := 0
	for _, p := range h.posted {
		if p.Role != role || p.Part != part {
			continue
		}
		id = p.Comment
		if p.Deleted {
			id = 0
		}
		n++
	}
	return id
}
