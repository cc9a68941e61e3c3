package codetool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/tool"
)

const sha1A = "1111111111111111111111111111111111111111"

func TestRead(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	for i := 1; i <= 2500; i++ {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	b := oneRepo(t, "-- @commit c --\n-- README.md --\na\nb\nc\n-- src/lib/App.ts --\nx\n-- src/lib/app.ts --\ny\n-- long.txt --\n"+long.String())
	sha := b.sha("c")

	got := b.ok(t, "read", `{"path":"README.md"}`)
	require.Equal(t, "a\nb\nc", got.Text)
	require.Equal(t, "one/README.md", got.Subject)
	require.Equal(t, []string{"README.md:1-3"}, b.shown(t, got, sha))
	require.JSONEq(t, `{"repo":"acme/one","sha":"`+sha+`","path":"README.md","kind":"file","start":1,"end":3,"total":3}`, string(got.Data))

	got = b.ok(t, "read", `{"path":"./README.md","offset":2,"limit":1}`)
	require.Equal(t, "b\n\n[1 more lines in file. Use offset=3 to continue.]", got.Text)
	require.Equal(t, "one/README.md:2-2", got.Subject)
	require.Equal(t, []string{"README.md:2-2"}, b.shown(t, got, sha), "only what was shown is evidence")

	got = b.ok(t, "read", `{"path":"/long.txt"}`)
	require.Contains(t, got.Text, "line 2000\n\n[Showing lines 1-2000 of 2500. Use offset=2001 to continue.]")
	require.Equal(t, []string{"long.txt:1-2000"}, b.shown(t, got, sha))

	got = b.ok(t, "read", `{"path":"src/lib"}`)
	require.Equal(t, "App.ts\napp.ts", got.Text)
	require.Empty(t, got.Evidence)

	for args, want := range map[string]string{
		`{"path":"README.md","offset":0}`:               "offset must be greater than or equal to 1.",
		`{"path":"nope","limit":0}`:                     "limit must be greater than or equal to 1.", // bounds come first
		`{"path":"README.md","offset":9}`:               "Offset 9 is beyond end of file (3 lines total)",
		`{"path":"src/readme.MD"}`:                      "acme/one:src/readme.MD not found at " + sha[:7] + " (check the path and ref). Did you mean README.md?",
		`{"path":"nope.txt"}`:                           "acme/one:nope.txt not found at " + sha[:7] + " (check the path and ref).",
		`{"path":"README.md/x"}`:                        "",
		`{"path":"../../etc/passwd"}`:                   "path leaves the repository. Give it relative to the repository's root.",
		`{"path":"src/../../x"}`:                        "path leaves the repository. Give it relative to the repository's root.",
		`{"path":"/etc/passwd"}`:                        "acme/one:etc/passwd not found at " + sha[:7] + " (check the path and ref).",
		`{"path":"README.md\u0000.png"}`:                "path must not contain NUL.",
		`{"path":"C:\\windows\\system.ini"}`:            "",
		`{"path":"` + strings.Repeat("a/", 9000) + `"}`: "",
	} {
		text := b.refused(t, "read", args)
		if want != "" {
			require.Equal(t, want, text, args)
		}
	}

	verb, subject := b.tools["read"].Trace(json.RawMessage(`{"path":"src/lib/app.ts","offset":80,"limit":61}`))
	require.Equal(t, "read one/src/lib/app.ts:80-140", verb+" "+subject)
}

// A file over 32 MiB is not held whole, but read where it is asked for; read_github_file is served by it, too.
func TestReadOfABigFile(t *testing.T) {
	t.Parallel()
	var big strings.Builder
	for i := 1; big.Len() <= 33<<20; i++ {
		fmt.Fprintf(&big, "%d %s\n", i, strings.Repeat("x", 990))
	}
	total := strings.Count(big.String(), "\n")
	b := oneRepo(t, "-- @commit c --\n-- big.json --\n"+big.String()+"-- big.bin --\n\x00"+big.String()+"-- link (symlink) --\nbig.json\n")
	sha := b.sha("c")
	got := b.ok(t, "read", fmt.Sprintf(`{"path":"big.json","offset":%d,"limit":1}`, total-1))
	require.Equal(t, fmt.Sprintf("%d %s\n\n[1 more lines in file. Use offset=%d to continue.]", total-1, strings.Repeat("x", 990), total), got.Text)
	require.Equal(t, []string{fmt.Sprintf("big.json:%d-%[1]d", total-1)}, b.shown(t, got, sha))
	require.Contains(t, b.ok(t, "read", `{"path":"big.json"}`).Text, fmt.Sprintf("[Showing lines 1-51 of %d (50.0KB limit). Use offset=52 to continue.]", total))
	require.Equal(t, fmt.Sprintf("Offset %d is beyond end of file (%d lines total)", total+1, total), b.refused(t, "read", fmt.Sprintf(`{"path":"big.json","offset":%d}`, total+1)))
	require.Equal(t, "Binary file, 33.0MB; its content is not shown.", b.ok(t, "read", `{"path":"big.bin"}`).Text)
	require.Equal(t, "big.json is 33.0MB; in files over 32.0MB no declarations are looked for. Find a line with grep and path, then read around it.", b.refused(t, "outline", `{"path":"big.json"}`))

	repo := librarian.Repo{Host: host, Owner: "acme", Name: "one"}
	v, key, err := b.View(t.Context(), repo, sha, "big.json", tool.Window{Offset: new(total)})
	require.NoError(t, err)
	require.Equal(t, "acme/one", key, "the commit is held already")
	require.Equal(t, fmt.Sprintf("%d %s", total, strings.Repeat("x", 990)), v.Text)
	_, _, err = b.View(t.Context(), repo, sha, "big.json", tool.Window{Offset: new(total + 1)})
	require.ErrorAs(t, err, new(*tool.BoundsError))
	for path, want := range map[string]string{"link": "link is a symlink.", "nope": "acme/one:nope not found at " + sha[:7] + " (check the path and ref)."} {
		_, _, err = b.View(t.Context(), repo, sha, path, tool.Window{})
		said, ok := librarian.UserMessage(err)
		require.True(t, ok)
		require.Equal(t, want, said)
	}
	_, _, err = b.View(t.Context(), repo, sha1A, "big.json", tool.Window{})
	said, ok := librarian.UserMessage(err)
	require.True(t, ok)
	require.Contains(t, said, "is not a commit that the host gives out")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = b.tools["read"].Call(ctx, json.RawMessage(`{"path":"big.json"}`))
	require.ErrorIs(t, err, context.Canceled)
}

// G8: what a symbolic link points to is shown and never read.
func TestG8_SymbolicLinksLeaveTheTreeForNobody(t *testing.T) {
	t.Parallel()
	b := oneRepo(t, `
-- @commit c --
-- secret/key.txt --
canary in the tree
-- file (symlink) --
secret/key.txt
-- folder (symlink) --
secret
-- chain (symlink) --
file
-- absolute (symlink) --
/etc/passwd
-- outside (symlink) --
../../../../../../etc/passwd
-- loop (symlink) --
loop
-- procfs (symlink) --
/proc/self/environ
`)
	sha := b.sha("c")
	for path, want := range map[string]string{
		"file": "secret/key.txt", "folder": "secret", "chain": "file", "absolute": "/etc/passwd",
		"outside": "../../../../../../etc/passwd", "loop": "loop", "procfs": "/proc/self/environ",
	} {
		got := b.ok(t, "read", `{"path":"`+path+`"}`)
		require.Equal(t, "symlink -> "+want, got.Text)
		require.Equal(t, []string{path + ":0-0"}, b.shown(t, got, sha))
		require.Contains(t, b.refused(t, "git_blame", `{"path":"`+path+`"}`), "symlink -> "+want)
		for _, name := range []string{"outline", "read_enclosing", "grep"} {
			text := b.refused(t, name, map[string]string{
				"outline": `{"path":"` + path + `"}`, "read_enclosing": `{"path":"` + path + `","line":1}`, "grep": `{"path":"` + path + `","pattern":"."}`}[name])
			require.Contains(t, text, "symlink -> "+want)
		}
		require.Contains(t, b.refused(t, "ls", `{"path":"`+path+`"}`), "is a symlink, not a folder")
		require.Contains(t, b.refused(t, "find", `{"path":"`+path+`","pattern":"*"}`), "is a symlink, not a folder")
	}
	for _, path := range []string{"folder/key.txt", "outside/x", "loop/loop", "absolute/../passwd/x"} {
		for name, args := range map[string]string{"read": `{"path":"` + path + `"}`, "grep": `{"path":"` + path + `","pattern":"."}`, "ls": `{"path":"` + path + `"}`,
			"outline": `{"path":"` + path + `"}`, "find": `{"path":"` + path + `","pattern":"*"}`, "find_code": `{"path":"` + path + `","question":"canary"}`} {
			text := b.refused(t, name, args)
			require.NotContains(t, text, "root:")
			require.NotContains(t, text, "canary")
		}
	}
	got := b.ok(t, "grep", `{"pattern":"canary|root:|PATH="}`)
	require.Equal(t, "secret/key.txt:1: canary in the tree", got.Text)
	got = b.ok(t, "find_code", `{"question":"canary"}`)
	require.NotContains(t, got.Text, "folder")
	require.NotContains(t, got.Text, " file:")
	require.Equal(t, "absolute\nchain\nfile\nfolder\nloop\noutside\nprocfs\nsecret/", b.ok(t, "ls", `{}`).Text)
}

// G4: what is not in the repository is shown as what it is.
func TestG4_SubmodulesAndPointers(t *testing.T) {
	t.Parallel()
	b := oneRepo(t, `
-- @commit c --
-- .gitmodules --
[submodule "dep"]
	path = lib/dep
	url = https://user:hunter2@forge.example/acme/dep.git
-- lib/dep (submodule) --
`+sha1A+`
-- lib/lost (submodule) --
`+sha1A+`
-- big.bin --
version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 12345
`)
	got := b.ok(t, "read", `{"path":"lib/dep"}`)
	require.Equal(t, "submodule https://forge.example/acme/dep.git at "+sha1A, got.Text)
	require.Equal(t, "submodule at "+sha1A, b.ok(t, "read", `{"path":"lib/lost"}`).Text)
	require.Contains(t, b.refused(t, "read", `{"path":"lib/dep/x.go"}`), "lib/dep is a submodule")
	got = b.ok(t, "read", `{"path":"big.bin"}`)
	require.Contains(t, got.Text, "size 12345\n\n[A Git LFS pointer; the 12.1KB it stands for are not in the repository.]")
	require.Equal(t, "dep\nlost", b.ok(t, "ls", `{"path":"lib"}`).Text)
	require.JSONEq(t, `[{"name":"dep","kind":"submodule"},{"name":"lost","kind":"submodule"}]`, field(t, b.ok(t, "ls", `{"path":"lib"}`).Data, "entries"))
}

func field(t *testing.T, data json.RawMessage, name string) string {
	t.Helper()
	var all map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(data, &all))
	return string(all[name])
}

// G10: odd names are literal everywhere, shown on one line, and can be given back as shown.
func TestG10_OddNames(t *testing.T) {
	t.Parallel()
	names := []string{
		":(glob)**", ":(exclude)a.txt", "*", "[id].ts", "(main)/page.tsx", "a b.txt", "-rf", "--help", "#1%2F?.md", `quo"te`, `'single'`, "ünï/cödé.txt", "{a,b}", `back\slash`,
		"$(touch x)", "new\nline.txt", "tab\t.txt", "bell\x07", "latin-\xe9.txt", `"quoted"`, "esc\x1b[31m", "sep\u2028.txt", ".hidden", "...", "CON",
	}
	archive := "-- @commit c --\n-- a.txt --\ncanary a\n"
	for i, n := range names {
		archive += "-- " + cQuote(n) + " --\n" + fmt.Sprintf("needle %d\n", i)
	}
	b := oneRepo(t, archive)
	sha := b.sha("c")
	listed := map[string]bool{}
	for line := range strings.SplitSeq(b.ok(t, "find", `{"pattern":"**"}`).Text, "\n") {
		listed[line] = true
	}
	require.Len(t, listed, len(names)+3, "each name is one line: %v", listed) // and a.txt and two folders
	for i, n := range names {
		found := b.ok(t, "grep", fmt.Sprintf(`{"pattern":"needle %d$"}`, i))
		require.Len(t, strings.Split(found.Text, "\n"), 1, n)
		require.Equal(t, []string{n + ":1-1"}, b.shown(t, found, sha))
		shown, ok := strings.CutSuffix(found.Text, fmt.Sprintf(":1: needle %d", i))
		require.True(t, ok, found.Text)
		require.True(t, listed[shown], shown)

		path, err := json.Marshal(shown)
		require.NoError(t, err)
		got := b.ok(t, "read", `{"path":`+string(path)+`}`)
		require.Equal(t, fmt.Sprintf("needle %d", i), got.Text, "a path is taken as it was shown")
		require.Equal(t, []string{n + ":1-1"}, b.shown(t, got, sha))
		require.NotContains(t, got.Subject, "\n")
		require.NotContains(t, got.Subject, "\x1b")

		got = b.ok(t, "grep", `{"pattern":"needle|canary","path":`+string(path)+`}`)
		require.Equal(t, []string{n + ":1-1"}, b.shown(t, got, sha), "pathspec magic and globs in a path mean nothing")
		b.ok(t, "outline", `{"path":`+string(path)+`}`)

		got = b.ok(t, "git_show", `{"path":`+string(path)+`}`)
		require.Equal(t, []string{n + ":1-1"}, b.shown(t, got, sha), got.Text)
		require.Contains(t, got.Text, "\n1 file changed:\nA "+shown+" (+1 −0)\n")
		got = b.ok(t, "git_blame", `{"path":`+string(path)+`}`)
		require.Equal(t, []string{n + ":1-1"}, b.shown(t, got, sha))
		require.Contains(t, b.ok(t, "git_log", `{"path":`+string(path)+`}`).Text, "  A "+shown)
	}
}

// cQuote writes a path as git fast-import reads it.
func cQuote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// G11: any bytes are read with a note, never a crash.
func TestG11_Encodings(t *testing.T) {
	t.Parallel()
	utf16le := "\xff\xfe" + "h\x00i\x00\r\x00\n\x00y\x00o\x00u\x00\n\x00"
	b := oneRepo(t, "-- @commit c --\n-- latin1.c --\nint caf\xe9; /* \xfc */\nint x;\n-- image.png --\n\x89PNG\r\n\x1a\n\x00\x00data\n-- empty --\n-- huge.min.js --\n"+
		strings.Repeat("var a=1;", 5<<17)+"\n-- utf16.txt --\n"+utf16le)
	sha := b.sha("c")
	tests := []struct {
		path, text string
		shown      string
	}{
		{"latin1.c", "int café; /* ü */\nint x;\n\n[Not UTF-8; read as Latin-1.]", "1-2"},
		{"utf16.txt", "hi\nyou\n\n[UTF-16 little-endian; shown as UTF-8.]", "1-2"},
		{"image.png", "Binary file, 15B; its content is not shown.", "0-0"},
		{"empty", "[Empty file.]", "0-0"},
		{"huge.min.js", "[Line 1 is 5.0MB, exceeds 50.0KB limit.]", "0-0"},
	}
	for _, tt := range tests {
		got := b.ok(t, "read", `{"path":"`+tt.path+`"}`)
		require.Equal(t, tt.text, got.Text)
		require.Equal(t, []string{tt.path + ":" + tt.shown}, b.shown(t, got, sha))
		switch tt.path {
		case "image.png":
			require.Equal(t, tt.text, b.refused(t, "outline", `{"path":"image.png"}`))
			require.Equal(t, tt.text, b.refused(t, "read_enclosing", `{"path":"image.png","line":1}`))
		default:
			b.ok(t, "outline", `{"path":"`+tt.path+`"}`)
		}
	}
	got := b.ok(t, "grep", `{"pattern":"you"}`)
	require.Equal(t, "utf16.txt:2: you", got.Text)
	got = b.ok(t, "grep", `{"pattern":"int x"}`)
	require.Equal(t, "latin1.c:2: int x;", got.Text)
	got = b.ok(t, "grep", `{"pattern":"var a"}`)
	require.Equal(t, "huge.min.js:1: "+strings.Repeat("var a=1;", 63)[:500]+"…\n\n[Lines are cut at 500 characters. Use read to see one whole.]", got.Text)
	require.Equal(t, "No matches found", b.ok(t, "grep", `{"pattern":"PNG"}`).Text)
	got = b.ok(t, "find_code", `{"question":"cafe variable"}`)
	require.NotContains(t, got.Text, "huge.min.js:0")
	got = b.ok(t, "read_enclosing", `{"path":"huge.min.js","line":1}`)
	require.Equal(t, "[Line 1 is 5.0MB, exceeds 50.0KB limit.]", got.Text)
	require.Equal(t, []string{"huge.min.js:0-0"}, b.shown(t, got, sha))
}

// G12: Foo/Bar and foo/bar are one repository.
func TestG12_Case(t *testing.T) {
	t.Parallel()
	b := oneRepo(t, "-- @commit c --\n-- a.txt --\na\n")
	b.ok(t, "checkout_repo", `{"repo":"ACME/One"}`)
	require.Equal(t, []string{"acme/one"}, b.Keys())
	require.Equal(t, "a", b.ok(t, "read", `{"repo":"Acme/ONE","path":"a.txt"}`).Text)
}
