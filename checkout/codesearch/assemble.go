package codesearch

import (
	"errors"
	"math"
	"strings"
	"sync"
)

var errCorrupt = errors.New("corrupt index")

// assemble reads the segments once and builds what searching needs from them.
func (ix *Index) assemble() error {
	terms := len(ix.dict.terms)
	ix.postStart = make([]uint32, terms+2)
	var names interner
	var named []mention
	var bodySum, docSum float64
	for i := range ix.files {
		f := &ix.files[i]
		f.first = uint32(len(ix.chunks))
		seg := ix.segs[i]
		r := reader{b: seg}
		flags := r.uint()
		f.language = names.get(r.bytes(r.uint()))
		if f.kind = kindOf(f.path, f.language, nil); flags&flagGenerated != 0 && f.kind == kindSource {
			f.kind = kindGenerated
		}
		for n := r.uint(); n > 0 && !r.bad; n-- {
			var c chunk
			c.file = uint32(i)
			c.start = uint32(r.uint())
			c.end = c.start + uint32(r.uint())
			if k := r.bytes(1); len(k) == 1 {
				c.kind, c.test, c.prototype = k[0]&^(testBit|prototypeBit), k[0]&testBit != 0, k[0]&prototypeBit != 0
				if int(c.kind) >= len(chunkKinds) {
					return errCorrupt
				}
			}
			c.name, c.parent = names.get(r.bytes(r.uint())), names.get(r.bytes(r.uint()))
			c.constructor = isConstructor(c.name, c.parent)
			doc, body := r.uint(), r.uint()
			c.docLen, c.length = uint16(min(doc, math.MaxUint16)), uint16(min(body, math.MaxUint16))
			docSum += float64(doc)
			bodySum += float64(body)
			c.termsAt = uint32(len(seg) - len(r.b))
			id := uint64(0)
			for m := r.uint(); m > 0 && !r.bad; m-- {
				id += r.uint()
				r.uint()
				if id >= uint64(terms) {
					return errCorrupt
				}
				ix.postStart[id+2]++
			}
			h := uint64(0)
			for m := r.uint(); m > 0 && !r.bad; m-- {
				h += r.uint()
				named = append(named, mention{uint32(len(ix.chunks)), uint32(h)})
			}
			c.class = classOf(f.kind, &c)
			ix.chunks = append(ix.chunks, c)
		}
		if r.bad || int(flags) < 0 {
			return errCorrupt
		}
		f.next = uint32(len(ix.chunks))
	}
	if n := float64(len(ix.chunks)); n > 0 {
		ix.avgBody, ix.avgDoc = max(bodySum/n, 1), max(docSum/n, 1)
	}
	for t := 2; t < len(ix.postStart); t++ {
		ix.postStart[t] += ix.postStart[t-1]
	}
	total := ix.postStart[terms+1]
	ix.postChunk = make([]uint32, total)
	ix.postCount = make([]counts, total)
	for c := range ix.chunks {
		ix.eachTerm(uint32(c), func(id uint32, n counts) {
			at := ix.postStart[id+1]
			ix.postChunk[at], ix.postCount[at] = uint32(c), n
			ix.postStart[id+1]++
		})
	}
	ix.postStart = ix.postStart[:terms+1]
	ix.scratch = &sync.Pool{}
	ix.link()
	ix.findCompounds()
	ix.linkMentions(named)
	ix.linkPrototypes()
	ix.measured = make([]measured, len(ix.chunks))
	for i := range ix.chunks {
		c := &ix.chunks[i]
		ix.measured[i] = measured{c.file, c.docLen, c.length, c.class, c.declared, c.speaks}
	}
	return nil
}

// class is all that the weights by kind look at, in one number: the path's kind, the chunk's shape, whether it is a test, whether it is a
// constructor.
type class uint8

// shape is what a chunk is, as far as the ranking cares.
type shape uint8

const (
	shapeCode  shape = iota // a declaration with a body
	shapePlain              // lines without a declaration
	shapeType               // the head of a container, a type
	shapeSmall              // three lines or fewer
	shapes
)

func shapeOf(c *chunk) shape {
	switch kind := chunkKinds[c.kind]; {
	case kind == "code" || kind == "text":
		return shapePlain
	case isContainer(kind) || kind == "type":
		return shapeType
	case c.end-c.start < 3:
		return shapeSmall
	}
	return shapeCode
}

const classes = int(pathKinds) * int(shapes) * 4

func classOf(k pathKind, c *chunk) class {
	n := (int(k)*int(shapes) + int(shapeOf(c))) * 4
	if c.test {
		n += 2
	}
	if c.constructor {
		n++
	}
	return class(n)
}

func (c class) parts() (k pathKind, s shape, test, constructor bool) {
	n := int(c)
	return pathKind(n / 4 / int(shapes)), shape(n / 4 % int(shapes)), n&2 != 0, n&1 != 0
}

// mention says that a chunk names a symbol.
type mention struct{ chunk, hash uint32 }

// maxDefinitions is how many places may define a name for a mention of it to mean something.
const maxDefinitions = 3

// linkMentions ties tests and sections of prose to the code they name.
func (ix *Index) linkMentions(named []mention) {
	defined := map[uint32][]uint32{}
	for i := range ix.chunks {
		c := &ix.chunks[i]
		k := ix.files[c.file].kind
		if c.name == "" || c.test || k == kindTest || k == kindDocs || k == kindExample || k == kindConfig || k == kindVendored || k == kindBench {
			continue
		}
		h := nameHash(c.name)
		defined[h] = append(defined[h], uint32(i))
	}
	ix.speaks = map[uint32][]uint32{}
	for _, m := range named {
		if d := defined[m.hash]; len(d) > 0 && len(d) <= maxDefinitions {
			ix.speaks[m.chunk] = append(ix.speaks[m.chunk], d...)
			ix.chunks[m.chunk].speaks = true
		}
	}
}

// isConstructor reports whether a function bears its type's name or a language's name for constructors.
func isConstructor(name, parent string) bool {
	switch name {
	case "__init__", "__construct", "constructor", "init", "initialize":
		return parent != ""
	case "":
		return false
	}
	return name == parent
}

// link fills the tables of paths and symbols.
func (ix *Index) link() {
	ix.pathTerms = map[uint32][]pathPosting{}
	tm := newTermer(ix.dict)
	for i, f := range ix.files {
		slash := strings.LastIndexByte(f.path, '/')
		add := func(text string, stem bool) {
			tm.each([]byte(text), func(id uint32) {
				l := ix.pathTerms[id]
				if n := len(l); n > 0 && l[n-1].file == uint32(i) {
					l[n-1].stem = l[n-1].stem || stem
					return
				}
				ix.pathTerms[id] = append(l, pathPosting{uint32(i), stem})
			})
		}
		folder, base := f.path[:max(slash, 0)], f.path[slash+1:]
		if d := strings.LastIndexByte(base, '.'); d > 0 {
			base = base[:d]
		}
		if namelessStem[base] { // extract/mod.rs is called extract
			if up := strings.LastIndexByte(folder, '/'); folder != "" {
				add(folder[up+1:], true)
				folder = folder[:max(up, 0)]
			}
		} else {
			add(base, true)
		}
		if folder != "" {
			add(folder, false)
		}
	}
	for _, ps := range ix.pathTerms {
		idf := float32(ix.pathIDF(len(ps)))
		for _, p := range ps {
			if p.stem {
				ix.files[p.file].stemIDF += idf
			}
		}
	}
	ix.symbols = map[string][]uint32{}
	for i := range ix.chunks {
		c := &ix.chunks[i]
		if c.name != "" && chunkKinds[c.kind] != "section" {
			k := symbolKey(c.name)
			ix.symbols[k] = append(ix.symbols[k], uint32(i))
		}
	}
	// Path words that stand in no chunk are new to the dictionary: give them empty postings.
	for len(ix.postStart) < len(ix.dict.terms)+1 {
		ix.postStart = append(ix.postStart, uint32(len(ix.postChunk)))
	}
}

// namelessStem are file names that languages prescribe: their folder says what they are.
var namelessStem = map[string]bool{"mod": true, "index": true, "__init__": true, "lib": true, "main": true, "init": true, "__main__": true, "package": true}

// symbolKey is what a symbol is looked up by: its last part, in lower case, without marks in front.
func symbolKey(name string) string {
	if i := strings.LastIndexAny(name, ".:"); i >= 0 && i+1 < len(name) {
		name = name[i+1:]
	}
	return strings.ToLower(strings.TrimLeft(name, "_$@#~"))
}

// interner keeps one copy of equal strings.
type interner struct{ m map[string]string }

func (n *interner) get(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if s, ok := n.m[string(b)]; ok {
		return s
	}
	if n.m == nil {
		n.m = map[string]string{}
	}
	s := string(b)
	n.m[s] = s
	return s
}
