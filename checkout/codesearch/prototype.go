package codesearch

// C and C++ have a function twice: in a header, often with the comment that says in plain words what it does, and where its body is. Who asks
// how something is done wants the body, and finds it by the comment.

// maxBodies is how many functions a prototype may stand for.
const maxBodies = 4

// linkPrototypes ties prototypes to the functions they declare: of the same name, and in the same class where both say which. What has many
// bodies (overloads, one for each platform) is tied to all of them, and to none where they are more than maxBodies.
func (ix *Index) linkPrototypes() {
	ix.defined = map[uint32][]uint32{}
	for i := range ix.chunks {
		c := &ix.chunks[i]
		if !c.prototype || c.name == "" {
			continue
		}
		var bodies []uint32
		for _, o := range ix.symbols[symbolKey(c.name)] {
			d := &ix.chunks[o]
			if d.prototype || d.kind != c.kind || d.name != c.name || c.parent != "" && d.parent != "" && c.parent != d.parent {
				continue
			}
			switch f := &ix.files[d.file]; {
			case f.language != "c" && f.language != "cpp", !c.test && (d.test || f.kind == kindTest), f.kind == kindExample, f.kind == kindVendored:
				continue
			}
			if o > 0 && ix.chunks[o-1].name == d.name && ix.chunks[o-1].file == d.file && ix.chunks[o-1].end+1 == d.start {
				continue // a long function's later part
			}
			bodies = append(bodies, o)
		}
		if n := len(bodies); n > 0 && n <= maxBodies {
			ix.defined[uint32(i)] = bodies
			c.declared = true
		}
	}
}

// lendToBodies lets prototypes give what they score to the functions they declare.
func (r *ranking) lendToBodies() {
	if r.w.Declared == 0 {
		return
	}
	lent := map[uint32]float32{}
	for _, c := range r.touched {
		if !r.ix.measured[c].declared {
			continue
		}
		for _, d := range r.ix.defined[c] {
			if s := float32(r.w.Declared) * (r.score[c] - r.score[d]); s > lent[d] {
				lent[d], r.declares[d] = s, c
			}
		}
	}
	for d, s := range lent {
		r.touch(d)
		r.score[d] += s
	}
}
