//go:build cgo && treesitter

package syntax

import (
	"testing"

	"github.com/stretchr/testify/require"
	sitter "github.com/tree-sitter/go-tree-sitter"
)

func TestEveryQueryFitsItsGrammar(t *testing.T) {
	t.Parallel()
	for name, g := range grammars {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := g()
			require.NotNil(t, l)
			require.NotEmpty(t, l.names)
		})
	}
	_ = sitter.NewParser
}
