package checkout

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Git checks what a fetch brings, and takes every fault alike where objects are
// left out: fetch-pack.c hands index-pack no severities then, in no version up to
// 2.55. Old, honest histories have faults that can do no harm here, so once a
// store has shown one, its fetches are checked by git fsck instead, which can
// overlook just those (benignFaults). The others still refuse the fetch.

// fetchLax runs a fetch without git's own check, and checks what came with it.
func (s *Store) fetchLax(ctx context.Context, req Request, c gitCommand) error {
	// What came before is noted first: packs of a fetch that a crash keeps from being checked are so checked by the next.
	note := filepath.Join(c.dir, "unchecked")
	before, err := os.ReadFile(note)
	if err != nil {
		packs, err := packNames(c.dir)
		if err != nil {
			return err
		}
		before = []byte(strings.Join(packs, "\n") + "\n")
		if err := writeFile(note, before); err != nil {
			return err
		}
	}
	c.config = append(slices.Clone(c.config), "transfer.fsckObjects=false", "fetch.fsckObjects=false")
	if err := s.netCommand(ctx, req.Repo, req.Credentials, c); err != nil {
		return err
	}
	packs, err := packNames(c.dir)
	if err != nil {
		return err
	}
	known := strings.Fields(string(before))
	fresh := slices.DeleteFunc(packs, func(p string) bool { return slices.Contains(known, p) })
	if err := s.checkPacks(ctx, req.Repo, c.dir, fresh, c.locks); err != nil {
		if _, ok := errors.AsType[*RefusedError](err); ok {
			// Nothing that came can be trusted, and refs lead to it already. The trees that are out stay: they were whole when made.
			if gone := s.discard(c.dir); gone != nil {
				return gone
			}
		}
		return err
	}
	return os.Remove(note)
}

// packNames lists the packs of a store, without folder and ending.
func packNames(dir string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(dir, "objects/pack/*.idx"))
	for i, p := range found {
		found[i] = strings.TrimSuffix(filepath.Base(p), ".idx")
	}
	return found, err
}

// checkPacks has git look at every object of some packs, in a repository of
// their own beside the store, so that it looks at no others.
func (s *Store) checkPacks(ctx context.Context, repo Repo, dir string, packs []string, locks []*fileLock) error {
	if len(packs) == 0 {
		return nil
	}
	tmp, lock, done, err := s.staging()
	if err != nil {
		return err
	}
	defer done()
	alone := filepath.Join(tmp, "fsck.git")
	if err := makeStore(alone); err != nil {
		return err
	}
	for _, p := range packs {
		for _, ending := range []string{".pack", ".idx"} {
			if err := os.Link(filepath.Join(dir, "objects/pack", p+ending), filepath.Join(alone, "objects/pack", p+ending)); err != nil {
				return err
			}
		}
		// What its objects lead to is not missed.
		if err := os.WriteFile(filepath.Join(alone, "objects/pack", p+".promisor"), nil, 0o600); err != nil {
			return err
		}
	}
	config := slices.Clone(promisorConfig)
	for _, id := range benignFaults {
		config = append(config, "fsck."+id+"=ignore")
	}
	err = s.git.run(ctx, gitCommand{dir: alone, config: config, locks: append(slices.Clone(locks), lock),
		args: []string{"fsck", "--strict", "--no-dangling", "--no-progress", "--no-reflogs"}})
	// The exit code is a sum; 2 is what is not reachable or not there, which says nothing of what is (builtin/fsck.c).
	const unreachable = 2
	if ge, ok := errors.AsType[*gitError](err); ok {
		switch {
		case ge.code == unreachable:
			return nil
		case noMemory.MatchString(ge.stderr) || ge.code < 0:
			return s.explain(repo, err)
		}
		return malformed(repo)
	}
	return err
}

func malformed(repo Repo) *RefusedError {
	return &RefusedError{Repo: repo.Name, Reason: "holds malformed objects, which are not taken in"}
}
