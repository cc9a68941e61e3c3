package codesearch

import (
	"math"
	"slices"
)

// Signals are what the confidence of an answer is judged by.
type Signals struct {
	Coverage float64 // 0…1: the share of the question's words, by weight, that the first candidate's chunk has
	Path     float64 // 0…1: the same for words in the first candidate's path or symbol
	File     float64 // 0…1: the same for its whole file, synonyms included
	Score    float64 // 0…1: the first candidate's Score
	Missing  float64 // 0…1: the share of the question's words, by weight, that the tree does not have at all
	Words    int     // how many words the question has that say something
	Exact    bool    // the question names the first candidate: its symbol, its path, or quoted text in it
}

// ConfidenceEnough is the Confidence from which on the first places are worth showing as an answer; below it they are leads at best.
// testdata/README.md shows what other thresholds would cost.
const ConfidenceEnough = .3

// confidence is a logistic regression over questions put to the right repository (right when the right file was among the first three)
// and to wrong ones (never right); see testdata/README.md for the questions and what the thresholds cost.
func (s Signals) confidence() float64 {
	if s.Words == 0 && !s.Exact {
		return 0
	}
	z := confidenceBias + confidenceCoverage*s.Coverage + confidencePath*s.Path + confidenceFile*s.File + confidenceScore*s.Score
	if s.Exact {
		z += confidenceExact
	}
	return math.Round(1000/(1+math.Exp(-z))) / 1000
}

const (
	confidenceBias     = -3.66
	confidenceCoverage = 1.6
	confidencePath     = 1.7
	confidenceFile     = 3.0
	confidenceScore    = 1.5
	confidenceExact    = 1.5
)

// missingIDF is what a word weighs that stands nowhere in the tree, as a share of the weight of a word that stands in one chunk. It may
// be the asker's word for something that the tree calls otherwise.
const missingIDF = .5

// meaning turns a score into 0…1: the share of what the question asks for that the chunk is known to hold, words that the tree does not
// have at all included.
func (r *ranking) meaning(h hit) float64 {
	s := 0.0
	if all := r.ideal + r.lacking; all > 0 {
		s = min(1, float64(r.score[h.chunk])/all)
	}
	if x := float64(r.exact[h.chunk]); x > 0 {
		s = max(s, min(1, .5+x/2))
	}
	return math.Round(s*1000) / 1000
}

// findMissing lists the question's words that stand nowhere in the tree, and weighs them.
func (r *ranking) findMissing(question string) {
	for _, p := range QuestionWords(question) {
		st := stem(p)
		if st == "" || slices.Contains(r.missing, p) || len(r.missing) >= 20 {
			continue
		}
		if id, ok := r.ix.dict.lookup(st); ok {
			if chunks, _ := r.ix.postings(id); len(chunks) > 0 {
				continue
			}
		}
		r.missing = append(r.missing, p)
		weight := 1.0
		if weakWords[p] {
			weight = r.w.Weak
		}
		r.lacking += weight * missingIDF * r.ix.idf(1)
	}
}

// inPath reports whether a file's path has a term.
func (r *ranking) inPath(id, file uint32) bool {
	_, ok := slices.BinarySearchFunc(r.ix.pathTerms[id], file, func(p pathPosting, f uint32) int { return int(p.file) - int(f) })
	return ok
}

// signals looks at the outcome.
func (r *ranking) signals(res Results) Signals {
	s := Signals{Words: len(res.Terms) + len(res.Missing)}
	if all := r.ideal + r.lacking; all > 0 {
		s.Missing = r.lacking / all
	}
	if len(r.order) == 0 || len(res.Candidates) == 0 {
		return s
	}
	first := res.Candidates[0]
	top := r.order[0]
	for _, h := range r.order {
		if c := r.ix.chunks[h.chunk]; r.ix.files[c.file].path == first.Path && int(c.start) >= first.Start && int(c.end) <= first.End {
			top = h
			break
		}
	}
	s.Score = first.Score
	s.Exact = r.exact[top.chunk] > 0
	file := &r.ix.files[r.ix.chunks[top.chunk].file]
	all, inFile, exactly, named := r.lacking, 0.0, 0.0, 0.0
	for _, t := range r.asked.terms {
		if t.word == "" && len(t.alt) == 0 {
			continue
		}
		own, _ := r.ix.postings(t.id)
		idf := r.ix.idf(len(own))
		if len(own) == 0 {
			idf = missingIDF * r.ix.idf(1) // counted as lacking; a synonym may still cover it
		} else {
			all += t.weight * idf
		}
		inIts := 0.0
		if at, ok := slices.BinarySearch(own, top.chunk); ok {
			exactly += t.weight * idf
			_, tfs := r.ix.postings(t.id)
			if tfs[at].name() > 0 || tfs[at].parent() > 0 || r.inPath(t.id, r.ix.chunks[top.chunk].file) {
				named += t.weight * idf
			}
		} else if len(own) > 0 && r.inPath(t.id, r.ix.chunks[top.chunk].file) {
			named += t.weight * idf
		}
		for i, a := range append([]weighted{t}, t.alt...) {
			share := a.weight
			if i == 0 {
				share = 1
			}
			list, _ := r.ix.postings(a.id)
			if at, _ := slices.BinarySearch(list, file.first); at < len(list) && list[at] < file.next {
				inIts = max(inIts, share)
			}
		}
		inFile += t.weight * idf * inIts
	}
	if all > 0 {
		s.Coverage, s.File, s.Path = min(1, exactly/all), min(1, inFile/all), min(1, named/all)
	}
	return s
}
