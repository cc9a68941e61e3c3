package syntax

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Files made to take long: each takes time that grows with its size alone. The limit is far above what is needed and far below what
// quadratic time would take.
func TestOutlineOfHostileFilesIsQuick(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	fill := func(s string) []byte { return []byte(strings.Repeat(s, size/len(s))) }
	for name, c := range map[string]struct {
		file string
		src  []byte
	}{
		"braces and branches": {"a.c", append(fill("{"), fill("\n#if X\n")...)},
		"else branches":       {"a.c", append(fill("#if X\n"), fill("f() {\n#else\n")...)},
		"here-documents":      {"a.sh", fill("<<EOF\n")},
		"raw strings":         {"a.rs", fill(`r#"`)},
		"regular expressions": {"a.js", fill("(/")},
		"quotes":              {"a.sh", fill(`'\"`)},
		"triple quotes":       {"a.py", fill(`"""'''`)},
		"parentheses":         {"a.ts", fill("f(x => {")},
		"heads":               {"a.java", fill("a b c d e f ")},
		"lines that go on":    {"a.kt", fill("a\n")},
		"declarations":        {"a.py", fill("def f():\n")},
		"nesting":             {"a.rb", fill("class A\n")},
		"comments":            {"a.scala", fill("/*")},
		"headings":            {"a.md", fill("# a\n")},
		"equations":           {"a.hs", fill("f x =\n")},
		"one line":            {"a.js", fill("a")},
		"empty lines":         {"a.py", fill("\n")},
		"blank lines":         {"a.ts", append([]byte("let b\n"), append(fill("\n"), "{ f() }\n"...)...)},
		"comments in between": {"a.ts", append([]byte("const a =\n"), fill("// x\n")...)},
		"less than":           {"a.php", append([]byte("<?php "), fill("<")...)},
		"less than, shell":    {"a.sh", fill("<")},
		"less than, Ruby":     {"a.rb", fill("<")},
		"type arguments":      {"a.ts", fill("class A<{ ")},
		"type arguments' end": {"a.ts", append([]byte("class A<\n"), fill("b\n>\n<")...)},
		"typedefs":            {"a.c", fill("typedef struct {\n")},
		"initializers":        {"a.cc", fill("A() : a{")},
		"commands in strings": {"a.sh", fill(`"$(`)},
		"unclosed functions":  {"a.js", fill("function f(){\n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			NewOutline(c.file, c.src)
			require.Less(t, time.Since(start), 10*time.Second)
		})
	}
}

func BenchmarkOutline(b *testing.B) {
	var src []byte
	for i := range 10_000 / 10 {
		src = fmt.Appendf(src, "// F%d does something with its argument.\nfunc (t *T) F%d(x int) error {\n\tif x > 0 {\n\t\tfor i := range x {\n\t\t\tt.call(i, \"text\")\n\t\t}\n\t}\n\treturn nil\n}\n\n", i, i)
	}
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		NewOutline("a.go", src)
	}
}
