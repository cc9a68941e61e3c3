package checkout

import (
	"bytes"
	"math/rand/v2"
	"strings"
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
		i, upTo, ok := n.index(text)
		if ok {
			require.Equal(t, at, i, "%q in %q", want, text)
		} else {
			require.True(t, at < 0 || at >= upTo, "%q in %q", want, text)
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
	_, upTo, ok := newNeedle([]byte("zzy"), true).index(bytes.Repeat([]byte("yyz"), 1000))
	require.False(t, ok)
	require.Positive(t, upTo)
}
