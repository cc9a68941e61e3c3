package agent

import (
	"fmt"
	"slices"

	"github.com/librarian-app/librarian/librarian/model"
)

// maxCompactions is how often a conversation is shortened before the run gives up on its model's context window.
const maxCompactions = 4

// compact makes the conversation fit a context window that it outgrew: the older half of the tool results that still stand
// in full become one line each that says how to see them again. The question, the thread and the newest turn stay. It
// reports whether anything was shortened.
func (l *loop) compact() bool {
	if l.compacted == maxCompactions {
		return false
	}
	type place struct{ message, part int }
	var full []place
	for i, m := range l.messages {
		if i >= len(l.messages)-1 {
			break
		}
		for j, p := range m.Parts {
			if p.Kind == model.ToolResult && len(p.Text) > 200 {
				full = append(full, place{i, j})
			}
		}
	}
	if len(full) == 0 {
		return false
	}
	l.compacted++
	for _, at := range full[:(len(full)+1)/2] {
		m := &l.messages[at.message]
		m.Parts = slices.Clone(m.Parts)
		p := &m.Parts[at.part]
		p.Text = fmt.Sprintf("[This result of %s was removed to make room. Call it again with the same arguments to see it; what it showed may still be cited.]", p.Tool)
	}
	l.o.Log.Info("conversation shortened to fit the model's context", "results", (len(full)+1)/2)
	return true
}
