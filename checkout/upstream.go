package checkout

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// netCommand runs a git command that talks to the repository's host, through
// the relay, with a pass for just this command.
func (s *Store) netCommand(ctx context.Context, repo Repo, cred Credentials, c gitCommand) error {
	if err := s.ready(); err != nil {
		return err
	}
	if !c.background {
		select {
		case s.fetching <- struct{}{}:
			defer func() { <-s.fetching }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	p, err := s.relay.admit(ctx, repo, cred, cmp.Or(c.limit, s.opt.Budget.FetchBytes))
	if err != nil {
		return err
	}
	defer p.end()
	c.config = slices.Concat(c.config, promisorConfig, p.config())
	c.scrub = p.scrub
	began := time.Now()
	err = s.git.run(ctx, c)
	s.count(p)
	if err != nil {
		s.relay.unlearn(repo)
	}
	s.stats.nanos.Add(int64(time.Since(began)))
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case p.failed() != nil:
		return p.failed()
	case errors.Is(err, errTime):
		return &BudgetError{Repo: repo.Name, Limit: int64(s.opt.Budget.Time),
			What: fmt.Sprintf("needs more than the %s that one fetch may take", s.opt.Budget.Time)}
	}
	return s.explain(repo, err)
}

var (
	wrongFormat = regexp.MustCompile(`mismatched algorithms|unknown object format|unsupported object format`)
	notOurRef   = regexp.MustCompile(`not our ref|no such remote ref|couldn't find remote ref|upload-pack: .*bad object|Server does not allow request`)
	fsckFault   = regexp.MustCompile(`object [0-9a-f]+: ([a-zA-Z]+): `)
	noMemory    = regexp.MustCompile(`(?i)out of memory|cannot allocate|mmap failed|unable to create thread|memory exhausted`)
	noSpace     = regexp.MustCompile(`(?i)no space left|disk quota exceeded`)
)

// errNotThere says that the host does not give an object or ref.
var errNotThere = errors.New("the host does not have it")

// explain turns what git said into the error that says what happened.
func (s *Store) explain(repo Repo, err error) error {
	var ge *gitError
	if !errors.As(err, &ge) {
		return err
	}
	switch {
	case wrongFormat.MatchString(ge.stderr):
		return &RefusedError{Repo: repo.Name, Reason: "uses object names that are not SHA-1, which are not supported"}
	case notOurRef.MatchString(ge.stderr):
		return fmt.Errorf("%w: %w", errNotThere, ge)
	case noSpace.MatchString(ge.stderr):
		return &BudgetError{Repo: repo.Name, What: doesNotFit}
	case noMemory.MatchString(ge.stderr) || ge.code < 0:
		err := &BudgetError{Repo: repo.Name, Limit: s.opt.Budget.Memory, What: "needs more memory than one fetch may use"}
		if ge.code < 0 && ge.signal != syscall.SIGKILL {
			return &crash{err}
		}
		return err
	case strings.Contains(ge.stderr, "exceeded maximum allowed tree depth"): // core.maxTreeDepth, git 2.43
		return tooDeep(repo, s.opt.Budget.Depth)
	case strings.Contains(ge.stderr, "fsck error in packed object"):
		err := malformed(repo)
		if m := fsckFault.FindStringSubmatch(ge.stderr); m != nil && slices.ContainsFunc(benignFaults, func(id string) bool { return strings.EqualFold(id, m[1]) }) {
			return &benignFault{err, m[1]}
		}
		return err
	}
	return &UpstreamError{Repo: repo.Name, Reason: "git could not make sense of the host's answer", Err: ge}
}

// answer is what upstream said of a ref.
type answer struct {
	name    string // full name
	sha     string // peeled
	defName string // default branch, "" if HEAD is detached or not there
}

// maxRefBytes bounds the list of refs that is read: 50,000 refs take about 4 MB.
const maxRefBytes = 64 << 20

// ask asks upstream for a ref and the default branch, in one request.
func (s *Store) ask(ctx context.Context, req Request) (answer, error) {
	s.stats.resolves.Add(1)
	want := candidates(req.Ref)
	refs, head, err := s.listRefs(ctx, req, append([]string{"HEAD"}, want...), 0)
	if err != nil {
		return answer{}, err
	}
	ans := answer{defName: strings.TrimPrefix(head, "refs/heads/")}
	for _, w := range want {
		sha := refs[w+"^{}"]
		if sha == "" {
			sha = refs[w]
		}
		if sha == "" {
			continue
		}
		if len(sha) != 40 {
			return answer{}, &RefusedError{Repo: req.Repo.Name, Reason: "uses object names that are not SHA-1, which are not supported"}
		}
		if ans.name, ans.sha = w, sha; w == "HEAD" && head != "" {
			ans.name = head
		}
		return ans, nil
	}
	if fullSHA.MatchString(req.Ref) {
		ans.name, ans.sha = req.Ref, req.Ref
		return ans, nil
	}
	// Nothing by that name. Is there anything at all?
	if refs["HEAD"] == "" {
		any, _, err := s.listRefs(ctx, req, []string{"refs/heads/", "refs/tags/"}, 5)
		if err != nil {
			return answer{}, err
		}
		if len(any) == 0 {
			return answer{}, &EmptyError{Repo: req.Repo.Name}
		}
		if want[0] == "HEAD" {
			return answer{}, &RefError{Repo: req.Repo.Name, Ref: "HEAD", Reason: "points to a branch that is not there",
				hint: "Name a branch or tag" + some(any) + "."}
		}
	}
	return answer{}, &RefError{Repo: req.Repo.Name, Ref: req.Ref, Reason: "is not a branch, tag or commit there"}
}

// some names a few branches for a hint.
func some(refs map[string]string) string {
	out := ""
	n := 0
	for name := range refs {
		if b, ok := strings.CutPrefix(name, "refs/heads/"); ok && n < 3 {
			if n++; n == 1 {
				out = ", for instance " + b
			} else {
				out += " or " + b
			}
		}
	}
	return out
}

// listRefs gives the refs that begin with one of prefixes, by full name ("^{}"
// added for what a tag leads to), and what HEAD points to. From a host that
// does not speak protocol version 2 git lists all refs.
func (s *Store) listRefs(ctx context.Context, req Request, prefixes []string, max int) (refs map[string]string, head string, err error) {
	refs, head, err = s.lsRefs(ctx, req, prefixes, max)
	if !errors.Is(err, errNotV2) {
		return refs, head, err
	}
	refs, head = map[string]string{}, ""
	args := []string{"ls-remote", "--symref", "origin"}
	err = s.netCommand(ctx, req.Repo, req.Credentials, gitCommand{args: args, stdout: func(r io.Reader) error {
		lim := &io.LimitedReader{R: r, N: maxRefBytes}
		sc := bufio.NewScanner(lim)
		for sc.Scan() {
			sha, name, ok := strings.Cut(sc.Text(), "\t")
			if !ok || !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
				continue
			}
			if to, isSym := strings.CutPrefix(sha, "ref: "); isSym {
				if name == "HEAD" {
					head = to
				}
				continue
			}
			refs[name] = sha
		}
		if lim.N == 0 {
			return &BudgetError{Repo: req.Repo.Name, What: "has too many refs to list", Limit: maxRefBytes}
		}
		return sc.Err()
	}})
	return refs, head, err
}

// storeConfig is the whole configuration of a store. It names no remote and no
// credential: those come by environment, per command. So to a command that
// does not talk to a host a store is an ordinary repository in which objects
// may be missing, and cannot be made to fetch.
const storeConfig = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"

// promisorConfig makes the remote one that objects may be left out of.
var promisorConfig = []string{"remote.origin.promisor=true", "remote.origin.partialclonefilter=blob:none"}

// storeAttributes undo what attributes inside a tree would do to its bytes.
const storeAttributes = "* -text -eol -ident -filter -working-tree-encoding\n"

// makeStore writes an empty bare store. It starts no process.
func makeStore(dir string) error {
	for _, d := range []string{"objects/info", "objects/pack", "refs", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/none\n", "config": storeConfig, "info/attributes": storeAttributes} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// sound reports whether a store has the form that makeStore gave it.
func sound(dir string) bool {
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/none\n", "config": storeConfig, "info/attributes": storeAttributes} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != text {
			return false
		}
	}
	for _, name := range []string{"objects/info/alternates", "objects/info/http-alternates", "hooks", "info/grafts"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return false
		}
	}
	st, err := os.Stat(filepath.Join(dir, "objects/pack"))
	return err == nil && st.IsDir()
}

// tidy removes what a killed git left in a store: lock files and half packs.
// The fetch lock is held, and children of a dead holder hold it too, so nobody
// is writing.
func tidy(dir string) {
	for _, pattern := range []string{"*.lock", "refs/checkout/*.lock", "objects/pack/*.lock", "objects/pack/tmp_*", "objects/pack/.tmp-*", "objects/tmp_*", "objects/??/tmp_*", "objects/info/*.lock", "objects/info/commit-graphs/*.lock", "shallow_*"} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, f := range found {
			_ = os.Remove(f)
		}
	}
	for _, ending := range []string{".promisor", ".rev"} { // of packs that were on their way
		found, _ := filepath.Glob(filepath.Join(dir, "objects/pack/*"+ending))
		for _, f := range found {
			if _, err := os.Stat(strings.TrimSuffix(f, ending) + ".pack"); errors.Is(err, os.ErrNotExist) {
				_ = os.Remove(f)
			}
		}
	}
	// Interrupted index-pack leaves a pack without an index, which nothing reads.
	packs, _ := filepath.Glob(filepath.Join(dir, "objects/pack/*.pack"))
	for _, p := range packs {
		if _, err := os.Stat(strings.TrimSuffix(p, ".pack") + ".idx"); errors.Is(err, os.ErrNotExist) {
			_ = os.Remove(p)
		}
	}
}

// fetchArgs begin every fetch.
var fetchArgs = []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--no-recurse-submodules", "--force", "--refmap="}

// fetchCommit brings commits and their trees. filtered leaves the blobs out.
func (s *Store) fetchCommit(ctx context.Context, req Request, gitDir string, shas []string, filtered bool, locks ...*fileLock) error {
	s.stats.fetches.Add(1)
	args := append([]string{}, fetchArgs...)
	if !isWhole(gitDir) {
		args = append(args, "--depth=1")
	}
	if filtered {
		args = append(args, "--filter=blob:none")
	} else {
		args = append(args, "--no-filter")
	}
	args = append(args, "origin")
	for _, sha := range shas {
		args = append(args, "+"+sha+":refs/checkout/"+sha)
	}
	return s.fetch(ctx, req, gitCommand{dir: gitDir, args: args, locks: locks})
}

// fetchObjects brings the named objects in one request.
func (s *Store) fetchObjects(ctx context.Context, req Request, gitDir string, oids []string, lock *fileLock) error {
	s.stats.fetches.Add(1)
	args := append([]string{"-c", "fetch.negotiationAlgorithm=noop"}, fetchArgs...)
	args = append(args, "--filter=blob:none", "--stdin", "origin")
	return s.fetch(ctx, req, gitCommand{dir: gitDir, args: args, locks: []*fileLock{lock},
		input: strings.Join(oids, "\n") + "\n"})
}

// fetch runs a fetch of which all new objects are checked: by git as they come,
// or, in a store that turned out to hold a benign fault, afterwards, see fsck.go.
func (s *Store) fetch(ctx context.Context, req Request, c gitCommand) error {
	lax := filepath.Join(c.dir, "lax")
	if _, err := os.Stat(lax); err != nil {
		err := s.netCommand(ctx, req.Repo, req.Credentials, c)
		benign, ok := errors.AsType[*benignFault](err)
		if !ok {
			return err
		}
		if err := os.WriteFile(lax, []byte(benign.id+"\n"), 0o600); err != nil {
			return err
		}
	}
	return s.fetchLax(ctx, req, c)
}

// benignFault says that a fetch ended because of one of benignFaults.
type benignFault struct {
	*RefusedError
	id string
}

func (e *benignFault) Unwrap() error { return e.RefusedError }
