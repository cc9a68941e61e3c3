package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/librarian-app/librarian/librarian"
)

// mention is a place that prose names: a path with lines.
type mention struct {
	start, end       int    // the whole of it in the text
	cutFrom, cutTo   int    // what is taken out when its lines cannot be verified
	path             string // as written
	spaced           string // the path when it may begin further left, at a backtick; else ""
	lines            Range
	adjoined, inCode bool // path:lines without a gap; within backticks
}

var (
	// src/a.go:80, a.go:80-140, a.go#L80-L140, a.go:80:12 (a column, which is dropped)
	adjoinedLines = regexp.MustCompile(`(?::|#)[Ll]?(\d+)(?:[-–—‐‑−][Ll]?(\d+)|(?::\d+)+)?`)
	// `a.go` (lines 80-140); a.go, line 42; a.go L80-L140
	laterLines = regexp.MustCompile("(?i)[`*]{0,3},?[ \t]{0,3}\\(?(?:(?:at|on|around|near|from)[ \t]+)?(?:lines?[ \t]+|\\bL)(\\d+)(?:[ \t]*(?:[-–—‐‑−]|to|through)[ \t]*L?(\\d+))?\\)?")
	// lines 80-140 of `a.go`
	earlierLines = regexp.MustCompile("(?i)\\blines?[ \t]+(\\d+)(?:[ \t]*(?:[-–—‐‑−]|to|through)[ \t]*L?(\\d+))?[ \t]+(?:of|in)[ \t]+(?:the[ \t]+)?(?:file[ \t]+)?[`*]{0,3}")
)

// maxPathScan bounds how far from its lines a path may begin, in bytes.
const maxPathScan = 1024

// scanMentions finds what may be places in a text, in order and without overlap. Whether they are is for the tree to
// say: "redis:6379" is found, too.
func scanMentions(text string) []mention {
	var out []mention
	for _, m := range adjoinedLines.FindAllStringSubmatchIndex(text, -1) {
		if !endsClean(text, m[1]) {
			continue
		}
		from := pathBefore(text, m[0])
		if from == m[0] {
			continue
		}
		out = append(out, mention{
			start: from, end: m[1], cutFrom: m[0], cutTo: m[1], path: text[from:m[0]], spaced: spacedBefore(text, m[0], from),
			lines: rangeAt(text, m), adjoined: true, inCode: from > 0 && text[from-1] == '`',
		})
	}
	for _, m := range laterLines.FindAllStringSubmatchIndex(text, -1) {
		from := pathBefore(text, m[0])
		if from == m[0] || !endsClean(text, m[1]) {
			continue
		}
		cut := m[0] + len(text[m[0]:m[1]]) - len(strings.TrimLeft(text[m[0]:m[1]], "`*"))
		to := m[1]
		if open, shut := strings.Count(text[cut:to], "("), strings.Count(text[cut:to], ")"); open < shut {
			to--
		} else if open > shut {
			cut = strings.IndexByte(text[cut:to], '(') + cut + 1
		}
		out = append(out, mention{start: from, end: to, cutFrom: cut, cutTo: to, path: text[from:m[0]], spaced: spacedBefore(text, m[0], from), lines: rangeAt(text, m)})
	}
	for _, m := range earlierLines.FindAllStringSubmatchIndex(text, -1) {
		to := pathAfter(text, m[1])
		if to == m[1] {
			continue
		}
		cutTo := m[0] + len(strings.TrimRight(text[m[0]:m[1]], "`*"))
		out = append(out, mention{start: m[0], end: to, cutFrom: m[0], cutTo: cutTo, path: text[m[1]:to], lines: rangeAt(text, m)})
	}
	slices.SortStableFunc(out, func(a, b mention) int { return cmp.Compare(a.start, b.start) })
	end := 0
	return slices.DeleteFunc(out, func(m mention) bool {
		if m.start < end || strings.Contains(m.path, "://") {
			return true
		}
		end = m.end
		return false
	})
}

func rangeAt(text string, m []int) Range {
	r := Range{Start: number(text[m[2]:m[3]])}
	r.End = r.Start
	if m[4] >= 0 {
		r.End = number(text[m[4]:m[5]])
	}
	if r.End < r.Start {
		r.Start, r.End = r.End, r.Start
	}
	return r
}

// endsClean reports whether a number that ends at i is a whole one.
func endsClean(text string, i int) bool {
	r, size := utf8.DecodeRuneInString(text[i:])
	if size == 0 {
		return true
	}
	if r == '.' {
		next, _ := utf8.DecodeRuneInString(text[i+1:])
		return !unicode.IsDigit(next)
	}
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
}

const pathStops = "`\"'<>|*,;“”‘’\n"

// pathBefore gives where the path that ends at end begins: end itself when there is none.
func pathBefore(text string, end int) int {
	from := end
	depth := 0 // of brackets that were closed, going left
	for from > 0 && end-from < maxPathScan {
		r, size := utf8.DecodeLastRuneInString(text[:from])
		switch {
		case unicode.IsSpace(r), strings.ContainsRune(pathStops, r):
			return from
		case r == ')' || r == ']' || r == '}':
			depth++
		case r == '(' || r == '[' || r == '{':
			if depth--; depth < 0 {
				return from
			}
		}
		from -= size
	}
	return from
}

// pathAfter gives where the path that begins at from ends, less punctuation of the sentence.
func pathAfter(text string, from int) int {
	to := from
	for to < len(text) && to-from < maxPathScan {
		r, size := utf8.DecodeRuneInString(text[to:])
		if unicode.IsSpace(r) || strings.ContainsRune(pathStops, r) {
			break
		}
		to += size
	}
	return from + len(strings.TrimRight(text[from:to], ".:!?)"))
}

// spacedBefore gives the path that ends at end if it is read from the backtick before it, spaces and all.
func spacedBefore(text string, end, from int) string {
	line := strings.LastIndexByte(text[:end], '\n') + 1
	tick := strings.LastIndexByte(text[max(line, end-maxPathScan):end], '`')
	if tick < 0 {
		return ""
	}
	tick += max(line, end-maxPathScan) + 1
	if tick >= from {
		return ""
	}
	return strings.TrimSpace(text[tick:end])
}

// looksLikePath tells a path from a host, a clock and a label, for names that no tree knows.
func looksLikePath(p string) bool {
	base := path.Base(p)
	ext := strings.TrimPrefix(path.Ext(base), ".")
	if ext == "" || len(ext) > 10 || ext == base || !letter(ext[0]) {
		return slices.Contains([]string{"Makefile", "Dockerfile", "Rakefile", "Gemfile", "Jenkinsfile", "Justfile", "BUILD", "WORKSPACE"}, base)
	}
	return strings.Contains(p, "/") || slices.Contains(sourceEndings, strings.ToLower(ext))
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// sourceEndings are endings by which a bare name (server.go:80) is a file's; a host's (example.com:80) is not among them.
var sourceEndings = strings.Fields(`go mod sum py pyi js jsx mjs cjs ts tsx mts cts java kt kts scala groovy gradle c h cc cpp cxx hpp hh m mm cs fs vb
	rb erb php rs swift lua ex exs erl hs ml mli clj cljs dart r jl pl pm sh bash zsh fish ps1 bat sql html htm css scss sass less vue svelte
	md mdx rst txt json jsonc yaml yml toml xml ini cfg conf proto graphql tf nix zig v sv asm s el vim cmake mk tmpl lock`)

// resolve says which verified place a mention means. It is not a place at all (isPlace false) where nothing in the trees
// nor its look suggests one.
func (c checker) resolve(ctx context.Context, m mention, cited []librarian.Location) (loc librarian.Location, problem string, isPlace bool, err error) {
	names := []string{m.path}
	if m.spaced != "" {
		names = []string{m.spaced, m.path}
	}
	var firstProblem string
	for _, name := range names {
		places, err := c.places(ctx, name, cited)
		if err != nil {
			return librarian.Location{}, "", true, err
		}
		for _, p := range places {
			if m.lines.Start < 1 {
				firstProblem = "lines count from 1."
				continue
			}
			problem := c.shown(p.src, p.path, p.info, m.lines)
			if problem == "" {
				return locate(p.src, p.path, m.lines, ""), "", true, nil
			}
			firstProblem = cmp.Or(firstProblem, problem)
		}
	}
	if firstProblem != "" {
		return librarian.Location{}, firstProblem, true, nil
	}
	if !looksLikePath(m.path) {
		return librarian.Location{}, "", false, nil
	}
	problem = "no such file in what this run opened."
	for _, src := range c.sources.Sources() {
		if near := c.tree.Nearest(ctx, src.Repo.ID, src.SHA, m.path); len(near) > 0 {
			problem += fmt.Sprintf(" Nearest in %s: %s.", src.Key, strings.Join(near[:min(len(near), maxNearest)], ", "))
			break
		}
	}
	return librarian.Location{}, problem, true, nil
}

// place is a file that a name in prose can mean.
type place struct {
	src  Source
	path string
	info FileInfo
}

// places lists the files that a name can mean, the likeliest first: one that is cited, a path of a tree, the end of the
// path of a file that was read.
func (c checker) places(ctx context.Context, name string, cited []librarian.Location) ([]place, error) {
	var out []place
	add := func(src Source, p string) error {
		if !fs.ValidPath(p) || p == "." || slices.ContainsFunc(out, func(o place) bool { return o.src.Key == src.Key && o.path == p }) {
			return nil
		}
		info, err := c.tree.Stat(ctx, src.Repo.ID, src.SHA, p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return fmt.Errorf("report: look up %s: %w", showPath(p), err)
		}
		if info.Kind != KindDir {
			out = append(out, place{src, p, info})
		}
		return nil
	}
	all := c.sources.Sources()
	of := func(repo librarian.RepoID, sha string) (Source, bool) {
		i := slices.IndexFunc(all, func(s Source) bool { return s.Repo.ID == repo && s.SHA == sha })
		if i < 0 {
			return Source{}, false
		}
		return all[i], true
	}
	for _, l := range cited {
		if src, ok := of(l.Repo, l.SHA); ok && endsIn(l.Path, name) {
			if err := add(src, l.Path); err != nil {
				return nil, err
			}
		}
	}
	for _, src := range all {
		for _, v := range pathVariants(src, name) {
			if err := add(src, v); err != nil {
				return nil, err
			}
		}
	}
	for _, f := range c.ledger.Files() {
		if src, ok := of(f.Repo, f.SHA); ok && endsIn(f.Path, name) {
			if err := add(src, f.Path); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// endsIn reports whether name is whole, or the last parts of, a path.
func endsIn(p, name string) bool { return p == name || strings.HasSuffix(p, "/"+name) }
