package codesearch

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/librarian-app/librarian/checkout/syntax"
)

// A term's counts in one chunk are packed into 16 bits, the most common field lowest so that the varint on disk is short:
// body 5 bits, doc 3, signature 2, name 2, parent 1.
type counts uint16

const (
	bodyBits, docShift, sigShift, nameShift, parentShift = 5, 5, 8, 10, 12

	maxBody, maxDoc, maxSig, maxName, maxParent = 31, 7, 3, 3, 1
)

func (c counts) body() int   { return int(c & maxBody) }
func (c counts) doc() int    { return int(c >> docShift & maxDoc) }
func (c counts) sig() int    { return int(c >> sigShift & maxSig) }
func (c counts) name() int   { return int(c >> nameShift & maxName) }
func (c counts) parent() int { return int(c >> parentShift & maxParent) }

func (c counts) add(shift, limit int) counts {
	if int(c>>shift)&limit < limit {
		c += 1 << shift
	}
	return c
}

// segment is one file's part of the index, ready for disk: what the flags say, then its chunks with their terms. It depends on
// the file's content and name alone, so an unchanged blob's segment is taken over from an older index.
type segment []byte

const (
	flagGenerated = 1    // of a file
	testBit       = 0x80 // of a chunk's kind
	prototypeBit  = 0x40 // the same: a function of C or C++ without a body
)

// segmenter makes segments; each goroutine has its own.
type segmenter struct {
	terms *termer
	tf    map[uint32]counts
	ids   []uint32
	names map[uint32]bool
}

func newSegmenter(d *dictionary) *segmenter {
	return &segmenter{terms: newTermer(d), tf: map[uint32]counts{}, names: map[uint32]bool{}}
}

// skipContent reports whether a file's text is no reading matter: binary, minified, lock files, or data too large.
func skipContent(path string, src []byte) bool {
	if bytes.IndexByte(src[:min(len(src), 8000)], 0) >= 0 {
		return true
	}
	base := path[strings.LastIndexByte(path, '/')+1:]
	switch base {
	case "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "Cargo.lock", "go.sum", "poetry.lock", "Gemfile.lock", "composer.lock", "uv.lock", "mix.lock", "Pipfile.lock", "bun.lock":
		return true
	}
	if len(src) > 100_000 {
		switch syntax.Language(path, src) {
		case "", "configuration", "sql", "text":
			return true
		}
	}
	lines := bytes.Count(src, []byte{'\n'}) + 1
	return len(src) > 20_000 && len(src)/lines > 400
}

// segment cuts and counts one file.
func (s *segmenter) segment(path string, src []byte) segment {
	var flags uint64
	if generatedMark(src) {
		flags |= flagGenerated
	}
	out := binary.AppendUvarint(nil, flags)
	language := syntax.Language(path, src)
	out = appendString(out, language)
	if len(src) == 0 || skipContent(path, src) {
		return binary.AppendUvarint(out, 0)
	}
	pieces := cut(path, src)
	kind := kindOf(path, language, nil)
	offs := lineOffsets(src)
	out = binary.AppendUvarint(out, uint64(len(pieces)))
	for i := range pieces {
		p := &pieces[i]
		clear(s.tf)
		bodyLen, docLen := 0, 0
		s.count(p.name, nameShift, maxName)
		s.count(p.parent, parentShift, maxParent)
		s.count(p.signature, sigShift, maxSig)
		s.terms.each([]byte(p.doc), func(id uint32) { docLen++; s.tf[id] = s.tf[id].add(docShift, maxDoc) })
		for _, b := range p.body {
			text := src[offs[b.from-1]:offs[min(b.to, len(offs)-1)]]
			s.terms.each(text, func(id uint32) { bodyLen++; s.tf[id] = s.tf[id].add(0, maxBody) })
		}
		out = binary.AppendUvarint(out, uint64(p.start))
		out = binary.AppendUvarint(out, uint64(p.end-p.start))
		number := kindNumber(p.kind)
		if p.test {
			number |= testBit
		}
		if p.kind == "function" && (language == "c" || language == "cpp") && !bytes.ContainsRune(src[offs[p.start-1]:offs[min(p.end, len(offs)-1)]], '{') {
			number |= prototypeBit
		}
		out = append(out, number)
		out = appendString(out, p.name)
		out = appendString(out, p.parent)
		out = binary.AppendUvarint(out, uint64(docLen))
		out = binary.AppendUvarint(out, uint64(bodyLen))
		s.ids = s.ids[:0]
		for id := range s.tf {
			s.ids = append(s.ids, id)
		}
		slices.Sort(s.ids)
		out = binary.AppendUvarint(out, uint64(len(s.ids)))
		last := uint32(0)
		for _, id := range s.ids {
			out = binary.AppendUvarint(out, uint64(id-last))
			out = binary.AppendUvarint(out, uint64(s.tf[id]))
			last = id
		}
		clear(s.names)
		if p.test || kind == kindTest || kind == kindDocs || kind == kindExample {
			for _, b := range p.body {
				s.mentions(src[offs[b.from-1]:offs[min(b.to, len(offs)-1)]])
			}
		}
		out = s.appendNames(out)
	}
	return out
}

// maxMentions is how many names a test or a section of prose may link to.
const maxMentions = 48

// mentions collects the names that a test calls or a section of prose speaks of.
func (s *segmenter) mentions(text []byte) {
	for i := 0; i < len(text) && len(s.names) < maxMentions; {
		if !wordByte[text[i]] {
			i++
			continue
		}
		j := i + 1
		for j < len(text) && wordByte[text[j]] {
			j++
		}
		if j-i > 3 && j-i <= maxWord {
			word := text[i:j]
			quoted := i > 0 && j < len(text) && text[i-1] == '`'
			called := j < len(text) && (text[j] == '(' || text[j] == '<')
			if called || quoted || looksLikeCode(string(word)) {
				s.names[nameHash(string(word))] = true
			}
		}
		i = j
	}
}

func (s *segmenter) appendNames(out []byte) []byte {
	s.ids = s.ids[:0]
	for h := range s.names {
		s.ids = append(s.ids, h)
	}
	slices.Sort(s.ids)
	out = binary.AppendUvarint(out, uint64(len(s.ids)))
	last := uint32(0)
	for _, h := range s.ids {
		out = binary.AppendUvarint(out, uint64(h-last))
		last = h
	}
	return out
}

// nameHash is a symbol's number among the mentions: 24 bits are enough to tell a tree's names apart nearly always.
func nameHash(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(symbolKey(name)))
	return h.Sum32() & 0xffffff
}

func (s *segmenter) count(text string, shift, limit int) {
	if text != "" {
		s.terms.each([]byte(text), func(id uint32) { s.tf[id] = s.tf[id].add(shift, limit) })
	}
}

func appendString(b []byte, s string) []byte {
	if len(s) > 200 {
		s = s[:200]
	}
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// chunkKinds are the kinds of chunks by number; the order is part of the file format.
var chunkKinds = []string{"code", "text", "section", "function", "class", "interface", "trait", "struct", "enum", "impl", "namespace", "object", "type", "constant", "variable", "field", "macro", "test"}

func kindNumber(kind string) byte {
	if i := slices.Index(chunkKinds, kind); i >= 0 {
		return byte(i)
	}
	return 0
}

// reader reads varints and strings off a byte slice; after a fault it gives zeros and bad is set.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad = true
		r.b = nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad = true
		r.b = nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) string() string { return string(r.bytes(r.uint())) }
