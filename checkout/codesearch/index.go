package codesearch

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
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
	compounds []compound          // terms that may be two words in one
	symbols   map[string][]uint32 // symbolKey → chunks
	speaks    map[uint32][]uint32 // tests and prose → the chunks that define what they name
	measured  []measured          // by chunk
	defined   map[uint32][]uint32 // prototypes → the functions with the bodies

	avgBody, avgDoc float64
	scratch         *sync.Pool // []float32 for rankings, all zero
	source          Source     // to look at the text of what was found; may be nil
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
	speaks         bool // it has an entry in Index.speaks
	prototype      bool // a function without a body, and in C or C++
	declared       bool // such a one that has its body elsewhere, in Index.defined
	name, parent   string
}

// measured is what scoring looks at of every chunk that has a word: by itself and small, since these are read all over the place.
type measured struct {
	file           uint32
	docLen, length uint16
	class          class
	declared       bool
	speaks         bool
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
	if p := opt.Previous; p != nil && !p.bloated() {
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
		wg.Go(func() {
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
		})
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

// bloated reports whether most of the dictionary is left over from earlier trees: then building anew is cheaper than carrying it on.
func (ix *Index) bloated() bool {
	unused := 0
	for t := 0; t+1 < len(ix.postStart); t++ {
		if ix.postStart[t] == ix.postStart[t+1] {
			unused++
		}
	}
	return unused > 10_000 && unused > len(ix.postStart)/2
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

// termsOf is how many terms a chunk has.
func (ix *Index) termsOf(c uint32) int {
	ch := &ix.chunks[c]
	r := reader{b: ix.segs[ch.file][ch.termsAt:]}
	return int(r.uint())
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
