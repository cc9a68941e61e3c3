package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/tool"
)

// Limits of provide_results, in characters unless said otherwise. The schema states them.
const (
	MaxRefusals    = 2 // calls with bad references that are sent back; after that the references are dropped
	MaxLocations   = 50
	MaxSummary     = 1_000
	MaxSentences   = 3 // of the summary; what is beyond them opens the description
	MaxNote        = 500
	MaxDescription = 200_000

	maxProseMentions = 500 // distinct path:line mentions that are looked up in one call
	maxProblemsTold  = 30
	maxPasses        = 20
)

// ResultsOptions is what provide_results checks against.
type ResultsOptions struct {
	Ledger  *Ledger
	Sources Sources
	Tree    Tree
}

// Results is the tool provide_results and the findings it was given. It belongs to one run and may be used by several
// goroutines at once.
type Results struct {
	o ResultsOptions

	mu       sync.Mutex
	refusals int
	accepted *librarian.Findings
}

// NewResults makes the tool of one run.
func NewResults(o ResultsOptions) *Results {
	return &Results{o: o}
}

// Findings gives the findings of the last accepted call; ok is false when there was none.
func (r *Results) Findings() (f librarian.Findings, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.accepted == nil {
		return librarian.Findings{}, false
	}
	return *r.accepted, true
}

type resultsArgs struct {
	Summary     string         `json:"summary" jsonschema:"1 to 3 sentences that answer the question directly; at most 1000 characters. If the question could not be answered, say so here."`
	Locations   []locationArgs `json:"locations" jsonschema:"the places in the code that bear the answer out, the most important first; at most 50; may be empty"`
	Description string         `json:"description,omitempty" jsonschema:"Markdown with the details, where they help; at most 200000 characters. No links: mention places as path:line, they are checked and linked."`
}

type locationArgs struct {
	Repo  string    `json:"repo" jsonschema:"the repository, by the name that checkout_repo gave it"`
	File  string    `json:"file" jsonschema:"path from the repository's root, spelt as in the tree"`
	Lines linesText `json:"lines,omitempty" jsonschema:"\"80-140\" or \"42\": lines that were shown to you in this run; leave out for the whole file"`
	Note  string    `json:"note" jsonschema:"what is to be seen there, in one line; at most 500 characters. A line quoted in backticks must stand in the file."`
}

// linesText takes 42 for "42", which models write.
type linesText string

func (l *linesText) UnmarshalJSON(raw []byte) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] >= '0' && raw[0] <= '9' {
		*l = linesText(raw)
		return nil
	}
	var s *string
	if err := json.Unmarshal(raw, &s); err != nil {
		return errors.New(`lines must be a string such as "80-140" or "42"`)
	}
	if s != nil {
		*l = linesText(*s)
	}
	return nil
}

// Tool is provide_results.
func (r *Results) Tool() tool.Tool {
	return tool.New(tool.Definition[resultsArgs]{
		Name: tool.ProvideResults,
		Description: "Give the answer and end the run. Every location, and every path:line in summary and description, is checked: " +
			"the file must be in the commit that was read, and the lines among those that read, read_enclosing or grep showed you. " +
			"If something is wrong the call is refused with what to mend; call it again with the whole answer.",
		Effect:  tool.Finish,
		Verb:    "results",
		Subject: func(a resultsArgs) string { return plural(len(a.Locations), "location", "locations") },
		Run:     r.provide,
		Refine: func(s *jsonschema.Schema) {
			one, loc := 1, s.Properties["locations"]
			s.Properties["summary"].MinLength, s.Properties["summary"].MaxLength = &one, new(MaxSummary)
			s.Properties["description"].MaxLength = new(MaxDescription)
			loc.Types, loc.Type, loc.MaxItems = nil, "array", new(MaxLocations)
			loc.Items.Properties["file"].MinLength = &one
			loc.Items.Properties["note"].MaxLength = new(MaxNote)
		},
	})
}

// draft is an answer in the making: what holds of a call, and what is wrong with the rest.
type draft struct {
	check    checker
	findings librarian.Findings
	problems []string
}

func (d *draft) wrong(where, problem string) {
	d.problems = append(d.problems, where+": "+problem)
}

func (r *Results) provide(ctx context.Context, a resultsArgs) (tool.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	d := draft{check: checker{ledger: r.o.Ledger, sources: r.o.Sources, tree: remember(r.o.Tree)}}
	d.text(a)
	if err := d.locations(ctx, a.Locations); err != nil {
		return tool.Result{}, err
	}
	if err := d.prose(ctx); err != nil {
		return tool.Result{}, err
	}
	if len(d.problems) > 0 && r.refusals < MaxRefusals {
		r.refusals++
		return tool.Result{Text: refusal(r.refusals, d.problems), IsError: true, Summary: "refused: " + plural(len(d.problems), "fault", "faults")}, nil
	}
	if d.findings.Summary == "" {
		d.findings.Summary = "The run ended without a summary."
	}
	r.accepted = &d.findings
	res := tool.Result{
		Text:    "Accepted: " + plural(len(d.findings.Locations), "location", "locations") + ". The run ends here.",
		Subject: plural(len(d.findings.Locations), "location", "locations"),
		Done:    true,
	}
	if d.findings.Dropped > 0 {
		res.Summary = fmt.Sprintf("%d dropped", d.findings.Dropped)
		res.Text += " " + droppedLine(d.findings.Dropped)
	}
	return res, nil
}

func refusal(n int, problems []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Refused (%d of at most %d times): %s.\nMend this and call provide_results again with the whole answer:\n", n, MaxRefusals, plural(len(problems), "fault", "faults"))
	for i, p := range problems {
		if i == maxProblemsTold {
			fmt.Fprintf(&b, "- and %d more\n", len(problems)-i)
			break
		}
		b.WriteString("- " + clip(oneLine(p), 600) + "\n")
	}
	if n == MaxRefusals {
		b.WriteString("What is wrong in the next call is dropped from the answer.")
	} else {
		b.WriteString("Read a file again if you need other lines of it; leave out what you cannot show.")
	}
	return b.String()
}

// text takes summary and description over, within their limits. A summary that is too long is not worth another turn:
// what is beyond its three sentences opens the description.
func (d *draft) text(a resultsArgs) {
	f := &d.findings
	summary, rest := splitSummary(strings.TrimSpace(strings.ToValidUTF8(a.Summary, "\uFFFD")))
	if utf8.RuneCountInString(summary) > MaxSummary {
		d.wrong("summary", fmt.Sprintf("is longer than %d characters; shorten it and move details to description.", MaxSummary))
		rest = strings.TrimSpace(summary + "\n\n" + rest)
		summary = clip(summary, MaxSummary)
	}
	if summary == "" {
		d.wrong("summary", "is empty; answer in 1 to 3 sentences, or say that the question could not be answered.")
	}
	f.Summary = summary
	f.Description = strings.TrimSpace(rest + "\n\n" + strings.ToValidUTF8(a.Description, "\uFFFD"))
	if n := utf8.RuneCountInString(f.Description); n > MaxDescription {
		d.wrong("description", fmt.Sprintf("has %s characters; at most %s are taken.", grouped(int64(n)), grouped(MaxDescription)))
		f.Description = cutMarkdown(f.Description, MaxDescription-100) + "\n\n" + leftOut(n-MaxDescription)
	}
}

func (d *draft) locations(ctx context.Context, args []locationArgs) error {
	f := &d.findings
	f.Locations = []librarian.Location{}
	for i, a := range args {
		where := fmt.Sprintf("locations[%d]", i)
		if i == MaxLocations {
			d.wrong("locations", fmt.Sprintf("are %d; at most %d are taken.", len(args), MaxLocations))
			f.Dropped += len(args) - i
			break
		}
		note := oneLine(a.Note)
		if utf8.RuneCountInString(note) > MaxNote {
			d.wrong(where, fmt.Sprintf("the note is longer than %d characters.", MaxNote))
			note = clip(note, MaxNote)
		}
		found, problem, err := d.check.check(ctx, claim{repo: a.Repo, file: a.File, lines: string(a.Lines), note: note})
		if err != nil {
			return err
		}
		if problem != "" {
			d.wrong(where, problem)
			f.Dropped++
		}
		for _, l := range found {
			if problem != "" { // the place holds, its note does not
				l.Note = ""
			}
			f.Locations = appendLocation(f.Locations, l)
		}
	}
	return nil
}

// appendLocation adds l unless the same lines are there already; of two notes on one place both are kept.
func appendLocation(to []librarian.Location, l librarian.Location) []librarian.Location {
	i := slices.IndexFunc(to, func(o librarian.Location) bool { return samePlace(o, l) })
	if i < 0 {
		return append(to, l)
	}
	if l.Note != "" && !strings.Contains(to[i].Note, l.Note) {
		to[i].Note = clip(strings.TrimPrefix(to[i].Note+"; "+l.Note, "; "), MaxNote)
	}
	return to
}

func samePlace(a, b librarian.Location) bool {
	return a.Repo == b.Repo && a.SHA == b.SHA && a.Path == b.Path && a.Start == b.Start && a.End == b.End
}

// prose checks what summary, description and notes mention as path:line. The numbers of what does not hold are taken
// out, which matters only once the call is no longer refused.
func (d *draft) prose(ctx context.Context) error {
	f := &d.findings
	cited := f.Locations
	known := map[string]bool{} // mention → holds
	pass := func(where, text string) (string, error) {
		var b strings.Builder
		at := 0
		for _, m := range scanMentions(text) {
			key := m.spaced + "\x00" + m.path + "\x00" + m.lines.String()
			holds, seen := known[key]
			if !seen {
				loc, problem, isPlace, err := d.mention(ctx, m, cited, len(known))
				if err != nil {
					return "", err
				}
				holds = !isPlace || problem == ""
				known[key] = holds
				switch {
				case !holds:
					d.wrong(fmt.Sprintf("%s, %q", where, clip(oneLine(text[m.start:m.end]), 200)), problem)
					f.Dropped++
				case isPlace:
					f.References = appendLocation(f.References, loc)
				}
			}
			if !holds {
				b.WriteString(text[at:m.cutFrom])
				at = m.cutTo
			}
		}
		return b.String() + text[at:], nil
	}
	clean := func(where, text string) (string, error) {
		for range maxPasses {
			out, err := pass(where, text)
			if err != nil || out == text {
				return out, err
			}
			text = out // what is left may read as another place
		}
		return "*(left out: its references could not be verified)*", nil
	}
	var err error
	if f.Summary, err = clean("summary", f.Summary); err != nil {
		return err
	}
	if f.Description, err = clean("description", f.Description); err != nil {
		return err
	}
	for i := range f.Locations {
		if f.Locations[i].Note, err = clean(fmt.Sprintf("note of %s", Label(f.Locations[i])), f.Locations[i].Note); err != nil {
			return err
		}
	}
	return nil
}

func (d *draft) mention(ctx context.Context, m mention, cited []librarian.Location, seen int) (librarian.Location, string, bool, error) {
	if seen >= maxProseMentions {
		if looksLikePath(m.path) {
			return librarian.Location{}, fmt.Sprintf("more than %d places are mentioned; the rest is not checked.", maxProseMentions), true, nil
		}
		return librarian.Location{}, "", false, nil
	}
	return d.check.resolve(ctx, m, cited)
}

// splitSummary parts a summary after its first paragraph or its third sentence, whichever comes first.
func splitSummary(s string) (summary, rest string) {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if head, tail, ok := strings.Cut(s, "\n\n"); ok {
		s, rest = strings.TrimSpace(head), strings.TrimSpace(tail)
	}
	sentences, code := 0, false
	for i := range len(s) {
		if s[i] == '`' {
			code = !code
		}
		if code || !endsSentence(s, i) {
			continue
		}
		if sentences++; sentences == MaxSentences {
			more := strings.TrimSpace(s[i+1:])
			return s[:i+1], strings.TrimSpace(more + "\n\n" + rest)
		}
	}
	return s, rest
}

// endsSentence is careful: a mark that is followed by white space and a capital, a digit or code, and that does not
// belong to an abbreviation.
func endsSentence(s string, i int) bool {
	if !strings.ContainsRune(".!?", rune(s[i])) || i+2 >= len(s) || (s[i+1] != ' ' && s[i+1] != '\n') {
		return false
	}
	if c := s[i+2]; (c < 'A' || c > 'Z') && c != '`' && c < utf8.RuneSelf {
		return false
	}
	words := strings.Fields(s[max(0, i-12) : i+1])
	last := strings.ToLower(strings.TrimLeft(words[len(words)-1], "(\"'"))
	return !slices.Contains([]string{"e.g.", "i.e.", "etc.", "vs.", "cf.", "resp.", "approx.", "no.", "fig."}, last)
}

func droppedLine(n int) string {
	return plural(n, "reference", "references") + " could not be verified."
}

func leftOut(n int) string {
	return "*(" + plural(n, "more character was", "more characters were") + " left out.)*"
}
