package codesearch

import (
	"bytes"
	"path"
	"strconv"
	"strings"
)

// boostExact finds what the question names exactly.
func (r *ranking) boostExact() {
	placed := false
	if r.w.PlaceNamed > 0 {
		for _, p := range r.asked.places {
			x := r.w.PlaceNamed
			if !placed {
				x *= r.w.PlaceRaised
			}
			placed = r.boostPlace(p, x) || placed
		}
	}
	for _, id := range r.asked.idents {
		r.boostSymbol(id, placed)
	}
	if r.w.Phrase > 0 {
		for _, p := range r.asked.phrases {
			if words := strings.Fields(strings.ToLower(p)); !r.boostPhrase(p, r.w.Phrase) && len(words) >= bareWords {
				r.boostMessage(pasted{words[:min(len(words), maxPastedLen)], runWords}) // it may be filled in, or written on several lines
			}
		}
		for _, m := range r.asked.messages {
			r.boostMessage(m)
		}
		for _, p := range r.asked.filled {
			r.boostPhrase(p, r.w.Phrase*r.w.PhraseFilled)
		}
	}
	if r.w.Option > 0 {
		for _, o := range r.asked.options {
			if !r.boostOption(`"` + o + `"`) {
				r.boostOption("'" + o + "'")
			}
		}
	}
	if r.w.PathNamed > 0 {
		for _, p := range r.asked.paths {
			r.boostPath(p)
		}
		if r.asked.readme && len(r.asked.paths) == 0 {
			r.boostReadme()
		}
	}
}

// shortQuestion is how many words that say something a question has at most that asks for what it names itself.
const shortQuestion = 3

// besideFrames is × a symbol that stands beside frames of a stack trace which lead into the tree: it is on the way to what
// went wrong, or the exception's name.
const besideFrames = .5

func (r *ranking) boostSymbol(ident string, placed bool) {
	w := r.w.Defines
	if placed {
		w *= besideFrames
	}
	if r.asked.alone {
		w = r.w.DefinesAlone
	}
	if w == 0 {
		return
	}
	name := ident
	qualifier := ""
	if i := strings.LastIndexAny(ident, ".:#>"); i >= 0 && i+1 < len(ident) {
		name, qualifier = ident[i+1:], strings.Trim(ident[:i], ".:#->")
		if j := strings.LastIndexAny(qualifier, ".:#>"); j >= 0 {
			qualifier = qualifier[j+1:]
		}
	}
	if n := r.asked.said; n > shortQuestion {
		w *= r.w.DefinesAmong + (1-r.w.DefinesAmong)*shortQuestion/float64(n)
	}
	found := r.ix.symbols[symbolKey(name)]
	if len(found) > 200 {
		w *= .3 // every type has one
	}
	for _, c := range found {
		ch := &r.ix.chunks[c]
		f := &r.ix.files[ch.file]
		x := w
		if ch.name != name && !strings.HasSuffix(ch.name, name) {
			x *= .8 // another case
		}
		base := path.Base(f.path)
		if i := strings.LastIndexByte(base, '.'); i > 0 {
			base = base[:i]
		}
		switch {
		case qualifier == "":
		case strings.EqualFold(ch.parent, qualifier) || ch.parent == "" && qualifies(qualifier, f.path, base):
			x *= r.w.DefinesQualified
		default:
			x *= .7
		}
		if strings.EqualFold(strings.ReplaceAll(base, "_", ""), strings.ReplaceAll(name, "_", "")) {
			x *= r.w.DefinesStem
		}
		if f.kind != kindSource && f.kind != kindTypes && !(r.asked.tests && f.kind == kindTest) {
			x *= r.w.DefinesAside
		}
		if r.asked.tests && f.kind != kindTest && !ch.test {
			x *= r.w.DefinesAside // it is known; its tests are wanted
		}
		if ch.declared {
			r.boost(c, x*r.w.Prototype, "declares "+ch.name)
			continue
		}
		r.boost(c, x, "defines "+ch.name)
	}
}

// qualifies reports whether a name before a dot is the module or package that a file is: its name, or its folder's.
func qualifies(qualifier, p, base string) bool {
	return strings.EqualFold(base, qualifier) || strings.EqualFold(path.Base(path.Dir(p)), qualifier)
}

func (r *ranking) boost(c uint32, x float64, why string) {
	if r.exact[c] == 0 {
		r.boosted = append(r.boosted, c)
	}
	r.exact[c] += float32(x)
	r.reasons[c] = append(r.reasons[c], why)
}

// boostPhrase looks for literal text where all its words are, whatever its case, and reports whether it found it.
func (r *ranking) boostPhrase(phrase string, weight float64) bool {
	return r.boostLiteral(phrase, weight, 20, false)
}

// boostOption looks for an option as a string of the code. One that stands in many places is a word.
func (r *ranking) boostOption(option string) bool { return r.boostLiteral(option, r.w.Option, 5, true) }

// boostLiteral boosts the first chunks, at most so many, that hold the literal; or, where it has to be rare, none if there are more.
func (r *ranking) boostLiteral(phrase string, weight float64, most int, rare bool) bool {
	literal := []byte(strings.ToLower(phrase))
	var rarest []uint32
	missing := false
	for _, m := range wordText.FindAllString(phrase, 30) {
		for _, p := range splitWord(m) {
			st := stem(p)
			if st == "" || codeNoise[st] {
				continue
			}
			id, ok := r.ix.dict.lookup(st)
			if !ok {
				missing = true
				continue
			}
			chunks, _ := r.ix.postings(id)
			if rarest == nil || len(chunks) < len(rarest) {
				rarest = chunks
			}
		}
	}
	if rarest == nil || missing || r.ix.source == nil {
		return false
	}
	// The best-scored of the chunks with the rarest word are read.
	cands := make([]hit, 0, len(rarest))
	for _, c := range rarest {
		cands = append(cands, hit{c, r.total(c)})
	}
	cands = topHits(cands, 80)
	var found []hit
	for _, h := range cands {
		ch := &r.ix.chunks[h.chunk]
		if bytes.Contains(bytes.ToLower(r.linesOf(h.chunk)), literal) {
			x := weight
			if r.ix.files[ch.file].kind != kindSource {
				x *= r.w.DefinesAside
			}
			found = append(found, hit{h.chunk, x})
			if len(found) > most && rare {
				return false
			}
			if len(found) >= most && !rare {
				break
			}
		}
	}
	for _, h := range found {
		r.boost(h.chunk, h.score, "contains “"+phrase+"”")
		if !rare && len(found) <= raisersShown && strings.ContainsRune(phrase, ' ') {
			r.boostRaisers(h.chunk, phrase, h.score)
		}
	}
	return len(found) > 0
}

func (r *ranking) boostPath(p string) {
	for i := range r.ix.files {
		f := &r.ix.files[i]
		whole := named(f.path, p)
		if !whole && !(len(f.path) > len(p) && f.path[len(p)] == '/' && strings.EqualFold(f.path[:len(p)], p)) {
			continue
		}
		for c := f.first; c < f.next; c++ {
			if r.score[c] > 0 || whole {
				r.boost(c, r.w.PathNamed, "in "+p)
			}
		}
	}
}

// boostReadme boosts the README at the top: of all that a tree has it is the one that is meant when none is named.
func (r *ranking) boostReadme() {
	for i := range r.ix.files {
		f := &r.ix.files[i]
		if !topReadme(f.path) {
			continue
		}
		for c := f.first; c < f.next; c++ {
			if r.score[c] > 0 || c == f.first {
				r.boost(c, r.w.ReadmeNamed, "in "+f.path)
			}
		}
	}
}

func topReadme(path string) bool {
	stem, _, _ := strings.Cut(path, ".")
	return strings.EqualFold(stem, "readme")
}

// boostPlace finds the chunk around a line that a stack trace names. Traces name files by more of their path than the tree has
// (/home/me/app/src/x.py), or by less.
func (r *ranking) boostPlace(p place, x float64) (found bool) {
	boost := func(c uint32, why string) {
		r.boost(c, x, why)
		r.placed[c] = true
		found = true
	}
	for i := range r.ix.files {
		f := &r.ix.files[i]
		if !named(f.path, p.path) && !named(p.path, f.path) {
			continue
		}
		if c, ok := r.moved(f, p); ok {
			boost(c, "is "+p.name+", which held line "+strconv.Itoa(p.line))
			continue
		}
		for c := f.first; c < f.next; c++ {
			if ch := &r.ix.chunks[c]; int(ch.start) <= p.line && p.line <= int(ch.end) && ch.end-ch.start < 400 {
				boost(c, "holds line "+strconv.Itoa(p.line))
			}
		}
	}
	return found
}

// moved finds the function that a frame names where its line now belongs to another one: the trace is of another version than the tree,
// and names outlive lines.
func (r *ranking) moved(f *fileEntry, p place) (uint32, bool) {
	if p.name == "" {
		return 0, false
	}
	best, at, ok := 0, uint32(0), false
	for c := f.first; c < f.next; c++ {
		ch := &r.ix.chunks[c]
		if ch.name != p.name {
			continue
		}
		far := max(int(ch.start)-p.line, p.line-int(ch.end), 0)
		if far == 0 {
			return 0, false
		}
		if !ok || far < best {
			best, at, ok = far, c, true
		}
	}
	return at, ok
}

// named reports whether a path is, or ends in, another one; case does not matter.
func named(whole, end string) bool {
	at := len(whole) - len(end)
	return end != "" && (at == 0 || at > 0 && whole[at-1] == '/') && strings.EqualFold(whole[at:], end)
}
