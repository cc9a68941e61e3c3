package ghtool

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/tool"
)

// Limits of search_github_code.
const (
	defaultHits      = 30
	maxHits          = 100
	maxScopes        = 20 // repositories, and owners
	maxFragments     = 2  // of one file
	maxFragmentLines = 3
)

// RepoRef names a repository in a list of them.
type RepoRef struct {
	Owner string `json:"owner" jsonschema:"The owner's login."`
	Repo  string `json:"repo" jsonschema:"The repository's name."`
}

// SearchGitHubCodeArgs are the arguments of search_github_code.
type SearchGitHubCodeArgs struct {
	Pattern  string    `json:"pattern" jsonschema:"Words or literal code, at most 200 characters; no regular expressions. With spaces or punctuation it is searched for as one phrase."`
	Repos    []RepoRef `json:"repos,omitempty" jsonschema:"Only these repositories, at most 20. Default all."`
	Owners   []string  `json:"owners,omitempty" jsonschema:"Only repositories of these owners, at most 20. Default all."`
	Language string    `json:"language,omitempty" jsonschema:"Only files of this language, as GitHub names it. Default all."`
	Path     string    `json:"path,omitempty" jsonschema:"Only files below this path. Default all."`
	Limit    *int      `json:"limit,omitempty" jsonschema:"Files to show, at most 100. Default 30."`
}

func (g github) searchCode() tool.Tool {
	return tool.New(tool.Definition[SearchGitHubCodeArgs]{
		Name: "search_github_code",
		Description: "Searches code on GitHub, default branches only, in public repositories and in private ones this run may read. Ten searches a " +
			"minute are shared by all runs. Hits are not evidence: read them with read_github_file or checkout_repo + read before you cite them.",
		Effect:  tool.Read,
		Verb:    "search",
		Subject: githubCodeSubject,
		Run:     g.runSearchCode,
		Refine: func(s *jsonschema.Schema) {
			most := maxScopes
			s.Properties["repos"].MaxItems, s.Properties["owners"].MaxItems = &most, &most
			least, top := 1.0, float64(maxHits)
			s.Properties["limit"].Minimum, s.Properties["limit"].Maximum = &least, &top
		},
	})
}

func githubCodeSubject(a SearchGitHubCodeArgs) string {
	s := `github code "` + tool.OneLine(tool.Clip(a.Pattern, 80)) + `"`
	var in []string
	for _, r := range a.Repos {
		in = append(in, r.Owner+"/"+r.Repo)
	}
	for _, o := range a.Owners {
		in = append(in, o+"/*")
	}
	if len(in) > 0 {
		s += " in " + tool.OneLine(tool.Clip(strings.Join(in, ", "), 100))
	}
	return s
}

// incomplete is said of an answer whose incomplete_results is set
// (https://docs.github.com/rest/search/search#timeouts-and-incomplete-results).
const incomplete = "[GitHub's search ran out of time; the list is not complete.]"

// special is a pattern that GitHub would read as more than one word, or as a qualifier or operator.
var special = regexp.MustCompile(`[\s:"]|^-|^(?:AND|OR|NOT)$`)

// codeQuery writes the q parameter (https://docs.github.com/search-github/searching-on-github/searching-code).
func codeQuery(a SearchGitHubCodeArgs) (q, refusal string) {
	p := strings.TrimSpace(a.Pattern)
	switch {
	case p == "":
		return "", "pattern must not be empty."
	case len([]rune(p)) > 200:
		return "", "pattern must be at most 200 characters."
	case len(a.Repos) > maxScopes:
		return "", "repos must have at most 20 repositories."
	case len(a.Owners) > maxScopes:
		return "", "owners must have at most 20 names."
	}
	if special.MatchString(p) {
		p = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p) + `"`
	}
	parts := []string{p}
	for _, r := range a.Repos {
		n, err := librarian.ParseRepoName(r.Owner + "/" + r.Repo)
		if err != nil {
			return "", sentence(err.Error())
		}
		parts = append(parts, "repo:"+n.String())
	}
	for _, o := range a.Owners {
		if _, err := librarian.ParseRepoName(o + "/x"); err != nil {
			return "", fmt.Sprintf("%q is not an owner's name.", tool.Clip(o, 60))
		}
		parts = append(parts, "user:"+o) // takes organisations too
	}
	if l := qualifier(a.Language); l != "" {
		parts = append(parts, "language:"+l)
	}
	if p := qualifier(strings.Trim(a.Path, "/")); p != "" && p != "." { // the root is everything
		parts = append(parts, "path:"+p)
	}
	return strings.Join(parts, " "), ""
}

type codeItem struct {
	Path       string `json:"path"`
	URL        string `json:"html_url"`
	Repository struct {
		ID       int64  `json:"id"`
		FullName string `json:"full_name"`
		Private  bool   `json:"private"`
	} `json:"repository"`
	Matches []struct {
		Fragment string `json:"fragment"`
		Matches  []struct {
			Indices []int `json:"indices"`
		} `json:"matches"`
	} `json:"text_matches"`
}

type codeAnswer struct {
	Incomplete bool       `json:"incomplete_results"`
	Items      []codeItem `json:"items"`
}

func (g github) runSearchCode(ctx context.Context, a SearchGitHubCodeArgs) (tool.Result, error) {
	limit, no := tool.Limit(a.Limit, defaultHits, maxHits)
	if no != "" {
		return tool.Errorf("%s", no), nil
	}
	q, no := codeQuery(a)
	if no != "" {
		return tool.Errorf("%s", no), nil
	}
	found, waited, err := g.pacedSearch(ctx, url.Values{"q": {q}, "per_page": {strconv.Itoa(limit)}})
	if err != nil {
		return refusal(ctx, "search_github_code", err, "Try checkout_repo + grep, or search_code for public repositories.")
	}
	all := len(found.Items)
	items := slices.DeleteFunc(found.Items, func(it codeItem) bool {
		return !g.API.Readable(ctx, librarian.GitHubRepo(g.Host, it.Repository.ID), it.Repository.Private)
	})
	hits := make([]codeHit, len(items))
	for i, it := range items {
		hits[i] = it.hit()
	}
	var said []string
	if all == limit && len(hits) == all { // nothing is said of what may not be seen
		note := fmt.Sprintf("[%d matches limit reached. ", limit)
		if limit < maxHits {
			note += fmt.Sprintf("Use limit=%d for more, or refine the pattern.]", min(2*limit, maxHits))
		} else {
			note += "Refine the pattern.]"
		}
		said = append(said, note)
	}
	if found.Incomplete {
		said = append(said, incomplete)
	}
	if waited > time.Second {
		said = append(said, fmt.Sprintf("[Waited %d seconds for GitHub's limit of 10 code searches a minute.]", int(waited.Seconds())))
	}
	result := tool.Result{Subject: githubCodeSubject(a), Summary: hitSummary(hits), Data: tool.JSON(SearchData{Hits: hits})}
	if len(hits) == 0 {
		result.Text, result.Summary = tool.Notices("No matches. Note: only default branches and files under 384 KB are searched; checkout_repo + grep sees everything.", said...), "no hits"
		return result, nil
	}
	result.Text = tool.Notices(codeText(hits), said...)
	return result, nil
}

// pacedSearch waits for its turn and, once, for a rate limit that ends within a minute.
func (g github) pacedSearch(ctx context.Context, query url.Values) (found codeAnswer, waited time.Duration, err error) {
	for try := 0; ; try++ {
		if g.Pace != nil {
			w, err := g.Pace.Wait(ctx, g.Run)
			if err != nil {
				return found, waited, err
			}
			waited += w
		}
		err = g.getJSON(ctx, nil, "search/code", query, acceptTextMatch, &found)
		var status *statusError
		if try > 0 || !errors.As(err, &status) || status.retry == 0 || status.retry > time.Minute {
			return found, waited, err
		}
		select {
		case <-ctx.Done():
			return found, waited, ctx.Err()
		case <-time.After(status.retry):
			waited += status.retry
		}
	}
}

// hit keeps of an item what is printed: the lines of each fragment around its first match.
func (it codeItem) hit() codeHit {
	h := codeHit{Repo: it.Repository.FullName, Path: it.Path, URL: it.URL}
	for _, m := range it.Matches[:min(len(it.Matches), maxFragments)] {
		at := 0
		if len(m.Matches) > 0 && len(m.Matches[0].Indices) > 0 {
			at = max(0, m.Matches[0].Indices[0])
		}
		h.Snippets = append(h.Snippets, codeSnippet{Text: aroundMatch(m.Fragment, at)})
	}
	return h
}

// aroundMatch cuts the line at an offset, counted in characters as GitHub does, out of a fragment, with one line before and after.
func aroundMatch(fragment string, at int) string {
	lines := strings.Split(strings.Trim(fragment, "\n"), "\n")
	lead := len(fragment) - len(strings.TrimLeft(fragment, "\n"))
	line, seen := 0, lead
	for i, l := range lines {
		line = i
		if seen += len([]rune(l)) + 1; seen > at {
			break
		}
	}
	first := max(0, min(line-1, len(lines)-maxFragmentLines))
	return strings.Join(lines[first:min(len(lines), first+maxFragmentLines)], "\n")
}

func codeText(hits []codeHit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d matches across %d repos (github).\n", len(hits), repoCount(hits))
	for _, h := range hits {
		var entry strings.Builder
		fmt.Fprintf(&entry, "\n%s:%s\n", tool.OneLine(h.Repo), tool.QuotePath(h.Path))
		for i, s := range h.Snippets {
			if i > 0 {
				entry.WriteString("…\n")
			}
			entry.WriteString(numbered(s, maxFragmentLines))
		}
		if b.Len()+entry.Len() > tool.MaxBytes {
			b.WriteString("\n" + cutAtBytes)
			break
		}
		b.WriteString(entry.String())
	}
	return strings.TrimRight(b.String(), "\n")
}
