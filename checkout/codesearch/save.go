package codesearch

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/librarian-app/librarian/checkout/syntax"
)

// fileMagic names the format. Anything that changes chunks or terms must change it: an index of another format counts as none. So does
// one of a build that finds declarations otherwise.
const fileMagic = "librarian-codesearch-9" + syntax.Variant + "\n"

// Save writes the index to a file, by way of a temporary one beside it: a reader sees the whole file or none.
func (ix *Index) Save(path string) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".index-*")
	if err != nil {
		return fmt.Errorf("codesearch: save: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // renamed by then when all went well
	err = ix.write(tmp)
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("codesearch: save: %w", err)
	}
	return nil
}

func (ix *Index) write(f io.Writer) error {
	if _, err := io.WriteString(f, fileMagic); err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestSpeed) // its checksum tells a torn file
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(z, 1<<20)
	var b []byte
	ix.dict.mu.RLock()
	terms := ix.dict.terms
	ix.dict.mu.RUnlock()
	b = binary.AppendUvarint(b, uint64(len(terms)))
	for _, t := range terms {
		b = appendString(b, t)
	}
	b = binary.AppendUvarint(b, uint64(len(ix.files)))
	for i, e := range ix.files {
		b = binary.AppendUvarint(b, uint64(len(e.path)))
		b = append(b, e.path...)
		b = appendString(b, e.hash)
		b = binary.AppendUvarint(b, uint64(len(ix.segs[i])))
		b = append(b, ix.segs[i]...)
		if len(b) > 1<<20 {
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	if _, err := w.Write(b); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return z.Close()
}

// Open reads an index that Save wrote. src gives the text of the same tree, for quoted text in questions; nil leaves that out.
func Open(path string, src Source) (*Index, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("codesearch: open: %w", err)
	}
	defer func() { _ = f.Close() }()
	ix, err := read(bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("codesearch: open %s: %w", filepath.Base(path), err)
	}
	ix.source = src
	return ix, nil
}

// maxIndex bounds what is unpacked from one index file, in bytes.
const maxIndex = 2 << 30

func read(r *bufio.Reader) (*Index, error) {
	magic := make([]byte, len(fileMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != fileMagic {
		return nil, errors.New("not an index of this format")
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	all, err := io.ReadAll(io.LimitReader(z, maxIndex))
	if err != nil {
		return nil, err
	}
	b := reader{b: all}
	ix := &Index{dict: newDictionary()}
	for n := b.uint(); n > 0 && !b.bad; n-- {
		t := b.string()
		ix.dict.ids[t] = uint32(len(ix.dict.terms))
		ix.dict.terms = append(ix.dict.terms, t)
	}
	for n := b.uint(); n > 0 && !b.bad; n-- {
		p, h := b.string(), b.string()
		ix.files = append(ix.files, fileEntry{path: p, hash: h})
		ix.segs = append(ix.segs, segment(b.bytes(b.uint())))
	}
	if b.bad {
		return nil, errCorrupt
	}
	if err := ix.assemble(); err != nil {
		return nil, err
	}
	return ix, nil
}

// With gives the same index over another reader of the same tree.
func (ix *Index) With(src Source) *Index {
	c := *ix
	c.source = src
	return &c
}

// Size is how many bytes Save writes.
func (ix *Index) Size() (int64, error) {
	var n counter
	if err := ix.write(&n); err != nil {
		return 0, fmt.Errorf("codesearch: size: %w", err)
	}
	return int64(n), nil
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
