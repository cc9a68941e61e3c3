package checkout

import (
	"strings"
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
}

func TestTreeListing(t *testing.T) {
	t.Parallel()
	oid := func(c string) string { return strings.Repeat(c, oidLength) }
	tree := &Tree{Entries: []Entry{
		{Path: "a", Kind: File, OID: oid("0"), Size: 0},
		{Path: "a b\tc", Kind: Exec, OID: oid("1"), Size: 12},
		{Path: "b\n\xff", Kind: Exec, OID: oid("a"), Size: 1 << 40},
		{Path: "c", Kind: Symlink, OID: oid("f"), Size: 3},
		{Path: "d/e 1\t", Kind: Submodule, OID: oid("9")},
		{Path: "d/f", Kind: File, OID: oid("0"), Size: 7},
	}}
	list := string(tree.encode())
	got, err := decodeTree(list)
	require.NoError(t, err)
	require.Equal(t, tree, got)
	none, err := decodeTree("")
	require.NoError(t, err)
	require.Empty(t, none.Entries)
	records := strings.SplitAfter(list, "\x00")
	for _, r := range records[:len(records)-1] { // every record, cut anywhere
		for cut := 1; cut < len(r); cut++ {
			_, err := decodeTree(r[:cut])
			require.Error(t, err, "%q", r[:cut])
		}
	}
	for _, bad := range []string{"file", "file " + oid("0"), "file " + oid("0") + " x\ta\x00", "file " + oid("0") + "0 1\ta\x00", "file " + oid("0") + " 1\x00\t", "file " + oid("0") + " " + oid("9") + "\ta\x00", "\x00"} {
		_, err := decodeTree(bad)
		require.Error(t, err, "%q", bad)
	}
}
