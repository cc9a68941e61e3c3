package codesearch

import "path"

// again finds out what of a list is there more than twice: chunks that are much the same, and files of one name that are, as where a
// project has a folder for each database it speaks to and the same files in all of them. Two of a kind say that there are more;
// a list of nothing else hides the rest.
type again struct {
	r     *ranking
	times map[uint32]int             // by chunk: how many results were such
	words map[uint32]map[uint32]bool // by file
	same  map[[2]uint32]bool         // pairs of files
	chunk map[uint32]bool            // words of the chunk that was shown last
}

const (
	sameChunk      = .7 // of the words of two chunks, both have so many …
	sameChunkWords = 12 // … and these are as many at least
	sameFile       = .5 // the same of two files that are called alike
)

func newAgain(r *ranking) *again {
	return &again{r: r, times: map[uint32]int{}, words: map[uint32]map[uint32]bool{}, same: map[[2]uint32]bool{}, chunk: map[uint32]bool{}}
}

// worth is what is left of a chunk's score.
func (a *again) worth(c uint32) float64 {
	w := 1.0
	for range a.times[c] - 1 {
		w *= a.r.w.Again
	}
	return w
}

// shown counts a chunk for those of the rest that are like it. A file counts for its likes with its first result, and not for one
// whose path has more of the question.
func (a *again) shown(c uint32, first bool, rest []hit) {
	if a.r.w.Again == 1 {
		return
	}
	clear(a.chunk)
	a.r.ix.eachTerm(c, func(id uint32, _ counts) { a.chunk[id] = true })
	file := a.r.ix.chunks[c].file
	for _, o := range rest {
		g := a.r.ix.chunks[o.chunk].file
		if g != file && (first && a.r.path[g] <= a.r.path[file] && a.files(file, g) || a.chunks(c, o.chunk)) {
			a.times[o.chunk]++
		}
	}
}

func (a *again) chunks(c, o uint32) bool {
	if len(a.chunk) < sameChunkWords || a.r.ix.chunks[c].kind != a.r.ix.chunks[o].kind {
		return false
	}
	if n, m := a.r.ix.termsOf(o), len(a.chunk); float64(min(n, m)) < sameChunk*float64(max(n, m)) {
		return false // however many they share; most end here
	}
	both, all := 0, len(a.chunk)
	a.r.ix.eachTerm(o, func(id uint32, _ counts) {
		if a.chunk[id] {
			both++
		} else {
			all++
		}
	})
	return float64(both) >= sameChunk*float64(all)
}

func (a *again) files(f, g uint32) bool {
	if path.Base(a.r.ix.files[f].path) != path.Base(a.r.ix.files[g].path) {
		return false
	}
	pair := [2]uint32{min(f, g), max(f, g)}
	same, ok := a.same[pair]
	if !ok {
		x, y := a.wordsOf(f), a.wordsOf(g)
		both := 0
		for id := range x {
			if y[id] {
				both++
			}
		}
		same = float64(both) >= sameFile*float64(len(x)+len(y)-both)
		a.same[pair] = same
	}
	return same
}

func (a *again) wordsOf(f uint32) map[uint32]bool {
	w := a.words[f]
	if w == nil {
		w = map[uint32]bool{}
		e := &a.r.ix.files[f]
		for c := e.first; c < e.next; c++ {
			a.r.ix.eachTerm(c, func(id uint32, _ counts) { w[id] = true })
		}
		a.words[f] = w
	}
	return w
}
