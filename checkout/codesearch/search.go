package codesearch

import (
	"context"
	"fmt"
	"strings"
)

// Candidate is one place that may answer the question.
type Candidate struct {
	Path       string
	Start, End int    // lines, from 1, inclusive
	Line       int    // where what was found begins: Symbol's own first line, where good neighbours are shown with it
	Symbol     string // the declaration's name, "" for plain lines
	Parent     string // the declaration around it
	Kind       string // function, class, …; section, text or code where nothing is declared
	Language   string
	Score      float64  // 0…1: the share of what the question asks for that this place is known to hold
	Why        []string // short reasons, the strongest first
}

// Results are candidates, best first.
type Results struct {
	Candidates []Candidate
	Confidence float64           // 0…1: about how often the first three hold the right file when the signals look like this
	Signals    Signals           // what Confidence is made of
	Terms      []string          // the question's words that occur in the tree at all
	Missing    []string          // those that do not
	Near       map[string]string // of these, by word: the stem of one that does, a letter away, which was looked for instead
}

// Search ranks the tree's places for a question. An empty or wordless question gives no candidates and no error; the only errors are
// ctx's.
func (ix *Index) Search(ctx context.Context, q Query) (Results, error) {
	w := DefaultWeights()
	return ix.SearchWeighted(ctx, q, &w)
}

// SearchWeighted is Search with other weights, for benchmarks.
func (ix *Index) SearchWeighted(ctx context.Context, q Query, w *Weights) (Results, error) {
	if err := ctx.Err(); err != nil {
		return Results{}, fmt.Errorf("codesearch: search: %w", err)
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 10
	}
	limit = min(limit, 100)
	r := newRanking(ctx, ix, w, ix.parse(q, w), strings.Trim(q.PathPrefix, "/"))
	defer r.release()
	r.findMissing(q.Question)
	r.rank()
	res := Results{Candidates: r.list(limit)}
	for _, t := range r.asked.terms {
		if t.word == "" {
			continue
		}
		res.Terms = append(res.Terms, t.word)
	}
	res.Missing, res.Near = r.missing, r.asked.near
	res.Signals = r.signals(res)
	res.Confidence = res.Signals.confidence()
	if err := ctx.Err(); err != nil {
		return Results{}, fmt.Errorf("codesearch: search: %w", err)
	}
	return res, nil
}
