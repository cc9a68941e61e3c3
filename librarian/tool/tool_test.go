package tool_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian/tool"
)

type sample struct {
	Path   string   `json:"path" jsonschema:"the path"`
	Offset *int     `json:"offset,omitempty" jsonschema:"first line"`
	Names  []string `json:"names,omitempty" jsonschema:"names"`
}

func newSample(name string) tool.Tool {
	return tool.New(tool.Definition[sample]{Name: name, Effect: tool.Read, Verb: "take", Subject: func(s sample) string { return s.Path },
		Run: func(_ context.Context, s sample) (tool.Result, error) { return tool.Result{Text: s.Path}, nil }})
}

func TestSchemaHasPlainTypes(t *testing.T) {
	t.Parallel()
	require.JSONEq(t, `{"type":"object","additionalProperties":false,"required":["path"],"properties":{
		"path":{"type":"string","description":"the path"},
		"offset":{"type":"integer","description":"first line"},
		"names":{"type":"array","description":"names","items":{"type":"string"}}}}`, string(newSample("s").Spec().Schema))
}

func TestCallReadsArgumentsStrictly(t *testing.T) {
	t.Parallel()
	tests := []struct{ args, text, refusal string }{
		{args: `{"path":"a"}`, text: "a"},
		{args: `{"path":"a","offset":null,"names":null}`, text: "a"},
		{args: ``, refusal: "path is missing"},
		{args: `{}`, refusal: "path is missing"},
		{args: `{"path":null}`, refusal: "path is missing"},
		{args: `null`, refusal: "path is missing"},
		{args: `{"path":1}`, refusal: "path must be a string, not number"},
		{args: `{"path":"a","offset":"3"}`, refusal: "offset must be a whole number, not string"},
		{args: `{"path":"a","Line":3}`, refusal: `unknown field "Line"`},
		{args: `{"path":"a"}{"path":"b"}`, refusal: "more than one JSON value"},
		{args: `[]`, refusal: "the arguments must be an object, not array"},
		{args: `{"path":"a","names":"b"}`, refusal: "names must be a list, not string"},
		{args: `{"path":"1.0","offset":3.0}`, text: "1.0"},
		{args: `{"offset":3e0,"path":"a"}`, text: "a"},
		{args: `{"path":"a","offset":3.5}`, refusal: "offset must be a whole number, not number 3.5"},
		{args: `{"path":"a","offset":1e300}`, refusal: "offset must be a whole number, not number 1e300"},
		{args: `{"path"`, refusal: "unexpected EOF"},
		{args: `{"path":"a","offset":1,"path":"b"}`, refusal: "path is given twice"},
		{args: `{"path":"a","PATH":"b"}`, refusal: "PATH is given twice"},
		{args: `{"names":["a","a"],"path":"a"}`, text: "a"},
	}
	for _, tt := range tests {
		got, err := newSample("s").Call(t.Context(), json.RawMessage(tt.args))
		require.NoError(t, err, tt.args)
		if tt.refusal == "" {
			require.Equal(t, tool.Result{Text: tt.text}, got)
			continue
		}
		require.True(t, got.IsError, tt.args)
		require.Contains(t, got.Text, "Invalid arguments for s: ")
		require.Contains(t, got.Text, tt.refusal)
	}
	verb, subject := newSample("s").Trace(json.RawMessage(`{"path":"a"`))
	require.Equal(t, "take", verb)
	require.Empty(t, subject)
}

func TestCatalog(t *testing.T) {
	t.Parallel()
	_, err := tool.NewCatalog(newSample("a"), newSample("a"))
	require.Error(t, err)
	c, err := tool.NewCatalog(newSample("a"), newSample("b"), newSample(tool.ProvideResults))
	require.NoError(t, err)
	less := c.Without("a", tool.ProvideResults)
	require.Len(t, less.Specs(), 2)
	require.Equal(t, "b", less.Specs()[0].Name)
	_, ok := less.Get(tool.ProvideResults)
	require.True(t, ok)
	_, ok = less.Get("a")
	require.False(t, ok)
}

func TestTable(t *testing.T) {
	t.Parallel()
	s := newSample("s").Spec()
	s.Description = "Takes a|b. And more."
	require.Equal(t, "| tool | parameters | what it does |\n|---|---|---|\n| `s` | `path`, `offset?`, `names?` | Takes a\\|b. |\n", tool.Table([]tool.Spec{s}))
	require.Equal(t, "| tool | parameters | what it does |\n|---|---|---|\n| `x` | `` | . |\n", tool.Table([]tool.Spec{{Name: "x"}}))
}

func TestQuotePath(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]string{
		"src/a b.go": "src/a b.go", "ünï/[id].ts": "ünï/[id].ts", "e\u0301": "e\u0301", `back\slash`: `back\slash`, `a"b`: `a"b`,
		"a\nb": `"a\nb"`, "esc\x1b[31m": `"esc\x1b[31m"`, "bad\xff": `"bad\xff"`, `"a"`: `"\"a\""`, "a\u2028b": `"a\u2028b"`, "del\u0085": `"del\u0085"`,
		" lead": `" lead"`, "trail ": `"trail "`, "rtl\u202etxt.exe": `"rtl\u202etxt.exe"`, "\u200frlm": `"\u200frlm"`,
	} {
		require.Equal(t, want, tool.QuotePath(p))
		back, refusal := tool.CleanPath(tool.QuotePath(p))
		require.Empty(t, refusal)
		require.Equal(t, p, back)
	}
}
