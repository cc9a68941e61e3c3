package model

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Bounds of a question about the past.
const (
	scoutLookAt = 20_000 // commits looked at
	scoutLog    = 200    // commits taken of a log
	scoutTold   = 5      // commits told of
)

const pastVerbs = `wrote|written|authored|rewr(?:ote|itten)|added|introduced|implemented|created|invented|contributed|brought in|changed|touched|edited|modified|updated|refactored|reworked|removed|deleted|dropped|deprecated|replaced|renamed|moved|fixed|switched`

var (
	// aboutHistory are questions about the past: what is done when, or by whom, is code.
	aboutHistory = regexp.MustCompile(`(?i)\bwho\s+(?:has\s+|had\s+)?(?:\w+ly\s+)?(?:last\s+|first\s+)?(?:` + pastVerbs + `)\b` +
		`|\b(?:when|why|by whom|in which (?:commit|version|release))\s+(?:was|were|has|have|had|did)\b[^?.]*\b(?:` + pastVerbs + `|add|introduce|change|remove|drop|replace|rename|move|switch|deprecate|appear(?:ed)?)\b` +
		`|\b(?:which|what) (?:commit|change|pull request|PR)s?\s+(?:\w+ly\s+)?(?:` + pastVerbs + `|broke|caused)\b|\bwhat (?:has )?changed\b|\b(?:history|authors?) of\b|\bsince when\b|\bgit blame\b`)
	aboutReason = regexp.MustCompile(`(?i)\bwhy\b`)
	aboutAuthor = regexp.MustCompile(`(?i)\b(?:wrote|written|authored|authors?|contributed|implemented|blame)\b`)
	aboutChange = regexp.MustCompile(`(?i)\b(?:chang\w+|modif\w+|updated?|touched|edited|refactored|reworked|rewr\w+|fixed|last|latest|lately|recently)\b`)
	aboutOrigin = regexp.MustCompile(`(?i)\b(?:added|add|introduc\w+|creat\w+|invented|appear(?:ed)?|first|brought in|originally|since when)\b`)
	// historyWords are what a question about the past has and its subject has not.
	historyWords = regexp.MustCompile(`(?i)(^|[\s(,])(?:who|whom|when|why|by|(?:in )?which|what|commits?|pull request|version|release|` + pastVerbs + `|broke|caused|introduce|appear(?:ed)?|last|latest|lately|recently|first|originally|history of|authors? of|since|git blame|get|got)(\s|[?,;:!)]|$)`)
)

type scoutCommit struct {
	SHA     string `json:"sha"`
	Author  string `json:"author"`
	Date    string `json:"date"`
	Subject string `json:"subject"`
	Lines   int    `json:"lines"` // of a blame: how many are its
}

// scoutCommits is what git_log gives, newest first.
type scoutCommits struct {
	Commits []scoutCommit `json:"commits"`
	Stopped bool          `json:"stopped"`
	Limited bool          `json:"limited"`
}

// scoutBlame is what git_blame gives.
type scoutBlame struct {
	Shares []scoutCommit `json:"shares"`
}

// past is what is known of the first place's history.
type past struct {
	blame scoutBlame   // of its lines
	named scoutCommits // that change how often its symbol stands in its file
	file  scoutCommits // of its file
}

func (p past) empty() bool {
	return len(p.blame.Shares) == 0 && len(p.named.Commits) == 0 && len(p.file.Commits) == 0
}

// wantsPast reports whether history is to be asked: once, of a place that is worth it.
func (c *conversation) wantsPast() bool {
	return len(c.read) > 0 && c.asked["git_log"]+c.asked["git_blame"] == 0 && c.fit() != "poor" && aboutHistory.MatchString(c.brief.Question) && len(c.pastUses()) > 0
}

// pastUses asks who wrote the first place's lines, which commits name it, and which touched its file.
func (c *conversation) pastUses() []use {
	w := c.read[0]
	var uses []use
	if c.tools["git_blame"] {
		uses = append(uses, use{"git_blame", map[string]any{"repo": w.repo, "path": w.Path, "offset": w.from, "limit": w.to - w.from + 1}})
	}
	if c.tools["git_log"] {
		log := func() map[string]any {
			return map[string]any{"repo": w.repo, "path": w.Path, "limit": scoutLog, "look_at": scoutLookAt}
		}
		if w.Symbol != "" && aboutOrigin.MatchString(c.brief.Question) {
			args := log()
			args["added"] = w.Symbol
			uses = append(uses, use{"git_log", args})
		}
		uses = append(uses, use{"git_log", log()})
	}
	return uses
}

// subject is a question about the past without the words that make it one.
func subject(question string) string {
	if !aboutHistory.MatchString(question) {
		return question
	}
	q := question
	for range 2 { // neighbours share the blank between them
		q = historyWords.ReplaceAllString(q, "$1$2")
	}
	if !strings.ContainsFunc(q, unicode.IsLetter) {
		return question
	}
	return strings.Join(strings.Fields(q), " ")
}

// pastSummary tells of the first place's history what is asked.
func (c *conversation) pastSummary(first scoutCandidate) string {
	q := c.brief.Question
	place := "The place is " + first.title() + ". "
	if c.fit() == "doubtful" {
		place = "The place, which may not be what is meant, is " + first.title() + ". "
	}
	lines := c.past.blame.Shares
	switch {
	case aboutReason.MatchString(q) || !aboutAuthor.MatchString(q) && !aboutOrigin.MatchString(q) && !aboutChange.MatchString(q):
		if about := c.about(); len(about) > 0 {
			return place + "Of the commits of its file " + told(about[:min(len(about), 2)]) + " speak most of this; their messages may say why."
		}
		if len(lines) > 0 {
			return place + "No commit of its file speaks of it by its subject; its lines were last changed in " + lines[0].told() + "."
		}
	case aboutOrigin.MatchString(q):
		if o, ok := c.origin(); ok {
			s := place + "The earliest commit found of it is " + o.told() + "."
			if c.past.named.Stopped || c.past.file.Stopped {
				s += " There is older history, which was not looked at."
			}
			return s
		}
	case aboutAuthor.MatchString(q) && len(lines) > 0:
		return place + authors(lines)
	case len(lines) > 0:
		return place + "Of its lines as they are now, the last were changed in " + lines[0].told() + "."
	}
	if f := c.past.file.Commits; len(f) > 0 {
		return place + "Its file was last changed in " + f[0].told() + "."
	}
	return place + "Its history could not be read."
}

// origin is the earliest commit that is known to be about the place: one that wrote a line that is still there, through renames of the file, one
// that named its symbol in the file, or one of the file that speaks of what is asked.
func (c *conversation) origin() (scoutCommit, bool) {
	var best scoutCommit
	for _, list := range [][]scoutCommit{c.past.named.Commits, c.past.blame.Shares, c.about()} {
		for _, x := range list {
			if best.SHA == "" || x.Date < best.Date {
				best = x
			}
		}
	}
	if f := c.past.file; best.SHA == "" && len(f.Commits) > 0 && !f.Limited {
		best = f.Commits[len(f.Commits)-1]
	}
	return best, best.SHA != ""
}

// about are the commits of the place's file, and those that wrote its lines, whose subjects share at least two words with the question, or
// the only one it has; best first, newest first among equals.
func (c *conversation) about() []scoutCommit {
	words := contentWords(subject(c.brief.Question))
	type rated struct {
		scoutCommit
		n int
	}
	var all []rated
	seen := map[string]bool{}
	for _, x := range slices.Concat(c.past.blame.Shares, c.past.named.Commits, c.past.file.Commits) {
		if seen[x.SHA] {
			continue
		}
		seen[x.SHA] = true
		n := 0
		has := contentWords(x.Subject)
		for w := range words {
			if has[w] {
				n++
			}
		}
		if n >= min(2, len(words)) && n > 0 {
			all = append(all, rated{x, n})
		}
	}
	slices.SortStableFunc(all, func(a, b rated) int {
		if a.n != b.n {
			return b.n - a.n
		}
		return strings.Compare(b.Date, a.Date)
	})
	out := make([]scoutCommit, len(all))
	for i, r := range all {
		out[i] = r.scoutCommit
	}
	return out
}

// contentWords are the words of a text that say something, without the endings that English hangs on them.
func contentWords(s string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(w) < 3 || stopWords[w] || w == "was" || w == "were" || w == "did" {
			continue
		}
		for _, end := range []string{"ing", "ed", "es", "s"} {
			if t, ok := strings.CutSuffix(w, end); ok && len(t) >= 3 {
				w = t
				break
			}
		}
		out[w] = true
	}
	return out
}

// authors tells whose a place's lines are.
func authors(shares []scoutCommit) string {
	by, all := map[string]int{}, 0
	var names []string
	for _, x := range shares {
		if by[x.Author] == 0 {
			names = append(names, x.Author)
		}
		by[x.Author] += x.Lines
		all += x.Lines
	}
	slices.SortStableFunc(names, func(a, b string) int { return by[b] - by[a] })
	oldest := shares[0]
	for _, x := range shares {
		if x.Date < oldest.Date {
			oldest = x
		}
	}
	if len(names) == 1 {
		return fmt.Sprintf("All of its %d lines are by %s; the oldest of them came with %s.", all, names[0], oldest.told())
	}
	var parts []string
	for _, n := range names[:min(len(names), 3)] {
		parts = append(parts, fmt.Sprintf("%d by %s", by[n], n))
	}
	rest := ""
	if len(names) > 3 {
		rest = fmt.Sprintf(" and the others by %d more", len(names)-3)
	}
	parts[0] = strings.Replace(parts[0], " by ", " are by ", 1)
	return fmt.Sprintf("Of its %d lines as they are now, %s%s; the oldest of them came with %s.", all, strings.Join(parts, ", "), rest, oldest.told())
}

// told names a commit in a sentence. Its subject is in code font, so that nothing in it is more than text.
func (x scoutCommit) told() string {
	s := fmt.Sprintf("`%s` by %s on %s", x.SHA[:min(len(x.SHA), 12)], x.Author, x.Date)
	if x.Subject != "" {
		s += " (" + code(x.Subject) + ")"
	}
	return s
}

func told(list []scoutCommit) string {
	parts := make([]string, len(list))
	for i, x := range list {
		parts[i] = x.told()
	}
	return strings.Join(parts, " and ")
}

// pastLists are the commits behind what the summary says.
func (c *conversation) pastLists() string {
	var d strings.Builder
	put := func(title string, list []scoutCommit) {
		if len(list) == 0 {
			return
		}
		fmt.Fprintf(&d, "%s:\n\n", title)
		for _, x := range list[:min(len(list), scoutTold)] {
			fmt.Fprintf(&d, "- `%s` %s, %s: %s\n", x.SHA[:min(len(x.SHA), 12)], x.Date, x.Author, x.Subject)
		}
		if n := len(list) - scoutTold; n > 0 {
			fmt.Fprintf(&d, "- and %d more\n", n)
		}
		d.WriteString("\n")
	}
	put("Commits that wrote the lines as they are now, newest first", c.past.blame.Shares)
	put("Commits that changed how often it is named in its file, newest first", c.past.named.Commits)
	if about := c.about(); len(about) > 0 {
		put("Commits of its file whose subjects share most words with the question", about)
	} else {
		put("Commits of its file, newest first", c.past.file.Commits)
	}
	return d.String()
}
