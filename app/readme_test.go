package app

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout/codesearch"
	"github.com/librarian-app/librarian/librarian/report"
	"github.com/librarian-app/librarian/librarian/sandbox"
	"github.com/librarian-app/librarian/librarian/tool"
	"github.com/librarian-app/librarian/librarian/tool/codetool"
	"github.com/librarian-app/librarian/librarian/tool/ghtool"
)

// TestREADMEListsTheTools holds README's table against the catalogue of a run that has every tool; -update writes it.
func TestREADMEListsTheTools(t *testing.T) {
	t.Parallel()
	box, err := sandbox.New(sandbox.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	s := codetool.NewSession(codetool.Options{Index: codesearch.NewCache(t.TempDir(), codesearch.CacheOptions{}), Sandbox: box})
	tools := append(s.Tools(), ghtool.Tools(ghtool.Options{})...)
	tools = append(tools, ghtool.SearchCode(ghtool.GrepApp{}), report.NewResults(report.ResultsOptions{}).Tool())
	catalog, err := tool.NewCatalog(tools...)
	require.NoError(t, err)
	var names []string
	for _, spec := range catalog.Specs() {
		names = append(names, spec.Name)
	}
	require.ElementsMatch(t, names, toolNames(), "what tools.disabled may name")

	const begin, end = "<!-- tools: made by go test ./app -run README -update -->\n", "<!-- /tools -->"
	raw, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(raw), begin)
	require.True(t, ok, "README has no place for the tools")
	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	want := before + begin + tool.Table(catalog.Specs()) + end + after
	if *update {
		require.NoError(t, os.WriteFile("../README.md", []byte(want), 0o644)) //nolint:gosec // README is for everybody
		return
	}
	require.Equal(t, want, string(raw))
}
