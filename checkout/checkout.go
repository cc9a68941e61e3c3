package checkout

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Checkout is a read-only working tree of one commit, held until Release. It is
// safe for concurrent use.
type Checkout struct {
	store *Store
	tree  *sharedTree
	req   Request
	ans   answer
	how   How
	moved string
	ahead bool // a history is fetched in the background with its credentials; guarded by Store.mu
	once  sync.Once
}

// sharedTree is a published tree that this process holds.
type sharedTree struct {
	key   storeKey
	sha   string
	dir   string // the folder tree/
	meta  meta
	root  *os.Root
	list  func() (*Tree, error) // read once
	holds int                   // guarded by Store.mu
	locks []*fileLock           // shared: neither the tree nor its store is removed
	index treeIndex
	ahead context.CancelFunc // ends the fetch of its history, nil if there is none; guarded by Store.mu
}

// SHA is the full id of the commit.
func (c *Checkout) SHA() string { return c.tree.sha }

// Ref is the full name of the ref that was asked for ("refs/heads/main"), or the sha if that was asked for.
func (c *Checkout) Ref() string { return c.ans.name }

// DefaultBranch is the short name of upstream's default branch, "" if its HEAD
// points to none.
func (c *Checkout) DefaultBranch() string { return c.ans.defName }

// Files is the number of files, symbolic links included.
func (c *Checkout) Files() int { return c.tree.meta.Files }

// Bytes is the size of all files together.
func (c *Checkout) Bytes() int64 { return c.tree.meta.Bytes }

// How says what it took.
func (c *Checkout) How() How { return c.how }

// Moved is the commit that the ref points to now, if it is not the one that
// Request.WantSHA asked for; else "".
func (c *Checkout) Moved() string { return c.moved }

// Repo is the repository, as it was asked for.
func (c *Checkout) Repo() Repo { return c.req.Repo }

// Dir is the tree's folder: an absolute path, read-only, without symbolic
// links and without a .git.
func (c *Checkout) Dir() string { return c.tree.dir }

// Root is the tree's folder, opened so that nothing outside it can be reached.
// It is closed by the last Release.
func (c *Checkout) Root() *os.Root { return c.tree.root }

// Tree gives the listing.
func (c *Checkout) Tree(context.Context) (*Tree, error) { return c.tree.list() }

// Release gives the tree back. It may be called more than once. What was got
// from the Checkout must not be used afterwards.
func (c *Checkout) Release() {
	c.once.Do(func() {
		c.store.endAhead(c)
		c.store.letGo(c.tree)
	})
}

func (s *Store) checkout(t *sharedTree, req Request, ans answer, how How) *Checkout {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Checkout{store: s, tree: t, req: req, ans: ans, how: how, ahead: s.lookAhead(t, req)}
}

// hold takes a published tree, or gives nil if there is none.
func (s *Store) hold(ctx context.Context, k storeKey, sha string) *sharedTree {
	name := k.class + "/" + k.repo + "/" + sha
	s.mu.Lock()
	if t := s.trees[name]; t != nil {
		t.holds++
		s.mu.Unlock()
		return t
	}
	s.mu.Unlock()
	if _, err := os.Stat(s.treeDir(k, sha)); err != nil {
		return nil // no lock file for every sha that somebody makes up
	}
	// First the locks, then a look: whoever evicts does it the other way round.
	var held []*fileLock
	for _, l := range []string{"store", sha + ".tree"} {
		fl, err := s.locks.shared(ctx, k.lock(l))
		if err != nil {
			unlockAll(held)
			return nil
		}
		held = append(held, fl)
	}
	t, err := s.openTree(ctx, k, sha)
	if err != nil {
		unlockAll(held)
		return nil
	}
	t.locks, t.holds = held, 1
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.trees[name]; other != nil {
		_ = t.root.Close()
		unlockAll(held)
		other.holds++
		return other
	}
	s.trees[name] = t
	return t
}

// lacksFor is how long a tree is taken as it is whose files were not all there:
// somebody may have fetched them since.
const lacksFor = 10 * time.Minute

// openTree opens a published tree. One that is from an earlier run of the
// machine is read through first.
func (s *Store) openTree(ctx context.Context, k storeKey, sha string) (*sharedTree, error) {
	dir := s.treeDir(k, sha)
	saw, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	// Only what was seen to be damaged is thrown away: an eviction may have come first, and another tree may stand in its
	// place by now, made and held by somebody else under the same shared locks.
	discard := func() {
		if now, err := os.Stat(dir); err == nil && os.SameFile(saw, now) {
			_ = s.discard(dir)
		}
	}
	m, err := s.readMeta(k, sha)
	if err != nil {
		discard()
		return nil, err
	}
	if len(m.Lacks) > 0 && s.opt.Now().Sub(m.Made) > lacksFor {
		discard()
		return nil, fmt.Errorf("%w: tree %s may be complete by now", errDamaged, sha)
	}
	if fi, err := os.Stat(filepath.Join(dir, "list")); err != nil || fi.Size() != m.List {
		discard()
		return nil, fmt.Errorf("%w: listing of tree %s", errDamaged, sha)
	}
	t := &sharedTree{key: k, sha: sha, dir: filepath.Join(dir, "tree"), meta: m}
	t.list = sync.OnceValues(func() (*Tree, error) {
		f, err := os.Open(filepath.Join(dir, "list"))
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		var b strings.Builder // not a slice of bytes, which would be copied to become a string
		b.Grow(int(m.List))
		if _, err := io.Copy(&b, io.LimitReader(f, m.List)); err != nil {
			return nil, err
		}
		return decodeTree(b.String())
	})
	if t.root, err = os.OpenRoot(t.dir); err != nil {
		discard()
		return nil, err
	}
	if boot := bootID(); boot != t.meta.Boot {
		if err := t.verify(ctx); err != nil {
			_ = t.root.Close()
			if ctx.Err() == nil {
				s.opt.Log.WarnContext(ctx, "checkout: tree is damaged, making it anew", "tree", sha, "err", err)
				discard()
			}
			return nil, err
		}
		t.meta.Boot = boot
		if b, err := json.Marshal(t.meta); err == nil {
			_ = writeFile(filepath.Join(dir, "meta.json"), b)
		}
	}
	now := s.opt.Now()
	_ = os.Chtimes(filepath.Join(dir, "meta.json"), now, now) // for the eviction: last used now
	return t, nil
}

func (s *Store) readMeta(k storeKey, sha string) (meta, error) {
	var m meta
	b, err := os.ReadFile(filepath.Join(s.treeDir(k, sha), "meta.json"))
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil || m.SHA != sha {
		return meta{}, fmt.Errorf("%w: tree %s", errDamaged, sha)
	}
	return m, nil
}

func unlockAll(held []*fileLock) {
	for _, fl := range held {
		fl.unlock()
	}
}

func (s *Store) letGo(t *sharedTree) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.holds--; t.holds > 0 {
		return
	}
	if name := t.key.class + "/" + t.key.repo + "/" + t.sha; s.trees[name] == t {
		delete(s.trees, name)
	}
	t.index.close()
	_ = t.root.Close()
	unlockAll(t.locks)
}
