package checkout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What follows serves package history: it reads a store's history with git, and
// fetches beforehand, in few requests, what git would otherwise miss.

// Whole is the depth of a history without end.
const Whole = 1<<31 - 1

// readVerbs are the git commands that Git runs. All of them only read.
var readVerbs = []string{"rev-list", "rev-parse", "log", "diff-tree", "blame", "merge-base", "cat-file"}

// Git runs a git command that only reads on the checkout's store. Nothing is
// fetched: an object that is not there is an error. stdout must read to the end
// or give an error, which ends the command. Names of refs mean nothing in a
// store; commits are named by their ids.
func (c *Checkout) Git(ctx context.Context, stdin io.Reader, stdout func(io.Reader) error, args ...string) error {
	if len(args) == 0 || !slices.Contains(readVerbs, args[0]) {
		return errors.New("checkout: Git runs commands that read only")
	}
	lock, err := c.store.locks.shared(ctx, c.tree.key.lock("shallow"))
	if err != nil {
		return err
	}
	err = c.store.git.run(ctx, gitCommand{dir: c.gitDir(), args: args, stdin: stdin, stdout: stdout})
	lock.unlock()
	if maybeDamage(err) && c.store.discardDamaged(ctx, c.tree.key) {
		return errAgain(err)
	}
	// A few trees of an old commit can stand for more paths than there is memory for, and git holds a difference whole.
	if ge, ok := errors.AsType[*gitError](err); ok && (ge.code < 0 || noMemory.MatchString(ge.stderr)) {
		return &BudgetError{Repo: c.req.Repo.Name, Limit: c.store.opt.Budget.Memory, What: "has a commit that changes more than git may hold in memory",
			hint: "Name a path, or other commits."}
	}
	return err
}

func (c *Checkout) gitDir() string { return c.store.gitDir(c.tree.key) }

// isWhole reports whether a store has the whole history of all it has: nothing
// was cut off, and something was fetched in full.
func isWhole(gitDir string) bool {
	_, err := os.Stat(filepath.Join(gitDir, "shallow"))
	_, err2 := os.Stat(filepath.Join(gitDir, "whole"))
	return errors.Is(err, os.ErrNotExist) && err2 == nil
}

// Deepen sees to it that the store has the history of a commit: itself and at
// least depth-1 generations before it, with trees, without blobs. The newest
// depth-1 commits in any order that puts children first then have their
// parents there too.
func (c *Checkout) Deepen(ctx context.Context, sha string, depth int) error {
	if !fullSHA.MatchString(sha) {
		return &RefError{Repo: c.req.Repo.Name, Ref: sha, Reason: "is not a full commit sha"}
	}
	if err := c.store.deepen(ctx, c.tree.key, c.req, sha, depth); err != nil {
		return fmt.Errorf("checkout: history of %s: %w", c.req.Repo.Name, err)
	}
	return nil
}

func (s *Store) deepen(ctx context.Context, k storeKey, req Request, sha string, depth int) error {
	return s.healing(ctx, k, func() error { return nil }, func() error { return s.deepenOnce(ctx, k, req, sha, depth) })
}

func (s *Store) deepenOnce(ctx context.Context, k storeKey, req Request, sha string, depth int) error {
	if s.deepEnough(k, sha, depth) {
		return nil
	}
	if err := s.awaitAhead(ctx, k, depth); err != nil {
		return err
	}
	lock, err := s.locks.exclusive(ctx, k.lock("fetch"))
	if err != nil {
		return err
	}
	defer lock.unlock()
	if s.deepEnough(k, sha, depth) {
		return nil
	}
	dir := s.gitDir(k)
	if !sound(dir) { // it was thrown away while the tree was held
		if err := s.discard(dir); err != nil {
			return err
		}
		if err := s.clone(ctx, k, req, sha, lock); err != nil {
			return notThere(req, sha, err)
		}
	}
	tidy(dir)
	tips := []string{sha}
	if depth >= Whole {
		// What was cut off anywhere is made whole with it, so that the store
		// needs no limits of depth any more.
		b, _ := os.ReadFile(filepath.Join(dir, "shallow"))
		tips = append(tips, strings.Fields(string(b))...)
		slices.Sort(tips)
		tips = slices.Compact(tips)
	}
	cut, err := s.locks.exclusive(ctx, k.lock("shallow"))
	if err != nil {
		return err
	}
	defer cut.unlock()
	err = s.fetchHistory(ctx, req, dir, tips, depth, lock)
	if errors.Is(err, errNotThere) && len(tips) > 1 {
		err = s.fetchHistory(ctx, req, dir, []string{sha}, depth, lock)
	}
	if err != nil {
		return notThere(req, sha, err)
	}
	if err := s.mendShallow(ctx, dir); err != nil {
		return err
	}
	return s.noteDepth(ctx, k, sha, depth)
}

// noteDepth notes how deep the history of a commit is there.
func (s *Store) noteDepth(ctx context.Context, k storeKey, sha string, depth int) error {
	if depth >= Whole {
		if err := os.WriteFile(filepath.Join(s.gitDir(k), "whole"), nil, 0o600); err != nil {
			return err
		}
	}
	return s.changeRefs(ctx, k, func(refs *refsFile) {
		if refs.Depth == nil {
			refs.Depth = map[string]int{}
		}
		refs.Depth[sha] = max(depth, refs.Depth[sha])
	})
}

// mendShallow takes those commits from the list of cut-off ones whose parents
// are there after all. A fetch of limited depth puts them on it: git means
// "from here on no deeper", also where the store is deeper already. Nobody
// reads history meanwhile, by the lock "shallow".
func (s *Store) mendShallow(ctx context.Context, dir string) error {
	path := filepath.Join(dir, "shallow")
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	listed := strings.Fields(string(b))
	parents := map[string][]string{}
	var all []string
	ask := func(w io.Writer) error { _, err := io.WriteString(w, strings.Join(listed, "\n")+"\n"); return err }
	i := 0
	err = s.catFile(ctx, dir, ask, func(o object, body io.Reader) error {
		sha := listed[i]
		i++
		text, err := readWhole(o, body, "commit", sha, 16<<20)
		if errors.Is(err, errMissing) {
			return nil
		}
		if err != nil {
			return err
		}
		for l := range strings.Lines(string(text)) {
			if l == "\n" {
				break
			}
			if p, ok := strings.CutPrefix(l, "parent "); ok {
				parents[sha] = append(parents[sha], strings.TrimSpace(p))
				all = append(all, strings.TrimSpace(p))
			}
		}
		return nil
	})
	if err != nil || len(all) == 0 {
		return err
	}
	missing, err := s.missing(ctx, dir, all)
	if err != nil {
		return err
	}
	lacks := map[string]bool{}
	for _, p := range missing {
		lacks[p] = true
	}
	var keep strings.Builder
	for _, sha := range listed {
		if ps, here := parents[sha]; here && slices.ContainsFunc(ps, func(p string) bool { return lacks[p] }) {
			keep.WriteString(sha + "\n")
		}
	}
	if keep.Len() == 0 {
		return os.Remove(path)
	}
	return writeFile(path, []byte(keep.String()))
}

// notThere says which commit it is that the host refuses: the ref that led to it may be empty, or something else by now.
func notThere(req Request, sha string, err error) error {
	if errors.Is(err, errNotThere) {
		return &RefError{Repo: req.Repo.Name, Ref: sha, Reason: "is not a commit that the host gives out (any more)"}
	}
	return err
}

// deepEnough reports whether nothing needs to be fetched for a history.
func (s *Store) deepEnough(k storeKey, sha string, depth int) bool {
	dir := s.gitDir(k)
	if !sound(dir) {
		return false
	}
	if s.readRefs(k).Depth[sha] >= depth {
		return true
	}
	return isWhole(dir) && s.has(dir, sha)
}

// CutOff gives the commits whose parents are not in the store because the
// history was fetched only so far.
func (c *Checkout) CutOff() map[string]bool {
	b, _ := os.ReadFile(filepath.Join(c.gitDir(), "shallow"))
	out := map[string]bool{}
	for sha := range strings.FieldsSeq(string(b)) {
		out[sha] = true
	}
	return out
}

// has reports whether a commit was fetched by its own name.
func (s *Store) has(dir, sha string) bool {
	_, err := os.Stat(filepath.Join(dir, "refs/checkout", sha))
	return err == nil
}

func depthArg(depth int) string { return fmt.Sprintf("--depth=%d", depth) }

func (s *Store) fetchHistory(ctx context.Context, req Request, dir string, tips []string, depth int, lock *fileLock) error {
	s.stats.fetches.Add(1)
	args := append(slices.Clone(fetchArgs), "--filter=blob:none")
	if !isWhole(dir) {
		args = append(args, depthArg(depth))
	}
	args = append(args, "origin")
	for _, t := range tips {
		args = append(args, "+"+t+":refs/checkout/"+t)
	}
	return s.fetch(ctx, req, gitCommand{dir: dir, args: args, locks: []*fileLock{lock}})
}

// Bring resolves a ref and sees to it that its commit is in the store with so
// much of its history, see Deepen. It gives the commit's id.
func (c *Checkout) Bring(ctx context.Context, ref string, depth int) (string, error) {
	sha, err := c.store.bring(ctx, c.tree.key, c.req, ref, depth)
	if err != nil {
		return "", fmt.Errorf("checkout: history of %s: %w", c.req.Repo.Name, err)
	}
	return sha, nil
}

func (s *Store) bring(ctx context.Context, k storeKey, req Request, ref string, depth int) (string, error) {
	if err := CheckRef(ref); err != nil {
		return "", err
	}
	ref = lowerID(ref)
	req.Ref, req.WantSHA = ref, ""
	// The checkout at hand is the proof that these credentials were checked.
	req.Checked = true
	sha := ref
	// A branch that was asked for by a name like that stays what it was.
	if short := strings.ToLower(ref); shortSHA.MatchString(short) && s.readRefs(k).Refs[ref].SHA == "" {
		if full, err := s.expand(ctx, k, short); err == nil {
			sha = full
		}
	}
	if !fullSHA.MatchString(sha) {
		ans, err := s.resolve(ctx, k, req, s.opt.Now())
		if err != nil {
			return "", err
		}
		sha = ans.sha
	}
	// A commit of a history that is there needs no fetch if that history goes on far enough.
	if depth <= 2 {
		if obj, err := s.peel(ctx, s.gitDir(k), sha); err == nil && obj.kind == "commit" && s.parentsHere(ctx, k, obj.oid) {
			return obj.oid, nil
		}
	}
	if err := s.deepen(ctx, k, req, sha, depth); err != nil {
		return "", err
	}
	obj, err := s.peel(ctx, s.gitDir(k), sha)
	if err != nil {
		return "", err
	}
	if obj.kind != "commit" {
		return "", &RefError{Repo: req.Repo.Name, Ref: ref, Reason: "leads to a " + obj.kind + ", not to a commit"}
	}
	return obj.oid, nil
}

// expand makes a full id of a short one, from what is in the store.
func (s *Store) expand(ctx context.Context, k storeKey, short string) (string, error) {
	obj, err := s.peel(ctx, s.gitDir(k), short)
	if err != nil || obj.kind != "commit" {
		return "", errMissing
	}
	return obj.oid, nil
}

// parentsHere reports whether a commit's own list of parents is not cut off and
// the first of them is there.
func (s *Store) parentsHere(ctx context.Context, k storeKey, sha string) bool {
	b, _ := os.ReadFile(filepath.Join(s.gitDir(k), "shallow"))
	return !strings.Contains(string(b), sha)
}

// Fill sees to it that the named objects are in the store, by one fetch for all
// that are missing, and says how many those were.
func (c *Checkout) Fill(ctx context.Context, oids []string) (int, error) {
	n := 0
	err := c.healing(ctx, func() (err error) { n, err = c.store.fill(ctx, c.tree.key, c.req, oids); return err })
	if errors.Is(err, errNotThere) { // a host that is itself a partial clone
		err = &UpstreamError{Repo: c.req.Repo.Name, Reason: "the host does not give out all that its history names", Err: err}
	}
	if err != nil {
		return n, fmt.Errorf("checkout: history of %s: %w", c.req.Repo.Name, err)
	}
	return n, nil
}

// healing is Store.healing for what needs the history that is there: it is
// fetched again as deep.
func (c *Checkout) healing(ctx context.Context, do func() error) error {
	s, k := c.store, c.tree.key
	depth := max(1, s.readRefs(k).Depth[c.SHA()])
	return s.healing(ctx, k, func() error { return s.deepenOnce(ctx, k, c.req, c.SHA(), depth) }, do)
}

func (s *Store) fill(ctx context.Context, k storeKey, req Request, oids []string) (int, error) {
	if len(oids) == 0 {
		return 0, nil
	}
	dir := s.gitDir(k)
	missing, err := s.missing(ctx, dir, oids)
	if err != nil || len(missing) == 0 {
		return 0, err
	}
	lock, err := s.locks.exclusive(ctx, k.lock("fetch"))
	if err != nil {
		return 0, err
	}
	defer lock.unlock()
	tidy(dir)
	if missing, err = s.missing(ctx, dir, missing); err != nil || len(missing) == 0 {
		return 0, err
	}
	return len(missing), s.fetchObjects(ctx, req, dir, missing, lock)
}

// missing gives the objects that are not in the store.
func (s *Store) missing(ctx context.Context, dir string, oids []string) ([]string, error) {
	var out []string
	err := s.sizes(ctx, dir, oids, func(o object) {
		if o.kind == "" {
			out = append(out, o.oid)
		}
	})
	return out, err
}
