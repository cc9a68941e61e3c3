package checkout_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// pastRepo makes a repository of three commits. The second has a benign fault, a
// padded mode; the first has a folder of the given name.
func pastRepo(t *testing.T, srv *checkouttest.Server, name, folder string) (first, head string) {
	t.Helper()
	p := &checkouttest.Pack{}
	blob := p.Add("blob", []byte("x\n"))
	sub := p.Add("tree", checkouttest.TreeData(checkouttest.TreeEntry{Mode: "100644", Name: "x", OID: blob}))
	old := p.Add("tree", checkouttest.TreeData(checkouttest.TreeEntry{Mode: "40000", Name: folder, OID: sub}))
	first = p.Add("commit", checkouttest.CommitData(old))
	padded := p.Add("tree", checkouttest.TreeData(checkouttest.TreeEntry{Mode: "040000", Name: "d", OID: sub}))
	child := func(tree, parent, message string) string {
		return p.Add("commit", fmt.Appendf(nil, "tree %s\nparent %s\nauthor A <a@example.com> 1700000100 +0000\ncommitter A <a@example.com> 1700000100 +0000\n\n%s\n", tree, parent, message))
	}
	head = child(p.Add("tree", checkouttest.TreeData(checkouttest.TreeEntry{Mode: "100644", Name: "y", OID: blob})), child(padded, first, "second"), "third")
	srv.AddRaw(t, name, p, checkouttest.TreeEntry{Mode: "100644", Name: "z", OID: blob})
	checkouttest.Git(t, srv.Dir(name), "update-ref", "refs/heads/main", head)
	return first, head
}

// TestLaxStoresAreChecked: a store that holds a benign fault takes in what is
// honest, and still refuses what is not. Nobody would notice by reading: the
// malformed tree is in the past.
func TestLaxStoresAreChecked(t *testing.T) {
	t.Parallel()
	for folder, good := range map[string]bool{"docs": true, ".git": false, "..": false} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			srv := newServer(t)
			first, head := pastRepo(t, srv, "acme/past", folder)
			var dir string
			s := newStore(t, srv, func(o *checkout.Options) { dir = o.Dir })
			c := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/past")})
			require.NoError(t, c.Deepen(t.Context(), head, 2))
			lax, err := filepath.Glob(filepath.Join(dir, "stores/*/*/repo.git/lax"))
			require.NoError(t, err)
			require.Len(t, lax, 1, "the second commit's fault was not seen: the test proves nothing")
			err = c.Deepen(t.Context(), head, checkout.Whole)
			if good {
				require.NoError(t, err)
				acquire(t, s, checkout.Request{Repo: repo(srv, "acme/past"), Ref: first})
			} else {
				var re *checkout.RefusedError
				require.ErrorAs(t, err, &re)
				require.NoFileExists(t, lax[0], "what came is kept")
			}
			everything(t, acquire(t, s, checkout.Request{Repo: repo(srv, "acme/past")}))
			require.Empty(t, unchecked(t, dir))
			onlyWhole(t, dir)
		})
	}
}

func unchecked(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "stores/*/*/repo.git/unchecked"))
	require.NoError(t, err)
	return found
}

// TestLaxStoresCheckWhatACrashLeft: the packs of a fetch that was killed before they were checked.
func TestLaxStoresCheckWhatACrashLeft(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	_, head := pastRepo(t, srv, "acme/past", ".git")
	var dir string
	s := newStore(t, srv, func(o *checkout.Options) { dir = o.Dir })
	c := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/past")})
	require.NoError(t, c.Deepen(t.Context(), head, 2))
	git, err := filepath.Glob(filepath.Join(dir, "stores/*/*/repo.git"))
	require.NoError(t, err)
	packs, err := filepath.Glob(filepath.Join(git[0], "objects/pack/*.idx"))
	require.NoError(t, err)
	var before strings.Builder
	for _, p := range packs {
		before.WriteString(strings.TrimSuffix(filepath.Base(p), ".idx") + "\n")
	}
	require.NoError(t, os.WriteFile(filepath.Join(git[0], "unchecked"), []byte(before.String()), 0o600))
	theirs, err := filepath.Glob(filepath.Join(srv.Dir("acme/past"), "objects/pack/*"))
	require.NoError(t, err)
	for _, f := range theirs {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(git[0], "objects/pack", filepath.Base(f)), b, 0o600))
	}
	// A fetch of something else, which is itself without fault.
	blob := checkouttest.GitInput(t, srv.Dir("acme/past"), "something new\n", "hash-object", "-w", "--stdin")
	tree := checkouttest.GitInput(t, srv.Dir("acme/past"), "100644 blob "+blob+"\tnew\n", "mktree")
	checkouttest.Git(t, srv.Dir("acme/past"), "update-ref", "refs/heads/other", checkouttest.Git(t, srv.Dir("acme/past"), "commit-tree", tree, "-m", "other"))
	_, err = s.Acquire(t.Context(), checkout.Request{Repo: repo(srv, "acme/past"), Ref: "other"})
	var re *checkout.RefusedError
	require.ErrorAs(t, err, &re)
	require.NoDirExists(t, git[0])
	require.NoError(t, c.Verify(t.Context()))
	everything(t, acquire(t, s, checkout.Request{Repo: repo(srv, "acme/past"), Ref: "other"}))
}
