package handlers

import (
	"bytes"
	"sort"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxNesting is how deep containers may nest on one line; GitHub's own parser (cmark-gfm, MAX_LIST_DEPTH) stops there too.
const maxNesting = 100

// maxBlank is how many blank lines in a row are kept.
const maxBlank = 8

// span is a range of bytes of the source.
type span struct{ start, stop int }

// document is a Markdown text, split into what a reader sees as prose and everything else.
//
// The block structure is goldmark's. Inlines are read by [inline] below, because every inline parser of goldmark that pairs
// brackets or emphasis is quadratic on hostile input, and a mention needs neither emphasis nor a link's target.
type document struct {
	src      []byte // line ends are LF
	refs     parser.Context
	quotes   []span         // whole lines
	comments []span         // HTML comments
	names    []string       // lower case
	mentions []span         // in source order
	open     map[string]int // HTML elements that are open and whose content is no prose
	hidden   int            // sum of open
	comment  bool           // within a comment that its own block did not close
}

// scan reads src and finds the mentions of any of names in its prose.
func scan(src []byte, names []string) *document {
	d := &document{src: src, names: names, open: map[string]int{}, refs: parser.NewContext()}
	root := blockParser().Parse(text.NewReader(bounded(src)), parser.WithContext(d.refs))
	d.walk(root)
	return d
}

// blockParser is one for all texts: what it knows of a text it keeps in that text's context.
var blockParser = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(append(blockParsers(), util.Prioritized(newTables(), 900))...),
		parser.WithParagraphTransformers(util.Prioritized(linkDefinitions{parser.LinkReferenceParagraphTransformer}, 100)),
	)
})

// blockParsers are goldmark's, that of HTML blocks spared what it would refuse.
func blockParsers() []util.PrioritizedValue {
	all := parser.DefaultBlockParsers()
	for i, p := range all {
		if html := parser.NewHTMLBlockParser(); p.Value == html {
			all[i].Value = htmlBlocks{html}
		}
	}
	return all
}

// maxDefinitions is how many lines a paragraph of link definitions may have: goldmark moves all lines behind each one.
const maxDefinitions = 2_000

// linkDefinitions takes link definitions out of paragraphs of ordinary length that begin with one.
type linkDefinitions struct{ parser.ParagraphTransformer }

// Transform implements parser.ParagraphTransformer.
func (l linkDefinitions) Transform(n *ast.Paragraph, r text.Reader, pc parser.Context) {
	lines := n.Lines()
	if lines.Len() == 0 || lines.Len() > maxDefinitions {
		return
	}
	first := lines.At(0)
	if line := bytes.TrimSpace(first.Value(r.Source())); len(line) == 0 || line[0] == '[' {
		l.ParagraphTransformer.Transform(n, r, pc)
	}
}

// bounded copies src with the container marks beyond maxNesting on any line made plain, byte for byte.
func bounded(src []byte) []byte {
	b := bytes.Clone(src)
	for start := 0; start < len(b); {
		stop := start + lineLen(b[start:])
		marks := 0
		for i := start; i < stop; i++ {
			c := b[i]
			if c == ' ' || c == '\t' || c >= '0' && c <= '9' {
				continue
			}
			if strings.IndexByte(">-+*.)", c) < 0 {
				break
			}
			if marks++; marks > maxNesting {
				b[i] = '='
			}
		}
		start = stop
	}
	return b
}

// normalize makes every line end a LF, and no more than maxBlank lines in a row blank or empty quotes: each of those is
// tried against every container that is open.
func normalize(body string) []byte {
	b := make([]byte, 0, len(body))
	start, blank, run := 0, true, 0
	end := func() {
		if run++; !blank {
			run = 0
		}
		if run > maxBlank {
			b = b[:start]
		}
		start, blank = len(b), true
	}
	for i := 0; i < len(body); i++ {
		c := body[i]
		if c == '\r' {
			if i+1 < len(body) && body[i+1] == '\n' {
				continue
			}
			c = '\n'
		}
		b = append(b, c)
		if c == '\n' {
			end()
		} else if c != ' ' && c != '\t' && c != '>' {
			blank = false
		}
	}
	return b
}

// lineLen is the length of the first line of b with its LF.
func lineLen(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i + 1
	}
	return len(b)
}

// walk visits the blocks below n in order.
func (d *document) walk(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Blockquote:
			d.quotes = append(d.quotes, d.lines(c))
		case *ast.Paragraph, *ast.TextBlock, *ast.Heading:
			d.prose(segments(c.Lines()), true)
		case *table:
			d.table(c)
		case *ast.HTMLBlock:
			segs := segments(c.Lines())
			if c.HasClosure() {
				segs = append(segs, span{c.ClosureLine.Start, c.ClosureLine.Stop})
			}
			d.prose(segs, false)
		case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.LinkReferenceDefinition:
		default:
			d.walk(c)
		}
	}
}

func segments(s *text.Segments) []span {
	out := make([]span, s.Len())
	for i := range out {
		out[i] = span{s.At(i).Start, s.At(i).Stop}
	}
	return out
}

// lines is the range of whole source lines from n up to the next block outside it.
func (d *document) lines(n ast.Node) span {
	stop := len(d.src)
	for m := n; m != nil; m = m.Parent() {
		if next := m.NextSibling(); next != nil {
			stop = d.lineStart(blockStart(next))
			break
		}
	}
	start := d.lineStart(blockStart(n))
	return span{start, max(start, stop)}
}

func (d *document) lineStart(i int) int {
	return bytes.LastIndexByte(d.src[:min(max(i, 0), len(d.src))], '\n') + 1
}

// blockStart is where n begins: goldmark sets Pos for what its block parsers opened, and lines for leaves.
func blockStart(n ast.Node) int {
	for ; n != nil; n = n.FirstChild() {
		if n.Type() != ast.TypeBlock {
			break
		}
		if p := n.Pos(); p >= 0 && n.Kind() != kindTable { // a table is opened by its second line
			return p
		}
		if n.Lines() != nil && n.Lines().Len() > 0 {
			return n.Lines().At(0).Start
		}
	}
	return 0
}

// table reads a table, cell by cell: inline marks never reach over a cell's border.
func (d *document) table(t *table) {
	for _, l := range segments(t.Lines()) {
		for j, c := range cells(d.src, l) {
			if j < t.columns { // further cells are not shown
				d.prose([]span{c}, true)
			}
		}
	}
}

// prose reads one leaf's text and notes its mentions and comments. In Markdown, marks and backslashes count; in an HTML
// block only tags, comments and entities do.
func (d *document) prose(segs []span, markdown bool) {
	in := newInline(d, segs, markdown)
	in.read()
	for _, m := range in.mentions(d.names) {
		d.mentions = append(d.mentions, span{in.source(m.start), in.source(m.stop-1) + 1})
	}
}

// source maps an offset in the joined text to one in the source.
func (in *inline) source(i int) int {
	k := sort.Search(len(in.starts), func(k int) bool { return in.starts[k] > i }) - 1
	return in.segs[k].start + i - in.starts[k]
}

// isReference reports whether label names a link reference definition of the document.
func (d *document) isReference(label []byte) bool {
	if len(label) > 999 || bytes.IndexByte(label, '[') >= 0 || len(bytes.TrimSpace(label)) == 0 {
		return false
	}
	_, ok := d.refs.Reference(util.ToLinkReference(label))
	return ok
}
