package settings

import (
	"fmt"
	"strings"

	"github.com/librarian-app/librarian/librarian"
)

// Fault is something in a layer that was ignored, or made it count as the strictest. It repeats words of the file, so it is
// told only to who asks in a thread of a repository that the file holds for.
type Fault struct {
	Source  string // the file, as owner/name/path
	Line    int    // from 1; 0: the file as a whole
	Key     string // as in ask.public; empty: the file as a whole
	Message string
	Private bool // the file is in a private repository
}

// In is what may be said of a fault in a thread of that repository: others may be read by people who cannot read a private file
// (outside collaborators too), and are told none of its words.
func (f Fault) In(repo librarian.RepoName) Fault {
	if own := repo.String() + "/"; f.Private && !(len(f.Source) > len(own) && strings.EqualFold(f.Source[:len(own)], own)) {
		f.Key, f.Message = "", "there is a fault, which is told in full in that repository's own threads"
	}
	return f
}

// String is one line: file, line, key and what is wrong.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.Source)
	if f.Line > 0 {
		fmt.Fprintf(&b, ", line %d", f.Line)
	}
	if f.Key != "" {
		b.WriteString(", " + f.Key)
	}
	return b.String() + ": " + f.Message
}

// maxFaults bounds what is kept of one layer.
const maxFaults = 20

// faults gathers what is wrong with one layer.
type faults struct {
	source string
	lines  map[string]int // where a key stands
	all    []Fault
	access bool // one of them makes the access keys count as the strictest
}

// strictest is what a fault of access comes to; whoever asks would else not know why others are turned away.
const strictest = "until mended, only people with write permission may ask, and only this repository is read"

func (f *faults) add(line int, key, format string, args ...any) {
	top, _, _ := strings.Cut(key, ".")
	top, _, _ = strings.Cut(top, "[")
	message := fmt.Sprintf(format, args...)
	if !plain[top] {
		if !f.access {
			message += "; " + strictest
		}
		f.access = true
	}
	if len(f.all) < maxFaults {
		f.all = append(f.all, Fault{Source: f.source, Line: line, Key: key, Message: message})
	}
}

// ignored notes a value that is well-formed but counts for nothing: it would widen.
func (f *faults) ignored(key, message string) {
	if len(f.all) < maxFaults {
		f.all = append(f.all, Fault{Source: f.source, Line: f.line(key), Key: key, Message: message})
	}
}

func (f *faults) line(key string) int {
	for {
		if n := f.lines[key]; n > 0 {
			return n
		}
		i := strings.LastIndexAny(key, ".[")
		if i < 0 {
			return 0
		}
		key = key[:i]
	}
}

// plain are the keys that open nothing to anybody. A fault in any other, and in one that is not known, is a fault of access.
var plain = map[string]bool{"triggers": true, "models": true, "tools": true, "limits": true, "notify": true}

func shorten(s string) string {
	if len(s) <= 60 {
		return s
	}
	return strings.ToValidUTF8(s[:60], "") + "…"
}
