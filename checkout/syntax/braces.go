package syntax

import (
	"bytes"
	"regexp"
)

// maxDepth is how deep braces, and preprocessor branches, are followed.
const maxDepth = 200

// frame is one open brace.
type frame struct {
	decl      int  // index of the declaration it belongs to, -1 for a plain block
	container bool // declarations may stand directly inside
	literal   bool // it is an object without a name: createSlice({ … }), export default { … }, or one inside of an object
	depth     int  // depth of parentheses around it
	head      int  // where the statement around it began
}

// braces walks the mask once. A statement's head is the text since the last `;`, `{` or `}` (or line end, where lines end
// statements); at a `{` the head is asked what it declares.
func (f *file) braces() {
	l := f.lang
	stack := []frame{{decl: -1, container: true}}
	head, depth, angleless := 0, 0, f.mask
	var branches branches
	tooDeep := 0
	strings := f.overLines // that are still to come
	cFamily := l.name == "c" || l.name == "cpp"
	firstCode, lastCode := -1, -1 // where the statement's text begins and ends, blanks and comments left out
	for i := 0; i < len(angleless); i++ {
		top := &stack[len(stack)-1]
		if isCode(angleless[i]) {
			if firstCode < head {
				firstCode = i
			}
			lastCode = i
		}
		switch c := angleless[i]; c {
		case '#':
			if (cFamily || l.name == "csharp") && f.startsLine(i) {
				end := f.directive(i)
				if cFamily && top.container {
					f.macro(i, end)
				}
				stack = branches.step(f.mask[i:end], stack)
				// Blank it: a head may go on behind it.
				for j := i; j < end; j++ {
					if f.mask[j] != '\n' {
						f.mask[j] = ' '
					}
				}
				i = end - 1
			}
		case '(', '[':
			depth++
		case ')', ']':
			depth = max(depth-1, 0)
		case '{':
			if len(stack) >= maxDepth {
				tooDeep++ // counted only: what lies that deep declares nothing
				break
			}
			if end := f.typeInHead(head, i, depth); end > 0 {
				i, lastCode = end, end
				break
			}
			fr := frame{decl: -1, depth: depth, head: head}
			f.members = top.literal || f.holdsMembers(top.decl)
			h := f.parseHead(head, i, true)
			if f.members && !h.ok {
				h = f.computed(head, i)
			} else if top.decl >= 0 {
				h = f.memberOf(&f.decls[top.decl], h, head, i)
			}
			if h.ok && (depth == 0 || h.anyDepth) && (top.container || h.nested) {
				fr.decl = f.add(h, i)
				fr.container = f.decls[fr.decl].container()
			} else if depth == 0 && top.container && f.transparent(head, i) {
				fr.container, fr.literal = true, f.scripts()
			} else if top.container && f.argument(top, i, depth) {
				fr.container, fr.literal = true, true
			}
			stack = append(stack, fr)
			depth, head = 0, i+1
		case '}':
			if tooDeep > 0 {
				tooDeep--
				break
			}
			if len(stack) > 1 {
				if top.decl >= 0 {
					f.decls[top.decl].End = f.lineAt(i)
				}
				depth = top.depth
				head = top.head // the statement around a block in parentheses goes on
				stack = stack[:len(stack)-1]
			}
			if depth == 0 {
				head = i + 1
			}
		case ';':
			if depth == 0 || len(stack) == 1 {
				f.bodiless(head, i, top.container && !top.literal)
				head, depth = i+1, 0
			}
		case ',':
			// An object literal's members end with a comma, and so do the fields of Zig's structs and files.
			if depth == 0 && top.container && (l.name == "zig" || top.literal || top.decl >= 0 && f.decls[top.decl].Kind == "object") {
				head = i + 1
			}
		case '\n':
			for len(strings) > 0 && strings[0].to <= i {
				strings = strings[1:]
			}
			if len(strings) > 0 && strings[0].from < i {
				break // a line of a text, not of the code
			}
			if l.newlineEnds && depth == 0 && lastCode < head {
				head = i + 1 // nothing yet
			} else if l.newlineEnds && depth == 0 && !f.goesOn(head, i, firstCode, lastCode) {
				f.bodiless(head, i, top.container && !top.literal)
				head = i + 1
			}
		}
	}
	f.closeOpen()
}

// holdsMembers reports whether a block of scripts has nothing but members, so that every word before a parenthesis is a method's name,
// catch( and return( too.
func (f *file) holdsMembers(decl int) bool {
	return decl >= 0 && f.scripts() && (f.decls[decl].Kind == "class" || f.decls[decl].Kind == "object")
}

// memberOf reads the head of a block for what it is only in the declaration around it: a constant of an enum with a body of its own is a
// class (Java, Kotlin), and the name of a record by itself is a constructor (Java).
func (f *file) memberOf(around *Decl, h headInfo, from, to int) headInfo {
	enum := around.Kind == "enum" && (f.lang.name == "java" || f.lang.name == "kotlin")
	record := around.Kind == "class" && f.lang.name == "java" && !h.ok
	if !enum && !record {
		return h
	}
	var space [80]token
	ts := f.skipAnnotations(f.tokens(max(from, to-8000), to, space[:0]))
	if record {
		if n := len(ts); n > 0 && ts[n-1].text == around.Name && (n == 1 || n == 2 && modifiers[ts[0].text]) {
			return headInfo{ok: true, kind: "function", name: around.Name, start: ts[0].pos}
		}
		return h
	}
	n := len(ts)
	if n > 2 && ts[n-1].text == ")" && ts[n-2].text == "(" {
		n -= 2
	}
	if n == 0 || !ts[n-1].word() || ts[n-1].text == around.Name || notNames[ts[n-1].text] || n > 1 && ts[n-2].text != "," {
		return h
	}
	return headInfo{ok: true, kind: "class", name: ts[n-1].text, start: ts[n-1].pos}
}

// computed reads the head of a method whose name is what an expression gives: [Symbol.iterator]() {.
func (f *file) computed(from, to int) headInfo {
	from = max(from, to-1000)
	m := computedName.FindSubmatchIndex(f.mask[from:to])
	if m == nil {
		return headInfo{}
	}
	return headInfo{ok: true, kind: "function", name: string(f.mask[from+m[2] : from+m[3]]), start: from + m[2]}
}

var computedName = regexp.MustCompile(`(?:^|[\s\x01*])(\[[A-Za-z_$][\w$.]*\])\s*\(`)

// typeInHead reports where the braces of a type end that stand in the middle of a head: in Zig the errors or the struct that a function
// returns (`fn f() error{OutOfMemory}!void {`), in TypeScript an object type (`class A extends B<{ x: string }> {`, `f(): { x: string } {`).
// 0 where the brace opens a block.
func (f *file) typeInHead(head, brace, depth int) int {
	switch {
	case f.lang.name == "typescript" && depth == 0:
		return f.objectType(head, brace)
	case f.lang.name == "cpp" && depth == 0:
		return f.initializer(head, brace)
	case f.lang.name != "zig":
		return 0
	}
	before := bytes.TrimRight(f.mask[head:brace], " \t\r\n")
	word := before[bytes.LastIndexFunc(before, func(r rune) bool { return r >= 0x80 || !isWord(byte(r)) })+1:]
	switch string(word) {
	case "error":
	case "struct", "enum", "union":
		if h := f.parseHead(head, brace, true); h.kind != "function" {
			return 0
		}
	default:
		return 0
	}
	return f.closing(brace, longestType)
}

// closing is where a brace is closed again; 0 where that is more than so many bytes away.
func (f *file) closing(brace, most int) int {
	depth := 0
	for i := brace; i < min(brace+most, len(f.mask)); i++ {
		switch f.mask[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return 0
}

// initializer is typeInHead for C++: A::A(int x) : a_{x}, b_{} {.
func (f *file) initializer(head, brace int) int {
	before := bytes.TrimRight(f.mask[head:brace], " \t\r\n\x01")
	if len(before) == 0 || !isWord(before[len(before)-1]) || !initializers.Match(before[max(0, len(before)-longestType):]) {
		return 0
	}
	end := f.closing(brace, longestType)
	if end == 0 {
		return 0
	}
	after := bytes.TrimLeft(f.mask[end+1:min(end+200, len(f.mask))], " \t\r\n\x01")
	if len(after) == 0 || after[0] != '{' && after[0] != ',' {
		return 0
	}
	return end
}

// initializers is where a constructor's members are set: behind its parameters, before its body.
var initializers = regexp.MustCompile(`\)\s*(?:noexcept\s*)?:[^:]`)

// objectType is typeInHead for TypeScript: the brace stands between < and >, or between a function's parameters and its body.
func (f *file) objectType(head, brace int) int {
	before := bytes.TrimRight(f.mask[head:brace], " \t\r\n\x01")
	if len(before) == 0 || bytes.IndexByte([]byte(">)"), before[len(before)-1]) >= 0 {
		return 0
	}
	if f.angleOpen(head, brace) {
		return f.closing(brace, longestType)
	}
	if bytes.IndexByte([]byte("|&:"), before[len(before)-1]) < 0 {
		return 0
	}
	end := f.closing(brace, longestType)
	if end == 0 {
		return 0
	}
	// A body has to follow where this is the type that a function returns.
	result := bytes.LastIndexByte(before, ')')
	if result < 0 || len(bytes.TrimLeft(before[result+1:], " \t\r\n\x01")) == 0 || bytes.TrimLeft(before[result+1:], " \t\r\n\x01")[0] != ':' {
		return 0
	}
	after := bytes.TrimLeft(f.mask[end+1:min(end+200, len(f.mask))], " \t\r\n\x01")
	if len(after) == 0 || bytes.IndexByte([]byte("{|&["), after[0]) < 0 {
		return 0
	}
	return end
}

// angleOpen reports whether type arguments are open at a place: a < of the head that no > has closed. Comparisons have none around them that
// matters here.
func (f *file) angleOpen(head, at int) bool {
	open := 0
	for i := max(head, at-longestType); i < at; i++ {
		switch f.mask[i] {
		case '<':
			open++
		case '>':
			if i == 0 || f.mask[i-1] != '=' {
				open = max(open-1, 0)
			}
		}
	}
	return open > 0
}

// How many bytes of a type in a head are looked at, and of a struct whose name stands behind it.
const longestType, longestStruct = 4000, 20_000

// closeOpen ends what was never closed: before the next declaration of the same depth when a branch was dropped, else with the file.
func (f *file) closeOpen() {
	for i := range f.decls {
		d := &f.decls[i]
		if d.End > 0 {
			continue
		}
		d.End = f.lineCount()
		for _, later := range f.decls[i+1 : min(i+200, len(f.decls))] {
			if later.Kind == d.Kind && later.Start > d.Start && !d.container() {
				d.End = later.Start - 1
				break
			}
		}
	}
}

// branches remembers the open braces at each #if, so that the text of every branch starts from the same ones: `#if … f() {`,
// `#else … g() {` open one block, not two.
type branches [][]frame

func (b *branches) step(line []byte, stack []frame) []frame {
	word := bytes.TrimLeft(line[1:], " \t")
	switch {
	case bytes.HasPrefix(word, []byte("if")) && len(*b) < maxDepth:
		*b = append(*b, append([]frame(nil), stack...))
	case bytes.HasPrefix(word, []byte("el")) && len(*b) > 0:
		return append([]frame(nil), (*b)[len(*b)-1]...)
	case bytes.HasPrefix(word, []byte("endif")) && len(*b) > 0:
		*b = (*b)[:len(*b)-1]
	}
	return stack
}

func (f *file) startsLine(i int) bool {
	for j := i - 1; j >= 0 && f.mask[j] != '\n'; j-- {
		if f.mask[j] != ' ' && f.mask[j] != '\t' {
			return false
		}
	}
	return true
}

// directive gives the end of a preprocessor line with its continuations.
func (f *file) directive(i int) int {
	for i < len(f.mask) {
		n := bytes.IndexByte(f.mask[i:], '\n')
		if n < 0 {
			return len(f.mask)
		}
		i += n
		if i > 0 && f.src[i-1] == '\\' || i > 1 && f.src[i-1] == '\r' && f.src[i-2] == '\\' {
			i++
			continue
		}
		return i
	}
	return i
}

func (f *file) macro(from, to int) {
	text := f.mask[from:to]
	t := bytes.TrimLeft(text[1:], " \t")
	if !bytes.HasPrefix(t, []byte("define")) {
		return
	}
	t = bytes.TrimLeft(t[len("define"):], " \t")
	n := 0
	for n < len(t) && isWord(t[n]) {
		n++
	}
	first, last := f.lineAt(from), f.lineAt(max(to-1, from))
	if n == 0 || n+2 >= len(t) && first == last { // an include guard says nothing
		return
	}
	f.decls = append(f.decls, Decl{Kind: "macro", Name: string(t[:n]), Signature: f.signature(from, to), Start: first, End: last, DocStart: first})
}

// goesOn reports whether the statement, which begins and ends at first and last, plainly continues behind the line that ends at i.
func (f *file) goesOn(head, i, first, last int) bool {
	end := f.mask[last]
	if bytes.IndexByte([]byte(",=(+-*&|<:.?"), end) >= 0 || end == '>' && last > head && f.mask[last-1] == '=' {
		return true
	}
	if f.mask[first] == '@' && bytes.IndexByte(f.mask[first:last+1], '\n') < 0 && f.lang.name != "javascript" {
		return true // an annotation on its own line
	}
	if f.lang.name == "go" {
		return false
	}
	if f.ahead <= i { // each blank line asks for the same
		f.ahead = i + 1
		for f.ahead < len(f.mask) && !isCode(f.mask[f.ahead]) {
			f.ahead++
		}
	}
	if f.ahead < len(f.mask) {
		c, rest := f.mask[f.ahead], f.mask[f.ahead:min(f.ahead+12, len(f.mask))]
		if c == '>' && f.lang.name == "typescript" && f.angleOpen(head, i) {
			return true // the last line of a class's type parameters
		}
		if bytes.IndexByte([]byte("{.?:&|=+"), c) >= 0 || bytes.HasPrefix(rest, []byte("->")) {
			return true
		}
		for _, w := range []string{"where ", "extends ", "implements ", "with ", "throws "} {
			if bytes.HasPrefix(rest, []byte(w)) {
				return true
			}
		}
	}
	return false
}

// isCode reports whether a byte of the mask is neither blank nor of a comment.
func isCode(c byte) bool { return c > ' ' && c != markComment }

// transparent reports whether a block without a name of its own still holds declarations (extern "C" {, static {, companion blocks).
func (f *file) transparent(from, to int) bool {
	t := bytes.Trim(f.mask[from:to], " \t\r\n\x01") // a comment may stand before it
	for _, w := range []string{"extern", "namespace", "inline namespace", "module.exports", "export default", "exports", "return", "companion object", "#if", "unsafe extern"} {
		if bytes.HasPrefix(t, []byte(w)) {
			return true
		}
	}
	return false
}

// argument reports whether a brace opens an object that a call gets as an argument, or a member of such an object: their functions are
// what the program is made of (createSlice({ reducers: { add(state) { … } } }), defineComponent({ setup() { … } })).
func (f *file) argument(top *frame, brace, depth int) bool {
	if f.lang.name != "javascript" && f.lang.name != "typescript" {
		return false
	}
	before := bytes.TrimRight(f.mask[:brace], " \t\r\n\x01")
	if len(before) == 0 {
		return false
	}
	switch before[len(before)-1] {
	case '(', ',':
		return depth > 0
	case ':':
		return depth == 0 && (top.literal || top.decl >= 0 && f.decls[top.decl].Kind == "object")
	}
	return false
}

// add appends what a head declares; its end is not known yet.
func (f *file) add(h headInfo, bodyAt int) int {
	f.decls = append(f.decls, Decl{Kind: h.kind, Name: h.name, Parent: h.parent, Signature: f.signature(h.start, bodyAt), Start: f.lineAt(h.start)})
	return len(f.decls) - 1
}

// bodiless records a declaration that ended without a block.
func (f *file) bodiless(from, to int, inContainer bool) {
	f.members = false
	h := f.parseHead(from, to, false)
	if !h.ok || !(inContainer || h.nested && h.kind == "function") {
		return
	}
	f.decls = append(f.decls, Decl{Kind: h.kind, Name: h.name, Parent: h.parent, Signature: f.signature(h.start, to), Start: f.lineAt(h.start), End: f.lineAt(to)})
}
