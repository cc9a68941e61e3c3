package codesearch

// textsKept bounds, in bytes, what a query keeps of the files it has read, so that a candidate of several rules is read once.
const textsKept = 32 << 20

// numbered is a text with where its lines start.
type numbered struct {
	text []byte
	offs []int
}

// lines gives the lines from…to, as far as there are any.
func (n numbered) lines(from, to int) []byte {
	from, to = max(from, 1), min(to, len(n.offs)-1)
	if from > to {
		return nil
	}
	return n.text[n.offs[from-1]:n.offs[to]]
}

// text reads a file; one that cannot be read is empty.
func (r *ranking) text(file uint32) numbered {
	if n, ok := r.texts[file]; ok {
		return n
	}
	f := &r.ix.files[file]
	b, _ := r.ix.source.Read(r.ctx, File{Path: f.path, Hash: f.hash}, MaxFile)
	if r.kept += len(b); r.kept > textsKept {
		clear(r.texts)
		r.kept = len(b)
	}
	n := numbered{b, lineOffsets(b)}
	r.texts[file] = n
	return n
}

// linesOf reads a chunk.
func (r *ranking) linesOf(c uint32) []byte {
	ch := &r.ix.chunks[c]
	return r.text(ch.file).lines(int(ch.start), int(ch.end))
}
