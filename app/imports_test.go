package app

import (
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/librarian-app/librarian/"

// mayImport is who may import whom of ours, by folder; a trailing /* takes what lies below. It is the shape of the house
// (see doc.go). Packages whose name ends in "test", and test files, are exempt.
var mayImport = map[string][]string{
	"cmd/librarian":             {"app", "librarian"},
	"handlers":                  {"librarian"},
	"librarian":                 {},
	"librarian/access":          {"librarian"},
	"librarian/hub":             {"librarian", "librarian/access", "librarian/settings"},
	"librarian/settings":        {"librarian", "librarian/access"},
	"librarian/queue":           {"librarian", "librarian/store"},
	"librarian/store":           {"librarian"},
	"librarian/comment":         {"librarian"},
	"librarian/run":             {"librarian", "librarian/access", "librarian/settings", "librarian/agent", "librarian/model", "librarian/report", "librarian/tool", "checkout"},
	"librarian/agent":           {"librarian", "librarian/model", "librarian/tool"},
	"librarian/model":           {},
	"librarian/report":          {"librarian", "librarian/tool"},
	"librarian/tool":            {},
	"librarian/tool/codetool":   {"librarian", "librarian/tool", "checkout", "checkout/*", "librarian/sandbox"},
	"librarian/tool/ghtool":     {"librarian", "librarian/tool"},
	"librarian/tool/mcptool":    {"librarian", "librarian/tool"},
	"librarian/sandbox":         {},
	"librarian/githubsim":       {"librarian", "checkout"},
	"checkout":                  {},
	"checkout/history":          {"checkout", "checkout/*"},
	"checkout/codesearch":       {"checkout", "checkout/*"},
	"checkout/codesearch/bench": {"checkout", "checkout/*"},
	"checkout/syntax":           {"checkout", "checkout/*"},
}

// onlyIn are imports that are for few hands.
var onlyIn = map[string][]string{
	"github.com/riverqueue/river":            {"librarian/queue", "app"},
	"github.com/palantir/go-githubapp":       {"handlers", "app", "librarian/hub"},
	"github.com/google/go-github/v66":        {"handlers", "app", "librarian/hub", "librarian/comment", "librarian/githubsim"},
	"github.com/anthropics/anthropic-sdk-go": {"librarian/model"},
	"github.com/openai/openai-go":            {"librarian/model"},
	"github.com/aws":                         {"librarian/model"},
	"google.golang.org/api":                  {"librarian/model"},
	"os/exec":                                {"checkout", "librarian/sandbox", "librarian/githubsim", "cmd/librarian"},
}

// execFiles are the files that may start processes, where not the whole package may.
var execFiles = map[string][]string{
	"checkout":      {"git.go", "grep.go", "store.go"},
	"cmd/librarian": {"token.go"},
}

func TestImportRules(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	require.NoError(t, filepath.WalkDir("..", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); name == "testdata" || strings.HasPrefix(name, ".") && name != ".." {
			return fs.SkipDir
		}
		for _, tags := range [][]string{nil, {"treesitter"}} {
			ctx := build.Default
			ctx.BuildTags = tags
			p, err := ctx.ImportDir(dir, 0)
			if err != nil {
				continue
			}
			pkg, err := filepath.Rel("..", dir)
			require.NoError(t, err)
			pkg = filepath.ToSlash(pkg)
			seen[pkg] = true
			if pkg == "app" || strings.HasSuffix(pkg, "test") {
				continue
			}
			allowed, known := mayImport[pkg]
			require.True(t, known, "%s is not in the table of who may import whom", pkg)
			for _, imp := range p.Imports {
				if ours, ok := strings.CutPrefix(imp, module); ok {
					require.True(t, matches(allowed, ours), "%s may not import %s", pkg, ours)
				}
				for prefix, where := range onlyIn {
					if imp == prefix || strings.HasPrefix(imp, prefix+"/") {
						require.Contains(t, where, pkg, "%s may not import %s", pkg, imp)
					}
				}
			}
			for _, pos := range p.ImportPos["os/exec"] {
				if files, ok := execFiles[pkg]; ok {
					require.Contains(t, files, filepath.Base(pos.Filename), "%s may not start processes", pos.Filename)
				}
			}
		}
		return nil
	}))
	for _, pkg := range []string{"app", "handlers", "librarian", "checkout"} {
		require.True(t, seen[pkg], "%s was not looked at", pkg)
	}
}

func matches(allowed []string, pkg string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		if below, ok := strings.CutSuffix(a, "/*"); ok {
			return strings.HasPrefix(pkg, below+"/")
		}
		return a == pkg
	})
}

// TestL5_OneFileNamesGitHub: outside of import paths and comments, the host stands in one file.
func TestL5_OneFileNamesGitHub(t *testing.T) {
	t.Parallel()
	var found []string
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, line := range codeLines(string(raw)) {
			if strings.Contains(line, "github.com") && !strings.Contains(line, `"github.com/`) {
				found = append(found, filepath.ToSlash(path)+": "+line)
			}
		}
		return nil
	}))
	for _, f := range found {
		require.True(t, strings.HasPrefix(f, "../librarian/host.go:"), f)
	}
	require.NotEmpty(t, found)
}

// codeLines are a file's lines without its comments.
func codeLines(src string) []string {
	var out []string
	for line := range strings.SplitSeq(src, "\n") {
		if i := strings.Index(line, "//"); i >= 0 && !strings.Contains(line[:i], `"`) {
			line = line[:i]
		} else if i := strings.LastIndex(line, " // "); i >= 0 {
			line = line[:i]
		}
		out = append(out, line)
	}
	return out
}

// TestDocsNamePackagesThatExist resolves the package paths that the tour names.
func TestDocsNamePackagesThatExist(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	n := 0
	for line := range strings.SplitSeq(string(raw), "\n") {
		path, ok := strings.CutPrefix(line, "//   - ")
		if !ok {
			continue
		}
		path, _, _ = strings.Cut(path, ":")
		for p := range strings.SplitSeq(path, ", ") {
			info, err := os.Stat(filepath.Join("..", filepath.FromSlash(p)))
			require.NoError(t, err, "doc.go names %s", p)
			require.True(t, info.IsDir())
			n++
		}
	}
	require.Greater(t, n, 15)
}
