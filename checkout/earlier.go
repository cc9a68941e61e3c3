package checkout

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"time"
)

// earlierMarks gives the marks of files that another tree of the same store has
// too, so that the index of the next commit costs what has changed. It goes
// through that tree's index once, in the order of the listing.
type earlierMarks struct {
	x     *textIndex
	tree  *Tree
	entry int    // the next one
	block int    // the next one
	rest  []byte // of the block before it: the marks from entry on
}

// earlier opens the index of the tree that was used last among the others of
// the store that have one; nil if there is none. done gives that tree back.
func (s *Store) earlier(ctx context.Context, t *sharedTree) (_ *earlierMarks, done func()) {
	none := func() {}
	shas, err := os.ReadDir(filepath.Join(s.storeDir(t.key), "trees"))
	if err != nil {
		return nil, none
	}
	best, at := "", time.Time{}
	for _, e := range shas {
		used, err := os.Stat(filepath.Join(s.treeDir(t.key, e.Name()), "meta.json"))
		_, err2 := os.Stat(filepath.Join(s.treeDir(t.key, e.Name()), marksFile))
		if cmp.Or(err, err2) == nil && e.Name() != t.sha && (best == "" || used.ModTime().After(at)) {
			best, at = e.Name(), used.ModTime()
		}
	}
	if best == "" {
		return nil, none
	}
	other := s.hold(ctx, t.key, best)
	if other == nil {
		return nil, none
	}
	tree, err := other.list()
	if err != nil {
		s.letGo(other)
		return nil, none
	}
	x, err := openIndex(other.indexPath(), other.sha, len(tree.Entries))
	if err != nil {
		s.letGo(other)
		return nil, none
	}
	return &earlierMarks{x: x, tree: tree}, func() { x.close(); s.letGo(other) }
}

// find gives the marks of an entry that is the same there. Entries must be asked
// for in order. What is given holds until the next call.
func (m *earlierMarks) find(e *Entry) (marks []byte, kind byte, ok bool) {
	for m.entry < len(m.tree.Entries) && m.tree.Entries[m.entry].Path <= e.Path {
		was := &m.tree.Entries[m.entry]
		raw, kind, err := m.next()
		if err != nil {
			m.entry = len(m.tree.Entries) // the rest is read from the tree
			return nil, 0, false
		}
		if was.Path == e.Path {
			return raw, kind, was.OID == e.OID && kind != kindNone
		}
	}
	return nil, 0, false
}

// next gives the marks of the next entry.
func (m *earlierMarks) next() (raw []byte, kind byte, err error) {
	for m.block < len(m.x.blocks) && m.x.blocks[m.block].first <= m.entry {
		if m.rest, err = m.x.read(&m.x.blocks[m.block], nil); err != nil {
			return nil, 0, err
		}
		m.block++
	}
	kind = m.x.kinds[m.entry]
	m.entry++
	if kind == kindPlain || kind == kindOther {
		after, _, err := siftFile(nil, m.rest, false)
		if err != nil {
			return nil, 0, err
		}
		raw, m.rest = m.rest[:len(m.rest)-len(after)], after
	}
	return raw, kind, nil
}
