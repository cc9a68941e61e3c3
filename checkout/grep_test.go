package checkout_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

const texts = `
-- @commit one --
-- a/one.go --
package one

func First() {}
func second() {}
// The end
-- a/two.txt --
first line
Second line
third line
second to last
last
-- b/sub/three.md --
# Second
trailing second
-- b/(odd).go --
func odd() {}
-- link (symlink) --
second
`

func open(t testing.TB, archive string) *checkout.Checkout {
	t.Helper()
	srv := newServer(t)
	srv.Add(t, "acme/text", archive)
	return acquire(t, newStore(t, srv, nil), checkout.Request{Repo: repo(srv, "acme/text")})
}

func show(r checkout.GrepResult) []string {
	var out []string
	for _, l := range r.Lines {
		sep := "-"
		if l.Match {
			sep = ":"
		}
		out = append(out, fmt.Sprintf("%s%s%d%s %s", l.Path, sep, l.Line, sep, l.Text))
	}
	return out
}

func TestGrep(t *testing.T) {
	t.Parallel()
	c := open(t, texts)
	for _, tt := range []struct {
		name string
		o    checkout.GrepOptions
		want []string
	}{
		{"literal", checkout.GrepOptions{Pattern: "second()", Literal: true}, []string{"a/one.go:4: func second() {}"}},
		{"regexp", checkout.GrepOptions{Pattern: `func \w+\(\)`}, []string{"a/one.go:3: func First() {}", "a/one.go:4: func second() {}", "b/(odd).go:1: func odd() {}"}},
		{"any case", checkout.GrepOptions{Pattern: "SECOND", IgnoreCase: true, Path: "a"}, []string{"a/one.go:4: func second() {}", "a/two.txt:2: Second line", "a/two.txt:4: second to last"}},
		{"literal, any case", checkout.GrepOptions{Pattern: "FIRST()", IgnoreCase: true, Literal: true}, []string{"a/one.go:3: func First() {}"}},
		{"anchors", checkout.GrepOptions{Pattern: "^last$"}, []string{"a/two.txt:5: last"}},
		{"text anchors are a line's", checkout.GrepOptions{Pattern: `\Alast\z`}, []string{"a/two.txt:5: last"}},
		{"not across lines", checkout.GrepOptions{Pattern: `line\s+Second`}, nil},
		{"class that could cross lines", checkout.GrepOptions{Pattern: `first[^x]*line`}, []string{"a/two.txt:1: first line"}},
		{"glob", checkout.GrepOptions{Pattern: "second", Glob: "*.md"}, []string{"b/sub/three.md:2: trailing second"}},
		{"glob with folder", checkout.GrepOptions{Pattern: "(?i)second", Glob: "b/**/*.md"}, []string{"b/sub/three.md:1: # Second", "b/sub/three.md:2: trailing second"}},
		{"one file", checkout.GrepOptions{Pattern: "func", Path: "b/(odd).go"}, []string{"b/(odd).go:1: func odd() {}"}},
		{"context", checkout.GrepOptions{Pattern: "third", Context: 1}, []string{"a/two.txt-2- Second line", "a/two.txt:3: third line", "a/two.txt-4- second to last"}},
		{"context meets", checkout.GrepOptions{Pattern: "first|third", Context: 1, Path: "a/two.txt"}, []string{"a/two.txt:1: first line", "a/two.txt-2- Second line", "a/two.txt:3: third line", "a/two.txt-4- second to last"}},
		{"limit", checkout.GrepOptions{Pattern: "second", Limit: 2, Context: 1}, []string{"a/one.go-3- func First() {}", "a/one.go:4: func second() {}", "a/one.go-5- // The end", "a/two.txt-3- third line", "a/two.txt:4: second to last", "a/two.txt-5- last"}},
		{"limit before more of it", checkout.GrepOptions{Pattern: "line", Limit: 1, Context: 2, Path: "a/two.txt"}, []string{"a/two.txt:1: first line"}},
		{"limit, and one more after a gap", checkout.GrepOptions{Pattern: "first|to last", Limit: 1, Context: 2, Path: "a/two.txt"}, []string{"a/two.txt:1: first line", "a/two.txt-2- Second line", "a/two.txt-3- third line"}},
		{"empty matches", checkout.GrepOptions{Pattern: "x*", Path: "b/sub/three.md"}, []string{"b/sub/three.md:1: # Second", "b/sub/three.md:2: trailing second"}},
		{"none", checkout.GrepOptions{Pattern: "nowhere"}, nil},
	} {
		r, err := c.Grep(t.Context(), tt.o)
		require.NoError(t, err, tt.name)
		require.Empty(t, cmp.Diff(tt.want, show(r)), tt.name)
		require.Equal(t, strings.HasPrefix(tt.name, "limit"), r.Limited, tt.name)
	}
	for _, o := range []checkout.GrepOptions{{}, {Pattern: "("}, {Pattern: "(?=x)"}, {Pattern: `(a)\1`}, {Pattern: "a\nb", Literal: true}, {Pattern: "x", Path: "../x"}, {Pattern: "x", Path: "nope"}, {Pattern: "x", Glob: "{a"}} {
		_, err := c.Grep(t.Context(), o)
		require.Error(t, err, "%+v", o)
	}
}

// TestGrepCRLF: line ends of either kind end a line, and are no part of it.
func TestGrepCRLF(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	p := &checkouttest.Pack{}
	srv.AddRaw(t, "acme/crlf", p, checkouttest.TreeEntry{Mode: "100644", Name: "f", OID: p.Add("blob", []byte("one\r\ntwo\r\nthree"))})
	c := acquire(t, newStore(t, srv, nil), checkout.Request{Repo: repo(srv, "acme/crlf")})
	for _, pattern := range []string{"two$", "^two$", "wo"} {
		r, err := c.Grep(t.Context(), checkout.GrepOptions{Pattern: pattern})
		require.NoError(t, err)
		require.Equal(t, []string{"f:2: two"}, show(r))
	}
}

// TestGrepAgainstLines compares the scanner, which runs over whole texts, with
// the plain way, line by line.
func TestGrepAgainstLines(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "%s%d %s\n", strings.Repeat("ab ", i%5), i%13, strings.Repeat("Kelvin ſet ", i%3))
		if i%11 == 0 {
			b.WriteString("\n")
		}
	}
	text := b.String()
	c := open(t, "-- @commit one --\n-- f.txt --\n"+text)
	for _, pattern := range []string{"ab", "a.*3", "^$", "b ?[0-9]$", "(?i)kelvin", "(?i)SET", `\s`, `[^a]+b`, "ab|^1", "(ab )+12?", "", "x|", "(?s)ab.*1", "(?i)ſ", `\bab\b`, "^ab", "3$"} {
		for _, fold := range []bool{false, true} {
			if pattern == "" {
				continue
			}
			expr := "(?:" + pattern + ")"
			if fold {
				expr = "(?i)" + expr
			}
			re := regexp.MustCompile(expr)
			var want []int
			for i, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
				if re.MatchString(l) {
					want = append(want, i+1)
				}
			}
			r, err := c.Grep(t.Context(), checkout.GrepOptions{Pattern: pattern, IgnoreCase: fold, Limit: 1000})
			require.NoError(t, err)
			var got []int
			for _, l := range r.Lines {
				got = append(got, l.Line)
			}
			require.Equal(t, want, got, "%q %v", pattern, fold)
		}
	}
}

// TestGrepCatastrophe: patterns that kill backtracking matchers.
func TestGrepCatastrophe(t *testing.T) {
	t.Parallel()
	c := open(t, "-- @commit one --\n-- f.txt --\n"+strings.Repeat("a", 30_000)+"\n")
	for _, pattern := range []string{"(a+)+$x", "(a|a)*b", "(a|aa)+$b", "(.*a){20}b"} {
		began := time.Now()
		r, err := c.Grep(t.Context(), checkout.GrepOptions{Pattern: pattern})
		require.NoError(t, err)
		require.Zero(t, r.Matches)
		require.Less(t, time.Since(began), 10*time.Second)
	}
}

func TestFindAndList(t *testing.T) {
	t.Parallel()
	c := open(t, texts)
	for glob, want := range map[string][]string{
		"*.go":       {"a/one.go", "b/(odd).go"},
		"**/*.md":    {"b/sub/three.md"},
		"b/*":        {"b/(odd).go", "b/sub/"},
		"b/**":       {"b/(odd).go", "b/sub/", "b/sub/three.md"},
		"*.{md,txt}": {"a/two.txt", "b/sub/three.md"},
		"t*":         {"a/two.txt", "b/sub/three.md"},
		"[a-b]":      {"a/", "b/"},
		"[!a]":       {"b/"},
		"(odd).go":   {"b/(odd).go"},
		"?ne.go":     {"a/one.go"},
		"sub":        {"b/sub/"},
		"sub/":       {"b/sub/"},
		"**/":        {"a/", "b/", "b/sub/"},
		"link/":      nil,
		"link":       {"link"},
		"nope":       nil,
	} {
		r, err := c.Find(t.Context(), checkout.FindOptions{Glob: glob})
		require.NoError(t, err, glob)
		require.Equal(t, want, r.Paths, glob)
	}
	r, err := c.Find(t.Context(), checkout.FindOptions{Glob: "*", Limit: 2})
	require.NoError(t, err)
	require.True(t, r.Limited)
	require.Len(t, r.Paths, 2)
	r, err = c.Find(t.Context(), checkout.FindOptions{Glob: "*.md", Path: "b"})
	require.NoError(t, err)
	require.Equal(t, []string{"b/sub/three.md"}, r.Paths)
	items, err := c.List(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, []checkout.ListItem{{Name: "a", Dir: true}, {Name: "b", Dir: true}, {Name: "link", Kind: checkout.Symlink, Size: 6}}, items)
	for _, bad := range []string{"nope", "a/one.go", "..", "link"} {
		_, err := c.List(t.Context(), bad)
		require.Error(t, err, bad)
	}
	_, err = c.ReadFile(t.Context(), "src/one.go")
	var pe *checkout.PathError
	require.ErrorAs(t, err, &pe)
	require.Equal(t, []string{"a/one.go"}, pe.Near)
	require.Contains(t, pe.Hint(), "a/one.go")
}
