package report

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/librarian-app/librarian/librarian"
)

// edit replaces a stretch of a text.
type edit struct {
	from, to int
	with     string
}

// linkMentions turns the places that Markdown mentions as path:lines, in plain text or as the whole of a code span, into
// links, if they are among refs. What stands in links, fences and HTML stays as it is. It runs after Sanitize, with the same
// asker: these links are the host's. Should they, against expectation, wake something up in md, md is left as it was.
func linkMentions(md string, refs []librarian.Location, asker string) string {
	if len(refs) == 0 || slow(md) {
		return md
	}
	source := []byte(md)
	var edits []edit
	_ = ast.Walk(parseMarkdown(source), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link, *ast.AutoLink, *ast.Image:
			return ast.WalkSkipChildren, nil
		case *ast.CodeSpan:
			if e, ok := linkSpan(md, n, refs); ok {
				edits = append(edits, e)
			}
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if prev, ok := n.PreviousSibling().(*ast.Text); ok && prev.Segment.Stop == n.Segment.Start {
				return ast.WalkContinue, nil // seen with the text before it
			}
			from, to := n.Segment.Start, n.Segment.Stop
			for next, ok := n.NextSibling().(*ast.Text); ok && next.Segment.Start == to; next, ok = next.NextSibling().(*ast.Text) {
				to = next.Segment.Stop
			}
			edits = append(edits, linkText(md, from, to, refs)...)
		}
		return ast.WalkContinue, nil
	})
	out := applyEdits(md, edits)
	pages := map[string]bool{}
	for _, l := range refs {
		pages[Permalink(l)] = true
	}
	o := Options{Asker: asker, AllowLinks: func(url string) bool { return pages[url] }}
	if len(edits) > 0 && len(neutralize([]byte(out), o, true)) > 0 {
		return md
	}
	return out
}

func linkText(md string, from, to int, refs []librarian.Location) []edit {
	var out []edit
	for _, m := range scanMentions(md[from:to]) {
		if l, ok := referred(m, refs); ok && m.adjoined {
			label := unescape(md[from+m.start : from+m.end])
			if strings.Contains(md[from:to], "`") { // a lone backtick would pair with those of the label
				label = EscapeText(label)
			} else {
				label = InlineCode(label)
			}
			out = append(out, edit{from + m.start, from + m.end, "[" + label + "](" + Permalink(l) + ")"})
		}
	}
	return out
}

func linkSpan(md string, n *ast.CodeSpan, refs []librarian.Location) (edit, bool) {
	first, ok1 := n.FirstChild().(*ast.Text)
	last, ok2 := n.LastChild().(*ast.Text)
	if !ok1 || !ok2 || first != last {
		return edit{}, false
	}
	from, to := first.Segment.Start, last.Segment.Stop
	content := md[from:to]
	ms := scanMentions("`" + content)
	if len(ms) != 1 || !ms[0].adjoined || ms[0].end != len(content)+1 || (ms[0].start != 1 && ms[0].spaced == "") {
		return edit{}, false
	}
	m := ms[0]
	if m.spaced != "" {
		m.path = m.spaced
	}
	l, ok := referred(m, refs)
	if !ok {
		return edit{}, false
	}
	for from > 0 && md[from-1] == ' ' {
		from--
	}
	for to < len(md) && md[to] == ' ' {
		to++
	}
	for from > 0 && md[from-1] == '`' {
		from--
	}
	for to < len(md) && md[to] == '`' {
		to++
	}
	return edit{from, to, "[" + md[from:to] + "](" + Permalink(l) + ")"}, true
}

// referred finds the verified place that a mention names. Only those with a page are links.
func referred(m mention, refs []librarian.Location) (librarian.Location, bool) {
	name := strings.TrimPrefix(unescape(m.path), "./")
	for _, whole := range []bool{true, false} {
		for _, l := range refs {
			if l.Start != m.lines.Start || l.End != m.lines.End || Permalink(l) == "" {
				continue
			}
			if whole && l.Path == name || !whole && (endsIn(l.Path, name) || endsIn(name, l.Path) || strings.HasSuffix(name, ":"+l.Path)) {
				return l, true
			}
		}
	}
	return librarian.Location{}, false
}

var escaped = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])")

// unescape takes Markdown's backslashes off.
func unescape(s string) string { return escaped.ReplaceAllString(s, "$1") }
