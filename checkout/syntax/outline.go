package syntax

import (
	"bytes"
	"sort"
	"strings"
)

// How an outline was found: by a grammar, or off indentation, braces and words. Only a build with cgo and the tag treesitter has grammars,
// and not for every language.
const (
	MethodTreeSitter = "tree-sitter"
	MethodHeuristic  = "heuristic"
)

// MaxSource is the size in bytes above which a file is not outlined; an empty Outline is returned for it.
const MaxSource = 4 << 20

// Outline is what a file declares, in order of appearance; a declaration stands before what it contains.
type Outline struct {
	Language string // "" when not known
	Method   string // how it was found: MethodTreeSitter or MethodHeuristic
	Decls    []Decl
	Tests    []Decl // of JavaScript and TypeScript by heuristic: blocks that a test framework's calls are given. A grammar has them among Decls
}

// Decl is one declaration. Lines count from 1 and are inclusive.
type Decl struct {
	Kind      string // function, class, interface, trait, struct, enum, impl, namespace, type, constant, variable, field, macro, test, section
	Name      string
	Parent    string // the name of the enclosing declaration, or a Go method's receiver; "" at the top
	Signature string // the head without its body, on one line, at most 300 bytes
	Doc       string // the comment above it (or the docstring below), without comment marks, at most 4 KiB
	Start     int    // the line of the declaring word
	End       int
	DocStart  int // the first line of comments, annotations or decorators that belong to it; Start when there are none
	Depth     int // how many declarations enclose it
}

// container reports whether declarations may stand directly inside.
func (d *Decl) container() bool {
	switch d.Kind {
	case "class", "interface", "trait", "struct", "enum", "impl", "namespace", "object":
		return true
	}
	return false
}

// NewOutline finds the declarations of a file by its name and text.
func NewOutline(path string, src []byte) Outline {
	lang := detect(path, src)
	out := Outline{Method: MethodHeuristic}
	if lang == nil {
		return out
	}
	out.Language = lang.name
	if len(src) > MaxSource || lang.family == familyNone {
		return out
	}
	f := newFile(lang, src)
	if f.parse(path) {
		out.Method, out.Decls = MethodTreeSitter, f.decls
		return out
	}
	if lang.name == "javascript" || lang.name == "typescript" {
		out.Tests = f.testCalls()
	}
	switch lang.family {
	case familyBrace:
		f.braces()
	case familyIndent, familyEnd:
		f.indented()
	case familyHaskell:
		f.equations()
	case familyProse:
		f.headings()
	}
	f.finish()
	out.Decls = f.decls
	return out
}

// file is one source text with its masked twin and its lines, and the declarations found so far.
type file struct {
	lang  *language
	src   []byte
	mask  []byte // same length: comments are markComment, the inside of strings is blank
	lines []int  // offset of each line's start; one more for the end of the text
	decls []Decl
	ahead int // the next code behind the line that was looked at last; see goesOn

	members bool // the head that is being read stands where a script has only members; see holdsMembers

	overLines []span       // strings that run over lines
	attribute map[int]bool // lines that are annotations and nothing else, as a grammar has it; nil without one
}

func newFile(lang *language, src []byte) *file {
	f := &file{lang: lang, src: src}
	if lang.family == familyProse {
		f.mask = src
	} else {
		f.mask, f.overLines = maskSource(lang, src)
	}
	f.lines = append(f.lines, 0)
	for i := 0; i < len(src); {
		n := bytes.IndexByte(src[i:], '\n')
		if n < 0 {
			break
		}
		i += n + 1
		if i < len(src) {
			f.lines = append(f.lines, i)
		}
	}
	f.lines = append(f.lines, len(src))
	return f
}

func (f *file) lineCount() int { return len(f.lines) - 1 }

// lineAt gives the line that holds an offset, from 1.
func (f *file) lineAt(off int) int {
	n := sort.SearchInts(f.lines, off+1)
	return min(max(n, 1), f.lineCount())
}

// line gives the masked text of a line, without its end.
func (f *file) line(n int) []byte { return bytes.TrimRight(f.mask[f.lines[n-1]:f.lines[n]], "\r\n") }

func (f *file) rawLine(n int) []byte { return bytes.TrimRight(f.src[f.lines[n-1]:f.lines[n]], "\r\n") }

// indent counts the columns before the first character of a masked line; ok is false for a line without code.
func (f *file) indent(n int) (col int, ok bool) {
	for _, c := range f.line(n) {
		switch c {
		case ' ', '\f':
			col++
		case '\t':
			col += 4
		case markComment:
			return 0, false
		default:
			return col, true
		}
	}
	return 0, false
}

// isComment reports whether a line holds a comment and nothing else.
func (f *file) isComment(n int) bool {
	found := false
	for _, c := range f.line(n) {
		switch c {
		case ' ', '\t':
		case markComment:
			found = true
		default:
			return false
		}
	}
	return found
}

// isAnnotation reports whether a line is an attribute of the declaration below it.
func (f *file) isAnnotation(n int) bool {
	if f.attribute != nil && f.lang.name != "c" && f.lang.name != "cpp" {
		return f.attribute[n]
	}
	t := bytes.TrimLeft(f.line(n), " \t")
	if len(t) == 0 {
		return false
	}
	switch f.lang.name {
	case "elixir":
		return bytes.HasPrefix(t, []byte("@doc")) || bytes.HasPrefix(t, []byte("@spec")) || bytes.HasPrefix(t, []byte("@impl"))
	case "rust", "php":
		return bytes.HasPrefix(t, []byte("#["))
	case "csharp":
		return t[0] == '[' && bytes.HasSuffix(bytes.TrimRight(t, " \t"), []byte("]"))
	case "cpp", "c":
		return bytes.HasPrefix(t, []byte("template"))
	}
	return t[0] == '@' && len(t) > 1 && isWordStart(t[1]) && f.lang.name != "shell"
}

// finish fills in what every family shares: doc comments, parents, bounds.
func (f *file) finish() {
	sort.SliceStable(f.decls, func(i, j int) bool {
		a, b := &f.decls[i], &f.decls[j]
		if a.Start != b.Start {
			return a.Start < b.Start
		}
		return a.End > b.End
	})
	var open []int
	for i := range f.decls {
		d := &f.decls[i]
		d.End = min(max(d.End, d.Start), f.lineCount())
		for len(open) > 0 && f.decls[open[len(open)-1]].End < d.Start {
			open = open[:len(open)-1]
		}
		d.Depth = len(open)
		if len(open) > 0 && d.Parent == "" {
			d.Parent = f.decls[open[len(open)-1]].Name
		}
		open = append(open, i)
		if d.Kind != "section" {
			f.attachDoc(d)
		}
	}
}

// attachDoc walks up over the comments and annotations right above a declaration.
func (f *file) attachDoc(d *Decl) {
	top := d.Start
	inDocString := false
	for n := d.Start - 1; n >= 1 && d.Start-n < 200; n-- {
		if f.isComment(n) || f.isAnnotation(n) {
			top = n
			continue
		}
		// Elixir's @doc """ … """ is a string: its lines are blank in the mask.
		if f.lang.name == "elixir" {
			t := bytes.TrimSpace(f.line(n))
			if bytes.Equal(t, []byte(`"""`)) || (inDocString && len(t) == 0) {
				inDocString = true
				continue
			}
		}
		break
	}
	d.DocStart = top
	var b strings.Builder
	if top < d.Start {
		for n := top; n < d.Start && b.Len() < 4096; n++ {
			if f.isComment(n) || inDocString {
				appendComment(&b, f.rawLine(n))
			}
		}
	}
	if f.lang.name == "python" {
		f.docString(d, &b)
	}
	d.Doc = clip(strings.TrimSpace(b.String()), 4096)
}

// docString reads the string that stands first in a Python body.
func (f *file) docString(d *Decl, b *strings.Builder) {
	for n := d.Start; n <= min(d.End, d.Start+40); n++ {
		t := bytes.TrimSpace(f.line(n))
		if !bytes.HasSuffix(t, []byte(":")) {
			continue
		}
		for m := n + 1; m <= min(d.End, n+3); m++ {
			t := bytes.TrimSpace(f.line(m))
			if len(t) == 0 {
				continue
			}
			if t[0] != '"' && t[0] != '\'' && !bytes.HasPrefix(t, []byte(`r"`)) {
				return
			}
			for k := m; k <= d.End && b.Len() < 4096; k++ {
				appendComment(b, bytes.Trim(bytes.TrimSpace(f.rawLine(k)), `"'`))
				rest := bytes.TrimSpace(f.line(k))
				if (k > m && len(rest) > 0) || (k == m && bytes.Count(f.rawLine(k), []byte(`"""`)) > 1) {
					return
				}
			}
			return
		}
		return
	}
}

// appendComment adds one line of a comment without its marks.
func appendComment(b *strings.Builder, line []byte) {
	t := strings.TrimSpace(string(line))
	t = strings.TrimRight(strings.TrimSuffix(t, "*/"), "-} ")
	t = strings.TrimLeft(t, "/*#-;!|{ \t")
	if t == "" {
		return
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(t)
}

// signature gives the raw text between two offsets on one line.
func (f *file) signature(from, to int) string {
	to = min(to, len(f.src), from+600)
	return clip(strings.Join(strings.Fields(string(f.src[from:to])), " "), 300)
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

func isWordStart(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func isWord(c byte) bool { return isWordStart(c) || c >= '0' && c <= '9' }
