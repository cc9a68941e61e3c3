package comment

import (
	"context"
	"errors"
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
	latency time.Duration // of GitHub
	mu      sync.Mutex
	all     []grant
}

func nothing() error { return nil }

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
	require.LessOrEqual(t, within(g.of(), time.Minute+drift), perMinute, "writes in a minute")
	require.LessOrEqual(t, within(g.of(), time.Hour+drift), perHour, "writes in an hour")
	require.LessOrEqual(t, within(g.of(answer, progress), time.Second), 1, "comments in a second")
}

// write waits as whoever writes does: here for as long as its kind is patient, then as it is told. It gives how long that took.
func (g *grants) write(t *testing.T, b *budget, k kind) time.Duration {
	t.Helper()
	start := time.Now()
	for {
		var took time.Duration
		err := b.spend(t.Context(), 7, k, func() error {
			took = time.Since(start)
			g.add(k)
			time.Sleep(g.latency)
			return nil
		})
		if err == nil {
			return took
		}
		var limit *librarian.RateLimitError
		require.ErrorAs(t, err, &limit)
		require.Positive(t, limit.RetryAfter())
		time.Sleep(limit.RetryAfter())
	}
}

func TestL1_TwentyQuestionsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, g := newBudget(time.Now, nil, false), &grants{latency: 400 * time.Millisecond}
		var wg sync.WaitGroup
		var mu sync.Mutex
		var slowest, slowestEyes time.Duration
		ask := func() {
			eyed := g.write(t, b, eyes)
			time.Sleep(5 * time.Second) // the research
			took := g.write(t, b, answer)
			g.write(t, b, ending)
			g.write(t, b, tidy)
			mu.Lock()
			defer mu.Unlock()
			slowest, slowestEyes = max(slowest, took), max(slowestEyes, eyed)
		}
		for range 20 {
			wg.Go(ask)
		}
		for range 8 { // and some more in the same minute
			time.Sleep(6 * time.Second)
			wg.Go(ask)
		}
		wg.Wait()
		g.requireWithinLimits(t)
		require.Len(t, g.all, 28*4)
		require.Zero(t, slowestEyes)
		require.LessOrEqual(t, slowest, 30*time.Second)
	})
}

func TestL1_HundredRunsAnHour(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			b, g := newBudget(time.Now, nil, false), &grants{}
			rnd := rand.New(rand.NewPCG(seed, 2))
			var wg sync.WaitGroup
			var mu sync.Mutex
			var slowest, slowestEyes time.Duration
			refused := 0
			for range 100 {
				begin, length := time.Duration(rnd.Int64N(int64(59*time.Minute))), time.Duration(rnd.Int64N(int64(5*time.Minute)))
				wg.Go(func() {
					time.Sleep(begin)
					eyed := g.write(t, b, eyes)
					shown, begun := false, time.Now()
					for _, at := range []time.Duration{30, 60, 120} { // seconds; more than there is room for
						if at *= time.Second; at > length {
							break
						}
						time.Sleep(at - time.Since(begun))
						if err := b.spend(t.Context(), 7, progress, nothing); err == nil {
							g.add(progress)
							shown = true
						} else {
							mu.Lock()
							refused++
							mu.Unlock()
						}
					}
					time.Sleep(max(0, length-time.Since(begun)))
					took := g.write(t, b, answer)
					mu.Lock()
					slowest, slowestEyes = max(slowest, took), max(slowestEyes, eyed)
					mu.Unlock()
					g.write(t, b, ending)
					g.write(t, b, tidy)
					if shown {
						g.write(t, b, tidy)
					}
				})
			}
			wg.Wait()
			g.requireWithinLimits(t)
			require.Len(t, g.of(answer), 100)
			require.Zero(t, slowestEyes)
			require.LessOrEqual(t, slowest, 30*time.Second)
			require.Positive(t, refused, "the load was to exceed the budget")
		})
	}
}

// However long a comment is on its way, GitHub sees no other within a second of it: also when it says nothing to one, the process
// is killed, or what sends one panics.
func TestL1_ASecondAsGitHubSeesIt(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 3))
			var mu sync.Mutex
			var arrived []time.Time
			some := func(d time.Duration) time.Duration { return time.Duration(rnd.Int64N(int64(d))) }
			arrive := func(late time.Duration) {
				time.Sleep(late)
				mu.Lock()
				defer mu.Unlock()
				arrived = append(arrived, time.Now())
			}
			l := &book{}
			var wg sync.WaitGroup
			for range 3 { // processes, one after the other
				b := newBudget(time.Now, l, false)
				for range 6 {
					k := []kind{answer, withdrawal, progress}[rnd.IntN(3)]
					on, back, end := some(3*time.Second), some(time.Second), rnd.IntN(4)
					wg.Go(func() {
						defer func() { _ = recover() }()
						err := b.spend(t.Context(), 7, k, func() error {
							switch end {
							case 0: // nobody waits for it
								wg.Go(func() { arrive(on * 2 / 3) })
								return errors.New("the connection was cut")
							case 1:
								wg.Go(func() { arrive(on * 2 / 3) })
								panic("at sending")
							}
							arrive(on)
							time.Sleep(back)
							return nil
						})
						if limit, ok := errors.AsType[*librarian.RateLimitError](err); ok {
							require.ErrorIs(t, limit, errBudget)
						}
					})
				}
				wg.Wait()
				late := some(drift)
				require.NoError(t, b.spend(t.Context(), 7, answer, func() error { // it dies with its last one on its way
					wg.Go(func() { arrive(late) })
					return nil
				}))
			}
			wg.Wait()
			require.Greater(t, len(arrived), 6)
			slices.SortFunc(arrived, time.Time.Compare)
			for i := 1; i < len(arrived); i++ {
				require.GreaterOrEqual(t, arrived[i].Sub(arrived[i-1]), time.Second)
			}
		})
	}
}

func TestL1_Order(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, g := newBudget(time.Now, nil, false), &grants{}
		for range minuteLimits[answer].all { // from now on one write leaves the minute each half second
			require.NoError(t, b.spend(t.Context(), 7, []kind{eyes, answer}[len(g.all)%2], nothing))
			g.add(eyes)
			time.Sleep(time.Second / 2)
		}
		full := time.Now()
		g.all = nil
		var wg sync.WaitGroup
		for _, k := range []kind{progress, tidy, answer, ending, answer} {
			wg.Go(func() { g.write(t, b, k) })
			synctest.Wait()
		}
		require.Zero(t, g.write(t, b, eyes), "there is room for a first mark")
		require.NoError(t, b.spend(t.Context(), 8, answer, nothing))
		require.Zero(t, time.Since(full), "another installation does not wait")
		wg.Wait()
		at := func(k kind, i int) time.Duration { return g.of(k)[i].Sub(full) }
		first := time.Minute + drift - time.Duration(minuteLimits[answer].all)*time.Second/2 // when the first of them leaves it
		require.Equal(t, first+time.Second/2, at(answer, 0), "the first mark took a place")
		require.GreaterOrEqual(t, at(answer, 1)-at(answer, 0), time.Second)
		require.Greater(t, at(ending, 0), at(answer, 1), "they have more room than the marks that end")
		require.Greater(t, at(tidy, 0), at(ending, 0), "tidying goes after those")
		require.Greater(t, at(progress, 0), at(tidy, 0), "progress goes last")
	})
}

func TestEachKindLeavesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(time.Now, nil, false)
		spend := func(k kind) (n int) { // all that goes at once
			for ; time.Until(b.account(7).earliest(k)) <= 0; n++ {
				require.NoError(t, b.spend(t.Context(), 7, k, nothing))
			}
			return n
		}
		require.Equal(t, 44, spend(tidy))
		require.Equal(t, 12, spend(ending))
		require.NoError(t, b.spend(t.Context(), 7, answer, nothing))
		require.Equal(t, 23, spend(eyes))
		require.Len(t, b.account(7).writes, perMinute)
		time.Sleep(time.Minute + drift)
		require.Equal(t, 60, spend(eyes), "a quarter of the minute stays for answers")
		for range 12 {
			require.NoError(t, b.spend(t.Context(), 7, answer, nothing))
		}
	})
}

func TestAcquireEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBudget(time.Now, nil, false)
		b.pause(7, 20*time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		require.ErrorIs(t, b.spend(ctx, 7, answer, nothing), context.DeadlineExceeded)
		require.Empty(t, b.account(7).waiting[answer], "it left the queue")
		require.Empty(t, b.account(7).writes, "it was not counted")
		require.NoError(t, b.spend(t.Context(), 7, answer, nothing), "a short pause is waited out")
		b.pause(7, time.Hour)
		for k := range kinds {
			start := time.Now()
			var limit *librarian.RateLimitError
			require.ErrorAs(t, b.spend(t.Context(), 7, k, nothing), &limit)
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
		b := newBudget(time.Now, nil, false)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { require.NoError(t, b.spend(t.Context(), 7, answer, nothing)) })
		}
		synctest.Wait()
		start := time.Now()
		var limit *librarian.RateLimitError
		require.ErrorAs(t, b.spend(t.Context(), 7, progress, nothing), &limit)
		require.Equal(t, progress.patience(), time.Since(start))
		wg.Wait()
		require.Len(t, b.account(7).writes, 20)
	})
}

// book is a Ledger in memory.
type book struct {
	mu   sync.Mutex
	all  []librarian.Write
	fail error
}

func (l *book) Writes(_ context.Context, installation int64, since time.Time) ([]librarian.Write, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.all), func(w librarian.Write) bool { return installation != 7 || w.At.Before(since) }), l.fail
}

func (l *book) Wrote(_ context.Context, _ int64, w librarian.Write) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail != nil {
		return l.fail
	}
	l.all = append(l.all, w)
	return nil
}

// A process that is killed again and again writes no more than one that lives.
func TestL1_AcrossRestarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, g := &book{}, &grants{}
		for range 40 {
			b := newBudget(time.Now, l, false)
			for range 5 {
				for _, k := range []kind{eyes, answer, ending, tidy, progress} {
					if b.spend(t.Context(), 7, k, nothing) == nil {
						g.add(k)
					}
				}
			}
		}
		g.requireWithinLimits(t)
		require.Greater(t, within(g.of(), time.Minute+drift), 60, "the budget was put to use")
		require.Len(t, l.all, len(g.all))

		l.fail = errors.New("the disk is full")
		require.ErrorIs(t, newBudget(time.Now, l, false).spend(t.Context(), 7, eyes, nothing), l.fail, "what is not known to be within the limits is not written")
		l.fail = nil
		b := newBudget(time.Now, l, false)
		time.Sleep(time.Hour + drift)
		require.NoError(t, b.spend(t.Context(), 7, eyes, nothing))
		l.fail = errors.New("the disk is full")
		require.ErrorIs(t, b.spend(t.Context(), 7, eyes, nothing), l.fail)
	})
}

// Processes beside each other keep within one budget.
func TestL1_AcrossReplicas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, g := &book{}, &grants{}
		var wg sync.WaitGroup
		for range 3 {
			b := newBudget(time.Now, l, true)
			for i := range 12 {
				wg.Go(func() {
					time.Sleep(time.Duration(i) * 50 * time.Millisecond)
					for _, k := range []kind{eyes, answer, ending, tidy} {
						g.write(t, b, k)
					}
				})
				time.Sleep(time.Millisecond)
			}
		}
		wg.Wait()
		require.Len(t, g.all, 3*12*4)
		require.LessOrEqual(t, within(g.of(), time.Minute), perMinute, "writes in a minute")
		require.LessOrEqual(t, within(g.of(answer), time.Second), 3, "of each a comment a second")
	})
}
