package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Request asks for a repository at a ref.
type Request struct {
	Repo Repo
	// Ref is a branch, a tag, a full commit sha or a full name such as
	// "refs/pull/7/head"; "" is the default branch. Where a branch and a tag
	// have one name the branch wins; "refs/tags/x" names the tag.
	Ref string
	// Credentials are called once for each git command that talks to the host.
	Credentials Credentials
	// Fresh asks upstream even if its last answer is younger than the debounce.
	Fresh bool
	// Checked says that the caller has checked, in this very run, that these
	// credentials may read the repository. Without it a private class asks
	// upstream at every Acquire, so that a lost access is noticed at once.
	Checked bool
	// WantSHA, if set, is the commit that must be handed out. When Ref has moved
	// on, that commit is fetched all the same, and Moved says so.
	WantSHA string
}

// How says what it took to get a tree.
type How string

// The ways in which a tree comes about.
const (
	Cached  How = "cached"  // nothing was fetched
	Fetched How = "fetched" // into a store that was there
	Cloned  How = "cloned"  // the store is new
)

// Acquire gives a read-only working tree of req.Ref's commit, which is seen to
// hold exactly what the commit says. Runs that want the same commit share it.
// The caller must Release it. Upstream is asked what the ref is, unless it said
// so within the debounce; if it cannot be asked, that is an error, however old
// or young the copies on disk. Errors that a person can do something about are
// of the types in this package.
func (s *Store) Acquire(ctx context.Context, req Request) (*Checkout, error) {
	c, err := s.acquire(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("checkout: acquire %s: %w", req.Repo.Name, err)
	}
	return c, nil
}

func (s *Store) acquire(ctx context.Context, req Request) (*Checkout, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	if err := s.validate(req); err != nil {
		return nil, err
	}
	k, asked := keyOf(req.Repo), s.opt.Now()
	use, err := s.locks.shared(ctx, k.lock("store")) // the store is not removed meanwhile
	if err != nil {
		return nil, err
	}
	defer use.unlock()
	if err := os.MkdirAll(filepath.Join(s.storeDir(k), "trees"), 0o700); err != nil {
		return nil, err
	}
	if ans, ok := s.known(k, req, asked); ok && req.WantSHA == "" {
		if t := s.hold(ctx, k, ans.sha); t != nil {
			s.stats.hits.Add(1)
			return s.checkout(t, req, ans, Cached), nil
		}
	}
	// Twice at most: a store that turns out to be broken is made anew.
	for try := 0; ; try++ {
		c, err := s.acquireLocked(ctx, k, req, asked)
		if err == nil || try > 0 || !isBroken(err) {
			return c, err
		}
		s.opt.Log.WarnContext(ctx, "checkout: store is broken, making it anew", "store", k.repo, "err", err)
		if err := s.discardStore(ctx, k); err != nil {
			return nil, err
		}
	}
}

// acquireLocked resolves, fetches and materialises. Resolving and fetching are
// done by one at a time per store; whoever waited finds the answer there.
func (s *Store) acquireLocked(ctx context.Context, k storeKey, req Request, asked time.Time) (*Checkout, error) {
	lock, err := s.locks.exclusive(ctx, k.lock("fetch"))
	if err != nil {
		return nil, err
	}
	defer lock.unlock()
	ans, ok := s.known(k, req, asked)
	if !ok {
		if ans, err = s.resolve(ctx, k, req); err != nil {
			return nil, err
		}
	}
	moved := ""
	if req.WantSHA != "" && ans.sha != req.WantSHA {
		moved, ans.sha = ans.sha, req.WantSHA
	}
	if t := s.hold(ctx, k, ans.sha); t != nil {
		s.stats.hits.Add(1)
		return s.checkout(t, req, ans, Cached), nil
	}
	p, err := s.ensure(ctx, k, req, ans.sha, lock)
	if errors.Is(err, errNotThere) || errors.Is(err, errMissing) {
		re := &RefError{Repo: req.Repo.Name, Ref: req.Ref, Reason: "is not a commit that the host gives out"}
		if moved != "" {
			re.Reason = fmt.Sprintf("has moved from %.12s to %.12s, and the host no longer gives out the former", ans.sha, moved)
		}
		return nil, re
	}
	if err != nil {
		return nil, err
	}
	lock.unlock()
	ans.sha = p.sha
	t, err := s.materialise(ctx, k, req.Repo, p)
	if err != nil {
		return nil, err
	}
	c := s.checkout(t, req, ans, p.how)
	c.moved = moved
	return c, nil
}

// known gives upstream's last answer, if it is good enough for req.
func (s *Store) known(k storeKey, req Request, asked time.Time) (answer, bool) {
	refs := s.readRefs(k)
	open := k.class == Public || req.Checked
	if !open {
		return answer{}, false
	}
	if fullSHA.MatchString(req.Ref) {
		// A commit never changes; only the default branch's name is wanted.
		_, asked := refs.Refs["HEAD"]
		return answer{name: req.Ref, sha: req.Ref, defName: refs.Default}, asked
	}
	st, ok := refs.Refs[refKey(req.Ref)]
	good := ok && (!st.At.Before(asked) || !req.Fresh && asked.Sub(st.At) < s.opt.Debounce)
	return answer{name: st.Name, sha: st.SHA, defName: refs.Default}, good
}

func refKey(ref string) string {
	if ref == "" {
		return "HEAD"
	}
	return ref
}

// resolve asks upstream and notes the answer.
func (s *Store) resolve(ctx context.Context, k storeKey, req Request) (answer, error) {
	at := s.opt.Now() // before asking: the answer is at least this young
	ans, err := s.lsRemote(ctx, req)
	if err != nil {
		return answer{}, err
	}
	refs := s.readRefs(k)
	refs.ID, refs.Default = req.Repo.ID, ans.defName
	st := stamp{Name: ans.name, SHA: ans.sha, At: at}
	refs.Refs[refKey(req.Ref)] = st
	if branch, ok := strings.CutPrefix(ans.name, "refs/heads/"); ok {
		refs.Refs[branch], refs.Refs[ans.name] = st, st // a branch beats all that have its short name
	}
	if _, ok := refs.Refs["HEAD"]; !ok {
		// Not an answer about HEAD's commit, but one about its name: long past,
		// so that nobody takes the commit from it.
		refs.Refs["HEAD"] = stamp{Name: "refs/heads/" + ans.defName}
	}
	return ans, s.writeRefs(k, refs)
}

// plan is what there is to write for a commit; all of it is in the store.
type plan struct {
	sha   string
	tree  *Tree
	bytes int64
	how   How
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
	commit, err := s.peel(ctx, dir, sha)
	if errors.Is(err, errMissing) {
		p.how = Fetched
		if err := s.fetchCommit(ctx, req, dir, sha, true, lock); err != nil {
			return nil, err
		}
		commit, err = s.peel(ctx, dir, sha)
	}
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
	missing, err := s.measure(ctx, dir, p)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		if p.how == Cached {
			p.how = Fetched
		}
		if err := s.fetchObjects(ctx, req, dir, missing, lock); err != nil {
			return nil, err
		}
		if missing, err = s.measure(ctx, dir, p); err != nil {
			return nil, err
		}
		if len(missing) > 0 {
			return nil, &UpstreamError{Repo: req.Repo.Name, Reason: fmt.Sprintf("the host left out %d files of the commit", len(missing))}
		}
	}
	return p, s.checkSizes(req.Repo, p)
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
	if err := s.fetchCommit(ctx, req, dir, sha, false, lock, staged); err != nil {
		return err
	}
	if _, err := s.peel(ctx, dir, sha); err != nil {
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
	if how != Cloned && errors.As(err, &ue) && errors.As(ue.Err, &ge) {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return err
}

// isBroken reports whether an error means that a store on disk is damaged:
// git or the reading of its objects failed in a way that no host explains.
func isBroken(err error) bool {
	var ge *gitError
	var ue *UpstreamError
	return errors.As(err, &ge) && !errors.As(err, &ue) && !errors.Is(err, errNotThere) || errors.Is(err, errDamaged)
}

// discardStore throws a store's objects away. Trees that were published stay:
// they were whole when they came.
func (s *Store) discardStore(ctx context.Context, k storeKey) error {
	lock, err := s.locks.exclusive(ctx, k.lock("fetch"))
	if err != nil {
		return err
	}
	defer lock.unlock()
	return s.discard(s.gitDir(k))
}
