package codesearch

import (
	"cmp"
	"slices"
	"strings"
)

// Lengths of compounds, in bytes.
const (
	shortestPart    = 3
	shortestWhole   = 2 * shortestPart
	longestWhole    = 24
	partDocuments   = 5  // chunks that must hold the other half for it to count as a word
	compoundsAWord  = 16 // that may stand for one question word
	tripletsOfNames = 26 * 26 * 26
)

// compound is a term that may be two words written as one, by its first and last three letters.
type compound struct {
	id          uint32
	first, last uint16
}

// findCompounds lists the terms that are long enough and made of letters.
func (ix *Index) findCompounds() {
	ix.compounds = nil
	for id, t := range ix.dict.terms {
		if len(t) < shortestWhole || len(t) > longestWhole || !lettersOnly(t) {
			continue
		}
		ix.compounds = append(ix.compounds, compound{uint32(id), triplet(t), triplet(t[len(t)-3:])})
	}
}

func lettersOnly(s string) bool {
	for i := range len(s) {
		if !isLower(s[i]) {
			return false
		}
	}
	return true
}

// triplet numbers the first three letters of a word.
func triplet(s string) uint16 {
	return (uint16(s[0]-'a')*26+uint16(s[1]-'a'))*26 + uint16(s[2]-'a')
}

// addParts lets a compound of the tree stand for a question word that is one half of it, when the other half is a word of the tree too:
// slowlog for slow. Languages with short names are full of them.
func (ix *Index) addParts(a *asked, words []string, seen map[uint32]int, w *Weights) {
	if w.Part == 0 {
		return
	}
	type half struct {
		form string
		term int // whose
		at   int // which word of the question
	}
	var halves []half
	var wanted [tripletsOfNames]bool
	for at, p := range words {
		st := stem(p)
		id, ok := ix.dict.lookup(st)
		if i, asked := seen[id]; ok && asked && !weakWords[p] {
			for _, form := range slices.Compact([]string{p, st}) {
				if len(form) >= shortestPart && lettersOnly(form) && !slices.ContainsFunc(halves, func(h half) bool { return h.form == form }) {
					halves = append(halves, half{form, i, at})
					wanted[triplet(form)] = true
					wanted[triplet(form[len(form)-3:])] = true
				}
			}
		}
	}
	if len(halves) == 0 {
		return
	}
	found := map[int][]weighted{}
	for _, c := range ix.compounds {
		if !wanted[c.first] && !wanted[c.last] {
			continue
		}
		whole := ix.dict.terms[c.id]
		for _, h := range halves {
			rest, begins := strings.CutPrefix(whole, h.form)
			ok := begins
			if !ok {
				rest, ok = strings.CutSuffix(whole, h.form)
			}
			if !ok || len(rest) < shortestPart || endings[rest] || c.id == a.terms[h.term].id {
				continue
			}
			other, ok := ix.dict.lookup(stem(rest))
			if !ok || other == a.terms[h.term].id || slices.ContainsFunc(found[h.term], func(x weighted) bool { return x.id == c.id }) {
				continue
			}
			weight := w.Part
			if begins && a.order.follows(h.at, stem(rest)) || !begins && a.order.leads(h.at, stem(rest)) {
				weight = w.PartBoth
			} else if list, _ := ix.postings(other); len(list) < partDocuments {
				continue
			}
			found[h.term] = append(found[h.term], weighted{id: c.id, weight: weight, added: true})
		}
	}
	for term, alt := range found {
		slices.SortStableFunc(alt, func(x, y weighted) int { return cmp.Compare(y.weight, x.weight) })
		a.terms[term].alt = append(a.terms[term].alt, alt[:min(len(alt), compoundsAWord)]...)
	}
}

// endings make another word of a word; they are no halves.
var endings = func() map[string]bool {
	m := map[string]bool{}
	for e := range strings.FieldsSeq(`abl able age ance ant ate ation ative ator ence ent ers est ful ial ible ical ied ies ing ion ish ism ist ity ive ize ised ized less like ment ness ory ous ship tion ual`) {
		m[e] = true
	}
	return m
}()
