package syntax

import (
	"bytes"
	"slices"
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

// token is a word or one punctuation character of a head.
type token struct {
	text string
	pos  int
}

func (t token) word() bool { return isWord(t.text[0]) || t.text[0] == '@' && len(t.text) > 1 }

// tokens splits masked text; parenthesised parts are kept as the single tokens "(" and ")" with what is between dropped when
// skipParens is set. At most 80 tokens are read: no head is longer.
func (f *file) tokens(from, to int, buf []token) []token {
	depth := 0
	for i := from; i < to && len(buf) < 80; {
		c := f.mask[i]
		switch {
		case c <= ' ':
			i++
		case c == '(' || c == '[' && len(buf) > 0:
			if depth == 0 {
				buf = append(buf, token{string(c), i})
			}
			depth++
			i++
		case (c == ')' || c == ']') && depth > 0:
			depth--
			if depth == 0 {
				buf = append(buf, token{string(c), i})
			}
			i++
		case isWord(c) || (c == '@' || c == '#' || c == '~') && i+1 < to && isWordStart(f.mask[i+1]):
			j := i + 1
			for j < to && isWord(f.mask[j]) {
				j++
			}
			if f.lang.name == "rust" && j < to && f.mask[j] == '!' {
				j++
			}
			if depth == 0 {
				buf = append(buf, token{string(f.mask[i:j]), i})
			}
			i = j
		default:
			if depth == 0 {
				buf = append(buf, token{string(c), i})
			}
			i++
		}
	}
	return buf
}

var notNames = map[string]bool{"if": true, "for": true, "while": true, "switch": true, "catch": true, "return": true, "else": true, "do": true, "try": true,
	"new": true, "throw": true, "match": true, "when": true, "case": true, "foreach": true, "using": true, "lock": true, "synchronized": true, "until": true,
	"sizeof": true, "typeof": true, "await": true, "yield": true, "with": true, "defer": true, "guard": true, "select": true, "loop": true, "fixed": true,
	"decltype": true, "__attribute__": true, "function": true, "super": true, "this": true, "import": true, "package": true, "require": true, "assert": true, "delete": true, "goto": true, "static_assert": true, "elseif": true, "elsif": true, "unless": true,
	"public": true, "private": true, "protected": true, "internal": true, "static": true, "readonly": true, "virtual": true, "abstract": true, "async": true}

// modifiers stand before a declaration: no names, yet no sign of a statement either.
var modifiers = map[string]bool{"public": true, "private": true, "protected": true, "internal": true, "static": true, "readonly": true, "virtual": true, "abstract": true, "async": true}

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
			return -1, ""
		}
		next := ts[i+1]
		if f.lang.name == "csharp" && t.text == "record" && next.text == "(" {
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
		// struct x f(…) { is a function that returns one.
		if p := indexOf(rest, "("); p > 0 && (indexOf(rest, ":") < 0 || indexOf(rest, ":") > p) {
			return f.bareHead(h, ts, body)
		}
		if !body {
			return headInfo{}
		}
	case word == "typedef" && body:
		h.kind = "struct"
	case word == "typedef" || word == "using" && indexOf(rest, "=") < 0:
		if word == "using" {
			return headInfo{}
		}
		if n := len(rest); n > 0 && rest[n-1].word() {
			h.name = rest[n-1].text
		}
	case kind == "namespace" && !body && f.lang.name != "csharp" && f.lang.name != "php":
		return headInfo{}
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
	case "constant", "variable", "type":
		h = f.valueHead(h, ts, kw, body, to)
	}
	return h
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

// scriptHead handles JavaScript's and TypeScript's methods, assigned functions and object members.
func (f *file) scriptHead(h headInfo, ts []token, body bool, to int) headInfo {
	if eq := indexOf(ts, "="); eq > 0 && functionValue(ts[eq+1:]) {
		h.name = lastName(ts[:eq])
		h.ok, h.kind, h.nested = h.name != "", "function", false
		return h
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
	if i >= len(ts) || !ts[i].word() || notNames[ts[i].text] || i+1 >= len(ts) {
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

// bareHead handles `type name(…)`, as C, Java, C# and Dart write functions.
func (f *file) bareHead(h headInfo, ts []token, body bool) headInfo {
	p := -1
	for i, t := range ts {
		if t.text == "(" && i > 0 && ts[i-1].word() && !notNames[ts[i-1].text] && ts[i-1].text != "noexcept" && ts[i-1].text != "alignas" {
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
	if op := indexOf(ts[:p], "operator"); op >= 0 {
		h.name = "operator"
		for _, t := range ts[op+1 : p] {
			h.name += t.text
		}
	}
	if p >= 3 && ts[p-2].text == ":" && ts[p-3].text == ":" && p >= 4 && ts[p-4].word() {
		h.parent = ts[p-4].text
	}
	if !body {
		// A call or a macro use at the end of a statement declares nothing; a prototype has a type before its name.
		if p < 2 || notNames[ts[0].text] && !modifiers[ts[0].text] || f.lang.name == "shell" {
			return headInfo{}
		}
	}
	if indexOf(ts[:p], ".") >= 0 && f.lang.name != "java" && f.lang.name != "csharp" {
		return headInfo{}
	}
	h.ok = true
	return h
}

// fieldHead handles constants and properties of Java and C#.
func (f *file) fieldHead(h headInfo, ts []token, body bool) headInfo {
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

func indexOf(ts []token, text string) int {
	for i, t := range ts {
		if t.text == text {
			return i
		}
	}
	return -1
}

func firstName(ts []token) string {
	for i := 0; i < len(ts); i++ {
		t := ts[i]
		if i == 0 && t.word() && t.text != "class" && t.text != "struct" && t.text != "enum" && t.text != "mut" && t.text != "ref" && t.text != "interface" {
			return t.text // whatever it is: `fn new`, `def match`
		}
		if t.text == "<" { // generics before the name
			for i < len(ts) && ts[i].text != ">" {
				i++
			}
			continue
		}
		if t.word() && !notNames[t.text] && t.text != "class" && t.text != "struct" && t.text != "mut" && t.text != "ref" {
			return strings.TrimPrefix(t.text, "&")
		}
		if t.text == "=" || t.text == "{" {
			return ""
		}
	}
	return ""
}

func lastName(ts []token) string {
	for _, t := range slices.Backward(ts) {
		if t.word() {
			return t.text
		}
	}
	return ""
}

// beforeParen gives the word right before the first parenthesis, past generic receivers.
func beforeParen(ts []token) string {
	for i, t := range ts {
		if t.text == "(" && i > 0 && ts[i-1].word() {
			return ts[i-1].text
		}
		if t.text == "=" {
			break
		}
	}
	return firstName(ts)
}

// implName gives the type an impl or extension block is for.
func implName(ts []token, lang string) string {
	name, depth := "", 0
	for _, t := range ts {
		switch {
		case t.text == "<":
			depth++
		case t.text == ">":
			depth--
		case depth > 0:
		case t.text == "where" || t.text == ":" && lang != "rust" || t.text == "on":
			if t.text == "on" {
				continue
			}
			return name
		case t.text == "for" && lang == "rust":
			name = ""
		case t.word() && t.text != "dyn" && t.text != "unsafe" && t.text != "const" && t.text != "mut":
			if name == "" || lang == "rust" || lang == "swift" {
				name = t.text
			}
		}
	}
	return name
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
