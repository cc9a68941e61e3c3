//go:build cgo && treesitter

package syntax

import (
	"bytes"
	"path"
	"sort"
	"strings"
	"time"

	sitter "github.com/tree-sitter/go-tree-sitter"
)

// Variant tells outlines of this build from those of builds that find other declarations; it is part of what is kept of them on disk.
// Change the number when queries or grammars change.
const Variant = "-treesitter-3"

// What tree-sitter is given. A file over one of these is read by the heuristics.
const (
	maxParsed  = 2 << 20  // bytes; a tree takes about twenty times as much memory
	maxRereads = 16       // how often the parser may fetch the text over again
	readChunk  = 16 << 10 // bytes handed to the parser at a time; each is copied
)

// parseTime is how long parsing may take, and the query again: a quarter of a second and a second for each million bytes, some ten times
// what a file of that size needs. A lexer is only stopped between tokens, so it may be somewhat more.
func parseTime(size int) time.Duration {
	return 250*time.Millisecond + time.Duration(size)*time.Microsecond
}

// parse finds the declarations by the language's grammar. It reports false, and leaves the file as it is, when there is no grammar
// for it, the text is too large, too slow to parse or not safe to, or so broken that the heuristics do better.
func (f *file) parse(name string) bool {
	g := grammarOf(f.lang.name, strings.ToLower(path.Ext(name)))
	if g == nil || len(f.src) == 0 || len(f.src) > maxParsed || f.lang.name == "ruby" && !rubyIsSafe(f.src) {
		return false
	}
	l := g()
	if l == nil {
		return false
	}
	tree := parseTree(l.language, f.src)
	if tree == nil {
		return false
	}
	defer tree.Close()
	found, ok := f.match(l, tree)
	if !ok {
		return false
	}
	f.declare(found)
	return true
}

// parseTree gives nil when time or reads ran out. The progress callback of the binding would do for both, but it leaks what it is
// given, so the older time-out is used and the end of the text is feigned for the reads.
func parseTree(language *sitter.Language, src []byte) *sitter.Tree {
	p := sitter.NewParser()
	defer p.Close()
	if p.SetLanguage(language) != nil {
		return nil
	}
	p.SetTimeoutMicros(uint64(parseTime(len(src)).Microseconds())) //nolint:staticcheck // see above
	// The binding keeps a copy of every chunk until parsing ends, and a lexer that runs to the end of the file from many places asks
	// for the same ones again and again.
	budget, spent := maxRereads*len(src)+1<<20, false
	tree := p.ParseWithOptions(func(at int, _ sitter.Point) []byte {
		if at >= len(src) {
			return nil
		}
		chunk := src[at:min(at+readChunk, len(src))]
		if budget -= len(chunk); budget < 0 {
			spent = true
			return nil
		}
		return chunk
	}, nil, nil)
	if tree != nil && spent {
		tree.Close()
		return nil
	}
	return tree
}

// found is one declaration as the query saw it, in bytes.
type found struct {
	kind, name, parent string
	from, nameAt, to   int
	body               int  // where its body begins; to when there is none
	local              bool // dropped inside of functions
	pattern            uint // of several for one name the first counts
}

// match runs the language's query. ok is false when time ran out or a quarter of the file made no sense to the grammar.
func (f *file) match(l *loaded, tree *sitter.Tree) (_ []found, ok bool) {
	root := tree.RootNode()
	if root == nil || root.IsError() {
		return nil, false
	}
	cursor := sitter.NewQueryCursor()
	defer cursor.Close()
	cursor.SetMatchLimit(4096)
	cursor.SetTimeoutMicros(uint64(parseTime(len(f.src)).Microseconds())) //nolint:staticcheck // as in parseTree
	deadline := time.Now().Add(parseTime(len(f.src)))

	var out []found
	var attributes []span
	heredocs := map[int]int{} // the line each one's word stands on → the end of its text
	errorEnd, errorBytes := 0, 0
	matches := cursor.Matches(l.query, root, f.src)
	for m := matches.Next(); m != nil; m = matches.Next() {
		if time.Now().After(deadline) {
			return nil, false
		}
		d := found{body: -1, pattern: m.PatternIndex}
		for _, c := range m.Captures {
			from, to := int(c.Node.StartByte()), int(c.Node.EndByte())
			if from > to || to > len(f.src) {
				return nil, false
			}
			switch role := l.names[c.Index]; role {
			case "error":
				if from >= errorEnd {
					errorEnd, errorBytes = to, errorBytes+to-from
				}
			case "comment":
				blank(f.mask, from, to, markComment)
			case "attribute":
				attributes = append(attributes, span{from, to})
			case "heredoc":
				heredocs[f.lineAt(from)] = to
			case "name":
				d.nameAt, d.name = from, declaredName(f.src[from:to])
				if f.scripts() && f.src[from] == '$' {
					d.name = "$" + d.name // a part of the name there, and no sigil
				}
			case "declarator":
				d.nameAt, d.name, d.parent = declarator(c.Node, f.src)
			case "parent":
				d.parent = declaredName(f.src[from:to])
			case "body":
				d.body = from
			case "word": // what a #match? looks at
			default:
				d.kind, d.local = strings.CutSuffix(role, ".local")
				d.from, d.to = from, to
				if body := c.Node.ChildByFieldName("body"); body != nil && d.body < 0 {
					d.body = int(body.StartByte())
				}
			}
		}
		if d.kind != "" && d.name != "" {
			out = append(out, d)
		}
	}
	if errorBytes > len(f.src)/4 || cursor.DidExceedMatchLimit() {
		return nil, false
	}
	for i := range out {
		d := &out[i]
		for to, ok := heredocs[f.lineAt(d.to-1)]; ok && to > d.to; to, ok = heredocs[f.lineAt(d.to-1)] {
			d.to = to // what a here-document says stands outside of its declaration's node
		}
	}
	f.skipAttributes(out, attributes)
	return out, true
}

// skipAttributes moves the start of each declaration past the annotations it begins with, and notes the lines that hold nothing else.
func (f *file) skipAttributes(decls []found, attributes []span) {
	ends := make(map[int]int, len(attributes))
	for _, a := range attributes {
		ends[a.from] = max(ends[a.from], a.to)
	}
	f.attribute = map[int]bool{}
	for from, to := range ends {
		first, last := f.lineAt(from), f.lineAt(max(to-1, from))
		if len(bytes.TrimSpace(f.src[f.lines[first-1]:from])) > 0 || len(bytes.Trim(f.mask[min(to, f.lines[last]):f.lines[last]], " \t\r\n\x01")) > 0 {
			continue
		}
		for n := first; n <= last; n++ {
			f.attribute[n] = true
		}
	}
	for i := range decls {
		d := &decls[i]
		for {
			to, ok := ends[d.from]
			if !ok || to >= d.nameAt {
				break
			}
			for to < d.nameAt && (f.mask[to] <= ' ') { // comments too
				to++
			}
			d.from = to
		}
	}
}

// declare turns what was found into declarations, outer ones before inner ones.
func (f *file) declare(all []found) {
	sort.SliceStable(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		switch {
		case a.from != b.from:
			return a.from < b.from
		case a.to != b.to:
			return a.to > b.to
		}
		return a.pattern < b.pattern
	})
	named := make(map[int]bool, len(all))
	var open []enclosing
	for i := range all {
		d := &all[i]
		if named[d.nameAt] {
			continue
		}
		for d.to > d.nameAt && d.to > 0 && f.src[d.to-1] <= ' ' {
			d.to--
		}
		for len(open) > 0 {
			if o := open[len(open)-1]; o.to > d.from && (o.from != d.from || o.to != d.to) {
				break // two names of one declaration do not enclose each other
			}
			open = open[:len(open)-1]
		}
		out := Decl{Kind: d.kind, Name: d.name, Parent: d.parent, Depth: len(open), Start: f.lineAt(d.from), End: f.lineAt(max(d.to-1, d.from))}
		first := true // on its line
		if len(open) > 0 {
			outer := &f.decls[open[len(open)-1].decl]
			if d.local && !outer.container() && !(d.kind == "function" && outer.holdsValue()) || outer.container() && outer.Kind == d.kind && outer.Name == d.name {
				continue // a function's own variable; typedef struct x {…} x
			}
			if out.Parent == "" {
				out.Parent = outer.Name
			}
			first = outer.Start < out.Start
		}
		named[d.nameAt] = true
		out.Signature = f.head(d)
		out.DocStart = out.Start
		if first {
			f.attachDoc(&out)
		}
		open = append(open, enclosing{len(f.decls), d.from, d.to})
		f.decls = append(f.decls, out)
	}
}

// holdsValue reports whether a declaration is a value, whose parts may be functions: const slice = create({reducers: {add: (s) => …}}).
func (d *Decl) holdsValue() bool { return d.Kind == "constant" || d.Kind == "variable" }

// enclosing is a declaration that is open, as an index of the file's, with its bytes.
type enclosing struct{ decl, from, to int }

// wordsBefore goes back over the plain words in front on the same line: export, type, const.
func (f *file) wordsBefore(at int) int {
	start := f.lines[f.lineAt(at)-1]
	for i := start; i < at; i++ {
		if c := f.mask[i]; !isWord(c) && c != ' ' && c != '\t' {
			return at
		}
	}
	for start < at && f.mask[start] <= ' ' {
		start++
	}
	return start
}

// head gives a declaration's signature. It ends at the body, else at the first brace, else with the declaration (in languages without
// braces, with the line).
func (f *file) head(d *found) string {
	from, end := f.wordsBefore(d.from), d.to
	switch {
	case d.body > d.from:
		end = min(end, d.body)
	case d.kind == "macro":
	case f.lang.family == familyBrace:
		if n := bytes.IndexByte(f.mask[d.nameAt:end], '{'); n >= 0 {
			end = d.nameAt + n
		}
	default:
		end = max(min(end, f.lines[f.lineAt(d.nameAt)]), d.from)
	}
	text := bytes.Clone(f.src[from:min(end, from+600)])
	for i := range text {
		if f.mask[from+i] == markComment {
			text[i] = ' '
		}
	}
	return clip(strings.TrimRight(strings.Join(strings.Fields(string(text)), " "), "; "), 300)
}

// declaredName is the name that a node's text stands for: the last part of a path, without type arguments, quotes and sigils.
func declaredName(text []byte) string {
	s := strings.TrimLeft(string(text[:min(len(text), 400)]), "&*#$:\"'` \t")
	s = strings.TrimPrefix(strings.TrimPrefix(s, "mut "), "dyn ")
	if strings.HasPrefix(s, "operator") || strings.HasPrefix(s, "<") || strings.HasPrefix(s, "==") || strings.HasPrefix(s, "[") {
		return clip(strings.Join(strings.Fields(s), ""), 120)
	}
	if i := strings.IndexAny(s, "<\"`"); i > 0 {
		s = s[:i]
	}
	if i := strings.LastIndex(s, "::"); i >= 0 && i+2 < len(s) {
		s = s[i+2:]
	}
	return clip(strings.TrimRight(s, "'\" \t\r\n"), 120)
}

// declarator reads C's inside-out declarators: the name is the innermost one, its scope the parent.
func declarator(n sitter.Node, src []byte) (at int, name, parent string) {
	for range 64 {
		var next *sitter.Node
		switch n.Kind() {
		case "qualified_identifier":
			if scope := n.ChildByFieldName("scope"); scope != nil {
				parent = declaredName(src[scope.StartByte():scope.EndByte()])
			}
			next = n.ChildByFieldName("name")
		case "reference_declarator", "parenthesized_declarator", "attributed_declarator":
			for i := n.NamedChildCount(); i > 0 && next == nil; i-- {
				if c := n.NamedChild(i - 1); c != nil && c.Kind() != "attribute_declaration" && c.Kind() != "comment" {
					next = c
				}
			}
		case "template_function", "template_method", "template_type":
			next = n.ChildByFieldName("name")
		case "operator_cast":
			return int(n.StartByte()), "operator", parent
		default:
			next = n.ChildByFieldName("declarator")
		}
		if next == nil {
			break
		}
		n = *next
	}
	return int(n.StartByte()), declaredName(src[n.StartByte():n.EndByte()]), parent
}

// rubyIsSafe reports whether the Ruby grammar's scanner can keep its state of a text. It saves open heredocs and literals in 1,024
// bytes and a heredoc's word length in one; beyond that version 0.23.1 overruns the buffer or aborts the process. What counts here
// is more than what can ever be open at once.
func rubyIsSafe(src []byte) bool {
	heredocs := 0
	for i := 0; ; {
		n := bytes.Index(src[i:], []byte("<<"))
		if n < 0 {
			break
		}
		i += n + 1 // the second < may begin the next one
		word := src[i+1:]
		if len(word) > 0 && (word[0] == '-' || word[0] == '~') {
			word = word[1:]
		}
		if len(word) == 0 {
			break
		}
		size := 0
		switch c := word[0]; {
		case c == '"' || c == '\'' || c == '`':
			if size = bytes.IndexByte(word[1:], c); size < 0 {
				size = len(word)
			}
		default:
			for size < len(word) && isWord(word[size]) {
				size++
			}
		}
		if size > 200 {
			return false
		}
		if size > 0 {
			heredocs += 4 + size
		}
	}
	if heredocs == 0 {
		return true
	}
	literals := bytes.Count(src, []byte("#{")) + bytes.Count(src, []byte("#@")) + bytes.Count(src, []byte("#$"))
	return heredocs+5*min(literals+1, 204) < 1000
}
