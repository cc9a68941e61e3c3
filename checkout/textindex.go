package checkout

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
)

// textIndex is the file "marks" beside a tree: each file's marks, by which a
// search leaves out files that cannot match. It only ever leaves out: with it
// and without, a search finds the same.
//
// First come blocks of marks, in the order of the listing, then the head: a
// byte for each entry of the listing, 12 bytes for each block, and headSize
// bytes of what it all is. Numbers are little-endian.
//
// The file is a cache. One that is of another commit, of another version or
// damaged is not used: every block is summed when it is read.
type textIndex struct {
	f      *os.File
	kinds  []byte // by entry of the listing
	blocks []markBlock
}

// markBlock is a stretch of marks that is read in one piece.
type markBlock struct {
	first, end int // entries of the listing
	at         int64
	size       int
	sum        uint32
}

// The kinds of entries.
const (
	kindNone   byte = iota // not a file
	kindBinary             // not text
	kindPlain              // text, and UTF-8 as it is
	kindOther              // other text: offsets in it are not those of the marks
)

const (
	blockSize = 256 << 10 // from which on a block is full
	headMagic = "librarian marks 4\n"
	headSize  = 4 + 4 + 4 + 40 + len(headMagic) // checksum of the head, entries, blocks, commit
	maxHead   = 64 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errStale says that an index cannot be used.
var errStale = errors.New("index is damaged, or of something else")

// openIndex opens the index of a commit's tree with so many entries.
func openIndex(path, sha string, entries int) (_ *textIndex, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	tail := make([]byte, headSize)
	if fi.Size() < int64(len(tail)) {
		return nil, errStale
	}
	if _, err := f.ReadAt(tail, fi.Size()-int64(len(tail))); err != nil {
		return nil, err
	}
	blocks := int64(binary.LittleEndian.Uint32(tail[8:]))
	size := int64(entries) + 12*blocks
	if int64(binary.LittleEndian.Uint32(tail[4:])) != int64(entries) || string(tail[12:]) != fmt.Sprintf("%-40.40s%s", sha, headMagic) || size > min(maxHead, fi.Size()-int64(headSize)) {
		return nil, errStale
	}
	head := make([]byte, size)
	if _, err := f.ReadAt(head, fi.Size()-int64(headSize)-size); err != nil {
		return nil, err
	}
	if headSum(head, tail) != binary.LittleEndian.Uint32(tail) {
		return nil, errStale
	}
	x := &textIndex{f: f, kinds: head[:entries]}
	at := int64(0)
	for b := head[entries:]; len(b) > 0; b = b[12:] {
		bl := markBlock{first: int(binary.LittleEndian.Uint32(b)), end: entries, at: at, size: int(binary.LittleEndian.Uint32(b[4:])), sum: binary.LittleEndian.Uint32(b[8:])}
		if n := len(x.blocks); n > 0 {
			x.blocks[n-1].end = bl.first
		}
		x.blocks = append(x.blocks, bl)
		at += int64(bl.size)
	}
	return x, nil
}

// headSum sums the head with what follows the sum in its tail.
func headSum(head, tail []byte) uint32 {
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, tail[4:])
}

func (x *textIndex) close() { _ = x.f.Close() }

// hint is what a search knows of a file beforehand.
type hint struct {
	is    byte
	spans []span // where matches may be, whole lines; nil: anywhere
}

// span is a piece of a text, by its offsets.
type span struct{ from, to int }

// What a file is for a search.
const (
	mayMatch byte = iota
	noMatch       // text, without what the pattern asks for
	notText
)

// sift tells of each of the files, by their numbers in the listing in ascending
// order, whether and where it may match.
func (x *textIndex) sift(ctx context.Context, q *gramQuery, files []int32, workers int) ([]hint, error) {
	out := make([]hint, len(files))
	if len(files) == 0 {
		return out, nil
	}
	first, _ := slices.BinarySearchFunc(x.blocks, int(files[0]), func(b markBlock, n int) int { return cmp.Compare(b.end, n+1) })
	last, _ := slices.BinarySearchFunc(x.blocks, int(files[len(files)-1]), func(b markBlock, n int) int { return cmp.Compare(b.end, n+1) })
	blocks := x.blocks[first:min(last+1, len(x.blocks))]
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, min(workers, len(blocks)))
	for w := range errs {
		wg.Go(func() {
			var buf []byte
			for ctx.Err() == nil && errs[w] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(blocks) {
					return
				}
				bl := &blocks[i]
				lo, _ := slices.BinarySearch(files, int32(bl.first))
				hi, _ := slices.BinarySearch(files, int32(bl.end))
				if lo == hi {
					continue
				}
				if buf, errs[w] = x.read(bl, buf); errs[w] == nil {
					errs[w] = x.siftBlock(q, bl, buf, files[lo:hi], out[lo:hi])
				}
			}
		})
	}
	wg.Wait()
	return out, errors.Join(append(errs, context.Cause(ctx))...)
}

// read reads a block and sees that it is what was written.
func (x *textIndex) read(bl *markBlock, buf []byte) ([]byte, error) {
	buf = slices.Grow(buf[:0], bl.size)[:bl.size]
	if _, err := x.f.ReadAt(buf, bl.at); err != nil {
		return nil, fmt.Errorf("%w: %w", errStale, err)
	}
	if crc32.Checksum(buf, castagnoli) != bl.sum {
		return nil, errStale
	}
	return buf, nil
}

func (x *textIndex) siftBlock(q *gramQuery, bl *markBlock, b []byte, files []int32, out []hint) error {
	n := 0
	for i := bl.first; i < bl.end && n < len(files); i++ {
		asked := int(files[n]) == i
		switch x.kinds[i] {
		case kindBinary:
			if asked {
				out[n].is = notText
			}
		case kindPlain, kindOther:
			var o hint
			var err error
			if b, o, err = siftFile(q, b, asked); err != nil {
				return err
			}
			if asked {
				if out[n] = o; x.kinds[i] == kindOther {
					out[n].spans = nil
				}
			}
		}
		if asked {
			n++
		}
	}
	return nil
}

// siftFile reads the stretches of one file, and gives what follows them.
func siftFile(q *gramQuery, b []byte, asked bool) ([]byte, hint, error) {
	if len(b) < 2 {
		return nil, hint{}, errStale
	}
	stretches := int(binary.LittleEndian.Uint16(b))
	b = b[2:]
	at, may := 0, 0
	var spans []span
	for n := range stretches {
		if len(b) < 5 || b[4] < minMarkBits || b[4] > maxMarkBits || len(b) < 5+1<<b[4]/8 {
			return nil, hint{}, errStale
		}
		end := at + int(binary.LittleEndian.Uint32(b))
		size := 5 + 1<<b[4]/8
		if asked && q.in(marks(b[5:size])) {
			may++
			if last := len(spans) - 1; last >= 0 && spans[last].to == at {
				spans[last].to = end
			} else if n > 0 || stretches > 1 {
				spans = append(spans, span{at, end})
			}
		}
		at, b = end, b[size:]
	}
	switch may {
	case 0:
		return b, hint{is: noMatch}, nil
	case stretches:
		spans = nil
	}
	return b, hint{spans: spans}, nil
}

// indexWriter writes an index.
type indexWriter struct {
	w      io.Writer
	kinds  []byte
	blocks []byte
	block  []byte
	first  int // entry of the block
}

// add adds the next entry; marks were appended to x.block already.
func (x *indexWriter) add(kind byte) error {
	x.kinds = append(x.kinds, kind)
	if len(x.block) >= blockSize {
		return x.flush()
	}
	return nil
}

func (x *indexWriter) flush() error {
	x.blocks = binary.LittleEndian.AppendUint32(x.blocks, uint32(x.first))
	x.blocks = binary.LittleEndian.AppendUint32(x.blocks, uint32(len(x.block)))
	x.blocks = binary.LittleEndian.AppendUint32(x.blocks, crc32.Checksum(x.block, castagnoli))
	x.first = len(x.kinds)
	_, err := x.w.Write(x.block)
	x.block = x.block[:0]
	return err
}

// finish writes the head.
func (x *indexWriter) finish(sha string) error {
	if x.first < len(x.kinds) {
		if err := x.flush(); err != nil {
			return err
		}
	}
	tail := make([]byte, 12, headSize)
	binary.LittleEndian.PutUint32(tail[4:], uint32(len(x.kinds)))
	binary.LittleEndian.PutUint32(tail[8:], uint32(len(x.blocks)/12))
	tail = fmt.Appendf(tail, "%-40.40s%s", sha, headMagic)
	head := slices.Concat(x.kinds, x.blocks)
	binary.LittleEndian.PutUint32(tail, headSum(head, tail))
	_, err := x.w.Write(bytes.Join([][]byte{head, tail}, nil))
	return err
}
