package syntax

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
)

// testCall is what a line of JavaScript begins with where a test framework is called with a test or a group of them (Jest, Mocha, Vitest,
// Playwright, node:test).
var testCall = regexp.MustCompile(`^(?:await +)?[fx]?(?:describe|context|suite|it|test|specify)(?:\.\w+)*$`)

var closing = map[byte]byte{'(': ')', '{': '}', '[': ']'}

// testCalls finds the blocks that such calls are given, with a name in front.
func (f *file) testCalls() (tests []Decl) {
	type open struct {
		end   byte // what closes it
		start int  // offset of a test's call; -1 for any other bracket
		name  string
		body  bool // it was given a block
	}
	var stack []open
	each := -1 // the start of a call whose result is called next: it.each([…])(
	for i, c := range f.mask {
		switch c {
		case '(', '{', '[':
			o := open{start: -1, end: closing[c]}
			if c == '(' && each < 0 {
				from := bytes.LastIndexByte(f.mask[max(0, i-100):i], '\n') + 1 + max(0, i-100)
				from += len(f.mask[from:i]) - len(bytes.TrimLeft(f.mask[from:i], " \t"))
				// Looked at only where it may be one: a file may be a million brackets.
				if before := f.mask[from:i]; len(before) > 0 && before[0] >= 'a' && before[0] <= 'z' && bytes.IndexByte(before, '(') < 0 && testCall.Match(before) {
					o.start = from
				}
			} else if c == '(' {
				o.start = each
			}
			if c == '{' && len(stack) > 0 {
				stack[len(stack)-1].body = true
			}
			if rest := bytes.TrimLeft(f.src[i+1:min(len(f.src), i+200)], " \t\r\n"); o.start >= 0 && len(rest) > 0 && bytes.IndexByte([]byte("\"'`"), rest[0]) >= 0 {
				o.name = f.rawString(i+1, min(len(f.src), i+400))
			}
			stack, each = append(stack, o), -1
		case ')', '}', ']':
			// What does not fit stands in a regular expression that was not known as one.
			n := len(stack) - 1
			for n >= max(0, len(stack)-8) && stack[n].end != c {
				n--
			}
			if n < max(0, len(stack)-8) {
				continue
			}
			o := stack[n]
			stack = stack[:n]
			switch {
			case o.start >= 0 && o.name != "" && o.body:
				d := Decl{Kind: "test", Name: o.name, Start: f.lineAt(o.start), End: f.lineAt(i)}
				f.attachDoc(&d)
				tests = append(tests, d)
			case o.start >= 0 && i+1 < len(f.mask) && f.mask[i+1] == '(':
				each = o.start
			}
		}
	}
	return tests
}

// All are the declarations and the tests, a declaration before what it contains.
func (o Outline) All() []Decl {
	if len(o.Tests) == 0 {
		return o.Decls
	}
	all := slices.Concat(o.Decls, o.Tests)
	slices.SortStableFunc(all, func(a, b Decl) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	var ends []int
	for i, d := range all {
		for len(ends) > 0 && ends[len(ends)-1] < d.Start {
			ends = ends[:len(ends)-1]
		}
		all[i].Depth = len(ends)
		ends = append(ends, d.End)
	}
	return all
}
