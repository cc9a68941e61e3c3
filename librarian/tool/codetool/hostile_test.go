package codetool_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/tool"
)

// readers say how each tool that reads a checkout is asked for a path. A quoted path is JSON.
var readers = map[string]func(quoted string) string{
	"read":           func(p string) string { return `{"path":` + p + `}` },
	"read_enclosing": func(p string) string { return `{"line":1,"path":` + p + `}` },
	"grep":           func(p string) string { return `{"pattern":".","path":` + p + `}` },
	"find":           func(p string) string { return `{"pattern":"*","path":` + p + `}` },
	"ls":             func(p string) string { return `{"path":` + p + `}` },
	"find_code":      func(p string) string { return `{"question":"where is the canary needle kept?","path":` + p + `}` },
	"outline":        func(p string) string { return `{"path":` + p + `}` },
	"git_log":        func(p string) string { return `{"path":` + p + `}` },
	"git_show":       func(p string) string { return `{"commit":"main","path":` + p + `}` },
	"git_blame":      func(p string) string { return `{"path":` + p + `}` },
	"git_diff":       func(p string) string { return `{"from":"v0","path":` + p + `}` },
	"bash":           func(p string) string { return `{"command":` + quoteJSON("cat -- "+shellQuote(unquoteJSON(p))) + `}` },
}

func quoteJSON(s string) string { b, _ := json.Marshal(s); return string(b) }

func unquoteJSON(s string) (out string) { _ = json.Unmarshal([]byte(s), &out); return out }

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// asked calls every reading tool for a path and checks what holds whatever it is.
func (b *bench) asked(t *testing.T, path string) map[string]tool.Result {
	t.Helper()
	out := map[string]tool.Result{}
	for name, args := range readers {
		got := b.call(t, name, args(quoteJSON(path)))
		require.True(t, utf8.ValidString(got.Text), "%s of %q", name, path)
		require.LessOrEqual(t, len(got.Text), tool.MaxBytes+1<<10, "%s of %q", name, path)
		require.NotContains(t, got.Text, "\x1b", "%s of %q", name, path)
		require.NotContains(t, got.Subject+got.Summary, "\n", "%s of %q", name, path)
		out[name] = got
	}
	return out
}

// Every tool of the session that reads is among the readers, so that a new one is not forgotten here.
func TestReadersAreAllThereAre(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for name := range b.tools {
		if name != "checkout_repo" {
			require.Contains(t, readers, name)
		}
	}
}

// G8: no tool follows a link out of the tree, nor to another file of it.
func TestG8_ThroughEveryTool(t *testing.T) {
	t.Parallel()
	confined(t)
	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(outside, []byte("canary outside\n"), 0o644))
	b := oneRepo(t, "-- @commit zero --\n-- x --\n-- @lighttag v0 --\n-- @commit c --\n-- secret/key.txt --\ncanary inside\n-- file (symlink) --\nsecret/key.txt\n-- folder (symlink) --\nsecret\n-- chain (symlink) --\nfile\n"+
		"-- absolute (symlink) --\n"+outside+"\n-- up (symlink) --\n../../../../../../../.."+outside+"\n-- loop (symlink) --\nloop\n")
	for path, target := range map[string]string{"file": "secret/key.txt", "folder": "secret", "chain": "file", "absolute": outside, "up": "../../../../../../../.." + outside, "loop": "loop"} {
		for name, got := range b.asked(t, path) {
			require.NotContains(t, got.Text, "canary", "%s of %s", name, path)
			for _, e := range got.Evidence {
				require.Equal(t, path, e.Path, name)
			}
			switch name {
			case "git_show", "git_diff":
				require.Contains(t, got.Text, "A "+path+" (+1 −0)\n\n"+path+"\n@@\n+1: "+target, "a link's text is its target")
			case "git_log":
				require.Contains(t, got.Text, "\n  A "+path, path)
			case "bash":
				require.Equal(t, target, got.Text, "in the tree a link is a file that holds its target")
			case "find_code":
			default:
				require.Contains(t, got.Text, "symlink", "%s of %s", name, path)
			}
		}
	}
	for _, path := range []string{"folder/key.txt", "absolute/x", "loop/loop", "up/secret"} {
		for name, got := range b.asked(t, path) {
			require.NotContains(t, got.Text, "canary", "%s of %s", name, path)
			require.Empty(t, got.Evidence, name)
		}
	}
}

// G9: nothing that a repository says about git is done, by no tool, and not by git in bash either.
func TestG9_ThroughEveryTool(t *testing.T) {
	t.Parallel()
	confined(t)
	dir := t.TempDir()
	mark := filepath.Join(dir, "ran")
	evil := "[core]\n\tfsmonitor = \"touch " + mark + "; false\"\n\thooksPath = hooks\n\tsshCommand = touch " + mark + "\n\tpager = touch " + mark + "\n\tworktree = ..\n" +
		"[diff \"evil\"]\n\ttextconv = touch " + mark + "\n\tcommand = touch " + mark + "\n[filter \"evil\"]\n\tclean = touch " + mark + "\n\tsmudge = touch " + mark + "\n\trequired = true\n" +
		"[url \"ext::touch " + mark + "\"]\n\tinsteadOf = https://\n[alias]\n\tlog = !touch " + mark + "\n"
	b := oneRepo(t, "-- @commit zero --\n-- a.txt --\nold\n-- @lighttag v0 --\n-- @commit c --\n-- .gitattributes --\n* filter=evil diff=evil merge=evil text eol=crlf ident working-tree-encoding=UTF-16\n"+
		"-- .gitconfig --\n"+evil+"-- .gitmodules --\n[submodule \"x\"]\n\tpath = x\n\turl = ext::touch "+mark+"\n\tupdate = !touch "+mark+"\n-- a.txt --\n$Id$ new needle\n"+
		"-- bare/HEAD --\nref: refs/heads/main\n-- bare/config --\n"+evil+"-- bare/objects/info/x --\n-- bare/refs/heads/x --\n-- bare/hooks/post-checkout (exec) --\n#!/bin/sh\ntouch "+mark+"\n"+
		"-- hooks/post-checkout (exec) --\n#!/bin/sh\ntouch "+mark+"\n-- .vscode/settings.json --\n{}\n")
	for _, path := range []string{"a.txt", "bare", "bare/config", ".gitattributes", "x", ""} {
		b.asked(t, path)
	}
	require.Equal(t, "$Id$ new needle", b.ok(t, "read", `{"path":"a.txt"}`).Text, "G13: the blob's own bytes")
	for _, command := range []string{"git status; git diff; git diff v0; git log -p; git show HEAD:a.txt", "cd bare && git status; git log -p; git config -l", "cd bare && unset GIT_DIR GIT_WORK_TREE && git status; git log",
		"git submodule update --init; git fetch https://forge.example/x; git checkout -f HEAD", "HOME=$PWD GIT_CONFIG_GLOBAL=$PWD/.gitconfig git log -p a.txt; GIT_CONFIG_GLOBAL=$PWD/.gitconfig git diff"} {
		b.call(t, "bash", fmt.Sprintf(`{"command":%q}`, command))
	}
	require.NoFileExists(t, mark)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
	o, _ := b.Lookup("acme/one")
	require.NoError(t, o.Checkout.Verify(t.Context()))
}

// G10: a name means itself to every tool, as it is shown by find.
func TestG10_ThroughEveryTool(t *testing.T) {
	t.Parallel()
	confined(t)
	names := []string{":(glob)**", ":(exclude)x", "*", "[id].ts", "(main)/page.tsx", "a b.txt", "-rf", "--help", "#1%2F?.md", `quo"te`, `'single'`, "ünï/cödé.txt", "{a,b}", `back\slash`,
		"$(touch x)", "new\nline.txt", "tab\t.txt", "bell\x07", "latin-\xe9.txt", "esc\x1b[31m", "sep\u2028.txt", "..."}
	archive := "-- @commit zero --\n-- other.txt --\nother needle canary\n-- @lighttag v0 --\n-- @commit c --\n"
	for i, n := range names {
		archive += "-- " + cQuote(n) + " --\n" + fmt.Sprintf("needle %d\n", i)
	}
	b := oneRepo(t, archive)
	shown := map[string]string{} // by what they hold
	for line := range strings.SplitSeq(b.ok(t, "grep", `{"pattern":"^needle","limit":100}`).Text, "\n") {
		i := strings.LastIndex(line, ":1: ")
		shown[line[i+4:]] = line[:i]
	}
	require.Len(t, shown, len(names))
	for i, n := range names {
		needle := fmt.Sprintf("needle %d", i)
		for name, got := range b.asked(t, shown[needle]) {
			switch name {
			case "bash": // see below
			case "find", "ls":
				require.True(t, got.IsError, "%s: a file", name)
				require.Contains(t, got.Text, "is a file, not a folder", "%s of %q", name, n)
			case "find_code", "outline", "git_log":
				require.False(t, got.IsError, "%s of %q: %s", name, n, got.Text)
				require.NotContains(t, got.Text, "other.txt", "%s of %q", name, n)
			default:
				require.Contains(t, got.Text, needle, "%s of %q", name, n)
				require.NotContains(t, got.Text, "canary", "%s of %q", name, n)
				require.Len(t, got.Evidence, 1, "%s of %q", name, n)
				require.Equal(t, n, got.Evidence[0].Path, name)
			}
		}
		command := "cat -- " + shellQuote(n) + "; git log --format=%s -- " + shellQuote(":(literal)"+n)
		if utf8.ValidString(n) {
			require.True(t, strings.HasPrefix(b.ok(t, "bash", `{"command":`+quoteJSON(command)+`}`).Text, needle+"\nc"), n)
		}
	}
	require.Equal(t, "(no output)", b.ok(t, "bash", `{"command":"git status --short"}`).Text, "git sees the very names that the tree has")
}

// G11: whatever bytes a file holds, every tool says what it is, within its limits.
func TestG11_ThroughEveryTool(t *testing.T) {
	t.Parallel()
	confined(t)
	huge := strings.Repeat("var a=1;", 5<<17)
	b := oneRepo(t, "-- @commit zero --\n-- x --\n-- @lighttag v0 --\n-- @commit c --\n-- latin1.c --\nint caf\xe9(void) { return 0; }\n-- image.png --\n\x89PNG\r\n\x1a\n\x00\x00data\n-- empty.go --\n-- huge.min.js --\n"+
		huge+"\n-- utf16.txt --\n\xff\xfe"+"h\x00i\x00\n\x00"+"\n-- bom.txt --\n\xef\xbb\xbfone\n-- crlf.txt --\none\r\ntwo\r\n-- nonl.txt --\none\ntwo\n")
	const binary = "Binary file, 15B; its content is not shown."
	for path, want := range map[string]map[string]string{
		"latin1.c": {"read": "int café(void) { return 0; }\n\n[Not UTF-8; read as Latin-1.]", "grep": "latin1.c:1: int café(void) { return 0; }", "git_blame": "[Not UTF-8; read as Latin-1.]",
			"read_enclosing": "[Not UTF-8; read as Latin-1.]", "git_show": "+1: int café(void) { return 0; }", "bash": "int caf\uFFFD(void) { return 0; }"},
		"image.png": {"read": binary, "read_enclosing": binary, "outline": binary, "git_blame": binary, "grep": "No matches found", "git_show": "image.png\nbinary, not shown",
			"git_diff": "image.png\nbinary, not shown", "git_log": "A image.png"},
		"empty.go": {"read": "[Empty file.]", "read_enclosing": "Line 1 is beyond end of file (0 lines total)", "git_blame": "[Empty file.]", "outline": "No declarations found in empty.go", "grep": "No matches found",
			"git_show": "A empty.go (+0 −0)", "bash": "(no output)"},
		"huge.min.js": {"read": "[Line 1 is 5.0MB, exceeds 50.0KB limit.]", "read_enclosing": "[Line 1 is 5.0MB, exceeds 50.0KB limit.]", "grep": "[Lines are cut at 500 characters. Use read to see one whole.]",
			"git_show": "+1: var a=1;", "git_blame": "var a=1;", "bash": "[Showing the last 50.0KB of 5.0MB.]"},
		"utf16.txt": {"read": "hi\n\n[UTF-16 little-endian; shown as UTF-8.]", "grep": "utf16.txt:1: hi", "git_blame": "[UTF-16 little-endian; shown as UTF-8.]", "git_show": "binary, not shown"},
		"bom.txt":   {"read": "one", "grep": "bom.txt:1: one", "git_blame": " 1: one"},
		"crlf.txt":  {"read": "one\ntwo", "grep": "crlf.txt:1: one\ncrlf.txt:2: two", "git_show": "+1: one\n+2: two", "git_blame": " 2: two", "bash": "one\ntwo"},
	} {
		got := b.asked(t, path)
		names := make([]string, 0, len(want))
		for name := range want {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			require.Contains(t, got[name].Text, want[name], "%s of %s", name, path)
		}
		if path == "image.png" || path == "empty.go" || path == "huge.min.js" {
			for _, e := range got["read"].Evidence {
				require.Zero(t, e.Start, "%s: no line was shown", path)
			}
		}
	}
}
