package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/librarian-app/librarian/librarian"
)

// The columns of a trace. A verb is padded to eight characters; the time stands two after the longest line, or after
// traceWidth characters where lines are printed one by one.
const (
	verbWidth  = 8
	traceWidth = 67
	maxSubject = 120 // characters of a subject, a summary and an error
)

// TraceLine is one tool call in one line: verb subject (result summary) time. A failed call shows its error instead of
// the summary. What has the shape of a secret is redacted.
func TraceLine(e librarian.ToolEndData) string {
	return alignTime(traceText(e, nil), traceWidth, e.Took)
}

// Trace is the lines of several calls, their times in one column. It holds what a model and tools wrote: put it in a
// fence. Secrets are redacted before the columns are set: by their shapes, and these exact values.
func Trace(calls []librarian.ToolEndData, secrets []string) string {
	width := 0
	texts := make([]string, len(calls))
	for i, e := range calls {
		texts[i] = traceText(e, secrets)
		width = max(width, min(utf8.RuneCountInString(texts[i]), maxSubject))
	}
	for i, e := range calls {
		texts[i] = alignTime(texts[i], width, e.Took)
	}
	return strings.Join(texts, "\n")
}

func traceText(e librarian.ToolEndData, secrets []string) string {
	field := func(s string, n int) string { return clip(Redact(oneLine(s), secrets), n) } // half of a secret would not be known
	text := fmt.Sprintf("%-*s  %s", verbWidth, field(cmp.Or(e.Verb, e.Tool, "?"), 20), field(e.Subject, maxSubject))
	summary := field(e.Summary, maxSubject)
	if e.IsError && summary == "" {
		summary = "failed"
	}
	if summary != "" {
		text = strings.TrimRight(text, " ") + " (" + summary + ")"
	}
	return strings.TrimRight(text, " ")
}

func alignTime(text string, width int, took time.Duration) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text))+2) + Took(took)
}

// Took writes a duration as people read it: 0.3s, 34.2s, 2m05s.
func Took(d time.Duration) string {
	if d = max(d, 0); d.Round(100*time.Millisecond) < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	d = d.Round(time.Second)
	if d < time.Hour {
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// Footer sums a run up: tool calls, time, model, tokens, cost. The run's id is added by who knows how to show it.
func Footer(o librarian.Outcome) string {
	parts := []string{plural(o.Calls, "tool call", "tool calls"), Took(o.Took)}
	if o.Model != "" {
		parts = append(parts, ModelName(o.Model, o.Thinking))
	}
	u := o.Usage
	if n := u.InputTokens + u.CacheReadTokens + u.CacheWriteTokens + u.OutputTokens; n > 0 {
		parts = append(parts, tokens(n))
	}
	if u.Cost != nil {
		parts = append(parts, cost(*u.Cost))
	}
	return strings.Join(parts, " · ")
}

// Scout is the model that needs no key.
const Scout = "builtin/scout"

// ModelName is a model and how hard it thought. Of scout it says what it is, lest its answer be read as a language model's.
func ModelName(model, thinking string) string {
	if model == Scout {
		return Scout + " (ranked search, no language model)"
	}
	if thinking == "" || thinking == "off" {
		return model
	}
	return model + " (" + thinking + ")"
}

func tokens(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM tokens", float64(n)/1e6)
	case n >= 1_000:
		return fmt.Sprintf("%.1fk tokens", float64(n)/1e3)
	default:
		return plural(int(n), "token", "tokens")
	}
}

func cost(dollars float64) string {
	if dollars < 0.01 {
		return fmt.Sprintf("$%.4f", dollars)
	}
	return fmt.Sprintf("$%.2f", dollars)
}
