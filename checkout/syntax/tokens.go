package syntax

import (
	"slices"
	"strings"
)

// token is a word or one punctuation character of a head.
type token struct {
	text string
	pos  int
}

func (t token) word() bool {
	return isWord(t.text[0]) || (t.text[0] == '@' || t.text[0] == '~') && len(t.text) > 1
}

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
				name := i
				if c == '#' && f.scripts() {
					name++ // a private member
				}
				buf = append(buf, token{string(f.mask[name:j]), i})
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

// elsewhereNames are words of notNames that only some languages keep for statements: lock, match, select, delete are methods in the others.
var elsewhereNames = map[string]bool{"match": true, "when": true, "foreach": true, "using": true, "lock": true, "synchronized": true, "until": true, "with": true, "defer": true,
	"guard": true, "select": true, "loop": true, "fixed": true, "function": true, "import": true, "package": true, "require": true, "assert": true, "delete": true,
	"elseif": true, "elsif": true, "unless": true, "await": true, "yield": true, "new": true, "try": true, "catch": true, "throw": true, "super": true, "this": true}

// ownStatements are those of them that a language does keep.
var ownStatements = map[string]map[string]bool{
	"c":          {"typeof": true},
	"cpp":        {"using": true, "new": true, "delete": true, "try": true, "catch": true, "throw": true, "this": true},
	"java":       {"synchronized": true, "assert": true, "new": true, "try": true, "catch": true, "throw": true, "super": true, "this": true, "import": true, "package": true},
	"csharp":     {"foreach": true, "using": true, "lock": true, "fixed": true, "when": true, "await": true, "yield": true, "new": true, "try": true, "catch": true, "throw": true, "this": true},
	"dart":       {"with": true, "await": true, "yield": true, "assert": true, "new": true, "try": true, "catch": true, "throw": true, "super": true, "this": true, "import": true},
	"javascript": scriptStatements,
	"typescript": scriptStatements,
}

var scriptStatements = map[string]bool{"function": true, "await": true, "yield": true, "new": true, "try": true, "catch": true, "throw": true, "super": true, "this": true}

// nameable reports whether the word at a place may be what a function is called there: in C, Java and their like a word of another language's
// statements is a name behind a type, in scripts it is one by itself.
func (f *file) nameable(ts []token, at int) bool {
	w := ts[at].text
	own, known := ownStatements[f.lang.name]
	switch {
	case !notNames[w], f.scripts() && (modifiers[w] || f.members):
		return true
	case !known || !elsewhereNames[w] || own[w]:
		return false
	case f.scripts():
		return true
	case at == 0:
		return false
	}
	before := ts[at-1]
	if before.word() {
		return !notNames[before.text]
	}
	return before.text == ">" || before.text == "]" || before.text == "*" || before.text == "&" || before.text == "?"
}

func (f *file) scripts() bool { return f.lang.name == "javascript" || f.lang.name == "typescript" }

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
