package codesearch

import (
	"bytes"

	"github.com/librarian-app/librarian/checkout/syntax"
)

// Chunk sizes, in lines.
const (
	wholeFunction = 100 // a function up to this long is one chunk; longer ones are cut into windows
	window        = 50  // the length of such a window
	proseWindow   = 60  // the longest section of prose or configuration
	wholeType     = 60  // a type up to this long is reported whole, a longer one by its head
	smallDecl     = 3   // a constant or field shorter than this, without a comment, belongs to its surroundings
)

// piece is one chunk on its way into the index.
type piece struct {
	kind         string
	name, parent string
	signature    string
	doc          string
	start, end   int // what is reported
	body         []span
	test         bool // test code, wherever its file stands
}

// span is a range of lines, inclusive.
type span struct{ from, to int }

// cut divides a file into pieces.
func cut(path string, src []byte) []piece {
	o := syntax.NewOutline(path, src)
	n := lineCount(src)
	if n == 0 {
		return nil
	}
	switch {
	case len(o.Decls) == 0:
		return windows(piece{kind: "text"}, 1, n, proseWindow)
	case o.Decls[0].Kind == "section":
		return sections(o.Decls, n)
	}
	return code(o.Decls, n)
}

func sections(decls []syntax.Decl, n int) []piece {
	var out []piece
	if first := decls[0].Start; first > 1 {
		out = append(out, windows(piece{kind: "text"}, 1, first-1, proseWindow)...)
	}
	for _, d := range decls {
		out = append(out, windows(piece{kind: d.Kind, name: d.Name}, d.Start, min(d.End, n), proseWindow)...)
	}
	return out
}

// windows cuts lines from…to into pieces of about the same length, at most size lines each.
func windows(p piece, from, to, size int) []piece {
	total := to - from + 1
	if total <= 0 {
		return nil
	}
	k := (total + size - 1) / size
	step := (total + k - 1) / k
	var out []piece
	for a := from; a <= to; a += step {
		b := min(a+step-1, to)
		q := p
		q.start, q.end, q.body = a, b, []span{{a, b}}
		if a > from {
			q.doc = ""
		}
		out = append(out, q)
	}
	return out
}

func isContainer(kind string) bool {
	switch kind {
	case "class", "interface", "trait", "struct", "enum", "impl", "namespace", "object":
		return true
	}
	return false
}

// own reports whether a declaration becomes a piece of its own.
func own(d *syntax.Decl) bool {
	switch d.Kind {
	case "field", "constant", "variable", "macro":
		return d.End-d.Start+1 >= smallDecl || len(d.Doc) > 20
	case "namespace":
		return false
	case "function":
		return d.Depth == 0 || d.End-d.Start >= 2 || d.Doc != "" || d.End > d.Start
	}
	return true
}

// code cuts a file along its declarations. Each line's words go to the innermost piece that holds it, and for functions inside of
// functions to the outer one too; lines outside of any piece make pieces of their own.
func code(decls []syntax.Decl, n int) []piece {
	owner := make([]int32, n+2) // line → index of the innermost piece's declaration + 1
	keep := make([]bool, len(decls))
	for i := range decls {
		d := &decls[i]
		// One-line members belong to their class only as a name; they still are findable by it.
		keep[i] = own(d) || isContainer(d.Kind) && d.Kind != "namespace" || d.Kind == "function"
		if !keep[i] {
			continue
		}
		for l := d.DocStart; l <= d.End && l <= n; l++ {
			owner[l] = int32(i + 1)
		}
	}
	var out []piece
	testsEnd := 0 // the last line of a test module that is open
	for i := range decls {
		d := &decls[i]
		if d.Kind == "test" || d.Kind == "namespace" && (d.Name == "tests" || d.Name == "test") {
			testsEnd = max(testsEnd, d.End)
		}
		if !keep[i] {
			continue
		}
		p := piece{test: d.Start <= testsEnd, kind: d.Kind, name: d.Name, parent: d.Parent, signature: d.Signature, doc: d.Doc, start: d.Start, end: d.End}
		if isContainer(d.Kind) {
			p.body = ownedSpans(owner, int32(i+1), d.Start, d.End)
			if d.End-d.Start+1 > wholeType {
				p.end = d.Start
				if len(p.body) > 0 {
					p.end = max(p.end, min(p.body[0].to, d.Start+wholeType))
				}
			}
			out = append(out, p)
			continue
		}
		if d.End-d.Start+1 > wholeFunction {
			out = append(out, windows(p, d.Start, d.End, window)...)
			continue
		}
		p.body = []span{{d.Start, d.End}}
		out = append(out, p)
	}
	for l := 1; l <= n; l++ {
		if owner[l] != 0 {
			continue
		}
		e := l
		for e+1 <= n && owner[e+1] == 0 {
			e++
		}
		out = append(out, windows(piece{kind: "code"}, l, e, proseWindow)...)
		l = e
	}
	return out
}

func ownedSpans(owner []int32, who int32, from, to int) []span {
	var out []span
	for l := from; l <= to && l < len(owner); l++ {
		if owner[l] != who {
			continue
		}
		e := l
		for e+1 <= to && e+1 < len(owner) && owner[e+1] == who {
			e++
		}
		out = append(out, span{l, e})
		l = e
	}
	return out
}

func lineCount(src []byte) int {
	n := bytes.Count(src, []byte{'\n'})
	if len(src) > 0 && src[len(src)-1] != '\n' {
		n++
	}
	return n
}

// lineOffsets gives where each line starts, with one more for the end.
func lineOffsets(src []byte) []int {
	offs := make([]int, 1, 64)
	for i := 0; ; {
		j := bytes.IndexByte(src[i:], '\n')
		if j < 0 {
			break
		}
		i += j + 1
		if i < len(src) {
			offs = append(offs, i)
		}
	}
	return append(offs, len(src))
}
