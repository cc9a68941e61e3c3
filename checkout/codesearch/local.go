package codesearch

import (
	"cmp"
	"math"
	"slices"
)

// Within a file other things tell than among files: words that all of it has say nothing, functions do the work, long ones more of it
// than short ones, and a class comment that brought the file up is not the answer. So the chunks of a file are ordered by a rule of their own: a
// weighted sum of what is below, whose weights (Local…) are a conditional logit fitted on questions whose file was found; see testdata/README.md.

// traits are what a chunk is judged by among the chunks of its file; each but lines lies between 0 and 1, exact and share a little above.
type traits struct {
	score      float64 // its score, as a share of the file's best
	share      float64 // the same, as a share of what the question's words weigh
	own        float64 // how much of the question's own words it has, by weight
	doc        float64 // how much of the question its doc comment has, by weight in this file
	text       float64 // the same of its text, by how often
	name       float64 // how much of its name the question has, by weight in this file
	lines      float64 // ln of its length
	exact      float64 // what is named exactly
	plain      bool    // lines without a declaration
	typ        bool    // a type
	maker      bool    // a constructor
	test       bool
	piece      bool // a long function's second or later part
	declared   bool // a prototype whose function has its body elsewhere
	documented bool
}

func (t *traits) worth(w *Weights) float64 {
	s := w.LocalScore*t.score + w.LocalShare*t.share + w.LocalOwn*t.own + w.LocalDoc*t.doc + w.LocalText*t.text + w.LocalName*t.name + w.LocalLines*t.lines + w.LocalExact*t.exact
	for _, is := range []struct {
		so    bool
		worth float64
	}{{t.plain, w.LocalPlain}, {t.typ, w.LocalType}, {t.maker, w.LocalConstructor}, {t.test, w.LocalTest}, {t.piece, w.LocalPiece}, {t.documented, w.LocalDocumented}, {t.declared, w.LocalDeclared}} {
		if is.so {
			s += is.worth
		}
	}
	return s
}

// asking is a question word, or one that stands for it.
type asking struct {
	word   int
	weight float64 // 1 for the word itself
}

// wanted lists which question words a term is or stands for, and what each of them weighs in the tree.
func (r *ranking) wanted() (by map[uint32][]asking, weights []float64) {
	if r.wants != nil {
		return r.wants, r.weighs
	}
	by = map[uint32][]asking{}
	weights = make([]float64, len(r.asked.terms))
	idf := func(id uint32) float64 {
		if chunks, _ := r.ix.postings(id); len(chunks) > 0 {
			return r.ix.idf(len(chunks))
		}
		return 0
	}
	for i, t := range r.asked.terms {
		own := idf(t.id)
		if own > 0 {
			by[t.id] = append(by[t.id], asking{i, 1})
		}
		best := 0.0
		for _, a := range t.alt {
			by[a.id] = append(by[a.id], asking{i, a.weight})
			best = max(best, a.weight*idf(a.id))
		}
		if own == 0 {
			own = best
		}
		weights[i] = t.weight * own
	}
	r.wants, r.weighs = by, weights
	return by, weights
}

// localOrder sorts a file's chunks by how well they answer within it, best first; those that have nothing of the question are left out.
func (r *ranking) localOrder(file uint32) []hit {
	f := &r.ix.files[file]
	var out []hit
	if r.w.LocalScore == 0 || r.asked.alone {
		for _, h := range r.order {
			if r.ix.chunks[h.chunk].file == file {
				out = append(out, h)
			}
		}
		return out
	}
	for i, t := range r.traits(file) {
		if c := f.first + uint32(i); r.score[c] > 0 || r.exact[c] > 0 {
			out = append(out, hit{c, t.worth(r.w)})
		}
	}
	slices.SortStableFunc(out, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	return out
}

// traits looks at all chunks of a file.
func (r *ranking) traits(file uint32) []traits {
	f := &r.ix.files[file]
	n := int(f.next - f.first)
	by, weights := r.wanted()
	words := len(weights)
	has := make([]wordsOf, n)
	among := map[uint32]int{}     // how many chunks have a word in their name
	holders := make([]int, words) // how many have a question word anywhere
	best, all := 0.0, 0.0
	for i := range n {
		c := f.first + uint32(i)
		has[i] = r.wordsOf(c, by, words, among)
		best = max(best, float64(r.score[c]))
		for k, x := range has[i].any {
			if x > standsFor {
				holders[k]++
			}
		}
	}
	local := make([]float64, words) // what the words weigh in this file: nothing where every chunk has them
	sum := 0.0
	for k, w := range weights {
		all += w
		local[k] = w * rarity(holders[k], n)
		if holders[k] > 0 {
			sum += local[k]
		}
	}
	best, all, sum = max(best, least), max(all, least), max(sum, least)
	out := make([]traits, n)
	parts := map[[2]string]bool{}
	for i := range n {
		c := f.first + uint32(i)
		ch := &r.ix.chunks[c]
		_, shape, test, maker := ch.class.parts()
		t := traits{score: float64(r.score[c]) / best, share: float64(r.score[c]) / all, lines: math.Log(float64(ch.end-ch.start) + 1), exact: float64(r.exact[c]),
			plain: shape == shapePlain || ch.name == "", typ: shape == shapeType, maker: maker, test: test, documented: ch.docLen > 0, declared: ch.declared}
		for k, w := range local {
			t.doc += w * has[i].doc[k] / sum
			t.text += w * has[i].text[k] / sum
			if has[i].any[k] == 1 && !r.asked.terms[k].added {
				t.own += weights[k] / all
			}
		}
		t.name = r.nameCover(c, by, among, n)
		if ch.name != "" {
			key := [2]string{ch.parent, ch.name}
			t.piece = parts[key]
			parts[key] = true
		}
		out[i] = t
	}
	return out
}

const (
	standsFor = .5  // an alternative that weighs more than this counts as the word
	least     = .01 // what is divided by is no less
)

// rarity is 1 for what one of n chunks has, and 0 for what all have.
func rarity(holders, n int) float64 {
	return max(0, math.Log(float64(n+1)/(float64(holders)+.5))/math.Log(float64(n+2)))
}

// wordsOf is what a chunk has of each question word: 0 nothing, 1 the word itself.
type wordsOf struct{ any, doc, text []float64 }

func (r *ranking) wordsOf(c uint32, by map[uint32][]asking, words int, among map[uint32]int) wordsOf {
	buf := make([]float64, 3*words)
	h := wordsOf{buf[:words], buf[words : 2*words], buf[2*words:]}
	norm := localNorm + (1-localNorm)*float64(r.ix.chunks[c].length)/r.ix.avgBody
	r.ix.eachTerm(c, func(id uint32, n counts) {
		if n.name() > 0 {
			among[id]++
		}
		for _, a := range by[id] {
			h.any[a.word] = max(h.any[a.word], a.weight)
			if n.doc() > 0 {
				h.doc[a.word] = max(h.doc[a.word], a.weight)
			}
			tf := float64(n.body())/norm + localDoc*float64(n.doc())
			h.text[a.word] = max(h.text[a.word], a.weight*tf/(tf+localK1))
		}
	})
	return h
}

// BM25's constants within a file: length counts half, a doc comment a little more than the text.
const localNorm, localDoc, localK1 = .5, 1.5, 1.2

// nameCover is how much of a chunk's name the question speaks of, 0 to 1; words that many names of the file have count little.
func (r *ranking) nameCover(c uint32, by map[uint32][]asking, among map[uint32]int, n int) float64 {
	has, all := 0.0, 0.0
	r.ix.eachTerm(c, func(id uint32, cnt counts) {
		if cnt.name() == 0 {
			return
		}
		rare := max(rarity(among[id], n), .05)
		all += rare
		best := 0.0
		for _, a := range by[id] {
			best = max(best, a.weight)
		}
		has += rare * best
	})
	if all == 0 {
		return 0
	}
	return has / all
}
