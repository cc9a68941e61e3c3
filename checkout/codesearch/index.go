package codesearch

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sort"
	"strings"
	"sync"
)

// MaxFile is how many bytes of one file are read; what comes after is not searched.
const MaxFile = 2 << 20

// Options of Build. The zero value is good.
type Options struct {
	Previous *Index // an index of a neighbouring tree: blobs it knows by hash are not read again
	Workers  int    // goroutines that read and cut files; 0: one per processor
}

// Index is the searchable form of one tree. It never changes; many searches may use it at once.
type Index struct {
	dict   *dictionary
	files  []fileEntry
	chunks []chunk
	segs   []segment // per file, as on disk; the terms of a chunk are read from here when needed

	postStart []uint32 // per term: where its postings start; one more at the end
	postChunk []uint32
	postCount []counts
	pathTerms map[uint32][]pathPosting
	symbols   map[string][]uint32 // symbolKey → chunks
	speaks    map[uint32][]uint32 // tests and prose → the chunks that define what they name

	avgBody, avgDoc float64
	source          Source // to look at the text of what was found; may be nil
}

type fileEntry struct {
	path, hash  string
	language    string
	kind        pathKind
	stemIDF     float32 // the idf, over files, of the words of its own name, summed
	first, next uint32  // its chunks
}

type chunk struct {
	file           uint32
	start, end     uint32
	termsAt        uint32 // offset of its terms in the file's segment
	docLen, length uint16
	kind           uint8
	class          class
	test           bool
	constructor    bool
	nameIDF        float32 // the idf of the words of its name, summed
	name, parent   string
}

type pathPosting struct {
	file uint32
	stem bool // in the file's own name, not in a folder's
}

// Build reads a tree and indexes it. Files that cannot be read are skipped; Build fails when none can, when the list cannot be
// had, or when ctx ends.
func Build(ctx context.Context, src Source, opt Options) (*Index, error) {
	files, err := src.Files(ctx)
	if err != nil {
		return nil, fmt.Errorf("codesearch: list files: %w", err)
	}
	sort.Slice(files, func(i, j int) bool { return files[i].Path < files[j].Path })
	ix := &Index{source: src}
	known := map[string]segment{}
	if p := opt.Previous; p != nil {
		ix.dict = p.dict.clone()
		for i, f := range p.files {
			known[f.hash+" "+extension(f.path)] = p.segs[i]
		}
	} else {
		ix.dict = newDictionary()
	}
	ix.files = make([]fileEntry, len(files))
	ix.segs = make([]segment, len(files))
	workers := opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var firstErr error
	failed := 0
	next := make(chan int)
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s := newSegmenter(ix.dict)
			for i := range next {
				f := files[i]
				e := &ix.files[i]
				e.path, e.hash = f.Path, f.Hash
				if seg, ok := known[f.Hash+" "+extension(f.Path)]; ok && f.Hash != "" {
					ix.segs[i] = seg
					continue
				}
				var text []byte
				if skipByName(f.Path) || f.Size > 8*MaxFile {
					text = nil // findable by its path alone
				} else if b, err := src.Read(ctx, f, MaxFile); err != nil {
					mu.Lock()
					failed++
					if firstErr == nil {
						firstErr = err
					}
					mu.Unlock()
				} else {
					text = b
				}
				if e.hash == "" {
					e.hash = blobHash(text)
				}
				ix.segs[i] = s.segment(f.Path, text)
			}
		}()
	}
	for i := range files {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("codesearch: build: %w", err)
	}
	if failed > 0 && failed == len(files) {
		return nil, fmt.Errorf("codesearch: build: %w", firstErr)
	}
	if err := ix.assemble(); err != nil {
		return nil, fmt.Errorf("codesearch: build: %w", err)
	}
	return ix, nil
}

func extension(p string) string {
	base := p[strings.LastIndexByte(p, '/')+1:]
	if i := strings.LastIndexByte(base, '.'); i > 0 {
		return base[i:]
	}
	return base
}

// skipByName saves reading what is binary by its name.
func skipByName(p string) bool {
	switch strings.ToLower(extension(p)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".ico", ".pdf", ".zip", ".gz", ".tar", ".jar", ".woff", ".woff2", ".ttf", ".eot", ".mp4", ".webp", ".svg", ".so", ".dll", ".exe", ".class", ".wasm", ".bin", ".xz", ".bz2", ".7z", ".psd", ".mov", ".map", ".snk", ".der", ".p12", ".jks":
		return true
	}
	return false
}

// blobHash is git's name for a blob of this content.
func blobHash(b []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(b))
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}

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
				c.kind, c.test = k[0]&^testBit, k[0]&testBit != 0
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
	ix.link()
	ix.linkMentions(named)
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
		if slash > 0 {
			add(f.path[:slash], false)
		}
		base := f.path[slash+1:]
		if d := strings.LastIndexByte(base, '.'); d > 0 {
			base = base[:d]
		}
		add(base, true)
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
	names := map[string]float32{}
	for i := range ix.chunks {
		c := &ix.chunks[i]
		if v, ok := names[c.name]; ok {
			c.nameIDF = v
		} else {
			tm.each([]byte(c.name), func(id uint32) {
				chunks, _ := ix.postings(id)
				c.nameIDF += float32(ix.idf(len(chunks)))
			})
			names[c.name] = c.nameIDF
		}
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

// symbolKey is what a symbol is looked up by: its last part, in lower case, without marks in front.
func symbolKey(name string) string {
	if i := strings.LastIndexAny(name, ".:"); i >= 0 && i+1 < len(name) {
		name = name[i+1:]
	}
	return strings.ToLower(strings.TrimLeft(name, "_$@#~"))
}

// pathIDF is idf over files.
func (ix *Index) pathIDF(df int) float64 {
	n := float64(len(ix.files))
	return math.Log(1 + (n-float64(df)+.5)/(float64(df)+.5))
}

// idf is how much a term that stands in df chunks tells (BM25's, never negative).
func (ix *Index) idf(df int) float64 {
	n := float64(len(ix.chunks))
	return math.Log(1 + (n-float64(df)+.5)/(float64(df)+.5))
}

// eachTerm reads a chunk's terms.
func (ix *Index) eachTerm(c uint32, f func(id uint32, n counts)) {
	ch := &ix.chunks[c]
	r := reader{b: ix.segs[ch.file][ch.termsAt:]}
	id := uint32(0)
	for m := r.uint(); m > 0 && !r.bad; m-- {
		id += uint32(r.uint())
		f(id, counts(r.uint()))
	}
}

// postings gives the chunks that hold a term, in order.
func (ix *Index) postings(id uint32) ([]uint32, []counts) {
	if int(id)+1 >= len(ix.postStart) {
		return nil, nil
	}
	a, b := ix.postStart[id], ix.postStart[id+1]
	return ix.postChunk[a:b], ix.postCount[a:b]
}

// Stats says how large the index is.
type Stats struct{ Files, Chunks, Terms, Postings int }

// Stats counts files, chunks, terms and postings.
func (ix *Index) Stats() Stats {
	return Stats{len(ix.files), len(ix.chunks), len(ix.dict.terms), len(ix.postChunk)}
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
