package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/librarian-app/librarian/librarian"
)

// StatusLine is one run of a thread.
type StatusLine struct {
	Run      librarian.RunID
	State    librarian.State
	Asker    string
	Question string
	Since    time.Duration // of one that is not over: since it was asked
	Calls    []librarian.ToolEndData
	Votes    librarian.VotesData // on its answer
}

// stateNames are what readers are told of the states: not what they are called in the log.
var stateNames = map[librarian.State]string{
	librarian.StateQueued:      "waiting for its turn",
	librarian.StateRunning:     "being worked on",
	librarian.StateVerified:    "about to be posted",
	librarian.StatePublished:   "answered",
	librarian.StateFailed:      "failed",
	librarian.StateCancelled:   "stopped",
	librarian.StateDeclined:    "declined",
	librarian.StateInterrupted: "interrupted",
}

// Status makes the comment that lists a thread's runs, the newest first.
func (c Comment) Status(lines []StatusLine) string {
	if len(lines) == 0 {
		return c.single("Nothing was asked in this thread so far.")
	}
	var out []string
	for _, l := range lines {
		s := fmt.Sprintf("- %s: %s, asked by %s", c.code(clip(firstLine(l.Question), 100)), cmp.Or(stateNames[l.State], string(l.State)), c.code(l.Asker))
		if l.Since > 0 {
			s += ", " + Took(l.Since) + " ago"
		}
		if n := len(l.Calls); n > 0 {
			s += ", " + plural(n, "tool call", "tool calls")
			if l.Since > 0 {
				last := l.Calls[n-1]
				s += ", the last " + c.code(clip(oneLine(last.Verb+" "+last.Subject), 80))
			}
		}
		if v := l.Votes; v.Up+v.Down > 0 {
			s += fmt.Sprintf(", 👍 %d 👎 %d", v.Up, v.Down)
		}
		out = append(out, s+" (run <code>"+string(l.Run)+"</code>)")
	}
	return c.single(strings.Join(out, "\n"))
}
