package syntax

import (
	"bytes"
	"regexp"
	"strings"
)

// headInfo is what a statement's head declares.
type headInfo struct {
	ok         bool
	kind, name string
	parent     string
	start      int  // offset of the first token after annotations
	nested     bool // counts inside of function bodies too
	anyDepth   bool // counts inside of parentheses too (callbacks with names)
}

// parseHead says what the masked text between two offsets declares.
func (f *file) parseHead(from, to int, body bool) headInfo {
	if to-from > 8000 {
		from = to - 8000
	}
	var space [80]token
	ts := f.skipAnnotations(f.tokens(from, to, space[:0]))
	if len(ts) == 0 {
		return headInfo{}
	}
	h := headInfo{start: ts[0].pos}
	if f.lang.name == "zig" && ts[0].text == "test" {
		h.ok, h.kind, h.name = body, "test", f.rawString(h.start, to)
		return h
	}
	kw, kind := f.keyword(ts)
	if kw >= 0 {
		return f.declared(h, ts, kw, kind, body, to)
	}
	if f.lang.name == "javascript" || f.lang.name == "typescript" {
		return f.scriptHead(h, ts, body, to)
	}
	if f.lang.bareMethods {
		return f.bareHead(h, ts, body)
	}
	return headInfo{}
}

// beginsDeclaration are words behind which a macro in front has nothing more to say.
var beginsDeclaration = map[string]bool{"template": true, "class": true, "struct": true, "namespace": true, "enum": true, "union": true, "typedef": true, "static": true, "inline": true, "extern": true, "using": true, "constexpr": true}

// afterMacros drops what stands between class and its name in C++: class API Widget {, class alignas(16) Widget {.
func afterMacros(ts []token) []token {
	for len(ts) > 1 && (isMacro(ts[0].text) || ts[0].text == "alignas" || ts[0].text == "__attribute__" || ts[0].text == "__declspec") {
		switch {
		case len(ts) > 3 && ts[1].text == "(" && ts[2].text == ")" && ts[3].word():
			ts = ts[3:]
		case ts[1].word() && ts[1].text != "final":
			ts = ts[1:]
		default:
			return ts
		}
	}
	return ts
}

// pointerText is a pointer to a function: int (*name)(int).
var pointerText = regexp.MustCompile(`\(\s*\*\s*(?:const\s+)?(\w+)\s*\)\s*\(`)

// typedefName is what a C type is called whose body opens at a brace: typedef struct { … } name. Empty where that is too far away.
func (f *file) typedefName(brace int) string {
	end := f.closing(brace, longestStruct)
	if end == 0 {
		return ""
	}
	m := typedefText.FindSubmatch(f.mask[end+1 : min(end+200, len(f.mask))])
	if m == nil {
		return ""
	}
	return string(m[1])
}

var typedefText = regexp.MustCompile(`^[\s*]*(\w+)\s*[;,]`)

// skipAnnotations drops @A(…), #[…], [A] and template<…> in front.
func (f *file) skipAnnotations(ts []token) []token {
	for len(ts) > 0 {
		t := ts[0]
		switch {
		case t.text[0] == '@' && len(t.text) > 1 && t.text != "@interface" && t.text != "@implementation" && t.text != "@protocol":
			ts = ts[1:]
			for len(ts) > 1 && ts[0].text == "." {
				ts = ts[2:]
			}
			if len(ts) > 1 && ts[0].text == "(" {
				ts = ts[2:]
			}
		case t.text == "#" && len(ts) > 2 && ts[1].text == "[":
			ts = ts[3:]
		case t.text == "[" && len(ts) > 1:
			ts = ts[1:]
			for len(ts) > 0 && ts[0].text != "]" {
				ts = ts[1:]
			}
			if len(ts) > 0 {
				ts = ts[1:]
			}
		case t.text == "template" && len(ts) > 1 && ts[1].text == "<":
			depth, i := 0, 1
			for ; i < len(ts); i++ {
				if ts[i].text == "<" {
					depth++
				} else if ts[i].text == ">" {
					if depth--; depth == 0 {
						break
					}
				}
			}
			ts = ts[min(i+1, len(ts)):]
		case t.text == "]" || t.text == ")" || t.text == ",":
			ts = ts[1:]
		case (t.text == "__attribute__" || t.text == "__declspec" || t.text == "alignas") && len(ts) > 2 && ts[1].text == "(":
			ts = ts[3:]
		case (f.lang.name == "cpp" || f.lang.name == "c") && len(ts) > 1 && isMacro(t.text) && beginsDeclaration[ts[1].text]: // NAMESPACE_BEGIN
			ts = ts[1:]
		case t.text == ":" && f.lang.name == "cpp":
			ts = ts[1:]
		case (t.text == "public" || t.text == "private" || t.text == "protected") && len(ts) > 1 && ts[1].text == ":":
			ts = ts[2:]
		default:
			return ts
		}
	}
	return ts
}

// keyword finds the declaring word: the first one that stands before any `=`, `(` or `.`.
func (f *file) keyword(ts []token) (int, string) {
	for i, t := range ts {
		if !t.word() {
			if f.lang.name == "rust" && (t.text == "(" || t.text == ")" || t.text == `"`) { // pub(crate), extern "C"
				continue
			}
			if f.lang.name == "java" && t.text == "-" && i > 0 && ts[i-1].text == "non" { // non-sealed
				continue
			}
			if (f.lang.name == "csharp" || f.lang.name == "java") && (t.text == "<" || t.text == ">" || t.text == "," || t.text == "?") {
				continue
			}
			if t.text == `"` || f.lang.name == "kotlin" && t.text != "=" && t.text != "(" && t.text != "." || f.lang.name == "scala" && (t.text == "[" || t.text == "]") || f.lang.name == "swift" && (t.text == "(" || t.text == ")") {
				continue
			}
			return -1, ""
		}
		kind, ok := f.lang.keywords[t.text]
		if !ok {
			if notNames[t.text] && !modifiers[t.text] && t.text != "function" {
				return -1, ""
			}
			continue
		}
		if i+1 >= len(ts) {
			if f.lang.name == "swift" && kind == "function" || f.lang.name == "kotlin" {
				return i, kind
			}
			if (f.lang.name == "c" || f.lang.name == "cpp") && ts[0].text == "typedef" {
				return 0, "struct" // its name stands behind it
			}
			return -1, ""
		}
		next := ts[i+1]
		if (f.lang.name == "csharp" || f.lang.name == "java") && t.text == "record" && next.text == "(" {
			return -1, ""
		}
		// type(): T, enum?: string[], let(x) {: members that are called like a keyword.
		if f.scripts() && kind != "function" && (next.text == "(" || next.text == "?" || next.text == ":" || next.text == "=" || next.text == "<" && kind != "class") {
			return -1, ""
		}
		// `enum class`, `const fn`, `static func`, `class func`: the last declaring word in a row counts.
		if k, again := f.lang.keywords[next.text]; again && k != "variable" && next.word() {
			continue
		}
		return i, kind
	}
	return -1, ""
}

// declared reads the name after a declaring word.
func (f *file) declared(h headInfo, ts []token, kw int, kind string, body bool, to int) headInfo {
	h.kind, h.ok = kind, true
	rest := ts[kw+1:]
	word := ts[kw].text
	switch {
	case f.lang.name == "go" && word == "func" && len(rest) > 2 && rest[0].text == "(":
		h.parent = f.receiver(rest[0].pos, rest[1].pos)
		rest = rest[2:]
		if len(rest) == 0 || !rest[0].word() {
			return headInfo{}
		}
	case word == "delegate":
		h.name = beforeParen(rest)
	case kind == "impl":
		h.name = implName(rest, f.lang.name)
		h.ok = h.name != "" && body
		return h
	case f.lang.name == "swift" && (strings.HasPrefix(word, "init") || word == "deinit" || word == "subscript"), f.lang.name == "kotlin" && word == "constructor":
		h.name, h.nested = word, false
		h.ok = body
		return h
	case f.lang.name == "kotlin" && word == "fun":
		h.name = beforeParen(rest)
	case (f.lang.name == "c" || f.lang.name == "cpp") && (word == "struct" || word == "enum" || word == "union" || word == "class"):
		rest = afterMacros(rest)
		// static const struct x table[] = { is a variable.
		if eq := indexOf(rest, "="); eq > 1 {
			h.kind, h.name, h.ok = "variable", lastName(rest[:eq]), body
			return h
		}
		// struct x f(…) { is a function that returns one.
		if p := indexOf(rest, "("); p > 0 && (indexOf(rest, ":") < 0 || indexOf(rest, ":") > p) {
			return f.bareHead(h, ts, body)
		}
		if !body {
			return headInfo{}
		}
	case word == "typedef" && body:
		h.kind, h.name = "struct", f.typedefName(to)
	case word == "typedef" || word == "using" && indexOf(rest, "=") < 0:
		if word == "using" {
			return headInfo{}
		}
		if n := len(rest); n > 0 && rest[n-1].word() {
			h.name = rest[n-1].text
		} else if m := pointerText.FindSubmatch(f.mask[ts[kw].pos:to]); m != nil {
			h.name = string(m[1])
		}
	case kind == "namespace" && !body && f.lang.name != "csharp" && f.lang.name != "php":
		return headInfo{}
	}
	if len(ts) > 1 && ts[0].text == "export" && ts[1].text == "default" && len(rest) > 0 && (rest[0].text == "(" || rest[0].text == "extends") {
		h.name = "default"
	}
	if h.name == "" {
		h.name = firstName(rest)
	}
	if h.name == "" && (f.lang.name == "kotlin" && word == "object") {
		h.name = "companion"
	}
	if h.name == "" {
		return headInfo{}
	}
	switch kind {
	case "function":
		h.nested = word != "func" || f.lang.name != "go"
		h.anyDepth = f.lang.name == "javascript" || f.lang.name == "typescript"
		h.ok = body || f.lang.name != "javascript"
		if h.anyDepth && body && f.unclosed(ts[kw].pos, to) {
			return headInfo{} // the brace is one of a parameter: function f({ a, b }) {
		}
	case "constant", "variable", "type":
		h = f.valueHead(h, ts, kw, body, to)
	}
	return h
}

// unclosed reports whether a parenthesis between two offsets is still open at the second.
func (f *file) unclosed(from, to int) bool {
	return bytes.Count(f.mask[from:to], []byte{'('}) > bytes.Count(f.mask[from:to], []byte{')'})
}

// valueHead decides what const, let, var and val really introduce.
func (f *file) valueHead(h headInfo, ts []token, kw int, body bool, to int) headInfo {
	rest := ts[kw+1:]
	eq := indexOf(rest, "=")
	switch f.lang.name {
	case "javascript", "typescript":
		if eq >= 0 && h.kind != "type" {
			if fn := functionValue(rest[eq+1:]); fn {
				h.kind, h.nested = "function", true
			} else if body && eq+1 >= len(rest) {
				h.kind = "object"
			} else if class := indexOf(rest[eq+1:], "class"); class >= 0 && body {
				h.kind = "class"
			}
		}
	case "go":
		if h.kind == "type" {
			for i, t := range rest {
				if i > 0 && (t.text == "struct" || t.text == "interface") {
					h.kind = t.text
					if t.text == "struct" || t.text == "interface" {
						// Fields are no declarations of their own: the type is shown whole.
						h.kind = map[string]string{"struct": "type", "interface": "type"}[t.text]
					}
					break
				}
			}
		}
	case "zig":
		if eq >= 0 && eq+1 < len(rest) && body {
			for _, t := range rest[eq+1:] {
				if t.text == "struct" || t.text == "enum" || t.text == "union" || t.text == "opaque" {
					h.kind = "struct"
				}
			}
		}
	}
	return h
}

// receiver reads the type's name out of a Go receiver.
func (f *file) receiver(from, to int) string {
	t := f.mask[from+1 : to]
	if n := bytes.IndexByte(t, '['); n >= 0 {
		t = t[:n]
	}
	words := bytes.FieldsFunc(t, func(r rune) bool {
		return !(r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127)
	})
	if len(words) == 0 {
		return ""
	}
	return string(words[len(words)-1])
}

// rawString gives the first quoted text of a head, for tests that are named by a sentence.
func (f *file) rawString(from, to int) string {
	raw := f.src[from:to]
	n := bytes.IndexAny(raw, "\"'`")
	if n < 0 {
		return ""
	}
	m := bytes.IndexByte(raw[n+1:], raw[n])
	if m < 0 {
		return ""
	}
	return clip(string(raw[n+1:n+1+m]), 120)
}
