package codesearch

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func paths(cs []Candidate) (out []string) {
	for _, c := range cs {
		out = append(out, c.Path+" "+c.Symbol)
	}
	return out
}

func TestSearchUnderstandsWhatIsNamedExactly(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"src/config/loader.py":    "class Loader:\n    def read_file(self, path):\n        if not path:\n            raise ValueError('no such profile: %s' % path)\n        return open(path)\n",
		"src/config/other.py":     "def call():\n    x = Loader()\n    x.read_file('a')\n    x.read_file('b')\n    x.read_file('c')\n",
		"src/net/sender.py":       "def send(frame):\n    # read file, profile\n    return frame\n",
		"tests/test_loader.py":    "def test_read_file():\n    Loader().read_file('x')\n",
		"src/config/profile.py":   "def profile(path):\n    return path\n",
		"src/net/gate.py":         "def gate(x):\n    raise Closed('LoaderGate was closed')\n",
		"third_party/x/loader.py": "class Loader:\n    def read_file(self, path):\n        return path\n",
		"docs/loader.md":          "# Loader\n\n`read_file` reads a file.\n",
		"src/net/http2_client.go": "package net\n\nfunc DialHTTP2Server(addr string) error {\n\treturn nil\n}\n",
		"src/parser.rs":           "impl Parser {\n    pub fn parse_expr(&self) -> Expr {\n        self.go()\n    }\n}\n",
		"src/errors.py":           "__all__ = (\n    'Missing', 'Present', 'Lost',\n)\n\n\nclass Lost(Exception):\n    \"\"\"It is lost.\"\"\"\n\n    def __repr__(self):\n        return 'x'\n\n\nclass Missing(Exception):\n    \"\"\"It is missing.\"\"\"\n\n    def __repr__(self):\n        return 'y'\n",
		"src/net/users.py":        "def users():\n    # as jobs.add does\n    return None\n",
		"src/settings.py":         "TABLE = [\n    ('idle-limit', int, 30),\n    ('name', str, ''),\n    ('port', int, 80),\n]\n",
		"src/net/idle.py":         "def idle_limit(limit, value):\n    # the default value of the idle limit\n    return limit\n",
		"src/net/wire.go":         "package net\n\nfunc (w *Wire) ReadFrame(b []byte) error {\n\tx := 1\n\t_ = x\n\treturn nil\n}\n\nfunc (w *Wire) Drain() error {\n\tx := 1\n\t_ = x\n\treturn nil\n}\n",
		"docs/pool.md":            "# Settings\n\n## Queue sizes\n\nHow to configure the sizes of the queues.\n",
		"src/net/queue.py":        "def queue_sizes(queue, sizes):\n    # configure the sizes of queues\n    return sizes\n",
		"src/Widgets.Button.cs":   "namespace Ui\n{\n    public class Button\n    {\n        public void Click()\n        {\n            Fire();\n        }\n    }\n}\n",
	}
	ix, err := Build(t.Context(), tree(files), Options{})
	require.NoError(t, err)
	for _, c := range []struct{ name, question, path, symbol string }{
		{"definition before use", "read_file", "src/config/loader.py", "read_file"},
		{"in a sentence", "what does read_file do with an empty path?", "src/config/loader.py", "read_file"},
		{"call", "where is Loader.read_file() defined", "src/config/loader.py", "read_file"},
		{"quoted text", `Where does "no such profile" come from?`, "src/config/loader.py", "read_file"},
		{"error message without quotes", "ValueError: no such profile: prod", "src/config/loader.py", "read_file"},
		{"quoted camel case", `why "LoaderGate was closed"?`, "src/net/gate.py", "gate"},
		{"a line of a log", "tool: loader: no such profile: prod (35)", "src/config/loader.py", "read_file"},
		{"stack trace", "Traceback (most recent call last):\n  File \"src/config/loader.py\", line 4, in read_file\nValueError: no such profile: prod", "src/config/loader.py", "read_file"},
		{"place of a compiler", "src/parser.rs:3:14: mismatched types", "src/parser.rs", "parse_expr"},
		{"absolute place", "panic at /home/me/app/src/net/sender.py:2 while starting", "src/net/sender.py", "send"},
		{"path", "src/net/sender.py", "src/net/sender.py", "send"},
		{"file name", "what is in sender.py", "src/net/sender.py", "send"},
		{"camel case", "DialHTTP2Server", "src/net/http2_client.go", "DialHTTP2Server"},
		{"words of a camel case name", "dial http2 server", "src/net/http2_client.go", "DialHTTP2Server"},
		{"rust path", "Parser::parse_expr", "src/parser.rs", "parse_expr"},
		{"csharp", "Button.Click", "src/Widgets.Button.cs", "Click"},
		{"the type of an error, not the value filled in", "src.errors.Missing: 'jobs.add'", "src/errors.py", "Missing"},
		{"a setting by its name in the code", "what is the default value of idle-limit?", "src/settings.py", "TABLE"},
		{"a trace of another version: Go", "panic: nil\ngoroutine 1 [running]:\nx/src/net.(*Wire).Drain(0xc0, 0x1)\n\t/home/me/src/net/wire.go:5 +0x1a5", "src/net/wire.go", "Drain"},
		{"a trace of another version: Java's form", "IOError: lost\n    at Wire.Drain (src/net/wire.go:4:10)", "src/net/wire.go", "Drain"},
		{"a trace of this version", "IOError: lost\n    at Wire.ReadFrame (src/net/wire.go:4:10)", "src/net/wire.go", "ReadFrame"},
		{"documentation when asked where it is documented", "where is documented how to configure the sizes of queues?", "docs/pool.md", "Queue sizes"},
		{"tests when asked about tests", "which tests cover read_file", "tests/test_loader.py", "test_read_file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := search(t, ix, c.question)
			require.NotEmpty(t, got)
			require.Equal(t, c.path, got[0].Path, paths(got))
			require.Equal(t, c.symbol, got[0].Symbol, paths(got))
		})
	}
}

func TestSearchOptions(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("pkg%d/worker.go", i)] = fmt.Sprintf("package p\n\n// Run starts worker %d.\nfunc Run() {\n}\n\nfunc Special%d() {\n\tenqueue()\n}\n", i, i)
	}
	ix, err := Build(t.Context(), tree(files), Options{})
	require.NoError(t, err)
	get := func(q Query) []Candidate {
		res, err := ix.Search(t.Context(), q)
		require.NoError(t, err)
		return res.Candidates
	}
	require.Len(t, get(Query{Question: "start worker"}), 10)
	require.Len(t, get(Query{Question: "start worker", Limit: 3}), 3)
	require.LessOrEqual(t, len(get(Query{Question: "start worker", Limit: 5000})), 100)
	for _, c := range get(Query{Question: "start worker", PathPrefix: "pkg7/"}) {
		require.Equal(t, "pkg7/worker.go", c.Path, "pkg7 is no prefix of pkg70")
	}
	require.Empty(t, get(Query{Question: "start worker", PathPrefix: "nowhere"}))
	require.Equal(t, "Special3", get(Query{Question: "start worker", Also: []string{"Special3"}})[0].Symbol)
	require.Empty(t, get(Query{Question: "  "}))
	require.Empty(t, get(Query{Question: "the of and"}))
	require.Empty(t, get(Query{Question: "zeppelin"}))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = ix.Search(ctx, Query{Question: "worker"})
	require.ErrorIs(t, err, context.Canceled)
	_, err = Build(ctx, tree(files), Options{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestConfidenceTellsAnAnswerFromAGuess(t *testing.T) {
	t.Parallel()
	ix, err := Build(t.Context(), tree(smallTree), Options{})
	require.NoError(t, err)
	confidence := func(q string) float64 {
		res, err := ix.Search(t.Context(), Query{Question: q})
		require.NoError(t, err)
		require.GreaterOrEqual(t, res.Confidence, 0.0)
		require.LessOrEqual(t, res.Confidence, 1.0)
		return res.Confidence
	}
	require.Greater(t, confidence("Where is the exponential delay before the next attempt computed?"), ConfidenceEnough)
	require.Less(t, confidence("How are thumbnails of uploaded pictures cropped and stored in the bucket?"), ConfidenceEnough)
	require.Zero(t, confidence(""))
	res, err := ix.Search(t.Context(), Query{Question: "exponential zeppelin delay"})
	require.NoError(t, err)
	require.Equal(t, []string{"zeppelin"}, res.Missing)
	require.Equal(t, []string{"exponential", "delay"}, res.Terms)
}

func TestTheSameTreeGivesTheSameAnswer(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("d%d/f.go", i)] = "package p\n\n// Same does the same.\nfunc Same() {\n\treturn\n}\n"
	}
	one, err := Build(t.Context(), tree(files), Options{Workers: 1})
	require.NoError(t, err)
	want := search(t, one, "what does the same function do again, the same?")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			many, err := Build(t.Context(), tree(files), Options{Workers: 8})
			if err != nil {
				t.Error(err)
				return
			}
			for range 3 {
				res, _ := many.Search(t.Context(), Query{Question: "what does the same function do again, the same?"})
				if fmt.Sprint(res.Candidates) != fmt.Sprint(want) {
					t.Error("another answer")
				}
			}
		})
	}
	wg.Wait()
}

func TestG11_OddFilesAreNoTrouble(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"empty.go":      "",
		"latin1.py":     "def gr\xfc\xdfe():\n    pass  # sch\xf6n\n",
		"utf16.txt":     "\xff\xfeh\x00i\x00",
		"binary.go":     "package a\x00\x01\x02",
		"long.js":       "var x = '" + strings.Repeat("a", 5<<20) + "';",
		"bom.cs":        "\xef\xbb\xbfclass Bom { void F() { } }\n",
		"unclosed.go":   "package a\n\nfunc Unclosed() {\n\ts := `\n",
		"deep.js":       strings.Repeat("{", 100_000),
		"new\nline.go":  "package a\n\nfunc Newline() {}\n",
		"bad\xffutf.go": "package a\n\nfunc BadName() {}\n",
		"cr.rb":         "def carriage\r  1\rend\r",
		"good.go":       "package a\n\nfunc Good() {}\n",
	}
	m := fstest.MapFS{}
	for p, s := range files {
		m[p] = &fstest.MapFile{Data: []byte(s)}
	}
	m["link"] = &fstest.MapFile{Data: []byte("good.go"), Mode: fs.ModeSymlink}
	ix, err := Build(t.Context(), oddSource{m}, Options{})
	require.NoError(t, err)
	for question, path := range map[string]string{"Good": "good.go", "Newline": "new\nline.go", "BadName": "bad\xffutf.go", "Unclosed": "unclosed.go", "Bom": "bom.cs"} {
		got := search(t, ix, question)
		require.NotEmpty(t, got, question)
		require.Equal(t, path, got[0].Path)
	}
}

// oddSource lists names that fs.FS does not allow.
type oddSource struct{ m fstest.MapFS }

func (s oddSource) Files(context.Context) (out []File, _ error) {
	for p, f := range s.m {
		if f.Mode.IsRegular() {
			out = append(out, File{Path: p, Size: int64(len(f.Data))})
		}
	}
	return out, nil
}

func (s oddSource) Read(_ context.Context, f File, limit int64) ([]byte, error) {
	if strings.Contains(f.Path, "unreadable") {
		return nil, fs.ErrPermission
	}
	d := s.m[f.Path].Data
	return d[:min(int64(len(d)), limit)], nil
}

func FuzzSearch(f *testing.F) {
	ix, err := Build(f.Context(), tree(smallTree), Options{})
	require.NoError(f, err)
	for _, q := range []string{"Interval()", "a::b.c->d", "\"quoted", "File \"x.py\", line 3", "\xff\xfe", strings.Repeat("delay ", 5000), "retry/backoff.go:3"} {
		f.Add(q, "Guess")
	}
	// What the files say, as a program would print it, with punctuation by itself.
	for _, name := range slices.Sorted(maps.Keys(smallTree)) {
		for line := range strings.Lines(smallTree[name]) {
			if words := strings.Fields(line); len(words) > 3 {
				f.Add("error: "+strings.Join(words[:2], " ")+" ( "+strings.Join(words[2:], " ")+" > \" ) '", "Guess")
				f.Add("it says \""+strings.Join(words[:2], " ")+" ( "+strings.Join(words[2:], " ")+" >\"", "")
			}
		}
	}
	f.Fuzz(func(t *testing.T, question, also string) {
		res, err := ix.Search(t.Context(), Query{Question: question, Also: []string{also}, Limit: 5})
		if err != nil || len(res.Candidates) > 5 {
			t.Fatal(err, len(res.Candidates))
		}
		for _, c := range res.Candidates {
			if c.Start < 1 || c.End < c.Start || c.Score < 0 || c.Score > 1 {
				t.Fatalf("%+v", c)
			}
		}
	})
}

func TestSplitWord(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"parseHTTPRequest": "parse http request", "snake_case_name": "snake case name", "UTF8Decoder": "utf8 decoder", "sha256sum": "sha256sum",
		"getX509Cert": "get x509 cert", "__init__": "init", "XMLHttp": "xml http", "a": "a", "HTTP2Server": "http2 server", "ID": "id", "userIDs": "user i ds",
	} {
		require.Equal(t, want, strings.Join(splitWord(word), " "), word)
	}
	for _, pair := range [][2]string{{"serialise", "serialize"}, {"behaviour", "behavior"}, {"licence", "license"}, {"failure", "failed"}, {"deletion", "delete"}, {"params", "parameter"}, {"otherwise", "otherwise"}} {
		require.Equal(t, stem(pair[1]), stem(pair[0]), pair[0])
	}
	require.NotEqual(t, stem("promise"), stem("promize"))
}
