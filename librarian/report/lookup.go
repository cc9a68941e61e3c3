package report

import (
	"strings"

	"github.com/librarian-app/librarian/librarian"
)

// Bounds of a look-up's comment.
const (
	maxLookupText  = 50_000 // UTF-16 units of a result
	maxLookupLinks = 20
)

// Lookup is the result of one tool that was called by hand, without a model.
type Lookup struct {
	Call      string // as it was asked: "grep acme/app needle"
	Text      string // what the tool said
	Failed    bool
	Locations []librarian.Location // of the lines that Text shows
	Trace     []librarian.ToolEndData
}

// Lookup makes the comments that show a look-up: the lines as they are, and pinned links to them.
func (c Comment) Lookup(l Lookup) []string {
	blocks := []string{c.code(clip(oneLine(l.Call), maxSubject))}
	text := Redact(l.Text, c.Secrets)
	if l.Failed {
		blocks = append(blocks, c.clean(oneLine(text)))
	} else {
		text, cut := wholeLines(text, maxLookupText)
		blocks = append(blocks, strings.Trim(Fence(text, "text"), "\n"))
		if cut {
			blocks = append(blocks, "The result was cut here: it is longer than a comment can be.")
		}
	}
	if n := len(l.Locations); n > 0 {
		var list []string
		shown := l.Locations[:min(n, maxLookupLinks)]
		for i, label := range labels(shown) {
			list = append(list, "- "+c.link(label, shown[i]))
		}
		if n > len(shown) {
			list = append(list, "- and "+plural(n-len(shown), "more place", "more places"))
		}
		blocks = append(blocks, strings.Join(list, "\n"))
	}
	return c.parts(strings.Join(blocks, "\n\n"), "")
}

// wholeLines keeps whole lines, together at most limit UTF-16 units.
func wholeLines(s string, limit int) (kept string, cut bool) {
	if units(s) <= limit {
		return s, false
	}
	var b strings.Builder
	n := 0
	for line := range strings.Lines(s) {
		if n += units(line); n > limit {
			break
		}
		b.WriteString(line)
	}
	return b.String(), true
}
