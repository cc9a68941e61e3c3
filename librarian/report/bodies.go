package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

// lastCalls is how many tool calls a progress comment, and the terminal's live view, show unfolded.
const lastCalls = 3

// Progress is how far a run has come.
type Progress struct {
	Question string
	Calls    []librarian.ToolEndData // all that ended
	Running  string                  // what is being done now, for example "grep prepareQuery"; may be empty
	Took     time.Duration           // so far
	Model    string
	Thinking string
}

// Progress makes the comment of a run that is still at work: the question's first line, the last calls, a footer, and the
// whole trace, folded.
func (c Comment) Progress(p Progress) string {
	blocks := []string{"**Looking into it:** " + c.code(clip(firstLine(p.Question), 200))}
	recent := p.Calls[max(0, len(p.Calls)-lastCalls):]
	lines := Trace(recent, c.Secrets)
	if p.Running != "" {
		lines = strings.TrimPrefix(lines+"\n"+clip(oneLine(p.Running), maxSubject)+" …", "\n")
	}
	if lines != "" {
		blocks = append(blocks, strings.Trim(Fence(Redact(lines, c.Secrets), "text"), "\n"))
	}
	footer := plural(len(p.Calls), "tool call", "tool calls") + " so far · " + Took(p.Took)
	if p.Model != "" {
		footer += " · " + ModelName(p.Model, p.Thinking)
	}
	stop := ""
	if slices.Contains(c.Commands, "stop") {
		stop = " · to stop it, comment " + c.code("@"+c.Bot+" stop")
	}
	blocks = append(blocks, fmt.Sprintf("<sub>%s · run <code>%s</code>%s</sub>", EscapeText(footer), c.Run, stop))
	if len(p.Calls) > lastCalls {
		blocks = append(blocks, c.folded(p.Calls))
	}
	return c.single(blocks...)
}

// Refusal makes a comment of the one line that says why a request was declined.
func (c Comment) Refusal(line string) string {
	return c.single(c.clean(oneLine(line)))
}

// Notice makes a comment of a host's sentence that ends a command, for example that one is not available yet.
func (c Comment) Notice(line string) string {
	return c.single(c.clean(oneLine(line)))
}

// Interrupted makes the comments of a run that the process died under for the last time. Found may be nil.
func (c Comment) Interrupted(found *librarian.Findings, trace []librarian.ToolEndData) []string {
	blocks := []string{"**Interrupted.** The process that worked on this stopped twice, and the run was given up. Ask again to start anew."}
	if found != nil && len(found.Locations) > 0 {
		blocks = append(blocks, "What was found so far:")
		blocks = append(blocks, c.findings(*found)...)
	}
	return c.parts(strings.Join(blocks, "\n\n"), c.tail(librarian.Outcome{Calls: len(trace), Took: total(trace)}, trace))
}

func total(trace []librarian.ToolEndData) (d time.Duration) {
	for _, e := range trace {
		d += e.Took
	}
	return d
}

// Help is what a help comment says of this installation.
type Help struct {
	Model   string // where code goes: the configured model
	WhoMay  string // a sentence on who may ask here; may be empty
	Reads   string // a sentence on what may be read; may be empty
	Version string
	// Settings are further sentences on what is in force here, and on what is left of the budgets.
	Settings []string
	Problems []string // faults of the settings files, told to who asks here
}

// Help makes the comment that says how to ask.
func (c Comment) Help(h Help) string {
	bot := "@" + c.Bot
	blocks := []string{
		"Ask me a question about code: mention me in a comment, for example " + c.code(bot+" where are webhooks verified?") +
			". I look it up in the repository and answer with links to the lines I read, pinned to a commit.",
		c.commandList(),
	}
	for _, s := range []string{h.WhoMay, h.Reads} {
		if s != "" {
			blocks = append(blocks, c.clean(oneLine(s)))
		}
	}
	if h.Model == Scout {
		blocks = append(blocks, "Answers come from "+c.code(Scout)+", a ranked code search without a language model; code stays on the server that runs me.")
	} else if h.Model != "" {
		blocks = append(blocks, "Questions and the code that is read go to the model "+c.code(h.Model)+".")
	}
	if len(h.Settings) > 0 {
		var lines []string
		for _, s := range h.Settings {
			lines = append(lines, "- "+c.clean(oneLine(s)))
		}
		blocks = append(blocks, strings.Join(lines, "\n"))
	}
	if c.Problems = h.Problems; len(c.Problems) > 0 {
		blocks = append(blocks, c.settings(len(c.Problems)))
	}
	if h.Version != "" {
		blocks = append(blocks, "<sub>librarian "+EscapeText(oneLine(h.Version))+"</sub>")
	}
	return c.single(blocks...)
}

// commandList says what can be asked for beside a question.
func (c Comment) commandList() string {
	var out strings.Builder
	out.WriteString("- " + c.code("@"+c.Bot+" help") + " shows this.")
	for _, o := range []struct{ command, args, does string }{
		{"stop", "", "stops what I am doing in this thread."},
		{"status", "", "says how far I am."},
		{"retry", "", "asks the last question again."},
		{"continue", " <run id> <question>", "asks on, with what an earlier run has read."},
		{"forget", "", "deletes all my answers to you in this thread, or to everybody if you administer the repository, and what I keep of them."},
	} {
		if slices.Contains(c.Commands, o.command) {
			out.WriteString("\n- " + c.code("@"+c.Bot+" "+o.command+o.args) + " " + o.does)
		}
	}
	return out.String()
}

// single makes one body. What it is made of is short by construction; should it not fit all the same, its last blocks go.
func (c Comment) single(blocks ...string) string {
	for len(blocks) > 1 && units(strings.Join(blocks, "\n\n")) > c.limit()-partReserve {
		blocks = blocks[:len(blocks)-1]
	}
	return strings.Join(blocks, "\n\n") + "\n"
}

// firstLine is the first line of a text that holds something.
func firstLine(s string) string {
	for line := range strings.Lines(strings.TrimSpace(s)) {
		return cmp.Or(oneLine(line), "…")
	}
	return ""
}
