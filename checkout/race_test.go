package checkout_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
)

// TestRace lets 20 goroutines and 2 processes acquire, read, release, evict,
// repack and forget five repositories at random. Every read of a held tree must
// be what "git show" says. It runs for half a second, for 30 in the long mode; run
// it with -race.
func TestRace(t *testing.T) {
	t.Parallel()
	last := 500 * time.Millisecond
	if long() {
		last = 30 * time.Second
	}
	const refs = 5
	srv := newServer(t)
	var repos []checkout.Repo
	want := map[string]map[string]string{} // by repository and ref, path to text
	for i := range 5 {
		name := fmt.Sprintf("acme/race%d", i)
		ids := srv.Add(t, name, strings.ReplaceAll(manyCommits(refs, 30), "line ", fmt.Sprintf("repository %d line ", i))+
			"-- @branch attributes --\n-- @commit attributes --\n-- .gitattributes --\n* text eol=crlf ident working-tree-encoding=UTF-16\n")
		repos = append(repos, repo(srv, name))
		for j := range refs {
			files := map[string]string{}
			for l := range strings.Lines(checkouttest.Git(t, srv.Dir(name), "ls-tree", "-r", "--name-only", ids[fmt.Sprintf("c%d", j)])) {
				files[strings.TrimSpace(l)] = ""
			}
			for p := range files {
				files[p] = checkouttest.Git(t, srv.Dir(name), "show", ids[fmt.Sprintf("c%d", j)]+":"+p) + "\n"
				if len(files) > 4 && len(p)%3 != 0 {
					delete(files, p) // enough of them
				}
			}
			want[fmt.Sprintf("%s b%d", name, j)] = files
		}
	}
	budget := checkout.Budget{Packs: 2, DiskBytes: 100 << 10}
	var dir string
	s := newStore(t, srv, func(o *checkout.Options) { dir, o.Budget, o.Ahead = o.Dir, budget, time.Millisecond })
	ctx, cancel := context.WithTimeout(t.Context(), last)
	defer cancel()
	var wg sync.WaitGroup
	for g := range 20 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 7))
			for n := 0; ctx.Err() == nil || n < 2 && !t.Failed(); n++ {
				r, ref := repos[rng.IntN(len(repos))], fmt.Sprintf("b%d", rng.IntN(refs))
				if err := raceOnce(t.Context(), s, r, ref, want[r.Name+" "+ref], rng); err != nil {
					t.Errorf("%s %s: %v", r.Name, ref, err)
					cancel()
				}
				switch rng.IntN(30) {
				case 0:
					if err := s.Maintain(t.Context()); err != nil {
						t.Error(err)
					}
				case 1:
					if err := s.Evict(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	for i := range 2 {
		var names []string
		for j := range refs {
			names = append(names, fmt.Sprintf("b%d", (j*3+i)%refs))
		}
		cmd, out := startChild(t, childJob{Dir: dir, Host: srv.Host(), Repos: repos, Refs: names, Maintain: true, Ahead: i == 0, Loop: last, Budget: budget})
		wg.Go(func() {
			_, err := io.Copy(io.Discard, out)
			if err = errors.Join(err, cmd.Wait()); err != nil {
				t.Errorf("child: %v", err)
			}
		})
	}
	wg.Wait()
	st := s.Stats()
	t.Logf("%+v", st)
	require.Positive(t, st.Hits)
	require.Positive(t, st.Evictions)
	if long() {
		require.Positive(t, st.Repacks)
	}
	require.NoError(t, s.Maintain(t.Context()))
	eventually(t, "nothing half-made", func() bool { return len(leftovers(t, dir)) == 0 })
}

func raceOnce(ctx context.Context, s *checkout.Store, r checkout.Repo, ref string, want map[string]string, rng *rand.Rand) error {
	c, err := s.Acquire(ctx, checkout.Request{Repo: r, Ref: ref, Fresh: rng.IntN(10) == 0})
	if err != nil {
		return err
	}
	defer c.Release()
	if rng.IntN(4) == 0 {
		if err := c.Deepen(ctx, c.SHA(), checkout.Whole); err != nil {
			return err
		}
		n := 0
		err := c.Git(ctx, nil, func(r io.Reader) error { _, err := fmt.Fscan(r, &n); return err }, "rev-list", "--count", c.SHA())
		if want := int(ref[1]-'0') + 1; err != nil || n != want {
			return fmt.Errorf("%s has %d commits: %w", ref, n, err)
		}
	}
	for range 3 {
		for p, text := range want {
			d, err := c.ReadFile(ctx, p)
			if err != nil {
				return err
			}
			if !bytes.Equal(d.Data, []byte(text)) {
				return fmt.Errorf("%s is not what git says", p)
			}
			raw, err := os.ReadFile(filepath.Join(c.Dir(), p))
			if err != nil || string(raw) != text {
				return fmt.Errorf("%s on disk: %w", p, err)
			}
		}
		time.Sleep(time.Duration(rng.IntN(3)) * time.Millisecond)
	}
	return nil
}
