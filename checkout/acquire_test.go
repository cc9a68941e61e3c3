package checkout_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

const small = `
-- @commit first --
-- README.md --
hello
-- src/main.go --
package main

func main() { println("one") }
-- bin/run (exec) --
#!/bin/sh
-- link (symlink) --
README.md
-- @tag v1 --
-- @commit second --
-- src/main.go --
package main

func main() { println("two") }
-- @ref refs/pull/7/head --
-- @branch topic --
-- @commit third --
-- topic.txt --
on a branch
`

// newStore starts a store that may speak to srv.
func newStore(t testing.TB, srv *checkouttest.Server, change func(*checkout.Options)) *checkout.Store {
	t.Helper()
	opt := checkout.Options{Dir: t.TempDir(), Git: testGit(), PrivateHosts: []string{srv.Host()}}
	if change != nil {
		change(&opt)
	}
	s, err := checkout.New(opt)
	require.NoError(t, err)
	require.NoError(t, s.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func repo(srv *checkouttest.Server, name string) checkout.Repo {
	return checkout.Repo{ID: "github:test:" + name, Name: name, URL: srv.RepoURL(name), Class: checkout.Public}
}

func acquire(t testing.TB, s *checkout.Store, req checkout.Request) *checkout.Checkout {
	t.Helper()
	c, err := s.Acquire(t.Context(), req)
	require.NoError(t, err)
	t.Cleanup(c.Release)
	return c
}

func TestAcquireGivesTheCommit(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/one", small)
	s := newStore(t, srv, nil)
	for _, tt := range []struct {
		ref, want, full string
		how             checkout.How
		files           int
	}{
		{"", "second", "refs/heads/main", checkout.Cloned, 4},
		{"main", "second", "refs/heads/main", checkout.Cached, 4},
		{"topic", "third", "refs/heads/topic", checkout.Fetched, 5},
		{"v1", "first", "refs/tags/v1", checkout.Fetched, 4},
		{"refs/pull/7/head", "second", "refs/pull/7/head", checkout.Cached, 4},
		{ids["first"], "first", ids["first"], checkout.Cached, 4},
	} {
		c := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/one"), Ref: tt.ref})
		require.Equal(t, ids[tt.want], c.SHA(), tt.ref)
		require.Equal(t, tt.full, c.Ref())
		require.Equal(t, tt.how, c.How(), tt.ref)
		require.Equal(t, "main", c.DefaultBranch())
		require.Equal(t, tt.files, c.Files())
		require.NoError(t, c.Verify(t.Context()))
		link, err := os.Lstat(filepath.Join(c.Dir(), "link"))
		require.NoError(t, err)
		require.True(t, link.Mode().IsRegular(), "no symbolic link is ever made")
		d, err := c.ReadFile(t.Context(), "link")
		require.NoError(t, err)
		require.Equal(t, "README.md", d.Target)
	}
}

func TestAcquireColdCostsThreeRequests(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	srv.Add(t, "acme/one", small)
	s := newStore(t, srv, nil)
	req := checkout.Request{Repo: repo(srv, "acme/one")}
	acquire(t, s, req)
	n, _ := srv.Requests()
	require.EqualValues(t, 3, n)
	acquire(t, s, req)
	n, _ = srv.Requests()
	require.EqualValues(t, 3, n, "within the debounce nobody is asked")
	req.Fresh = true
	acquire(t, s, req)
	n, _ = srv.Requests()
	require.EqualValues(t, 4, n, "one question what the ref is")
}

func TestAcquireErrors(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	srv.Add(t, "acme/one", small)
	checkouttest.InitBare(t, srv.Dir("acme/empty"))
	srv.Auth = func(repo, _, _ string) int {
		if repo == "acme/secret" {
			return http.StatusUnauthorized
		}
		return 0
	}
	s := newStore(t, srv, nil)
	get := func(name, ref string) error {
		_, err := s.Acquire(t.Context(), checkout.Request{Repo: repo(srv, name), Ref: ref})
		require.Error(t, err)
		return err
	}
	var nf *checkout.NotFoundError
	require.ErrorAs(t, get("acme/none", ""), &nf)
	require.ErrorAs(t, get("acme/secret", ""), &nf)
	var empty *checkout.EmptyError
	require.ErrorAs(t, get("acme/empty", ""), &empty)
	var ref *checkout.RefError
	require.ErrorAs(t, get("acme/one", "nope"), &ref)
	require.ErrorAs(t, get("acme/one", "0123456789012345678901234567890123456789"), &ref)
	require.ErrorAs(t, get("acme/one", "--upload-pack=touch x"), &ref)
}

// TestLinkedFilesKeepTheirModes: files of one content are shared between trees,
// but not where one is executable and the other is not.
func TestLinkedFilesKeepTheirModes(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	srv.Add(t, "acme/modes", `
-- @commit one --
-- f --
same
-- g (exec) --
same
-- keep --
kept
-- @branch two --
-- @commit two --
-- f (exec) --
same
-- g --
same
`)
	s := newStore(t, srv, nil)
	mode := func(c *checkout.Checkout, name string) os.FileMode {
		st, err := os.Stat(filepath.Join(c.Dir(), name))
		require.NoError(t, err)
		return st.Mode().Perm()
	}
	one := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/modes")})
	two := acquire(t, s, checkout.Request{Repo: repo(srv, "acme/modes"), Ref: "two"})
	require.Equal(t, []os.FileMode{0o444, 0o555, 0o555, 0o444}, []os.FileMode{mode(one, "f"), mode(one, "g"), mode(two, "f"), mode(two, "g")})
	a, err := os.Stat(filepath.Join(one.Dir(), "keep"))
	require.NoError(t, err)
	b, err := os.Stat(filepath.Join(two.Dir(), "keep"))
	require.NoError(t, err)
	require.True(t, os.SameFile(a, b), "what is the same is on disk once")
}

func TestDebounce(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/one", small)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := newStore(t, srv, func(o *checkout.Options) { o.Now = func() time.Time { return now } })
	req := checkout.Request{Repo: repo(srv, "acme/one")}
	require.Equal(t, ids["second"], acquire(t, s, req).SHA())
	checkouttest.Git(t, srv.Dir("acme/one"), "update-ref", "refs/heads/main", ids["third"])
	now = now.Add(14 * time.Minute)
	require.Equal(t, ids["second"], acquire(t, s, req).SHA())
	now = now.Add(2 * time.Minute)
	require.Equal(t, ids["third"], acquire(t, s, req).SHA())
	srv.Close()
	now = now.Add(16 * time.Minute)
	_, err := s.Acquire(t.Context(), req)
	var up *checkout.UpstreamError
	require.ErrorAs(t, err, &up, "never silently stale")
}
