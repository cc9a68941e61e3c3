package model

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Bounds of what is told of repositories that a search finds.
const (
	repoRows    = 5   // repositories compared
	repoReadmes = 3   // of them, the READMEs read
	readmeLines = 80  // of a README
	repoWords   = 160 // characters of what one says of itself
	repoNames   = 3   // bare names of a comparison that are looked for
)

// farMost is how many times the stars of the next repository of the same name one has that is meant by the bare name; known is how
// many it has at least where the name may be a word of the thread's own code: there is a repository called like any word.
const (
	farMost = 5
	known   = 100
)

// repoHit is a repository as search_repos gives it to programs.
type repoHit struct {
	Name        string   `json:"name"`
	URL         string   `json:"url"`
	Description string   `json:"description"`
	Language    string   `json:"language"`
	Stars       int      `json:"stars"`
	Pushed      string   `json:"pushed"` // a day, or empty
	Archived    bool     `json:"archived"`
	Fork        bool     `json:"fork"`
	Topics      []string `json:"topics"`
}

type scoutRepoSearch struct {
	Repos []string  `json:"repos"`
	Found []repoHit `json:"found"`
}

func (h repoHit) called(name string) bool {
	return strings.EqualFold(h.Name[strings.LastIndexByte(h.Name, '/')+1:], name)
}

// takeRepos keeps what a search for repositories found. A repository that two searches find is one.
func (c *conversation) takeRepos(query string, data json.RawMessage) {
	var d scoutRepoSearch
	if json.Unmarshal(data, &d) != nil {
		return
	}
	c.searched[query] = d.Found
	for _, r := range d.Repos {
		if !slices.Contains(c.repos, r) {
			c.repos = append(c.repos, r)
		}
	}
	for _, h := range d.Found {
		if !slices.ContainsFunc(c.hits, func(o repoHit) bool { return o.Name == h.Name }) {
			c.hits = append(c.hits, h)
		}
	}
}

// repoSearches are the searches for repositories that a question needs: one, or one for each bare name of a comparison.
func (c *conversation) repoSearches() []use {
	var uses []use
	for _, name := range c.comparedNames() {
		if c.inScope(name) == "" {
			uses = append(uses, use{"search_repos", map[string]any{"query": name + " in:name", "limit": repoRows}})
		}
	}
	if q := c.repoQuery(); len(uses) == 0 && q != "" {
		args := map[string]any{"query": q, "limit": repoRows}
		if l := c.language(); l != "" && len(c.project()) == 0 {
			args["language"] = l
		}
		uses = append(uses, use{"search_repos", args})
	}
	return uses
}

// again is the search for fewer words, where all of a question's together find nothing: GitHub's search wants every one.
func (c *conversation) again() []use {
	words := strings.Fields(c.repoQuery())
	if c.asked["search_repos"] != 1 || len(c.repos) > 0 || len(words) == 0 || c.project() != "" || len(c.comparedNames()) > 0 || len(c.scope()) > 0 {
		return nil
	}
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	words = words[:(len(words)+1)/2]
	for i, w := range words {
		words[i] = strings.TrimSuffix(w, "s") // it may find whole words only
	}
	args := map[string]any{"query": strings.Join(words, " "), "limit": repoRows}
	if l := c.language(); l != "" {
		args["language"] = l
	}
	return []use{{"search_repos", args}}
}

// readmes are the reads of what the first repositories say of themselves.
func (c *conversation) readmes() []use {
	if len(c.scope()) > 0 || len(c.hits) == 0 || c.asked["read_github_file"] > 0 || !c.tools["read_github_file"] {
		return nil
	}
	var uses []use
	for _, h := range c.ranked()[:min(len(c.hits), repoReadmes)] {
		if owner, name, ok := strings.Cut(h.Name, "/"); ok {
			uses = append(uses, use{"read_github_file", map[string]any{"owner": owner, "repo": name, "path": "README.md", "limit": readmeLines}})
		}
	}
	return uses
}

var (
	// compared are the forms in which a question names two projects: the words before and after "and" are names where a sentence has its
	// subject, or nothing but the two.
	compared = regexp.MustCompile(`(?i)\bcompar(?:e|ing|ison of)\s+(?:how\s+)?(NAME)\s+(?:and|with|to|against|vs\.?|versus)\s+(?:how\s+)?(NAME)|\b(NAME)\s+(?:vs\.?|versus)\s+(NAME)|` +
		`\bdifferences?\s+between\s+(?:how\s+)?(NAME)\s+and\s+(NAME)|\bhow\s+(?:do|does)\s+(NAME)\s+and\s+(NAME)\s+(?:each\s+|both\s+)?[a-z]`)
	comparedForms = regexp.MustCompile(strings.ReplaceAll(compared.String(), "NAME", "[`\"]?[a-z][\\w.-]*\\w[`\"]?"))
	// passive is what a thing of the code has behind it, and no project.
	passive = regexp.MustCompile(`(?i)^\s+(?:is|are|was|were|get|gets|in|of|from|for)\b`)
)

// comparedNames are the bare names of projects that a question compares.
func (c *conversation) comparedNames() []string {
	q := c.brief.Question
	if len(c.brief.Repos) > 1 {
		return nil
	}
	m := comparedForms.FindStringSubmatchIndex(q)
	if m == nil || c.brief.Place != "" && passive.MatchString(q[m[1]:]) {
		return nil
	}
	var names []string
	for i := 2; i+1 < len(m); i += 2 {
		if m[i] < 0 {
			continue
		}
		w := strings.ToLower(strings.Trim(q[m[i]:m[i+1]], "`\""))
		after := q[m[i+1]:]
		if stopWords[w] || len(w) > maxProject || strings.HasPrefix(after, "/") || m[i] > 0 && q[m[i]-1] == '/' {
			return nil // a name with its owner is no bare one, and "how" and "the" are none
		}
		if len(names) < repoNames && !slices.Contains(names, w) {
			names = append(names, w)
		}
	}
	if len(names) < 2 {
		return nil
	}
	return names
}

// inScope is the repository that was named with its owner, or the thread's own, of this name.
func (c *conversation) inScope(name string) string {
	for _, r := range append(slices.Clone(c.brief.Repos), c.brief.Place) {
		if r != "" && (repoHit{Name: r}).called(name) {
			return r
		}
	}
	return ""
}

// taken is the repository that a bare name means: the one of exactly this name with by far the most stars. None where several may be meant.
func (c *conversation) taken(name string) (repoHit, bool) {
	var best repoHit
	next := 0
	for _, h := range c.searched[name+" in:name"] {
		switch {
		case !h.called(name) || h.Fork:
		case h.Stars > best.Stars || best.Name == "":
			if best.Name != "" {
				next = max(best.Stars, 1)
			}
			best = h
		default:
			next = max(next, h.Stars, 1)
		}
	}
	alone := next == 0 && c.brief.Place == ""
	return best, best.Name != "" && (alone || best.Stars >= known && best.Stars >= farMost*next)
}

// comparedRepos are the repositories of a comparison by bare names, if every name means one.
func (c *conversation) comparedRepos() []string {
	var out []string
	for _, name := range c.comparedNames() {
		if r := c.inScope(name); r != "" {
			out = append(out, r)
			continue
		}
		h, ok := c.taken(name)
		if !ok {
			return nil
		}
		out = append(out, h.Name)
	}
	return out
}

// comparing are the words that say no more than that two things are to be compared.
var comparing = regexp.MustCompile(`(?i)\b(?:compar(?:e|ing|ison of)|vs\b\.?|versus|differences?\s+between)`)

// withoutNames is a question about a comparison without the projects' names, which stand nowhere in their code for what is asked.
func (c *conversation) withoutNames(q string) string {
	if len(c.comparedRepos()) == 0 {
		return q
	}
	for _, name := range c.comparedNames() {
		q = regexp.MustCompile(`(?i)(^|[^\w./-])`+regexp.QuoteMeta(name)+`([^\w/-]|$)`).ReplaceAllString(q, "$1$2")
	}
	return comparing.ReplaceAllString(q, "")
}

// takenAs says which repositories bare names were taken for.
func (c *conversation) takenAs() string {
	if len(c.comparedRepos()) == 0 {
		return ""
	}
	var parts []string
	for _, name := range c.comparedNames() {
		if h, ok := c.taken(name); ok && c.inScope(name) == "" {
			s := code(name) + " was taken for " + h.link()
			if h.Stars > 0 {
				s += " (" + thousands(h.Stars) + " stars)"
			}
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + ": of that name, it has by far the most stars, or is the only one."
}

// languages are those that a question may ask for, as GitHub names them.
var languages = map[string]string{
	"c++": "C++", "c#": "C#", "clojure": "Clojure", "dart": "Dart", "elixir": "Elixir", "erlang": "Erlang", "go": "Go", "golang": "Go", "haskell": "Haskell",
	"java": "Java", "javascript": "JavaScript", "julia": "Julia", "kotlin": "Kotlin", "lua": "Lua", "ocaml": "OCaml", "perl": "Perl", "php": "PHP",
	"python": "Python", "ruby": "Ruby", "rust": "Rust", "scala": "Scala", "swift": "Swift", "typescript": "TypeScript", "zig": "Zig",
}

var languageNamed = regexp.MustCompile(`(?i)\b(?:in|for|with|using)\s+([a-z]+(?:\+\+|#)?)|\b([a-z]+(?:\+\+|#)?)\s+(?:librar|framework|package|module|crate|gem|project|implementation|code)`)

// language is the programming language that the question asks for.
func (c *conversation) language() string {
	for _, m := range languageNamed.FindAllStringSubmatch(c.brief.Question, -1) {
		if l := languages[strings.ToLower(m[1]+m[2])]; l != "" {
			return l
		}
	}
	return ""
}

// says are those of the words that a repository has in what is known of it.
func (c *conversation) says(h repoHit, words []string) (in []string) {
	text := strings.ToLower(h.Name + " " + h.Description + " " + strings.Join(h.Topics, " ") + " " + c.readme[h.Name])
	for _, w := range words {
		if strings.Contains(text, strings.TrimSuffix(w, "s")) {
			in = append(in, w)
		}
	}
	return in
}

// stale is how long before the newest of the others the last push was that makes a repository look left.
const stale = 2 * 365 * 24 * time.Hour

// left reports whether a repository has not been worked on for long, or is archived.
func (c *conversation) left(h repoHit) bool {
	newest := ""
	for _, o := range c.hits {
		newest = max(newest, o.Pushed)
	}
	a, err := time.Parse(time.DateOnly, h.Pushed)
	b, err2 := time.Parse(time.DateOnly, newest)
	return h.Archived || err == nil && err2 == nil && b.Sub(a) > stale
}

// ranked are the repositories by how well they fit: what they say of the question's words, then stars; what is left, a fork or an archive
// counts less.
func (c *conversation) ranked() []repoHit {
	words := strings.Fields(c.repoQuery())
	fit := func(h repoHit) float64 {
		s := math.Log10(float64(h.Stars + 1))
		if len(words) > 0 {
			s += 3 * float64(len(c.says(h, words))) / float64(len(words))
		}
		if c.left(h) {
			s--
		}
		if h.Fork {
			s--
		}
		return s
	}
	out := slices.Clone(c.hits)
	slices.SortStableFunc(out, func(a, b repoHit) int {
		switch x, y := fit(a), fit(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return out[:min(len(out), repoRows)]
}

// stopWords say nothing about what a repository is for.
var stopWords = map[string]bool{
	"the": true, "and": true, "for": true, "what": true, "which": true, "how": true, "does": true, "that": true, "this": true, "with": true, "are": true,
	"can": true, "where": true, "when": true, "who": true, "why": true, "there": true, "best": true, "good": true, "use": true, "should": true,
	"library": true, "libraries": true, "repository": true, "repositories": true, "project": true, "projects": true, "code": true, "any": true,
	"implement": true, "implements": true, "implementation": true, "from": true, "into": true, "not": true, "has": true, "have": true, "you": true,
}
