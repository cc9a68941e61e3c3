package handlers

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// addresses are found as GitHub finds them: extension.Linkify would take the backtick of a code span for a part of one.
var addresses = extension.NewLinkify(extension.WithLinkifyEmailRegexp(regexp.MustCompile(`^[a-zA-Z0-9.+_-]+@[a-zA-Z0-9._-]+\.[a-zA-Z0-9._-]+`)))

// oracle is GFM by goldmark's own full parse, with tables where GitHub has them; ordinary has them where goldmark's extension does.
var (
	oracle   = goldmark.New(goldmark.WithExtensions(addresses, extension.Strikethrough, extension.TaskList, gfmTables{}))
	ordinary = goldmark.New(goldmark.WithExtensions(addresses, extension.Strikethrough, extension.TaskList, extension.Table))
)

// gfmTables finds tables by [tables] and leaves their cells to goldmark.
type gfmTables struct{ *tables }

// Extend implements goldmark.Extender.
func (gfmTables) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(parser.WithBlockParsers(util.Prioritized(gfmTables{newTables()}, 900)))
}

// Close makes blocks of the cells.
func (gfmTables) Close(n ast.Node, r text.Reader, _ parser.Context) {
	t := n.(*table)
	for _, l := range segments(t.Lines()) {
		for j, c := range cells(r.Source(), l) {
			if j < t.columns {
				b := ast.NewTextBlock()
				b.Lines().Append(text.NewSegment(c.start, c.stop))
				t.AppendChild(t, b)
			}
		}
	}
	t.Lines().SetSliced(0, 0)
}

// deviation names why goldmark's extension sees another table in lf than GitHub does (cmark-gfm: extensions/table.c, src/blocks.c), or is
// empty. The extension looks for tables in paragraphs that are whole, GitHub's parser line by line. Each has rows in mentionTable.
func deviation(lf string) string {
	lines := strings.Split(lf, "\n")
	for i := 1; i < len(lines); i++ {
		head := marks.ReplaceAllString(lines[i-1], "")
		columns, have := delimiters([]byte(strings.TrimLeft(lines[i], " \t>"))), len(cells([]byte(head), span{0, len(head)}))
		switch {
		case columns > 0 && columns == have-1 && strings.HasSuffix(strings.TrimRight(head, " \t"), "|"):
			return "it does not count an empty last cell of a header"
		case columns == 0 || have > columns:
			continue
		case have < columns:
			return "it fills up a header of fewer cells than the row below it; with GitHub both lines are text"
		}
		for _, row := range lines[i+1:] {
			switch rest := strings.TrimLeft(row, " \t>"); {
			case strings.Count(row[:len(row)-len(rest)], ">") < strings.Count(lines[i], ">"), lines[i][0] == ' ' && rest == row:
				return "it goes on with a lazy line behind the quote or list that the table stands in; with GitHub only paragraphs do"
			case rest == "":
			case strings.Contains(row[:len(row)-len(rest)], "   "), strings.Contains(row[:len(row)-len(rest)], "\t"), strings.ContainsAny(rest[:1], "<0123456789-+*"):
				return "it takes for a row what begins a block but could not break into a paragraph: code, HTML, a list; with GitHub that ends the table"
			case rest[0] == '=':
				return "it takes a row for the line below a heading"
			}
		}
	}
	return ""
}

var marks = regexp.MustCompile(`^([ \t>]|[-+*][ \t]|\d+[.)][ \t])*`)

// proseOf is the text of body that is prose by goldmark's own full parse, which shares nothing with inline.go. Between its
// pieces stands a NUL.
func proseOf(oracle goldmark.Markdown, body string) string {
	source := []byte(body)
	var b strings.Builder
	_ = ast.Walk(oracle.Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			b.WriteByte(0)
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan, *ast.CodeBlock, *ast.FencedCodeBlock, *ast.Blockquote, *ast.Link, *ast.Image, *ast.AutoLink, *ast.RawHTML:
			b.WriteByte(0)
			return ast.WalkSkipChildren, nil
		case *ast.HTMLBlock:
			for i := range n.Lines().Len() {
				l := n.Lines().At(i)
				b.Write(l.Value(source))
			}
			if n.HasClosure() {
				b.Write(n.ClosureLine.Value(source))
			}
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte('\n')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

var oracleName = regexp.MustCompile(`(?i)(@|&(#0*64|#x0*40|commat);)(l|&#0*(76|108);|&#x0*(4|6)c;)`)

// checkMention holds the properties of any text.
func checkMention(t *testing.T, body string) {
	m, ok := Parse(body, testNames)
	if again, okAgain := Parse(body, testNames); ok != okAgain || m != again {
		t.Fatalf("%q: parsed twice, it differs", body)
	}
	if !ok {
		require.Zero(t, m)
		return
	}
	// Never from code, quotes, comments, links. An '@' that begins a name must be prose to another parser, too.
	lf := strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n")
	require.Regexp(t, oracleName, proseOf(oracle, lf), "%q", body)
	if !oracleName.MatchString(proseOf(ordinary, lf)) {
		require.NotEmpty(t, deviation(lf), "%q is none to goldmark's own tables", body)
	}
	require.True(t, m.Command != "" || m.Question != "", "%q", body)
	// A question, read again, mentions nobody: no answer can start a run by quoting it.
	_, again := Parse(m.Question, testNames)
	require.False(t, again, "%q became %q", body, m.Question)
	require.NotContains(t, m.Question, "\x00")
	for _, r := range m.Question + m.Quoted {
		require.False(t, invisible(r) && r != 0x200c && r != 0x200d, "%q keeps %U", body, r)
	}
}

func FuzzMention(f *testing.F) {
	for _, row := range mentionTable {
		f.Add(row.body)
	}
	f.Add("00||\n-|\n0|@liBrAriAn")
	f.Add("[a]\n<!--`\n\n--> @librarian `")
	f.Add("[@librarian](\x10)")
	f.Add("a\n-|- \n`a|a`@librarian `")
	f.Fuzz(func(t *testing.T, body string) {
		if len(body) <= 4_000 {
			checkMention(t, body)
		}
	})
}

// mentionFragments are what Markdown is made of; strung together they find more than random bytes do.
var mentionFragments = strings.Split("@librarian |@librarian|&#64;librarian|\\@librarian|why|`|``|```|~~~|*|_|[|]|(|)|](|][|]:|![|<|>|<b>|</b>|<a href='|<!--|-->|<div>|<pre>|</pre>|<?|?>|"+
	"https://a.b|www.a.b|a@b.c|&amp;|\\|\n|\n\n|\n> |\n- |\n    |\n1. |\n# |\n\t| |  |/|:|\"|'|.|\u200b|\x00|!|\r|\r\n|\n```go\n|\n~~~\n|<code>|</code>|\n[a]: b\n|[a]|-|=|\n===\n|<details>\n|<blockquote>|> |    ", "|")

func pickFragments(picks []byte) string {
	var b strings.Builder
	for _, p := range picks[:min(len(picks), 150)] {
		if i := int(p) % (len(mentionFragments) + 2); i < len(mentionFragments) {
			b.WriteString(mentionFragments[i])
		} else {
			b.WriteString([]string{"|", "\n|-|-|\n"}[i-len(mentionFragments)])
		}
	}
	return b.String()
}

func FuzzMentionFragments(f *testing.F) {
	f.Add([]byte{0, 4, 33, 5, 0, 5})
	f.Add([]byte{4, 5, '!', 5, 0, 5})
	f.Add([]byte{61, 1, 61, 1, 62, 61, 5, 0, 5})
	f.Fuzz(func(t *testing.T, picks []byte) { checkMention(t, pickFragments(picks)) })
}

// Whatever the parser accepts passes the filter before it, as text and as the JSON of a delivery, however that is escaped.
func FuzzPrefilter(f *testing.F) {
	for i, row := range mentionTable {
		f.Add(row.body, uint64(i)*0x9e3779b97f4a7c15)
	}
	f.Fuzz(func(t *testing.T, body string, escapes uint64) {
		if len(body) > 4_000 {
			return
		}
		if d := scan(normalize(body), testNames); len(d.mentions) == 0 {
			return
		}
		require.True(t, MayMention([]byte(body), testNames), "%q", body)
		encoded, err := json.Marshal(map[string]string{"body": body})
		require.NoError(t, err)
		require.True(t, MayMention(encoded, testNames), "%s", encoded)
		var b strings.Builder // any character may be escaped
		for i, r := range body {
			switch {
			case r > 0xffff || r == '\\' || r == '"' || r < ' ' || escapes>>(i%64)&1 == 1:
				for _, u := range utf16Of(r) {
					if escapes>>(i%61)&2 == 0 {
						fmt.Fprintf(&b, `\u%04x`, u)
					} else {
						fmt.Fprintf(&b, `\u%04X`, u)
					}
				}
			default:
				b.WriteRune(r)
			}
		}
		escaped := `{"body":"` + b.String() + `"}`
		var back struct{ Body string }
		require.NoError(t, json.Unmarshal([]byte(escaped), &back))
		require.True(t, MayMention([]byte(escaped), testNames), "%s", escaped)
	})
}

func utf16Of(r rune) []uint16 {
	if r > 0xffff {
		r -= 0x10000
		return []uint16{uint16(0xd800 + r>>10), uint16(0xdc00 + r&0x3ff)}
	}
	return []uint16{uint16(r)}
}

// hostileBodies are size bytes long, as long as a comment may be for bodySize, and mention us at the end; those that differ in what
// follows a mention do so at the beginning, too.
func hostileBodies(size int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	var ticks, stairs strings.Builder
	for i := 1; ticks.Len() < size-400; i++ {
		ticks.WriteString(strings.Repeat("`", i) + "a")
	}
	for i := 0; stairs.Len() < size-400; i++ {
		stairs.WriteString(strings.Repeat(" ", i) + "- a\n")
	}
	bodies := map[string]string{
		"blank below lists": strings.Repeat("- ", 99) + "a" + fill("\n"), "quotes below lists": strings.Repeat("> - ", 40) + "a\n" + fill(">\n"),
		"nested images": strings.Repeat("![", size/8) + "a" + strings.Repeat("](b)", size/8), "ticks": ticks.String(), "stairs": stairs.String(),
		"tags below a table": "|a|\n|-|\n" + fill("<a\n"),
		"a wide, tall table": strings.Repeat("|a", size/8) + "\n" + strings.Repeat("|-", size/8) + "\n" + strings.Repeat("a\n", size/4),
	}
	for _, s := range []string{
		"a @librari ", "[", "]", "![", "[a](", "[a](b", "[a](<b", "[a](b \"", "[a](b 'x\\' ", "[a][", "[a]", "[](", "*", "*a ", "*a_", "_a", "**x*", "~a ", "` a", "``", "<", "<a ",
		"<a\n", "<a>x\n", "<a>x>\n", "<a>\n\n", "</p\n", "<a b='", "<a b=\"x\" ", "<!--", "a<!-- ", "a<?", "a<!A", "a<![CDATA[", "a</a ", "<code>", "</code>", ">", "> ", ">\n", "- ", "1. ", "> - ", "# a\n", "&", "&#64", "&#64;", "\\", "\\@",
		"http://a ", "http://a/(", "www.", "a@", "@", "@librarian", "@librarian ", "@librarian\n", "@librarian/", "|", "a|b\n-|-\n", "a|b\n-|-\n\n", "a|b\n-|-\n# a\n", "a\n-|-\n", "a|b\n-|-\n2. a\n", "> a|b\n> -|-\na\n", "[a]: b\n", "[a]: b 'c\n", "[\n", "a\n=\n", "    a\n", "~~~\n",
		"```a`\n", "\n", " ", "\t", "a\r", "- [ ] a\n", "<details>\n", "<script>\n", "* a\n  ", "a\n", "\x00", "\u200b", "> a\n\nb\n\n", "<!-- a -->", "[a]\n\n[b]: c\n\n",
	} {
		bodies[fmt.Sprintf("%.20q", s)] = fill(s)
	}
	for _, s := range []string{"\n> a\n", "> a\n\nb\n\n", "<!-- a -->", "@librarian ", "&#64;librarian\n", "\u200b", "- ", "\n", "\x00", "@\u200blibrarian "} {
		bodies[fmt.Sprintf("first, then %.20q", s)] = "@librarian why?\n\n" + fill(s)
	}
	for k, s := range bodies {
		bodies[k] = s[:min(len(s), size)] + "\n\n@librarian why?"
	}
	return bodies
}

const bodySize = 65_500

// A body sixteen times as long may take sixteen times as long, and some more: stairs of lists take the power of 1.5, since
// each line is as long as it is deep. What is quadratic takes 256 times as long.
func TestM7_HostileBodiesAreLinear(t *testing.T) {
	const fine = 50 * time.Millisecond
	took := func(body string) time.Duration {
		best := time.Hour
		for range 3 {
			best = min(best, cpuTime(func() { Parse(body, testNames) }))
		}
		return best
	}
	small := hostileBodies(bodySize / 16)
	for name, body := range hostileBodies(bodySize) {
		if long := took(body); long > fine { // a slow machine, or the race detector
			require.Less(t, long, 128*took(small[name]), name)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	line := "The handler in `pkg/server.go` calls [decode](https://example.com/x) and **then** @mona asked why? See #12 & co.\n"
	for _, size := range []int{1 << 10, 4 << 10, 16 << 10, 64 << 10} {
		body := strings.Repeat(line, size/len(line)) + "\n@librarian why?"
		b.Run(fmt.Sprintf("prose/%dk", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				Parse(body, testNames)
			}
		})
	}
	for name, body := range hostileBodies(bodySize) {
		b.Run("hostile/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				Parse(body, testNames)
			}
		})
	}
}
