package checkout_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
)

// published lists the trees on disk.
func published(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "stores/*/*/trees/*"))
	require.NoError(t, err)
	var out []string
	for _, f := range found {
		out = append(out, filepath.Base(f))
	}
	return out
}

// TestEvict: what was used least recently goes first, what is held stays, and
// the store goes after its last tree.
func TestEvict(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/one", manyCommits(4, 40))
	now := time.Now()
	var dir string
	budget := checkout.Budget{}
	s := newStore(t, srv, func(o *checkout.Options) { dir, o.Now = o.Dir, func() time.Time { return now } })
	r := repo(srv, "acme/one")
	for i := range 4 {
		now = now.Add(time.Minute)
		acquire(t, s, checkout.Request{Repo: r, Ref: fmt.Sprintf("b%d", i)}).Release()
	}
	now = now.Add(time.Minute)
	acquire(t, s, checkout.Request{Repo: r, Ref: "b0"}).Release() // used again: no longer the oldest
	held := acquire(t, s, checkout.Request{Repo: r, Ref: "b1"})
	require.Len(t, published(t, dir), 4)
	require.NoError(t, s.Maintain(t.Context()))
	require.Len(t, published(t, dir), 4, "there is room")
	require.NoError(t, s.Close())

	// A second Store on the folder, with less room: one tree must go.
	var total int64
	one := held.Bytes()
	total = s.Stats().Disk
	budget.DiskBytes = total - 1
	s2, err := checkout.New(checkout.Options{Dir: dir, Git: testGit(), PrivateHosts: []string{srv.Host()}, Budget: budget, Now: func() time.Time { return now }})
	require.NoError(t, err)
	require.NoError(t, s2.Start(t.Context()))
	defer s2.Close()
	require.NoError(t, s2.Evict(t.Context()))
	left := published(t, dir)
	require.NotContains(t, left, ids["c2"], "the oldest goes")
	require.Contains(t, left, ids["c1"], "held by somebody else")
	require.Contains(t, left, ids["c0"])
	require.Positive(t, one)

	// With no room at all everything goes but what is held; its store stays too.
	tight, err := checkout.New(checkout.Options{Dir: dir, Git: testGit(), PrivateHosts: []string{srv.Host()}, Budget: checkout.Budget{DiskBytes: 1}})
	require.NoError(t, err)
	require.NoError(t, tight.Start(t.Context()))
	defer tight.Close()
	require.NoError(t, tight.Evict(t.Context()))
	require.Equal(t, []string{ids["c1"]}, published(t, dir))
	require.NoError(t, held.Verify(t.Context()))
	held.Release()
	held.Release()
	require.NoError(t, tight.Evict(t.Context()))
	require.Empty(t, published(t, dir))
	found, err := filepath.Glob(filepath.Join(dir, "stores/public/*"))
	require.NoError(t, err)
	require.Empty(t, found)
	require.Zero(t, tight.Stats().Disk, "what was counted is what was freed")
	locks, err := os.ReadDir(filepath.Join(dir, "locks"))
	require.NoError(t, err)
	require.LessOrEqual(t, len(locks), 1, "%v", locks)
}

// takes is what files below dir take on the disk, every file once.
func takes(t *testing.T, dir string) int64 {
	t.Helper()
	var n int64
	seen := map[uint64]bool{}
	require.NoError(t, filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		require.NoError(t, err)
		fi, err := d.Info()
		require.NoError(t, err)
		if st := fi.Sys().(*syscall.Stat_t); !seen[st.Ino] {
			seen[st.Ino] = true
			n += st.Blocks * 512
		}
		return nil
	}))
	return n
}

// TestSharedFilesCountOnce: four trees that share most of their files fit where
// their sum would not, one more is made room for, and what an eviction frees is
// what the disk gains.
func TestSharedFilesCountOnce(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	var archive strings.Builder
	for i := range 5 {
		fmt.Fprintf(&archive, "-- @commit c%d --\n", i)
		if i == 0 {
			for j := range 8 {
				fmt.Fprintf(&archive, "-- big%d --\n%s\n", j, strings.Repeat(fmt.Sprintf("line of %d\n", j), 20_000))
			}
		}
		fmt.Fprintf(&archive, "-- own --\n%s\n-- @ref refs/heads/b%d --\n", strings.Repeat(fmt.Sprintf("line of commit %d\n", i), 20_000), i)
	}
	ids := srv.Add(t, "acme/one", archive.String())
	now := time.Now().Add(-time.Hour) // so that a tree that was just made, and not used yet, is not the oldest
	var dir string
	open := func(disk int64) *checkout.Store {
		return newStore(t, srv, func(o *checkout.Options) {
			if dir == "" {
				dir = o.Dir
			}
			o.Dir, o.Budget.DiskBytes, o.Now = dir, disk, func() time.Time { return now }
		})
	}
	s := open(0)
	r := repo(srv, "acme/one")
	one := int64(0)
	for i := range 4 {
		now = now.Add(time.Minute)
		c := acquire(t, s, checkout.Request{Repo: r, Ref: fmt.Sprintf("b%d", i)})
		one = c.Bytes()
		c.Release()
	}
	require.NoError(t, s.Evict(t.Context()))
	stores := filepath.Join(dir, "stores")
	require.InDelta(t, takes(t, stores), s.Stats().Disk, float64(one)/20, "as it says")
	require.Less(t, takes(t, stores), 2*one, "nothing is shared: the test proves nothing")

	// Another process, which saw none of them being made.
	enough := takes(t, stores) + one/20
	roomy := open(enough)
	require.NoError(t, roomy.Evict(t.Context()))
	require.Len(t, published(t, dir), 4, "there is room")
	require.InDelta(t, takes(t, stores), roomy.Stats().Disk, float64(one)/20)

	now = now.Add(time.Minute)
	acquire(t, roomy, checkout.Request{Repo: r, Ref: "b4"}).Release()
	require.NoError(t, roomy.Evict(t.Context()))
	left := published(t, dir)
	require.NotContains(t, left, ids["c0"])
	require.Contains(t, left, ids["c4"])
	require.Less(t, len(left), 4, "a tenth of the budget is more than one tree's own part")
	require.Less(t, takes(t, stores), enough)
	require.InDelta(t, takes(t, stores), roomy.Stats().Disk, float64(one)/20)
	for _, sha := range left {
		require.NoError(t, acquire(t, roomy, checkout.Request{Repo: r, Ref: sha}).Verify(t.Context()))
	}
}

// TestRepackKeepsAll: a repack loses no object, and is not noticed by whoever reads.
func TestRepackKeepsAll(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	srv.Add(t, "acme/one", manyCommits(6, 40))
	var dir string
	s := newStore(t, srv, func(o *checkout.Options) { dir, o.Budget.Packs = o.Dir, 1 })
	r := repo(srv, "acme/one")
	for i := range 6 {
		acquire(t, s, checkout.Request{Repo: r, Ref: fmt.Sprintf("b%d", i)}).Release()
	}
	require.NoError(t, s.Maintain(t.Context()))
	require.Positive(t, s.Stats().Repacks)
	packs, err := filepath.Glob(filepath.Join(dir, "stores/public/*/repo.git/objects/pack/*.pack"))
	require.NoError(t, err)
	require.Len(t, packs, 1)
	trees, err := filepath.Glob(filepath.Join(dir, "stores/public/*/trees/*"))
	require.NoError(t, err)
	for _, tree := range trees {
		require.NoError(t, os.RemoveAll(tree))
	}
	before := s.Stats().Fetches
	for i := range 6 {
		c := acquire(t, s, checkout.Request{Repo: r, Ref: fmt.Sprintf("b%d", i)})
		sameAsUpstream(t, srv.Dir("acme/one"), c)
	}
	require.Equal(t, before, s.Stats().Fetches, "all objects are still there")
}

// TestO8_CancelIsQuick: git and its children are gone within two seconds.
func TestO8_CancelIsQuick(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	srv.Add(t, "acme/one", small)
	came := hang(t, srv, "fetch")
	var dir string
	s := newStore(t, srv, func(o *checkout.Options) { dir = o.Dir })
	ctx, cancel := context.WithCancel(t.Context())
	var ended time.Time
	go func() { <-came; ended = time.Now(); cancel() }()
	_, err := s.Acquire(ctx, checkout.Request{Repo: repo(srv, "acme/one")})
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, time.Since(ended), 2*time.Second)
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		require.False(t, strings.Contains(string(b), "GIT_DIR="+dir), "%s still works in the store", f)
	}
}
