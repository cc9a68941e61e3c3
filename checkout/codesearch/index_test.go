package codesearch

import (
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func tree(files map[string]string) TreeSource {
	m := fstest.MapFS{}
	for p, s := range files {
		m[p] = &fstest.MapFile{Data: []byte(s)}
	}
	return TreeSource{m}
}

var smallTree = map[string]string{
	"retry/backoff.go":      "package retry\n\n// Interval computes the exponential delay before the next attempt, with jitter.\nfunc Interval(n int) int {\n\treturn 1 << n\n}\n",
	"retry/other.go":        "package retry\n\nfunc Unrelated() {}\n",
	"retry/backoff_test.go": "package retry\n\nfunc TestInterval(t *testing.T) { // exponential delay attempt jitter\n\tInterval(1)\n\tInterval(2)\n}\n",
	"README.md":             "# Retry\n\nExponential delay with jitter before the next attempt.\n",
	"logo.png":              "\x89PNG\x00\x00",
}

func TestSearchFindsTheDeclarationBeforeItsTestAndItsDocs(t *testing.T) {
	t.Parallel()
	ix, err := Build(t.Context(), tree(smallTree), Options{})
	require.NoError(t, err)
	res, err := ix.Search(t.Context(), Query{Question: "Where is the exponential delay before the next attempt computed?"})
	require.NoError(t, err)
	require.NotEmpty(t, res.Candidates)
	c := res.Candidates[0]
	require.Equal(t, "retry/backoff.go", c.Path)
	require.Equal(t, "Interval", c.Symbol)
	require.Equal(t, [2]int{4, 6}, [2]int{c.Start, c.End})
	require.NotEmpty(t, c.Why)
	require.Greater(t, c.Score, 0.0)
	require.LessOrEqual(t, c.Score, 1.0)
}

func TestSaveAndOpenGiveTheSameAnswers(t *testing.T) {
	t.Parallel()
	src := tree(smallTree)
	ix, err := Build(t.Context(), src, Options{})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "a.idx")
	require.NoError(t, ix.Save(file))
	again, err := Open(file, src)
	require.NoError(t, err)
	require.Equal(t, ix.Stats(), again.Stats())
	for _, q := range []string{"exponential jitter", "Unrelated", "backoff.go", `"with jitter"`} {
		a, err := ix.Search(t.Context(), Query{Question: q})
		require.NoError(t, err)
		b, err := again.Search(t.Context(), Query{Question: q})
		require.NoError(t, err)
		require.Equal(t, a, b, q)
		require.NotEmpty(t, a.Candidates, q)
	}
}
