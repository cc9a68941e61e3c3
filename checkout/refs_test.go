package checkout_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// TestG6_BranchBeatsTag: the rule for a branch and a tag of one name.
func TestG6_BranchBeatsTag(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/one", small+"-- @lighttag topic --\n")
	checkouttest.Git(t, srv.Dir("acme/one"), "update-ref", "refs/tags/topic", ids["first"])
	s := newStore(t, srv, nil)
	for ref, want := range map[string]string{"topic": "third", "refs/tags/topic": "first", "tags/topic": "first", "heads/topic": "third"} {
		c := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/one"), Ref: ref})
		require.Equal(t, ids[want], c.SHA(), ref)
	}
}

// TestG6_UnadvertisedSHA: given out by a server that allows it, else a clear answer.
func TestG6_UnadvertisedSHA(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/one", small)
	s := newStore(t, srv, nil)
	r := repo(srv, "acme/one")
	require.Equal(t, ids["first"], acquire(t, s, checkout.Request{Repo: r, Ref: ids["first"]}).SHA())
	_, err := s.Acquire(t.Context(), checkout.Request{Repo: r, Ref: strings.Repeat("1", 40)})
	var re *checkout.RefError
	require.ErrorAs(t, err, &re)
	require.NotEmpty(t, re.Hint())
	// A blob's id, and a tree's, are no commits.
	for _, what := range []string{":README.md", "^{tree}"} {
		oid := checkouttest.Git(t, srv.Dir("acme/one"), "rev-parse", ids["first"]+what)
		_, err = s.Acquire(t.Context(), checkout.Request{Repo: r, Ref: oid})
		require.ErrorAs(t, err, &re, what)
	}
}

// TestG7_PinnedAfterForcePush: the sha that was asked for is handed out although
// the ref has moved on, and that is said; if it is gone, that is said.
func TestG7_PinnedAfterForcePush(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/one", small)
	checkouttest.Git(t, srv.Dir("acme/one"), "update-ref", "refs/heads/main", ids["third"])
	s := newStore(t, srv, nil)
	req := checkout.Request{Repo: repo(srv, "acme/one"), Ref: "main", WantSHA: ids["first"]}
	c := acquire(t, s, req)
	require.Equal(t, ids["first"], c.SHA())
	require.Equal(t, ids["third"], c.Moved())
	req.WantSHA = ids["third"]
	require.Empty(t, acquire(t, s, req).Moved())
	req.WantSHA = strings.Repeat("2", 40)
	_, err := s.Acquire(t.Context(), req)
	var re *checkout.RefError
	require.ErrorAs(t, err, &re)
	require.Contains(t, err.Error(), "has moved")
	// A run that holds a commit which the host gives up is told which one when it wants its history.
	req = checkout.Request{Repo: repo(srv, "acme/one")}
	c = acquire(t, s, req)
	require.NoError(t, os.RemoveAll(srv.Dir("acme/one")))
	srv.Add(t, "acme/one", "-- @commit other --\n-- a --\nb\n")
	err = c.Deepen(t.Context(), c.SHA(), checkout.Whole)
	require.ErrorAs(t, err, &re)
	require.Contains(t, err.Error(), `"`+c.SHA()+`" is not a commit that the host gives out`)
}

// TestT2_PullHead: a pull request's code comes from the base repository.
func TestT2_PullHead(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/one", small)
	s := newStore(t, srv, nil)
	c := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/one"), Ref: "refs/pull/7/head", WantSHA: ids["second"]})
	require.Equal(t, ids["second"], c.SHA())
	require.Empty(t, c.Moved())
	_, err := s.Acquire(t.Context(), checkout.Request{Repo: repo(srv, "acme/one"), Ref: "refs/pull/8/head"})
	var re *checkout.RefError
	require.ErrorAs(t, err, &re)
}

// TestG16_OddRefs: names and objects that refs should not have but do.
func TestG16_OddRefs(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/odd", small)
	dir := srv.Dir("acme/odd")
	git := func(args ...string) string { return checkouttest.Git(t, dir, args...) }
	git("update-ref", "refs/heads/HEAD", ids["first"])
	require.NoError(t, os.WriteFile(filepath.Join(dir, "refs/heads/-x"), []byte(ids["first"]+"\n"), 0o600))
	git("tag", "-a", "-m", "tag of a tag", "deep", "v1")
	git("tag", "-a", "-m", "of a blob", "blob", ids["first"]+":README.md")
	git("tag", "-a", "-m", "of a tree", "tree", ids["first"]+"^{tree}")
	git("update-ref", "refs/tags/plainblob", git("rev-parse", ids["first"]+":README.md"))
	git("update-ref", "refs/replace/"+ids["second"], ids["first"])
	s := newStore(t, srv, nil)
	r := repo(srv, "acme/odd")
	git("update-ref", "refs/heads/refs/heads/main", ids["first"])
	for _, tt := range [][2]string{{"refs/heads/HEAD", "first"}, {"refs/heads/refs/heads/main", "first"}, {"", "second"}, {"HEAD", "second"}, {"refs/heads/HEAD", "first"}, {"refs/heads/-x", "first"}, {"deep", "first"}, {"main", "second"}, {"refs/heads/main", "second"}} {
		ref, want := tt[0], tt[1]
		c := acquire(t, s, checkout.Request{Repo: r, Ref: ref})
		require.Equal(t, ids[want], c.SHA(), ref)
		d, err := c.ReadFile(t.Context(), "src/main.go")
		require.NoError(t, err)
		require.Contains(t, string(d.Data), map[string]string{"first": "one", "second": "two"}[want], "refs/replace is not heeded")
	}
	var re *checkout.RefError
	for ref, what := range map[string]string{"blob": "blob", "tree": "tree", "plainblob": "blob"} {
		_, err := s.Acquire(t.Context(), checkout.Request{Repo: r, Ref: ref})
		require.ErrorAs(t, err, &re)
		require.Contains(t, err.Error(), "leads to a "+what)
	}
	_, err := s.Acquire(t.Context(), checkout.Request{Repo: r, Ref: "-x"})
	require.ErrorAs(t, err, &re, "a short name never begins with '-'")
}

// TestG16_OddRepositories: HEAD that points nowhere or at a commit, a server
// with alternates, object names that are not SHA-1.
func TestG16_OddRepositories(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/nowhere", small)
	checkouttest.Git(t, srv.Dir("acme/nowhere"), "symbolic-ref", "HEAD", "refs/heads/gone")
	srv.Add(t, "acme/detached", small)
	checkouttest.Git(t, srv.Dir("acme/detached"), "update-ref", "--no-deref", "HEAD", ids["first"])
	checkouttest.InitBare(t, srv.Dir("acme/borrower"))
	require.NoError(t, os.WriteFile(filepath.Join(srv.Dir("acme/borrower"), "objects/info/alternates"), []byte(srv.Dir("acme/nowhere")+"/objects\n"), 0o600))
	checkouttest.Git(t, srv.Dir("acme/borrower"), "update-ref", "refs/heads/main", ids["third"])
	require.NoError(t, os.MkdirAll(srv.Dir("acme/sha256"), 0o750))
	checkouttest.Git(t, srv.Dir("acme/sha256"), "init", "-q", "--bare", "--object-format=sha256", "-b", "main", ".")
	tree := checkouttest.GitInput(t, srv.Dir("acme/sha256"), "", "mktree")
	commit := checkouttest.Git(t, srv.Dir("acme/sha256"), "commit-tree", "-m", "x", tree)
	checkouttest.Git(t, srv.Dir("acme/sha256"), "update-ref", "refs/heads/main", commit)

	s := newStore(t, srv, nil)
	_, err := s.Acquire(t.Context(), checkout.Request{Repo: repo(srv, "acme/nowhere")})
	var re *checkout.RefError
	require.ErrorAs(t, err, &re)
	require.Contains(t, re.Hint(), "main")
	require.Equal(t, ids["second"], acquire(t, s, checkout.Request{Repo: repo(srv, "acme/nowhere"), Ref: "main"}).SHA())

	c := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/detached")})
	require.Equal(t, ids["first"], c.SHA())
	require.Empty(t, c.DefaultBranch())

	everything(t, acquire(t, s, checkout.Request{Repo: repo(srv, "acme/borrower")}))

	_, err = s.Acquire(t.Context(), checkout.Request{Repo: repo(srv, "acme/sha256")})
	var refused *checkout.RefusedError
	require.ErrorAs(t, err, &refused)
}

// TestG15_ManyRefs: 50,000 refs, and one that points to a commit that is not there.
func TestG15_ManyRefs(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/many", small)
	var packed strings.Builder
	packed.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for i := range 50_000 {
		fmt.Fprintf(&packed, "%s refs/heads/bot/branch-%06d\n", ids["first"], i)
	}
	require.NoError(t, os.WriteFile(filepath.Join(srv.Dir("acme/many"), "packed-refs"), []byte(packed.String()), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(srv.Dir("acme/many"), "refs/heads/broken"), []byte(strings.Repeat("3", 40)+"\n"), 0o600))
	s := newStore(t, srv, nil)
	r := repo(srv, "acme/many")
	require.Equal(t, ids["second"], acquire(t, s, checkout.Request{Repo: r}).SHA())
	require.Equal(t, ids["first"], acquire(t, s, checkout.Request{Repo: r, Ref: "bot/branch-049999"}).SHA())
	var re *checkout.RefError
	for _, ref := range []string{"broken", "bot/branch-0", "bot"} {
		_, err := s.Acquire(t.Context(), checkout.Request{Repo: r, Ref: ref})
		require.ErrorAs(t, err, &re, ref)
	}
}

// TestT7_Renamed: the URL changes, the id stays, and so does the store. The
// default branch follows upstream.
func TestT7_Renamed(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/old", small)
	s := newStore(t, srv, nil)
	r := repo(srv, "acme/old")
	acquire(t, s, checkout.Request{Repo: r})
	require.NoError(t, os.MkdirAll(filepath.Join(srv.Root, "other"), 0o750))
	require.NoError(t, os.Rename(srv.Dir("acme/old"), srv.Dir("other/new")))
	checkouttest.Git(t, srv.Dir("other/new"), "symbolic-ref", "HEAD", "refs/heads/topic")
	r.Name, r.URL = "other/new", srv.RepoURL("other/new")
	c := acquire(t, s, checkout.Request{Repo: r, Fresh: true})
	require.Equal(t, ids["third"], c.SHA())
	require.Equal(t, "topic", c.DefaultBranch())
	require.Equal(t, checkout.Fetched, c.How())
	require.EqualValues(t, 1, s.Stats().Clones)
}

// TestT8_Forget: what is kept of a repository, or of an installation, goes at once.
func TestT8_Forget(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	srv.Add(t, "acme/one", small)
	srv.Add(t, "acme/two", small)
	var dir string
	s := newStore(t, srv, func(o *checkout.Options) { dir = o.Dir })
	private := func(name string) checkout.Repo { r := repo(srv, name); r.Class = "private-9"; return r }
	for _, r := range []checkout.Repo{repo(srv, "acme/one"), private("acme/one"), private("acme/two")} {
		c := acquire(t, s, checkout.Request{Repo: r})
		c.Release()
	}
	count := func(pattern string) int {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		return len(found)
	}
	require.Equal(t, 3, count("stores/*/*"))
	require.NoError(t, s.Forget(t.Context(), repo(srv, "acme/one").ID))
	require.Equal(t, 1, count("stores/*/*"))
	require.NoError(t, s.ForgetClass(t.Context(), "private-9"))
	require.NoError(t, s.ForgetClass(t.Context(), "private-9"))
	require.Equal(t, 0, count("stores/*/*"))
	require.Equal(t, 0, count("locks/*"), "no lock files are left")
	require.Equal(t, checkout.Cloned, acquire(t, s, checkout.Request{Repo: repo(srv, "acme/one")}).How())
}

// TestShortSHA: a short id is found on the default branch.
func TestShortSHA(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/one", small)
	s := newStore(t, srv, nil)
	r := repo(srv, "acme/one")
	c := acquire(t, s, checkout.Request{Repo: r, Ref: ids["first"][:8]})
	require.Equal(t, ids["first"], c.SHA())
	require.Equal(t, ids["first"], c.Ref())
	require.NoError(t, c.Verify(t.Context()))
	require.Equal(t, ids["second"], acquire(t, s, checkout.Request{Repo: r, Ref: ids["second"][:12]}).SHA())
	var re *checkout.RefError
	for _, ref := range []string{"0000000", "deadbeef", ids["third"][:10]} {
		_, err := s.Acquire(t.Context(), checkout.Request{Repo: r, Ref: ref})
		require.ErrorAs(t, err, &re)
		require.Equal(t, ref, re.Ref)
	}
}

// TestIDsInCapitals: git takes them, and some tools write them. A branch of such a name is still the branch.
func TestIDsInCapitals(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/one", small)
	checkouttest.Git(t, srv.Dir("acme/one"), "update-ref", "refs/heads/DEADBEEF", ids["third"])
	s := newStore(t, srv, nil)
	r := repo(srv, "acme/one")
	branch := ids["second"][:9] // a branch by the short id of another commit is the branch, also once that commit is there
	checkouttest.Git(t, srv.Dir("acme/one"), "update-ref", "refs/heads/"+branch, ids["third"])
	acquire(t, s, checkout.Request{Repo: r, Ref: ids["second"]})
	for ref, id := range map[string]string{strings.ToUpper(ids["first"]): "first", strings.ToUpper(ids["first"][:10]): "first", "DEADBEEF": "third", branch: "third"} {
		c := acquire(t, s, checkout.Request{Repo: r, Ref: ref})
		require.Equal(t, ids[id], c.SHA(), ref)
		sha, err := c.Bring(t.Context(), ref, 1)
		require.NoError(t, err)
		require.Equal(t, ids[id], sha, ref)
	}
}

// TestProtocolV0: a host that does not speak protocol version 2 is asked by git.
func TestProtocolV0(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/one", small)
	srv.Intercept = func(_ http.ResponseWriter, r *http.Request) bool { r.Header.Del("Git-Protocol"); return false }
	s := newStore(t, srv, nil)
	for ref, want := range map[string]string{"": "second", "topic": "third", "v1": "first"} {
		c := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/one"), Ref: ref})
		require.Equal(t, ids[want], c.SHA())
		require.Equal(t, "main", c.DefaultBranch())
	}
	var re *checkout.RefError
	_, err := s.Acquire(t.Context(), checkout.Request{Repo: repo(srv, "acme/one"), Ref: "nope"})
	require.ErrorAs(t, err, &re)
}

// TestG5_NothingOfARefIsObeyed: what would be an option, a range or a
// configuration if git were to read it never gets to git or to the host,
// wherever a ref can be given.
func TestG5_NothingOfARefIsObeyed(t *testing.T) {
	t.Parallel()
	fired := filepath.Join(t.TempDir(), "fired")
	srv := newServer(t)
	ids := srv.Add(t, "acme/one", small)
	s := newStore(t, srv, nil)
	r := repo(srv, "acme/one")
	c := acquire(t, s, checkout.Request{Repo: r})
	srv.Reset()
	for _, ref := range []string{"--upload-pack=touch " + fired, "--upload-pack=touch${IFS}" + fired, "-c", "core.fsmonitor=touch " + fired, "main..topic", "@{-1}", "main@{1}",
		"main topic", "a\nb", "a\x00b", "a\x7fb", ":(glob)**", "main:README.md", "main^{/first}", "refs/heads/../../x", "*", "+main:refs/heads/x", "ext::touch " + fired, "refs/heads/x.lock", strings.Repeat("a", 5000)} {
		var re *checkout.RefError
		_, err := s.Acquire(t.Context(), checkout.Request{Repo: r, Ref: ref})
		require.ErrorAs(t, err, &re, "%q", ref)
		_, err = s.Acquire(t.Context(), checkout.Request{Repo: r, Ref: "main", WantSHA: ref})
		require.ErrorAs(t, err, &re, "%q", ref)
		_, err = c.Bring(t.Context(), ref, 1)
		require.ErrorAs(t, err, &re, "%q", ref)
		require.ErrorAs(t, c.Deepen(t.Context(), ref, 1), &re, "%q", ref)
		_, err = s.ReadBlob(t.Context(), checkout.Request{Repo: r}, ref, "README.md")
		require.Error(t, err, "%q", ref)
	}
	require.Error(t, c.Git(t.Context(), nil, nil, "fetch", "--upload-pack=touch "+fired, "origin"), "only what reads is run")
	require.Empty(t, srv.Log(), "the host heard of it")
	require.NoFileExists(t, fired)
	require.Equal(t, ids["second"], c.SHA())
	everything(t, c)
}
