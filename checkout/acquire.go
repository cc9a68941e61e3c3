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
	// Ref is a branch, a tag, a commit sha or a full name such as
	// "refs/pull/7/head"; "" is the default branch. Where a branch and a tag
	// have one name the branch wins; "refs/tags/x" names the tag. A short sha
	// (7 digits or more) is found on the default branch, whose whole history may
	// have to be fetched for it.
	Ref string
	// Credentials are called once for each git command that talks to the host.
	Credentials Credentials
	// Fresh asks upstream even if its last answer is younger than the debounce.
	Fresh bool
	// Checked says that the caller has checked, in this very run, that these
	// credentials may read the repository. Without it a private class asks
	// upstream at every Acquire, so that a lost access is noticed at once.
	Checked bool
	// Incomplete says that the repository may lack files, as a partial clone on
	// this machine does. They are left out of the tree, see Checkout.Lacks.
	Incomplete bool
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
	if errors.Is(err, fs.ErrNotExist) && ctx.Err() == nil { // forgotten, evicted or deleted under our hands: it is made anew
		if err = s.makeFolders(); err == nil {
			c, err = s.acquire(ctx, req)
		}
	}
	if err = diskFull(req.Repo, err); isFull(err) && ctx.Err() == nil {
		// Others write to this disk too, so that there was room is no promise.
		if gone := s.evict(ctx, max(s.opt.Budget.FreeBytes, 64<<20)); gone == nil {
			c, err = s.acquire(ctx, req)
			err = diskFull(req.Repo, err)
		}
	}
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
	req.Ref = lowerID(req.Ref)
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
	// A store that turns out to be broken is made anew. More than once only if
	// others had thrown it away in the middle of our work.
	for try := 0; ; try++ {
		c, saw, err := s.acquireLocked(ctx, k, req, asked)
		if err == nil || try == 3 || !isBroken(err) {
			return c, err
		}
		s.opt.Log.WarnContext(ctx, "checkout: store is broken", "store", k.repo, "err", err)
		if mine, err := s.discardStore(ctx, k, saw); err != nil {
			return nil, err
		} else if mine {
			try = max(try, 2)
		}
	}
}

// acquireLocked resolves, fetches and materialises. One at a time asks what a
// ref is, one at a time fetches into a store; whoever waited finds it there.
// saw is the store that was worked on, for discardStore.
func (s *Store) acquireLocked(ctx context.Context, k storeKey, req Request, asked time.Time) (_ *Checkout, saw os.FileInfo, _ error) {
	s.askAhead(ctx, k, req)
	ans, err := s.resolve(ctx, k, req, asked)
	if _, ok := errors.AsType[*RefError](err); ok && shortSHA.MatchString(strings.ToLower(req.Ref)) {
		ans, err = s.findShort(ctx, k, req, asked, err)
	}
	if err != nil {
		return nil, nil, err
	}
	moved := ""
	if req.WantSHA != "" && ans.sha != req.WantSHA {
		moved, ans.sha = ans.sha, req.WantSHA
	}
	if t := s.hold(ctx, k, ans.sha); t != nil {
		s.stats.hits.Add(1)
		c := s.checkout(t, req, ans, Cached)
		c.moved = moved
		return c, nil, nil
	}
	p, saw, err := s.fetchPlan(ctx, k, req, ans.sha)
	if errors.Is(err, errNotThere) || errors.Is(err, errMissing) {
		re := &RefError{Repo: req.Repo.Name, Ref: refKey(req.Ref), Reason: "is not a commit that the host gives out"}
		if moved != "" {
			re.Reason = fmt.Sprintf("has moved from %.12s to %.12s, and the host no longer gives out the former", ans.sha, moved)
		}
		return nil, nil, re
	}
	if err != nil {
		return nil, saw, err
	}
	ans.sha = p.sha
	t, err := s.materialise(ctx, k, req.Repo, p)
	if err != nil {
		return nil, saw, err
	}
	c := s.checkout(t, req, ans, p.how)
	c.moved = moved
	return c, nil, nil
}

// resolve gives what a ref is: from the last answer if that is good enough,
// else by asking upstream. Those who want the same ref ask once.
func (s *Store) resolve(ctx context.Context, k storeKey, req Request, asked time.Time) (answer, error) {
	if ans, ok := s.known(k, req, asked); ok {
		return ans, nil
	}
	if !shared(k, req) {
		return s.askAndNote(ctx, k, req)
	}
	lock, err := s.locks.exclusive(ctx, k.lock("ask."+oidOf("ref", []byte(req.Ref))[:16]))
	if err != nil {
		return answer{}, err
	}
	defer lock.remove()
	if ans, ok := s.known(k, req, asked); ok {
		return ans, nil
	}
	return s.askAndNote(ctx, k, req)
}

// findShort looks for the commit that a short id means: in what is there, then
// in the whole history of the default branch. notFound is what it gives if
// there is none, or more than one.
func (s *Store) findShort(ctx context.Context, k storeKey, req Request, asked time.Time, notFound error) (answer, error) {
	short := strings.ToLower(req.Ref)
	req.Ref = ""
	ans, err := s.resolve(ctx, k, req, asked)
	if err != nil {
		return answer{}, err
	}
	sha, err := s.expand(ctx, k, short)
	if err != nil {
		if _, _, err = s.fetchPlan(ctx, k, req, ans.sha); err == nil {
			err = s.deepen(ctx, k, req, ans.sha, Whole)
		}
		if err != nil {
			return answer{}, err
		}
		if sha, err = s.expand(ctx, k, short); err != nil {
			return answer{}, notFound
		}
	}
	return answer{name: sha, sha: sha, defName: ans.defName}, nil
}

// shared reports whether a request may be answered by what was learnt with
// other credentials than its own.
func shared(k storeKey, req Request) bool { return k.class == Public || req.Checked }

// known gives upstream's last answer, if it is good enough for req.
func (s *Store) known(k storeKey, req Request, asked time.Time) (answer, bool) {
	if !shared(k, req) {
		return answer{}, false
	}
	refs := s.readRefs(k)
	if fullSHA.MatchString(req.Ref) {
		// A commit never changes; only the default branch's name is wanted.
		_, asked := refs.Refs["HEAD"]
		return answer{name: req.Ref, sha: req.Ref, defName: refs.Default}, asked
	}
	st, ok := refs.Refs[refKey(req.Ref)]
	// What is of the future was noted by a clock that has been set back: it would be good until then.
	good := ok && !st.At.After(s.opt.Now()) && (!st.At.Before(asked) || !req.Fresh && asked.Sub(st.At) < s.opt.Debounce)
	return answer{name: st.Name, sha: st.SHA, defName: refs.Default}, good
}

func refKey(ref string) string {
	if ref == "" {
		return "HEAD"
	}
	return ref
}

// askAndNote asks upstream and notes the answer.
func (s *Store) askAndNote(ctx context.Context, k storeKey, req Request) (answer, error) {
	at := s.opt.Now() // before asking: the answer is at least this young
	ans, err := s.ask(ctx, req)
	if err != nil {
		return answer{}, err
	}
	return ans, s.changeRefs(ctx, k, func(refs *refsFile) {
		refs.ID, refs.Default = req.Repo.ID, ans.defName
		st := stamp{Name: ans.name, SHA: ans.sha, At: at}
		refs.Refs[refKey(req.Ref)] = st
		if branch, ok := strings.CutPrefix(ans.name, "refs/heads/"); ok {
			refs.Refs[ans.name] = st
			if candidates(branch)[0] == ans.name { // not of a branch named HEAD, or refs/heads/x
				refs.Refs[branch] = st // a branch beats all that have its short name
			}
		}
		if _, ok := refs.Refs["HEAD"]; !ok {
			// Not an answer about HEAD's commit, but one about its name: long past,
			// so that nobody takes the commit from it.
			refs.Refs["HEAD"] = stamp{Name: "refs/heads/" + ans.defName}
		}
	})
}

// isBroken reports whether an error means that a store on disk is damaged:
// git or the reading of its objects failed in a way that no host explains.
func isBroken(err error) bool {
	var ge *gitError
	var ue *UpstreamError
	return errors.As(err, &ge) && !errors.As(err, &ue) && !errors.Is(err, errNotThere) || errors.Is(err, errDamaged)
}

// discardStore throws a store's objects away, if it is still the one that was
// seen to be broken. Trees that were published stay: they were whole when they
// came.
func (s *Store) discardStore(ctx context.Context, k storeKey, saw os.FileInfo) (bool, error) {
	lock, err := s.locks.exclusive(ctx, k.lock("fetch"))
	if err != nil {
		return false, err
	}
	defer lock.unlock()
	now, err := os.Stat(s.gitDir(k))
	if err != nil || saw == nil || !os.SameFile(saw, now) {
		return false, nil //nolint:nilerr // there is none: somebody else was here
	}
	return true, s.discard(s.gitDir(k))
}
