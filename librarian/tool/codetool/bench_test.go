package codetool_test

import (
	"fmt"
	"strings"
	"testing"
)

// bigRepo is a repository of so many Go files in folders of fifty, with one long file.
func bigRepo(files, longLines int) string {
	var b strings.Builder
	b.WriteString("-- @commit c --\n")
	for i := range files {
		fmt.Fprintf(&b, "-- pkg%03d/file%d.go --\npackage pkg\n\n// Handle%d answers request %d.\nfunc Handle%d(in string) (string, error) {\n\tif in == \"\" {\n\t\treturn \"\", errEmpty\n\t}\n\treturn in + \"%d\", nil\n}\n",
			i/50, i, i, i, i, i)
	}
	b.WriteString("-- long.go --\n" + longFile(longLines))
	return b.String()
}

func BenchmarkTools(b *testing.B) {
	t := newBench(b, map[string]string{"acme/one": bigRepo(3000, 10_000)})
	t.mustOK(b, "checkout_repo", `{"repo":"acme/one"}`)
	t.mustOK(b, "find_code", `{"question":"warm the index"}`)
	for name, args := range map[string][2]string{
		"read-1000-ranges":     {"read", `{"path":"long.go","offset":%d,"limit":40}`},
		"find":                 {"find", `{"pattern":"file%d.go"}`},
		"ls":                   {"ls", `{"path":"pkg%03[1]d"}`},
		"outline-10000-lines":  {"outline", `{"path":"long.go"}`},
		"read_enclosing":       {"read_enclosing", `{"path":"long.go","line":%d}`},
		"grep-rare":            {"grep", `{"pattern":"Handle%d answers"}`},
		"grep-frequent":        {"grep", `{"pattern":"return"}`},
		"find_code-warm":       {"find_code", `{"question":"which function answers request %d?"}`},
		"git_blame-whole-file": {"git_blame", `{"path":"pkg000/file1.go"}`},
	} {
		b.Run(name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				for range map[bool]int{true: 1000, false: 1}[name == "read-1000-ranges"] {
					call := args[1]
					if strings.Contains(call, "%") {
						call = fmt.Sprintf(call, i%59+1)
					}
					t.mustOK(b, args[0], call)
					i++
				}
			}
		})
	}
}
