package ghtool

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/librarian-app/librarian/librarian/tool"
)

// Limits of what a code search prints.
const (
	maxSnippets     = 2   // of one file
	maxSnippetLines = 8   // of one snippet of grep.app
	maxSnippetChars = 300 // of one line
	maxPattern      = 500 // characters of a pattern
)

// cutAtBytes ends a list that would be too long.
var cutAtBytes = "[" + tool.Size(tool.MaxBytes) + " limit reached. Refine the pattern.]"

// noMatches is what an empty search of public code says.
const noMatches = "No matches. Note: private repositories need search_github_code or checkout_repo + grep."

// SearchCodeArgs are the arguments of search_code.
type SearchCodeArgs struct {
	Pattern    string `json:"pattern" jsonschema:"Literal code as it would stand in a file, at most 500 characters; with regex a regular expression (RE2; (?s) lets . match newlines)."`
	Regex      bool   `json:"regex,omitempty" jsonschema:"Read pattern as a regular expression. Default false."`
	MatchCase  bool   `json:"match_case,omitempty" jsonschema:"Match upper and lower case exactly. Default false."`
	WholeWords bool   `json:"whole_words,omitempty" jsonschema:"Match whole words only. Default false."`
	Repo       string `json:"repo,omitempty" jsonschema:"Only repositories whose full name begins with this: owner/repo or owner/. Default all."`
	Language   string `json:"language,omitempty" jsonschema:"Only files of this language as GitHub names it (Go, TypeScript, TSX). Default all."`
	Path       string `json:"path,omitempty" jsonschema:"Only files whose path contains this. Default all."`
}

// SearchData is what the code searches give to programs.
type SearchData struct {
	Hits []codeHit `json:"hits"`
}

// SearchCode makes the tool search_code.
func SearchCode(g GrepApp) tool.Tool {
	return tool.New(tool.Definition[SearchCodeArgs]{
		Name: "search_code",
		Description: "Searches the code of public GitHub repositories through grep.app. It finds code, not words: give a call, a " +
			"declaration, an import. At most 10 files come back; read them with read_github_file or checkout_repo + read before you cite them.",
		Effect: tool.Read,
		Verb:   "search",
		Subject: func(a SearchCodeArgs) string {
			s := "code " + quotePattern(a.Pattern, a.Regex)
			if a.Repo != "" {
				s += " in " + repoScope(a.Repo)
			}
			return s
		},
		Run: func(ctx context.Context, a SearchCodeArgs) (tool.Result, error) { return searchCode(ctx, g, a) },
	})
}

func searchCode(ctx context.Context, g GrepApp, a SearchCodeArgs) (tool.Result, error) {
	switch {
	case strings.TrimSpace(a.Pattern) == "":
		return tool.Errorf("pattern must not be empty."), nil
	case len([]rune(a.Pattern)) > maxPattern:
		return tool.Errorf("pattern must be at most %d characters.", maxPattern), nil
	}
	if a.Regex {
		if _, err := regexp.Compile(a.Pattern); err != nil {
			return tool.Errorf("pattern is not a regular expression: %v. For literal code leave regex out.", err), nil
		}
	}
	q := grepQuery{Query: a.Pattern, MatchCase: a.MatchCase, WholeWords: a.WholeWords, Regexp: a.Regex, Repo: a.Repo, Path: a.Path}
	if a.Language != "" {
		q.Language = []string{a.Language}
	}
	hits, err := g.search(ctx, q)
	if err != nil {
		if ctx.Err() != nil {
			return tool.Result{}, ctx.Err()
		}
		return tool.Errorf("grep.app search failed: %s. Try search_github_code, or checkout_repo + grep.", failure(err)), nil
	}
	if len(hits) == 0 {
		return tool.Result{Text: noMatches, Summary: "no hits", Data: tool.JSON(SearchData{Hits: []codeHit{}})}, nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d matches across %d repos (grep.app).\n", len(hits), repoCount(hits))
	summary := hitSummary(hits)
	for n, h := range hits {
		var entry strings.Builder
		fmt.Fprintf(&entry, "\n%s:%s\n", tool.OneLine(h.Repo), tool.QuotePath(h.Path))
		if h.URL != "" {
			entry.WriteString(tool.OneLine(h.URL) + "\n")
		}
		for i, s := range h.Snippets[:min(len(h.Snippets), maxSnippets)] {
			if i > 0 {
				entry.WriteString("…\n")
			}
			entry.WriteString(numbered(s, maxSnippetLines))
		}
		if b.Len()+entry.Len() > tool.MaxBytes { // how much it answers is up to a third party
			b.WriteString("\n" + cutAtBytes)
			hits = hits[:n]
			break
		}
		b.WriteString(entry.String())
	}
	return tool.Result{Text: strings.TrimRight(b.String(), "\n"), Summary: summary, Data: tool.JSON(SearchData{Hits: hits})}, nil
}

// failure is an error's text without the mark that says it is final.
func failure(err error) string {
	return strings.TrimSuffix(strings.TrimSuffix(err.Error(), " ("+errFinal.Error()+")"), ".")
}

// numbered writes a snippet's first lines with their numbers where they are known.
func numbered(s codeSnippet, limit int) string {
	lines := strings.Split(strings.Trim(s.Text, "\n"), "\n")
	first := s.Line
	if first > 0 { // leading blank lines were trimmed
		first += len(s.Text) - len(strings.TrimLeft(s.Text, "\n"))
	}
	var b strings.Builder
	for i, line := range lines[:min(len(lines), limit)] {
		line = tool.OneLine(tool.Clip(strings.TrimRight(line, " \t\r"), maxSnippetChars))
		if first > 0 {
			fmt.Fprintf(&b, "%6d: %s\n", first+i, line)
		} else {
			fmt.Fprintf(&b, "        %s\n", line)
		}
	}
	return b.String()
}

func repoCount(hits []codeHit) int {
	repos := map[string]bool{}
	for _, h := range hits {
		repos[strings.ToLower(h.Repo)] = true
	}
	return len(repos)
}

func hitSummary(hits []codeHit) string {
	return tool.Count(len(hits), "hit", "hits") + " · " + tool.Count(repoCount(hits), "repo", "repos")
}

// quotePattern shows a pattern in the trace: /regular expression/ or "literal".
func quotePattern(p string, regex bool) string {
	p = tool.OneLine(tool.Clip(p, 80))
	if regex {
		return "/" + p + "/"
	}
	return `"` + p + `"`
}

// repoScope shows a repository prefix in the trace: "owner/" is owner/*.
func repoScope(s string) string {
	if strings.HasSuffix(s, "/") {
		s += "*"
	}
	return tool.OneLine(tool.Clip(s, 100))
}
