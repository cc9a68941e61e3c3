package checkout

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// TestNeedle compares the search by the rarest byte with the plain one, on
// texts in which that byte is rare, frequent, or nearly everything.
func TestNeedle(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		letters := []string{"ab", "aAbB", "abcdefgh_ ", "zZa", "a\xc3\x28\n"}[rng.IntN(5)]
		word := func(n int) []byte {
			var b []byte
			for range n {
				b = append(b, letters[rng.IntN(len(letters))])
			}
			return b
		}
		text, want := word(rng.IntN(400)), word(1+rng.IntN(6))
		n := newNeedle(bytes.Clone(want), false)
		require.Equal(t, bytes.Index(text, want), n.exact(text), "%q in %q", want, text)
		if !utf8.Valid(want) || !utf8.Valid(text) {
			continue
		}
		n = newNeedle(bytes.Clone(want), true)
		at := strings.Index(strings.ToLower(string(text)), strings.ToLower(string(want)))
		ways := []func([]byte) (int, int, bool){n.index}
		if n.fold {
			ways = append(ways, n.byCase)
		}
		for _, way := range ways {
			i, upTo, ok := way(text)
			if ok {
				require.Equal(t, at, i, "%q in %q", want, text)
			} else {
				require.True(t, at < 0 || at >= upTo, "%q in %q", want, text)
			}
		}
	}
	// One case only, again and again, over more than a window.
	text := bytes.Repeat([]byte("quartz\n"), 5000)
	n := newNeedle([]byte("RTZ"), true)
	count := 0
	for pos := 0; ; count++ {
		i, _, ok := n.index(text[pos:])
		require.True(t, ok)
		if i < 0 {
			break
		}
		pos += i + 1
	}
	require.Equal(t, 5000, count)
	// A byte that is everywhere makes it give up instead of trying at each place.
	everywhere := bytes.Repeat([]byte("yyz"), 1000)
	_, upTo, ok := newNeedle([]byte("zzy"), true).byCase(everywhere)
	require.False(t, ok)
	require.Positive(t, upTo)
	if hasPairs {
		_, upTo, ok = newNeedle([]byte("yzz"), true).index(everywhere)
		require.False(t, ok)
		require.Positive(t, upTo)
	}
}

// TestIndexPair compares it with the plain way, at every distance from the end
// of the memory that may be read.
func TestIndexPair(t *testing.T) {
	t.Parallel()
	if !hasPairs {
		t.Skip("no pairs on this processor")
	}
	page := os.Getpagesize()
	mem, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Munmap(mem) })
	require.NoError(t, syscall.Mprotect(mem[page:], syscall.PROT_NONE))
	rng := rand.New(rand.NewPCG(3, 4))
	found := 0
	for range 20_000 {
		n, gap := minPlaces+rng.IntN(100), 1+rng.IntN(40)
		b := mem[page-n-gap : page : page]
		few := "aAbB@`xyzwuvst0123456789"[:4+rng.IntN(20)]
		for i := range b {
			b[i] = few[rng.IntN(len(few))]
		}
		first, second := few[rng.IntN(len(few))], few[rng.IntN(len(few))]
		foldFirst, foldSecond := byte(0), byte(0)
		if rng.IntN(2) == 0 {
			first, foldFirst = first|0x20, 0x20
		}
		if rng.IntN(2) == 0 {
			second, foldSecond = second|0x20, 0x20
		}
		want := -1
		for i := range n {
			if b[i]|foldFirst == first && b[i+gap]|foldSecond == second {
				want = i
				found++
				break
			}
		}
		require.Equal(t, want, indexPair(b, n, gap, first, second, foldFirst, foldSecond), "%q", b)
	}
	require.Greater(t, found, 5000)
}
