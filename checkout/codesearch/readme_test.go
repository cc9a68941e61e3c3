package codesearch

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheReadmeIsTheOneAtTheTop(t *testing.T) {
	t.Parallel()
	ix, err := Build(t.Context(), tree(map[string]string{
		"README.rst":           "Pears\n=====\n\nHow to pack pears.\n\nLicence\n-------\n\nFree.\n",
		"skills/wax/README.md": "# Who wrote the readme first\n\nWho wrote this readme wrote it first.\n",
		"src/readme.go":        "package src\n\n// RenderReadme writes what a readme says as HTML.\nfunc RenderReadme() string {\n\treturn render()\n}\n",
	}), Options{})
	require.NoError(t, err)
	for question, want := range map[string]string{
		"who wrote the readme first?":         "README.rst",
		"what does the README say of pears?":  "README.rst",
		"what does skills/wax/README.md say?": "skills/wax/README.md",
		"how is readme text rendered as HTML": "src/readme.go",
	} {
		res, err := ix.Search(t.Context(), Query{Question: question})
		require.NoError(t, err)
		require.NotEmpty(t, res.Candidates, question)
		require.Equal(t, want, res.Candidates[0].Path, question)
	}
}
