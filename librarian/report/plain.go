package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/librarian-app/librarian/librarian"
)

// Plain is an outcome for a terminal: text without markup of ours, and without control characters of anybody's. It ends
// in a newline. Secrets are exact values that must not be shown.
func Plain(run librarian.RunID, o librarian.Outcome, secrets []string) string {
	var b strings.Builder
	block := func(s string) {
		if s = strings.TrimSpace(s); s == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(s)
	}
	if o.Kind != librarian.OutcomeFound && (o.Findings == nil || o.Message == "" || !strings.Contains(o.Findings.Summary, o.Message)) {
		block(endWords(o))
	}
	if f := o.Findings; f != nil {
		block(f.Summary)
		if len(f.Locations) > 0 {
			block("Locations\n" + plainLocations(f.Locations))
		}
		block(f.Description)
		if f.Dropped > 0 {
			block(droppedLine(f.Dropped))
		}
	}
	if o.Kind != librarian.OutcomeFound && o.LastText != "" {
		block("The model's last words, not verified:\n" + cutWords(strings.TrimSpace(o.LastText), maxLastText))
	}
	block(Footer(o) + " · run " + string(run))
	return Redact(printable(b.String()), secrets) + "\n"
}

// endWords is the headline of an outcome other than found.
func endWords(o librarian.Outcome) string {
	switch o.Kind {
	case librarian.OutcomeLimit:
		return "Limit reached. " + o.Message
	case librarian.OutcomeCancelled:
		return strings.TrimSpace("Stopped. " + o.Message)
	default:
		return cmp.Or(o.Message, "The run failed.")
	}
}

func plainLocations(locations []librarian.Location) string {
	label := labels(locations)
	var b strings.Builder
	for i, l := range locations {
		fmt.Fprintf(&b, "  %s", label[i])
		if note := oneLine(l.Note); note != "" {
			b.WriteString("  " + note)
		}
		b.WriteString("\n    " + cmp.Or(Permalink(l), Pinned(l)) + "\n")
	}
	return b.String()
}

// Answer is an outcome for programs: what --json prints. Fields are only ever added.
type Answer struct {
	Run         librarian.RunID       `json:"run"`
	Outcome     librarian.OutcomeKind `json:"outcome"`
	Message     string                `json:"message,omitempty"`
	Summary     string                `json:"summary"`
	Locations   []AnswerLocation      `json:"locations"`
	References  []AnswerLocation      `json:"references,omitempty"` // mentioned in summary and description
	Description string                `json:"description,omitempty"`
	Dropped     int                   `json:"dropped,omitempty"`
	LastText    string                `json:"last_text,omitempty"`
	Model       string                `json:"model"`
	Thinking    string                `json:"thinking,omitempty"`
	Calls       int                   `json:"tool_calls"`
	TookMS      int64                 `json:"took_ms"`
	Usage       librarian.Usage       `json:"usage"`
	Trace       []string              `json:"trace,omitempty"`
}

// AnswerLocation is a place of an [Answer]. Start and End count from 1; both are 0 for a whole file.
type AnswerLocation struct {
	Repo  string `json:"repo"` // owner/name
	SHA   string `json:"sha"`
	File  string `json:"file"`
	Start int    `json:"start,omitempty"`
	End   int    `json:"end,omitempty"`
	Note  string `json:"note,omitempty"`
	URL   string `json:"url,omitempty"`
}

// NewAnswer makes the answer for programs. Secrets are exact values that must not be shown.
func NewAnswer(run librarian.RunID, o librarian.Outcome, trace []librarian.ToolEndData, secrets []string) Answer {
	red := func(s string) string { return Redact(s, secrets) }
	a := Answer{
		Run: run, Outcome: o.Kind, Message: red(o.Message), LastText: red(o.LastText), Locations: []AnswerLocation{},
		Model: o.Model, Thinking: o.Thinking, Calls: o.Calls, TookMS: o.Took.Milliseconds(), Usage: o.Usage,
	}
	for _, e := range trace {
		a.Trace = append(a.Trace, red(TraceLine(e)))
	}
	if f := o.Findings; f != nil {
		a.Summary, a.Description, a.Dropped = red(f.Summary), red(f.Description), f.Dropped
		for _, l := range f.Locations {
			a.Locations = append(a.Locations, answerLocation(l, red))
		}
		for _, l := range f.References {
			a.References = append(a.References, answerLocation(l, red))
		}
	}
	return a
}

func answerLocation(l librarian.Location, red func(string) string) AnswerLocation {
	return AnswerLocation{Repo: l.Name, SHA: l.SHA, File: l.Path, Start: l.Start, End: l.End, Note: red(l.Note), URL: Permalink(l)}
}

// JSON is the answer as one indented document that ends in a newline.
func (a Answer) JSON() ([]byte, error) {
	out, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("report: encode answer: %w", err)
	}
	return append(out, '\n'), nil
}
