package report

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark/ast"

	"github.com/librarian-app/librarian/librarian"
)

func TestP5_Permalink(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"src/a.go":                 "src/a.go#L10-L20",
		"a b.go":                   "a%20b.go#L10-L20",
		"a#b.go":                   "a%23b.go#L10-L20",
		"100%.go":                  "100%25.go#L10-L20",
		"what?.go":                 "what%3F.go#L10-L20",
		"c++/a+b.go":               "c%2B%2B/a%2Bb.go#L10-L20",
		"a&b.go":                   "a%26b.go#L10-L20",
		"app/[id]/page.tsx":        "app/%5Bid%5D/page.tsx#L10-L20",
		"app/(main)/page.tsx":      "app/%28main%29/page.tsx#L10-L20",
		`it's "here".go`:           "it%27s%20%22here%22.go#L10-L20",
		"a).go":                    "a%29.go#L10-L20",
		"r\u00e9sum\u00e9.go":      "r%C3%A9sum%C3%A9.go#L10-L20",
		"re\u0301sume\u0301.go":    "re%CC%81sume%CC%81.go#L10-L20", // decomposed, as the tree spells it
		"文档/文.go":                  "%E6%96%87%E6%A1%A3/%E6%96%87.go#L10-L20",
		"a\\b<c>*_`.go":            "a%5Cb%3Cc%3E%2A_%60.go#L10-L20",
		"@types/node/index.d.ts":   "%40types/node/index.d.ts#L10-L20",
		"README.md":                "README.md?plain=1#L10-L20",
		"docs/My Guide.MARKDOWN":   "docs/My%20Guide.MARKDOWN?plain=1#L10-L20",
		"docs/index.rst":           "docs/index.rst?plain=1#L10-L20",
		"md":                       "md#L10-L20",
		".github/workflows/ci.yml": ".github/workflows/ci.yml#L10-L20",
	} {
		l := librarian.Location{Web: "https://ghe.example.com/o/r", Name: "o/r", SHA: shaA, Path: path, Start: 10, End: 20}
		link := Permalink(l)
		require.Equal(t, "https://ghe.example.com/o/r/blob/"+shaA+"/"+want, link)

		u, err := url.Parse(link)
		require.NoError(t, err)
		require.Equal(t, "/o/r/blob/"+shaA+"/"+path, u.Path, "the link leads to the path as it is spelt")
		require.Equal(t, link, linkOf(t, Comment{}.link(Label(l), l)), "the link holds inside Markdown")
	}
}

// linkOf parses Markdown and gives the destination of its only link.
func linkOf(t *testing.T, md string) string {
	t.Helper()
	var dest []string
	_ = ast.Walk(parseMarkdown([]byte(md)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if l, ok := n.(*ast.Link); ok && entering {
			dest = append(dest, string(l.Destination))
		}
		return ast.WalkContinue, nil
	})
	require.Len(t, dest, 1, md)
	return dest[0]
}

func TestP5_Anchors(t *testing.T) {
	t.Parallel()
	l := librarian.Location{Web: "https://h/o/r/", SHA: shaA, Path: "a.go"}
	for _, c := range []struct {
		start, end int
		want       string
	}{{0, 0, ""}, {10, 10, "#L10"}, {10, 20, "#L10-L20"}} {
		l.Start, l.End = c.start, c.end
		require.Equal(t, "https://h/o/r/blob/"+shaA+"/a.go"+c.want, Permalink(l))
	}
	l.Path = "README.md"
	l.Start, l.End = 0, 0
	require.False(t, strings.Contains(Permalink(l), "plain"), "a whole document is read rendered")
}

func TestNoPage(t *testing.T) {
	t.Parallel()
	l := librarian.Location{Repo: librarian.FileRepo("/home/me/app"), Name: "app", SHA: shaA, Path: "src/a b.go", Start: 3, End: 9}
	require.Empty(t, Permalink(l))
	require.Equal(t, "src/a b.go:3-9@"+shaA, Pinned(l))
	require.Equal(t, "app/src/a b.go:3-9", Label(l))
	require.Contains(t, Comment{}.link(Label(l), l), "src/a b.go:3-9@"+shaA)
	l.Path = "a\nb\x1b.go"
	require.NotContains(t, Pinned(l), "\n")
	require.NotContains(t, Pinned(l), "\x1b")
	// What a line cannot show is told, not hidden.
	l.Web, l.Path = "https://h/o/r/", "nl\nname\x1b[31m\u202etxt.\xffé.go"
	require.Equal(t, `app/nl\nname\x1b[31m\u202etxt.\xffé.go:3-9`, Label(l))
	require.Equal(t, "[`"+`app/nl\nname\x1b[31m\u202etxt.\xffé.go:3-9`+"`](https://h/o/r/blob/"+shaA+"/nl%0Aname%1B%5B31m%E2%80%AEtxt.%FF%C3%A9.go#L3-L9)", Comment{}.link(Label(l), l))
}
