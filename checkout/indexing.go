package checkout

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"
)

// A tree's index is made in the background after the first search that had many
// files to look into, by one goroutine and one tree at a time, so that a machine
// of two cores keeps one. It is beside the tree: whoever holds that tree, in
// whatever process, uses it, and it goes when the tree goes. Making it reads the
// tree once, or what another tree of the store has not (earlier.go), and takes about
// a twelfth of its size on the disk. Nothing waits for it, and without it a search finds the same.

const (
	// filesForIndex is how many files a search must have before the tree gets an index.
	filesForIndex = 500
	// siftFrom is how many files a search must have before the index is read for it.
	siftFrom = 64
	// indexPatience is for how long in all the making of one index stands back
	// while there are searches.
	indexPatience = 3 * time.Second
)

// treeIndex is the index of a held tree.
type treeIndex struct {
	mu   sync.Mutex
	open *textIndex // nil if there is none, or none yet
}

// marksFile is the index's name, beside the tree.
const marksFile = "marks"

func (t *sharedTree) indexPath() string { return filepath.Join(filepath.Dir(t.dir), marksFile) }

// get gives the index, nil if there is none that can be used.
func (x *treeIndex) get(s *Store, t *sharedTree, tree *Tree) *textIndex {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.open != nil {
		return x.open
	}
	open, err := openIndex(t.indexPath(), t.sha, len(tree.Entries))
	switch {
	case err == nil:
		x.open = open
	case !errors.Is(err, fs.ErrNotExist):
		s.dropIndex(t, err)
	}
	return x.open
}

// drop closes what cannot be used and removes it, so that it is made anew.
func (x *treeIndex) drop(s *Store, t *sharedTree, was *textIndex, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.open == was {
		x.open = nil
		was.close()
		s.dropIndex(t, err)
	}
}

func (x *treeIndex) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.open != nil {
		x.open.close()
		x.open = nil
	}
}

func (s *Store) dropIndex(t *sharedTree, err error) {
	s.opt.Log.Warn("checkout: index is not used", "tree", t.sha, "err", err)
	_ = os.Remove(t.indexPath())
}

// sifter tells what a tree's index knows of files.
type sifter struct {
	c       *Checkout
	x       *textIndex // nil if there is none, or it is of no use
	q       *gramQuery
	workers int
}

func (c *Checkout) sifter(m *matcher, tree *Tree, files []int32, workers int) *sifter {
	f := &sifter{c: c, workers: workers}
	if len(files) < siftFrom {
		return f
	}
	if f.q = gramsOf(m); f.q != nil {
		f.x = c.tree.index.get(c.store, c.tree, tree)
	}
	return f
}

// sift tells what is known of each file.
func (f *sifter) sift(ctx context.Context, files []int32) []hint {
	if f.x != nil {
		known, err := f.x.sift(ctx, f.q, files, f.workers)
		if err == nil {
			return known
		}
		if ctx.Err() == nil {
			f.c.tree.index.drop(f.c.store, f.c.tree, f.x, err)
		}
		f.x = nil
	}
	return make([]hint, len(files))
}

// wantIndex makes a tree's index in the background, unless there is one, or one
// of another tree is being made.
func (s *Store) wantIndex(t *sharedTree) {
	if _, err := os.Stat(t.indexPath()); err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started || s.closed || s.indexing {
		return
	}
	s.indexing = true
	t.holds++
	s.background.Go(func() {
		defer s.letGo(t)
		err := s.makeIndex(s.life, t)
		s.mu.Lock()
		s.indexing = false
		s.mu.Unlock()
		if err != nil && s.life.Err() == nil && !errors.Is(err, errHeld) {
			s.opt.Log.Info("checkout: index was not made", "tree", t.sha, "err", err)
		}
	})
}

// makeIndex makes a tree's index in staging and puts it beside the tree.
func (s *Store) makeIndex(ctx context.Context, t *sharedTree) error {
	lock, err := s.locks.try(t.key.lock(t.sha + ".marks")) // another process may be at it
	if err != nil {
		return err
	}
	defer lock.remove()
	free, err := s.free()
	if err != nil {
		return err
	}
	if free-t.meta.Bytes/4 < s.opt.Budget.FreeBytes {
		return errors.New("no room on the disk")
	}
	tree, err := t.list()
	if err != nil {
		return err
	}
	tmp, _, done, err := s.staging()
	if err != nil {
		return err
	}
	defer done()
	f, err := os.OpenFile(filepath.Join(tmp, marksFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	b := bufio.NewWriterSize(f, 64<<10)
	if err := s.writeIndex(ctx, &indexWriter{w: b}, t, tree); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), t.indexPath()); err != nil {
		return err
	}
	s.noteGrown(t.key, t.sha, onDisk(fi.Size()))
	s.stats.indexes.Add(1)
	return nil
}

// writeIndex reads a tree through and writes its index.
func (s *Store) writeIndex(ctx context.Context, w *indexWriter, t *sharedTree, tree *Tree) error {
	var k marker
	sc := scanner{treeFiles: treeFiles{dir: t.dir}}
	defer sc.close()
	earlier, done := s.earlier(ctx, t)
	defer done()
	patience := int(indexPatience / time.Millisecond)
	for i := range tree.Entries {
		for ; patience > 0 && s.searches.Load() > 0 && ctx.Err() == nil; patience-- {
			select {
			case <-ctx.Done():
			case <-time.After(time.Millisecond):
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		kind, err := w.entry(&sc, &k, earlier, &tree.Entries[i])
		if err != nil {
			return err
		}
		if err := w.add(kind); err != nil {
			return err
		}
	}
	return w.finish(t.sha)
}

// entry appends an entry's marks to the block and gives its kind.
func (x *indexWriter) entry(sc *scanner, k *marker, earlier *earlierMarks, e *Entry) (kind byte, err error) {
	if e.Kind != File && e.Kind != Exec {
		return kindNone, nil
	}
	if earlier != nil {
		if raw, kind, ok := earlier.find(e); ok {
			x.block = append(x.block, raw...)
			return kind, nil
		}
	}
	text, ok, err := sc.text(e, true)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return kindBinary, nil
	}
	x.block = k.markAll(x.block, text)
	if len(text) > 0 && &text[0] != &sc.buf[0] || bytes.HasPrefix(text, byteOrderMark) {
		return kindOther, nil
	}
	return kindPlain, nil
}

// text reads a file; ok is false if it is binary or too large. With wide it is
// UTF-8, else it may be in an encoding that has ASCII in common with that.
func (s *scanner) text(e *Entry, wide bool) (text []byte, ok bool, err error) {
	if e.Size > MaxRead {
		return nil, false, nil
	}
	if e.Size == 0 {
		return nil, true, nil
	}
	raw, err := s.read(e)
	if err != nil {
		return nil, false, err
	}
	if isBinary(raw) || raw[0] >= 0xfe || wide && !utf8.Valid(raw) {
		text, _, binary := decode(raw)
		return text, !binary, nil
	}
	return raw, true, nil
}
