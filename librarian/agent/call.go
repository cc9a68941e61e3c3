package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/tool"
)

// repeat counts a call that gave the same result each time.
type repeat struct {
	text  string
	times int
}

// call carries out the calls of one turn, research first and at most Limits.Parallel at once, then provide_results, and
// gives the message that answers all of them, in their order. done says that provide_results was accepted.
func (l *loop) call(ctx context.Context, calls []model.Part) (answer model.Message, done bool, err error) {
	only := l.finishing()
	parts := make([]model.Part, len(calls))
	errs := make([]error, len(calls))
	slots := make(chan struct{}, l.o.Limits.Parallel)
	var wg sync.WaitGroup
	for i, c := range calls {
		if c.Tool == tool.ProvideResults {
			continue
		}
		if only != "" {
			parts[i] = resultPart(c, tool.Errorf("Not carried out (%s). Only provide_results is accepted now; call it with what you have read.", only))
			l.result.Calls++
			if err := l.refuse(ctx, c, "not carried out: "+only); err != nil {
				return model.Message{}, false, err
			}
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			var r tool.Result
			r, errs[i] = l.one(ctx, c)
			parts[i] = resultPart(c, r)
		})
		l.result.Calls++
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return model.Message{}, false, err
	}
	for i, c := range calls {
		if c.Tool != tool.ProvideResults {
			continue
		}
		r, err := l.one(ctx, c)
		if err != nil {
			return model.Message{}, false, err
		}
		parts[i] = resultPart(c, r)
		done = done || r.Done
		l.result.Calls++
	}
	if b := l.budget(); b != "" && !done {
		for i := range parts {
			parts[i].Text += "\n\n" + b
		}
	}
	return model.Message{V: model.Version, Role: model.User, Parts: parts}, done, nil
}

func resultPart(c model.Part, r tool.Result) model.Part {
	return model.Part{Kind: model.ToolResult, CallID: c.CallID, Tool: c.Tool, Text: r.Text, IsError: r.IsError, Data: r.Data}
}

// refuse records a call that was not carried out.
func (l *loop) refuse(ctx context.Context, c model.Part, why string) error {
	end := librarian.ToolEndData{CallID: c.CallID, Tool: c.Tool, Verb: c.Tool, Summary: why, IsError: true}
	if t, ok := l.tools.Get(c.Tool); ok {
		end.Verb, end.Subject = t.Trace(c.Args)
	}
	return l.o.Record(ctx, librarian.EventToolEnd, end)
}

// one carries out a single call. A panic or a time-out of the tool is a result that the model can react to; a Go error
// breaks the run.
func (l *loop) one(ctx context.Context, c model.Part) (tool.Result, error) {
	t, ok := l.tools.Get(c.Tool)
	if !ok {
		r := tool.Errorf("There is no tool %q. The tools are: %s.", c.Tool, l.names())
		return r, l.refuse(ctx, c, "there is no such tool")
	}
	if c.BadArgs != "" {
		r := tool.Errorf("The arguments of %s are not valid JSON: call it again with a JSON object.", c.Tool)
		return r, l.refuse(ctx, c, "the arguments are not JSON")
	}
	verb, subject := t.Trace(c.Args)
	if err := l.o.Record(ctx, librarian.EventToolStart, librarian.ToolStartData{CallID: c.CallID, Tool: c.Tool, Verb: verb, Subject: subject}); err != nil {
		return tool.Result{}, err
	}
	began := l.o.Now()
	r, err := l.guarded(ctx, t, c)
	if err != nil {
		return tool.Result{}, fmt.Errorf("agent: tool %s: %w", c.Tool, err)
	}
	end := librarian.ToolEndData{CallID: c.CallID, Tool: c.Tool, Verb: verb, Subject: subject, Summary: r.Summary, IsError: r.IsError, Took: l.o.Now().Sub(began)}
	if r.Subject != "" {
		end.Subject = r.Subject
	}
	if r.IsError && r.Summary == "" {
		end.Summary = firstLine(r.Text)
	}
	if len(r.Evidence) > 0 {
		l.mu.Lock()
		for _, e := range r.Evidence {
			l.shown[c.CallID] = append(l.shown[c.CallID], e.Path)
		}
		l.mu.Unlock()
	}
	for _, e := range r.Evidence {
		end.Evidence = append(end.Evidence, librarian.Evidence{Repo: librarian.RepoID(e.Repo), Name: e.Name, SHA: e.SHA, Path: e.Path, Start: e.Start, End: e.End})
	}
	return r, l.o.Record(ctx, librarian.EventToolEnd, end)
}

// guarded calls the tool unless the very same call gave the very same result twice before.
func (l *loop) guarded(ctx context.Context, t tool.Tool, c model.Part) (tool.Result, error) {
	key := c.Tool + "\x00" + canonical(c.Args)
	l.mu.Lock()
	r := l.seen[key]
	if r != nil && r.times >= 2 && c.Tool != tool.ProvideResults {
		l.mu.Unlock()
		return tool.Errorf("This very call was made twice and gave the same result both times; it is not repeated. Change the arguments, use another tool, or call provide_results."), nil
	}
	l.mu.Unlock()
	res, err := l.bounded(ctx, t, c.Args)
	if err != nil {
		return res, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if r = l.seen[key]; r == nil || r.text != res.Text {
		r = &repeat{text: res.Text}
		l.seen[key] = r
	}
	r.times++
	return res, nil
}

// bounded calls the tool within its time, in a goroutine of its own so that one that does not listen to its context
// cannot hold the run.
func (l *loop) bounded(ctx context.Context, t tool.Tool, args json.RawMessage) (tool.Result, error) {
	limit := l.o.Limits.ToolTime
	tctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	type outcome struct {
		r   tool.Result
		err error
	}
	ch := make(chan outcome, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				l.o.Log.Error("a tool panicked", "tool", t.Spec().Name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				ch <- outcome{r: tool.Errorf("%s broke on this call. Try other arguments or another tool.", t.Spec().Name)}
			}
		}()
		r, err := t.Call(tctx, args)
		ch <- outcome{r, err}
	}()
	select {
	case out := <-ch:
		if out.err != nil && ctx.Err() != nil {
			return tool.Result{}, context.Cause(ctx)
		}
		if out.err != nil && errors.Is(tctx.Err(), context.DeadlineExceeded) {
			return timedOut(t, limit), nil
		}
		return out.r, out.err
	case <-tctx.Done():
		if ctx.Err() != nil {
			return tool.Result{}, context.Cause(ctx)
		}
		return timedOut(t, limit), nil
	}
}

func timedOut(t tool.Tool, limit time.Duration) tool.Result {
	return tool.Errorf("%s took longer than %s and was stopped. Narrow the call (a path, a glob, a range) or try another tool.", t.Spec().Name, limit)
}

func (l *loop) names() string {
	var s strings.Builder
	for i, spec := range l.specs {
		if i > 0 {
			s.WriteString(", ")
		}
		s.WriteString(spec.Name)
	}
	return s.String()
}

// canonical makes equal arguments equal strings, whatever the order of their keys.
func canonical(args json.RawMessage) string {
	var v any
	if json.Unmarshal(args, &v) != nil {
		return string(args)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return string(args)
	}
	return string(out)
}

func firstLine(s string) string {
	for i := range len(s) {
		if s[i] == '\n' {
			return s[:i]
		}
	}
	return s
}
