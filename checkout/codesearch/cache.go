package codesearch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

// Key names the tree of one commit in one store.
type Key struct {
	Store  string // the store's own key; repositories and access classes never share an index
	Commit string // the full object id
}

// CacheOptions bound a Cache. The zero value is good.
type CacheOptions struct {
	MaxBytes int64 // on disk; 0: 2 GiB. The least recently used indexes go first
	MaxOpen  int   // indexes kept in memory; 0: 4
}

// Cache keeps indexes in a folder and the latest of them in memory. One index is built at a time for a key, whoever asks; an older
// index of the same store saves reading what did not change. Several processes may share the folder.
type Cache struct {
	dir string
	opt CacheOptions

	mu     sync.Mutex
	open   map[Key]*Index
	recent []Key // least recently used first
	flight map[Key]*flight
}

type flight struct {
	done chan struct{}
	ix   *Index
	err  error
}

// NewCache makes a cache in a folder, which is made when the first index is saved.
func NewCache(dir string, opt CacheOptions) *Cache {
	if opt.MaxBytes <= 0 {
		opt.MaxBytes = 2 << 30
	}
	if opt.MaxOpen <= 0 {
		opt.MaxOpen = 4
	}
	return &Cache{dir: dir, opt: opt, open: map[Key]*Index{}, flight: map[Key]*flight{}}
}

var hexID = regexp.MustCompile(`^[0-9a-f]{40,64}$`)

// Get gives the index of a tree: from memory, from disk, or built now from src. The index reads text through src. When ctx ends the
// caller leaves with its error; the building goes on for the others that wait, and for the next.
func (c *Cache) Get(ctx context.Context, key Key, src Source) (*Index, error) {
	if !hexID.MatchString(key.Commit) {
		return nil, fmt.Errorf("codesearch: cache: %q is no full commit id", key.Commit)
	}
	c.mu.Lock()
	if ix := c.open[key]; ix != nil {
		c.touch(key)
		c.mu.Unlock()
		return ix.With(src), nil
	}
	f := c.flight[key]
	if f == nil {
		f = &flight{done: make(chan struct{})}
		c.flight[key] = f
		previous := c.neighbour(key)
		go func() {
			f.ix, f.err = c.load(context.WithoutCancel(ctx), key, src, previous)
			c.mu.Lock()
			delete(c.flight, key)
			if f.err == nil {
				c.open[key] = f.ix
				c.touch(key)
			}
			c.mu.Unlock()
			close(f.done)
		}()
	}
	c.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("codesearch: cache: %w", ctx.Err())
	case <-f.done:
	}
	if f.err != nil {
		return nil, f.err
	}
	return f.ix.With(src), nil
}

// touch marks a key as just used and lets go of the oldest. c.mu is held.
func (c *Cache) touch(key Key) {
	for i, k := range c.recent {
		if k == key {
			c.recent = append(c.recent[:i], c.recent[i+1:]...)
			break
		}
	}
	c.recent = append(c.recent, key)
	for len(c.recent) > c.opt.MaxOpen {
		delete(c.open, c.recent[0])
		c.recent = c.recent[1:]
	}
}

// neighbour finds an index of the same store in memory. c.mu is held.
func (c *Cache) neighbour(key Key) *Index {
	for _, k := range slices.Backward(c.recent) {
		if k.Store == key.Store {
			return c.open[k]
		}
	}
	return nil
}

func (c *Cache) folder(store string) string {
	sum := sha256.Sum256([]byte(store))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:10]))
}

func (c *Cache) load(ctx context.Context, key Key, src Source, previous *Index) (*Index, error) {
	dir := c.folder(key.Store)
	file := filepath.Join(dir, key.Commit+".idx")
	if ix, err := Open(file, nil); err == nil {
		now := time.Now()
		_ = os.Chtimes(file, now, now) // only the order of eviction depends on it
		return ix, nil
	}
	if previous == nil {
		if older := newest(dir); older != "" {
			previous, _ = Open(older, nil)
		}
	}
	ix, err := Build(ctx, src, Options{Previous: previous})
	if err != nil {
		return nil, err
	}
	ix.source = nil // a cached index outlives the tree it was built from
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("codesearch: cache: %w", err)
	}
	if err := ix.Save(file); err != nil {
		return nil, err
	}
	c.evict(file)
	return ix, nil
}

type indexFile struct {
	path string
	size int64
	used time.Time
}

func indexFiles(pattern string) []indexFile {
	names, _ := filepath.Glob(pattern)
	var out []indexFile
	for _, n := range names {
		if info, err := os.Stat(n); err == nil && strings.HasSuffix(n, ".idx") {
			out = append(out, indexFile{n, info.Size(), info.ModTime()})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].used.After(out[j].used) })
	return out
}

func newest(dir string) string {
	if l := indexFiles(filepath.Join(dir, "*.idx")); len(l) > 0 {
		return l[0].path
	}
	return ""
}

// evict removes the least recently used files beyond the limit, never the one just written.
func (c *Cache) evict(keep string) {
	var sum int64
	for _, f := range indexFiles(filepath.Join(c.dir, "*", "*.idx")) {
		sum += f.size
		if sum > c.opt.MaxBytes && f.path != keep {
			_ = os.Remove(f.path)
		}
	}
}

// Forget removes every index of a store, from memory and disk.
func (c *Cache) Forget(store string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.recent[:0]
	for _, k := range c.recent {
		if k.Store == store {
			delete(c.open, k)
			continue
		}
		kept = append(kept, k)
	}
	c.recent = kept
	if err := os.RemoveAll(c.folder(store)); err != nil {
		return fmt.Errorf("codesearch: cache: %w", err)
	}
	return nil
}
