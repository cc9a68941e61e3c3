package report

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Options of [Sanitize].
type Options struct {
	Asker      string                // the one login whose mention may stay live; empty: none
	Secrets    []string              // exact values that are redacted
	AllowLinks func(url string) bool // the links that may stay; nil: none
}

// Sanitize makes Markdown that a model wrote, and whatever talked the model into it, fit to be posted in our name. What is
// left mentions nobody but the asker (P3), refers to no issue, pull request or commit and closes none (P4), holds no
// image, no HTML and no link but the allowed ones (W7), leaves no construct open that could swallow what the host appends,
// and holds no secret (W6). Text stays readable as it was:
//
//   - what GitHub would make live (@types/node, #12, a URL, a commit) is put into code font, where it is inert, can be
//     read, and is copied without hidden characters. Where backticks around it would pair with others, a word joiner
//     (U+2060, no width, no break) parts it instead; a backslash or an entity would not help, since GitHub looks for
//     mentions after both were undone;
//   - a link, an image or a tag has its first mark escaped and so shows as it was written;
//   - comments and characters without a look are taken out: they speak to machines only.
//
// It works in rounds until a parse of its output finds nothing to do, so it is idempotent. Text that does not come to rest,
// or that is built to make the parser slow, is shown as one block of code.
func Sanitize(markdown string, o Options) string {
	s := trimEnds(visible(markdown))
	for round := range maxRounds {
		s = redactParted(s, o.Secrets)
		if hostile(s) {
			break
		}
		edits := neutralize([]byte(s), o, round > 1)
		if len(edits) == 0 {
			closed, ok := closeFence(s)
			if !ok {
				break
			}
			return closed
		}
		s = trimEnds(applyEdits(s, edits))
	}
	return Fence(Redact(s, o.Secrets), "text")
}

const maxRounds = 12

// trimEnds keeps the indent of a first line.
func trimEnds(s string) string {
	return strings.TrimRight(strings.TrimLeft(s, "\n"), " \t\n")
}

// joiner parts what would be live. It is the one invisible character that [visible] keeps.
const joiner = "\u2060"

// visible takes out what has no look: control characters and invisible ones. Line ends become LF.
func visible(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return '\n'
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError:
			return -1
		case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xfeff, r == 0xffa0,
			r >= 0x180b && r <= 0x180f, r == 0x200b, r == 0x200e, r == 0x200f, r >= 0x2028 && r <= 0x202e,
			r >= 0x2061 && r <= 0x206f, r >= 0xe0000 && r <= 0xe0fff:
			return -1
		}
		return r
	}, s)
}

// redactParted redacts, also where joiners are strewn over a secret.
func redactParted(s string, exact []string) string {
	if whole := strings.ReplaceAll(s, joiner, ""); whole != s {
		if r := Redact(whole, exact); r != whole {
			return r
		}
	}
	return Redact(s, exact)
}

// hostile reports whether s has a shape that a Markdown parser takes quadratic time or space for: containers nested a
// hundred deep, long runs of blank lines below them, thousands of marks in one block, wide tables with many rows.
func hostile(s string) bool {
	if slow(s) {
		return true
	}
	marks, pipes, lines, blank, depth := 0, 0, 0, 0, 0
	for line := range strings.Lines(s) {
		indent := 0
		for i := range len(line) {
			if strings.IndexByte(" \t>-+*.)0123456789", line[i]) < 0 {
				break
			}
			if strings.IndexByte(">-+*.)", line[i]) >= 0 && (i+1 == len(line) || line[i+1] != line[i] || line[i] == '>') {
				indent++
			}
		}
		depth = max(depth, indent)
		if strings.Trim(line, " \t>\n") == "" {
			marks, pipes, lines = 0, 0, 0
			if blank++; blank > maxBlank {
				return true
			}
			continue
		}
		blank = 0
		lines++
		bars := strings.Count(line, "|")
		pipes = max(pipes, bars)
		for i := range len(line) {
			if strings.IndexByte("[]*_~<!(`", line[i]) >= 0 {
				marks++
			}
		}
		if depth > maxDepth || marks > maxMarks || pipes > 8 && pipes*lines > maxCells {
			return true
		}
	}
	return false
}

const (
	maxDepth = 100
	maxBlank = 400
	maxMarks = 10_000
	maxCells = 200_000
)

// closeFence ends a fenced block that s leaves open; ok is false if something else would swallow what is appended.
func closeFence(s string) (closed string, ok bool) {
	const probe = "end of text"
	for _, tail := range []string{"", closing(s, '`'), closing(s, '~')} {
		source := []byte(s + tail + "\n\n" + probe)
		p, isParagraph := parseProse(source).LastChild().(*ast.Paragraph)
		if isParagraph && p.Lines().Len() == 1 {
			if l := p.Lines().At(0); string(l.Value(source)) == probe {
				return s + tail, true
			}
		}
	}
	return s, false
}

// closing is a fence that closes any fence of mark c that is open at the end of s.
func closing(s string, c byte) string {
	return "\n" + strings.Repeat(string(c), max(3, longestRun(s, c)))
}

// parseProse parses as GitHub does, except that bare addresses stay text.
func parseProse(source []byte) ast.Node {
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList))
	return md.Parser().Parse(text.NewReader(source))
}

func applyEdits(s string, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		if e.from < at { // the next round sees it
			continue
		}
		b.WriteString(s[at:e.from] + e.with)
		at = e.to
	}
	return b.String() + s[at:]
}

// neutralize finds what is live in source and how to end that. With part, tokens are parted by a joiner.
func neutralize(source []byte, o Options, part bool) []edit {
	var edits []edit
	escape := func(at int) {
		if at >= 0 && at < len(source) {
			edits = append(edits, edit{at, at, `\`})
		}
	}
	_ = ast.Walk(parseProse(source), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan, *ast.CodeBlock:
			return ast.WalkSkipChildren, nil
		case *ast.FencedCodeBlock:
			if n.Info != nil && activeLangs[strings.ToLower(string(n.Language(source)))] {
				edits = append(edits, edit{n.Info.Segment.Start, n.Info.Segment.Stop, "text"})
			}
			return ast.WalkSkipChildren, nil
		case *ast.HTMLBlock:
			edits = append(edits, escapeHTML(source, n)...)
			return ast.WalkSkipChildren, nil
		case *ast.RawHTML:
			first, last := n.Segments.At(0), n.Segments.At(n.Segments.Len()-1)
			if strings.HasPrefix(string(source[first.Start:]), "<!--") && n.Segments.Len() == 1 {
				edits = append(edits, edit{first.Start, last.Stop, ""})
			} else {
				escape(first.Start)
			}
		case *ast.LinkReferenceDefinition:
			if l := n.Lines(); l.Len() > 0 {
				escape(l.At(0).Start + max(0, strings.IndexByte(string(source[l.At(0).Start:l.At(0).Stop]), '[')))
			}
		case *ast.Image:
			escape(strings.Index(string(source[n.Pos():]), "[") + n.Pos())
			return ast.WalkSkipChildren, nil
		case *ast.Link:
			if o.AllowLinks != nil && n.Reference == nil && o.AllowLinks(string(n.Destination)) {
				return ast.WalkSkipChildren, nil
			}
			escape(n.Pos())
		case *ast.AutoLink:
			u := string(n.URL(source))
			if n.AutoLinkType != ast.AutoLinkEmail && (o.AllowLinks == nil || !o.AllowLinks(u)) {
				escape(n.Pos())
			}
		}
		if n.Type() != ast.TypeDocument && n.FirstChild() != nil {
			edits = append(edits, neutralizeText(source, n, o, part)...)
		}
		return ast.WalkContinue, nil
	})
	return edits
}

// escapeHTML shows an HTML block as text; a comment alone in its block goes.
func escapeHTML(source []byte, n *ast.HTMLBlock) []edit {
	lines := n.Lines()
	if n.HasClosure() {
		lines.Append(n.ClosureLine)
	}
	if lines.Len() == 0 {
		return nil
	}
	from, to := lines.At(0).Start, lines.At(lines.Len()-1).Stop
	block := string(source[from:to])
	lead := len(block) - len(strings.TrimLeft(block, " "))
	if n.HTMLBlockType == ast.HTMLBlockType2 && strings.HasPrefix(block[lead:], "<!--") {
		if end := strings.Index(block[lead+4:], "-->"); end >= 0 {
			return []edit{{from + lead, from + lead + 4 + end + 3, ""}}
		}
	}
	var edits []edit
	for i := range lines.Len() {
		l := lines.At(i)
		for j := l.Start; j < l.Stop; j++ {
			if source[j] == '<' {
				edits = append(edits, edit{j, j, `\`})
			}
		}
	}
	return edits
}

// neutralizeText looks at the text directly in n, in runs that GitHub would see as one.
func neutralizeText(source []byte, n ast.Node, o Options, part bool) []edit {
	var edits []edit
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		t, ok := c.(*ast.Text)
		if !ok {
			continue
		}
		from, to := t.Segment.Start, t.Segment.Stop
		for next, ok := c.NextSibling().(*ast.Text); ok && next.Segment.Start == to; next, ok = c.NextSibling().(*ast.Text) {
			to, c = next.Segment.Stop, next
		}
		edits = append(edits, neutralizeRun(source, from, to, o, part)...)
	}
	return edits
}

func neutralizeRun(source []byte, from, to int, o Options, part bool) []edit {
	t := decodeRun(source, from, to)
	edits := t.marks(source, from, to)
	for _, tok := range t.tokens(o) {
		a, z := t.at[tok.start], t.at[tok.stop]
		text := t.dec[tok.start:tok.stop]
		with := InlineCode(text)
		ticked := a > 0 && source[a-1] == '`' || z < len(source) && source[z] == '`'
		switch {
		case tok.kind == secret:
			with = redacted
		case part || ticked || strings.ContainsAny(text, "`|"):
			with = parted(text)
		}
		edits = append(edits, edit{a, z, with})
	}
	return edits
}
