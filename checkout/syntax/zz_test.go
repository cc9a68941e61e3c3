//go:build cgo && treesitter

package syntax

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	const size = 2 << 20
	fill := func(s string) []byte { return []byte(strings.Repeat(s, size/len(s))) }
	var ext = map[string]string{"go": "a.go", "python": "a.py", "javascript": "a.js", "typescript": "a.ts", "tsx": "a.tsx", "rust": "a.rs", "java": "a.java", "c": "a.c", "cpp": "a.cpp", "csharp": "a.cs", "kotlin": "a.kt", "ruby": "a.rb", "php": "a.php"}
	for _, pat := range []string{"r#\"", "{", "(", "/*", "'", "\"", "`${", "<<A\n", "<?php <<<A\n", "\"\"\"", "f(x => {", "\n#if X\n", "class A\n", "a<", "\"#{", "$\"{", "if x {", "else ", "[", "=", "a b ", "def f():\n", "=begin\n", "/", "\xff", "\x00", "<a>", "@", "#", "?:", "-"} {
		for name, g := range grammars {
			if only := os.Getenv("ZZ"); only != "" && only != name {
				continue
			}
			src := fill(pat)
			start := time.Now()
			l := g()
			if name == "ruby" && !rubyIsSafe(src) {
				continue
			}
			tr := parseTree(l.language, src)
			p := time.Since(start)
			if tr != nil {
				f := newFile(languages[map[bool]string{true: "typescript", false: name}[name == "tsx"]], nil)
				f.src, f.mask = src, append([]byte(nil), src...)
				f.lines = []int{0, len(src)}
				s2 := time.Now()
				ds, ok := f.match(l, tr)
				if d := time.Since(s2); d > time.Second {
					fmt.Printf("  match %q %s %v %d %v\n", pat, name, d, len(ds), ok)
				}
				tr.Close()
			}
			if p > 2500*time.Millisecond {
				fmt.Printf("parse %q %s %v tree %v\n", pat, name, p, tr != nil)
			}
			_ = ext
		}
	}
	b, _ := os.ReadFile("/proc/self/status")
	for _, l := range strings.Split(string(b), "\n") {
		if strings.HasPrefix(l, "VmHWM") {
			fmt.Println(l)
		}
	}
	runtime.KeepAlive(nil)
}
