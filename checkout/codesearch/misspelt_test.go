package codesearch

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSlipsOfTheKeyboard(t *testing.T) {
	t.Parallel()
	for pair, want := range map[[2]string]bool{
		{"rendr", "render"}: true, {"behaviour", "behavior"}: true, {"reciev", "receiv"}: true, {"websocked", "websocket"}: true,
		{"word", "ward"}: false, {"cart", "cast"}: false, {"render", "sender"}: false, {"abcd", "badc"}: false, {"pear", "pears"}: true, {"peach", "peachtr"}: false,
	} {
		require.Equal(t, want, oneSlip(pair[0], pair[1]), pair)
		require.Equal(t, want, oneSlip(pair[1], pair[0]), pair)
	}
	ix, err := Build(t.Context(), tree(map[string]string{
		"src/a.py": "def reckon(shelf):\n    for jar in shelf:\n        receive(jar)\n    return count(jar)\n",
		"src/b.py": "def close(shelf):\n    for lid in shelf:\n        press(lid)\n    return shelf\n",
	}), Options{})
	require.NoError(t, err)
	res, err := ix.Search(t.Context(), Query{Question: "where are jars receivd?"})
	require.NoError(t, err)
	require.NotEmpty(t, res.Candidates)
	require.Equal(t, "src/a.py", res.Candidates[0].Path)
	require.Equal(t, map[string]string{"receivd": "receiv"}, res.Near)
	require.Equal(t, []string{"receivd"}, res.Missing)
}
