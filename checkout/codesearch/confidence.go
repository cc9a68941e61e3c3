package codesearch

import (
	"math"
	"slices"
)

// Signals are what the confidence of an answer is judged by.
type Signals struct {
	Fit     float64 // the first candidate's chunk, file and path together, as a share of what the question's words weigh; 0…2 or so
	Path    float64 // the path's part of that
	File    float64 // 0…1: the share of the question's words, by weight, that its file has, synonyms included
	Missing float64 // 0…1: the share of the question's words, by weight, that the tree does not have at all
	Words   int     // how many words the question has that say something
	Exact   bool    // the question names the first candidate: its symbol, its path, or quoted text in it
	Pairs   float64 // 0…1: the share of the question's neighbouring words that stand beside each other in the first candidate too
	Tree    int     // chunks of the tree: the more there are, the better one of them fits by chance
	Length  int     // words of the first candidate's file: a long one has something of everything
	Spoken  bool    // the question is a sentence, and no keywords
	Message bool    // the question has an error message, and the first candidate none of it in a literal, and no frame leads there
	Readme  bool    // the question speaks of the README, and the first candidate is in it
	Named   bool    // all of the question's words are in the first candidate's name or its file's path
}

// What a Confidence is worth saying. testdata/README.md shows what other bounds would cost.
const (
	ConfidenceEnough = .18 // from here on the first places are worth showing; below it stand two or three of a hundred right ones
	ConfidenceSure   = .6  // from here on they may be called an answer without a doubt added
)

// confidence is a logistic regression over questions put to the right repository (right when the right file was among the first three)
// and to wrong ones (never right), as if there were as many of these as of those; see testdata/README.md.
func (s Signals) confidence() float64 {
	if s.Words == 0 && !s.Exact {
		return 0
	}
	z := confidenceBias + confidenceFit*s.Fit + confidencePath*s.Path + confidenceFile*s.File + confidenceWords*math.Log(1+float64(s.Words)) +
		confidencePairs*s.Pairs + confidenceTree*math.Log(float64(max(s.Tree, smallTreeChunks))) + confidenceLength*math.Log(float64(max(s.Length, shortFileWords)))
	if s.Exact {
		z += confidenceExact
	}
	p := 1 / (1 + math.Exp(-z))
	if s.Spoken && s.Words <= fewWords && !s.Exact && !s.Named {
		p = min(p, ConfidenceSure-.01)
	}
	if s.Message {
		p = min(p, ConfidenceSure-.01)
	}
	if s.Missing > mostMissing && !s.Exact {
		p = min(p, ConfidenceEnough-.01)
	}
	if s.Readme {
		p = max(p, ConfidenceEnough)
	}
	return math.Round(1000*p) / 1000
}

// fewWords are so few in a sentence that many places have all of them: that one does is no reason to be sure. (Of the answers to the
// sets of questions none is lost by this; they ask with more.)
const fewWords = 2

// mostMissing is the share of a question, by weight, that may stand nowhere in the tree: beyond it the question is of something else,
// however well the rest fits. The regression does not see it, for a tree of a few files lacks much of what it is asked, too.
const mostMissing = .6

const (
	confidenceBias   = -4.5
	confidenceFit    = 5.24
	confidencePath   = 1.35
	confidenceFile   = 3.69
	confidenceWords  = 2.1
	confidenceExact  = 1.67
	confidencePairs  = 1.28
	confidenceTree   = -.3
	confidenceLength = -.31

	// What lies below what the regression saw counts as the least that it saw.
	smallTreeChunks = 300
	shortFileWords  = 200
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
		if r.asked.near[p] != "" {
			weight *= misspeltLacks
		}
		r.lacking += weight * missingIDF * r.ix.idf(1)
	}
}

// signals looks at the outcome.
func (r *ranking) signals(res Results) Signals {
	s := Signals{Words: len(res.Terms) + len(res.Missing), Tree: len(r.ix.chunks), Spoken: r.asked.wordy >= 1}
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
	s.Exact = r.exact[top.chunk] > 0
	s.Message = len(r.asked.messages) > 0 && !r.literal[top.chunk] && !r.placed[top.chunk]
	at := r.ix.chunks[top.chunk].file
	if weigh := r.asking + r.lacking; weigh > 0 {
		s.Fit, s.Path = r.total(top.chunk)/weigh, float64(r.path[at])/weigh
	}
	file := &r.ix.files[at]
	s.Readme = r.asked.readme && topReadme(file.path)
	s.File = r.inFile(file)
	for c := file.first; c < file.next; c++ {
		s.Length += int(r.ix.chunks[c].length)
	}
	s.Pairs = r.pairsOf(top.chunk)
	s.Named = len(res.Missing) == 0 && r.namedBy(top.chunk)
	return s
}

// namedBy reports whether a chunk's name and its file's path together have all of the question's words.
func (r *ranking) namedBy(c uint32) bool {
	for _, t := range r.asked.terms {
		if t.word == "" {
			continue
		}
		if list, tfs := r.ix.postings(t.id); len(list) > 0 {
			if i, ok := slices.BinarySearch(list, c); ok && tfs[i].name() > 0 {
				continue
			}
		}
		inPath := false
		for _, p := range r.ix.pathTerms[t.id] {
			inPath = inPath || p.file == r.ix.chunks[c].file
		}
		if !inPath {
			return false
		}
	}
	return true
}

// pairsOf is the share of the question's neighbours, by weight, that stand beside each other in a chunk or right above it.
func (r *ranking) pairsOf(c uint32) float64 {
	q, all, in := &r.asked.order, 0.0, 0.0
	for _, w := range q.weights {
		all += w
	}
	if all == 0 || r.ix.source == nil {
		return 0
	}
	ch := &r.ix.chunks[c]
	for pair, share := range q.pairs(r.text(ch.file).lines(int(ch.start)-commentLines, int(ch.end)), map[string][]form{}, r.w.AdjacentForm) {
		in += q.weights[pair] * share
	}
	return min(1, in/all)
}

// inFile is the share of the question's words, by weight, that a file has, what stands for them included.
func (r *ranking) inFile(file *fileEntry) float64 {
	all, in := r.lacking, 0.0
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
		best := 0.0
		for i, a := range append([]weighted{t}, t.alt...) {
			share := a.weight
			if i == 0 {
				share = 1
			}
			list, _ := r.ix.postings(a.id)
			if at, _ := slices.BinarySearch(list, file.first); at < len(list) && list[at] < file.next {
				best = max(best, share)
			}
		}
		in += t.weight * idf * best
	}
	if all == 0 {
		return 0
	}
	return min(1, in/all)
}
