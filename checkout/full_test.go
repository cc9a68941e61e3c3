package checkout_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// TestFullDisk: on a disk that holds some of six repositories all of them are served in turn, by eviction.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=6m"); err != nil {
		t.Skip("a small file system cannot be mounted here: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	srv := newServer(t)
	for r := range 6 {
		var b strings.Builder
		b.WriteString("-- @commit only --\n")
		for i := range 300 {
			fmt.Fprintf(&b, "-- f%d.txt --\n%s\n", i, strings.Repeat(fmt.Sprintf("%d %d %d ", r, i, i*i*7919), 50+r*60))
		}
		srv.Add(t, fmt.Sprintf("acme/r%d", r), b.String())
	}
	var dir string
	s := newStore(t, srv, func(o *checkout.Options) {
		o.Dir = filepath.Join(disk, "cache")
		o.Budget.FreeBytes = 4096
		dir = o.Dir
	})
	for range 3 {
		for r := range 6 {
			c, err := s.Acquire(t.Context(), checkout.Request{Repo: repo(srv, fmt.Sprintf("acme/r%d", r))})
			require.NoError(t, err)
			require.NoError(t, c.Verify(t.Context()))
			c.Release()
		}
	}
	require.Positive(t, s.Stats().Evictions)
	onlyWhole(t, dir)
}

// TestFullDiskIsSaid: what cannot be written down because the disk is full is a budget, which names no path of this machine; and it
// is over when there is room.
func TestFullDiskIsSaid(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/one", small)
	var dir string
	s := newStore(t, srv, func(o *checkout.Options) { dir = o.Dir })
	acquire(t, s, checkout.Request{Repo: repo(srv, "acme/one")})
	stores, err := filepath.Glob(filepath.Join(dir, "stores/public/*"))
	require.NoError(t, err)
	require.Len(t, stores, 1)
	full := filepath.Join(stores[0], "refs.json.new")
	require.NoError(t, os.Symlink("/dev/full", full))
	req := checkout.Request{Repo: repo(srv, "acme/one"), Ref: "topic"}
	_, err = s.Acquire(t.Context(), req)
	var bud *checkout.BudgetError
	require.ErrorAs(t, err, &bud)
	require.NotContains(t, err.Error(), dir)
	require.NoError(t, os.Remove(full))
	require.Equal(t, ids["third"], acquire(t, s, req).SHA())
}

// TestClockSetBack: an answer that was noted by a clock that ran a year ahead is not good for a year.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	srv := newServer(t)
	ids := srv.Add(t, "acme/one", small)
	var ahead atomic.Int64
	ahead.Store(int64(365 * 24 * time.Hour))
	s := newStore(t, srv, func(o *checkout.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	req := checkout.Request{Repo: repo(srv, "acme/one"), Ref: "main"}
	require.Equal(t, ids["second"], acquire(t, s, req).SHA())
	checkouttest.Git(t, srv.Dir("acme/one"), "update-ref", "refs/heads/main", ids["third"])
	require.Equal(t, ids["second"], acquire(t, s, req).SHA(), "within the debounce")
	ahead.Store(0)
	require.Equal(t, ids["third"], acquire(t, s, req).SHA())
}
