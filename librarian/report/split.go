package report

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// parseMarkdown reads Markdown as GitHub does, near enough for finding where things begin.
func parseMarkdown(source []byte) ast.Node {
	return goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
}

var deepQuote = regexp.MustCompile(`(?m)^(?:[ \t]*>){100}`)

// slow tells Markdown over which the parser takes time that grows with the square of its length (seconds for 100 kB): tens of
// thousands of unfinished links, quotations nested a hundred deep. Nobody writes it to be read.
func slow(md string) bool {
	return strings.Count(md, "](") > 5_000 || deepQuote.MatchString(md)
}

// splitMarkdown parts Markdown into pieces of at most limit UTF-16 units, each whole in itself: it is cut between blocks;
// a block that is too long is cut between its lines, items or words, and its fence or table head repeated; what cannot be
// cut so is shown as source in a fence. No text is lost. A limit below 2,000 is taken as 2,000.
func splitMarkdown(md string, limit int) []string {
	limit = max(limit, 2_000)
	md = strings.Trim(md, "\n")
	if units(md) <= limit {
		return []string{md}
	}
	if slow(md) {
		return fences(md, "", limit)
	}
	var pieces []string
	for _, b := range blocks(md) {
		pieces = append(pieces, splitBlock(b, limit)...)
	}
	return pack(pieces, "\n\n", limit)
}

// cutMarkdown is the first piece of md.
func cutMarkdown(md string, limit int) string { return splitMarkdown(md, limit)[0] }

// pack joins neighbours while they fit together.
func pack(pieces []string, sep string, limit int) []string {
	var out []string
	size := 0
	for _, p := range pieces {
		n := units(p)
		if len(out) > 0 && size+len(sep)+n <= limit {
			out[len(out)-1] += sep + p
			size += len(sep) + n
			continue
		}
		out = append(out, p)
		size = n
	}
	return out
}

// blocks cuts Markdown where its top-level blocks begin.
func blocks(md string) []string {
	source := []byte(md)
	doc := parseMarkdown(source)
	var out []string
	from := 0
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		start := lineStart(md, n.Pos())
		if start <= from { // the first block, or one whose place is not known
			continue
		}
		out = append(out, strings.Trim(md[from:start], "\n"))
		from = start
	}
	return append(out, strings.Trim(md[from:], "\n"))
}

func lineStart(md string, pos int) int {
	if pos < 0 || pos > len(md) {
		return 0
	}
	return strings.LastIndexByte(md[:pos], '\n') + 1
}

// splitBlock parts one top-level block.
func splitBlock(block string, limit int) []string {
	if units(block) <= limit {
		return []string{block}
	}
	source := []byte(block)
	doc := parseMarkdown(source)
	var pieces []string
	if only := doc.FirstChild(); only != nil && only.NextSibling() == nil {
		switch n := only.(type) {
		case *ast.FencedCodeBlock:
			if n.Info == nil || plainLang.Match(n.Info.Segment.Value(source)) {
				return fences(string(n.Lines().Value(source)), string(n.Language(source)), limit)
			}
		case *ast.CodeBlock:
			return fences(string(n.Lines().Value(source)), "", limit)
		case *ast.List:
			pieces = splitList(block, n, limit)
		case *ast.Paragraph:
			pieces = splitParagraph(block, n, limit)
		case *extast.Table:
			pieces = splitTable(block, limit)
		}
	}
	if pieces == nil {
		return fences(block, "", limit)
	}
	for _, p := range pieces {
		if units(p) > limit || !closed(p) {
			return fences(block, "", limit)
		}
	}
	return pieces
}

// fences shows code in as many fences as it needs. A line too long for one is broken.
func fences(code, lang string, limit int) []string {
	longest := limit / 8 // of a line, and so of a run of backticks in it, which lengthens the fence
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSuffix(code, "\n"), "\n") {
		for units(line) > longest {
			head := cutUnits(line, longest)
			lines = append(lines, head)
			line = line[len(head):]
		}
		lines = append(lines, line)
	}
	chunks := pack(lines, "\n", limit-2*longest-100)
	for i, c := range chunks {
		chunks[i] = strings.Trim(Fence(c, lang), "\n")
	}
	return chunks
}

// splitList cuts before the list's items.
func splitList(block string, list *ast.List, limit int) []string {
	var items []string
	from := 0
	for n := list.FirstChild(); n != nil; n = n.NextSibling() {
		start := lineStart(block, n.Pos())
		if start <= from {
			continue
		}
		items = append(items, strings.TrimRight(block[from:start], "\n"))
		from = start
	}
	items = append(items, strings.TrimRight(block[from:], "\n"))
	var out []string
	for _, item := range items {
		if units(item) > limit {
			out = append(out, fences(item, "", limit)...)
		} else {
			out = append(out, item)
		}
	}
	return pack(out, "\n", limit)
}

// splitTable cuts between rows and repeats the head.
func splitTable(block string, limit int) []string {
	lines := strings.Split(block, "\n")
	if len(lines) < 3 {
		return nil
	}
	head := lines[0] + "\n" + lines[1] + "\n"
	if units(head) > limit/2 {
		return nil
	}
	rows := pack(lines[2:], "\n", limit-units(head))
	for i := range rows {
		rows[i] = head + rows[i]
	}
	return rows
}

// splitParagraph cuts between words outside of every inline construct, before a letter, so that no rest of a line is
// taken for a list, a heading or a quotation. It gives nil where there is no such place.
func splitParagraph(block string, par *ast.Paragraph, limit int) []string {
	var cuts []int
	for n := par.FirstChild(); n != nil; n = n.NextSibling() {
		t, ok := n.(*ast.Text)
		if !ok {
			continue
		}
		for i := max(t.Segment.Start, 1); i < min(t.Segment.Stop, len(block)); {
			next, size := utf8.DecodeRuneInString(block[i:])
			last, _ := utf8.DecodeLastRuneInString(block[:i])
			if unicode.IsLetter(next) && (unicode.IsSpace(last) || last >= 0x2e80 && next >= 0x2e80) { // CJK has no spaces
				cuts = append(cuts, i)
			}
			i += size
		}
	}
	var out []string
	from, end, size := 0, 0, 0 // end: the last cut that still fits; size: units from from to end
	for _, c := range append(cuts, len(block)) {
		n := units(block[end:c])
		if size+n > limit && end > from {
			out = append(out, strings.TrimSpace(block[from:end]))
			from, size = end, 0
		}
		end, size = c, size+n
	}
	out = append(out, strings.TrimSpace(block[from:]))
	for _, p := range out {
		doc := parseMarkdown([]byte(p))
		if only := doc.FirstChild(); only == nil || only.Kind() != ast.KindParagraph || only.NextSibling() != nil {
			return nil
		}
	}
	return out
}

// closed reports whether a paragraph after md is a paragraph of its own: nothing in md is left open that would swallow it.
func closed(md string) bool {
	const mark = "librarianends"
	source := []byte(md + "\n\n" + mark)
	last := parseMarkdown(source).LastChild()
	return last != nil && last.Kind() == ast.KindParagraph && string(last.Lines().Value(source)) == mark
}
