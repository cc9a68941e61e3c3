package codetool

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/codesearch"
	"github.com/librarian-app/librarian/librarian/tool"
)

// Limits of find_code, in candidates.
const (
	defaultCandidates = 10
	maxCandidates     = 50
)

// FindCodeArgs are the arguments of find_code.
type FindCodeArgs struct {
	Repo     string   `json:"repo,omitempty" jsonschema:"The checkout, as checkout_repo named it. Default: the only one there is."`
	Question string   `json:"question" jsonschema:"What to look for, in words: a question, a feature, an error message; identifiers in it help."`
	Also     []string `json:"also,omitempty" jsonschema:"Names the code may use (guessed functions, types, files), at most 20. Default none."`
	Path     string   `json:"path,omitempty" jsonschema:"Only files at or below this path. Default: the whole repository."`
	Limit    *int     `json:"limit,omitempty" jsonschema:"Candidates to show, at most 50. Default 10."`
}

func (s *Session) findCode() tool.Tool {
	return tool.New(tool.Definition[FindCodeArgs]{
		Name: "find_code",
		Description: "Ranks the functions, types and passages of a checkout by how well they fit a question, best first, without showing them. " +
			"Use it where you do not know what to grep for. Candidates are not evidence: read them before you cite them.",
		Effect:  tool.Read,
		Verb:    "find",
		Subject: s.findCodeSubject,
		Run:     s.runFindCode,
		Refine: func(schema *jsonschema.Schema) {
			atLeast(1, "limit")(schema)
			most := 20
			schema.Properties["also"].MaxItems = &most
		},
	})
}

func (s *Session) findCodeSubject(a FindCodeArgs) string {
	return `code "` + tool.OneLine(tool.Clip(strings.TrimSpace(a.Question), 80)) + `" in ` + at(s.label(a.Repo), a.Path)
}

func (s *Session) runFindCode(ctx context.Context, a FindCodeArgs) (tool.Result, error) {
	limit, no := tool.Limit(a.Limit, defaultCandidates, maxCandidates)
	switch {
	case no != "":
		return refused(no), nil
	case strings.TrimSpace(a.Question) == "":
		return tool.Errorf("question must not be empty."), nil
	case len(a.Also) > 20:
		return tool.Errorf("also must have at most 20 names."), nil
	}
	t, no, err := s.locate(ctx, a.Repo, a.Path)
	if no != "" || err != nil {
		return refused(no), err
	}
	repo := t.h.Checkout.Repo()
	index, err := s.opts.Index.Get(ctx, codesearch.Key{Store: repo.Class + " " + repo.ID, Commit: t.h.Checkout.SHA()}, source{t.h.Checkout})
	if err != nil {
		return tool.Result{}, fmt.Errorf("codetool: index %s: %w", t.h.key, err)
	}
	found, err := index.Search(ctx, codesearch.Query{Question: a.Question, Also: a.Also, PathPrefix: t.path, Limit: limit})
	if err != nil {
		return tool.Result{}, fmt.Errorf("codetool: find_code in %s: %w", t.h.key, err)
	}
	data := FindCodeData{Repo: t.h.key, SHA: t.h.Checkout.SHA(), Candidates: []Candidate{}, Confidence: found.Confidence, Fit: fit(found)}
	out := listing{limit: limit}
	for i, c := range found.Candidates {
		if !out.add(candidateLine(i+1, c)) {
			break
		}
		data.Candidates = append(data.Candidates, Candidate{Path: c.Path, Start: c.Start, End: c.End, Line: c.Line, Symbol: c.Symbol, Kind: c.Kind, Score: c.Score, Why: c.Why})
	}
	return tool.Result{Text: findCodeText(out.b.String(), out.n, found), Subject: s.findCodeSubject(a),
		Summary: tool.Count(out.n, "candidate", "candidates"), Data: tool.JSON(data)}, nil
}

// candidateLine shows one place: rank, score, path and lines, declaration, reasons.
func candidateLine(rank int, c codesearch.Candidate) string {
	line := fmt.Sprintf("%d. [%.2f] %s:%d-%d", rank, c.Score, tool.QuotePath(c.Path), c.Start, c.End)
	if c.Symbol != "" {
		name := c.Symbol
		if c.Parent != "" {
			name = c.Parent + "." + name
		}
		line += " · " + tool.OneLine(tool.Clip(c.Kind+" "+name, 200))
	}
	if len(c.Why) > 0 {
		line += " (" + tool.OneLine(tool.Clip(strings.Join(c.Why, "; "), 200)) + ")"
	}
	return line
}

func findCodeText(list string, n int, found codesearch.Results) string {
	var missing string
	if len(found.Missing) > 0 {
		words := slices.Clone(found.Missing)
		for i, w := range words {
			if near := found.Near[w]; near != "" {
				words[i] = w + " (taken for " + near + "…)"
			}
		}
		missing = "[Not in this repository: " + tool.OneLine(tool.Clip(strings.Join(words, ", "), 300)) + ".]"
	}
	if n == 0 {
		text := "No candidates found. Ask in other words, guess names in also, or use grep."
		if missing != "" {
			text = tool.Notices(text, missing)
		}
		return text
	}
	text := fmt.Sprintf("%s, best first, confidence %.2f%s. Read them before you cite them.\n\n%s", tool.Count(n, "candidate", "candidates"), found.Confidence, fitWords[fit(found)], list)
	if missing != "" {
		text = tool.Notices(text, missing)
	}
	return text
}

// What a confidence amounts to, as find_code's Data has it.
const (
	FitGood     = "good"
	FitDoubtful = "doubtful"
	FitPoor     = "poor"
)

var fitWords = map[string]string{
	FitDoubtful: " (doubtful)",
	FitPoor:     " (poor: what is asked may not be in this repository, or is called otherwise)",
}

func fit(found codesearch.Results) string {
	switch {
	case len(found.Candidates) == 0 || found.Confidence < codesearch.ConfidenceEnough:
		return FitPoor
	case found.Confidence < codesearch.ConfidenceSure:
		return FitDoubtful
	}
	return FitGood
}

// source lets codesearch read a checkout's files.
type source struct{ c *checkout.Checkout }

func (s source) Files(ctx context.Context) ([]codesearch.File, error) {
	tree, err := s.c.Tree(ctx)
	if err != nil {
		return nil, err
	}
	files := make([]codesearch.File, 0, len(tree.Entries))
	for _, e := range tree.Entries {
		if e.Kind == checkout.File || e.Kind == checkout.Exec {
			files = append(files, codesearch.File{Path: e.Path, Hash: e.OID, Size: e.Size})
		}
	}
	return files, nil
}

func (s source) Read(_ context.Context, f codesearch.File, limit int64) ([]byte, error) {
	r, err := s.c.Root().Open(f.Path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(io.LimitReader(r, limit))
}
