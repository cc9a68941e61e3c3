package agent

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"github.com/librarian-app/librarian/librarian/model"
)

//go:embed prompt/*.md.tmpl
var templates embed.FS

// Briefing is what a run begins with. All of it but Question is quoted text or facts of the host's own.
type Briefing struct {
	Question string   `json:"question"`
	Quoted   string   `json:"quoted,omitempty"` // what the asker quoted below the mention
	Asker    string   `json:"asker,omitempty"`  // login
	Host     string   `json:"host,omitempty"`
	Place    string   `json:"place,omitempty"` // owner/name of the thread's repository; empty on the terminal
	Kind     string   `json:"kind,omitempty"`
	Number   int      `json:"number,omitempty"`
	Repos    []string `json:"repos,omitempty"`
	Owners   []string `json:"owners,omitempty"`
	Terminal bool     `json:"terminal,omitempty"`
	Thread   Thread   `json:"-"`
}

// Thread is the discussion around the question, as far as it may be shown.
type Thread struct {
	Title   string
	Items   []ThreadItem
	LeftOut string // what was left out, in words
}

// ThreadItem is one contribution to a thread.
type ThreadItem struct {
	Author string
	Role   string // "asker", "triage or more", …
	At     string // RFC 3339
	Text   string
}

// Prompt renders the system prompt and the first message. The system prompt depends on the kind of place alone, so that a
// provider's cache serves it from run to run. The message carries the briefing as Data for builtin/scout.
func Prompt(b Briefing) (system string, first model.Message, err error) {
	t, err := template.New("").Funcs(template.FuncMap{"join": strings.Join}).ParseFS(templates, "prompt/*.md.tmpl")
	if err != nil {
		return "", model.Message{}, fmt.Errorf("agent: prompt: %w", err)
	}
	var sys, req strings.Builder
	if err := t.ExecuteTemplate(&sys, "system.md.tmpl", b); err != nil {
		return "", model.Message{}, fmt.Errorf("agent: prompt: %w", err)
	}
	if err := t.ExecuteTemplate(&req, "request.md.tmpl", b.quotable()); err != nil {
		return "", model.Message{}, fmt.Errorf("agent: prompt: %w", err)
	}
	data, err := json.Marshal(b)
	if err != nil {
		return "", model.Message{}, fmt.Errorf("agent: prompt: %w", err)
	}
	first = model.UserText(strings.TrimSpace(req.String()))
	first.Parts[0].Data = data
	return strings.TrimSpace(sys.String()), first, nil
}

// quotable takes from text of others what would end the frame that it stands in.
func (b Briefing) quotable() Briefing {
	frame := strings.NewReplacer("</thread", "<\\/thread", "</comment", "<\\/comment", "</quoted-by-asker", "<\\/quoted-by-asker",
		"<thread", "<\\thread", "<comment", "<\\comment", "<quoted-by-asker", "<\\quoted-by-asker")
	b.Quoted = frame.Replace(b.Quoted)
	b.Thread.Title = frame.Replace(b.Thread.Title)
	items := make([]ThreadItem, len(b.Thread.Items))
	for i, it := range b.Thread.Items {
		it.Text = frame.Replace(it.Text)
		items[i] = it
	}
	b.Thread.Items = items
	return b
}
