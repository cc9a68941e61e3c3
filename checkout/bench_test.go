package checkout_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout"
	"github.com/librarian-app/librarian/checkout/checkouttest"
	"github.com/librarian-app/librarian/checkout/history"
)

// The benchmarks compare a Store with the obvious way: one blobless clone, then
// fetch, checkout, reset and clean in it, history with blobs fetched as git
// comes upon them. Run them with
//
//	go test -run '^$' -bench . -benchtime 1x -timeout 60m ./checkout/...
//
// LIBRARIAN_BENCH_REPO names a bare repository of a real project; without it a
// synthetic one of 5,000 commits and 3,000 files is made. Both ways take turns,
// each from nothing, over http-backend with 50 ms added to every request.

const benchLatency = 50 * time.Millisecond

// bench is the repository that is measured.
type bench struct {
	srv    *checkouttest.Server
	dir    string // of the bare repository
	head   string
	newest []string // up to 4,000 commits, newest first
	ended  bool     // the baseline was ended before it was done
}

func newBench(b *testing.B) *bench {
	b.Helper()
	return newBenchOf(b, synthetic)
}

// newBenchOf is newBench with another repository where none is named.
func newBenchOf(b *testing.B, synthetic func(*testing.B) string) *bench {
	b.Helper()
	m := &bench{srv: checkouttest.NewServer(b)}
	m.dir = os.Getenv("LIBRARIAN_BENCH_REPO")
	if m.dir == "" {
		m.dir = synthetic(b)
	}
	require.NoError(b, os.MkdirAll(filepath.Join(m.srv.Root, "bench"), 0o750))
	require.NoError(b, os.Symlink(m.dir, m.srv.Dir("bench/repo")))
	m.newest = strings.Fields(checkouttest.Git(b, m.dir, "rev-list", "--date-order", "-n", "4000", "HEAD"))
	m.head = m.newest[0]
	m.srv.Latency = benchLatency
	return m
}

func (m *bench) repo() checkout.Repo { return repo(m.srv, "bench/repo") }

// cost is what one way took.
type cost struct {
	requests, bytes int64
	time            time.Duration
}

// measure runs do and gives what it cost.
func (m *bench) measure(b *testing.B, do func()) cost {
	b.Helper()
	m.srv.Reset()
	began := time.Now()
	do()
	took := time.Since(began)
	n, bytes := m.srv.Requests()
	return cost{n, bytes, took}
}

// benchRounds is how often the two ways take turns; the middle one counts.
// LIBRARIAN_BENCH_ROUNDS says otherwise.
func benchRounds() int {
	if n, err := strconv.Atoi(os.Getenv("LIBRARIAN_BENCH_ROUNDS")); err == nil && n > 0 {
		return n
	}
	return 3
}

// compare lets baseline and ours take turns and prints the ratios. Each way is
// a func that prepares, unmeasured, and gives the func to measure.
func (m *bench) compare(b *testing.B, name string, baseline, ours func() func()) {
	b.Helper()
	for range b.N {
		var base, our []cost
		m.ended = false
		for range benchRounds() {
			base = append(base, m.measure(b, baseline()))
			our = append(our, m.measure(b, ours()))
			if m.ended {
				break
			}
		}
		x, y := middle(base), middle(our)
		fmt.Fprintf(os.Stdout, "measured %s baseline requests %d bytes %d time %.2fs\n", name, x.requests, x.bytes, x.time.Seconds())
		fmt.Fprintf(os.Stdout, "measured %s ours requests %d bytes %d time %.3fs\n", name, y.requests, y.bytes, y.time.Seconds())
		if m.ended {
			fmt.Fprintf(os.Stdout, "bound %s: the baseline was ended after %s, with more to do: the ratios are lower than these\n", name, benchLimit())
		}
		for _, r := range []struct {
			what string
			a, b float64
		}{{"requests", float64(y.requests), float64(x.requests)}, {"bytes", float64(y.bytes), float64(x.bytes)}, {"time", y.time.Seconds(), x.time.Seconds()}} {
			if r.b > 0 {
				fmt.Fprintf(os.Stdout, "ratio %s %s %.4f\n", name, r.what, r.a/r.b)
				b.ReportMetric(r.a/r.b, r.what+"-ratio")
			}
		}
	}
}

// benchLimit is how long the baseline may take for a blame, which fetches every
// version by itself. LIBRARIAN_BENCH_LIMIT says otherwise.
func benchLimit() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("LIBRARIAN_BENCH_LIMIT")); err == nil && d > 0 {
		return d
	}
	return 3 * time.Minute
}

// limited runs a git command of the baseline's, but not for longer than the limit.
func (m *bench) limited(b *testing.B, dir string, args ...string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), benchLimit())
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, checkouttest.Env()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with its fetch
	err := cmd.Run()
	if ctx.Err() != nil {
		m.ended = true
		return
	}
	require.NoError(b, err)
}

func middle(c []cost) cost {
	slices.SortFunc(c, func(a, b cost) int { return int(a.time - b.time) })
	return c[len(c)/2]
}

// clone is the baseline's first step.
func (m *bench) clone(b *testing.B) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "clone"+strconv.FormatUint(rand.Uint64(), 36))
	checkouttest.Git(b, "/", "clone", "-q", "--filter=blob:none", m.srv.RepoURL("bench/repo"), dir)
	return dir
}

// update is the baseline's way to another commit, or to the same one.
func update(b *testing.B, dir, sha string) {
	b.Helper()
	for _, args := range [][]string{{"fetch", "-q", "origin", "--prune"}, {"checkout", "-q", "--force", sha}, {"reset", "-q", "--hard", sha}, {"clean", "-q", "-ffdx"}} {
		checkouttest.Git(b, dir, args...)
	}
}

func (m *bench) store(b *testing.B) *checkout.Store {
	b.Helper()
	return m.storeIn(b, b.TempDir(), 0)
}

func (m *bench) storeIn(b *testing.B, dir string, ahead time.Duration) *checkout.Store {
	b.Helper()
	s, err := checkout.New(checkout.Options{Dir: dir, Git: testGit(), PrivateHosts: []string{m.srv.Host()}, Ahead: ahead})
	require.NoError(b, err)
	latency := m.srv.Latency
	require.NoError(b, s.Start(context.Background()))
	m.srv.Latency = latency
	b.Cleanup(func() { _ = s.Close() })
	return s
}

func (m *bench) acquire(b *testing.B, s *checkout.Store, ref string) *checkout.Checkout {
	b.Helper()
	c, err := s.Acquire(context.Background(), checkout.Request{Repo: m.repo(), Ref: ref})
	require.NoError(b, err)
	return c
}

const benchNeedle = "noSuchIdentifierAnywhere"

func BenchmarkColdFirstGrep(b *testing.B) {
	m := newBench(b)
	m.compare(b, "cold-first-grep", func() func() {
		return func() {
			dir := m.clone(b)
			cmd := exec.CommandContext(context.Background(), "git", "grep", "-n", benchNeedle)
			cmd.Dir, cmd.Env = dir, checkouttest.Env()
			_ = cmd.Run() // exit code 1: nothing found
		}
	}, func() func() {
		s := m.store(b)
		return func() {
			c := m.acquire(b, s, "")
			defer c.Release()
			_, err := c.Grep(context.Background(), checkout.GrepOptions{Pattern: benchNeedle})
			require.NoError(b, err)
		}
	})
}

// BenchmarkHistoryAhead tells what it costs that a history comes in the
// background, and what it is good for: the first look at the log.
func BenchmarkHistoryAhead(b *testing.B) {
	m := newBench(b)
	for _, ahead := range []time.Duration{0, time.Millisecond} {
		name := "first-log" // the history comes when it is asked for
		if ahead > 0 {
			name = "first-log-ahead"
		}
		m.compare(b, name, func() func() {
			dir := m.clone(b)
			return func() { checkouttest.Git(b, dir, "log", "-n", "300", "--name-status", "--no-renames") }
		}, func() func() {
			dir := b.TempDir()
			s := m.storeIn(b, dir, ahead)
			c := m.acquire(b, s, "")
			b.Cleanup(c.Release)
			if ahead > 0 {
				awaitHistory(b, dir)
			}
			return func() {
				r, err := history.Log(context.Background(), c, history.LogOptions{Limit: 300})
				require.NoError(b, err)
				require.NotEmpty(b, r.Commits)
			}
		})
	}
	m.compare(b, "cold-with-history", func() func() { return func() { m.clone(b) } }, func() func() {
		dir := b.TempDir()
		s := m.storeIn(b, dir, time.Millisecond)
		return func() {
			defer m.acquire(b, s, "").Release()
			awaitHistory(b, dir)
		}
	})
}

// awaitHistory waits until a history has come, or was found to be too long.
func awaitHistory(b *testing.B, dir string) {
	b.Helper()
	require.Eventually(b, func() bool {
		whole, _ := filepath.Glob(filepath.Join(dir, "stores/*/*/repo.git/whole"))
		long, _ := filepath.Glob(filepath.Join(dir, "stores/*/*/repo.git/long"))
		return len(whole)+len(long) > 0
	}, 5*time.Minute, 5*time.Millisecond)
}

func BenchmarkWarmSameSHA(b *testing.B) {
	m := newBench(b)
	dir := m.clone(b)
	s := m.store(b)
	m.acquire(b, s, "").Release()
	for _, fresh := range []bool{false, true} {
		name := "warm-same-sha"
		if fresh {
			name = "warm-same-sha-asking"
		}
		before := s.Stats().Fetches
		m.compare(b, name, func() func() { return func() { update(b, dir, m.head) } }, func() func() {
			return func() {
				c, err := s.Acquire(context.Background(), checkout.Request{Repo: m.repo(), Fresh: fresh})
				require.NoError(b, err)
				c.Release()
			}
		})
		require.Equal(b, before, s.Stats().Fetches)
	}
}

func BenchmarkSecondSHA(b *testing.B) {
	m := newBench(b)
	second := m.newest[min(300, len(m.newest)-1)]
	for _, have := range []bool{false, true} {
		name := "second-sha"
		if have { // as when it came in the background
			name = "second-sha-with-history"
		}
		m.compare(b, name, func() func() {
			dir := m.clone(b)
			return func() { update(b, dir, second) }
		}, func() func() {
			s := m.store(b)
			held := m.acquire(b, s, "")
			if have {
				require.NoError(b, held.Deepen(context.Background(), held.SHA(), checkout.Whole))
			}
			return func() {
				c := m.acquire(b, s, second)
				require.NoError(b, held.Verify(context.Background()))
				held.Release()
				c.Release()
			}
		})
	}
}

func BenchmarkPickaxeRange(b *testing.B) {
	m := newBench(b)
	const n = 300
	needle := "return"
	var want string
	m.compare(b, "pickaxe-range", func() func() {
		dir := m.clone(b)
		return func() {
			want = checkouttest.GitInput(b, dir, strings.Join(m.newest[:min(n, len(m.newest))], "\n")+"\n", "log", "--no-walk=unsorted", "--stdin", "--no-merges", "--no-renames", "--format=%H", "-S"+needle)
		}
	}, func() func() {
		s := m.store(b)
		c := m.acquire(b, s, "")
		b.Cleanup(c.Release)
		return func() {
			r, err := history.Log(context.Background(), c, history.LogOptions{Added: needle, LookAt: n, Limit: 500})
			require.NoError(b, err)
			var got []string
			for _, cm := range r.Commits {
				got = append(got, cm.SHA)
			}
			require.Equal(b, want, strings.Join(got, "\n"))
		}
	})
}

func BenchmarkBlame(b *testing.B) {
	m := newBench(b)
	path := m.busiest(b)
	for _, have := range []bool{true, false} {
		name := "blame" // both have the commits and trees already
		if !have {
			name = "blame-first" // ours has only one commit; the baseline paid for its history with the clone
		}
		m.compare(b, name, func() func() {
			dir := m.clone(b)
			return func() { m.limited(b, dir, "blame", "-p", m.head, "--", path) }
		}, func() func() {
			s := m.store(b)
			c := m.acquire(b, s, "")
			b.Cleanup(c.Release)
			if have {
				require.NoError(b, c.Deepen(context.Background(), c.SHA(), checkout.Whole))
			}
			return func() {
				r, err := history.Blame(context.Background(), c, path, 0, 0)
				require.NoError(b, err)
				require.NotEmpty(b, r.Lines)
			}
		})
	}
}

func BenchmarkEightRefs(b *testing.B) {
	m := newBench(b)
	var refs []string
	for i := range 8 {
		refs = append(refs, m.newest[min(i*40, len(m.newest)-1)])
	}
	m.compare(b, "eight-refs", func() func() {
		return func() {
			dir := m.clone(b)
			for _, r := range refs {
				update(b, dir, r)
			}
		}
	}, func() func() {
		s := m.store(b)
		return func() {
			var wg sync.WaitGroup
			for _, r := range refs {
				wg.Go(func() {
					c, err := s.Acquire(context.Background(), checkout.Request{Repo: m.repo(), Ref: r})
					if err != nil || c.SHA() != r {
						b.Errorf("acquire %s: %v", r, err)
						return
					}
					c.Release()
				})
			}
			wg.Wait()
		}
	})
}
