package codesearch

import (
	"slices"
	"sort"
	"strconv"
	"strings"
)

// list turns the order into candidates. Files share the list: each further result of a file counts less, and so does what is much the
// same as two results before. Which of its chunks a file shows first is a second question (see local.go), so that a file found by a
// class's comment still answers with the function that does the work.
func (r *ranking) list(limit int) []Candidate {
	saturation := r.w.SaturationTerse + (r.w.Saturation-r.w.SaturationTerse)*r.asked.wordy
	slots := slices.Clone(r.order) // what a file's next result is worth
	queue := map[uint32][]hit{}    // what it will be
	shown := map[uint32]int{}      // results of a file so far
	taken := map[uint32][]span{}   // their lines
	answered := map[uint32]bool{}  // chunks that were shown
	same := newAgain(r)
	var out []Candidate
	for len(out) < limit && len(slots) > 0 {
		best, bi := -1.0, -1
		for i, h := range slots {
			s := h.score * same.worth(h.chunk)
			for range shown[r.ix.chunks[h.chunk].file] {
				s *= saturation
			}
			if s > best {
				best, bi = s, i
			}
		}
		file := r.ix.chunks[slots[bi].chunk].file
		found := slots[bi].chunk
		slots = slices.Delete(slots, bi, bi+1)
		if shown[file] == 0 && queue[file] == nil {
			queue[file] = r.localOrder(file)
		}
		h, ok := r.next(queue, file, taken, answered)
		if !ok {
			continue
		}
		answered[h.chunk] = true
		shown[file]++
		same.shown(found, shown[file] == 1, slots)
		out = append(out, r.joined(h, queue[file], taken))
	}
	return out
}

// next takes a file's best chunk that is not yet shown, nor the prototype of one that is.
func (r *ranking) next(queue map[uint32][]hit, file uint32, taken map[uint32][]span, answered map[uint32]bool) (hit, bool) {
	l := queue[file]
	for len(l) > 0 {
		h := l[0]
		l = l[1:]
		queue[file] = l
		ch := &r.ix.chunks[h.chunk]
		if overlaps(taken[file], int(ch.start), int(ch.end)) {
			continue
		}
		if ch.declared && !r.asked.alone && slices.ContainsFunc(r.ix.defined[h.chunk], func(c uint32) bool { return answered[c] }) {
			continue
		}
		return h, true
	}
	return hit{}, false
}

// own is what a chunk says by itself, without its file and its path.
func (r *ranking) own(c uint32) float64 { return float64(r.score[c]) * r.kind[r.ix.chunks[c].class] }

// joined makes a candidate of a chunk and of its neighbours that are nearly as good, as long as the whole stays short.
func (r *ranking) joined(h hit, rest []hit, taken map[uint32][]span) Candidate {
	c := r.candidate(h)
	file := r.ix.chunks[h.chunk].file
	for again := true; again && r.w.JoinLines > 0; {
		again = false
		for _, o := range rest {
			ch := &r.ix.chunks[o.chunk]
			from, to := int(ch.start), int(ch.end)
			if r.score[o.chunk] == 0 || r.own(o.chunk) < r.w.JoinShare*r.own(h.chunk) || from >= c.Start && to <= c.End {
				continue
			}
			gap := max(from-c.End, c.Start-to)
			lo, hi := min(from, c.Start), max(to, c.End)
			if gap > joinGap || hi-lo+1 > r.w.JoinLines || overlaps(taken[file], lo, hi) {
				continue
			}
			c.Start, c.End = lo, hi
			if ch.name != "" && ch.name != c.Symbol {
				c.Why = append(c.Why, "beside "+ch.name)
			}
			again = true
		}
	}
	taken[file] = append(taken[file], span{c.Start, c.End})
	return c
}

// joinGap is how many lines may lie between two chunks that are shown as one: a comment, a blank line, an annotation.
const joinGap = 12

func overlaps(spans []span, from, to int) bool {
	for _, s := range spans {
		if from <= s.to && to >= s.from {
			return true
		}
	}
	return false
}

func (r *ranking) candidate(h hit) Candidate {
	ch := &r.ix.chunks[h.chunk]
	f := &r.ix.files[ch.file]
	return Candidate{Path: f.path, Start: int(ch.start), End: int(ch.end), Line: int(ch.start), Symbol: ch.name, Parent: ch.parent, Kind: chunkKinds[ch.kind], Language: f.language,
		Score: r.meaning(h), Why: r.why(h.chunk)}
}

// why names the reasons, the strongest first.
func (r *ranking) why(c uint32) []string {
	out := slices.Clone(r.reasons[c])
	type reason struct {
		word  string
		score float64
	}
	var name, body []reason
	for _, t := range r.asked.terms {
		if t.word == "" {
			continue
		}
		chunks, tfs := r.ix.postings(t.id)
		i, ok := slices.BinarySearch(chunks, c)
		if !ok {
			continue
		}
		rs := reason{t.word, r.ix.idf(len(chunks))}
		if n := tfs[i]; n.name() > 0 {
			name = append(name, rs)
		} else {
			body = append(body, rs)
		}
	}
	for _, l := range []struct {
		label string
		list  []reason
	}{{"name has ", name}, {"mentions ", body}} {
		sort.SliceStable(l.list, func(i, j int) bool { return l.list[i].score > l.list[j].score })
		var words []string
		for _, x := range l.list[:min(len(l.list), 5)] {
			words = append(words, x.word)
		}
		if len(words) > 0 {
			out = append(out, l.label+strings.Join(words, ", "))
		}
	}
	if d, ok := r.declares[c]; ok {
		p := &r.ix.chunks[d]
		out = append(out, "declared in "+r.ix.files[p.file].path+":"+strconv.Itoa(int(p.start))+", which fits")
	}
	return out
}
