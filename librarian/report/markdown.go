package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/librarian-app/librarian/librarian"
)

// Limits of what is posted, in UTF-16 units.
const (
	// MaxComment is kept below GitHub's 65,536 characters; the rest is room for the marker by which package comment
	// knows a comment again.
	MaxComment = 65_000
	// MaxParts is how many comments one answer may take; what is beyond them is cut, and that is said.
	MaxParts = 6

	maxTrace    = 12_000 // of the folded trace
	maxLastText = 4_000  // of the last words of a model whose run failed
	maxUnfolded = 3      // permalinks that GitHub unfolds to code; more would bury the answer
	partReserve = 200    // for the notes on parts
)

// Comment is what all comments of one run share. Its methods make bodies; whatever models or tools wrote is sanitised in
// them, and secrets redacted.
type Comment struct {
	Run     librarian.RunID
	Bot     string           // the App's slug, by which it is mentioned
	Asker   string           // the one login whose mention may stay live
	Repo    librarian.RepoID // the thread's repository; permalinks into it are unfolded
	Secrets []string         // exact values that must not be posted
	// Commands are those that work here beside help; only they are offered.
	Commands []string
	// Problems are faults of the repository's settings, told below an answer.
	Problems []string
	Limit    int // UTF-16 units a body may have; 0: MaxComment. Lower after GitHub called one too long
}

func (c Comment) limit() int {
	if c.Limit <= 0 || c.Limit > MaxComment {
		return MaxComment
	}
	return max(c.Limit, 3_000)
}

// clean makes Markdown that somebody else wrote fit to be posted.
func (c Comment) clean(md string) string {
	return Sanitize(md, Options{Asker: c.Asker, Secrets: c.Secrets})
}

// code shows a short text in code font, redacted.
func (c Comment) code(s string) string { return InlineCode(Redact(s, c.Secrets)) }

// Answer makes the comments that end a run, one or a few, for any outcome: found, limit, failed, cancelled. Trace is the
// run's ended tool calls.
func (c Comment) Answer(o librarian.Outcome, trace []librarian.ToolEndData) []string {
	var main []string
	switch {
	case o.Kind == librarian.OutcomeLimit && (o.Findings == nil || o.Message == "" || !strings.Contains(o.Findings.Summary, o.Message)):
		main = append(main, strings.TrimSpace("**Limit reached.** "+c.clean(oneLine(o.Message))))
	case o.Kind == librarian.OutcomeFailed:
		main = append(main, "**This question could not be answered.** "+c.clean(oneLine(cmp.Or(o.Message, "The run failed."))))
	case o.Kind == librarian.OutcomeCancelled:
		main = append(main, strings.TrimSpace("**Stopped.** "+c.clean(oneLine(o.Message))))
	}
	if o.Findings != nil {
		if o.Kind == librarian.OutcomeFailed || o.Kind == librarian.OutcomeCancelled {
			main = append(main, "What was found so far:")
		}
		main = append(main, c.findings(*o.Findings)...)
	}
	if last := strings.TrimSpace(o.LastText); last != "" && o.Kind != librarian.OutcomeFound {
		main = append(main, "The model's last words, not verified:", c.clean(cutWords(last, maxLastText)))
	}
	return c.parts(strings.Join(main, "\n\n"), c.tail(o, trace))
}

// findings are the blocks of an answer.
func (c Comment) findings(f librarian.Findings) []string {
	var out []string
	if f.Summary != "" {
		out = append(out, c.prose(f.Summary, f))
	}
	if len(f.Locations) > 0 {
		out = append(out, "**Locations**", c.locationList(f))
		out = append(out, c.unfolded(f.Locations)...)
	}
	if f.Description != "" {
		out = append(out, c.prose(f.Description, f))
	}
	if f.Dropped > 0 {
		out = append(out, "*"+droppedLine(f.Dropped)+"*")
	}
	return out
}

// prose is text of the model's, with links on the places in it that were verified. Text that would swallow what comes
// after it is shown as source.
func (c Comment) prose(md string, f librarian.Findings) string {
	md = linkMentions(c.clean(md), f.References, c.Asker)
	if slow(md) || !closed(md) {
		return strings.Trim(Fence(md, ""), "\n")
	}
	return md
}

func (c Comment) locationList(f librarian.Findings) string {
	label := labels(f.Locations)
	var b strings.Builder
	for i, l := range f.Locations {
		b.WriteString("- " + c.link(label[i], l))
		if note := oneLine(l.Note); note != "" {
			b.WriteString(" — " + oneLine(linkMentions(c.clean(note), f.References, c.Asker)))
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// link is a location's label, linked where it has a page, else path:lines@sha.
func (c Comment) link(label string, l librarian.Location) string {
	if url := Permalink(l); url != "" {
		return "[" + c.code(label) + "](" + url + ")"
	}
	return c.code(Pinned(l))
}

// unfolded are the bare permalinks into the thread's own repository, which GitHub shows as code: of the first, most
// important places.
func (c Comment) unfolded(locations []librarian.Location) []string {
	var out []string
	for _, l := range locations {
		if url := Permalink(l); url != "" && l.Start > 0 && l.Repo == c.Repo && len(out) < maxUnfolded {
			out = append(out, url)
		}
	}
	return out
}

// labels name locations so that no two repositories, and no two commits of one, look alike.
func labels(locations []librarian.Location) []string {
	repos := map[string]map[librarian.RepoID]bool{} // short name → repositories
	commits := map[librarian.RepoID]map[string]bool{}
	base := func(l librarian.Location) string { return l.Name[strings.LastIndexByte(l.Name, '/')+1:] }
	for _, l := range locations {
		if repos[base(l)] == nil {
			repos[base(l)] = map[librarian.RepoID]bool{}
		}
		repos[base(l)][l.Repo] = true
		if commits[l.Repo] == nil {
			commits[l.Repo] = map[string]bool{}
		}
		commits[l.Repo][l.SHA] = true
	}
	out := make([]string, len(locations))
	for i, l := range locations {
		out[i] = Label(l)
		if len(repos[base(l)]) > 1 {
			out[i] = repoPath(l.Name, l)
		}
		if len(commits[l.Repo]) > 1 {
			out[i] += " @ " + short(l.SHA)
		}
	}
	return out
}

// tail is what stands below every answer: the folded trace, what the run took, how to go on.
func (c Comment) tail(o librarian.Outcome, trace []librarian.ToolEndData) string {
	how := "To ask more, mention " + c.code("@"+c.Bot) + " again."
	if slices.Contains(c.Commands, "continue") {
		how = "To go on from here, comment " + c.code("@"+c.Bot+" continue "+string(c.Run)+" <question>") + "."
	}
	footer := fmt.Sprintf("<sub>%s · run <code>%s</code></sub>\n\n<sub>%s</sub>", EscapeText(Footer(o)), c.Run, how)
	if s := c.settings(maxProblems); s != "" {
		footer = s + "\n\n" + footer
	}
	if len(trace) == 0 {
		return footer
	}
	return c.folded(trace) + "\n\n" + footer
}

// maxProblems is how many faults of settings an answer tells; help tells all.
const maxProblems = 3

// settings tells the faults of settings files, at most so many of them.
func (c Comment) settings(most int) string {
	told := c.Problems[:min(len(c.Problems), most)]
	if len(told) == 0 {
		return ""
	}
	out := "**Settings:** " + c.clean(oneLine(told[0]))
	if len(told) > 1 {
		out = "**Settings:**\n"
		for _, p := range told {
			out += "\n- " + c.clean(oneLine(p))
		}
		if more := len(c.Problems) - len(told); more > 0 {
			out += "\n- and " + plural(more, "other", "others") + ", which " + c.code("@"+c.Bot+" help") + " lists"
		}
	}
	return out
}

// folded is the whole trace, folded up. The blank lines make GitHub render what is inside.
func (c Comment) folded(trace []librarian.ToolEndData) string {
	lines := Trace(trace, c.Secrets)
	if units(lines) > maxTrace {
		lines = middleOut(strings.Split(lines, "\n"), maxTrace)
	}
	return "<details>\n<summary>Trace: " + plural(len(trace), "tool call", "tool calls") + "</summary>\n\n" +
		strings.Trim(Fence(Redact(lines, c.Secrets), "text"), "\n") + "\n\n</details>"
}

// middleOut keeps the first and the last lines, together at most limit units.
func middleOut(lines []string, limit int) string {
	head, tail := 0, len(lines)
	for size := 0; head < tail; head++ {
		if size += units(lines[head]) + 1; size > limit/2 {
			break
		}
	}
	for size := 0; tail > head; tail-- {
		if size += units(lines[tail-1]) + 1; size > limit/2-40 {
			break
		}
	}
	return strings.Join(slices.Concat(lines[:head], []string{"… " + plural(tail-head, "call", "calls") + " left out …"}, lines[tail:]), "\n")
}

// parts makes bodies of main and tail. Nothing of main is lost but beyond MaxParts, and then the
// last part says how much.
func (c Comment) parts(main, tail string) []string {
	limit := c.limit() - partReserve
	var pieces []string
	if main = strings.Trim(main, "\n"); main == "" || units(main)+units(tail)+2 <= limit {
		pieces = []string{strings.Trim(main+"\n\n"+tail, "\n")}
	} else {
		if units(tail) > limit { // only where GitHub asked for something very short
			tail = tail[strings.LastIndex(tail, "<sub>"):]
		}
		pieces = pack(append(splitMarkdown(main, limit), tail), "\n\n", limit)
	}
	if over := len(pieces) - MaxParts; over > 0 {
		lost := 0
		for _, p := range pieces[MaxParts-1 : len(pieces)-1] {
			lost += units(p)
		}
		pieces = append(pieces[:MaxParts-1], "*The answer was cut here: "+plural(lost, "character", "characters")+" of it did not fit.*\n\n"+tail)
	}
	for i := range pieces {
		if i > 0 {
			pieces[i] = fmt.Sprintf("*Part %d of %d*\n\n", i+1, len(pieces)) + pieces[i]
		}
		if i+1 < len(pieces) {
			pieces[i] += fmt.Sprintf("\n\n*Part %d of %d; it goes on in the next comment.*", i+1, len(pieces))
		}
		pieces[i] += "\n"
	}
	return pieces
}

// cutWords keeps the first n characters, and says that there were more.
func cutWords(s string, n int) string {
	cut := clip(s, n)
	if cut == s {
		return s
	}
	return cut + "\n\n*(cut)*"
}
