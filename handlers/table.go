package handlers

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// table is a table of GFM (https://github.github.com/gfm/#tables-extension-): its header, then its rows.
type table struct {
	ast.BaseBlock
	columns int
}

var kindTable = ast.NewNodeKind("Table")

// Kind implements ast.Node.
func (*table) Kind() ast.NodeKind { return kindTable }

// Dump implements ast.Node.
func (n *table) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// tables finds tables while blocks are found, as GitHub's own parser does (cmark-gfm, extensions/table.c). Goldmark's extension looks for them in paragraphs that are whole by
// then, and so takes for a row what GitHub takes for the next block: a line of code, a list that begins with 2, a line behind a quote.
type tables struct {
	blocks map[byte][]parser.BlockParser // that end a table, by the mark they begin with
}

func newTables() *tables {
	t := &tables{blocks: map[byte][]parser.BlockParser{}}
	for _, p := range blockParsers() {
		b := p.Value.(parser.BlockParser)
		for _, c := range b.Trigger() { // a paragraph has none, and an indent none but itself
			t.blocks[c] = append(t.blocks[c], b)
		}
	}
	return t
}

// Trigger implements parser.BlockParser.
func (*tables) Trigger() []byte { return []byte{'|', ':', '-'} }

// CanInterruptParagraph implements parser.BlockParser.
func (*tables) CanInterruptParagraph() bool { return true }

// CanAcceptIndentedLine implements parser.BlockParser.
func (*tables) CanAcceptIndentedLine() bool { return false }

// Close implements parser.BlockParser.
func (*tables) Close(ast.Node, text.Reader, parser.Context) {}

// tried marks a paragraph of which a line looked like the one below a header and was not: GitHub tries no other.
var tried = []byte("tried")

// Open makes a table of a delimiter row and the last line of the paragraph above it, if that has as many cells.
func (*tables) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	above, ok := pc.LastOpenedBlock().Node.(*ast.Paragraph)
	if !ok || above.Parent() != parent || above.Lines().Len() == 0 {
		return nil, parser.NoChildren
	}
	line, _ := reader.PeekLine()
	columns := delimiters(line)
	if columns == 0 {
		return nil, parser.NoChildren
	}
	if _, again := above.Attribute(tried); again {
		return nil, parser.NoChildren
	}
	last := above.Lines().Len() - 1
	header := above.Lines().At(last)
	if len(cells(reader.Source(), span{header.Start, header.Stop})) != columns {
		above.SetAttribute(tried, true)
		return nil, parser.NoChildren
	}
	n := &table{columns: columns}
	n.Lines().Append(header)
	above.Lines().SetSliced(0, last)
	if last == 0 {
		parent.RemoveChild(parent, above)
	}
	return n, parser.NoChildren
}

// Continue takes any line for a row that is not blank and begins no block.
func (t *tables) Continue(n ast.Node, reader text.Reader, pc parser.Context) parser.State {
	line, segment := reader.PeekLine()
	indent, at := util.IndentWidth(line, reader.LineOffset())
	if util.IsBlank(line) || indent > 3 || t.begins(n, reader, pc, line, indent, at) ||
		len(cells(reader.Source(), span{segment.Start, segment.Stop})) == 0 {
		return parser.Close
	}
	n.Lines().Append(segment)
	reader.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

// begins reports whether the line that begins at begins a block.
func (t *tables) begins(n ast.Node, reader text.Reader, pc parser.Context, line []byte, indent, at int) bool {
	pc.SetBlockOffset(at)
	pc.SetBlockIndent(indent)
	number, place := reader.Position()
	defer reader.SetPosition(number, place)
	for _, b := range t.blocks[line[at]] {
		if made, _ := b.Open(n.Parent(), reader, pc); made != nil {
			return true
		}
	}
	return false
}

// delimiters is the number of cells like ---, :-- and :-: that line is made of; 0 if it is made of anything else.
func delimiters(line []byte) int {
	line = bytes.TrimSpace(line)
	line = bytes.TrimPrefix(line, []byte("|"))
	line = bytes.TrimSuffix(line, []byte("|"))
	n := 0
	for cell := range bytes.SplitSeq(line, []byte("|")) {
		cell = bytes.TrimSpace(cell)
		cell = bytes.TrimPrefix(cell, []byte(":"))
		cell = bytes.TrimSuffix(cell, []byte(":"))
		if len(cell) == 0 || len(bytes.Trim(cell, "-")) > 0 {
			return 0
		}
		n++
	}
	return n
}

// cells splits a table's row at its unescaped bars. A bar at its beginning begins the first, one at its end ends the last.
func cells(src []byte, line span) []span {
	i, stop := skipSpace(src[:line.stop], line.start), line.stop
	for stop > i && isSpace(src[stop-1]) {
		stop--
	}
	if i < stop && src[i] == '|' {
		i = skipSpace(src[:stop], i+1)
	}
	var out []span
	for i < stop {
		from := i
		for i < stop && (src[i] != '|' || i > from && src[i-1] == '\\') {
			i++
		}
		out = append(out, span{from, i})
		if i < stop {
			i = skipSpace(src[:stop], i+1)
		}
	}
	return out
}
