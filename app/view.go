package app

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/report"
)

const (
	viewCalls = 3                      // calls shown at a time
	viewEach  = 100 * time.Millisecond // how often timers move
)

// view shows a run as it goes on and keeps what the answer shows. Plain, it prints a line for each call that ended. Live, it
// shows the last calls with running timers and a footer, drawn over and over in the same place, and leaves nothing behind.
type view struct {
	out   io.Writer  // nil: nothing is shown
	width func() int // columns of the terminal; nil: plain
	now   func() time.Time

	mu      sync.Mutex
	began   time.Time
	model   string
	running []runningCall
	ended   []librarian.ToolEndData
	end     *librarian.Outcome
	drawn   int           // lines on the screen
	stop    chan struct{} // of the timers; nil: they are not running
	stopped sync.WaitGroup
}

type runningCall struct {
	librarian.ToolStartData
	at time.Time
}

// take is told each event of the run.
func (v *view) take(_ librarian.RunID, _ librarian.EventKind, data any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch d := data.(type) {
	case librarian.AdmittedData:
		v.model = d.Model
		v.start()
	case librarian.ToolStartData:
		v.running = append(v.running, runningCall{d, v.now()})
	case librarian.ToolEndData:
		for i, r := range v.running {
			if r.CallID == d.CallID {
				v.running = append(v.running[:i:i], v.running[i+1:]...)
				break
			}
		}
		v.ended = append(v.ended, d)
		if v.out != nil && v.width == nil {
			_, _ = fmt.Fprintln(v.out, strings.Map(printable, report.Redact(report.TraceLine(d), nil)))
		}
	case librarian.Outcome:
		v.end = &d
	default:
		return
	}
	v.draw()
}

// start sets the timers going, on a live view.
func (v *view) start() {
	if v.out == nil || v.width == nil || v.stop != nil {
		return
	}
	v.began, v.stop = v.now(), make(chan struct{})
	v.stopped.Go(func() {
		tick := time.NewTicker(viewEach)
		defer tick.Stop()
		for {
			select {
			case <-v.stop:
				return
			case <-tick.C:
				v.mu.Lock()
				v.draw()
				v.mu.Unlock()
			}
		}
	})
}

// close takes a live view off the screen. It may be called twice.
func (v *view) close() {
	v.mu.Lock()
	stop := v.stop
	v.stop = nil
	if stop != nil {
		close(stop)
		_, _ = io.WriteString(v.out, v.erase())
		v.width = nil
		v.out = nil
	}
	v.mu.Unlock()
	v.stopped.Wait()
}

// erase goes back to where the view begins and clears what is below (ECMA-48: cursor up, erase in display).
func (v *view) erase() string {
	if v.drawn == 0 {
		return ""
	}
	s := fmt.Sprintf("\x1b[%dA\r\x1b[J", v.drawn)
	v.drawn = 0
	return s
}

// draw puts the newest state on the screen, in one write so that nothing flickers.
func (v *view) draw() {
	if v.stop == nil {
		return
	}
	lines := v.lines(max(v.width()-1, 20))
	text := v.erase() + strings.Join(lines, "\n") + "\n"
	v.drawn = len(lines)
	_, _ = io.WriteString(v.out, text)
}

// lines are the last calls, those that ended before those under way, and the footer, each at most width characters.
func (v *view) lines(width int) []string {
	now := v.now()
	var calls []librarian.ToolEndData
	calls = append(calls, v.ended...)
	for _, r := range v.running {
		calls = append(calls, librarian.ToolEndData{Tool: r.Tool, Verb: r.Verb, Subject: r.Subject, Summary: "…", Took: now.Sub(r.at)})
	}
	var out []string
	for _, c := range calls[max(len(calls)-viewCalls, 0):] {
		out = append(out, clipTo(strings.Map(printable, report.Redact(report.TraceLine(c), nil)), width))
	}
	n := len(v.ended)
	what := "tool calls"
	if n == 1 {
		what = "tool call"
	}
	foot := fmt.Sprintf("%d %s · %s", n, what, report.Took(now.Sub(v.began)))
	if v.model != "" {
		foot += " · " + v.model
	}
	if len(v.running) == 0 && v.end == nil {
		foot += " · thinking"
	}
	if r := []rune(foot + " · Ctrl-C stops"); len(r) > width {
		foot = string(r[:width])
	} else {
		foot = string(r)
	}
	return append(out, foot)
}

// clipTo makes a trace line fit: first the blanks before the time go, then the end of what is before them.
func clipTo(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	at := strings.LastIndex(s, "  ")
	if at < 0 {
		return string([]rune(s)[:width])
	}
	head, took := []rune(strings.TrimRight(s[:at+1], " ")), s[at+1:]
	room := width - utf8.RuneCountInString(took) - 1
	if len(head) > room {
		return string(head[:room-1]) + "… " + took
	}
	return string(head) + strings.Repeat(" ", room-len(head)+1) + took
}

func (v *view) outcome() *librarian.Outcome {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.end
}

func (v *view) calls() []librarian.ToolEndData {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]librarian.ToolEndData(nil), v.ended...)
}
