package model

import (
	"fmt"
	"html"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const scoutIs = "This is a ranked code search without a language model: it shows where to look and does not reason about it."

// answer makes the arguments of provide_results from what was read.
func (c *conversation) answer() map[string]any {
	var d strings.Builder
	if unseen := c.unseen(); len(unseen) > 0 {
		d.WriteString("Not looked at:\n\n")
		for _, text := range unseen {
			fmt.Fprintf(&d, "- %s\n", text)
		}
		d.WriteString("\n")
	}
	if len(c.scope()) == 0 && len(c.hits) > 0 {
		d.WriteString(c.repoTable() + "\n")
	}
	if s := c.takenAs(); s != "" && len(c.opened) > 0 {
		d.WriteString(s + "\n\n")
	}
	d.WriteString(c.pastLists())
	locations := []map[string]any{}
	for _, r := range c.read {
		locations = append(locations, map[string]any{
			"repo": r.repo, "file": r.Path, "lines": fmt.Sprintf("%d-%d", r.from, r.to), "note": r.note(),
		})
	}
	d.WriteString(scoutIs)
	return map[string]any{"summary": c.summary(), "locations": locations, "description": d.String()}
}

// unseen are sentences about what could not be looked at.
func (c *conversation) unseen() (out []string) {
	for _, f := range c.failures {
		out = append(out, f.text)
	}
	for _, o := range c.opened {
		if o.Lacks != "" {
			out = append(out, o.Name+": "+o.Lacks)
		}
	}
	return out
}

func (c *conversation) summary() string {
	switch {
	case len(c.scope()) == 0 && len(c.hits) > 0:
		return c.repoSummary()
	case len(c.scope()) == 0 && c.asked["search_repos"] > 0:
		return fmt.Sprintf("No repository was named, and GitHub's search finds none for %s. Name one as owner/repo in the question.", c.lookedFor())
	case len(c.scope()) == 0:
		return "No repository was named and there is none to start from. Name one as owner/repo in the question."
	case len(c.opened) == 0:
		return "None of the repositories could be opened, so there is nothing to search."
	case len(c.read) == 0:
		return fmt.Sprintf("Nothing in %s matches the words of this question.", c.openedNames())
	}
	first := c.read[0]
	if first.link && c.past.empty() {
		s := "The link leads to " + first.sentence()
		if len(c.links()) == 0 {
			s = "The line under review is in " + first.sentence()
		}
		if more := c.more(); len(more) > 0 && c.fit() != "poor" {
			s += " See also " + list(more) + "."
		}
		return s
	}
	if c.fit() == "poor" {
		return fmt.Sprintf("Nothing in %s matches this question well enough to be called an answer; the nearest place is %s. Other words, or an identifier, may find more.", c.openedNames(), first.title())
	}
	if !c.past.empty() {
		return c.pastSummary(first)
	}
	if len(c.opened) > 1 {
		return c.comparison()
	}
	s := "The best match is " + first.sentence()
	if c.fit() == "doubtful" {
		s = "The nearest match, which may not be what is asked, is " + first.sentence()
		if others := c.elsewhere(); len(others) > 0 {
			return s + " Others elsewhere fit about as well: " + strings.Join(others, ", ") + "."
		}
	}
	if more := c.more(); len(more) > 0 {
		s += " See also " + list(more) + "."
	}
	return s
}

// sentence is a place's title, and what its comment says of it.
func (r scoutCandidate) sentence() string {
	if d := r.doc(); d != "" {
		return r.title() + ": " + strings.TrimRight(d, ".") + "."
	}
	return r.title() + "."
}

// comparison tells of each repository by itself.
func (c *conversation) comparison() string {
	var parts, none []string
	for _, o := range c.opened {
		var here []scoutCandidate
		for _, r := range c.read {
			if r.repo == o.Repo {
				here = append(here, r)
			}
		}
		if len(here) == 0 {
			none = append(none, o.Repo)
			continue
		}
		s := "In " + o.Repo + ": " + here[0].sentence()
		for _, f := range c.found {
			if f.Repo == o.Repo && f.Fit == "doubtful" {
				s = "In " + o.Repo + ", in doubt: " + here[0].sentence()
			}
		}
		parts = append(parts, s) // what else was read stands below: a comparison is of one place each
	}
	if len(none) > 0 {
		parts = append(parts, "Nothing in "+strings.Join(none, ", ")+" matches as well.")
	}
	return strings.Join(parts, " ")
}

// nearly is the share of the first place's score from which on another one fits about as well.
const nearly = .85

// elsewhere are the places of other parts of the repository that fit about as well as the first one.
func (c *conversation) elsewhere() []string {
	var out []string
	first := c.read[0]
	for _, r := range c.read[1:] {
		if r.part() != first.part() && r.Score >= nearly*first.Score {
			out = append(out, r.title())
		}
	}
	return out
}

// more names the places beside the first one.
func (c *conversation) more() []string { return namesBeside(c.read) }

// namesBeside names the places after the first one, each once. One of the first one's name, as a declaration has apart from its
// definition, is told by its file.
func namesBeside(read []scoutCandidate) []string {
	first := read[0]
	var out []string
	for _, r := range read[1:] {
		name := r.name()
		if name == "" || r.Symbol == first.Symbol {
			name = r.Path[strings.LastIndexByte(r.Path, '/')+1:]
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// list joins names in code font.
func list(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = code(n)
	}
	return strings.Join(out, ", ")
}

// code sets a name in code font: within more backticks than it has in a row, on one line.
func code(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	longest, run := 0, 0
	for _, c := range []byte(s) {
		if run++; c != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	if longest == 0 {
		return "`" + s + "`"
	}
	fence := strings.Repeat("`", longest+1)
	return fence + " " + s + " " + fence
}

func (c *conversation) openedNames() string {
	var names []string
	for _, o := range c.opened {
		names = append(names, o.Repo)
	}
	return strings.Join(names, ", ")
}

var headingLink = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()]*\)`)

// name is the symbol, of a section of prose its heading without links and code font.
func (r scoutCandidate) name() string {
	if r.Kind != "section" {
		return r.Symbol
	}
	if s := strings.TrimSpace(strings.ReplaceAll(headingLink.ReplaceAllString(r.Symbol, "$1"), "`", "")); s != "" {
		return s
	}
	return r.Symbol
}

// title names a place in a sentence.
func (r scoutCandidate) title() string {
	name := code(r.name())
	if r.Kind != "" {
		name = "the " + r.Kind + " " + name
	}
	where := code(fmt.Sprintf("%s:%d", r.Path, max(r.from, min(r.line(), r.to))))
	switch {
	case strings.ContainsAny(r.Path, "`\n") && r.Symbol != "": // no prose can name such a path; the location does
		return name
	case strings.ContainsAny(r.Path, "`\n"):
		return "the first one below"
	case r.Symbol == "":
		return where
	}
	return name + " in " + where
}

func (r scoutCandidate) note() string {
	parts := []string{}
	if r.Symbol != "" {
		parts = append(parts, strings.TrimSpace(r.Kind+" "+r.name()))
	}
	if m := r.message(); m != "" {
		parts = append(parts, m)
	} else if d := r.doc(); d != "" {
		parts = append(parts, d)
	}
	if len(parts) == 0 && r.link {
		return "what the link leads to"
	}
	if len(parts) == 0 {
		return "matches the question's words"
	}
	return strings.Join(parts, ": ")
}

// message is what the place has to do with a message that the question quotes: it contains it, or uses the name that stands for it. Empty
// if nothing.
func (r scoutCandidate) message() string {
	for _, prefix := range []string{"uses ", "contains “"} {
		for _, why := range r.Why {
			if strings.HasPrefix(why, prefix) {
				return why
			}
		}
	}
	return ""
}

// docLines bounds how far a docstring is looked for below the declaration's first line.
const docLines = 12

// doc is the first sentence of the place's doc comment: the comment that it begins with, or, as in Python, the string that
// follows its head. Comments inside the code are none. Empty if there is none.
func (r scoutCandidate) doc() string {
	lines := strings.Split(r.body(), "\n")
	var words []string
	if cutComment.MatchString(lines[0]) {
		return "" // the read begins within a long comment, and so within a sentence
	}
	i := 0
	for ; i < len(lines); i++ {
		text, kind := comment(lines[i])
		if kind == noComment {
			break
		}
		if kind == decoration || text == "" || directive.MatchString(text) {
			if len(words) > 0 && text == "" {
				break
			}
			continue
		}
		words = append(words, text)
	}
	if len(words) == 0 {
		words = docstring(lines[i:min(len(lines), i+docLines+20)])
	}
	text := plainDoc(strings.Join(words, " "))
	if markedUp[path.Ext(r.Path)] {
		text = entity.ReplaceAllStringFunc(text, html.UnescapeString)
	}
	s := firstSentence(strings.Join(strings.Fields(text), " "))
	if name := strings.TrimRight(s, ".:()"); strings.EqualFold(name, strings.TrimRight(r.Symbol, ".:()")) {
		return "" // it only repeats the name
	}
	return s
}

var cutComment = regexp.MustCompile(`^\s*\*(?:\s|/|$)`)

var (
	docTag  = regexp.MustCompile(`\{@(?:code|link|linkplain|literal|value)\s+([^{}]*)\}`)
	docMark = regexp.MustCompile(`</?(?:p|code|b|i|em|strong|pre|tt|ul|li|br|summary|remarks|para|c|inheritdoc)\s*/?>|(?i:\{?@inheritdoc\b\}?)|(?:^|\s)[@\\](?:brief|summary)\b`)
	docSee  = regexp.MustCompile(`<(?:see|paramref|typeparamref|seealso)\s+(?:cref|name|langword)="(?:[A-Z]:)?([^"]*)"\s*/>`)
	entity  = regexp.MustCompile(`&(?:[a-zA-Z]{2,8}|#[0-9]{1,6}|#[xX][0-9a-fA-F]{1,5});`)
	legal   = regexp.MustCompile(`(?i)^(?:copyright\b|\(c\)|©|spdx-|licen[sc]ed (?:under|to)\b|this file is part of\b|the mit license\b|@license\b)`)
)

var (
	// abbreviated texts end in a word whose full stop ends no sentence.
	abbreviated = regexp.MustCompile(`(?i)\b(?:i\.e|e\.g|etc|vs|cf|resp|incl|approx|a\.k\.a)$`)
	// directive is a comment that speaks to a tool, or the mark of a script: nobody reads it to learn what the code does.
	directive = regexp.MustCompile(`^(?:-\*-|(?:vim?|ex|coding|encoding|typed|frozen_string_literal|warn_indent|shareable_constant_value)\s*[:=]|(?:eslint|tslint|jshint|jslint|prettier|istanbul|c8|v8|biome|oxlint|deno-lint)\b[- ]|` +
		`(?:rubocop|pylint|mypy|ruff|isort|yapf|fmt|phpcs|swiftlint|ktlint|detekt|scalafmt|scalastyle|checkstyle|clang-format|go|swift-format)\s*:\S?|(?:noqa|nolint|NOLINT|noinspection|nosec|shellcheck|cspell|spell-checker|swift-tools-version|type:\s*ignore|pragma|\+build)\b|@ts-|@flow|@jsx|#?(?:end)?region\b)`)
)

// markedUp are the files whose doc comments are HTML or XML, where a < is written &lt;. Elsewhere &lt; means just that.
var markedUp = map[string]bool{".java": true, ".groovy": true, ".scala": true, ".cs": true, ".vb": true, ".fs": true}

// plainDoc takes the marks of Javadoc, Doxygen and C#'s documentation comments off.
func plainDoc(s string) string {
	s = docSee.ReplaceAllString(docTag.ReplaceAllString(s, "`$1`"), "`$1`")
	return docMark.ReplaceAllString(s, " ")
}

// body is the text that was read, without the line that read_enclosing puts above it.
func (r scoutCandidate) body() string {
	if head, rest, ok := strings.Cut(r.text, "\n\n"); ok && strings.HasPrefix(head, r.Path+":") && !strings.Contains(head, "\n") {
		return rest
	}
	return r.text
}

// docstring is the text of a string that stands alone within the first lines of a body.
func docstring(lines []string) []string {
	for i, line := range lines[:min(len(lines), docLines)] {
		t := strings.TrimLeft(strings.TrimSpace(line), "rRuUbB@")
		for _, quote := range []string{`"""`, `'''`} {
			t, ok := strings.CutPrefix(t, quote)
			if !ok {
				t, ok = strings.CutPrefix(t, "moduledoc "+quote)
			}
			if !ok {
				continue
			}
			if text, _, closed := strings.Cut(t, quote); closed {
				return []string{text}
			}
			words := []string{t}
			for _, next := range lines[i+1:] {
				text, _, closed := strings.Cut(next, quote)
				if text = strings.TrimSpace(text); text == "" && strings.Join(words, "") != "" || closed {
					return append(words, text)
				}
				words = append(words, text)
			}
			return words
		}
	}
	return nil
}

// firstSentence keeps what a note has room for; what is no sentence is nothing.
func firstSentence(s string) string {
	for i := 12; i+1 < len(s); i++ {
		if s[i] == '.' && s[i+1] == ' ' && !abbreviated.MatchString(s[:i]) {
			s = s[:i+1]
			break
		}
	}
	if utf8.RuneCountInString(s) > 200 {
		s = strings.TrimRightFunc(string([]rune(s)[:200]), func(c rune) bool { return !unicode.IsSpace(c) })
		s = strings.TrimSpace(s) + " …"
	}
	if len(s) < 8 || !wordy(s) || strings.ContainsAny(s[:1], ")]},;") || strings.HasPrefix(s, "@") || legal.MatchString(s) {
		return ""
	}
	return s
}

// wordy reports whether a text is made of words, as a rule of dashes or a banner drawn in characters is not.
func wordy(s string) bool {
	letters, all := 0, 0
	for _, r := range s {
		if unicode.IsSpace(r) {
			continue
		}
		if all++; unicode.IsLetter(r) || unicode.IsMark(r) {
			letters++
		}
	}
	return letters*2 > all
}

type commentKind int

const (
	noComment  commentKind = iota
	decoration             // an attribute, an annotation, a directive: it belongs to the declaration and says nothing
	isComment
)

// comment takes the marks off a line that is a comment in one of the usual forms.
func comment(line string) (string, commentKind) {
	t := strings.TrimSpace(line)
	switch {
	case t == "":
		return "", isComment
	case strings.HasPrefix(t, "#["), strings.HasPrefix(t, "#!"), strings.HasPrefix(t, "@") && !strings.HasPrefix(t, "@doc"), strings.HasPrefix(t, "[") && strings.HasSuffix(t, "]"):
		return "", decoration
	}
	for _, d := range []string{"#include", "#define", "#if", "#endif", "#pragma", "#import"} {
		if strings.HasPrefix(t, d) {
			return "", noComment
		}
	}
	for _, mark := range []string{"///", "//!", "//", "/**", "/*!", "/*", "*/", "##", "#", "-- |", "---", "--", ";;", "%%", "{-|", "{-"} {
		if rest, ok := strings.CutPrefix(t, mark); ok {
			rest = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(rest), "*/"), "-}")
			return strings.TrimSpace(strings.TrimLeft(rest, "*|! ")), isComment
		}
	}
	if rest, ok := strings.CutPrefix(t, "*"); ok && (rest == "" || rest[0] == ' ' || rest[0] == '/') {
		return strings.TrimSpace(strings.TrimSuffix(rest, "*/")), isComment
	}
	return "", noComment
}
