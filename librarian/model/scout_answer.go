package model

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const scoutIs = "This is a ranked code search without a language model: it shows where to look and does not reason about it."

// answer makes the arguments of provide_results from what was read.
func (c *conversation) answer() map[string]any {
	var description strings.Builder
	if len(c.failures) > 0 {
		description.WriteString("Not looked at:\n\n")
		for _, f := range c.failures {
			fmt.Fprintf(&description, "- %s\n", f)
		}
		description.WriteString("\n")
	}
	locations := []map[string]any{}
	for _, r := range c.read {
		locations = append(locations, map[string]any{
			"repo": r.repo, "file": r.Path, "lines": fmt.Sprintf("%d-%d", r.from, r.to), "note": r.note(),
		})
	}
	out := map[string]any{"summary": c.summary(), "locations": locations}
	if len(c.read) > 0 {
		description.WriteString(scoutIs)
	}
	if d := strings.TrimSpace(description.String()); d != "" {
		out["description"] = d
	}
	return out
}

func (c *conversation) summary() string {
	switch {
	case len(c.scope()) == 0:
		return "No repository was named and there is none to start from. Name one as owner/repo in the question."
	case len(c.opened) == 0:
		return "None of the repositories could be opened, so there is nothing to search."
	case len(c.read) == 0:
		return fmt.Sprintf("Nothing in %s matches the words of this question.", c.openedNames())
	}
	first := c.read[0]
	if c.confidence() < doubtful {
		return fmt.Sprintf("Nothing in %s matches this question well enough to be called an answer; the nearest place is %s. Other words, or an identifier, may find more.", c.openedNames(), first.title())
	}
	s := fmt.Sprintf("The best match is %s", first.title())
	if d := first.doc(); d != "" {
		s += ": " + strings.TrimRight(d, ".")
	}
	s += "."
	var more []string
	for _, r := range c.read[1:] {
		if r.Symbol != "" {
			more = append(more, "`"+r.Symbol+"`")
		} else {
			more = append(more, "`"+fileName(r.Path)+"`")
		}
	}
	if len(more) > 0 {
		s += " See also " + strings.Join(dedupe(more), ", ") + "."
	}
	return s
}

func (c *conversation) openedNames() string {
	var names []string
	for _, o := range c.opened {
		names = append(names, o.Repo)
	}
	return strings.Join(names, ", ")
}

// title names a place in a sentence.
func (r scoutCandidate) title() string {
	where := fmt.Sprintf("`%s:%d`", r.Path, r.from)
	if r.Symbol == "" {
		return where
	}
	if r.Kind == "" {
		return fmt.Sprintf("`%s` in %s", r.Symbol, where)
	}
	return fmt.Sprintf("the %s `%s` in %s", r.Kind, r.Symbol, where)
}

func (r scoutCandidate) note() string {
	parts := []string{}
	if r.Symbol != "" {
		parts = append(parts, strings.TrimSpace(r.Kind+" "+r.Symbol))
	}
	if d := r.doc(); d != "" {
		parts = append(parts, d)
	}
	if len(parts) == 0 {
		return "matches the question's words"
	}
	return strings.Join(parts, ": ")
}

// doc is the first sentence of the comment that the place begins with (or that follows its first line, as in Python), as
// far as it was read; empty if there is none.
func (r scoutCandidate) doc() string {
	lines := strings.Split(r.text, "\n")
	var words []string
	for i, line := range lines[:min(len(lines), 40)] {
		text, isComment := comment(line)
		if !isComment {
			if len(words) > 0 || i > 3 {
				break
			}
			continue
		}
		if text != "" {
			words = append(words, text)
		} else if len(words) > 0 {
			break
		}
	}
	s := strings.Join(words, " ")
	s = strings.Join(strings.Fields(s), " ")
	if i := sentenceEnd(s); i > 0 {
		s = s[:i]
	}
	if utf8.RuneCountInString(s) > 200 {
		r := []rune(s)[:200]
		s = strings.TrimRightFunc(string(r), func(c rune) bool { return !unicode.IsSpace(c) })
		s = strings.TrimSpace(s) + " …"
	}
	if len(s) < 8 || !strings.ContainsFunc(s, unicode.IsLetter) || strings.HasPrefix(s, "@") {
		return ""
	}
	return s
}

// comment takes the marks off a line that is a comment in one of the usual forms.
func comment(line string) (string, bool) {
	t := strings.TrimSpace(line)
	for _, mark := range []string{"///", "//!", "//", "/**", "/*", "*/", "##", "#", "--", `"""`, "'''", ";;", "%%", "{-", "-- |"} {
		if rest, ok := strings.CutPrefix(t, mark); ok {
			if mark == "#" && (strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, "!") || strings.HasPrefix(rest, "include") || strings.HasPrefix(rest, "define") || strings.HasPrefix(rest, "if")) {
				return "", false // an attribute or a directive
			}
			rest = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(rest), "*/"), `"""`)
			return strings.TrimSpace(strings.TrimLeft(rest, "*|! ")), true
		}
	}
	if rest, ok := strings.CutPrefix(t, "*"); ok && (rest == "" || rest[0] == ' ' || rest[0] == '/') {
		return strings.TrimSpace(strings.TrimSuffix(rest, "*/")), true
	}
	return "", false
}

func sentenceEnd(s string) int {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '.' && s[i+1] == ' ' && i > 12 {
			return i + 1
		}
	}
	return 0
}

func fileName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func dedupe(in []string) []string {
	var out []string
	for _, s := range in {
		if len(out) == 0 || out[len(out)-1] != s {
			out = append(out, s)
		}
	}
	return out
}
