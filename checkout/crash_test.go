package checkout_test

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// manyCommits is an archive of n commits, each with a ref of its own, of files
// that differ from commit to commit.
func manyCommits(n, files int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "-- @commit c%d --\n", i)
		for j := range files {
			if i == 0 || (i+j)%5 == 0 {
				fmt.Fprintf(&b, "-- dir%d/file%d.txt --\n%s\n", j%7, j, strings.Repeat(fmt.Sprintf("line %d of %d\n", i, j), 20))
			}
		}
		fmt.Fprintf(&b, "-- @ref refs/heads/b%d --\n", i)
	}
	return b.String()
}

// sameAsUpstream compares every file of a tree with what the server has.
func sameAsUpstream(t testing.TB, gitDir string, c *checkout.Checkout) {
	t.Helper()
	require.NoError(t, c.Verify(t.Context()))
	tree, err := c.Tree(t.Context())
	require.NoError(t, err)
	var got strings.Builder
	for _, e := range tree.Entries {
		fmt.Fprintf(&got, "%s\t%s\n", e.OID, e.Path)
	}
	want := checkouttest.Git(t, gitDir, "ls-tree", "-r", "--full-tree", "--format=%(objectname)%x09%(path)", c.SHA())
	require.Equal(t, want, strings.TrimSuffix(got.String(), "\n"))
}

// TestG2_Crash kills a process with -9 at random points of clone, fetch,
// materialise, evict and repack, and sees that the next one heals it.
func TestG2_Crash(t *testing.T) {
	t.Parallel()
	rounds := 30
	if long() {
		rounds = 200
	}
	srv := newServer(t)
	ids := srv.Add(t, "acme/crash", manyCommits(12, 60))
	r := repo(srv, "acme/crash")
	dir := t.TempDir()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	budget := checkout.Budget{Packs: 2, DiskBytes: 600 << 10}
	killed := 0
	for round := range rounds {
		var refs []string
		for _, i := range rng.Perm(12) {
			refs = append(refs, fmt.Sprintf("b%d", i))
		}
		cmd, out := startChild(t, childJob{Dir: dir, Host: srv.Host(), Repos: []checkout.Repo{r}, Refs: refs, Maintain: true, Ahead: round%3 > 0, Loop: time.Minute, Budget: budget})
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "started\n", line)
		time.Sleep(time.Duration(rng.IntN(250)) * time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		killed++

		s, err := checkout.New(checkout.Options{Dir: dir, Git: testGit(), PrivateHosts: []string{srv.Host()}, Budget: budget})
		require.NoError(t, err)
		require.NoError(t, s.Start(t.Context()))
		i := rng.IntN(12)
		c, err := s.Acquire(t.Context(), checkout.Request{Repo: r, Ref: fmt.Sprintf("b%d", i), Fresh: true})
		require.NoError(t, err, "round %d", round)
		require.Equal(t, ids[fmt.Sprintf("c%d", i)], c.SHA())
		sameAsUpstream(t, srv.Dir("acme/crash"), c)
		require.NoError(t, c.Deepen(t.Context(), c.SHA(), checkout.Whole))
		require.Equal(t, strconv.Itoa(i+1), commits(t, c), "the history has a hole")
		c.Release()
		// Orphans of the killed process hold their locks until they notice that it
		// is gone; what they leave is swept after that.
		require.Eventually(t, func() bool {
			require.NoError(t, s.Maintain(t.Context()))
			return len(leftovers(t, dir)) == 0
		}, 10*time.Second, 20*time.Millisecond)
		if round%7 == 6 { // begin again from nothing, so that clones are hit too
			require.NoError(t, s.Forget(t.Context(), r.ID))
		}
		require.NoError(t, s.Close())
		onlyWhole(t, dir)
	}
	require.Equal(t, rounds, killed)
	var files int
	var bytes int64
	require.NoError(t, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if fi, err := d.Info(); err == nil {
			files++
			bytes += fi.Size()
		}
		return nil
	}))
	require.Less(t, files, 3000, "nothing piles up")
	require.Less(t, bytes, int64(8<<20))
}

// TestG2_Heals: damage of every kind that a crash, or somebody's hand, may leave.
func TestG2_Heals(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(t *testing.T, store string){
		"stale locks": func(t *testing.T, store string) {
			for _, f := range []string{"shallow.lock", "HEAD.lock", "packed-refs.lock", "config.lock", "index.lock", "refs/checkout/x.lock", "objects/pack/tmp_pack_xyz", "objects/pack/multi-pack-index.lock"} {
				require.NoError(t, os.WriteFile(filepath.Join(store, "repo.git", f), nil, 0o600))
			}
		},
		"pack cut":       func(t *testing.T, store string) { truncate(t, store, "repo.git/objects/pack/*.pack") },
		"index gone":     func(t *testing.T, store string) { remove(t, store, "repo.git/objects/pack/*.idx") },
		"objects gone":   func(t *testing.T, store string) { remove(t, store, "repo.git/objects") },
		"HEAD gone":      func(t *testing.T, store string) { remove(t, store, "repo.git/HEAD") },
		"shallow broken": func(t *testing.T, store string) { write(t, store, "repo.git/shallow", "xyz\n") },
		"an object that is not what its name says": func(t *testing.T, store string) {
			id := checkouttest.ObjectID("blob", []byte("on a branch\n"))
			var b bytes.Buffer
			z := zlib.NewWriter(&b)
			fmt.Fprint(z, "blob 12\x00not a branch")
			require.NoError(t, z.Close())
			require.NoError(t, os.MkdirAll(filepath.Join(store, "repo.git/objects", id[:2]), 0o700))
			write(t, store, "repo.git/objects/"+id[:2]+"/"+id[2:], b.String())
		},
		"a ref cut off by a power cut": func(t *testing.T, store string) { write(t, store, "repo.git/refs/checkout/*", "") },
		"packs cut off by a power cut": func(t *testing.T, store string) { write(t, store, "repo.git/objects/pack/*", "") },
		"a history that moved in half": func(t *testing.T, store string) {
			write(t, store, "repo.git/shallow", strings.Repeat("1", 40)+"\n"+strings.Repeat("2", 40)+"\n")
			for _, f := range []string{"pack-1.promisor", "pack-1.rev", "pack-2.promisor", "pack-2.rev", "pack-2.pack"} {
				write(t, store, "repo.git/objects/pack/"+f, "PACK")
			}
		},
		"config changed": func(t *testing.T, store string) {
			write(t, store, "repo.git/config", "[core]\n\tbare = true\n\tfsmonitor = /bin/true\n")
		},
		"alternates": func(t *testing.T, store string) { write(t, store, "repo.git/objects/info/alternates", "/tmp\n") },
		"empty store": func(t *testing.T, store string) {
			remove(t, store, "repo.git")
			require.NoError(t, os.Mkdir(filepath.Join(store, "repo.git"), 0o700))
		},
		"refs.json":    func(t *testing.T, store string) { write(t, store, "refs.json", "{") },
		"meta gone":    func(t *testing.T, store string) { remove(t, store, "trees/*/meta.json") },
		"meta broken":  func(t *testing.T, store string) { write(t, store, "trees/*/meta.json", "") },
		"listing gone": func(t *testing.T, store string) { remove(t, store, "trees/*/list") },
		"listing cut":  func(t *testing.T, store string) { truncate(t, store, "trees/*/list") },
		"a tree that is a file": func(t *testing.T, store string) {
			found, err := filepath.Glob(filepath.Join(store, "trees/*"))
			require.NoError(t, err)
			for _, f := range found {
				remove(t, store, "trees/"+filepath.Base(f))
				require.NoError(t, os.WriteFile(f, nil, 0o600))
			}
		},
		"tree missing": func(t *testing.T, store string) { remove(t, store, "trees/*/tree") },
		"file changed, then a restart of the machine": func(t *testing.T, store string) {
			write(t, store, "trees/*/tree/README.md", "jello\n")
			found, err := filepath.Glob(filepath.Join(store, "trees/*/meta.json"))
			require.NoError(t, err)
			for _, f := range found {
				b, err := os.ReadFile(f)
				require.NoError(t, err)
				i := strings.Index(string(b), `"boot":"`)
				require.Positive(t, i)
				require.NoError(t, os.WriteFile(f, []byte(string(b[:i])+`"boot":"another"}`), 0o600))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t)
			ids := srv.Add(t, "acme/one", small)
			var dir string
			s := newStore(t, srv, func(o *checkout.Options) { dir = o.Dir })
			req := checkout.Request{Repo: repo(srv, "acme/one")}
			acquire(t, s, req).Release()
			stores, err := filepath.Glob(filepath.Join(dir, "stores/public/*"))
			require.NoError(t, err)
			require.Len(t, stores, 1)
			harm(t, stores[0])
			c := acquire(t, s, req)
			require.Equal(t, ids["second"], c.SHA())
			sameAsUpstream(t, srv.Dir("acme/one"), c)
			req.Ref = "topic"
			c = acquire(t, s, req)
			require.Equal(t, ids["third"], c.SHA())
			sameAsUpstream(t, srv.Dir("acme/one"), c)
			require.NoError(t, c.Deepen(t.Context(), c.SHA(), checkout.Whole))
			require.Equal(t, "3", commits(t, c))
			onlyWhole(t, dir)
			require.Empty(t, inStore(t, dir, "objects/pack/pack-?.*"))
		})
	}
}

func each(t *testing.T, store, pattern string, do func(path string) error) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(store, pattern))
	require.NoError(t, err)
	require.NotEmpty(t, found)
	for _, f := range found {
		require.NoError(t, do(f))
	}
}

func remove(t *testing.T, store, pattern string) { t.Helper(); each(t, store, pattern, os.RemoveAll) }

func truncate(t *testing.T, store, pattern string) {
	t.Helper()
	each(t, store, pattern, func(p string) error { _ = os.Chmod(p, 0o600); return os.Truncate(p, 100) })
}

func write(t *testing.T, store, path, text string) {
	t.Helper()
	if strings.Contains(path, "*") {
		each(t, store, path, func(p string) error {
			_ = os.Chmod(p, 0o600)
			return os.WriteFile(p, []byte(text), 0o600)
		})
		return
	}
	p := filepath.Join(store, path)
	_ = os.Remove(p)
	require.NoError(t, os.WriteFile(p, []byte(text), 0o600))
}
