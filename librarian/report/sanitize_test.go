package report

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	nethtml "golang.org/x/net/html"
)

const testAsker = "mona"

// shownAs renders Markdown as a reader's browser gets it, raw HTML included, and gives its text outside code and the
// elements it holds. It shares no code with Sanitize. Bare addresses stay text here: goldmark's linkifier takes backticks for
// part of an e-mail address, GitHub does not.
func shownAs(t testing.TB, md string) (text string, elements map[string][]string) {
	t.Helper()
	var out bytes.Buffer
	err := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList), goldmark.WithRendererOptions(html.WithUnsafe())).Convert([]byte(md), &out)
	require.NoError(t, err)
	doc, err := nethtml.Parse(&out)
	require.NoError(t, err)
	elements = map[string][]string{}
	var b strings.Builder
	var walk func(n *nethtml.Node, code bool)
	walk = func(n *nethtml.Node, code bool) {
		switch n.Type {
		case nethtml.TextNode:
			if !code {
				b.WriteString(n.Data)
			}
		case nethtml.CommentNode:
			elements["comment"] = append(elements["comment"], n.Data)
		case nethtml.ElementNode:
			href := ""
			for _, a := range n.Attr {
				if a.Key == "href" || a.Key == "src" {
					href = a.Val
				}
			}
			elements[n.Data] = append(elements[n.Data], href)
			code = code || n.Data == "code" || n.Data == "pre" || n.Data == "a"
			b.WriteString("\x00") // GitHub's filters look at each text node by itself
			defer b.WriteString("\x00")
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, code)
		}
	}
	walk(doc, false)
	return b.String(), elements
}

var (
	oracleMention = regexp.MustCompile(`(^|[^a-zA-Z0-9])@([a-zA-Z0-9][a-zA-Z0-9-]*)`)
	oracleIssue   = regexp.MustCompile(`(?i)#[0-9]+([^0-9a-zA-Z_]|$)|\bgh-[0-9]+([^0-9a-zA-Z_]|$)`)
	oracleCommit  = regexp.MustCompile(`\b[0-9a-f]{40}\b`)
	oracleURL     = regexp.MustCompile(`(?i)(https?|ftp)://[a-z0-9]|\bwww\.[a-z0-9]`)
	plainElements = map[string]bool{
		"html": true, "head": true, "body": true, "p": true, "em": true, "strong": true, "del": true, "code": true, "pre": true, "ul": true,
		"ol": true, "li": true, "blockquote": true, "h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "hr": true, "br": true,
		"table": true, "thead": true, "tbody": true, "tr": true, "th": true, "td": true, "input": true,
	}
)

// requireInert fails if anything in md is live.
func requireInert(t testing.TB, md string) {
	t.Helper()
	text, elements := shownAs(t, md)
	for _, m := range oracleMention.FindAllStringSubmatch(text, -1) {
		require.True(t, strings.EqualFold(m[2], testAsker), "a live mention of %q in %q", m[2], md)
	}
	require.NotRegexp(t, oracleIssue, text, "%q", md)
	require.NotRegexp(t, oracleCommit, text, "%q", md)
	require.NotRegexp(t, oracleURL, text, "%q", md)
	for name, refs := range elements {
		if name == "a" {
			for _, r := range refs {
				require.True(t, strings.HasPrefix(r, "mailto:"), "a link to %q in %q", r, md)
			}
			continue
		}
		require.True(t, plainElements[name], "an element %s in %q", name, md)
	}
	// What the host appends stands by itself.
	_, after := shownAs(t, md+"\n\n# appended by the host")
	require.Greater(t, len(after["h1"]), len(elements["h1"]), "%q swallows what follows", md)
}

func TestSanitize(t *testing.T) {
	t.Parallel()
	sha := strings.Repeat("0123456789abcdef", 3)[:40]
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "The answer is in `a.go`.", "The answer is in `a.go`."},
		{"P3 a name", "ask @octocat about it", "ask `@octocat` about it"},
		{"P3 the asker", "@mona, it is here", "@mona, it is here"},
		{"P3 the asker in another case", "@MONA, it is here", "@MONA, it is here"},
		{"P3 begins like the asker", "@mona-lisa and @monarch", "`@mona-lisa` and `@monarch`"},
		{"P3 a team", "@acme/backend", "`@acme/backend`"},
		{"P3 the asker as an organisation", "@mona/team", "`@mona/team`"},
		{"P3 a package", "import @types/node or @scope/a.b", "import `@types/node` or `@scope/a.b`"},
		{"P3 an annotation", "marked @Override here", "marked `@Override` here"},
		{"P3 an entity", "&#64;octocat &#x40;octocat &commat;octocat", "`@octocat` `@octocat` `@octocat`"},
		{"P3 an entity within", "@&#111;ctocat", "`@octocat`"},
		{"P3 an escape", "\\@octocat", "`@octocat`"},
		{"P3 in emphasis", "**@octocat**", "**`@octocat`**"},
		{"P3 in a heading", "# @octocat", "# `@octocat`"},
		{"P3 in a table", "| a |\n|---|\n| @octocat |", "| a |\n|---|\n| `@octocat` |"},
		{"P3 in a quote", "> @octocat", "> `@octocat`"},
		{"P3 beside backticks", "`a`@octocat", "`a`@\u2060octocat"},
		{"P3 e-mail", "write to me@example.com", "write to me@example.com"},
		{"P3 code", "`@octocat` and\n\n```\n@octocat #1\n```", "`@octocat` and\n\n```\n@octocat #1\n```"},
		{"P3 a hidden mark", "@\u200boctocat", "`@octocat`"},
		{"P4 an issue", "see #123.", "see `#123`."},
		{"P4 a closing word", "fixes #1, closes: #2, Resolves acme/app#3", "fixes `#1`, closes: `#2`, Resolves `acme/app#3`"},
		{"P4 GH-", "GH-12 and gh-13", "`GH-12` and `gh-13`"},
		{"P4 an entity", "&#35;12", "`#12`"},
		{"P4 a URL of an issue", "fixes https://github.example/a/b/issues/1", "fixes `https://github.example/a/b/issues/1`"},
		{"P4 a commit", "since " + sha, "since `" + sha + "`"},
		{"P4 a short commit", "since 0a1b2c3 or acme/app@0a1b2c3", "since `0a1b2c3` or `acme/app@0a1b2c3`"},
		{"P4 not a commit", "defaced 20261130 1234567 #1f2937 #L10", "defaced 20261130 1234567 #1f2937 #L10"},
		{"P4 a heading", "# 1\n\n## 2", "# 1\n\n## 2"},
		{"W7 a link", "[here](https://evil.example/?q=1)", "\\[here\\](`https://evil.example/?q=1`)"},
		{"W7 a reference link", "[here][a]\n\n[a]: https://evil.example/x", "\\[here\\][a]\n\n\\[a\\]: `https://evil.example/x`"},
		{"W7 an image", "![x](https://evil.example/p.png)", "!\\[x\\](`https://evil.example/p.png`)"},
		{"W7 a linked image", "[![x](https://a.example)](https://b.example)", "\\[!\\[x\\](`https://a.example)](https://b.example`)"},
		{"W7 an autolink", "<https://evil.example>", "\\<`https://evil.example`>"},
		{"W7 a bare URL", "at https://evil.example/a_b_c?d=e.", "at `https://evil.example/a_b_c?d=e`."},
		{"W7 www", "at www.evil.example", "at `www.evil.example`"},
		{"W7 HTML", "a <img src=\"https://evil.example\"> b", "a \\<img src=\"`https://evil.example`\"> b"},
		{"W7 an HTML block", "<div>\n<b>x</b>\n</div>", "\\<div>\n\\<b>x\\</b>\n\\</div>"},
		{"a comment", "a <!-- librarian run=1 --> b", "a  b"},
		{"a comment block", "<!-- librarian run=1 -->\n\nb", "b"},
		{"an open comment", "a\n\n<!-- b", "a\n\n\\<!-- b"},
		{"an open fence", "a\n\n```go\nb", "a\n\n```go\nb\n```"},
		{"an open long fence", "a\n\n~~~~\nb ~~~", "a\n\n~~~~\nb ~~~\n~~~~"},
		{"open details", "<details>\n\nx", "\\<details>\n\nx"},
		{"a suggestion", "```suggestion\nx\n```", "```text\nx\n```"},
		{"a diagram", "```mermaid\ngraph\n```", "```text\ngraph\n```"},
		{"an index", "a[i](x) and m[k][v]", "a[i](x) and m[k][v]"},
		{"W6 a token", "it is ghp_" + strings.Repeat("a", 36), "it is [redacted]"},
		{"W6 a token in code", "`ghs_" + strings.Repeat("a1", 18) + "`", "`[redacted]`"},
		{"W6 a token with an entity", "it is g&#104;p_" + strings.Repeat("a", 36), "it is [redacted]"},
		{"W6 a token with a hidden mark", "it is ghp_\u200b" + strings.Repeat("a", 20) + "\u2060" + strings.Repeat("b", 20), "it is [redacted]"},
		{"W6 an exact value", "it is hunter2-hunter2", "it is [redacted]"},
		{"indented code first", "    @octocat", "    @octocat"},
		{"nothing", " \n\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := Options{Asker: testAsker, Secrets: []string{"hunter2-hunter2"}}
			got := Sanitize(tt.in, o)
			if tt.name == "an index" { // a relative link to a browser; shown as written
				text, _ := shownAs(t, got)
				require.Contains(t, text, "a[i](x) and m[k][v]")
			} else {
				require.Equal(t, tt.want, got)
			}
			require.Equal(t, got, Sanitize(got, o), "idempotent")
			requireInert(t, got)
		})
	}
}

func TestSanitizeAllowedLinks(t *testing.T) {
	t.Parallel()
	o := Options{AllowLinks: func(u string) bool { return strings.HasPrefix(u, "https://ok.example/") }}
	for in, want := range map[string]string{
		"[a](https://ok.example/b)":             "[a](https://ok.example/b)",
		"https://ok.example/b#1 @x":             "https://ok.example/b#1 `@x`",
		"<https://ok.example/b>":                "<https://ok.example/b>",
		"[a](https://ok.example.evil.example/)": "\\[a\\](`https://ok.example.evil.example/`)",
		"![a](https://ok.example/b)":            "!\\[a\\](https://ok.example/b)",
	} {
		got := Sanitize(in, o)
		require.Equal(t, want, got)
		require.Equal(t, got, Sanitize(got, o))
	}
}

func TestW6_RedactKept(t *testing.T) {
	t.Parallel()
	const odd = `a "quoted" <key> & more`
	raw, err := json.Marshal(map[string]string{"message": "the key of odd is " + odd + ", once more " + base64.StdEncoding.EncodeToString([]byte(odd)) + ", in AKIA0123456789ABCDEF"})
	require.NoError(t, err)
	kept := RedactKept(raw, []string{odd, "message", ""})
	require.JSONEq(t, `{"message":"the key of odd is [redacted], once more [redacted], in AKIA0123456789ABCDEF"}`, regexp.MustCompile(`\[redacted\][A-Za-z0-9=]{0,4},`).ReplaceAllString(string(kept), "[redacted],"))
}

func TestW6_Redact(t *testing.T) {
	t.Parallel()
	jwt := "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMjM0NTYifQ.c2lnbmF0dXJlLXNpZ25hdHVyZQ"
	pem := "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----"
	const value = "s3cr3t/value+x"
	for _, in := range []string{
		"ghp_" + strings.Repeat("A", 36), "gho_" + strings.Repeat("A", 36), "ghs_" + strings.Repeat("A", 36), "ghu_" + strings.Repeat("A", 36),
		"github_pat_" + strings.Repeat("A1_", 20), jwt, pem, "-----BEGIN PRIVATE KEY-----\nMIIE", "sk-" + strings.Repeat("a1", 20),
		"sk-ant-api03-" + strings.Repeat("aB3_", 10), "AKIAIOSFODNN7EXAMPLE", value, "s3cr3t%2Fvalue%2Bx",
		base64.StdEncoding.EncodeToString([]byte("x-access-token:" + value)),
		base64.StdEncoding.EncodeToString([]byte("u:" + value + ":x")), base64.URLEncoding.EncodeToString([]byte("abc" + value)),
		"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:other-secret")),
	} {
		got := Redact("before "+in+" after", []string{value, "abc", ""})
		require.Contains(t, got, redacted, in)
		require.Contains(t, got, "before ")
		require.Equal(t, got, Redact(got, []string{value}), "idempotent")
		for _, part := range []string{"AAAAAAAA", "eyJhbGci", "MIIE", "a1a1a1", "OSFODNN7", "s3cr3t"} {
			require.NotContains(t, got, part, in)
		}
	}
	for _, in := range []string{
		"the abc of it", "sk-learn-contrib-package", "task-1234567890123456", "ghp_short", "an AKIA key", "eyJust a word", "a basic question about internationalization",
	} {
		require.Equal(t, in, Redact(in, []string{"abc", ""}))
	}
}

func TestP2_FenceAndInlineCode(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"", "x", "`", "``", "```", "a\n```\nb\n````\n", "~~~", "\n", "`a", "a`", " a ", "  ", "\\`", "a\r\nb"} {
		_, elements := shownAs(t, Fence(code, "go")+"\n\n# after")
		require.Len(t, elements["pre"], 1, "%q", code)
		require.Len(t, elements["h1"], 1, "%q", code)
		if strings.TrimSpace(code) != "" {
			_, elements = shownAs(t, InlineCode(code))
			require.Len(t, elements["code"], 1, "%q", code)
			text, _ := shownAs(t, "@x "+InlineCode("@octocat "+code)+" y")
			require.Contains(t, text, "@x \x00\x00 y", "%q", code)
		}
	}
	require.True(t, strings.HasPrefix(Fence("x", "go"), "```go\n"))
	require.Equal(t, "```\nif a\\u202e {\\x00\\x1b[2J\tשלום\n```", Fence("if a\u202e {\x00\x1b[2J\tשלום", ""), "nobody is misled by what code hides")
	for _, lang := range []string{"mermaid", "suggestion", "a b", "a`b", "a\nb"} {
		require.True(t, strings.HasPrefix(Fence("x", lang), "```\n"), lang)
	}
}

func TestEscapeText(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"plain", "*a* _b_ `c` ~~d~~ | e & f &amp; <b> [x](y) ![x](y) \\", "# a", "1. a", "- a", "+ a", "=== ", "> a", "@octocat", "#12", "acme/app#12",
		"GH-12", "https://evil.example", "www.evil.example", "a\nb", "$x$", strings.Repeat("0123456789abcdef", 3)[:40], "&#64;octocat", "\\@octocat", "    a", "~~~", "```",
	} {
		got := EscapeText(in)
		text, _ := shownAs(t, got)
		require.Equal(t, strings.Join(strings.Fields(in), " "), strings.TrimSpace(strings.NewReplacer(joiner, "", "\x00", "").Replace(text)), "shows as it is: %q", got)
		requireInert(t, got)
	}
}

// Text that makes a parser slow must not make us slow.
func TestSanitizeHostile(t *testing.T) {
	t.Parallel()
	const size = 50_000
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for _, in := range []string{
		fill("["), fill("[a]("), fill("![a]("), fill("]"), fill("*a_ "), fill("**a"), fill("~a~~"), fill(">"), fill("> "), fill("- "), fill("1. "), fill("> - "),
		strings.Repeat("- ", 99) + "a" + fill("\n"), strings.Repeat("> - ", 40) + "a\n" + fill(">\n"), "|a" + fill("|a") + "\n" + fill("|-") + "\n" + fill("a\n"),
		fill("<a "), fill("<!--"), fill("a<!-- "), fill("`a``"), fill("@a "), fill("#1 "), fill("https://a.b "), fill("&#64;a"), fill("\\@a"), fill("<b>"), fill("a\n"), fill("[a]: b\n"),
		fill("a|b\n-|-\n"), fill("```\n"), fill("www."), fill("a@b."), fill("\x00"), fill("0a1b2c3 "),
	} {
		start := time.Now()
		got := Sanitize(in, Options{Asker: testAsker})
		require.Less(t, time.Since(start), 3*time.Second, "%.20q", in)
		require.Less(t, len(got), 12*size)
	}
}

func FuzzSanitize(f *testing.F) {
	for _, s := range []string{
		"a `@x` @y ``` #1", "[a](b \"c\")\n[d]: e", "<a href=x>@b</a>", "> ```\n> @a\n\nb", "- a\n\n  ~~~\n  #1", "| a | b |\n|-|-|\n| `x\\|y` | @c |",
		"<!-- a\n\n-- > b -->c", "https://a.b/`c`@d", "&#64;a&commat;b\\@c", "1. <div>\n<pre>\n@a", "`@a\\`@b`", "\\[a](http://b)@c", "a<b@c>d", "*@a*_@b_~~@c~~",
		"@\u2060a#\u20601", "![a][b]\n\n[b]: <c d> 'e'", "\t@a\n\t#1", "- [ ] @a\n- [x] #1", "a\\\n@b  \n@c", "&#00 ;", "<?x ?><!X y><![CDATA[z]]>@a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 2_000 {
			return
		}
		o := Options{Asker: testAsker, Secrets: []string{"hunter2-hunter2"}}
		got := Sanitize(s, o)
		require.Equal(t, got, Sanitize(got, o), "idempotent: %q", s)
		requireInert(t, got)
		require.NotContains(t, got, "hunter2-hunter2")
	})
}

// fragments are what Markdown is made of; FuzzSanitizeFragments strings them together, which random bytes seldom do.
var fragments = strings.Split("@a|@mona|#1|GH-1|o/r#1|`|``|```|~~~|*|**|_|~~|[|]|(|)|](|][|]:|![|<|>|<b>|</b>|<a href='|<!--|-->|<div>|<pre>|</pre>|<?|"+
	"https://a.b|www.a.b|mailto:a@b.c|a@b.c|&#64;|&amp;|&lt;|\\|\n|\n\n|\n> |\n- |\n    |\n1. |\n# |\n\t| |  |x|/|:|\"|'|.|,|;|0a1b2c3|"+
	"\u2060|\u200b|\x00|!|{|}|\r|\n```go\n|\n~~~\n|<code>|</code>|\n[a]: b\n|[a]|\u00e9|-|=|\n===\n|\n---\n|@|#|&|1|https|://|[ ] ", "|")

func FuzzSanitizeFragments(f *testing.F) {
	f.Add([]byte{0, 5, 19, 40, 2, 13, 16})
	f.Add([]byte{45, 12, 0, 13, 28, 33, 0, 26})
	f.Fuzz(func(t *testing.T, picks []byte) {
		var b strings.Builder
		for _, p := range picks[:min(len(picks), 200)] {
			if i := int(p) % (len(fragments) + 2); i < len(fragments) {
				b.WriteString(fragments[i])
			} else {
				b.WriteString([]string{"|", "\n|-|-|\n"}[i-len(fragments)])
			}
		}
		got := Sanitize(b.String(), Options{Asker: testAsker})
		require.Equal(t, got, Sanitize(got, Options{Asker: testAsker}), "idempotent: %q", b.String())
		requireInert(t, got)
	})
}
