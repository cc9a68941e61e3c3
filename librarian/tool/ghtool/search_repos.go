package ghtool

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/librarian-app/librarian/librarian"
	"github.com/librarian-app/librarian/librarian/tool"
)

// SearchReposArgs are the arguments of search_repos.
type SearchReposArgs struct {
	Query    string `json:"query" jsonschema:"Words to find in names, descriptions and topics; GitHub's qualifiers are allowed (org:acme, stars:>100, in:readme). At most 256 characters."`
	Language string `json:"language,omitempty" jsonschema:"Only repositories mainly in this language, as GitHub names it. Default all."`
	Topic    string `json:"topic,omitempty" jsonschema:"Only repositories with this topic. Default all."`
	Sort     string `json:"sort,omitempty" jsonschema:"The order: stars, updated or best-match. Default stars."`
	Limit    *int   `json:"limit,omitempty" jsonschema:"Repositories to show, at most 50. Default 10."`
}

// repoHit is the part of a repository that a search needs.
type repoHit struct {
	ID          int64    `json:"id"`
	FullName    string   `json:"full_name"`
	URL         string   `json:"html_url"`
	Description string   `json:"description"`
	Language    string   `json:"language"`
	Stars       int      `json:"stargazers_count"`
	PushedAt    string   `json:"pushed_at"`
	Private     bool     `json:"private"`
	Archived    bool     `json:"archived"`
	Fork        bool     `json:"fork"`
	Topics      []string `json:"topics"`
}

// ReposData is what search_repos gives to programs.
type ReposData struct {
	Repos []string    `json:"repos"` // full names, in the order shown
	Found []FoundRepo `json:"found"` // the same, with what is shown of them
}

// FoundRepo is a repository that a search found.
type FoundRepo struct {
	Name        string   `json:"name"` // owner/name
	URL         string   `json:"url"`  // its page
	Description string   `json:"description,omitempty"`
	Language    string   `json:"language,omitempty"`
	Stars       int      `json:"stars"`
	Pushed      string   `json:"pushed,omitempty"` // the day of the last push, as 2006-01-02
	Archived    bool     `json:"archived,omitempty"`
	Fork        bool     `json:"fork,omitempty"`
	Topics      []string `json:"topics,omitempty"`
}

func (g github) searchRepos() tool.Tool {
	return tool.New(tool.Definition[SearchReposArgs]{
		Name:        "search_repos",
		Description: "Finds repositories on GitHub by name, description and topic. Use it to resolve an uncertain name before checkout_repo.",
		Effect:      tool.Read,
		Verb:        "search",
		Subject:     reposSubject,
		Run:         g.runSearchRepos,
		Refine: func(s *jsonschema.Schema) {
			s.Properties["sort"].Enum = []any{"stars", "updated", "best-match"}
			least, most := 1.0, 50.0
			s.Properties["limit"].Minimum, s.Properties["limit"].Maximum = &least, &most
		},
	})
}

func reposSubject(a SearchReposArgs) string {
	parts := []string{`repos "` + tool.OneLine(tool.Clip(a.Query, 80)) + `"`}
	for _, q := range []string{a.Language, a.Topic} {
		if q != "" {
			parts = append(parts, tool.OneLine(tool.Clip(q, 40)))
		}
	}
	return strings.Join(parts, " ")
}

func (g github) runSearchRepos(ctx context.Context, a SearchReposArgs) (tool.Result, error) {
	limit, no := tool.Limit(a.Limit, 10, 50)
	sort := a.Sort
	switch {
	case no != "":
		return tool.Errorf("%s", no), nil
	case strings.TrimSpace(a.Query) == "" && a.Language == "" && a.Topic == "":
		return tool.Errorf("query must not be empty."), nil
	case utf8.RuneCountInString(a.Query) > 256: // GitHub's own limit
		return tool.Errorf("query must be at most 256 characters."), nil
	case sort == "":
		sort = "stars"
	case !slices.Contains([]string{"stars", "updated", "best-match"}, sort):
		return tool.Errorf("sort must be stars, updated or best-match."), nil
	}
	q := strings.TrimSpace(a.Query)
	if a.Language != "" {
		q += " language:" + qualifier(a.Language)
	}
	if a.Topic != "" {
		q += " topic:" + qualifier(a.Topic)
	}
	query := url.Values{"q": {strings.TrimSpace(q)}, "per_page": {strconv.Itoa(limit)}}
	if sort != "best-match" {
		query.Set("sort", sort)
		query.Set("order", "desc")
	}
	var found struct {
		Total      int       `json:"total_count"`
		Incomplete bool      `json:"incomplete_results"`
		Items      []repoHit `json:"items"`
	}
	if err := g.getJSON(ctx, nil, "search/repositories", query, acceptJSON, &found); err != nil {
		return refusal(ctx, "search_repos", err, "Try again with fewer qualifiers, or name the repository for checkout_repo.")
	}
	shown := slices.DeleteFunc(found.Items, func(r repoHit) bool {
		return !g.API.Readable(ctx, librarian.GitHubRepo(g.Host, r.ID), r.Private)
	})
	total := found.Total
	if len(shown) < len(found.Items) { // a count would tell of what may not be seen
		total = len(shown)
	}
	data := ReposData{Repos: []string{}, Found: []FoundRepo{}}
	var b strings.Builder
	fmt.Fprintf(&b, "%d repositories match; showing %d.\n", total, len(shown))
	for _, r := range shown {
		b.WriteString("\n" + r.text())
		data.Repos = append(data.Repos, r.FullName)
		data.Found = append(data.Found, FoundRepo{r.FullName, r.URL, tool.OneLine(tool.Clip(r.Description, 300)), r.Language, r.Stars, r.PushedAt[:min(len(r.PushedAt), len("2006-01-02"))], r.Archived, r.Fork, r.Topics})
	}
	var said []string
	if found.Incomplete {
		said = append(said, incomplete)
	}
	return tool.Result{Text: tool.Notices(strings.TrimRight(b.String(), "\n"), said...), Subject: reposSubject(a),
		Summary: tool.Count(len(shown), "repo", "repos"), Data: tool.JSON(data)}, nil
}

// text is a hit in two or three lines.
func (r repoHit) text() string {
	facts := []string{"★" + strconv.Itoa(r.Stars)}
	if r.Language != "" {
		facts = append(facts, tool.OneLine(r.Language))
	}
	if len(r.PushedAt) >= 10 {
		facts = append(facts, "pushed "+tool.OneLine(r.PushedAt[:10]))
	}
	if r.Archived {
		facts = append(facts, "ARCHIVED")
	}
	if r.Fork {
		facts = append(facts, "fork")
	}
	s := fmt.Sprintf("%s (%s)\n", tool.OneLine(r.FullName), strings.Join(facts, " · "))
	if d := strings.TrimSpace(r.Description); d != "" {
		s += tool.OneLine(tool.Clip(d, 300)) + "\n"
	}
	if len(r.Topics) > 0 {
		s += "topics: " + tool.OneLine(tool.Clip(strings.Join(r.Topics, ", "), 300)) + "\n"
	}
	return s
}

// qualifier writes the value of a search qualifier, quoted where it has spaces. A quote in it is dropped: GitHub has no
// way to write one there.
func qualifier(s string) string {
	s = strings.TrimSpace(strings.ReplaceAll(tool.OneLine(s), `"`, ""))
	if strings.ContainsAny(s, " \t") {
		return `"` + s + `"`
	}
	return s
}
