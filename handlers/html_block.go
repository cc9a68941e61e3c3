package handlers

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// htmlBlocks asks goldmark's parser of HTML blocks only of lines that may begin one: it tries seven regular expressions
// on each line that begins with <, and a text may have twenty thousand of those.
type htmlBlocks struct{ parser.BlockParser }

// Open implements parser.BlockParser.
func (h htmlBlocks) Open(parent ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if line, _ := r.PeekLine(); !mayBeHTMLBlock(line) {
		return nil, parser.NoChildren
	}
	return h.BlockParser.Open(parent, r, pc)
}

// blockElements begin an HTML block whatever follows their name (CommonMark 0.31, section 4.6, kinds 1 and 6).
var blockElements = func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq("pre script style textarea address article aside base basefont blockquote body caption center col colgroup " +
		"dd details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend " +
		"li link main menu menuitem meta nav noframes ol optgroup option p param search section source summary table tbody td tfoot th thead " +
		"title tr track ul") {
		m[name] = true
	}
	return m
}()

const longestBlockElement = len("blockquote")

// mayBeHTMLBlock is false of many lines that cannot begin an HTML block, and of none that can.
func mayBeHTMLBlock(line []byte) bool {
	b, ok := bytes.CutPrefix(bytes.TrimLeft(line, " "), []byte("<"))
	if !ok || len(b) == 0 {
		return false
	}
	if b[0] == '!' || b[0] == '?' {
		return true
	}
	if end := bytes.TrimRight(b, " \r\n"); len(end) > 0 && end[len(end)-1] == '>' {
		return true // kind 7, a tag alone on its line
	}
	b = bytes.TrimLeft(b, "/ ")
	n := 0
	for n < len(b) && (b[n]|0x20 >= 'a' && b[n]|0x20 <= 'z' || b[n] >= '0' && b[n] <= '9' || b[n] == '-') {
		if n++; n > longestBlockElement {
			return false
		}
	}
	return blockElements[strings.ToLower(string(b[:n]))]
}
