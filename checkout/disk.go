package checkout

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// The trees of a store share files by hard links, so what they take is less than
// the sum of what each holds, and what is gained by removing one is only what it
// shares with none. A tree's meta.json says what was written anew for it. Summed
// up, that is what the trees take, as long as none was removed; then it may be
// too little, for what others have linked stays. So whoever removes a tree notes
// what really became free. Where nothing is noted (another process removed it,
// an earlier run did) a tree counts whole, which is never too little; and before
// a budget is said to be exceeded, its files are looked at one by one.

// usage is what the trees of a store take.
type usage struct {
	bytes int64
	trees map[string]bool // which that is the sum of, by sha
}

// inventory is what there is on disk.
type inventory struct {
	trees, stores []item // least recently used first
	bytes         map[storeKey]int64
	total         int64
}

func (inv *inventory) add(k storeKey, n int64) {
	inv.bytes[k] += n
	inv.total += n
}

// inventory lists trees and stores, and what they take at most.
func (s *Store) inventory() (*inventory, error) {
	inv := &inventory{bytes: map[storeKey]int64{}}
	classes, err := os.ReadDir(filepath.Join(s.opt.Dir, "stores"))
	if err != nil {
		return nil, err
	}
	for _, class := range classes {
		repos, _ := os.ReadDir(filepath.Join(s.opt.Dir, "stores", class.Name()))
		for _, r := range repos {
			k := storeKey{class: class.Name(), repo: r.Name()}
			st := item{key: k}
			if fi, err := os.Stat(filepath.Join(s.storeDir(k), "refs.json")); err == nil {
				st.used = fi.ModTime()
			}
			var shas []string
			dirs, _ := os.ReadDir(filepath.Join(s.storeDir(k), "trees"))
			for _, e := range dirs {
				t := item{key: k, sha: e.Name()}
				if fi, err := os.Stat(filepath.Join(s.treeDir(k, t.sha), "meta.json")); err == nil {
					t.used = fi.ModTime()
				}
				if t.used.After(st.used) {
					st.used = t.used
				}
				shas = append(shas, t.sha)
				inv.trees = append(inv.trees, t)
			}
			inv.add(k, s.besideTrees(k)+s.treesTake(k, shas))
			inv.stores = append(inv.stores, st)
		}
	}
	oldestFirst := func(a, b item) int { return a.used.Compare(b.used) }
	slices.SortFunc(inv.trees, oldestFirst)
	slices.SortFunc(inv.stores, oldestFirst)
	return inv, nil
}

// besideTrees is what a store takes without its trees: the folder that they are in counts.
func (s *Store) besideTrees(k storeKey) int64 {
	trees := filepath.Join(s.storeDir(k), "trees")
	n := diskBytes(s.gitDir(k), eachOnce())
	for _, p := range []string{s.storeDir(k), trees} {
		if fi, err := os.Lstat(p); err == nil {
			n += blocksOf(fi)
		}
	}
	files, _ := os.ReadDir(s.storeDir(k))
	for _, f := range files {
		if fi, err := f.Info(); err == nil && !f.IsDir() {
			n += blocksOf(fi)
		}
	}
	return n
}

// treesTake is what the trees of a store take at most.
func (s *Store) treesTake(k storeKey, shas []string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(shas) == 0 {
		delete(s.used, k)
		return 0
	}
	u := s.used[k]
	known := u.trees != nil
	if !known {
		u.trees = map[string]bool{}
	}
	for _, sha := range shas {
		if u.trees[sha] {
			continue
		}
		u.trees[sha] = true
		if fi, err := os.Stat(filepath.Join(s.treeDir(k, sha), marksFile)); err == nil {
			u.bytes += onDisk(fi.Size())
		}
		if m, err := s.readMeta(k, sha); err == nil {
			if known && m.Own > 0 || m.Own >= m.Bytes {
				u.bytes += m.Own
			} else {
				u.bytes += m.Bytes + int64(m.Files)*2*block // a file's last block, and a folder for each at most
			}
		}
	}
	s.used[k] = u
	return u.bytes
}

// lookClosely replaces what the trees of a store take at most by what they take.
func (inv *inventory) lookClosely(s *Store, k storeKey) {
	exact, count := int64(0), eachOnce()
	trees := map[string]bool{}
	for _, t := range inv.trees {
		if t.key == k {
			trees[t.sha] = true
			exact += diskBytes(s.treeDir(k, t.sha), count)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	inv.add(k, exact-s.used[k].bytes)
	s.used[k] = usage{bytes: exact, trees: trees}
}

// noteFreed notes that a tree went away.
func (s *Store) noteFreed(k storeKey, sha string, freed int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u := s.used[k]; u.trees[sha] {
		delete(u.trees, sha)
		u.bytes -= freed
		if s.used[k] = u; len(u.trees) == 0 {
			delete(s.used, k)
		}
	}
}

// noteGrown notes that something was put beside a tree.
func (s *Store) noteGrown(k storeKey, sha string, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u := s.used[k]; u.trees[sha] {
		u.bytes += bytes
		s.used[k] = u
	}
}

// block is what the disk gives out at least, in bytes.
const block = 4096

// onDisk is what so many bytes of a file take on the disk.
func onDisk(n int64) int64 { return (n + block - 1) / block * block }

// diskBytes adds up what the files and folders below dir take on the disk, those that count.
func diskBytes(dir string, count func(*syscall.Stat_t) bool) int64 {
	var n int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it went away
		}
		if fi, err := d.Info(); err == nil {
			if st, ok := fi.Sys().(*syscall.Stat_t); ok && (d.IsDir() || count(st)) {
				n += blocksOf(fi)
			}
		}
		return nil
	})
	return n
}

// blocksOf is what a file or folder itself takes on the disk.
func blocksOf(fi fs.FileInfo) int64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512 // whatever the disk's blocks are, see stat(2)
	}
	return 0
}

// lastLink counts files that no other name leads to.
func lastLink(st *syscall.Stat_t) bool { return st.Nlink == 1 }

// eachOnce counts every file once, however many names it has.
func eachOnce() func(*syscall.Stat_t) bool {
	seen := map[uint64]bool{}
	return func(st *syscall.Stat_t) bool {
		if st.Nlink == 1 {
			return true
		}
		was := seen[st.Ino]
		seen[st.Ino] = true
		return !was
	}
}
