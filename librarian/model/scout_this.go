package model

import (
	"cmp"
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
	// aboutUse are questions about who uses something, and otherWay those about what it uses itself.
	aboutUse = regexp.MustCompile(`(?i)\b(?:calls?|called|callers?|uses?|used|using|usages?|depends?|rel(?:y|ies)|refers?|references?|elsewhere|else)\b`)
	otherWay = regexp.MustCompile(`(?i)\b(?:does|do|did|would|will|can)\s+(?:this|these|that|those|it|the|here)\b|\b(?:this|it)\s+(?:calls|uses|depends|relies|refers)\b`)
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
	notDeclared = strings.Fields("return throw raise await yield import from else elif case assert print new delete defer using typeof") // what a line that declares nothing begins with
	remarkLine  = regexp.MustCompile(`^\s*(?://|#|\*|/\*|--|<!--|;)`)
)

// aboutThis reports whether the question points at what is under review and names nothing itself.
func (c *conversation) aboutThis() bool {
	review, pull := c.brief.Review, c.brief.Pull
	return (review != nil && review.Hunk != "" || pull != nil && pull.BaseSHA != "") && len(c.links()) == 0 && pointing.MatchString(c.brief.Question) &&
		len(contentWords(pointing.ReplaceAllString(aboutLinks.ReplaceAllString(c.brief.Question, " "), " "))) == 0
}

// asksWho reports whether the question is who uses something, and not what that uses.
func (c *conversation) asksWho() bool {
	return aboutUse.MatchString(c.brief.Question) && !otherWay.MatchString(c.brief.Question)
}

// own is the thread's own repository, once it is open: what is under review is in that. For a name's uses it is the one that is open.
func (c *conversation) own() (repo string, ok bool) {
	if repo, ok := c.used(); ok {
		return repo, true
	}
	for _, o := range c.opened {
		if name, _, _ := strings.Cut(o.Name, "@"); strings.EqualFold(name, c.brief.Place) {
			return o.Repo, true
		}
	}
	return "", false
}

// asksUses reports whether it is asked who uses what is under review, or what the question names.
func (c *conversation) asksUses() bool {
	if _, ok := c.used(); ok {
		return c.tools["grep"] && !c.noUses()
	}
	_, ok := c.own()
	return ok && c.tools["grep"] && c.asksWho() && c.aboutThis()
}

// here is the place under review, for a question about it as it is.
func (c *conversation) here() (w scoutCandidate, ok bool) {
	r := c.brief.Review
	repo, ok := c.own()
	if !ok || r == nil || r.Line == 0 || strings.HasPrefix(lastLine(r.Hunk), "-") || c.asksWho() || !c.aboutThis() {
		return w, false
	}
	return scoutCandidate{repo: repo, Path: r.Path, Start: r.Line, End: r.Line, Score: 1, link: true, lined: true}, true
}

// hunk is the part of a diff that the question stands at; empty: it is about all of it.
func (c *conversation) hunk() string {
	if c.brief.Review == nil {
		return ""
	}
	return c.brief.Review.Hunk
}

// useUses are the calls that find out who uses what is under review: the diff, where no line of it is, and a search for each name.
func (c *conversation) useUses() []use {
	repo, _ := c.own()
	if c.namedUse() == "" && c.hunk() == "" && c.asked["git_diff"] == 0 && c.tools["git_diff"] {
		args := map[string]any{"repo": repo, "from": c.brief.Pull.BaseSHA, "merge_base": true, "context": scoutContext}
		if c.brief.Review != nil { // on a file as a whole
			args["path"] = c.brief.Review.Path
		}
		return []use{{"git_diff", args}}
	}
	if c.asked["grep"] > 0 {
		return nil
	}
	var uses []use
	all := c.changedNames()
	for _, n := range all[:min(len(all), scoutNames)] {
		pattern := wholeWord(n)
		if c.heirs() {
			pattern = inheritPattern(n) + `|\b` + declaringWord + `\s+` + pattern
		}
		uses = append(uses, use{"grep", map[string]any{"repo": repo, "pattern": pattern, "limit": scoutUses}})
	}
	return uses
}

// wholeWord is the pattern of a name; a $ in front of it ends no word.
func wholeWord(name string) string {
	if p := regexp.QuoteMeta(name) + `\b`; p[0] == '\\' {
		return p
	}
	return `\b` + name + `\b`
}

// changedNames are the names to look for: the question's, that of the line under review, or what the pull request declares and changes.
func (c *conversation) changedNames() []string {
	if n := c.namedUse(); n != "" {
		return []string{n}
	}
	if h := c.hunk(); h != "" {
		return namesAt(h)
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
	type scope struct {
		name   string
		indent int
	}
	var in []scope // the declarations that a line is in, the innermost last
	for line := range strings.SplitSeq(diff, "\n") {
		m := diffLine.FindStringSubmatch(line)
		if m == nil {
			in = in[:0]
			if head, ok := strings.CutPrefix(line, "@@ "); ok { // what the lines are in begins above them
				if name := declared(head, false); name != "" {
					in = append(in, scope{name, 0})
				}
			}
			continue
		}
		text := m[3]
		rest := strings.TrimLeft(text, " \t")
		if rest == "" {
			continue
		}
		indent := len(text) - len(rest)
		for len(in) > 0 && in[len(in)-1].indent >= indent && rest != "{" {
			in = in[:len(in)-1]
		}
		name := declared(text, len(in) == 0)
		if declared(text, false) != "" {
			in = append(in, scope{name, indent})
		} else if name == "" && len(in) > 0 {
			name = in[len(in)-1].name
		}
		if m[1] != " " && name != "" && !remarkLine.MatchString(text) && !slices.Contains(out, name) {
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

// tests is 1 for a line of a test, which is the last that who asks for uses wants to see, else 0.
func (u usage) tests() int {
	if testPath.MatchString(u.path) {
		return 1
	}
	return 0
}

var testPath = regexp.MustCompile(`(?i)(?:^|/)(?:tests?|specs?|__tests__|testdata)/|[._-](?:test|spec)\.\w+$|_(?:test|spec)\.\w+$|(?:^|/)test_[^/]+$|Tests?\.\w+$`)

// takeUses keeps what a search for a name found.
func (c *conversation) takeUses(pattern string, p Part, matches []scoutCandidate, limited bool) {
	name := strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(pattern, `\b`), `\b`), `\`)
	heirs := c.heirs()
	if heirs {
		name = c.namedUse()
	}
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
		if remarkLine.MatchString(text) || heirs && !u.inherits() && !(u.declares() && typeLine.MatchString(text)) {
			continue
		}
		c.uses = append(c.uses, u)
	}
}

// usesAnswer tells who uses what is under review.
func (c *conversation) usesAnswer() map[string]any {
	repo, _ := c.own()
	locations := []map[string]any{}
	cite := func(u usage, note string) {
		locations = append(locations, map[string]any{"repo": repo, "file": u.path, "lines": fmt.Sprint(u.line), "note": note + " " + code(u.name)})
	}
	all := c.changedNames()
	if len(c.looked) == 0 {
		why := "What this changes declares nothing that could be looked for by its name."
		switch {
		case len(all) > 0:
			why = "The uses of " + list(all[:min(len(all), scoutNames)]) + " could not be looked for."
		case c.hunk() == "" && c.diff == "":
			why = "What this changes could not be read."
		}
		return map[string]any{"summary": why + " Name a function, a type or a file in the question.", "locations": locations, "description": scoutIs}
	}
	var told []string
	heirs, uses := c.heirs(), "uses"
	if heirs {
		uses = "derives from"
	}
	slices.SortStableFunc(c.uses, func(a, b usage) int { return cmp.Compare(a.tests(), b.tests()) })
	for _, n := range c.looked {
		files, count := map[string]bool{}, 0
		for _, u := range c.uses {
			if u.name != n || u.declares() {
				continue
			}
			count++
			files[u.path] = true
			if len(locations) < scoutCited {
				cite(u, uses)
			}
		}
		least := ""
		if slices.Contains(c.cut, n) {
			least = "at least "
		}
		if heirs {
			told = append(told, fmt.Sprintf("%s of %s %s from %s", least+plural(count, "line"), plural(len(files), "file"), map[bool]string{true: "derives", false: "derive"}[count == 1], code(n)))
		} else if count == 0 {
			told = append(told, "no line was found that uses "+code(n))
		} else {
			told = append(told, fmt.Sprintf("%s is used in %s%s of %s", code(n), least, plural(count, "line"), plural(len(files), "file")))
		}
	}
	for _, u := range c.uses {
		if u.declares() && len(locations) < scoutCited+scoutNames {
			cite(u, "declares")
		}
	}
	of := "which the pull request changes"
	switch {
	case c.namedUse() != "":
		of = "which it names"
	case c.hunk() != "":
		of = "which the line under review is about"
	}
	if more := len(all) - len(c.looked); more > 0 {
		of += fmt.Sprintf(", beside %d more", more)
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
