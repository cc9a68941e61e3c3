package model

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Bounds of a question about what is under review.
const (
	scoutNames   = 3  // names looked for
	scoutUses    = 50 // lines asked for of each
	scoutCited   = 10 // uses cited in all
	scoutContext = 20 // lines around each change: what is changed begins above it
)

// brief's parts for a question that a pull request's diff is the subject of.
type briefPull struct {
	BaseSHA string `json:"baseSha"`
}

type briefReview struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Hunk string `json:"hunk"`
}

var (
	// aboutUse are questions about who uses something.
	aboutUse = regexp.MustCompile(`(?i)\b(?:calls?|called|callers?|uses?|used|using|usages?|depends?|rel(?:y|ies)|refers?|references?|elsewhere|else)\b`)
	// pointing are the words for what is under review, and those that say nothing of what it is.
	pointing = regexp.MustCompile(`(?i)\b(?:this|these|that|those|it|its|here|changes?|changed|diff|pull|request|pr|patch|calls?|called|callers?|uses?|used|using|` +
		`usages?|depends?|rel(?:y|ies)|refers?|references?|elsewhere|else|on|by|pattern|functions?|methods?|class(?:es)?|types?|constants?|names?|lines?|same|` +
		`places?|find|show|list|all|every|everything|anything|anyone|anybody|anywhere|other|many|still|currently|now|repo)\b`)
	declares = regexp.MustCompile(`^\s*(?:\w+(?:\(\w+\))?\s+)*?(?:func|function|def|defp|fn|fun|class|struct|interface|trait|enum|type|module|object|protocol|macro_rules!|sub|#define)\s+(?:\([^)]*\)\s*)?` +
		`(?:self\.)?([A-Za-z_$][\w$]*)`)
	assigns     = regexp.MustCompile(`^\s*(?:export\s+|pub(?:lic)?\s+|static\s+|final\s+|private\s+)*(?:const\s+|let\s+|var\s+|val\s+)?([A-Za-z_$][\w$]*)\s*(?:[:\w<>\[\]*.]+\s*)?:?=[^=]`)
	declaresC   = regexp.MustCompile(`^\s*(?:[A-Za-z_][\w:<>,\[\]*&?]*\s+)+[*&]*([A-Za-z_]\w*)\s*\([^;]*$`)
	calls       = regexp.MustCompile(`([A-Za-z_$][\w$]*)\s*\(`)
	names       = regexp.MustCompile(`[A-Za-z_$][\w$]{2,}`)
	diffLine    = regexp.MustCompile(`^([ +-])(\d+): ?(.*)$`)
	noNames     = strings.Fields("if for while switch return catch elif else func function def new await typeof sizeof and not with assert print println echo throw raise import from const let var true false nil null None self this")
	notDeclared = strings.Fields("return throw raise await yield import from else elif case assert print") // what a line that declares nothing begins with
	remarkLine  = regexp.MustCompile(`^\s*(?://|#|\*|/\*|--|<!--|;)`)
)

// aboutThis reports whether the question points at what is under review and names nothing itself.
func (c *conversation) aboutThis() bool {
	review, pull := c.brief.Review, c.brief.Pull
	return (review != nil && review.Hunk != "" || pull != nil && pull.BaseSHA != "") && len(c.links()) == 0 && pointing.MatchString(c.brief.Question) &&
		len(contentWords(pointing.ReplaceAllString(aboutLinks.ReplaceAllString(c.brief.Question, " "), " "))) == 0
}

// asksUses reports whether it is asked who uses that.
func (c *conversation) asksUses() bool {
	return c.tools["grep"] && len(c.opened) > 0 && aboutUse.MatchString(c.brief.Question) && c.aboutThis()
}

// here is the place under review, for a question about it as it is.
func (c *conversation) here() (w scoutCandidate, ok bool) {
	r := c.brief.Review
	if r == nil || r.Line == 0 || len(c.opened) == 0 || strings.HasPrefix(lastLine(r.Hunk), "-") || aboutUse.MatchString(c.brief.Question) || !c.aboutThis() {
		return w, false
	}
	return scoutCandidate{repo: c.opened[0].Repo, Path: r.Path, Start: r.Line, End: r.Line, Score: 1, link: true, lined: true}, true
}

// useUses are the calls that find out who uses what is under review: the diff, where no line of it is, and a search for each name.
func (c *conversation) useUses() []use {
	repo := c.opened[0].Repo
	if c.brief.Review == nil && c.asked["git_diff"] == 0 && c.tools["git_diff"] {
		return []use{{"git_diff", map[string]any{"repo": repo, "from": c.brief.Pull.BaseSHA, "merge_base": true, "context": scoutContext}}}
	}
	if c.asked["grep"] > 0 {
		return nil
	}
	var uses []use
	for _, n := range c.changedNames() {
		uses = append(uses, use{"grep", map[string]any{"repo": repo, "pattern": `\b` + regexp.QuoteMeta(n) + `\b`, "limit": scoutUses}})
	}
	return uses
}

// changedNames are the names to look for: of the line under review, or what the pull request declares and changes.
func (c *conversation) changedNames() []string {
	if r := c.brief.Review; r != nil && r.Hunk != "" {
		return namesAt(r.Hunk)
	}
	return namesChanged(c.diff)
}

func lastLine(hunk string) string {
	hunk = strings.TrimRight(hunk, "\n")
	return hunk[strings.LastIndexByte(hunk, '\n')+1:]
}

// declared is the name that a line declares, if any; loose: an assignment counts.
func declared(line string, loose bool) string {
	if first := names.FindString(line); first != "" && slices.Contains(notDeclared, first) {
		return ""
	}
	for _, re := range []*regexp.Regexp{declares, declaresC, assigns} {
		if m := re.FindStringSubmatch(line); m != nil && (re != assigns || loose) && !slices.Contains(noNames, m[1]) {
			return m[1]
		}
	}
	return ""
}

// namesAt gives what the last line of a hunk, which a comment stands at, declares or calls, or what it is in.
func namesAt(hunk string) []string {
	line := strings.TrimLeft(lastLine(hunk), "+-")
	if n := declared(line, true); n != "" {
		return []string{n}
	}
	for _, re := range []*regexp.Regexp{calls, names} {
		for _, m := range re.FindAllStringSubmatch(line, -1) {
			if n := m[len(m)-1]; !slices.Contains(noNames, n) && len(n) > 2 {
				return []string{n}
			}
		}
	}
	lines := strings.Split(hunk, "\n")
	for _, l := range slices.Backward(lines) {
		if _, head, ok := strings.Cut(l, " @@"); ok {
			l = head
		}
		if n := declared(strings.TrimLeft(l, "+-"), false); n != "" {
			return []string{n}
		}
	}
	return nil
}

// namesChanged gives the names of what a diff, as git_diff prints it, changes: what a changed line declares, or what it is in.
func namesChanged(diff string) []string {
	var out []string
	in, depth := "", 0 // the declaration that the lines are in, and how far it is indented
	for line := range strings.SplitSeq(diff, "\n") {
		m := diffLine.FindStringSubmatch(line)
		if m == nil {
			in = ""
			continue
		}
		text := m[3]
		indent := len(text) - len(strings.TrimLeft(text, " \t"))
		blank := strings.TrimSpace(text) == ""
		name := declared(text, in == "" || indent <= depth)
		if in != "" && !blank && indent <= depth && name == "" && m[1] == " " {
			in = ""
		}
		if name != "" && (in == "" || indent <= depth) && !assigns.MatchString(text) {
			in, depth = name, indent
		}
		if m[1] == " " || blank || remarkLine.MatchString(text) {
			continue
		}
		if name == "" || in != "" && indent > depth {
			name = in
		}
		if name != "" && !slices.Contains(out, name) && len(out) < scoutNames {
			out = append(out, name)
		}
	}
	return out
}

// usage is a line that has a name which was looked for.
type usage struct {
	name, path, text string
	line             int
}

func (u usage) declares() bool { return declared(u.text, true) == u.name }

// takeUses keeps what a search for a name found.
func (c *conversation) takeUses(pattern string, p Part, matches []scoutCandidate, limited bool) {
	name := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(pattern, `\b`), `\b`), `\`, "")
	c.looked = append(c.looked, name)
	if limited {
		c.cut = append(c.cut, name)
	}
	lines := strings.Split(p.Text, "\n")
	for i, m := range matches {
		if i >= len(lines) {
			return
		}
		_, text, _ := strings.Cut(lines[i], fmt.Sprintf(":%d: ", m.Line))
		u := usage{name, m.Path, text, m.Line}
		if !remarkLine.MatchString(text) {
			c.uses = append(c.uses, u)
		}
	}
}

// usesAnswer tells who uses what is under review.
func (c *conversation) usesAnswer() map[string]any {
	if len(c.looked) == 0 {
		return map[string]any{"summary": "What this changes declares nothing that could be looked for by its name. Name a function, a type or a file in the question.",
			"locations": []map[string]any{}, "description": scoutIs}
	}
	repo := c.opened[0].Repo
	locations := []map[string]any{}
	var told []string
	for _, n := range c.looked {
		files := map[string]bool{}
		count := 0
		for _, u := range c.uses {
			if u.name != n || u.declares() {
				continue
			}
			count++
			files[u.path] = true
			if len(locations) < scoutCited {
				locations = append(locations, map[string]any{"repo": repo, "file": u.path, "lines": fmt.Sprint(u.line), "note": "uses " + code(n)})
			}
		}
		switch {
		case count == 0:
			told = append(told, code(n)+" stands nowhere but where it is declared")
		default:
			least := ""
			if slices.Contains(c.cut, n) {
				least = "at least "
			}
			told = append(told, fmt.Sprintf("%s is used in %s%s of %s", code(n), least, plural(count, "line"), plural(len(files), "file")))
		}
	}
	for _, u := range c.uses {
		if u.declares() && len(locations) < scoutCited+scoutNames {
			locations = append(locations, map[string]any{"repo": repo, "file": u.path, "lines": fmt.Sprint(u.line), "note": "declares " + code(u.name)})
		}
	}
	of := "which the pull request changes"
	if c.brief.Review != nil {
		of = "which the line under review is about"
	}
	return map[string]any{"summary": "In " + repo + ": " + strings.Join(told, "; ") + ".", "locations": locations,
		"description": fmt.Sprintf("Taken as a question about %s, %s. This is a search for the name: something else that is called alike is among it.\n\n%s", list(c.looked), of, scoutIs)}
}

func plural(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
