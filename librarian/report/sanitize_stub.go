// Stand-ins so that the package compiles until package handlers' author lands sanitize.go: delete this file then.

package report

import "strings"

type Options struct {
	Asker      string
	Secrets    []string
	AllowLinks func(string) bool
}

func Sanitize(s string, o Options) string { return Redact(s, o.Secrets) }
func Redact(s string, x []string) string {
	for _, v := range x {
		s = strings.ReplaceAll(s, v, "[redacted]")
	}
	return s
}
func Fence(code, lang string) string {
	n := 3
	for strings.Contains(code, strings.Repeat("`", n)) {
		n++
	}
	f := strings.Repeat("`", n)
	return f + lang + "\n" + strings.TrimSuffix(code, "\n") + "\n" + f
}
func InlineCode(s string) string { return "`" + s + "`" }
func EscapeText(s string) string { return s }
