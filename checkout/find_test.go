package checkout

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGlobMatchesWhatItSays: a path made from a glob, by putting something that fits for each of its signs, is matched.
func TestGlobMatchesWhatItSays(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func(s ...string) string { return s[rng.IntN(len(s))] }
	for range 5000 {
		var glob, path strings.Builder
		both := func(g, p string) { glob.WriteString(g); path.WriteString(p) }
		both("a", "a")
		for range 1 + rng.IntN(6) {
			switch rng.IntN(8) {
			case 0:
				both("*", pick("", "x", "name.go"))
			case 1:
				both("?", pick("x", "."))
			case 2:
				both("/**/", pick("/", "/one/", "/one/two/"))
			case 3:
				both("[b-d]", pick("b", "d"))
			case 4:
				both("{go,ts}", pick("go", "ts"))
			case 5:
				both(`\*`, "*")
			case 6:
				both("/", "/")
			default:
				w := pick("main", "_test", ".go", "src")
				both(w, w)
			}
		}
		match, err := compileGlob(glob.String())
		require.NoError(t, err)
		require.True(t, match(path.String()), "%q %q", glob.String(), path.String())
		require.False(t, match("zzz"), "%q", glob.String())
	}
}
