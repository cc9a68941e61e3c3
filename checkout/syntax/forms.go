package syntax

import (
	"bytes"
	"regexp"
	"strings"
)

// functionValue reports whether what follows `=` is a function.
func functionValue(ts []token) bool {
	for i, t := range ts {
		if t.text == "function" {
			return true
		}
		if t.text == "=" && i+1 < len(ts) && ts[i+1].text == ">" {
			return true
		}
	}
	return false
}

// exported handles a default export that is a function without a declaring word in front: `export default isBrowser && function get(…)`,
// `export default forwardRef(function Input(…)`, `export default (a) => {`. One without a name of its own is called default.
func (f *file) exported(h headInfo, from, to int) headInfo {
	text := f.mask[max(from, to-1000):to]
	h.kind, h.nested, h.anyDepth = "function", false, true
	if m := functionWord.FindSubmatchIndex(text); m != nil {
		h.name = string(text[m[2]:m[3]])
		h.ok = !f.unclosed(to-len(text)+m[0], to)
	} else {
		h.ok = bytes.HasSuffix(bytes.TrimRight(text, " \t\r\n\x01"), []byte("=>"))
	}
	if h.name == "" {
		h.name = "default"
	}
	return h
}

var functionWord = regexp.MustCompile(`\bfunction\s*\*?\s*([\w$]*)\s*[<(]`)

// scriptHead handles JavaScript's and TypeScript's methods, assigned functions and object members.
func (f *file) scriptHead(h headInfo, ts []token, body bool, to int) headInfo {
	if body && len(ts) > 2 && ts[0].text == "export" && ts[1].text == "default" {
		return f.exported(h, h.start, to)
	}
	if eq := indexOf(ts, "="); eq > 0 && functionValue(ts[eq+1:]) {
		left := ts[:eq]
		if typed := indexOf(left, ":"); typed > 0 {
			left = left[:typed]
		}
		h.name = lastName(left)
		h.ok, h.kind, h.nested = h.name != "", "function", false
		return h
	}
	if eq := indexOf(ts, "="); body && eq > 2 && eq == len(ts)-1 && ts[eq-2].text == "." {
		return assigned(h, ts[:eq])
	}
	if col := indexOf(ts, ":"); col == 1 && functionValue(ts[2:]) && body {
		h.name, h.kind, h.ok = ts[0].text, "function", ts[0].word()
		return h
	}
	if len(ts) > 2 && (ts[0].text == "it" || ts[0].text == "test" || ts[0].text == "describe") && (ts[1].text == "(" || ts[1].text == ".") {
		return headInfo{}
	}
	i := 0
	for i+1 < len(ts) && ts[i].word() && ts[i+1].text != "(" && ts[i+1].text != "<" || i < len(ts) && (ts[i].text == "*" || ts[i].text == "#") {
		i++
	}
	if i >= len(ts) || !ts[i].word() || !f.nameable(ts, i) || i+1 >= len(ts) {
		return headInfo{}
	}
	for _, t := range ts[:i] {
		if notNames[t.text] && !modifiers[t.text] {
			return headInfo{}
		}
	}
	if ts[i+1].text == "(" || ts[i+1].text == "<" && indexOf(ts, "(") > 0 {
		if !body && f.lang.name == "javascript" || !body && ts[len(ts)-1].text == ")" {
			return headInfo{} // a call
		}
		if body && ts[len(ts)-1].text == ">" && ts[len(ts)-2].text == "=" {
			return headInfo{} // foo((x) => {
		}
		h.ok, h.kind, h.name = true, "function", strings.TrimPrefix(ts[i].text, "#")
	}
	return h
}

// assigned handles an object of functions that an assignment names: App.util = {, Queue.prototype = {.
func assigned(h headInfo, left []token) headInfo {
	n := len(left)
	if left[n-1].text == "prototype" && n > 2 {
		n -= 2
	}
	if h.name = left[n-1].text; left[n-1].word() && h.name != "exports" {
		h.ok, h.kind = true, "object"
	}
	return h
}

// namedConstructor reports whether a Dart class's head is a constructor: Point.polar(…), const Point(…), factory Point.of(…).
func namedConstructor(ts []token) bool {
	if n := len(ts); n > 2 && ts[n-2].text == "." && ts[n-3].word() {
		ts = ts[:n-2]
	}
	n := len(ts)
	if n == 0 || ts[n-1].text[0] != '_' && !(ts[n-1].text[0] >= 'A' && ts[n-1].text[0] <= 'Z') {
		return false
	}
	for _, t := range ts[:n-1] {
		if t.text != "const" && t.text != "factory" && t.text != "external" {
			return false
		}
	}
	return true
}

// bareHead handles `type name(…)`, as C, Java, C# and Dart write functions.
func (f *file) bareHead(h headInfo, ts []token, body bool) headInfo {
	p := -1
	ts = f.withoutTypeParameters(withoutMacro(ts))
	for i, t := range ts {
		if t.text == "(" && i > 0 && ts[i-1].word() && f.nameable(ts, i-1) && ts[i-1].text != "noexcept" && ts[i-1].text != "alignas" {
			p = i
			break
		}
		if t.text == "(" && i > 1 && (indexOf(ts[:i], "operator") >= 0) {
			p = i
			break
		}
		if t.text == "=" && indexOf(ts[:i], "operator") < 0 {
			break
		}
		if notNames[t.text] && !modifiers[t.text] && i == 0 {
			return headInfo{}
		}
	}
	if p < 0 {
		return f.fieldHead(h, ts, body)
	}
	h.name, h.kind = ts[p-1].text, "function"
	if f.lang.name == "c" || f.lang.name == "cpp" {
		// int (*name)(int): a pointer, where a block is a mistake of ours; int (name)(int) is a function.
		if m := pointerText.FindSubmatchIndex(f.mask[ts[p].pos:min(ts[p].pos+200, len(f.mask))]); m != nil && m[0] == 0 {
			h.name, h.kind, h.ok = string(f.mask[ts[p].pos+m[2]:ts[p].pos+m[3]]), "field", !body
			return h
		}
		if p+2 < len(ts) && ts[p+2].text == "(" {
			if inner := bytes.Trim(f.mask[ts[p].pos+1:ts[p+1].pos], " \t\r\n"); len(inner) > 0 && isPlainName(inner) {
				h.name = string(inner)
			}
		}
	}
	if op := indexOf(ts[:p], "operator"); op >= 0 {
		h.name = "operator"
		for _, t := range ts[op+1 : p] {
			h.name += t.text
		}
	}
	if p >= 3 && ts[p-2].text == ":" && ts[p-3].text == ":" && p >= 4 && ts[p-4].word() {
		h.parent = ts[p-4].text
	}
	if f.lang.name == "dart" && namedConstructor(ts[:p]) {
		h.ok = true
		return h
	}
	if !body {
		// A call or a macro use at the end of a statement declares nothing; a prototype has a type before its name.
		if h.name[0] != '~' && (p < 2 || notNames[ts[0].text] && !modifiers[ts[0].text] || f.lang.name == "shell" || !typed(ts[:p])) {
			return headInfo{}
		}
	}
	if indexOf(ts[:p], ".") >= 0 && f.lang.name != "java" && f.lang.name != "csharp" {
		return headInfo{}
	}
	h.ok = true
	return h
}

func isPlainName(b []byte) bool {
	for _, c := range b {
		if !isWord(c) {
			return false
		}
	}
	return true
}

// typed reports whether a type stands before a name, as it does not in Console.Write(…);.
func typed(ts []token) bool {
	for i := 1; i < len(ts); i++ {
		if before := ts[i-1]; ts[i].word() && (before.word() || before.text == ">" || before.text == "]" || before.text == "?" || before.text == "*" || before.text == "&") {
			return true
		}
	}
	return false
}

// withoutMacro drops the name of a macro around the type that a C function gives: INLINE(struct x *) find(…).
func withoutMacro(ts []token) []token {
	for i := 0; i+4 < len(ts); i++ {
		if !ts[i].word() {
			break
		}
		if isMacro(ts[i].text) && ts[i+1].text == "(" && ts[i+2].text == ")" {
			j := i + 3
			for j < len(ts) && ts[j].text == "*" {
				j++
			}
			if j+1 < len(ts) && ts[j].word() && !isMacro(ts[j].text) && (ts[j+1].text == "(" || ts[j+1].word() || ts[j+1].text == "*") {
				return append([]token{ts[i]}, ts[i+3:]...)
			}
		}
	}
	return ts
}

// isMacro reports whether a name is written as macros are.
func isMacro(name string) bool {
	letters := 0
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'A' && c <= 'Z':
			letters++
		case c != '_' && (c < '0' || c > '9'):
			return false
		}
	}
	return letters > 1
}

// withoutTypeParameters drops what stands between a C# or Dart method's name and its parameters: `Task<T> Run<T>(`.
func (f *file) withoutTypeParameters(ts []token) []token {
	p := indexOf(ts, "(")
	if p < 2 || ts[p-1].text != ">" || f.lang.name != "csharp" && f.lang.name != "dart" || indexOf(ts[:p], "=") >= 0 {
		return ts
	}
	depth := 0
	for i := p - 1; i > 0; i-- {
		switch ts[i].text {
		case ">":
			depth++
		case "<":
			if depth--; depth == 0 {
				return append(ts[:i:i], ts[p:]...)
			}
		}
	}
	return ts
}

// fieldHead handles constants and properties of Java and C#.
func (f *file) fieldHead(h headInfo, ts []token, body bool) headInfo {
	if ts[0].text == "=" { // what a property is set to: { get; set; } = true;
		return headInfo{}
	}
	if where := indexOf(ts, "where"); where > 0 && f.lang.name == "csharp" {
		return headInfo{} // the constraint of a function whose types hide it
	}
	eq := indexOf(ts, "=")
	end := len(ts)
	if eq > 0 {
		end = eq
	}
	if end < 2 || !ts[end-1].word() || notNames[ts[0].text] && !modifiers[ts[0].text] || f.lang.name == "shell" {
		return headInfo{}
	}
	if body && (f.lang.name == "c" || f.lang.name == "cpp") && eq < 0 {
		return headInfo{}
	}
	h.ok, h.kind, h.name = true, "field", ts[end-1].text
	return h
}
