package syntax

import (
	"bytes"
	"path"
	"strings"
)

// family says how a language shows where a declaration ends.
type family uint8

const (
	familyNone    family = iota // no declarations are known: prose, data
	familyBrace                 // { … }
	familyIndent                // Python: the block is what is indented deeper
	familyEnd                   // Ruby, Lua, Elixir: a word `end` at the opener's indentation
	familyHaskell               // equations: a name at column 0 until the next one
	familyProse                 // Markdown, reStructuredText: headings
)

// language is all the heuristics know of one language. The tables are data on purpose: adding a language is adding a row.
type language struct {
	name   string
	family family

	lineComment  []string
	blockComment [2]string
	nested       bool   // block comments nest
	quotes       string // characters that open and close a string on one line
	multiQuotes  string // of these, the ones whose string may run over lines
	triple       bool   // """ … """ and, where ' is a quote, ''' … '''
	charQuote    bool   // 'x' is a character, and a lone ' is not a quote (Rust lifetimes, C digits)

	newlineEnds  bool              // a line's end ends a statement unless it visibly goes on
	keywords     map[string]string // declaring word → kind
	bareMethods  bool              // name(…) { is a function where declarations may stand
	bareTopLevel bool              // … also outside of any type (C, C++, shell, Dart)
}

func kinds(pairs ...string) map[string]string {
	m := make(map[string]string, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		for w := range strings.FieldsSeq(pairs[i]) {
			m[w] = pairs[i+1]
		}
	}
	return m
}

// languageOf gives the language of a file by its name alone, and nil when nothing is known of it.
func languageOf(p string) *language {
	base := path.Base(p)
	ext := strings.ToLower(path.Ext(base))
	if name, ok := byExtension[ext]; ok {
		return languages[name]
	}
	switch strings.ToLower(base) {
	case "makefile", "dockerfile", "cmakelists.txt", ".gitignore":
		return languages["configuration"]
	case "rakefile", "gemfile", "podfile", "vagrantfile", "fastfile":
		return languages["ruby"]
	case "jenkinsfile":
		return languages["groovy"]
	}
	return nil
}

// detect gives the language by name, else by the interpreter that the first line names.
func detect(p string, src []byte) *language {
	if l := languageOf(p); l != nil {
		return l
	}
	if !bytes.HasPrefix(src, []byte("#!")) {
		return nil
	}
	line := string(src[:min(len(src), 200)])
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	for _, w := range strings.FieldsFunc(line, func(r rune) bool { return r == '/' || r == ' ' || r == '\t' || r == '\r' }) {
		switch strings.TrimRight(w, "0123456789.") {
		case "sh", "bash", "zsh", "ksh", "dash", "bats":
			return languages["shell"]
		case "python", "pypy":
			return languages["python"]
		case "ruby":
			return languages["ruby"]
		case "node", "deno", "bun":
			return languages["javascript"]
		case "php":
			return languages["php"]
		case "lua", "luajit":
			return languages["lua"]
		}
	}
	return nil
}

// Language gives the name of the language of a file, or "" when it is not known. src may be the file's first bytes, or nil.
func Language(p string, src []byte) string {
	if l := detect(p, src); l != nil {
		return l.name
	}
	return ""
}

var byExtension = map[string]string{
	".go": "go", ".java": "java", ".kt": "kotlin", ".kts": "kotlin", ".scala": "scala", ".sbt": "scala", ".sc": "scala",
	".c": "c", ".h": "cpp", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hpp": "cpp", ".hh": "cpp", ".hxx": "cpp", ".inl": "cpp", ".ipp": "cpp", ".cu": "cpp", ".mm": "cpp", ".m": "cpp",
	".cs": "csharp", ".js": "javascript", ".jsx": "javascript", ".mjs": "javascript", ".cjs": "javascript",
	".ts": "typescript", ".tsx": "typescript", ".mts": "typescript", ".cts": "typescript", ".vue": "typescript", ".svelte": "typescript",
	".rs": "rust", ".php": "php", ".swift": "swift", ".dart": "dart", ".zig": "zig", ".groovy": "groovy", ".gradle": "groovy",
	".sh": "shell", ".bash": "shell", ".zsh": "shell", ".bats": "shell", ".ksh": "shell",
	".py": "python", ".pyi": "python", ".pyx": "python", ".rb": "ruby", ".rake": "ruby", ".gemspec": "ruby", ".ru": "ruby",
	".ex": "elixir", ".exs": "elixir", ".lua": "lua", ".hs": "haskell", ".proto": "proto", ".sol": "solidity",
	".md": "markdown", ".markdown": "markdown", ".mdx": "markdown", ".rst": "restructuredtext", ".adoc": "asciidoc", ".txt": "text",
	".yml": "configuration", ".yaml": "configuration", ".toml": "configuration", ".ini": "configuration", ".cfg": "configuration",
	".json": "configuration", ".sql": "sql", ".tf": "configuration", ".properties": "configuration", ".cmake": "configuration", ".conf": "configuration",
}

var languages = map[string]*language{
	"go": {name: "go", family: familyBrace, lineComment: []string{"//"}, blockComment: [2]string{"/*", "*/"}, quotes: "\"'`", multiQuotes: "`", newlineEnds: true,
		keywords: kinds("func", "function", "type", "type", "const", "constant", "var", "variable")},
	"java": {name: "java", family: familyBrace, lineComment: []string{"//"}, blockComment: [2]string{"/*", "*/"}, quotes: "\"'", triple: true,
		keywords: kinds("class", "class", "interface @interface", "interface", "enum", "enum", "record", "class"), bareMethods: true},
	"groovy": {name: "groovy", family: familyBrace, lineComment: []string{"//"}, blockComment: [2]string{"/*", "*/"}, quotes: "\"'", triple: true, newlineEnds: true,
		keywords: kinds("class", "class", "interface", "interface", "enum", "enum", "trait", "trait", "def", "function"), bareMethods: true, bareTopLevel: true},
	"csharp": {name: "csharp", family: familyBrace, lineComment: []string{"//"}, blockComment: [2]string{"/*", "*/"}, quotes: "\"'", triple: true,
		keywords: kinds("class", "class", "interface", "interface", "enum", "enum", "struct", "struct", "record", "class", "namespace", "namespace", "delegate", "type"), bareMethods: true},
	"kotlin": {name: "kotlin", family: familyBrace, lineComment: []string{"//"}, blockComment: [2]string{"/*", "*/"}, nested: true, quotes: "\"'", triple: true, newlineEnds: true,
		keywords: kinds("fun", "function", "class", "class", "interface", "interface", "object", "class", "typealias", "type", "val", "constant", "var", "variable", "constructor", "function")},
	"scala": {name: "scala", family: familyBrace, lineComment: []string{"//"}, blockComment: [2]string{"/*", "*/"}, nested: true, quotes: "\"", triple: true, charQuote: true, newlineEnds: true,
		keywords: kinds("def", "function", "class", "class", "trait", "trait", "object", "class", "enum", "enum", "type", "type", "val", "constant", "var", "variable", "given", "constant")},
	"c": {name: "c", family: familyBrace, lineComment: []string{"//"}, blockComment: [2]string{"/*", "*/"}, quotes: "\"'",
		keywords: kinds("struct", "struct", "enum", "enum", "union", "struct", "typedef", "type"), bareMethods: true, bareTopLevel: true},
	"cpp": {name: "cpp", family: familyBrace, lineComment: []string{"//"}, blockComment: [2]string{"/*", "*/"}, quotes: "\"", charQuote: true,
		keywords:    kinds("class", "class", "struct", "struct", "enum", "enum", "union", "struct", "typedef", "type", "namespace", "namespace", "using", "type", "concept", "type", "@interface @implementation @protocol", "class"),
		bareMethods: true, bareTopLevel: true},
	"javascript": {name: "javascript", family: familyBrace, lineComment: []string{"//"}, blockComment: [2]string{"/*", "*/"}, quotes: "\"'`", multiQuotes: "`", newlineEnds: true,
		keywords: kinds("function", "function", "class", "class", "const", "constant", "let var", "variable"), bareMethods: true},
	"typescript": {name: "typescript", family: familyBrace, lineComment: []string{"//"}, blockComment: [2]string{"/*", "*/"}, quotes: "\"'`", multiQuotes: "`", newlineEnds: true,
		keywords: kinds("function", "function", "class", "class", "interface", "interface", "enum", "enum", "type", "type", "namespace module", "namespace", "const", "constant", "let var", "variable"), bareMethods: true},
	"rust": {name: "rust", family: familyBrace, lineComment: []string{"//"}, blockComment: [2]string{"/*", "*/"}, nested: true, quotes: "\"", multiQuotes: "\"", charQuote: true,
		keywords: kinds("fn", "function", "struct", "struct", "enum", "enum", "union", "struct", "trait", "trait", "impl", "impl", "mod", "namespace", "type", "type", "const static", "constant", "macro_rules!", "macro")},
	"php": {name: "php", family: familyBrace, lineComment: []string{"//", "#"}, blockComment: [2]string{"/*", "*/"}, quotes: "\"'", multiQuotes: "\"'",
		keywords: kinds("function fn", "function", "class", "class", "interface", "interface", "trait", "trait", "enum", "enum", "const", "constant", "namespace", "namespace")},
	"swift": {name: "swift", family: familyBrace, lineComment: []string{"//"}, blockComment: [2]string{"/*", "*/"}, nested: true, quotes: "\"", triple: true, newlineEnds: true,
		keywords: kinds("func", "function", "init init? init! deinit subscript", "function", "class actor", "class", "struct", "struct", "enum", "enum", "protocol", "interface", "extension", "impl", "typealias", "type", "let", "constant", "var", "variable")},
	"dart": {name: "dart", family: familyBrace, lineComment: []string{"//"}, blockComment: [2]string{"/*", "*/"}, quotes: "\"'", triple: true,
		keywords: kinds("class mixin", "class", "enum", "enum", "extension", "impl", "typedef", "type"), bareMethods: true, bareTopLevel: true},
	"zig": {name: "zig", family: familyBrace, lineComment: []string{"//", "\\\\"}, quotes: "\"", charQuote: true,
		keywords: kinds("fn", "function", "const", "constant", "var", "variable", "test", "test")},
	"shell": {name: "shell", family: familyEnd, lineComment: []string{"#"}, quotes: "\"'", multiQuotes: "\"'", newlineEnds: true,
		keywords: kinds("function", "function"), bareMethods: true, bareTopLevel: true},
	"proto": {name: "proto", family: familyBrace, lineComment: []string{"//"}, blockComment: [2]string{"/*", "*/"}, quotes: "\"",
		keywords: kinds("message", "class", "service", "interface", "rpc", "function", "enum", "enum")},
	"solidity": {name: "solidity", family: familyBrace, lineComment: []string{"//"}, blockComment: [2]string{"/*", "*/"}, quotes: "\"'",
		keywords: kinds("contract library", "class", "interface", "interface", "function modifier", "function", "struct", "struct", "enum", "enum", "event error", "type")},
	"python": {name: "python", family: familyIndent, lineComment: []string{"#"}, quotes: "\"'", triple: true,
		keywords: kinds("def", "function", "class", "class")},
	"ruby": {name: "ruby", family: familyEnd, lineComment: []string{"#"}, blockComment: [2]string{"\n=begin", "\n=end"}, quotes: "\"'`",
		keywords: kinds("def", "function", "class", "class", "module", "namespace")},
	"elixir": {name: "elixir", family: familyEnd, lineComment: []string{"#"}, quotes: "\"'", triple: true,
		keywords: kinds("def defp", "function", "defmacro defmacrop", "macro", "defmodule", "class", "defprotocol", "interface", "defimpl", "impl", "defguard defguardp defdelegate", "function", "test", "test", "describe", "test")},
	"lua": {name: "lua", family: familyEnd, lineComment: []string{"--"}, blockComment: [2]string{"--[[", "]]"}, quotes: "\"'",
		keywords: kinds("function", "function")},
	"haskell":          {name: "haskell", family: familyHaskell, lineComment: []string{"--"}, blockComment: [2]string{"{-", "-}"}, nested: true, quotes: "\"", charQuote: true},
	"markdown":         {name: "markdown", family: familyProse},
	"restructuredtext": {name: "restructuredtext", family: familyProse},
	"asciidoc":         {name: "asciidoc", family: familyProse},
	"text":             {name: "text", family: familyNone},
	"configuration":    {name: "configuration", family: familyNone, lineComment: []string{"#"}},
	"sql":              {name: "sql", family: familyNone, lineComment: []string{"--"}},
}
