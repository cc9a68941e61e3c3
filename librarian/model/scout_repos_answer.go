package model

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// repoSummary says which of the repositories found fits best, and why.
func (c *conversation) repoSummary() string {
	hits := c.ranked()
	first := hits[0]
	var why []string
	words := strings.Fields(c.repoQuery())
	if in := c.says(first, words); len(in) > 0 {
		why = append(why, "what it says of itself has "+list(in))
	}
	most, newest := len(hits) > 1, len(hits) > 1
	for _, h := range hits[1:] {
		most, newest = most && h.Stars < first.Stars, newest && h.Pushed < first.Pushed
	}
	stars := "it has " + thousands(first.Stars) + " stars"
	if most {
		stars += ", the most"
	}
	if first.Stars > 0 {
		why = append(why, stars)
	}
	if first.Pushed != "" {
		push := "its last push was on " + first.Pushed
		if newest {
			push += ", the newest"
		}
		why = append(why, push)
	}
	if first.Archived {
		why = append(why, "but it is archived")
	}
	s := "No repository was named. "
	if names := c.comparedNames(); len(names) > 0 {
		s = "It is not clear which repositories are meant. "
	}
	if len(hits) == 1 {
		s += "GitHub's search finds one for " + c.lookedFor() + ": " + first.link() + "; " + strings.Join(why, "; ") + "."
	} else {
		s += "Of what GitHub's search finds for " + c.lookedFor() + ", " + first.link() + " fits best: " + strings.Join(why, "; ") + "."
	}
	return s + " To have its code searched, name it: " + code("@librarian … in "+first.Name) + "."
}

// lookedFor names what the newest searches were for.
func (c *conversation) lookedFor() string {
	if names := c.comparedNames(); len(names) > 0 {
		return list(names)
	}
	query := c.lastQuery
	if query == "" {
		query = c.repoQuery()
	}
	s := code(strings.TrimSuffix(query, " in:name"))
	if l := c.language(); l != "" && c.project() == "" {
		s += " in " + l
	}
	return s
}

// repoTable compares the repositories found.
func (c *conversation) repoTable() string {
	var b strings.Builder
	b.WriteString("| repository | stars | language | last push | what it says of itself |\n|---|---:|---|---|---|\n")
	for _, h := range c.ranked() {
		about := plainCell(h.Description)
		if readme := plainCell(c.readme[h.Name]); readme != "" && (len(about) < 30 || !strings.Contains(strings.ToLower(readme), strings.ToLower(strings.TrimRight(about, ".")))) {
			about = strings.TrimSpace(strings.TrimRight(about, ".") + ". README: " + readme)
			about = strings.TrimPrefix(about, ". ")
		} else if readme != "" {
			about = readme
		}
		var marks []string
		if h.Archived {
			marks = append(marks, "archived")
		}
		if h.Fork {
			marks = append(marks, "a fork")
		}
		if len(marks) > 0 {
			about = strings.TrimSpace("(" + strings.Join(marks, ", ") + ") " + about)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", h.link(), thousands(h.Stars), plainCell(h.Language), plainCell(h.Pushed), about)
	}
	return b.String()
}

// link is a repository's name, as a link where its page is known.
func (h repoHit) link() string {
	if !strings.HasPrefix(h.URL, "http") || strings.ContainsAny(h.URL, " ()<>|\n") {
		return code(h.Name)
	}
	return "[" + code(h.Name) + "](" + h.URL + ")"
}

// thousands writes a count with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

var cellMarks = strings.NewReplacer("|", "/", "`", "", "<", "", ">", "", "[", "", "]", "", "*", "", "\\", "", "~~", "", "@", "")

// plainCell is text of somebody's as a table's cell has it: one line, without Markdown or mentions.
func plainCell(s string) string {
	s = strings.Join(strings.Fields(cellMarks.Replace(s)), " ")
	if r := []rune(s); len(r) > repoWords {
		s = strings.TrimSpace(string(r[:repoWords])) + " …"
	}
	return s
}

var (
	readmeTitle = regexp.MustCompile(`(?is)<!--.*?-->|<h[1-6][^<>]*>.*?</h[1-6]>|&nbsp;`)
	readmeBlock = regexp.MustCompile(`(?i)</?(?:p|div|table|tr|td|br|hr|center|ul|li)\b[^<>]*>`)
	readmeTag   = regexp.MustCompile(`</?[a-zA-Z][^<>]*>`)
	readmeImage = regexp.MustCompile(`!\[[^\[\]]*\](?:\([^()]*\)|\[[^\[\]]*\])`)
	readmeLink  = regexp.MustCompile(`\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])`)
)

// readmeSentence is the first sentence of a README: what stands below its title, badges, pictures and links left out.
func readmeSentence(text string) string {
	text = readmeBlock.ReplaceAllString(readmeTitle.ReplaceAllString(text, "\n\n"), "\n\n")
	text = readmeTag.ReplaceAllString(text, " ")
	text = readmeImage.ReplaceAllString(text, " ")
	text = readmeLink.ReplaceAllString(text, "$1")
	fenced := false
	for para := range strings.SplitSeq(text, "\n\n") {
		var words []string
		for line := range strings.Lines(para) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
				fenced = !fenced
				continue
			}
			if fenced || line == "" || strings.ContainsAny(line[:1], "#=|-*[+") || strings.HasPrefix(line, "> [!") {
				words = nil
				if fenced || line == "" || strings.ContainsAny(line[:1], "#=-|") {
					continue
				}
				break
			}
			words = append(words, strings.TrimLeft(line, "> "))
		}
		s := strings.Join(words, " ")
		if len(strings.Fields(s)) >= 4 && wordy(s) {
			if s = firstSentence(s); s != "" {
				return s
			}
		}
	}
	return ""
}
