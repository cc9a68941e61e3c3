package codetool_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/tool/codetool"
)

func TestGrep(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("needle\n", 250)
	b := oneRepo(t, "-- @commit c --\n-- src/a.go --\none\ntwo hit\nthree\nfour\nfive HIT\nsix\n-- src/b.ts --\nhit. again\n-- doc/c.md --\n(hit)\n-- many.txt --\n"+many+
		"-- wide.txt --\n"+strings.Repeat("é", 600)+" hit\n-- ansi.txt --\nred \x1b[31mink\n")
	sha := b.sha("c")
	tests := []struct {
		name, args, text, subject, summary string
		shown                              []string
	}{
		{"regular expression", `{"pattern":"^t.* hit$"}`, "src/a.go:2: two hit", `"^t.* hit$" one`, "1 match", []string{"src/a.go:2-2"}},
		{"ignore case and glob", `{"pattern":"HIT","ignore_case":true,"glob":"*.go"}`, "src/a.go:2: two hit\nsrc/a.go:5: five HIT", `"HIT" one *.go`, "2 matches",
			[]string{"src/a.go:2-2", "src/a.go:5-5"}},
		{"literal", `{"pattern":"hit.","literal":true,"path":"src"}`, "src/b.ts:1: hit. again", `"hit." one/src`, "1 match", []string{"src/b.ts:1-1"}},
		{"literal parenthesis", `{"pattern":"(hit)","literal":true}`, "doc/c.md:1: (hit)", `"(hit)" one`, "1 match", []string{"doc/c.md:1-1"}},
		{"context is joined and shown once", `{"pattern":"(?i)hit","path":"src/a.go","context":1}`,
			"src/a.go-1- one\nsrc/a.go:2: two hit\nsrc/a.go-3- three\nsrc/a.go-4- four\nsrc/a.go:5: five HIT\nsrc/a.go-6- six", `"(?i)hit" one/src/a.go`, "2 matches",
			[]string{"src/a.go:1-6"}},
		{"limit", `{"pattern":"hit","limit":1,"path":"src"}`, "src/a.go:2: two hit\n\n[1 matches limit reached. Use limit=2 for more, or refine the pattern.]", `"hit" one/src`, "1+ matches",
			[]string{"src/a.go:2-2"}},
		{"no matches", `{"pattern":"absent"}`, "No matches found", `"absent" one`, "no matches", nil},
		{"no files", `{"pattern":"hit","glob":"*.rs"}`, "No matches found (no text file was searched; check path and glob)", `"hit" one *.rs`, "no matches", nil},
		{"wide line", `{"pattern":"hit","path":"wide.txt"}`, "wide.txt:1: …" + strings.Repeat("é", 496) + " hit\n\n[Lines are cut at 500 characters. Use read to see one whole.]",
			`"hit" one/wide.txt`, "1 match", []string{"wide.txt:1-1"}},
		{"control characters", `{"pattern":"ink"}`, "ansi.txt:1: red  [31mink", `"ink" one`, "1 match", []string{"ansi.txt:1-1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := b.ok(t, "grep", tt.args)
			require.Equal(t, tt.text, got.Text)
			require.Equal(t, tt.subject, got.Subject)
			require.Equal(t, tt.summary, got.Summary)
			require.Equal(t, tt.shown, b.shown(t, got, sha))
			verb, subject := b.tools["grep"].Trace(json.RawMessage(tt.args))
			require.Equal(t, "grep "+tt.subject, verb+" "+subject)
		})
	}

	got := b.ok(t, "grep", `{"pattern":"needle"}`)
	require.True(t, strings.HasSuffix(got.Text, "many.txt:100: needle\n\n[100 matches limit reached. Use limit=200 for more, or refine the pattern.]"), got.Text)
	require.Equal(t, []string{"many.txt:1-100"}, b.shown(t, got, sha))
	require.Equal(t, "100+ matches", got.Summary)
	require.Len(t, strings.Split(b.ok(t, "grep", `{"pattern":"needle","limit":250}`).Text, "\n"), 250, "no notice where nothing was cut")

	for args, want := range map[string]string{
		`{"pattern":"("}`:                   "pattern \"(\": missing closing ): `(`. Patterns are RE2 syntax, without look-around and back references; set literal to search for plain text.",
		`{"pattern":"x","glob":"{a"}`:       `glob "{a" has a { without a }. Globs are like *.go, src/**/*_test.ts or {a,b}/[a-z]*.md; put a \ before a literal { or [.`,
		`{"pattern":""}`:                    "",
		`{"pattern":"x","limit":0}`:         "limit must be greater than or equal to 1.",
		`{"pattern":"x","context":-1}`:      "context must be greater than or equal to 0.",
		`{"pattern":"x","path":"src/A.go"}`: "acme/one:src/A.go not found at " + sha[:7] + " (check the path and ref). Did you mean src/a.go?",
	} {
		text := b.refused(t, "grep", args)
		if want != "" {
			require.Equal(t, want, text)
		}
	}
}

func TestGrepBytesLimit(t *testing.T) {
	t.Parallel()
	b := oneRepo(t, "-- @commit c --\n-- a.txt --\n"+strings.Repeat("needle "+strings.Repeat("x", 450)+"\n", 300))
	got := b.ok(t, "grep", `{"pattern":"needle","limit":300}`)
	require.LessOrEqual(t, len(got.Text), 50<<10+200)
	body, notice, ok := strings.Cut(got.Text, "\n\n")
	require.True(t, ok)
	require.Equal(t, "[50.0KB limit reached. Refine the pattern or the path.]", notice)
	n := strings.Count(body, "\n") + 1
	require.Greater(t, n, 100)
	require.Equal(t, []string{fmt.Sprintf("a.txt:1-%d", n)}, b.shown(t, got, b.sha("c")), "lines that were cut off are no evidence")
	require.Equal(t, fmt.Sprintf("%d+ matches", n), got.Summary)
	var data codetool.GrepData
	require.NoError(t, json.Unmarshal(got.Data, &data))
	require.Len(t, data.Matches, n)
	require.True(t, data.Limited)
}

func TestFindAndLs(t *testing.T) {
	t.Parallel()
	archive := "-- @commit c --\n-- B.go --\n-- a.go --\n-- src/x_test.go --\n-- src/deep/y.go --\n-- src/Zed.md --\n-- .github/w.yml --\n"
	for i := range 1200 {
		archive += fmt.Sprintf("-- n/f%04d.txt --\n", i)
	}
	b := oneRepo(t, archive)
	got := b.ok(t, "find", `{"pattern":"*.go"}`)
	require.Equal(t, "B.go\na.go\nsrc/deep/y.go\nsrc/x_test.go", got.Text)
	require.Equal(t, "*.go in one", got.Subject)
	require.Equal(t, "4 paths", got.Summary)
	require.Empty(t, got.Evidence)
	require.Equal(t, "src/deep/y.go", b.ok(t, "find", `{"pattern":"deep/*.go","path":"src"}`).Text)
	require.Equal(t, "src/deep/", b.ok(t, "find", `{"pattern":"deep"}`).Text)
	require.Equal(t, "No files found matching pattern", b.ok(t, "find", `{"pattern":"*.rs"}`).Text)
	require.Equal(t, `No files found matching pattern (put a \ before a literal { or [)`, b.ok(t, "find", `{"pattern":"app/[id]/*"}`).Text)
	got = b.ok(t, "find", `{"pattern":"*.txt"}`)
	require.True(t, strings.HasSuffix(got.Text, "n/f0999.txt\n\n[1000 results limit reached. Use limit=2000 for more, or refine the pattern.]"))
	require.NotContains(t, b.ok(t, "find", `{"pattern":"*.txt","limit":1200}`).Text, "[")
	require.Contains(t, b.refused(t, "find", `{"pattern":"["}{`), "more than one JSON value")
	require.Contains(t, b.refused(t, "find", `{"pattern":""}`), "is empty")
	require.Contains(t, b.refused(t, "find", `{"pattern":"*","path":"a.go"}`), "a.go is a file, not a folder.")

	got = b.ok(t, "ls", `{}`)
	require.Equal(t, ".github/\na.go\nB.go\nn/\nsrc/", got.Text)
	require.Equal(t, "one", got.Subject)
	require.Equal(t, "5 entries", got.Summary)
	require.Empty(t, got.Evidence)
	require.Equal(t, "deep/\nx_test.go\nZed.md", b.ok(t, "ls", `{"path":"src/"}`).Text)
	got = b.ok(t, "ls", `{"path":"n"}`)
	require.True(t, strings.HasSuffix(got.Text, "f0499.txt\n\n[500 entries limit reached. Use limit=1000 for more, or list a folder below.]"), got.Text[len(got.Text)-100:])
	require.Contains(t, b.refused(t, "ls", `{"path":"a.go"}`), "a.go is a file, not a folder. Use read.")
	require.Equal(t, "limit must be greater than or equal to 1.", b.refused(t, "ls", `{"limit":-1}`))

	empty := oneRepo(t, "-- @commit c --\n-- gone.txt --\n-- @commit d --\n-- gone.txt (delete) --\n")
	require.Equal(t, "(empty directory)", empty.ok(t, "ls", `{}`).Text)
	require.Equal(t, "(empty directory)", empty.ok(t, "read", `{"path":"."}`).Text)
}

const goFile = `package cart

import "errors"

// Total adds up what the items cost.
// It refuses a negative price.
func Total(items []Item) (int, error) {
	sum := 0
	for _, it := range items {
		if it.Price < 0 {
			return 0, errors.New("negative price")
		}
		sum += it.Price
	}
	return sum, nil
}

// Item is one thing in a cart.
type Item struct {
	Name  string
	Price int
}
`

func TestFindCodeAndSyntaxTools(t *testing.T) {
	t.Parallel()
	var data string
	for i := range 60 {
		data += fmt.Sprintf("word%d\n", i)
	}
	b := oneRepo(t, "-- @commit c --\n-- cart/cart.go --\n"+goFile+"-- user/user.go --\npackage user\n\n// Login checks a password.\nfunc Login(name, password string) bool { return false }\n-- data.txt --\n"+data)
	sha := b.sha("c")

	got := b.ok(t, "find_code", `{"question":"where is a negative price refused when the total is added up?"}`)
	require.Empty(t, got.Evidence, "candidates are not evidence")
	var found codetool.FindCodeData
	require.NoError(t, json.Unmarshal(got.Data, &found))
	require.Equal(t, "acme/one", found.Repo)
	require.Equal(t, sha, found.SHA)
	require.NotEmpty(t, found.Candidates)
	first := found.Candidates[0]
	require.Equal(t, "cart/cart.go", first.Path)
	require.Equal(t, "Total", first.Symbol)
	require.LessOrEqual(t, first.Start, 7)
	require.GreaterOrEqual(t, first.End, 16)
	require.Contains(t, got.Text, "best first, confidence ")
	require.NotEqual(t, codetool.FitPoor, found.Fit)
	strange := b.ok(t, "find_code", `{"question":"which kernel thread writes dirty pages of the password file back to the disk?"}`)
	require.Contains(t, strange.Text, "(poor: what is asked may not be in this repository")
	require.NoError(t, json.Unmarshal(strange.Data, &found))
	require.Equal(t, codetool.FitPoor, found.Fit)
	require.Regexp(t, `(?m)^1\. \[\d\.\d\d\] cart/cart\.go:\d+-\d+ · function Total`, got.Text)
	require.Equal(t, `code "where is a negative price refused when the total is added up?" in one`, got.Subject)
	require.NotContains(t, b.ok(t, "find_code", `{"question":"negative price total","path":"user"}`).Text, "cart.go")
	require.NotEmpty(t, b.ok(t, "find_code", `{"question":"zzqx","also":["Login"]}`).Text)
	require.Contains(t, b.ok(t, "find_code", `{"question":"qqzzx"}`).Text, "No candidates found.")
	require.Equal(t, "question must not be empty.", b.refused(t, "find_code", `{"question":"  "}`))
	require.Equal(t, "limit must be greater than or equal to 1.", b.refused(t, "find_code", `{"question":"x","limit":0}`))

	got = b.ok(t, "outline", `{"path":"cart/cart.go"}`)
	require.Empty(t, got.Evidence, "an outline is not evidence")
	require.Equal(t, "cart/cart.go (go, "+method+"): 2 declarations\n\n7-16  func Total(items []Item) (int, error)\n19-22  type Item struct", got.Text)
	require.Equal(t, "one/cart/cart.go", got.Subject)
	require.Equal(t, "2 declarations", got.Summary)
	require.Contains(t, b.ok(t, "outline", `{"path":"data.txt"}`).Text, "No declarations found in data.txt (")
	require.Equal(t, "cart is a folder. Use ls.", b.refused(t, "outline", `{"path":"cart"}`))

	got = b.ok(t, "read_enclosing", `{"path":"cart/cart.go","line":11}`)
	lines := strings.Split(goFile, "\n")
	require.Equal(t, "cart/cart.go:5-16: function Total (found by "+method+")\n\n"+strings.Join(lines[4:16], "\n"), got.Text)
	require.Equal(t, []string{"cart/cart.go:5-16"}, b.shown(t, got, sha))
	require.Equal(t, "one/cart/cart.go:5-16", got.Subject)
	require.Equal(t, "function Total", got.Summary)

	got = b.ok(t, "read_enclosing", `{"path":"data.txt","line":30}`)
	require.Contains(t, got.Text, "data.txt:10-50: no declaration encloses line 30 (")
	require.Equal(t, []string{"data.txt:10-50"}, b.shown(t, got, sha))
	require.Equal(t, "Line 61 is beyond end of file (60 lines total)", b.refused(t, "read_enclosing", `{"path":"data.txt","line":61}`))
	require.Equal(t, "line must be greater than or equal to 1.", b.refused(t, "read_enclosing", `{"path":"data.txt","line":0}`))
}

// Neighbours that fill the limit do not push out the line that was asked for.
func TestG11_ReadEnclosingBesideHugeLines(t *testing.T) {
	t.Parallel()
	b := oneRepo(t, "-- @commit c --\n-- a.txt --\nfirst\n"+strings.Repeat("x", 60<<10)+"\nlast\n-- b.txt --\n"+strings.Repeat(strings.Repeat("\u20ac", 2000)+"\n", 60))
	require.Contains(t, b.ok(t, "read_enclosing", `{"path":"a.txt","line":3}`).Text, "\n\nlast")
	require.Contains(t, b.ok(t, "read_enclosing", `{"path":"a.txt","line":2}`).Text, "[Line 2 is 60.0KB, exceeds 50.0KB limit.]")
	require.Contains(t, b.ok(t, "read_enclosing", `{"path":"b.txt","line":30}`).Text, "b.txt:30-37: ")
}

// A declaration that is longer than what one result shows says where to read on.
func TestReadEnclosingOfALongFunction(t *testing.T) {
	t.Parallel()
	b := oneRepo(t, "-- @commit c --\n-- a.go --\npackage a\n\nfunc Long() {\n"+strings.Repeat("\tprintln()\n", 2500)+"}\n\nfunc Next() {}\n")
	got := b.ok(t, "read_enclosing", `{"path":"a.go","line":2000}`)
	require.True(t, strings.HasPrefix(got.Text, "a.go:3-2002: function Long (found by "+method+")\n\nfunc Long() {\n"))
	require.True(t, strings.HasSuffix(got.Text, "\tprintln()\n\n[Showing lines 3-2002 of 3-2504. Use read with offset=2003 to continue.]"))
	require.Equal(t, []string{"a.go:3-2002"}, b.shown(t, got, b.sha("c")))
	got = b.ok(t, "read_enclosing", `{"path":"a.go","line":2400}`)
	require.True(t, strings.HasPrefix(got.Text, "a.go:2380-2504: function Long (found by "+method+")\n\n\tprintln()\n"), "the line that was asked for is shown")
	got = b.ok(t, "read_enclosing", `{"path":"a.go","line":2506}`)
	require.Equal(t, "a.go:2506-2506: function Next (found by "+method+")\n\nfunc Next() {}", got.Text)
}

// Every language that is promised has its declarations, found by the grammar where the build has it, and each result says so.
func TestLanguages(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.go":   "package a\n\nfunc Target() int {\n\treturn 1\n}\n",
		"a.ts":   "export class A {\n}\nexport function Target(x: number): number {\n  return x;\n}\n",
		"a.tsx":  "import x from 'x';\n\nexport function Target(p: P) {\n  return <div>{p.x}</div>;\n}\n",
		"a.js":   "'use strict';\n\nfunction Target(x) {\n  return x;\n}\n",
		"a.py":   "import os\n\ndef Target(x):\n    y = x\n    return y\n",
		"a.rs":   "use std::io;\n\npub fn Target(x: u8) -> u8 {\n    x\n}\n",
		"A.java": "package a;\npublic class A {\n  public int Target(int x) {\n    return x;\n  }\n}\n",
		"a.c":    "#include <stdio.h>\n\nint Target(int x) {\n  return x;\n}\n",
		"a.cpp":  "#include <vector>\nnamespace n {\nint Target(std::vector<int> x) {\n  return x[0];\n}\n}\n",
		"a.rb":   "require 'x'\n\ndef Target(x)\n  x\nend\n",
		"a.php":  "<?php\n\nfunction Target($x) {\n  return $x;\n}\n",
	}
	archive := "-- @commit c --\n"
	for name, text := range files {
		archive += "-- " + name + " --\n" + text
	}
	b := oneRepo(t, archive)
	for name, text := range files {
		got := b.ok(t, "outline", `{"path":"`+name+`"}`)
		require.Regexp(t, `^`+name+` \([a-z+]+, `+method+`\): `, got.Text)
		require.Regexp(t, `(?m)^\s*3-5  .*Target`, got.Text, name)
		got = b.ok(t, "read_enclosing", `{"path":"`+name+`","line":4}`)
		require.Equal(t, name+":3-5: function Target (found by "+method+")\n\n"+strings.Join(strings.Split(text, "\n")[2:5], "\n"), got.Text)
		require.Equal(t, []string{name + ":3-5"}, b.shown(t, got, b.sha("c")))
	}
}
