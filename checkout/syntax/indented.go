package syntax

import (
	"bytes"
	"cmp"
	"strings"
)

// indented finds declarations of languages whose blocks show by indentation: Python's by rule, Ruby's, Lua's, Elixir's and the
// shell's by a custom that holds nearly everywhere (`end` or `}` stands where its opener stands).
func (f *file) indented() {
	n := f.lineCount()
	for i := 1; i <= n; i++ {
		col, ok := f.indent(i)
		if !ok {
			continue
		}
		t := bytes.TrimLeft(f.line(i), " \t")
		kind, name := f.lineDecl(i, t, col)
		if name == "" {
			continue
		}
		end := f.blockEnd(i, col)
		sigEnd := f.lines[i]
		f.decls = append(f.decls, Decl{Kind: kind, Name: name, Signature: f.signature(f.lines[i-1], sigEnd), Start: i, End: end})
	}
}

// lineDecl says what one line declares.
func (f *file) lineDecl(n int, t []byte, col int) (kind, name string) {
	if f.lang.name == "shell" && batsTest(t) {
		bare := bytes.TrimSpace(bytes.TrimRight(t[len("@test "):], "{ \t"))
		return "test", cmp.Or(f.rawString(f.lines[n-1], f.lines[n]), string(bare))
	}
	words := t
	for range 4 {
		w := leadingWord(words)
		rest := bytes.TrimLeft(words[len(w):], " \t")
		if k, ok := f.lang.keywords[string(w)]; ok && len(w) > 0 {
			if k == "test" {
				return k, f.rawString(f.lines[n-1], f.lines[n])
			}
			if f.lang.name == "lua" && (len(rest) == 0 || rest[0] == '(') {
				return "", ""
			}
			if len(rest) == len(words)-len(w) && len(rest) > 0 && f.lang.name != "lua" {
				return "", "" // `defined?`, `class_name`: not the word itself
			}
			name := declName(rest, f.lang.name)
			return k, name
		}
		switch string(w) {
		case "async", "local", "private", "public", "protected", "private_class_method", "module_function", "export", "memoize":
			words = rest
			continue
		case "it", "describe", "context", "test", "specify", "scenario":
			if f.lang.name == "ruby" && bytes.HasSuffix(bytes.TrimRight(t, " \t"), []byte("do")) {
				return "test", f.rawString(f.lines[n-1], f.lines[n])
			}
		case "define_method", "attr_accessor", "attr_reader", "scope", "has_many", "belongs_to", "desc", "task":
			if f.lang.name == "ruby" && len(rest) > 0 {
				return "field", string(leadingWord(bytes.TrimLeft(rest, ":( ")))
			}
		}
		if len(w) == 0 {
			return "", ""
		}
		if f.lang.name == "shell" {
			if full := t[:shellName(t)]; len(full) > 0 && bytes.HasPrefix(bytes.TrimLeft(t[len(full):], " "), []byte("()")) {
				return "function", string(full)
			}
			if eq := len(w); col == 0 && eq < len(t) && t[eq] == '=' {
				return "variable", string(w)
			}
			return "", ""
		}
		// NAME = …, at the top or directly in a class; M.name = function(…)
		full := dottedWord(words)
		after := bytes.TrimLeft(words[len(full):], " \t")
		if f.lang.name == "python" && bytes.HasPrefix(after, []byte(":")) {
			if eq := bytes.IndexByte(after, '='); eq > 0 {
				after = after[eq:]
			}
		}
		if !bytes.HasPrefix(after, []byte("=")) || bytes.HasPrefix(after, []byte("==")) {
			return "", ""
		}
		if f.lang.name == "lua" {
			v := bytes.TrimLeft(after[1:], " \t")
			if bytes.HasPrefix(v, []byte("function")) {
				return "function", lastDotted(full)
			}
			if col == 0 {
				return "variable", lastDotted(full)
			}
			return "", ""
		}
		if f.lang.name == "python" && col == 0 || f.lang.name == "ruby" && w[0] >= 'A' && w[0] <= 'Z' && len(full) == len(w) {
			return "constant", lastDotted(full)
		}
		return "", ""
	}
	return "", ""
}

// batsTest is the first line of a test in Bats.
func batsTest(t []byte) bool {
	return bytes.HasPrefix(t, []byte("@test ")) && bytes.HasSuffix(bytes.TrimRight(t, " \t"), []byte("{"))
}

func leadingWord(t []byte) []byte {
	i := 0
	for i < len(t) && (isWord(t[i])) {
		i++
	}
	return t[:i]
}

// shellName gives the length of a function's name, which may hold dashes, dots and colons.
func shellName(t []byte) int {
	i := 0
	for i < len(t) && (isWord(t[i]) || i > 0 && (t[i] == '-' || t[i] == '.' || t[i] == ':')) {
		i++
	}
	return i
}

func dottedWord(t []byte) []byte {
	i := 0
	for i < len(t) && (isWord(t[i]) || (t[i] == '.' || t[i] == ':') && i+1 < len(t) && isWordStart(t[i+1])) {
		i++
	}
	return t[:i]
}

func lastDotted(w []byte) string {
	if i := bytes.LastIndexAny(w, ".:"); i >= 0 {
		w = w[i+1:]
	}
	return string(w)
}

// declName reads the declared name: self.x and M.x give x, A::B gives B; ?, ! and = at the end belong to Ruby's and Elixir's names.
func declName(t []byte, lang string) string {
	i := 0
	for i < len(t) && (isWord(t[i]) || t[i] == '.' || t[i] == ':' && i+1 < len(t) && (t[i+1] == ':' || isWordStart(t[i+1]))) {
		i++
	}
	if i < len(t) && (lang == "ruby" || lang == "elixir") && (t[i] == '?' || t[i] == '!') {
		i++
	}
	if i == 0 && bytes.HasPrefix(t, []byte("<<")) {
		return "self"
	}
	if i == 0 {
		j := bytes.IndexAny(t, " (")
		if j <= 0 {
			return ""
		}
		return string(t[:min(j, 10)]) // operators
	}
	name := strings.TrimRight(string(t[:i]), ".:")
	if lang == "elixir" {
		return name
	}
	return lastDotted([]byte(name))
}

// blockEnd gives the last line of the block that opens on line n at column col.
func (f *file) blockEnd(n, col int) int {
	last := n
	total := f.lineCount()
	python := f.lang.family == familyIndent
	for i := n + 1; i <= total; i++ {
		c, ok := f.indent(i)
		if !ok {
			continue
		}
		if c > col {
			last = i
			continue
		}
		t := bytes.TrimLeft(f.line(i), " \t")
		if c == col {
			switch {
			case t[0] == ')' || t[0] == ']' || python && (t[0] == '}' || t[0] == '"' || t[0] == '\''):
				last = i
				continue
			case !python && (bytes.HasPrefix(t, []byte("end")) && (len(t) == 3 || !isWord(t[3])) || t[0] == '}'):
				return i
			case !python && (hasWord(t, "rescue") || hasWord(t, "ensure") || hasWord(t, "else") || hasWord(t, "after") || hasWord(t, "do") || hasWord(t, "when")):
				last = i
				continue
			}
		}
		return last
	}
	return last
}

func hasWord(t []byte, w string) bool {
	return bytes.HasPrefix(t, []byte(w)) && (len(t) == len(w) || !isWord(t[len(w)]))
}

// equations finds Haskell's top-level declarations: a name at column 0, together with its signature and all its equations.
func (f *file) equations() {
	n := f.lineCount()
	var cur *Decl
	var lastCode int
	flush := func() {
		if cur != nil {
			cur.End = lastCode
			f.decls = append(f.decls, *cur)
			cur = nil
		}
	}
	for i := 1; i <= n; i++ {
		col, ok := f.indent(i)
		if !ok {
			continue
		}
		t := f.line(i)
		if col > 0 || t[0] == '#' || t[0] == ')' || t[0] == '}' || t[0] == ']' {
			lastCode = i
			continue
		}
		kind, name := haskellDecl(t)
		if cur != nil && cur.Name == name && cur.Kind == "function" && kind == "function" {
			lastCode = i
			continue
		}
		flush()
		lastCode = i
		if name != "" {
			cur = &Decl{Kind: kind, Name: name, Start: i, Signature: f.signature(f.lines[i-1], f.lines[i])}
		}
	}
	flush()
}

func haskellDecl(t []byte) (kind, name string) {
	fields := strings.Fields(string(t))
	if len(fields) == 0 {
		return "", ""
	}
	pick := func(from int) string {
		for i, w := range fields[from:] {
			if w == "=>" && from+i+1 < len(fields) {
				return strings.Trim(fields[from+i+1], "()")
			}
		}
		for _, w := range fields[from:] {
			if w = strings.Trim(w, "()"); w != "" && w != "family" && w != "instance" {
				return w
			}
		}
		return ""
	}
	switch fields[0] {
	case "module", "import", "infixl", "infixr", "infix", "default":
		return "", ""
	case "data", "newtype":
		return "type", pick(1)
	case "type":
		return "type", pick(1)
	case "class":
		return "class", pick(1)
	case "instance", "deriving":
		return "impl", strings.Join(fields[1:min(len(fields), 6)], " ")
	case "foreign":
		return "function", fields[len(fields)-1]
	}
	name = strings.Trim(fields[0], "(),")
	if name == "" || name[0] == '{' || name[0] == '$' || name[0] == '@' {
		return "", ""
	}
	return "function", name
}

// headings cuts prose into sections.
func (f *file) headings() {
	n := f.lineCount()
	fence := false
	start, name := 0, ""
	flush := func(end int) {
		if start > 0 {
			f.decls = append(f.decls, Decl{Kind: "section", Name: clip(name, 120), Start: start, DocStart: start, End: end})
		}
	}
	for i := 1; i <= n; i++ {
		t := bytes.TrimSpace(f.rawLine(i))
		if bytes.HasPrefix(t, []byte("```")) || bytes.HasPrefix(t, []byte("~~~")) {
			fence = !fence
		}
		if fence || len(t) == 0 {
			continue
		}
		title := ""
		switch {
		case t[0] == '#' && f.lang.name == "markdown" || t[0] == '=' && f.lang.name == "asciidoc" && len(t) > 2 && t[1] != '=' || t[0] == '=' && f.lang.name == "asciidoc" && bytes.HasPrefix(t, []byte("== ")):
			title = strings.Trim(string(t), "#= ")
		case i < n && len(t) < 120 && i+1 <= n && underline(bytes.TrimSpace(f.rawLine(i+1)), len(t)):
			title = string(t)
		}
		if title == "" {
			continue
		}
		flush(i - 1)
		start, name = i, title
	}
	flush(n)
}

// underline reports whether a line underlines a heading of the given length.
func underline(t []byte, n int) bool {
	if len(t) < 3 || len(t) < n-2 || bytes.IndexByte([]byte("=-~^*+\"`"), t[0]) < 0 {
		return false
	}
	for _, c := range t {
		if c != t[0] {
			return false
		}
	}
	return true
}
