package checkout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// backfillArgs fetch the blobs of commits that are named on standard input.
var backfillArgs = []string{"backfill", "--no-sparse", "--no-walk", "--stdin"}

// ErrNoBackfill says that this git cannot fetch the files of many commits by itself.
var ErrNoBackfill = errors.New("git backfill is not there or takes no commits")

// Backfill sees to it that the store has the files of commits and of their
// parents, those at or below paths if any are given, however many they are: git
// fetches them in batches of 50,000, within the budgets of one fetch. The commits
// and their trees must be there. ErrNoBackfill if git is too old for it.
func (c *Checkout) Backfill(ctx context.Context, commits, paths []string) error {
	if !c.store.git.backfill {
		return ErrNoBackfill
	}
	if err := c.healing(ctx, func() error { return c.store.backfill(ctx, c.tree.key, c.req, commits, paths) }); err != nil {
		return fmt.Errorf("checkout: history of %s: %w", c.req.Repo.Name, err)
	}
	return nil
}

func (s *Store) backfill(ctx context.Context, k storeKey, req Request, commits, paths []string) error {
	var in strings.Builder
	for _, sha := range commits {
		if !fullSHA.MatchString(sha) {
			return &RefError{Repo: req.Repo.Name, Ref: sha, Reason: "is not a full commit sha"}
		}
		in.WriteString(sha + "\n" + sha + "^@\n")
	}
	lock, err := s.locks.exclusive(ctx, k.lock("fetch"))
	if err != nil {
		return err
	}
	defer lock.unlock()
	dir := s.gitDir(k)
	tidy(dir)
	s.stats.fetches.Add(1)
	args := append(slices.Clone(backfillArgs), "--")
	return s.fetch(ctx, req, gitCommand{dir: dir, args: append(args, paths...), input: in.String(), lazy: true, locks: []*fileLock{lock}})
}
