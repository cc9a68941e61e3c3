package tool

import (
	"bytes"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// maxParsed is how much of a text, in bytes, is looked through for code: nested blocks take longer than their length says.
const maxParsed = 16 << 10

// WithoutComments takes out of Markdown what its reader does not see: HTML comments, up to the end where one never closes. Those in code
// are seen, and stay; where it is in doubt whether something is code (long or deeply nested texts, behind a tag), it is none.
func WithoutComments(markdown string) string {
	var b strings.Builder
	var seen []text.Segment
	if strings.Contains(markdown, "<!--") && len(markdown) <= maxParsed && !nested(markdown) {
		seen = code([]byte(markdown))
	}
	for from := 0; ; {
		i := strings.Index(markdown[from:], "<!--")
		if i < 0 {
			b.WriteString(markdown[from:])
			return b.String()
		}
		i += from
		for len(seen) > 0 && seen[0].Stop <= i {
			seen = seen[1:]
		}
		if len(seen) > 0 && seen[0].Start <= i {
			b.WriteString(markdown[from:seen[0].Stop])
			from = seen[0].Stop
			continue
		}
		b.WriteString(markdown[from:i])
		end := strings.Index(markdown[i:], "-->")
		if end < 0 {
			return b.String()
		}
		from = i + end + len("-->")
	}
}

// maxNesting is how many marks of quotes and lists a line of a text that is looked through may begin with; people write three.
const maxNesting = 100

// nested reports whether a line begins with more marks than maxNesting: the time to parse it grows with their square.
func nested(markdown string) bool {
	for line := range strings.Lines(markdown) {
		marks := 0
		for _, c := range []byte(line) {
			if strings.IndexByte(">-+*.)", c) >= 0 {
				marks++
			} else if c != ' ' && c != '\t' && (c < '0' || c > '9') {
				break
			}
		}
		if marks > maxNesting {
			return true
		}
	}
	return false
}

// blocks knows nothing of what stands within a paragraph.
var blocks = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))
})

// code gives what is code, in order: blocks, and in paragraphs the spans of one line.
func code(src []byte) (found []text.Segment) {
	_ = ast.Walk(blocks().Parse(text.NewReader(src)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() != ast.TypeBlock {
			return ast.WalkContinue, nil
		}
		switch n.Kind() {
		case ast.KindCodeBlock, ast.KindFencedCodeBlock:
			found = append(found, n.Lines().Sliced(0, n.Lines().Len())...)
		case ast.KindParagraph, ast.KindTextBlock, ast.KindHeading:
			for _, line := range n.Lines().Sliced(0, n.Lines().Len()) {
				spans, sure := codeSpans(src, line)
				if found = append(found, spans...); !sure {
					break
				}
			}
		}
		return ast.WalkContinue, nil
	})
	return found
}

// codeSpans gives the code spans of a line. It is not sure of what follows a tag or a span that goes on in the next line.
func codeSpans(src []byte, line text.Segment) (spans []text.Segment, sure bool) {
	for i := line.Start; i < line.Stop; i++ {
		switch src[i] {
		case '\\':
			i++
		case '<':
			return spans, false
		case '`':
			ticks := len(src[i:line.Stop]) - len(bytes.TrimLeft(src[i:line.Stop], "`"))
			end := i + ticks
			for run := 0; run != ticks; end += run {
				next := bytes.IndexByte(src[end:line.Stop], '`')
				if next < 0 {
					return spans, false
				}
				end += next
				run = len(src[end:line.Stop]) - len(bytes.TrimLeft(src[end:line.Stop], "`"))
			}
			spans = append(spans, text.NewSegment(i, end))
			i = end - 1
		}
	}
	return spans, true
}
