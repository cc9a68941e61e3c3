package codesearch

import "slices"

const (
	shortestMisspelt = 4  // bytes of a stem that is corrected; among shorter ones everything is near to everything
	replacedIn       = 6  // other bytes of a stem in which one is replaced: word and ward are two words
	misspeltLacks    = .5 // × what a word counts as lacking, for one that is near to the tree's
	misspeltFor      = 3  // words of the tree that may stand for one that is written wrongly
)

// addMisspelt lets words of the tree stand for question words that it does not have if one slip of the
// keyboard lies between them: rendred for render, behaviour for behavior. The first letter is rarely wrong.
func (ix *Index) addMisspelt(a *asked, words []string, seen map[uint32]int, w *Weights) {
	done := map[string]bool{}
	a.near = map[string]string{}
	for _, p := range words {
		st := stem(p)
		if done[st] || len(st) < shortestMisspelt || ix.known(st) || len(synonymsOf(st)) > 0 { // what has synonyms is no slip
			continue
		}
		done[st] = true
		type near struct {
			id    uint32
			count int
		}
		var all []near
		for id, term := range ix.dict.terms {
			if d := len(term) - len(st); d < -1 || d > 1 || term[0] != st[0] || !oneSlip(st, term) {
				continue
			}
			if chunks, _ := ix.postings(uint32(id)); len(chunks) > 0 {
				all = append(all, near{uint32(id), len(chunks)})
			}
		}
		slices.SortStableFunc(all, func(x, y near) int { return y.count - x.count })
		var alt []weighted
		for _, n := range all[:min(len(all), misspeltFor)] {
			if _, asked := seen[n.id]; !asked {
				alt = append(alt, weighted{id: n.id, weight: w.Misspelt, added: true})
			}
		}
		if len(alt) > 0 {
			a.near[p] = ix.dict.terms[alt[0].id]
			a.terms = append(a.terms, weighted{id: noTerm, weight: 1, added: true, alt: alt})
		}
	}
}

// known reports whether a stem stands in the tree.
func (ix *Index) known(stem string) bool {
	id, ok := ix.dict.lookup(stem)
	if !ok {
		return false
	}
	chunks, _ := ix.postings(id)
	return len(chunks) > 0
}

// oneSlip reports whether two different words become one by leaving out, adding or replacing a letter, or by swapping two neighbours.
func oneSlip(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	j := 0
	for j < len(a)-i && a[len(a)-1-j] == b[len(b)-1-j] {
		j++
	}
	a, b = a[i:len(a)-j], b[i:len(b)-j]
	switch {
	case len(b) == 1:
		return len(a) == 0 || i+j >= replacedIn
	case len(b) == 2 && len(a) == 2:
		return a[0] == b[1] && a[1] == b[0]
	}
	return false
}
