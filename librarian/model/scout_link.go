package model

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxLinks is how many links of a question are followed.
const maxLinks = 2

// fileLink is a link to a file of a repository, or to lines of it, as GitHub's pages give it.
var fileLink = regexp.MustCompile(`https?://[^\s/()<>]+/([\w.-]+/[\w.-]+)/(?:blob|blame|raw)/([^\s/?#()<>]+)/([^\s?#<>)\]"'` + "`" + `]+)(?:\?[^\s#<>)]*)?(?:#L(\d{1,7})(?:C\d+)?(?:-L?(\d{1,7})(?:C\d+)?)?)?`)

type link struct {
	whole, repo, path string
	from, to          int // 0: the file
}

func (c *conversation) links() []link {
	var out []link
	for _, m := range fileLink.FindAllStringSubmatch(c.brief.Question, maxLinks) {
		l := link{whole: m[0], repo: m[1], path: strings.TrimRight(m[3], ".,;:!")}
		if p, err := url.PathUnescape(l.path); err == nil {
			l.path = p
		}
		l.from, _ = strconv.Atoi(m[4])
		l.to, _ = strconv.Atoi(m[5])
		if l.to == 0 {
			l.to = l.from
		}
		l.from, l.to = min(l.from, l.to), max(l.from, l.to)
		out = append(out, l)
	}
	return out
}

// linkOr is how a repository of the scope is opened: by the question's link into it, which names a commit or a branch.
func (c *conversation) linkOr(repo string) string {
	for _, l := range c.links() {
		if strings.EqualFold(l.repo, repo) {
			return l.whole
		}
	}
	return repo
}

// linked are the places that the question links to, in the repositories that are open, or the one that it stands at in a review.
func (c *conversation) linked() []scoutCandidate {
	if w, ok := c.here(); ok {
		return []scoutCandidate{w}
	}
	var out []scoutCandidate
	for _, l := range c.links() {
		for _, o := range c.opened {
			name, _, _ := strings.Cut(o.Name, "@")
			if !strings.EqualFold(name, l.repo) {
				continue
			}
			w := scoutCandidate{repo: o.Repo, Path: l.path, Start: max(l.from, 1), End: max(l.to, 1), Score: 1, link: true, lined: l.from > 0}
			if l.from == 0 {
				w.End = scoutWindow
			}
			out = append(out, w)
		}
	}
	return out
}

// readsLinkOnly reports whether what the question links to is all that it is about, and nothing went wrong reading it.
func (c *conversation) readsLinkOnly() bool {
	if _, ok := c.here(); ok && c.linksTried() == 0 {
		return true
	}
	return len(c.linked()) > 0 && len(contentWords(aboutLinks.ReplaceAllString(c.withoutLinks(), " "))) == 0 && !(c.linksTried() > 0 && len(c.read) == 0)
}

// aboutLinks are what a question that is a link has beside it.
var aboutLinks = regexp.MustCompile(`(?i)\b(?:here|lines?|explain|function|method|class|file|do|doing|work|works|mean|means|please|happens?|tell|me|about|is|it|purpose|its)\b`)

// linksTried is how many links were to be read, once they were.
func (c *conversation) linksTried() int {
	n := len(c.linked())
	if c.asked["read"]+c.asked["read_enclosing"] < n || n == 0 {
		return 0
	}
	return n
}

// withoutLinks is the question with its links to files taken out; a link into what is not open says path and line, which may be found
// elsewhere too.
func (c *conversation) withoutLinks() string {
	q := c.brief.Question
	for _, l := range c.links() {
		as := l.path
		if l.from > 0 {
			as += ":" + strconv.Itoa(l.from)
		}
		for _, w := range c.linked() {
			if w.Path == l.path {
				as = ""
			}
		}
		q = strings.ReplaceAll(q, l.whole, as)
	}
	return q
}

// maxStyled is for how many names of a question other spellings are guessed.
const maxStyled = 6

var styledName = regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b|\b[A-Za-z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b`)

// otherStyles are the names of a question as other languages spell them: find_code for findCode, and the other way round.
func otherStyles(question string) []string {
	out := []string{}
	for _, m := range styledName.FindAllString(question, maxStyled) {
		var words []string
		from := 0
		for i, r := range m {
			if r == '_' || unicode.IsUpper(r) && i > 0 {
				words = append(words, m[from:i])
				from = i
				if r == '_' {
					from++
				}
			}
		}
		words = append(words, m[from:])
		words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
		var snake, camel []string
		for i, w := range words {
			w = strings.ToLower(w)
			snake = append(snake, w)
			if i > 0 {
				w = strings.ToUpper(w[:1]) + w[1:]
			}
			camel = append(camel, w)
		}
		for _, v := range []string{strings.Join(snake, "_"), strings.Join(camel, "")} {
			if v != m && !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	return out
}
