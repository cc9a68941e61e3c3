package githubsim

import (
	"context"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
)

const (
	maxHits       = 1000       // GitHub gives no more of any search
	maxSearchFile = 384 * 1024 // bytes; larger files are not searched, as on GitHub
)

// searchQuery is a query taken apart.
type searchQuery struct {
	terms      []string
	qualifiers map[string][]string // in lower case, without what was negated
}

// parseQuery splits at blanks, keeps quoted phrases whole and takes key:value apart.
func parseQuery(text string) searchQuery {
	q := searchQuery{qualifiers: map[string][]string{}}
	var word strings.Builder
	quoted, phrase := false, false // phrase: the word began with a quote, so it is no qualifier
	end := func() {
		w := word.String()
		word.Reset()
		key, value, isPair := strings.Cut(w, ":")
		switch {
		case w == "":
		case isPair && !phrase && key != "" && !strings.ContainsFunc(key, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }):
			q.qualifiers[strings.ToLower(key)] = append(q.qualifiers[strings.ToLower(key)], value)
		default:
			q.terms = append(q.terms, w)
		}
		phrase = false
	}
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case quoted && r == '\\':
			escaped = true
		case r == '"':
			phrase = phrase || !quoted && word.Len() == 0
			quoted = !quoted
		case unicode.IsSpace(r) && !quoted:
			end()
		default:
			word.WriteRune(r)
		}
	}
	end()
	return q
}

// inScope tells whether repo:, org: and user: let a repository in; with none of them everything is.
func (q searchQuery) inScope(r *repo) bool {
	names := append(append(slices.Clone(q.qualifiers["org"]), q.qualifiers["user"]...), q.qualifiers["repo"]...)
	if len(names) == 0 {
		return true
	}
	return slices.ContainsFunc(names, func(n string) bool {
		return strings.EqualFold(n, r.fullName()) || strings.EqualFold(n, r.owner.Login)
	})
}

// searchRepositories finds repositories whose name, description or topics hold all the words.
// https://docs.github.com/en/rest/search/search#search-repositories
func searchRepositories(c *call) (reply, error) {
	q := parseQuery(c.query.Get("q"))
	if c.query.Get("q") == "" {
		return reply{}, unprocessable("Search", "q", "missing", "q is missing")
	}
	var hits []*repo
	for _, r := range c.world.repos {
		if c.sees(c.caller, r) && q.inScope(r) && q.describes(r) {
			hits = append(hits, r)
		}
	}
	by := c.query.Get("sort")
	slices.SortFunc(hits, func(a, b *repo) int {
		switch {
		case by == "stars" && a.stars != b.stars:
			return b.stars - a.stars
		case by == "updated" && !a.updated.Equal(b.updated):
			return b.updated.Compare(a.updated)
		}
		return strings.Compare(a.fullName(), b.fullName())
	})
	if c.query.Get("order") == "asc" {
		slices.Reverse(hits)
	}
	total := len(hits)
	part, h := pageOf(c, hits[:min(total, maxHits)])
	items := []object{}
	for _, r := range part {
		o := c.repoJSON(r, &c.caller)
		o["score"] = 1.0
		items = append(items, o)
	}
	return reply{body: object{"total_count": total, "incomplete_results": false, "items": items}, header: h}, nil
}

func (q searchQuery) describes(r *repo) bool {
	text := strings.ToLower(r.fullName() + " " + r.description + " " + strings.Join(r.topics, " "))
	for _, t := range q.terms {
		if !strings.Contains(text, strings.ToLower(t)) {
			return false
		}
	}
	for _, t := range q.qualifiers["topic"] {
		if !slices.Contains(r.topics, strings.ToLower(t)) {
			return false
		}
	}
	for _, l := range q.qualifiers["language"] {
		if !strings.EqualFold(l, r.language) {
			return false
		}
	}
	for _, a := range q.qualifiers["archived"] {
		if (a == "true") != r.archived {
			return false
		}
	}
	return true
}

// extensions of the languages that language: understands here.
var extensions = map[string][]string{
	"go": {".go"}, "python": {".py"}, "javascript": {".js", ".mjs", ".cjs", ".jsx"}, "typescript": {".ts", ".tsx"}, "rust": {".rs"}, "java": {".java"},
	"c": {".c", ".h"}, "c++": {".cc", ".cpp", ".cxx", ".hpp", ".hh"}, "cpp": {".cc", ".cpp", ".cxx", ".hpp", ".hh"}, "ruby": {".rb"}, "php": {".php"},
	"c#": {".cs"}, "csharp": {".cs"}, "kotlin": {".kt"}, "shell": {".sh"}, "markdown": {".md"}, "yaml": {".yml", ".yaml"}, "json": {".json"},
}

// fits tells whether language:, extension:, filename: and path: let a file in.
func (q searchQuery) fits(file string) bool {
	for _, l := range q.qualifiers["language"] {
		if !slices.Contains(extensions[strings.ToLower(l)], strings.ToLower(path.Ext(file))) {
			return false
		}
	}
	for _, e := range q.qualifiers["extension"] {
		if !strings.EqualFold(path.Ext(file), "."+strings.TrimPrefix(e, ".")) {
			return false
		}
	}
	for _, n := range q.qualifiers["filename"] {
		if !strings.Contains(strings.ToLower(path.Base(file)), strings.ToLower(n)) {
			return false
		}
	}
	for _, p := range q.qualifiers["path"] {
		if p = strings.Trim(p, "/"); p != "" && file != p && !strings.HasPrefix(file, p+"/") {
			return false
		}
	}
	return true
}

// searchCode greps the default branches of what the caller may see: a file is a hit when every word is somewhere in it, in any
// case.
// https://docs.github.com/en/rest/search/search#search-code
func searchCode(c *call) (reply, error) {
	q := parseQuery(c.query.Get("q"))
	repos, err := c.searchable(q)
	if err != nil {
		return reply{}, err
	}
	type hit struct {
		repo repo
		file entry
	}
	var hits []hit
	for _, r := range repos {
		files, err := r.dir.grep(c.r.Context(), r.defaultBranch, q)
		if err != nil {
			return reply{}, err
		}
		for _, f := range files {
			hits = append(hits, hit{r, f})
		}
	}
	total := len(hits)
	c.mu.Lock()
	part, h := pageOf(c, hits[:min(total, maxHits)])
	c.mu.Unlock()
	items := []object{}
	for _, x := range part {
		sha, err := x.repo.dir.commit(c.r.Context(), "refs/heads/"+x.repo.defaultBranch, x.repo.defaultBranch)
		if err != nil {
			return reply{}, err
		}
		o := c.entryJSON(x.repo, x.file, sha) // a hit's addresses name the commit that was searched
		c.mu.Lock()
		o["repository"] = c.repoJSON(&x.repo, nil)
		c.mu.Unlock()
		item := object{"name": o["name"], "path": o["path"], "sha": o["sha"], "url": o["url"], "git_url": o["git_url"], "html_url": o["html_url"],
			"repository": o["repository"], "score": 1.0}
		if c.accepts("text-match") {
			text, err := x.repo.dir.blob(c.r.Context(), x.file.sha, maxSearchFile)
			if err != nil {
				return reply{}, err
			}
			item["text_matches"] = fragments(string(text), q.terms, o["url"])
		}
		items = append(items, item)
	}
	return reply{body: object{"total_count": total, "incomplete_results": false, "items": items}, header: h}, nil
}

// searchable lists the repositories that a code search may look into, by name.
func (c *call) searchable(q searchQuery) ([]repo, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.caller.kind == Anonymous {
		return nil, &apiError{status: http.StatusUnauthorized, message: "Requires authentication"}
	}
	if len(q.terms) == 0 {
		return nil, unprocessable("Search", "q", "missing", "The search must contain at least one search term.")
	}
	var list []repo
	seen := map[string]bool{}
	for _, r := range c.world.repos {
		if !c.sees(c.caller, r) || !q.inScope(r) {
			continue
		}
		seen[strings.ToLower(r.fullName())], seen[strings.ToLower(r.owner.Login)] = true, true
		if r.dir != nil && c.allow(c.caller, r, reads("contents")) == nil {
			list = append(list, *r)
		}
	}
	for _, n := range q.qualifiers["repo"] {
		if !seen[strings.ToLower(n)] {
			return nil, unprocessable("Search", "q", "invalid",
				"The listed users and repositories cannot be searched either because the resources do not exist or you do not have permission to view them.")
		}
	}
	slices.SortFunc(list, func(a, b repo) int { return strings.Compare(a.fullName(), b.fullName()) })
	return list, nil
}

// grep lists the files of a branch that hold every word.
func (g *gitDir) grep(ctx context.Context, branch string, q searchQuery) ([]entry, error) {
	sha, err := g.commit(ctx, "refs/heads/"+branch, branch)
	if err != nil {
		return nil, nil // an empty repository has no hits
	}
	args := []string{"grep", "-I", "-l", "-z", "-i", "-F", "--all-match"}
	for _, t := range q.terms {
		args = append(args, "-e", t)
	}
	out, err := g.run(ctx, 16<<20, append(args, sha)...)
	if err != nil && len(out) == 0 {
		return nil, nil // git grep says by its exit code that there is nothing
	}
	all, err := g.tree(ctx, sha, "", true)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		found[strings.TrimPrefix(name, sha+":")] = true
	}
	return slices.DeleteFunc(all, func(e entry) bool {
		return e.kind != "blob" || e.mode == "120000" || !found[e.path] || e.size > maxSearchFile || !q.fits(e.path)
	}), nil
}

// fragments gives up to two pieces of a text, three lines each, with the places of the words in UTF-16 units.
func fragments(text string, terms []string, objectURL any) []object {
	lines := strings.Split(text, "\n")
	out := []object{}
	for i := 0; i < len(lines) && len(out) < 2; i++ {
		if !slices.ContainsFunc(terms, func(t string) bool { return strings.Contains(strings.ToLower(lines[i]), strings.ToLower(t)) }) {
			continue
		}
		piece := strings.Join(lines[max(0, i-1):min(len(lines), i+2)], "\n")
		matches := []object{}
		for _, t := range terms {
			low, want := strings.ToLower(piece), strings.ToLower(t)
			for from := 0; len(low) == len(piece); { // a letter whose small form is longer would shift the places
				at := strings.Index(low[from:], want)
				if at < 0 {
					break
				}
				start := len(utf16.Encode([]rune(piece[:from+at])))
				word := piece[from+at : from+at+len(want)]
				matches = append(matches, object{"text": word, "indices": []int{start, start + len(utf16.Encode([]rune(word)))}})
				from += at + len(want)
			}
		}
		out = append(out, object{"object_url": objectURL, "object_type": "FileContent", "property": "content", "fragment": piece, "matches": matches})
		i++
	}
	return out
}
