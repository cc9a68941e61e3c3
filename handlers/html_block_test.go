package handlers

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// TestM3_HTMLBlocksAreGoldmarks: what is not asked of goldmark would have been no HTML block.
func TestM3_HTMLBlocksAreGoldmarks(t *testing.T) {
	t.Parallel()
	plain := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))
	ours := parser.NewParser(parser.WithBlockParsers(blockParsers()...))
	require.True(t, slices.ContainsFunc(blockParsers(), func(p util.PrioritizedValue) bool { _, ok := p.Value.(htmlBlocks); return ok }))
	blocks := func(p parser.Parser, src string) (found []string) {
		_ = ast.Walk(p.Parse(text.NewReader([]byte(src))), func(n ast.Node, in bool) (ast.WalkStatus, error) {
			if n.Type() == ast.TypeBlock && in {
				found = append(found, n.Kind().String()+": "+string(n.Lines().Value([]byte(src))))
			}
			return ast.WalkContinue, nil
		})
		return found
	}
	var names []string
	for name := range blockElements {
		names = append(names, name)
	}
	names = append(names, "a", "B", "span", "x-y", "H1", "Pre", "SCRIPT", "pr", "pree", "blockquotes", "9", "!--", "?", "![CDATA[", "!DOCTYPE", "!d", "", " ", "-")
	before := []string{"", " ", "   ", "    ", "\t", "> ", "- ", "text\n", "\n"}
	open := []string{"<", "</", "</ ", "< ", "<//", "<\t", ""}
	after := []string{"", ">", "/>", " ", " a", " a=b>", " a='>'", ">x", ">x>", "\t>", " >", "> ", ">\r", " \r", "\x00", "/", "-", "\u00a0>", "\f>", "\v"}
	rng := rand.New(rand.NewPCG(5, 6))
	pick := func(l []string) string { return l[rng.IntN(len(l))] }
	for range 20_000 {
		var b strings.Builder
		for range 1 + rng.IntN(3) {
			b.WriteString(pick(before) + pick(open) + pick(names) + pick(after) + pick([]string{"\n", "\nend\n", "\n\n"}))
		}
		require.Equal(t, blocks(plain, b.String()), blocks(ours, b.String()), "%q", b.String())
	}
}
