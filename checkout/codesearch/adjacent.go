package codesearch

import "slices"

// sequence is the question's words as they follow each other, without the small ones between them.
type sequence struct {
	words, stems []string
	begins       *[26][26]bool // first two letters of what has one of the stems
	weights      []float64     // of a word and the next one together: their mean idf; 0 where one of them is nowhere in the tree
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
	s.begins = new([26][26]bool)
	for _, st := range s.stems {
		s.begin(st)
	}
	for w, st := range irregular {
		if slices.Contains(s.stems, st) {
			s.begin(w)
		}
	}
	return s
}

func (s *sequence) begin(word string) {
	if len(word) >= 2 && isLower(word[0]) && isLower(word[1]) {
		s.begins[word[0]-'a'][word[1]-'a'] = true
	}
}

// rulesOut reports whether a word of a text is one part, and none of the question: most are, and are told by their first two letters.
func (s *sequence) rulesOut(word []byte) bool {
	first := word[0] | 0x20
	if !isLower(first) {
		return false
	}
	for _, c := range word[1:] {
		if !isLower(c) {
			return false
		}
	}
	return !s.begins[first-'a'][word[1]-'a']
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
	forms := map[string][]form{}
	any := false
	for _, h := range r.order[:min(len(r.order), w.AdjacentRead)] {
		ch := &r.ix.chunks[h.chunk]
		for pair, share := range q.pairs(r.text(ch.file).lines(int(ch.start)-commentLines, int(ch.end)), forms, w.AdjacentForm) {
			r.score[h.chunk] += float32(worth * q.weights[pair] * share)
			any = true
		}
	}
	return any
}

// pairs finds the question's neighbours in a text: at most one word may stand between them, or they may have changed places. A pair is
// known by its first word; its share is other, or 1 where both stand there as the question has them. forms remembers the words met.
func (s *sequence) pairs(text []byte, forms map[string][]form, other float64) map[int]float64 {
	var found map[int]float64
	var last form
	since := 0
	for i := 0; i < len(text); {
		if !wordByte[text[i]] {
			i++
			continue
		}
		j := i + 1
		for j < len(text) && wordByte[text[j]] {
			j++
		}
		if j-i > 1 && j-i <= maxWord && s.rulesOut(text[i:j]) {
			since++
		} else if j-i > 1 && j-i <= maxWord {
			parts, ok := forms[string(text[i:j])]
			if !ok {
				parts = s.forms(string(text[i:j]))
				forms[string(text[i:j])] = parts
			}
			for _, f := range parts {
				since++
				if f.number == 0 {
					continue
				}
				if pair, ok := s.pair(last, f, since); ok {
					share := other
					if f.same && last.same {
						share = 1
					}
					if found == nil {
						found = map[int]float64{}
					}
					found[pair] = max(found[pair], share)
				}
				last, since = f, 0
			}
		}
		i = j
	}
	return found
}

// form says which word of the question, from 1, a word of a text is a form of (0 for none), and whether it is that very form.
type form struct {
	number int
	same   bool
}

// forms takes a word of a text apart.
func (s *sequence) forms(word string) []form {
	parts := splitWord(word)
	out := make([]form, len(parts))
	for i, p := range parts {
		if !s.maybe(p) {
			continue
		}
		if st := stem(p); st != "" {
			out[i].number = 1 + slices.Index(s.stems, st)
		}
		out[i].same = out[i].number > 0 && s.words[out[i].number-1] == p
	}
	return out
}

// maybe rules out most words without stemming them: but for irregular ones, a stem begins as its word does.
func (s *sequence) maybe(word string) bool {
	if _, ok := irregular[word]; ok || len(word) < 2 {
		return ok
	}
	return slices.ContainsFunc(s.stems, func(st string) bool { return len(st) >= 2 && st[:2] == word[:2] })
}

// pair reports whether two words of the question that stand so far apart in a text are neighbours in the question, and which.
func (s *sequence) pair(a, b form, apart int) (int, bool) {
	if a.number == 0 || !(b.number == a.number+1 && apart <= 2 || b.number == a.number-1 && apart == 1) {
		return 0, false
	}
	first := min(a.number, b.number) - 1
	return first, s.weights[first] > 0
}
