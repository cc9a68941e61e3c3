package run

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Backticks around what is looked for are how people write code in a comment, not a part of it.
func TestLookUpCallOfCode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		command, rest string
		want          map[string]any
	}{
		{"grep", "acme/app `a  b`", map[string]any{"repo": "acme/app", "pattern": "a  b"}},
		{"grep", "acme/app `` a`b ``", map[string]any{"repo": "acme/app", "pattern": "a`b"}},
		{"grep", "acme/app a`b`", map[string]any{"repo": "acme/app", "pattern": "a`b`"}},
		{"search_code", "`func main(`", map[string]any{"pattern": "func main("}},
		{"read", "`acme/app/a b.go#L3`", map[string]any{"repo": "acme/app", "path": "a b.go", "offset": 3, "limit": 1}},
	} {
		_, name, args, ok := lookUpCall(tt.command, tt.rest)
		require.True(t, ok, tt.rest)
		require.Equal(t, tt.command, name)
		require.Equal(t, tt.want, args, tt.rest)
	}
}
