package codesearch

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A message that is kept apart from the code that fails leads to that code.
func TestAMessageLeadsToWhatRaisesIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, text, want string }{
		{"Go", "err.go", "package p\n\nvar (\n\t// ErrFull is for when the basket is full of pears.\n\tErrFull = errors.New(\"p: basket is full of pears\")\n\tErrNone = errors.New(\"p: none\")\n)\n\nfunc put() error {\n\treturn ErrFull\n}\n\nfunc fillBasket() error {\n\treturn ErrNone\n}\n", "put"},
		{"C", "err.c", "#define E_FULL \"basket is full of pears\"\n\nint fill_basket(int n) {\n  return n;\n}\n\nint put(int n) {\n  return fail(n, E_FULL);\n}\n", "put"},
		{"Rust", "err.rs", "pub enum Trouble {\n    #[error(\"basket is full of pears\")]\n    TooFull,\n    #[error(\"none\")]\n    Nothing,\n}\n\nfn fill_basket() -> R {\n    Err(Trouble::Nothing)\n}\n\nfn put() -> R {\n    Err(Trouble::TooFull)\n}\n", "put"},
		{"an object of messages", "err.js", "const MESSAGES = {\n  fullUp: 'basket is full of pears',\n  nothing: 'none',\n};\n\nfunction fillBasket(x) {\n  return x.nothing;\n}\n\nfunction put(x) {\n  throw new Error(MESSAGES.fullUp);\n}\n", "put"},
		{"Java, on two lines", "Err.java", "class Err {\n    private static final String TOO_FULL =\n        \"basket is full of pears\";\n\n    int fillBasket(int n) {\n        return n;\n    }\n\n    void put(int n) {\n        throw new Bad(TOO_FULL);\n    }\n}\n", "put"},
		{"a field that a function fills", "err.c", "void make_texts(void)\n{\n  texts.full_up = text(\n      \"basket is full of pears\");\n  texts.nothing = text(\"none\");\n}\n\nint fill_basket(int n)\n{\n  return say(n, texts.nothing);\n}\n\nint put(int n)\n{\n  return say(n, texts.full_up);\n}\n", "put"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, question := range []string{"I get \"basket is full of pears\", what returns that?", "error: basket is full of pears"} {
				got := ask(t, map[string]string{c.file: strings.ReplaceAll(c.text, "\n\n", strings.Repeat("\n", 80)), "other.md": "# Pears\n\nHow to fill a basket.\n"}, question)
				require.Contains(t, []string{got[0].Symbol, got[min(1, len(got)-1)].Symbol}, c.want, "%s: %v", question, paths(got))
			}
		})
	}
}

func TestNameOfLiteral(t *testing.T) {
	t.Parallel()
	for lines, want := range map[string]string{
		"// the box is empty\nErrEmpty = New(\"the box is empty\")": "ErrEmpty",
		"  \"boxEmpty\": \"the box is empty\",":                     "boxEmpty",
		"log(\"the box is empty\")":                                 "",
		"const a: string = 'the box is empty'":                      "a",
		"if x == \"the box is empty\" {":                            "",
		"nothing of it":                                             "",
		"":                                                          "",
	} {
		require.Equal(t, want, nameOfLiteral([]byte(lines), "The box is empty", definedText), lines)
	}
}
