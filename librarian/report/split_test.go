package report

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark/ast"

	"github.com/librarian-app/librarian/librarian"
)

// words are the letters and digits of a text: what must not get lost when it is cut.
func words(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

func TestP1_SplitBlocks(t *testing.T) {
	t.Parallel()
	const limit = 2_000
	para := strings.Repeat("Some words that make up a *paragraph* with `code in it`. ", 20)
	code := strings.Repeat("if a < b { c[`d`]() }\n", 300)
	item := "- item with some text in it, and ``` ticks\n"
	row := "| a cell | another cell |\n"
	for name, c := range map[string]struct {
		md   string
		kind ast.NodeKind // of every piece's first block
	}{
		"paragraphs":     {strings.Repeat(para+"\n\n", 10), ast.KindParagraph},
		"one paragraph":  {strings.Repeat(para, 10), ast.KindParagraph},
		"no spaces":      {strings.Repeat("文書", 3000), ast.KindParagraph},
		"backtick fence": {"```go\n" + strings.ReplaceAll(code, "`", "'") + "```", ast.KindFencedCodeBlock},
		"tilde fence":    {"~~~~ go\n" + code + "~~~~\n", ast.KindFencedCodeBlock},
		"fence, a blank": {"```\n" + strings.Repeat("x\n\n\n", 2000) + "```", ast.KindFencedCodeBlock},
		"indented code":  {"    " + strings.ReplaceAll(strings.TrimSpace(code), "\n", "\n    "), ast.KindFencedCodeBlock},
		"long code line": {"```\n" + strings.Repeat("abc`", 5000) + "\n```", ast.KindFencedCodeBlock},
		"list":           {strings.Repeat(item, 300), ast.KindList},
		"numbered":       {numberedList(300), ast.KindList},
		"table":          {"| h | i |\n|---|---|\n" + strings.Repeat(row, 300), parseMarkdown([]byte("|a|\n|-|\n|b|")).FirstChild().Kind()},
		"one long item":  {"- " + strings.Repeat("word ", 2000), ast.KindFencedCodeBlock},
		"quote":          {strings.Repeat("> quoted text\n", 500), ast.KindFencedCodeBlock},
		"emphasis":       {"*" + strings.Repeat("word ", 2000) + "end*", ast.KindFencedCodeBlock},
		"html":           {"<div>\n" + strings.Repeat("word\n", 2000) + "</div>", ast.KindFencedCodeBlock},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pieces := splitMarkdown(c.md, limit)
			require.Greater(t, len(pieces), 1)
			var all strings.Builder
			for _, p := range pieces {
				require.LessOrEqual(t, units(p), limit)
				require.True(t, closed(p), "%q", p)
				require.Equal(t, c.kind, parseMarkdown([]byte(p)).FirstChild().Kind(), "%.200q", p)
				all.WriteString(p + "\n")
			}
			got := words(all.String())
			if name == "table" { // its head is repeated
				got = words(strings.ReplaceAll(all.String(), "| h | i |", ""))
			}
			if strings.Contains(name, "fence") { // so is the language
				require.Equal(t, strings.Count(words(c.md), "x")+strings.Count(words(c.md), "c"), strings.Count(got, "x")+strings.Count(got, "c"))
				return
			}
			require.Equal(t, strings.TrimPrefix(words(c.md), "hi"), got, "nothing is lost")
		})
	}
}

func numberedList(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d. item of a list\n", i+1)
	}
	return b.String()
}

func TestP1_SplitKeepsShortText(t *testing.T) {
	t.Parallel()
	for _, md := range []string{"", "a", "# a\n\nb", strings.Repeat("a", 2000)} {
		require.Equal(t, []string{md}, splitMarkdown(md, 2000))
	}
	require.Len(t, splitMarkdown(strings.Repeat("\U0001F600", 1001), 2000), 2, "units are UTF-16")
}

// Hostile text is cut in time: the worst of these shapes takes 0.2 s, without the guard some seconds.
func TestP1_SplitIsFast(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"*a ", "[a](", "`a ", "> ", "- ", "a\n", "\n", "|a|\n", "<a ", "~~~\n", "1. a\n", "_*", "]", "a b "} {
		begin := time.Now()
		for _, p := range splitMarkdown(strings.Repeat(unit, 66_000/len(unit)), MaxComment) {
			require.LessOrEqual(t, units(p), MaxComment)
		}
		require.Less(t, time.Since(begin), 10*time.Second, "%q", unit)
	}
}

func FuzzSplitMarkdown(f *testing.F) {
	for _, s := range []string{
		"para *em* `code`\n\n- a\n- b\n\n```go\nx\n```\n", "> q\n> ```\n> x", "~~~\nnever closed", "|a|b|\n|-|-|\n|c|d|", "a\n===\nb\n---\n", "1. x\n\n   ```\n   y\n   ```\n",
		"<!-- open\n\ntext", "<details>\n\nx\n\n</details>", "    code\n\n\tcode", "[a]: /b\n\n[a]", "- - - x\n* * *\n", "\\`a` ``b` c``", "文書。文書", "a\\\nb  \nc",
	} {
		f.Add(s, uint8(40))
	}
	f.Fuzz(func(t *testing.T, s string, times uint8) {
		if len(s) > 2_000 {
			return
		}
		md := strings.ToValidUTF8(strings.Repeat(s, 1+int(times)), "")
		whole := closed(md)
		pieces := splitMarkdown(md, 2_000)
		var all strings.Builder
		for _, p := range pieces {
			require.LessOrEqual(t, units(p), 2_000)
			if whole || len(pieces) > 1 && len(blocks(md)) == 1 {
				require.True(t, closed(p), "%q in %q", p, md)
			}
			all.WriteString(p)
		}
		require.GreaterOrEqual(t, len(words(all.String())), len(words(md)), "lost text of %q: %q", md, pieces)
	})
}

// What was inert stays inert in every piece and beside the host's links.
func FuzzCleanTextStaysClean(f *testing.F) {
	for _, s := range []string{
		"@mallory fixes #1 ![x](https://e.example) `a.go:1` a.go:1\n\n", "a `@b` @c\n- <b> a.go:1 [a.go:1](x)\n\n", "| a.go:1 |\n|---|\n| @x `a.go:1` |\n", "``` a.go:1 ```` @x `` a.go:1",
		"[a.go:1]: http://e.example\n[a.go:1]", "*a.go:1* _@a_ __a.go:1__ <https://e.example/a.go:1>", "\\`a.go:1\\` &#64;x &lt;b>",
	} {
		f.Add(s, uint8(40))
	}
	ref := librarian.Location{Web: "https://h.example/o/r", SHA: shaA, Path: "a.go", Start: 1, End: 1}
	f.Fuzz(func(t *testing.T, s string, times uint8) {
		if len(s) > 1_000 {
			return
		}
		md := linkMentions(Sanitize(strings.Repeat(s, 1+int(times)), Options{}), []librarian.Location{ref}, "")
		o := Options{AllowLinks: func(url string) bool { return url == Permalink(ref) }}
		for _, p := range splitMarkdown(md, 2_000) {
			require.Empty(t, neutralize([]byte(p), o, true), "%q\nof %q", p, md)
			require.True(t, closed(p), "%q", p)
		}
	})
}
