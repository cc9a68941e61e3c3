package checkout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// item is something on disk that can be removed to make room.
type item struct {
	key  storeKey
	sha  string // "" for a store
	used time.Time
}

// Evict brings the disk below the budget: the trees that were used least
// recently go first, then stores. What is held, by whatever process, stays. It
// runs by itself after trees were made.
func (s *Store) Evict(ctx context.Context) error {
	if err := s.evict(ctx, 0); err != nil {
		return fmt.Errorf("checkout: evict: %w", err)
	}
	return nil
}

// evict removes until the budget holds and need more bytes are free on the disk.
func (s *Store) evict(ctx context.Context, need int64) error {
	s.evicting.Lock() // two at once would both make the same room
	defer s.evicting.Unlock()
	inv, err := s.inventory()
	if err != nil {
		return err
	}
	bud := s.opt.Budget
	for _, st := range inv.stores {
		if inv.total > bud.DiskBytes || inv.bytes[st.key] > bud.StoreBytes {
			inv.lookClosely(s, st.key)
		}
	}
	over := inv.total - bud.DiskBytes
	if over > 0 {
		over += bud.DiskBytes / 10 // some slack, so that not every Acquire evicts
	}
	if free, err := s.free(); err == nil {
		over = max(over, bud.FreeBytes+need-free)
	}
	full := func(k storeKey) bool { return inv.bytes[k] > bud.StoreBytes }
	for _, it := range slices.Concat(inv.trees, inv.stores) {
		if ctx.Err() != nil {
			break
		}
		if over <= 0 && !full(it.key) {
			continue
		}
		if freed, ok := s.remove(it); ok {
			s.stats.evictions.Add(1)
			over -= freed
			inv.add(it.key, -freed)
		}
	}
	s.stats.disk.Store(inv.total)
	return context.Cause(ctx)
}

// remove deletes a tree, or a store without trees, if nobody holds it, and says
// what the disk gained by that.
func (s *Store) remove(it item) (freed int64, ok bool) {
	if it.sha != "" {
		fl, err := s.locks.try(it.key.lock(it.sha + ".tree"))
		if err != nil {
			return 0, false
		}
		defer fl.remove()
		// Nobody links to its files meanwhile: whoever does that holds the tree.
		freed = diskBytes(s.treeDir(it.key, it.sha), lastLink)
		if s.discard(s.treeDir(it.key, it.sha)) != nil {
			return 0, false
		}
		s.noteFreed(it.key, it.sha, freed)
		return freed, true
	}
	use, err := s.locks.try(it.key.lock("store"))
	if err != nil {
		return 0, false
	}
	defer use.remove()
	fetch, err := s.locks.try(it.key.lock("fetch"))
	if err != nil {
		return 0, false
	}
	defer fetch.remove()
	defer s.sweepLocks(it.key.lock(""))
	freed = diskBytes(s.storeDir(it.key), eachOnce())
	return freed, s.discard(s.storeDir(it.key)) == nil
}

// Forget deletes what is kept of a repository at once, in the given access classes, or in all when none is given: who
// still holds one of its trees gets errors from then on.
func (s *Store) Forget(ctx context.Context, repoID string, only ...string) error {
	classes, err := os.ReadDir(filepath.Join(s.opt.Dir, "stores"))
	if err != nil {
		return fmt.Errorf("checkout: forget: %w", err)
	}
	for _, class := range classes {
		if len(only) > 0 && !slices.Contains(only, class.Name()) {
			continue
		}
		if err := s.forget(ctx, keyOf(Repo{ID: repoID, Class: class.Name()})); err != nil {
			return fmt.Errorf("checkout: forget %s: %w", repoID, err)
		}
	}
	return nil
}

// ForgetClass deletes everything of an access class: an installation is gone.
func (s *Store) ForgetClass(ctx context.Context, class string) error {
	if !classForm.MatchString(class) {
		return fmt.Errorf("checkout: malformed access class %q", class)
	}
	dir := filepath.Join(s.opt.Dir, "stores", class)
	repos, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("checkout: forget class: %w", err)
	}
	for _, r := range repos {
		if err := s.forget(ctx, storeKey{class: class, repo: r.Name()}); err != nil {
			return fmt.Errorf("checkout: forget class %s: %w", class, err)
		}
	}
	_ = os.Remove(dir) // only if it is empty
	return nil
}

// forget moves a store out of sight and deletes it. Unlike an eviction it asks
// nobody.
func (s *Store) forget(ctx context.Context, k storeKey) error {
	lock, err := s.locks.exclusive(ctx, k.lock("fetch"))
	if err != nil {
		return err
	}
	defer lock.remove()
	s.mu.Lock()
	for name, t := range s.trees {
		if t.key == k {
			if t.ahead != nil {
				t.ahead()
			}
			delete(s.trees, name) // the next Acquire must not find it
		}
	}
	delete(s.used, k)
	s.mu.Unlock()
	if err := s.discard(s.storeDir(k)); err != nil {
		return err
	}
	s.sweepLocks(k.lock(""))
	return nil
}

// sweepLocks removes lock files that nobody holds.
func (s *Store) sweepLocks(prefix string) {
	entries, _ := os.ReadDir(filepath.Join(s.opt.Dir, "locks"))
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if fl, err := s.locks.try(e.Name()); err == nil {
			fl.remove()
		}
	}
}

// free is what the disk has left for us, in bytes.
func (s *Store) free() (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(s.opt.Dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// room sees to it that so many bytes can be written, if need be by an eviction.
func (s *Store) room(ctx context.Context, repo Repo, bytes int64) error {
	free, err := s.free()
	if err == nil && free-bytes < s.opt.Budget.FreeBytes {
		if err := s.evict(ctx, bytes); err != nil {
			return err
		}
		free, err = s.free()
	}
	if err != nil {
		return err
	}
	if free-bytes < s.opt.Budget.FreeBytes {
		needs := "" // where nothing is known yet of how much it will be
		if bytes > 0 {
			needs = fmt.Sprintf("it needs %s, ", humanBytes(bytes))
		}
		return &BudgetError{Repo: repo.Name, Limit: s.opt.Budget.FreeBytes,
			What: fmt.Sprintf("%s: %s%s are free, and %s must stay free", doesNotFit, needs, humanBytes(free), humanBytes(s.opt.Budget.FreeBytes))}
	}
	return nil
}

// diskFull explains an error of writing.
func diskFull(repo Repo, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return &BudgetError{Repo: repo.Name, What: doesNotFit}
	}
	return err
}

const doesNotFit = "does not fit on the disk"

func isFull(err error) bool {
	be, ok := errors.AsType[*BudgetError](err)
	return ok && be.What == doesNotFit
}

// Maintain evicts, removes what killed processes left behind, and repacks the stores that have more packs than the budget
// has: every fetch adds one, and every object that is read is looked for in all
// of them. It runs by itself, in the background, after trees were made.
func (s *Store) Maintain(ctx context.Context) error {
	if err := s.makeFolders(); err != nil {
		return fmt.Errorf("checkout: maintain: %w", err)
	}
	err := cmp.Or(s.sweep(), s.evict(ctx, 0))
	inv, err2 := s.inventory()
	if err2 != nil {
		return fmt.Errorf("checkout: maintain: %w", cmp.Or(err, err2))
	}
	for _, st := range inv.stores {
		if ctx.Err() != nil {
			break
		}
		if fl, err := s.locks.try(st.key.lock("fetch")); err == nil {
			tidy(s.gitDir(st.key))
			fl.unlock()
		}
		packs, _ := filepath.Glob(filepath.Join(s.gitDir(st.key), "objects/pack/*.idx"))
		if len(packs) > s.opt.Budget.Packs {
			err = cmp.Or(err, s.repack(ctx, st.key))
		}
	}
	if err != nil {
		return fmt.Errorf("checkout: maintain: %w", err)
	}
	return nil
}

// repack makes few packs of many. Commits whose trees are gone lose their ref.
// Those who read meanwhile are not disturbed: git looks again where a pack went
// away, and the lock keeps fetches out.
func (s *Store) repack(ctx context.Context, k storeKey) error {
	lock, err := s.locks.exclusive(ctx, k.lock("fetch"))
	if err != nil {
		return err
	}
	defer lock.unlock()
	dir := s.gitDir(k)
	if !sound(dir) {
		return nil // the next Acquire makes it anew
	}
	tidy(dir)
	if err := s.git.run(ctx, gitCommand{dir: dir, locks: []*fileLock{lock}, config: promisorConfig,
		args: []string{"repack", "-a", "-d", "-q", "--no-write-bitmap-index"}}); err != nil {
		return err
	}
	s.stats.repacks.Add(1)
	return nil
}

// maintainer runs Maintain whenever it is kicked, until ctx ends.
func (s *Store) maintainer(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.kick:
			if err := s.Maintain(ctx); err != nil && ctx.Err() == nil {
				s.opt.Log.WarnContext(ctx, "checkout: maintenance", "err", err)
			}
		}
	}
}
