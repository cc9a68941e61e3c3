package checkout

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// errDamaged says that what is on disk is not what it should be.
var errDamaged = errors.New("damaged on disk")

// meta is what is known of a published tree.
type meta struct {
	SHA   string    `json:"sha"`
	Files int       `json:"files"` // files and symbolic links
	Bytes int64     `json:"bytes"`
	Own   int64     `json:"own,omitempty"` // what was written anew for it and not linked, in blocks of the disk
	List  int64     `json:"list"`          // size of the listing
	Made  time.Time `json:"made"`
	Lacks []string  `json:"lacks,omitempty"` // see Checkout.Lacks
	// Boot names the machine's run in which the tree was last known to be what
	// it should be. After a power cut a rename may be on disk before the bytes
	// it stands for; so a tree of an earlier run is read through once.
	Boot string `json:"boot"`
}

// materialise writes a plan's tree into staging and publishes it by a rename.
// No git process touches the tree: the bytes go from the object store to the
// files as they are, hashed on the way, so that attributes, filters, hooks and
// symbolic links have nothing to act on. One at a time per commit; whoever
// waited finds it there.
func (s *Store) materialise(ctx context.Context, k storeKey, repo Repo, p *plan) (*sharedTree, error) {
	lock, err := s.locks.exclusive(ctx, k.lock(p.sha+".make"))
	if err != nil {
		return nil, err
	}
	defer lock.remove()
	if t := s.hold(ctx, k, p.sha); t != nil {
		return t, nil
	}
	need := int64(0)
	for _, e := range p.tree.Entries {
		need += onDisk(e.Size) + int64(len(e.Path)) // the latter for the listing and the folders
	}
	if err := s.room(ctx, repo, need); err != nil {
		return nil, err
	}
	tmp, _, done, err := s.staging()
	if err != nil {
		return nil, err
	}
	defer done()
	out := filepath.Join(tmp, "out")
	if err := os.MkdirAll(filepath.Join(out, "tree"), 0o755); err != nil {
		return nil, err
	}
	own, err := s.writeTree(ctx, k, filepath.Join(out, "tree"), p.tree)
	if err != nil {
		return nil, diskFull(repo, err)
	}
	files := 0
	for _, e := range p.tree.Entries {
		if e.Kind != Submodule {
			files++
		}
	}
	list := p.tree.encode()
	m := meta{SHA: p.sha, Files: files, Bytes: p.bytes, Own: own + onDisk(int64(len(list))) + 2*block, List: int64(len(list)), Made: s.opt.Now(), Lacks: p.lacks, Boot: bootID()}
	b, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	for name, text := range map[string][]byte{"list": list, "meta.json": b} {
		if err := os.WriteFile(filepath.Join(out, name), text, 0o600); err != nil {
			return nil, diskFull(repo, err)
		}
	}
	hold, err := s.locks.shared(ctx, k.lock(p.sha+".tree")) // before it can be seen, so that it is not evicted at once
	if err != nil {
		return nil, err
	}
	defer hold.unlock()
	if err := os.Rename(out, s.treeDir(k, p.sha)); err != nil {
		return nil, err
	}
	s.stats.trees.Add(1)
	select {
	case s.kick <- struct{}{}:
	default:
	}
	t := s.hold(ctx, k, p.sha)
	if t == nil {
		return nil, fmt.Errorf("%w: tree %s went away", errDamaged, p.sha)
	}
	return t, nil
}

// writers is how many files are written at a time: making a file waits for the
// disk more than for the processor.
const writers = 12

// smallBlob is the size up to which a blob is passed on in memory.
const smallBlob = 1 << 20

// writeTree writes all files of a tree below dir. Files are read-only; folders
// are not, so that whoever owns the cache can delete it by ordinary means. Those
// that a tree of the same store already has are linked to that one: what the two
// share is on disk once. It says what the others take on the disk.
func (s *Store) writeTree(ctx context.Context, k storeKey, dir string, tree *Tree) (own int64, err error) {
	link, done := s.linker(ctx, k, tree)
	defer done()
	made := map[string]bool{"": true}
	mkdir := func(rel string) error {
		var need []string
		for d := rel; d != "" && !made[d]; d = parent(d) {
			need = append(need, d)
		}
		for _, d := range slices.Backward(need) {
			if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
				return err
			}
			made[d] = true
		}
		return nil
	}
	paths := map[string][]Entry{} // by blob
	var order []string
	for _, e := range tree.Entries {
		if err := mkdir(parent(e.Path)); err != nil {
			return 0, err
		}
		if e.Kind == Submodule {
			if err := mkdir(e.Path); err != nil {
				return 0, err
			}
			continue
		}
		if link(e, filepath.Join(dir, e.Path)) {
			continue
		}
		if len(paths[e.OID]) == 0 {
			order = append(order, e.OID)
		}
		paths[e.OID] = append(paths[e.OID], e)
		own += onDisk(e.Size)
	}
	return own + int64(len(made))*block, s.writeBlobs(ctx, s.gitDir(k), dir, order, paths)
}

// linker gives a func that links a file from the store's tree that was used
// last, if that has it. The tree is held until done.
func (s *Store) linker(ctx context.Context, k storeKey, tree *Tree) (link func(e Entry, to string) bool, done func()) {
	no := func(Entry, string) bool { return false }
	if len(tree.Entries) == 0 {
		return no, func() {}
	}
	t := s.lastUsed(ctx, k)
	if t == nil {
		return no, func() {}
	}
	list, err := t.list()
	if err != nil {
		return no, func() { s.letGo(t) }
	}
	type file struct {
		oid  string
		mode os.FileMode
	}
	have := make(map[file]string, len(list.Entries))
	for _, e := range list.Entries {
		if e.Kind != Submodule {
			have[file{e.OID, fileMode(e.Kind)}] = e.Path
		}
	}
	return func(e Entry, to string) bool {
		from, ok := have[file{e.OID, fileMode(e.Kind)}]
		return ok && os.Link(filepath.Join(t.dir, from), to) == nil
	}, func() { s.letGo(t) }
}

// lastUsed holds the tree of a store that was used last, nil if there is none.
func (s *Store) lastUsed(ctx context.Context, k storeKey) *sharedTree {
	shas, err := os.ReadDir(filepath.Join(s.storeDir(k), "trees"))
	if err != nil {
		return nil
	}
	best, at := "", time.Time{}
	for _, e := range shas {
		fi, err := os.Stat(filepath.Join(s.treeDir(k, e.Name()), "meta.json"))
		if err == nil && (best == "" || fi.ModTime().After(at)) {
			best, at = e.Name(), fi.ModTime()
		}
	}
	if best == "" {
		return nil
	}
	return s.hold(ctx, k, best)
}

func parent(p string) string {
	i := strings.LastIndexByte(p, '/')
	if i < 0 {
		return ""
	}
	return p[:i]
}

// writeBlobs reads the blobs from one cat-file and writes them by a few writers.
func (s *Store) writeBlobs(ctx context.Context, gitDir, dir string, order []string, paths map[string][]Entry) error {
	if len(order) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type job struct {
		oid  string
		data []byte
	}
	jobs := make(chan job, 16)
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for j := range jobs {
				if oidOf("blob", j.data) != j.oid {
					cancel(fmt.Errorf("%w: blob %s", errDamaged, j.oid))
					continue
				}
				for _, e := range paths[j.oid] {
					if err := writeEntry(dir, e, j.data); err != nil {
						cancel(err)
					}
				}
			}
		})
	}
	ask := func(w io.Writer) error {
		for _, oid := range order {
			if _, err := io.WriteString(w, oid+"\n"); err != nil {
				return err
			}
		}
		return nil
	}
	i := 0
	err := s.catFile(ctx, gitDir, ask, func(o object, body io.Reader) error {
		oid := order[i]
		i++
		switch {
		case body == nil:
			return fmt.Errorf("%w: blob %s is gone", errDamaged, oid)
		case o.kind != "blob" || o.oid != oid:
			return fmt.Errorf("%w: asked for %s, got %s", errDamaged, oid, o.oid)
		case o.size > smallBlob:
			return writeLarge(dir, paths[oid], o, body)
		}
		b := make([]byte, o.size)
		if _, err := io.ReadFull(body, b); err != nil {
			return err
		}
		select {
		case jobs <- job{oid, b}:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	close(jobs)
	wg.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err == nil && i < len(order) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func fileMode(k Kind) os.FileMode {
	if k == Exec {
		return 0o555
	}
	return 0o444
}

func writeEntry(dir string, e Entry, data []byte) error {
	f, err := os.OpenFile(filepath.Join(dir, e.Path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode(e.Kind))
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// writeLarge streams a blob to its first path and copies it to the others.
func writeLarge(dir string, entries []Entry, o object, body io.Reader) error {
	first := filepath.Join(dir, entries[0].Path)
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", o.size)
	if err := writeFrom(first, fileMode(entries[0].Kind), io.TeeReader(body, h)); err != nil {
		return err
	}
	if hex.EncodeToString(h.Sum(nil)) != o.oid {
		return fmt.Errorf("%w: blob %s", errDamaged, o.oid)
	}
	for _, e := range entries[1:] {
		src, err := os.Open(first)
		if err != nil {
			return err
		}
		err = writeFrom(filepath.Join(dir, e.Path), fileMode(e.Kind), src)
		_ = src.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func writeFrom(path string, mode os.FileMode, r io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// bootID names this run of the machine, "" where it has no name.
func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}
