package checkout

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBadName holds for stores too in which git does not check objects.
func TestBadName(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", ".", "..", ".git", ".GIT", ".Git", ".git ", ".git.", ".git...", "git~1", "GIT~1", ".g\u200cit", "\u200d.git", ".git::$INDEX_ALLOCATION", ".git:x", "a/b", "a\x00b"} {
		require.True(t, badName(bad), "%q", bad)
	}
	for _, good := range []string{".gitignore", ".gitmodules", "git", "git~2", "a", "...", "a.git", ".github", "x.git", "-rf", "\xff", ":(glob)"} {
		require.False(t, badName(good), "%q", good)
	}
}

func TestTreeUnderAndNear(t *testing.T) {
	t.Parallel()
	tree := &Tree{}
	for _, p := range []string{"a", "a-b/x", "a.txt", "a/x", "a/y/z.go", "a0", "b/Y/Z.go"} {
		tree.Entries = append(tree.Entries, Entry{Path: p, Kind: File})
	}
	paths := func(entries []Entry) string {
		out := ""
		for _, e := range entries {
			out += e.Path + " "
		}
		return out
	}
	require.Equal(t, "a/x a/y/z.go ", paths(tree.Under("a")))
	require.Equal(t, "a/y/z.go ", paths(tree.Under("a/y/")))
	require.Equal(t, "", paths(tree.Under("a/x")))
	require.Len(t, tree.Under(""), 7)
	require.True(t, tree.IsDir("a/y"))
	require.False(t, tree.IsDir("a/x"))
	require.Equal(t, []string{"b/Y/Z.go", "a/y/z.go"}, tree.Near("b/y/z.go", 3))
	require.Equal(t, []string{"a/y/z.go", "b/Y/Z.go"}, tree.Near("q/z.go", 3))
	got, err := decodeTree(tree.encode())
	require.NoError(t, err)
	require.Equal(t, fmt.Sprint(tree.Entries), fmt.Sprint(got.Entries))
}
