package bench

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the FTS5 yardstick

	"github.com/librarian-app/librarian/checkout/codesearch"
)

// system is one way to search a tree.
type system interface {
	// index reads the tree. size is what it takes on disk, in bytes; 0 when it keeps nothing.
	index(ctx context.Context, src codesearch.Source) (size int64, err error)
	search(ctx context.Context, question string) ([]Result, error)
	close()
}

// maxRead bounds what is read of one file, as the index does.
const maxRead = codesearch.MaxFile

// limit is how many results each system gives: ten count.
const limit = 20

// Systems are the names of what can be measured, the yardsticks first.
var Systems = []string{"grep", "bm25", "fts5", "base", "librarian"}

func newSystem(name string) (system, error) {
	switch name {
	case "grep":
		return &grepSystem{}, nil
	case "bm25":
		return &bm25System{}, nil
	case "fts5":
		return &fts5System{}, nil
	case "base":
		return &rankedSystem{weights: codesearch.BaseWeights()}, nil
	case "librarian":
		return &rankedSystem{weights: codesearch.DefaultWeights()}, nil
	}
	return nil, fmt.Errorf("bench: no system is called %q; there are %s", name, strings.Join(Systems, ", "))
}

// rankedSystem is our own search.
type rankedSystem struct {
	weights codesearch.Weights
	ix      *codesearch.Index
}

func (s *rankedSystem) index(ctx context.Context, src codesearch.Source) (size int64, err error) {
	if s.ix, err = codesearch.Build(ctx, src, codesearch.Options{}); err != nil {
		return 0, err
	}
	return s.ix.Size()
}

func (s *rankedSystem) search(ctx context.Context, question string) ([]Result, error) {
	found, err := s.ix.SearchWeighted(ctx, codesearch.Query{Question: question, Limit: limit}, &s.weights)
	var out []Result
	for _, c := range found.Candidates {
		out = append(out, Result{c.Path, c.Start, c.End})
	}
	return out, err
}

func (s *rankedSystem) close() {}

// document is one file, or one piece of a file, for the yardsticks.
type document struct {
	path       string
	start, end int
	text       []byte
}

// eachFile reads the readable files of a tree.
func eachFile(ctx context.Context, src codesearch.Source, f func(path string, text []byte) error) error {
	files, err := src.Files(ctx)
	if err != nil {
		return err
	}
	for _, e := range files {
		text, err := src.Read(ctx, e, maxRead)
		if err != nil || bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 {
			continue
		}
		if err := f(e.Path, text); err != nil {
			return err
		}
	}
	return nil
}

// grepSystem ranks files by how many different words of the question they hold, then by how often.
type grepSystem struct{ files []document }

func (s *grepSystem) index(ctx context.Context, src codesearch.Source) (int64, error) {
	return 0, eachFile(ctx, src, func(p string, text []byte) error {
		s.files = append(s.files, document{path: p, text: bytes.ToLower(text)})
		return nil
	})
}

func (s *grepSystem) search(_ context.Context, question string) ([]Result, error) {
	words := codesearch.QuestionWords(question)
	slices.Sort(words)
	words = slices.Compact(words)
	var hits []scored
	for i, f := range s.files {
		different, total := 0, 0
		for _, w := range words {
			if n := bytes.Count(f.text, []byte(w)); n > 0 {
				different++
				total += n
			}
		}
		if different > 0 {
			hits = append(hits, scored{i, float64(different) + 1 - 1/float64(1+total)})
		}
	}
	return results(hits, s.files), nil
}

func (s *grepSystem) close() {}

type scored struct {
	doc   int
	score float64
}

func results(hits []scored, docs []document) []Result {
	slices.SortFunc(hits, func(a, b scored) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return a.doc - b.doc
	})
	var out []Result
	for _, h := range hits[:min(len(hits), limit)] {
		d := docs[h.doc]
		out = append(out, Result{d.path, d.start, d.end})
	}
	return out
}

// bm25System is BM25 (k1 1.2, b 0.75) over whole files, identifiers split, words stemmed.
type bm25System struct {
	docs     []document
	lengths  []float64
	postings map[string][]scored // term → documents with counts
	average  float64
}

func (s *bm25System) index(ctx context.Context, src codesearch.Source) (int64, error) {
	s.postings = map[string][]scored{}
	err := eachFile(ctx, src, func(p string, text []byte) error {
		counts := map[string]float64{}
		stems := codesearch.Stems(string(text))
		for _, t := range stems {
			counts[t]++
		}
		for t, n := range counts {
			s.postings[t] = append(s.postings[t], scored{len(s.docs), n})
		}
		s.docs = append(s.docs, document{path: p})
		s.lengths = append(s.lengths, float64(len(stems)))
		s.average += float64(len(stems))
		return nil
	})
	s.average /= float64(max(len(s.docs), 1))
	return 0, err
}

func (s *bm25System) search(_ context.Context, question string) ([]Result, error) {
	const k1, b = 1.2, .75
	sum := map[int]float64{}
	seen := map[string]bool{}
	for _, t := range codesearch.Stems(strings.Join(codesearch.QuestionWords(question), " ")) {
		if seen[t] {
			continue
		}
		seen[t] = true
		l := s.postings[t]
		idf := math.Log(1 + (float64(len(s.docs))-float64(len(l))+.5)/(float64(len(l))+.5))
		for _, p := range l {
			sum[p.doc] += idf * p.score * (k1 + 1) / (p.score + k1*(1-b+b*s.lengths[p.doc]/s.average))
		}
	}
	var hits []scored
	for d, v := range sum {
		hits = append(hits, scored{d, v})
	}
	return results(hits, s.docs), nil
}

func (s *bm25System) close() {}

// fts5System is SQLite's FTS5 with its porter tokenizer over functions. Split identifiers are added to the text: FTS5 does not split.
type fts5System struct {
	db   *sql.DB
	docs []document
}

func (s *fts5System) index(ctx context.Context, src codesearch.Source) (size int64, err error) {
	if s.db, err = sql.Open("sqlite", ":memory:"); err != nil {
		return 0, err
	}
	s.db.SetMaxOpenConns(1)
	if _, err = s.db.ExecContext(ctx, `CREATE VIRTUAL TABLE piece USING fts5(symbol, body, content='', tokenize='porter unicode61')`); err != nil {
		return 0, err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }()
	insert, err := tx.PrepareContext(ctx, `INSERT INTO piece(rowid, symbol, body) VALUES (?, ?, ?)`)
	if err != nil {
		return 0, err
	}
	defer func() { _ = insert.Close() }()
	err = eachFile(ctx, src, func(p string, text []byte) error {
		lines := bytes.SplitAfter(text, []byte{'\n'})
		for _, c := range codesearch.Pieces(p, text) {
			body := c.Doc + " " + string(bytes.Join(lines[c.Start-1:min(c.End, len(lines))], nil))
			s.docs = append(s.docs, document{path: p, start: c.Start, end: c.End})
			if _, err := insert.ExecContext(ctx, len(s.docs), split(c.Symbol), body+" "+split(body)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if err = tx.Commit(); err != nil {
		return 0, err
	}
	var pages, pageSize int64
	if err = s.db.QueryRowContext(ctx, `SELECT page_count, page_size FROM pragma_page_count(), pragma_page_size()`).Scan(&pages, &pageSize); err != nil {
		return 0, err
	}
	return pages * pageSize, nil
}

// split gives the words of the identifiers of a text.
func split(text string) string { return strings.Join(codesearch.QuestionWords(text), " ") }

func (s *fts5System) search(ctx context.Context, question string) ([]Result, error) {
	words := codesearch.QuestionWords(question)
	if len(words) == 0 {
		return nil, nil
	}
	for i, w := range words {
		words[i] = `"` + strings.ReplaceAll(w, `"`, `""`) + `"`
	}
	rows, err := s.db.QueryContext(ctx, `SELECT rowid FROM piece WHERE piece MATCH ? ORDER BY bm25(piece, 3.0, 1.0), rowid LIMIT ?`, strings.Join(words, " OR "), limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var out []Result
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		d := s.docs[id-1]
		out = append(out, Result{d.path, d.start, d.end})
	}
	return out, rows.Err()
}

func (s *fts5System) close() {
	if s.db != nil {
		_ = s.db.Close()
	}
}

// quantile gives the q-th quantile of durations.
func quantile(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Clone(d)
	slices.Sort(d)
	return d[min(int(q*float64(len(d))), len(d)-1)]
}
