package codesearch

import "slices"

// sequence is the question's words as they follow each other, without the small ones between them.
type sequence struct {
	words, stems []string
	weights      []float64 // of a word and the next one together: their mean idf; 0 where one of them is nowhere in the tree
}

func (ix *Index) sequenceOf(words []string) sequence {
	s := sequence{words: words, stems: make([]string, len(words)), weights: make([]float64, len(words))}
	last, ok := uint32(0), false
	lastIDF := 0.0
	for i, p := range words {
		s.stems[i] = stem(p)
		id, known := ix.dict.lookup(s.stems[i])
		list, _ := ix.postings(id)
		idf := 0.0
		if known = known && len(list) > 0; known {
			idf = ix.idf(len(list))
		}
		if known && ok && id != last {
			s.weights[i-1] = (lastIDF + idf) / 2
		}
		last, lastIDF, ok = id, idf, known
	}
	return s
}

// near is how many words on the two halves of a compound may stand: slow commands are logged in the slowlog.
const near = 2

// follows reports whether a stem comes soon after a word of the question, leads whether it comes shortly before it.
func (s *sequence) follows(at int, stem string) bool {
	return slices.Contains(s.stems[at+1:min(at+1+near, len(s.stems))], stem)
}

func (s *sequence) leads(at int, stem string) bool {
	return slices.Contains(s.stems[max(at-near, 0):at], stem)
}

// commentLines is how far above a chunk its comment is looked for, which is not part of its lines.
const commentLines = 8

// addNeighbours reads the best chunks for words that stand beside each other as they do in the question: "prepared statements" is
// more than something prepared and some statement. It reports whether it found any.
func (r *ranking) addNeighbours() bool {
	w, q := r.w, &r.asked.order
	if w.Adjacent == 0 || r.ix.source == nil || !slices.ContainsFunc(q.weights, func(x float64) bool { return x > 0 }) {
		return false
	}
	worth := w.Adjacent * (1 - (1-w.AdjacentSentence)*r.asked.wordy)
	texts := map[uint32][]byte{}
	forms := map[string]int{} // a word of the texts → the question word that it is a form of, from 1; 0 for none
	any := false
	for _, h := range r.order[:min(len(r.order), w.AdjacentRead)] {
		ch := &r.ix.chunks[h.chunk]
		text, ok := texts[ch.file]
		if !ok {
			f := &r.ix.files[ch.file]
			text, _ = r.ix.source.Read(r.ctx, File{Path: f.path, Hash: f.hash}, MaxFile)
			texts[ch.file] = text
		}
		lines := linesOf(text, max(1, int(ch.start)-commentLines), int(ch.end))
		for pair, share := range q.pairs(lines, forms, w.AdjacentForm) {
			r.score[h.chunk] += float32(worth * q.weights[pair] * share)
			any = true
		}
	}
	return any
}

// pairs finds the question's neighbours in a text: at most one word may stand between them, or they may have changed places. A pair is
// known by its first word; its share is form, or 1 where both stand there as the question has them.
func (s *sequence) pairs(text []byte, forms map[string]int, form float64) map[int]float64 {
	var found map[int]float64
	last, since, lastSame := 0, 0, false
	eachPart(text, func(part string) {
		since++
		n := s.number(part, forms)
		if n == 0 {
			return
		}
		same := s.words[n-1] == part
		if last > 0 && (n == last+1 && since <= 2 || n == last-1 && since == 1) {
			share := form
			if same && lastSame {
				share = 1
			}
			if pair := min(n, last) - 1; s.weights[pair] > 0 {
				if found == nil {
					found = map[int]float64{}
				}
				found[pair] = max(found[pair], share)
			}
		}
		last, lastSame, since = n, same, 0
	})
	return found
}

// number says which word of the question, from 1, a word of a text is a form of; 0 for none.
func (s *sequence) number(part string, forms map[string]int) int {
	n, ok := forms[part]
	if !ok {
		if st := stem(part); st != "" {
			n = 1 + slices.Index(s.stems, st)
		}
		forms[part] = n
	}
	return n
}

// eachPart calls f for the words of a text, identifiers split, in lower case.
func eachPart(text []byte, f func(part string)) {
	for i := 0; i < len(text); {
		if !wordByte[text[i]] {
			i++
			continue
		}
		j := i + 1
		for j < len(text) && wordByte[text[j]] {
			j++
		}
		if j-i > 1 && j-i <= maxWord {
			for _, part := range splitWord(string(text[i:j])) {
				f(part)
			}
		}
		i = j
	}
}
