package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// plan is what there is to write for a commit; all of it is in the store.
type plan struct {
	sha   string
	tree  *Tree
	bytes int64
	how   How
	lacks []string // paths that the repository has no contents for, of Request.Incomplete
}

// ensure sees to it that the store has a commit with its trees and blobs. The
// first commit of a store comes whole, at depth 1: one request brings all there
// is to read. For a further one, commit and trees come first, and then, in one
// batch, just the blobs that are not there yet.
func (s *Store) ensure(ctx context.Context, k storeKey, req Request, sha string, lock *fileLock) (_ *plan, err error) {
	p := &plan{how: Cached}
	dir := s.gitDir(k)
	if err := s.room(ctx, req.Repo, 0); err != nil {
		return nil, err
	}
	_, err = os.Stat(dir)
	if err == nil && !sound(dir) {
		if err = s.discard(dir); err != nil {
			return nil, err
		}
		err = fs.ErrNotExist
	}
	defer func() { err = suspect(err, p.how) }()
	if errors.Is(err, fs.ErrNotExist) {
		p.how = Cloned
		if err := s.clone(ctx, k, req, sha, lock); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	tidy(dir)
	others := s.alsoWanted(k, sha)
	fetched, err := s.fetchCommits(ctx, req, dir, sha, others, lock)
	if err != nil {
		return nil, err
	}
	missing, err := s.list(ctx, dir, req, sha, p)
	if err != nil {
		return nil, err
	}
	if p.how == Cached && (fetched || len(missing) > 0) {
		p.how = Fetched
	}
	if len(missing) > 0 {
		plans := s.listOthers(ctx, dir, req, others, &missing)
		if err := s.fetchBlobs(ctx, req, dir, missing, lock); err != nil {
			return nil, err
		}
		if missing, err = s.measure(ctx, dir, p); err != nil {
			return nil, err
		}
		if req.Incomplete {
			missing = p.leaveOut(missing)
		}
		if len(missing) > 0 {
			return nil, &UpstreamError{Repo: req.Repo.Name, Reason: fmt.Sprintf("the host left out %d files of the commit", len(missing))}
		}
		s.handOver(ctx, k, req, plans)
	}
	return p, s.checkSizes(req.Repo, p)
}

// fetchCommits brings a commit, if it is not there, and those that others are
// waiting for along with it. Without the others' if the host lacks one of them.
func (s *Store) fetchCommits(ctx context.Context, req Request, dir, sha string, others []string, lock *fileLock) (bool, error) {
	_, err := s.peel(ctx, dir, sha)
	if !errors.Is(err, errMissing) {
		return false, err
	}
	want := []string{sha}
	if missing, err := s.missing(ctx, dir, others); err == nil {
		want = append(want, missing...)
	}
	err = s.fetchCommit(ctx, req, dir, want, true, lock)
	if errors.Is(err, errNotThere) && len(want) > 1 {
		err = s.fetchCommit(ctx, req, dir, []string{sha}, true, lock)
	}
	return true, err
}

// list lists the commit's tree into p and gives the blobs that are not there.
func (s *Store) list(ctx context.Context, dir string, req Request, sha string, p *plan) ([]string, error) {
	commit, err := s.peel(ctx, dir, sha)
	if err != nil {
		return nil, err
	}
	if commit.kind != "commit" {
		return nil, &RefError{Repo: req.Repo.Name, Ref: req.Ref, Reason: "leads to a " + commit.kind + ", not to a commit"}
	}
	p.sha = commit.oid
	entries, err := s.walkTree(ctx, dir, req.Repo, p.sha)
	if errors.Is(err, errMissing) {
		return nil, fmt.Errorf("%w: commit %s has no trees", errDamaged, p.sha) // every fetch brings them
	}
	if err != nil {
		return nil, err
	}
	p.tree = &Tree{Entries: entries}
	return s.measure(ctx, dir, p)
}

// listOthers lists the trees of the commits that others are waiting for, and
// adds what they lack to missing. What goes wrong there is theirs to find out.
func (s *Store) listOthers(ctx context.Context, dir string, req Request, others []string, missing *[]string) map[string]*plan {
	plans := map[string]*plan{}
	have := map[string]bool{}
	for _, id := range *missing {
		have[id] = true
	}
	for _, sha := range others {
		p := &plan{how: Fetched}
		lacks, err := s.list(ctx, dir, req, sha, p)
		if err != nil {
			continue
		}
		for _, id := range lacks {
			if !have[id] {
				have[id] = true
				*missing = append(*missing, id)
			}
		}
		plans[sha] = p
	}
	return plans
}

// wants are the commits that goroutines of this process are waiting to fetch
// into one store, and the plans that were made for them meanwhile.
type wants struct {
	waiting map[string]int
	plans   map[string]*plan // read by several, changed by none
}

// fetchPlan waits for its turn and sees to it that a commit is in the store.
func (s *Store) fetchPlan(ctx context.Context, k storeKey, req Request, sha string) (p *plan, saw os.FileInfo, err error) {
	s.mu.Lock()
	w := s.wants[k]
	if w == nil {
		w = &wants{waiting: map[string]int{}, plans: map[string]*plan{}}
		s.wants[k] = w
	}
	w.waiting[sha]++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if w.waiting[sha]--; w.waiting[sha] == 0 {
			delete(w.waiting, sha)
			delete(w.plans, sha)
		}
		if len(w.waiting) == 0 {
			delete(s.wants, k)
		}
	}()
	lock, err := s.locks.exclusive(ctx, k.lock("fetch"))
	if err != nil {
		return nil, nil, err
	}
	defer lock.unlock()
	s.mu.Lock()
	p = w.plans[sha]
	s.mu.Unlock()
	if p == nil {
		p, err = s.ensure(ctx, k, req, sha, lock)
	}
	saw, _ = os.Stat(s.gitDir(k))
	return p, saw, err
}

// alsoWanted gives the other commits that somebody is waiting for.
func (s *Store) alsoWanted(k storeKey, sha string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	if w := s.wants[k]; w != nil {
		for other := range w.waiting {
			if other != sha && len(out) < 32 {
				out = append(out, other)
			}
		}
	}
	slices.Sort(out)
	return out
}

// handOver leaves those plans that are complete for those who wait. Nobody
// changes them afterwards.
func (s *Store) handOver(ctx context.Context, k storeKey, req Request, plans map[string]*plan) {
	for sha, p := range plans {
		missing, err := s.measure(ctx, s.gitDir(k), p)
		if err != nil || len(missing) > 0 || s.checkSizes(req.Repo, p) != nil {
			delete(plans, sha)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.wants[k]; w != nil {
		for sha, p := range plans {
			if w.waiting[sha] > 0 {
				w.plans[sha] = p
			}
		}
	}
}

// clone makes the store in staging and moves it into place when its first
// commit is there.
func (s *Store) clone(ctx context.Context, k storeKey, req Request, sha string, lock *fileLock) error {
	tmp, staged, done, err := s.staging()
	if err != nil {
		return err
	}
	defer done()
	s.stats.clones.Add(1)
	dir := filepath.Join(tmp, "repo.git")
	if err := makeStore(dir); err != nil {
		return err
	}
	err = s.fetchCommit(ctx, req, dir, []string{sha}, false, lock, staged)
	if ue, ok := errors.AsType[*UpstreamError](err); ok && req.Incomplete && ue.Err != nil {
		err = s.fetchCommit(ctx, req, dir, []string{sha}, true, lock, staged) // its files one by one, as far as there are any
	}
	if err != nil {
		return err
	}
	if _, err := s.peel(ctx, dir, sha); err != nil {
		return err
	}
	// Git marks only packs of filtered fetches as a promisor's. A repack would
	// drop from the others what the former lead to as well: it could be fetched
	// again, after all.
	packs, err := filepath.Glob(filepath.Join(dir, "objects/pack/*.pack"))
	if err != nil {
		return err
	}
	for _, p := range packs {
		if err := os.WriteFile(strings.TrimSuffix(p, ".pack")+".promisor", nil, 0o600); err != nil {
			return err
		}
	}
	// How deep histories were in a store that was here before says nothing of this one.
	if err := s.changeRefs(ctx, k, func(refs *refsFile) { refs.Depth = nil }); err != nil {
		return err
	}
	return os.Rename(dir, s.gitDir(k))
}

// measure notes the sizes of the plan's files and gives the blobs that are not there.
func (s *Store) measure(ctx context.Context, dir string, p *plan) (missing []string, err error) {
	oids := make([]string, 0, len(p.tree.Entries))
	size := make(map[string]int64, len(p.tree.Entries))
	for _, e := range p.tree.Entries {
		if e.Kind == Submodule {
			continue
		}
		if _, ok := size[e.OID]; !ok {
			size[e.OID] = -1
			oids = append(oids, e.OID)
		}
	}
	if len(oids) == 0 {
		return nil, nil
	}
	var wrong error
	err = s.sizes(ctx, dir, oids, func(o object) {
		switch o.kind {
		case "":
			missing = append(missing, o.oid)
		case "blob":
			size[o.oid] = o.size
		default:
			wrong = fmt.Errorf("object %s is a %s, not a blob", o.oid, o.kind)
		}
	})
	if err == nil {
		err = wrong
	}
	p.bytes = 0
	for i := range p.tree.Entries {
		e := &p.tree.Entries[i]
		if e.Kind != Submodule {
			e.Size = max(size[e.OID], 0)
			p.bytes += e.Size
		}
	}
	return missing, err
}

func (s *Store) checkSizes(repo Repo, p *plan) error {
	bud := s.opt.Budget
	if p.bytes > bud.TreeBytes {
		return &BudgetError{Repo: repo.Name, Limit: bud.TreeBytes, What: fmt.Sprintf("has files of %s in all; the limit is %s", humanBytes(p.bytes), humanBytes(bud.TreeBytes))}
	}
	for _, e := range p.tree.Entries {
		if e.Size > bud.FileBytes {
			return &BudgetError{Repo: repo.Name, Limit: bud.FileBytes, What: fmt.Sprintf("has a file of %s, %q; the limit is %s", humanBytes(e.Size), clip(e.Path, 100), humanBytes(bud.FileBytes))}
		}
	}
	return nil
}

// suspect marks an error of a fetch that neither the host nor the network
// explains as damage of the store, unless the store is new.
func suspect(err error, how How) error {
	var ue *UpstreamError
	var ge *gitError
	var cr *crash
	if how != Cloned && (errors.As(err, &ue) && errors.As(ue.Err, &ge) || errors.As(err, &cr)) {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return err
}
