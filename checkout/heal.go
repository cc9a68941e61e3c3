package checkout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// crash says that git died of a fault of its own: by a tree so deep that its
// stack did not suffice, or by files that are not what they should be.
type crash struct{ *BudgetError }

func (e *crash) Unwrap() error { return e.BudgetError }

// maybeDamage reports whether an error of a git command in a store may have the
// store as its cause: neither the host nor a budget explains it.
func maybeDamage(err error) bool {
	var ge *gitError
	var cr *crash
	return errors.As(err, &cr) || errors.Is(err, errDamaged) || errors.As(err, &ge) && !errors.Is(err, errNotThere)
}

// healing runs what works on a store's history. If it fails and the store is
// seen to be damaged, that is thrown away, made anew with again, and do is run
// once more.
func (s *Store) healing(ctx context.Context, k storeKey, again, do func() error) error {
	err := do()
	if !maybeDamage(err) || !s.discardDamaged(ctx, k) {
		return err
	}
	s.opt.Log.WarnContext(ctx, "checkout: store is damaged, making it anew", "store", k.repo, "err", err)
	if err := again(); err != nil {
		return err
	}
	return do()
}

// discardDamaged throws a store's objects away if they are seen to be damaged:
// it has not the form of a store, or a commit that was fetched is not there.
// Trees that are out stay.
func (s *Store) discardDamaged(ctx context.Context, k storeKey) bool {
	lock, err := s.locks.exclusive(ctx, k.lock("fetch"))
	if err != nil {
		return false
	}
	defer lock.unlock()
	dir := s.gitDir(k)
	if sound(dir) && s.refsLead(ctx, dir) || ctx.Err() != nil {
		return false
	}
	return s.discard(dir) == nil
}

// refsLead reports whether every ref of a store leads to an object that is there.
func (s *Store) refsLead(ctx context.Context, dir string) bool {
	refs, err := os.ReadDir(filepath.Join(dir, "refs/checkout"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false
	}
	var oids []string
	for _, r := range refs {
		b, err := os.ReadFile(filepath.Join(dir, "refs/checkout", r.Name()))
		if err != nil || string(b) != r.Name()+"\n" {
			return false
		}
		oids = append(oids, r.Name())
	}
	if len(oids) == 0 {
		return true
	}
	missing, err := s.missing(ctx, dir, oids)
	return err == nil && len(missing) == 0
}

// errAgain is what a reader of a store gets that was found to be damaged.
func errAgain(err error) error {
	return fmt.Errorf("%w, and thrown away; ask again: %w", errDamaged, err)
}
