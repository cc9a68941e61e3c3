package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// room refuses work when the disk is nearly full.
func (s *Store) room(ctx context.Context, repo Repo) error { return s.roomFor(ctx, repo, 0) }

// roomFor sees to it that so many bytes can be written.
func (s *Store) roomFor(ctx context.Context, repo Repo, bytes int64) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(s.opt.Dir, &st); err != nil {
		return err
	}
	if free := int64(st.Bavail) * st.Bsize; free-bytes < s.opt.Budget.FreeBytes {
		return &BudgetError{Repo: repo.Name, Limit: s.opt.Budget.FreeBytes, What: "does not fit on the disk: only " + humanBytes(free) + " are free"}
	}
	return ctx.Err()
}

// diskFull explains an error of writing.
func diskFull(repo Repo, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return &BudgetError{Repo: repo.Name, What: "does not fit on the disk"}
	}
	return err
}

// Forget deletes what is kept of a repository, in all access classes. Trees
// that are held stay readable until they are released, and go then.
func (s *Store) Forget(ctx context.Context, repoID string) error {
	classes, err := os.ReadDir(filepath.Join(s.opt.Dir, "stores"))
	if err != nil {
		return fmt.Errorf("checkout: forget: %w", err)
	}
	for _, class := range classes {
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
	repos, err := os.ReadDir(filepath.Join(s.opt.Dir, "stores", class))
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
	return nil
}

// forget moves a store out of sight and deletes it. Whoever holds one of its
// trees has it open and does not notice.
func (s *Store) forget(ctx context.Context, k storeKey) error {
	lock, err := s.locks.exclusive(ctx, k.lock("fetch"))
	if err != nil {
		return err
	}
	defer lock.unlock()
	return s.discard(s.storeDir(k))
}
