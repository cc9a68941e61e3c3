package codesearch

import (
	"context"
	"math"
	"slices"
	"strings"
)

// ranking is one search under way. Scores lie in arrays as long as the index has chunks and files: adding to them is what a
// search spends its time on.
type ranking struct {
	ctx    context.Context
	ix     *Index
	w      *Weights
	asked  asked
	prefix string
	aside  []bool // per file: it lies outside the folders that the question names; nil: it names none

	kind                [classes]float64 // the weight of each class of chunks
	score               []float32        // per chunk: BM25F
	file                []float32        // per file: BM25 over the whole file
	path                []float32        // per file: question words in its path
	cover               []float32        // per file: what the question words weigh that it has
	exact               []float32        // per chunk: boosts, as multiples of the best score
	bestChunk, bestFile []float32        // scratch of addTerm, zero between terms
	bestCover           []float32        // the same
	buffer              []float32        // all of the arrays above
	reasons             map[uint32][]string
	declares            map[uint32]uint32   // functions → the prototypes that lent to them
	texts               map[uint32]numbered // files that were read for this question; see text
	kept                int                 // and their bytes
	placed              map[uint32]bool     // chunks that a frame of a stack trace leads to
	literal             map[uint32]bool     // chunks that hold most of an error message in a literal
	missing             []string            // question words that stand nowhere in the tree
	lacking             float64             // and what they weigh
	touched             []uint32            // chunks with a score that are in the race, each once
	boosted             []uint32            // chunks with an exact boost, each once
	asking              float64             // what all the question words weigh
	ideal               float64             // what a chunk would score that has every question word in every field
	wants               map[uint32][]asking // see wanted
	weighs              []float64           // the same
	order               []hit               // the outcome, best first
}

func newRanking(ctx context.Context, ix *Index, w *Weights, a asked, prefix string) *ranking {
	n, m := len(ix.chunks), len(ix.files)
	size := 3*n + 5*m
	buf, _ := ix.scratch.Get().([]float32)
	if len(buf) < size {
		buf = make([]float32, size)
	}
	buf = buf[:size]
	return &ranking{buffer: buf, aside: ix.aside(a.folders), kind: kindWeights(w, &a), bestChunk: buf[2*n : 3*n],
		ctx: ctx, ix: ix, w: w, asked: a, prefix: prefix, reasons: map[uint32][]string{}, declares: map[uint32]uint32{}, texts: map[uint32]numbered{}, literal: map[uint32]bool{}, placed: map[uint32]bool{},
		score: buf[:n], exact: buf[n : 2*n], file: buf[3*n : 3*n+m], path: buf[3*n+m : 3*n+2*m], bestFile: buf[3*n+2*m : 3*n+3*m],
		cover: buf[3*n+3*m : 3*n+4*m], bestCover: buf[3*n+4*m:]}
}

// release gives the arrays back.
func (r *ranking) release() {
	clear(r.buffer)
	r.ix.scratch.Put(r.buffer) //nolint:staticcheck // a slice header more is nothing beside the arrays
}

// rank runs the whole stack.
func (r *ranking) rank() {
	if len(r.ix.chunks) == 0 {
		return
	}
	for _, t := range r.asked.terms {
		r.addTerm(t)
	}
	r.addPaths()
	r.lend()
	r.lendToBodies()
	r.order = r.sorted()
	if r.addNeighbours() {
		r.order = r.sorted()
	}
	if r.w.Feedback > 0 && !r.asked.alone {
		for _, t := range r.feedback() {
			r.addTerm(t)
		}
		r.order = r.sorted()
	}
	r.boostExact()
	r.order = r.sorted()
}

// addTerm adds a term's BM25F to the chunks and files that hold it or one of its alternatives.
func (r *ranking) addTerm(t weighted) {
	if len(t.alt) == 0 {
		r.asking += float64(r.walk(t, math.Inf(1), func(c uint32, s float32) {
			r.touch(c)
			r.score[c] += s
		}, func(f uint32, s, weight float32) {
			r.file[f] += s
			r.cover[f] += weight
		}))
		return
	}
	// Of a word and its alternatives the best counts: gather first, then add.
	var chunks, files []uint32
	chunk := func(i uint32, s float32) {
		if r.bestChunk[i] == 0 {
			chunks = append(chunks, i)
		}
		r.bestChunk[i] = max(r.bestChunk[i], s)
	}
	file := func(i uint32, s, weight float32) {
		if r.bestFile[i] == 0 {
			files = append(files, i)
		}
		r.bestFile[i] = max(r.bestFile[i], s)
		r.bestCover[i] = max(r.bestCover[i], weight)
	}
	own, _ := r.ix.postings(t.id)
	most := math.Inf(1)
	if len(own) > 0 {
		most = r.ix.idf(len(own)) // an alternative never says more than the word itself
	}
	full := r.walk(t, math.Inf(1), chunk, file)
	for _, a := range t.alt {
		a.weight *= t.weight
		full = max(full, r.walk(a, most, chunk, file))
	}
	r.asking += float64(full)
	for _, i := range chunks {
		r.touch(i)
		r.score[i] += r.bestChunk[i]
		r.bestChunk[i] = 0
	}
	for _, i := range files {
		r.file[i] += r.bestFile[i]
		r.cover[i] += r.bestCover[i]
		r.bestFile[i], r.bestCover[i] = 0, 0
	}
}

// touch enters a chunk into the race when it gets its first score; after the first round nothing new enters.
func (r *ranking) touch(c uint32) {
	if r.score[c] == 0 && r.order == nil {
		r.touched = append(r.touched, c)
	}
}

// walk gives one term's BM25F for every chunk and file that holds it, and returns what it weighs (0 where none does); its idf counts as
// no more than most.
func (r *ranking) walk(t weighted, most float64, chunk func(i uint32, s float32), file func(i uint32, s, weight float32)) float32 {
	chunks, tfs := r.ix.postings(t.id)
	if len(chunks) == 0 {
		return 0
	}
	w := r.w
	weight := float32(t.weight * min(r.ix.idf(len(chunks)), most))
	if !t.added {
		r.ideal += float64(weight)
	}
	k1, fileK1 := float32(w.K1), float32(w.FileK1)
	bBody, bDoc := float32(w.BBody/r.ix.avgBody), float32(w.BDoc/r.ix.avgDoc)
	oneBody, oneDoc := float32(1-w.BBody), float32(1-w.BDoc)
	wBody, wDoc, wName, wParent, wSig := float32(w.Body), float32(w.Doc), float32(w.Name), float32(w.Parent), float32(w.Signature)
	var fileTF float32
	at := r.ix.measured[chunks[0]].file
	all := r.ix.measured
	for i, c := range chunks {
		ch := &all[c]
		n := tfs[i]
		tf := wBody * float32(n.body()) / (oneBody + bBody*float32(ch.length))
		if n > maxBody {
			tf += wDoc*float32(n.doc())/(oneDoc+bDoc*float32(ch.docLen)) + wName*float32(n.name()) + wParent*float32(n.parent()) + wSig*float32(n.sig())
		}
		chunk(c, weight*tf/(tf+k1))
		if ch.file != at {
			if fileTF > 0 {
				file(at, weight*fileTF/(fileTF+fileK1), weight)
			}
			at, fileTF = ch.file, 0
		}
		fileTF += tf
	}
	if fileTF > 0 {
		file(at, weight*fileTF/(fileTF+fileK1), weight)
	}
	return weight
}

// lend lets the best tests and sections of prose give a part of their score to the code they name: they tell in plain words what
// the code does. What is shared by many counts less for each.
func (r *ranking) lend() {
	if r.w.Lend == 0 || r.asked.alone {
		return
	}
	var lenders []hit
	for _, c := range r.touched {
		if r.ix.measured[c].speaks {
			lenders = append(lenders, hit{c, float64(r.score[c])})
		}
	}
	lent := map[uint32]float32{}
	for _, h := range topHits(lenders, r.w.Lenders) {
		named := r.ix.speaks[h.chunk]
		share := float32(r.w.Lend * h.score / math.Sqrt(float64(len(named))))
		for _, c := range named {
			lent[c] = max(lent[c], share)
		}
	}
	for c, s := range lent {
		r.touch(c)
		r.score[c] += s
	}
}

// addPaths adds the question's words found in paths. In a file's own name they count the more, the more of the name they are; and all
// of a path the more, the more of a whole sentence's words the file has: verify.go is no answer to everything that is checked.
func (r *ranking) addPaths() {
	if r.w.PathStem == 0 && r.w.PathDir == 0 {
		return
	}
	var files []uint32
	best := make([]match, len(r.ix.files)) // of one word and its alternatives
	sum := make([]match, len(r.ix.files))
	var found []uint32
	for _, t := range r.asked.terms {
		files = files[:0]
		for i := -1; i < len(t.alt); i++ {
			a, weight := t, t.weight
			if i >= 0 {
				a = t.alt[i]
				weight *= a.weight
			}
			ps := r.ix.pathTerms[a.id]
			v := float32(weight * r.ix.pathIDF(len(ps)))
			for _, p := range ps {
				m := &best[p.file]
				if m.stem == 0 && m.dir == 0 {
					files = append(files, p.file)
				}
				if p.stem {
					m.stem = max(m.stem, v)
				} else {
					m.dir = max(m.dir, v)
				}
			}
		}
		for _, f := range files {
			if s := &sum[f]; s.stem == 0 && s.dir == 0 {
				found = append(found, f)
			}
			sum[f].stem += best[f].stem
			sum[f].dir += best[f].dir
			best[f] = match{}
		}
	}
	for _, f := range found {
		m := sum[f]
		cover := float32(1)
		if all := r.ix.files[f].stemIDF; all > 0 {
			cover = min(1, m.stem/all)
		}
		fit := 1.0
		if r.asking > 0 {
			fit = 1 - r.w.PathFit*r.asked.wordy*(1-min(1, float64(r.cover[f])/r.asking))
		}
		r.path[f] = float32(fit) * (float32(r.w.PathStem)*m.stem*(1-float32(r.w.PathCover)*(1-cover)) + float32(r.w.PathDir)*m.dir)
	}
}

// match is what a file's path has of the question: in its own name, and in its folders'.
type match struct{ stem, dir float32 }

// total puts a chunk's parts together, without the exact boosts.
func (r *ranking) total(c uint32) float64 {
	ch := &r.ix.measured[c]
	f := ch.file
	s := float64(r.score[c]) + r.w.Coherence*float64(r.file[f]) + float64(r.path[f])
	s *= r.kind[ch.class]
	if ch.declared {
		s *= r.w.Prototype
	}
	if r.aside != nil && r.aside[f] {
		s *= r.w.Aside
	}
	return s
}

// kindWeights gives the weight of every class of chunks for this question.
func kindWeights(w *Weights, a *asked) (t [classes]float64) {
	for i := range t {
		k, _, test, constructor := class(i).parts()
		v := w.Kind[k]
		if test && !a.tests {
			v = min(v, w.Kind[kindTest])
		}
		if a.tests && (k == kindTest || test) {
			v = 1
		} else if a.tests {
			v *= w.NotTest
		}
		if a.docs && (k == kindDocs || k == kindExample) {
			v = max(v, .9)
		} else if a.written && !a.tests {
			v *= w.NotDocs
		}
		if constructor {
			v *= w.Constructor
		}
		t[i] = v
	}
	return t
}

// sorted gives the best chunks in order, and keeps only the contenders for the next round.
func (r *ranking) sorted() []hit {
	hits := make([]hit, 0, len(r.touched))
	best := 0.0
	for _, c := range r.touched {
		if r.prefix != "" && !below(r.ix.files[r.ix.chunks[c].file].path, r.prefix) {
			continue
		}
		s := r.total(c)
		best = max(best, s)
		hits = append(hits, hit{c, s})
	}
	if len(r.boosted) > 0 {
		have := make(map[uint32]int, len(r.boosted))
		for i, h := range hits {
			if r.exact[h.chunk] > 0 {
				have[h.chunk] = i
			}
		}
		for _, c := range r.boosted {
			i, ok := have[c]
			if !ok {
				if r.prefix != "" && !below(r.ix.files[r.ix.chunks[c].file].path, r.prefix) {
					continue
				}
				i = len(hits)
				hits = append(hits, hit{c, r.total(c)})
			}
			hits[i].score += best * float64(r.exact[c])
		}
	}
	hits = leading(hits, contenders)
	r.touched = r.touched[:0]
	for _, h := range hits {
		r.touched = append(r.touched, h.chunk)
	}
	return topHits(hits, considered)
}

const (
	contenders = 2000 // chunks that stay in the race after the first round
	considered = 300  // chunks a list is made of
)

func below(p, prefix string) bool {
	return p == prefix || strings.HasPrefix(p, prefix) && len(p) > len(prefix) && p[len(prefix)] == '/'
}

// fewSmallWords is the wordiness below which a question is keywords rather than a sentence.
const fewSmallWords = .5

// feedback takes words from the best results that the question does not have (Rocchio without negative examples).
func (r *ranking) feedback() []weighted {
	docs := r.w.FeedbackDocs
	if r.asked.wordy < fewSmallWords {
		docs = r.w.FeedbackDocsTerse
	}
	top := r.order[:min(len(r.order), docs)]
	if len(top) == 0 {
		return nil
	}
	have := map[uint32]bool{}
	for _, t := range r.asked.terms {
		have[t.id] = true
	}
	sum := map[uint32]float64{}
	limit := int(r.w.FeedbackCommon * float64(len(r.ix.chunks)))
	for _, h := range top {
		share := h.score / top[0].score
		ch := &r.ix.chunks[h.chunk]
		norm := 1 - r.w.BBody + r.w.BBody*float64(ch.length)/r.ix.avgBody
		r.ix.eachTerm(h.chunk, func(id uint32, n counts) {
			if have[id] {
				return
			}
			chunks, _ := r.ix.postings(id)
			if len(chunks) < 2 || len(chunks) > limit {
				return
			}
			tf := (r.w.Body*float64(n.body()))/norm + r.w.Doc*float64(n.doc()) + r.w.Name*float64(n.name()) + r.w.Signature*float64(n.sig())
			sum[id] += share * r.ix.idf(len(chunks)) * tf / (tf + r.w.K1)
		})
	}
	out := make([]weighted, 0, len(sum))
	for id, s := range sum {
		out = append(out, weighted{id: id, weight: s, added: true})
	}
	slices.SortFunc(out, func(a, b weighted) int {
		if a.weight != b.weight {
			if a.weight > b.weight {
				return -1
			}
			return 1
		}
		return int(a.id) - int(b.id)
	})
	out = out[:min(len(out), r.w.FeedbackTerms)]
	for i := range out {
		if i > 0 {
			out[i].weight = r.w.Feedback * out[i].weight / out[0].weight
		}
	}
	if len(out) > 0 {
		out[0].weight = r.w.Feedback
	}
	return out
}
