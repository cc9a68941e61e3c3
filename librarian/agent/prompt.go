package agent

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/librarian-app/librarian/librarian/model"
	"github.com/librarian-app/librarian/librarian/tool"
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
	Commit   string   `json:"-"`                // of the place's repository, where the question is about one
	Pull     *Pull    `json:"pull,omitempty"`   // where the thread is a pull request
	Review   *Review  `json:"review,omitempty"` // where the question stands at a line of its diff
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

// Pull is what a pull request is about.
type Pull struct {
	Head    string   `json:"-"` // branch names, as GitHub shows them
	Base    string   `json:"-"`
	Ref     string   `json:"-"`                 // how its code is checked out: refs/pull/N/head
	SHA     string   `json:"-"`                 // the head commit; empty: unknown
	BaseSHA string   `json:"baseSha,omitempty"` // where the base branch stands; empty: unknown
	Files   []string `json:"-"`
	Changed int      `json:"-"` // files in all
}

// More is how many changed files are not listed.
func (p Pull) More() int { return max(p.Changed-len(p.Files), 0) }

// Review is the place in a diff that a review thread hangs on.
type Review struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"` // 0: the whole file, or outdated
	Hunk string `json:"hunk,omitempty"`
}

// Prompt renders the system prompt and the first message for a run with these tools; no other tool is named. The system
// prompt depends on the kind of place and the tools alone, so that a provider's cache serves it from run to run. The
// message carries the briefing as Data for builtin/scout.
func Prompt(b Briefing, tools *tool.Catalog) (system string, first model.Message, err error) {
	t, err := template.New("").Funcs(template.FuncMap{"join": strings.Join, "have": having(tools)}).ParseFS(templates, "prompt/*.md.tmpl")
	if err != nil {
		return "", model.Message{}, fmt.Errorf("agent: prompt: %w", err)
	}
	var sys, req strings.Builder
	if err := t.ExecuteTemplate(&sys, "system.md.tmpl", struct {
		Terminal     bool
		Host, Finish string
	}{b.Terminal, b.Host, "`" + tool.ProvideResults + "`"}); err != nil {
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

// having gives a function for the template: those of the named tools that there are, as a list; empty: none.
func having(tools *tool.Catalog) func(names ...string) string {
	return func(names ...string) string {
		var out []string
		for _, n := range names {
			if _, ok := tools.Get(n); ok {
				out = append(out, "`"+n+"`")
			}
		}
		return strings.Join(out, ", ")
	}
}

// frame are the tags that the request is framed by.
var frame = func() *strings.Replacer {
	var pairs []string
	for _, tag := range []string{"thread", "comment", "quoted-by-asker", "changed-files", "diff-hunk"} {
		pairs = append(pairs, "</"+tag, "<\\/"+tag, "<"+tag, "<\\"+tag)
	}
	return strings.NewReplacer(pairs...)
}()

// quotable takes from text of others what would end the frame that it stands in.
func (b Briefing) quotable() Briefing {
	b.Quoted = frame.Replace(b.Quoted)
	b.Thread.Title = frame.Replace(b.Thread.Title)
	items := make([]ThreadItem, len(b.Thread.Items))
	for i, it := range b.Thread.Items {
		it.Text = frame.Replace(it.Text)
		items[i] = it
	}
	b.Thread.Items = items
	if b.Pull != nil {
		p := *b.Pull
		p.Head, p.Base, p.Files = frame.Replace(p.Head), frame.Replace(p.Base), slices.Clone(p.Files)
		for i, f := range p.Files {
			p.Files[i] = frame.Replace(f)
		}
		b.Pull = &p
	}
	if b.Review != nil {
		r := *b.Review
		r.Path, r.Hunk = frame.Replace(r.Path), frame.Replace(r.Hunk)
		b.Review = &r
	}
	return b
}
