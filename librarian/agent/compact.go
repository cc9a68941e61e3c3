package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/tool"
)

const (
	// maxCompactions is how often a conversation is shortened before the run gives up on its model's context window.
	maxCompactions = 4
	// worthCutting is the length, in bytes, from which a result is longer than what would stand in its place.
	worthCutting = 400
	// threadTool shows a discussion, which stays.
	threadTool = "read_thread"
)

// compact makes the conversation fit a context window that it outgrew: the older half of the tool results that still stand
// in full become one line each that says how to see them again. The question, the threads, the newest turn and what
// provide_results was given as a citation stay. It reports whether anything was shortened.
func (l *loop) compact() bool {
	if l.compacted == maxCompactions {
		return false
	}
	type place struct{ message, part int }
	var full []place
	cited := l.cited()
	calls := map[string]model.Part{}
	for i, m := range l.messages {
		for _, c := range m.Calls() {
			calls[c.CallID] = c
		}
		if i == len(l.messages)-1 {
			break
		}
		for j, p := range m.Parts {
			if p.Kind == model.ToolResult && len(p.Text) > worthCutting && p.Tool != threadTool && !l.showsAny(calls[p.CallID], cited) {
				full = append(full, place{i, j})
			}
		}
	}
	if len(full) == 0 {
		return false
	}
	l.compacted++
	cut := full[:(len(full)+1)/2]
	for _, at := range cut {
		m := &l.messages[at.message]
		m.Parts = slices.Clone(m.Parts)
		p := &m.Parts[at.part]
		p.Text = stub(calls[p.CallID], p.Tool)
	}
	clear(l.seen) // what was taken away may be asked for again
	l.o.Log.Info("conversation shortened to fit the model's context", "results", len(cut))
	return true
}

// stub is what stands in a result's place.
func stub(c model.Part, name string) string {
	again := "Call it again with the same arguments"
	if args := string(c.Args); args != "" && len(args) <= 200 {
		again = "Call " + name + " again with " + args
	}
	return fmt.Sprintf("[This result of %s was removed to make room. %s to see it; what it showed may still be cited.]", name, again)
}

// cited is everything that provide_results was called with so far, as text to look for paths in.
func (l *loop) cited() string {
	var b strings.Builder
	for _, m := range l.messages {
		for _, c := range m.Calls() {
			if c.Tool == tool.ProvideResults {
				b.WriteString(canonical(c.Args) + "\n")
			}
		}
	}
	return b.String()
}

// showsAny reports whether a call's result shows a file that is named in text: one of those it gave evidence of or, where
// that is not known since an earlier run made the call, the one that its arguments name.
func (l *loop) showsAny(c model.Part, text string) bool {
	if text == "" {
		return false
	}
	paths, ok := l.shown[c.CallID]
	if !ok {
		var a struct {
			Path string `json:"path"`
		}
		if json.Unmarshal(c.Args, &a) == nil && a.Path != "" {
			paths = []string{a.Path}
		}
	}
	return slices.ContainsFunc(paths, func(p string) bool {
		quoted, err := json.Marshal(p)
		return err == nil && strings.Contains(text, strings.Trim(string(quoted), `"`))
	})
}
