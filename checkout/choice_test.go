package checkout

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChoice compares the search for any of several texts with one search for
// each: every line that holds one is come upon, and none is passed by on giving up.
func TestChoice(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	gaveUp, found := 0, 0
	for range 4_000 {
		letters := []string{"ab", "aab\n", "abcdefgh_ \n", "\xc3\xa9\xff\n"}[rng.IntN(4)]
		word := func(n int) string {
			var b []byte
			for range n {
				b = append(b, letters[rng.IntN(len(letters))])
			}
			return string(b)
		}
		var texts []string
		for range 1 + rng.IntN(5) {
			texts = append(texts, word(minWindow+rng.IntN(40)))
		}
		c := newChoice(texts)
		require.NotNil(t, c)
		require.LessOrEqual(t, c.size, maxWindow)
		text := []byte(word(rng.IntN(400)))
		for range rng.IntN(3) {
			at := rng.IntN(len(text) + 1)
			text = append(text[:at:at], append([]byte(texts[rng.IntN(len(texts))]), text[at:]...)...)
		}
		want := -1
		for _, w := range c.windows {
			if i := bytes.Index(text, []byte(w)); i >= 0 && (want < 0 || i < want) {
				want = i
			}
		}
		i, upTo, ok := c.index(text)
		if !ok {
			gaveUp++
			require.True(t, want < 0 || want >= upTo, "%q in %q", texts, text)
			continue
		}
		require.Equal(t, want, i, "%q in %q", texts, text)
		if i >= 0 {
			found++
		}
		for _, w := range texts {
			require.True(t, i >= 0 || !bytes.Contains(text, []byte(w)), "%q in %q", w, text)
		}
	}
	require.Positive(t, gaveUp)
	require.Greater(t, found, 500)
	require.Nil(t, newChoice([]string{"long enough", "no"}))
	require.Nil(t, newChoice(nil))
}

// TestChoiceOf: of which texts every match of a pattern holds one.
func TestChoiceOf(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string][]string{
		`(read|write)_(begin|end)\b`: {"ead_begi", "read_end", "rite_end", "write_be"}, // as long as the shortest, with the rarest end
		`(foo\w+|bar[0-9]*)x?`:       {"bar", "foo"},
		`(foo\w+|\d+)`:               nil,
		`(ab|b)*`:                    nil,
		`(foo|x)bar|quux`:            {"foob", "quux", "xbar"},
		`colou?r|grey`:               {"colo", "grey", "olou"},
		`.*(Kelvin|kelvin).*`:        {"Kelvin", "kelvin"},
		`plain_word\(`:               nil, // the needle is better
	} {
		m, err := newMatcher(GrepOptions{Pattern: pattern})
		require.NoError(t, err)
		if want == nil {
			require.Nil(t, m.choice, pattern)
			continue
		}
		require.NotNil(t, m.choice, pattern)
		require.Equal(t, want, m.choice.windows, pattern)
	}
}
