package checkout

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A first fetch brings no history: most questions are answered without. So that
// those which need it do not wait, it is fetched in the background while a tree
// is held, once in a store's life: first the newest commits, which a first look
// at the log needs, then all of them, if they are not too large.
//
// It keeps out of everybody's way. The fetch goes into a store of its own in
// staging, under no lock that an Acquire or a reader takes; only the moving of
// the packs into the store is done under them, which takes milliseconds. It ends
// when the tree is given back: nobody is asked for what nobody waits for, and
// nobody's credentials are used when he is done.

const (
	// recentDepth is how many generations are fetched first: what a log of 300 commits begins with.
	recentDepth = 40
	// aheads is how many stores get their history ahead at a time.
	aheads = 2
)

// errLong is the cause when a history is too large to be fetched ahead.
var errLong = errors.New("history is too large to be fetched ahead")

// lookAhead begins to fetch the history of a tree that is handed out, unless
// that goes on already, and says whether it did. Store.mu is held.
func (s *Store) lookAhead(t *sharedTree, req Request) bool {
	if s.opt.Ahead <= 0 || t.ahead != nil || s.closed {
		return false
	}
	ctx, cancel := context.WithCancel(s.life)
	t.ahead = cancel
	s.background.Go(func() {
		defer cancel()
		select {
		case <-time.After(s.opt.Ahead):
		case <-ctx.Done():
			return
		}
		err := s.fetchAhead(ctx, t.key, req, t.sha)
		if err != nil && ctx.Err() == nil {
			s.opt.Log.InfoContext(ctx, "checkout: history is left for when it is asked for", "store", t.key.repo, "err", err)
		}
	})
	return true
}

// endAhead ends what goes on with a checkout's credentials.
func (s *Store) endAhead(c *Checkout) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.ahead {
		c.tree.ahead()
		c.tree.ahead = nil
	}
}

func (s *Store) fetchAhead(ctx context.Context, k storeKey, req Request, sha string) error {
	select {
	case s.aheads <- struct{}{}:
		defer func() { <-s.aheads }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	// One at a time for a store, in all processes: whoever waited finds it there.
	lock, err := s.locks.exclusive(ctx, k.lock("ahead"))
	if err != nil {
		return err
	}
	defer lock.unlock()
	dir := s.gitDir(k)
	if _, err := os.Stat(filepath.Join(dir, "whole")); err == nil {
		return nil // further commits come with theirs, or are few
	}
	done := make(chan struct{})
	defer close(done)
	s.mu.Lock()
	s.running[k] = done
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.running, k)
	}()
	long := filepath.Join(dir, "long")
	step := func(depth int) error {
		err := s.fetchApart(ctx, k, req, sha, depth, lock)
		if _, ok := errors.AsType[*BudgetError](err); ok { // for this store's life: it grows no shorter
			return cmp.Or(os.WriteFile(long, nil, 0o600), errLong)
		}
		return err
	}
	if _, err := os.Stat(long); err == nil {
		return nil
	}
	// Once some history is there, what more is needed of it is little, and is best fetched into the store itself.
	if len(s.readRefs(k).Depth) == 0 {
		if err := step(recentDepth); err != nil {
			return err
		}
	}
	return step(Whole)
}

// awaitAhead waits for a history that is being fetched ahead, if there is one.
// Who needs only what comes first waits for nothing.
func (s *Store) awaitAhead(ctx context.Context, k storeKey, depth int) error {
	s.mu.Lock()
	done := s.running[k]
	s.mu.Unlock()
	if done == nil || depth <= recentDepth {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fetchApart fetches a commit's history into a store in staging and moves it
// into the store.
func (s *Store) fetchApart(ctx context.Context, k storeKey, req Request, sha string, depth int, lock *fileLock) error {
	need := s.opt.Budget.History
	if free, err := s.free(); err != nil || free < s.opt.Budget.FreeBytes+3*need {
		return err // nothing is evicted for what is not asked for
	}
	tmp, staged, done, err := s.staging()
	if err != nil {
		return err
	}
	defer done()
	apart := filepath.Join(tmp, "history.git")
	if err := makeStore(apart); err != nil {
		return err
	}
	// Old histories have benign faults, and to learn that by a failure costs the
	// fetch twice: what comes is checked afterwards, see fsck.go.
	if err := os.WriteFile(filepath.Join(apart, "lax"), nil, 0o600); err != nil {
		return err
	}
	s.stats.fetches.Add(1)
	args := append(slices.Clone(fetchArgs), "--filter=blob:none")
	if depth < Whole {
		args = append(args, depthArg(depth))
	}
	args = append(args, "origin", "+"+sha+":refs/checkout/"+sha)
	if err := s.fetch(ctx, req, gitCommand{dir: apart, args: args, locks: []*fileLock{lock, staged}, limit: need, background: true}); err != nil {
		return err
	}
	for {
		moved, err := s.moveIn(ctx, k, apart, sha, depth)
		if moved || err != nil {
			return err
		}
		select { // somebody reads the history; so as to hold up nobody, the lock on fetches is not kept meanwhile
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// moveIn moves what was fetched apart into the store, unless somebody is reading
// history there.
func (s *Store) moveIn(ctx context.Context, k storeKey, apart, sha string, depth int) (bool, error) {
	fetch, err := s.locks.exclusive(ctx, k.lock("fetch"))
	if err != nil {
		return false, err
	}
	defer fetch.unlock()
	cut, err := s.locks.try(k.lock("shallow"))
	if errors.Is(err, errHeld) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer cut.unlock()
	dir := s.gitDir(k)
	if !sound(dir) || !s.has(dir, sha) {
		return true, nil // it was thrown away meanwhile
	}
	// First where the new history is cut off: were it the other way round, a
	// crash in between would leave commits that lack their parents unsaid.
	var shallow []string
	for _, d := range []string{dir, apart} {
		b, _ := os.ReadFile(filepath.Join(d, "shallow"))
		shallow = append(shallow, strings.Fields(string(b))...)
	}
	if len(shallow) > 0 {
		slices.Sort(shallow)
		if err := writeFile(filepath.Join(dir, "shallow"), []byte(strings.Join(slices.Compact(shallow), "\n")+"\n")); err != nil {
			return false, err
		}
	}
	packs, err := packNames(apart)
	if err != nil {
		return false, err
	}
	for _, p := range packs {
		for _, ending := range []string{".promisor", ".rev", ".pack", ".idx"} { // git sees a pack by its index, which comes last
			err := os.Rename(filepath.Join(apart, "objects/pack", p+ending), filepath.Join(dir, "objects/pack", p+ending))
			if err != nil && (ending != ".rev" || !errors.Is(err, os.ErrNotExist)) {
				return false, err
			}
		}
	}
	if err := s.mendShallow(ctx, dir); err != nil {
		return false, err
	}
	s.stats.ahead.Add(1)
	return true, s.noteDepth(ctx, k, sha, depth)
}
