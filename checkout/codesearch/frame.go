package codesearch

import (
	"regexp"
	"strings"
)

var (
	frameAfter  = regexp.MustCompile("^(?:, in |:in [`'](?:block (?:\\([^)]*\\) )?in )?(?:[\\w:]+[#.])?)([A-Za-z_]\\w*)")
	frameBefore = regexp.MustCompile(`([A-Za-z_$][\w$]*)\s*\($`)
	frameAbove  = regexp.MustCompile(`([A-Za-z_]\w*)(?:\(.*\))?\s*$`)
)

// frameName is the function that a frame of a stack trace names for the place at text[start:end]: behind it in Python's and Ruby's
// traces, before it in Java's, Kotlin's and JavaScript's, on the line above in Go's and Rust's. Empty where there is none.
func frameName(text string, start, end int) string {
	if m := frameAfter.FindStringSubmatch(text[end:min(end+200, len(text))]); m != nil {
		return m[1]
	}
	line := strings.LastIndexByte(text[:start], '\n') + 1
	before := text[line:start]
	if text[end-1] >= '0' && text[end-1] <= '9' {
		if m := frameBefore.FindStringSubmatch(before); m != nil {
			return m[1]
		}
	}
	if b := strings.TrimSpace(before); line == 0 || b == before || b != "" && b != "at" { // a frame's second line is indented
		return ""
	}
	above := text[:line-1]
	above = strings.TrimSpace(above[strings.LastIndexByte(above, '\n')+1:])
	if !strings.ContainsAny(above, ".:") || strings.HasSuffix(above, ":") {
		return ""
	}
	if m := frameAbove.FindStringSubmatch(above); m != nil {
		return m[1]
	}
	return ""
}
