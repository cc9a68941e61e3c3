package comment

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/librarian"
)

// grants records when writes were let go.
type grants struct {
	mu  sync.Mutex
	all []grant
}

type grant struct {
	kind kind
	at   time.Time
}

func (g *grants) add(k kind) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = append(g.all, grant{k, time.Now()})
}

func (g *grants) of(kinds ...kind) []time.Time {
	var at []time.Time
	for _, one := range g.all {
		if len(kinds) == 0 || slices.Contains(kinds, one.kind) {
			at = append(at, one.at)
		}
	}
	return at
}

// within is the greatest number of times that lie in one window.
func within(at []time.Time, window time.Duration) int {
	most := 0
	for i := range at {
		n := 0
		for _, t := range at[i:] {
			if t.Sub(at[i]) < window {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

func (g *grants) requireWithinLimits(t *testing.T) {
	t.Helper()
	require.LessOrEqual(t, within(g.of(), time.Minute), 80, "writes in a minute")
	require.LessOrEqual(t, within(g.of(), time.Hour), 500, "writes in an hour")
	require.LessOrEqual(t, within(g.of(answer, progress), time.Second), 1, "comments in a second")
}

func TestL1_TwentyQuestionsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, g := newBudget(time.Now), &grants{}
		var wg sync.WaitGroup
		var mu sync.Mutex
		var slowest, slowestEyes time.Duration
		write := func(k kind) time.Duration {
			start := time.Now()
			require.NoError(t, b.acquire(t.Context(), 7, k))
			g.add(k)
			return time.Since(start)
		}
		for range 20 {
			wg.Go(func() {
				eyes := write(reaction)
				time.Sleep(5 * time.Second) // the research
				took := write(answer)
				write(reaction)
				write(tidy)
				mu.Lock()
				defer mu.Unlock()
				slowest, slowestEyes = max(slowest, took), max(slowestEyes, eyes)
			})
		}
		wg.Wait()
		g.requireWithinLimits(t)
		require.Len(t, g.all, 80)
		require.Zero(t, slowestEyes)
		require.LessOrEqual(t, slowest, 30*time.Second)
	})
}

func TestL1_HundredRunsAnHour(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			b, g := newBudget(time.Now), &grants{}
			rnd := rand.New(rand.NewPCG(seed, 2))
			var wg sync.WaitGroup
			var mu sync.Mutex
			var slowest time.Duration
			refused := 0
			write := func(k kind) {
				start := time.Now()
				require.NoError(t, b.acquire(t.Context(), 7, k))
				g.add(k)
				mu.Lock()
				defer mu.Unlock()
				if k == answer {
					slowest = max(slowest, time.Since(start))
				}
			}
			for range 100 {
				begin, length := time.Duration(rnd.Int64N(int64(59*time.Minute))), time.Duration(rnd.Int64N(int64(5*time.Minute)))
				wg.Go(func() {
					time.Sleep(begin)
					write(reaction)
					shown, begun := false, time.Now()
					for _, at := range []time.Duration{30, 60, 120} { // seconds; more than there is room for
						if at *= time.Second; at > length {
							break
						}
						time.Sleep(at - time.Since(begun))
						var limit *librarian.RateLimitError
						if err := b.acquire(t.Context(), 7, progress); err == nil {
							g.add(progress)
							shown = true
						} else {
							require.ErrorAs(t, err, &limit)
							require.Positive(t, limit.RetryAfter())
							mu.Lock()
							refused++
							mu.Unlock()
						}
					}
					time.Sleep(max(0, length-time.Since(begun)))
					write(answer)
					write(reaction)
					write(tidy)
					if shown {
						write(tidy)
					}
				})
			}
			wg.Wait()
			g.requireWithinLimits(t)
			require.Len(t, g.of(answer), 100)
			require.LessOrEqual(t, slowest, 30*time.Second)
			require.Positive(t, refused, "the load was to exceed the budget")
		})
	}
}

func TestL1_Order(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, g := newBudget(time.Now), &grants{}
		for range perMinute { // from now on one write becomes possible each second
			require.NoError(t, b.acquire(t.Context(), 7, tidy))
			time.Sleep(time.Second / 2)
		}
		time.Sleep(10 * time.Second)
		full := time.Now()
		var wg sync.WaitGroup
		for _, k := range []kind{tidy, answer, answer, reaction} {
			wg.Go(func() {
				require.NoError(t, b.acquire(t.Context(), 7, k))
				g.add(k)
			})
			synctest.Wait()
		}
		require.NoError(t, b.acquire(t.Context(), 8, answer))
		require.Zero(t, time.Since(full), "another installation does not wait")
		wg.Wait()
		first := 10 * time.Second // 60 s after the first of the eighty
		at := func(k kind, i int) time.Duration { return g.of(k)[i].Sub(full) }
		require.Equal(t, first, at(reaction, 0), "reactions go first")
		require.Equal(t, first+time.Second/2, at(answer, 0))
		require.Equal(t, first+3*time.Second/2, at(answer, 1))
		require.Equal(t, first+3*time.Second/2, at(tidy, 0), "tidying goes after answers")
	})
}

func TestAcquireEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(time.Now)
		b.pause(7, time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		require.ErrorIs(t, b.acquire(ctx, 7, answer), context.DeadlineExceeded)
		require.Empty(t, b.account(7).waiting, "it left the queue")
		require.Empty(t, b.account(7).writes, "it was not counted")
		require.NoError(t, b.acquire(t.Context(), 7, answer), "a minute is waited out")
		b.pause(7, time.Hour)
		for _, k := range []kind{reaction, answer, tidy, progress} {
			start := time.Now()
			var limit *librarian.RateLimitError
			require.ErrorAs(t, b.acquire(t.Context(), 7, k), &limit)
			require.Zero(t, time.Since(start), "what is hopeless does not wait")
			require.Equal(t, time.Hour, limit.RetryAfter())
		}
		require.False(t, b.account(7).idle())
		time.Sleep(2 * time.Hour)
		require.True(t, b.account(7).idle())
	})
}

func TestProgressGivesUpBehindAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(time.Now)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { require.NoError(t, b.acquire(t.Context(), 7, answer)) })
		}
		synctest.Wait()
		start := time.Now()
		var limit *librarian.RateLimitError
		require.ErrorAs(t, b.acquire(t.Context(), 7, progress), &limit)
		require.Equal(t, progress.patience(), time.Since(start))
		wg.Wait()
		require.Len(t, b.account(7).writes, 20)
	})
}
