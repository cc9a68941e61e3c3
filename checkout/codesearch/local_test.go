package codesearch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Which of a file's functions answers is not told by what all of them are called.
func TestWordsOfAWholeFileSayNothingWithinIt(t *testing.T) {
	t.Parallel()
	var lake strings.Builder
	for _, n := range []string{"Open", "Close", "Name", "Depth", "Copy", "Join"} {
		fmt.Fprintf(&lake, "// lake%s: the boats of the lake.\nfunc lakeBoats%s(lake *Lake, boats Boats) {\n\tlake.boats(boats)\n\tlake.again(boats)\n}\n\n", n, n)
	}
	lake.WriteString("func moor(l *Lake, rope Rope) {\n\tif l.storm() {\n\t\trope.knot(l)\n\t\trope.knot(l)\n\t}\n}\n")
	res := ask(t, map[string]string{"lake.go": "package p\n\n" + lake.String(), "sea.go": "package p\n\nfunc sea() {}\n"}, "how are the boats of the lake knotted in a storm?")
	require.Equal(t, "moor", res[0].Symbol, paths(res))
}

// A file that is found by what its class says answers with the function that does it, even where many other chunks of the tree fit better
// than that function by itself.
func TestAFileAnswersWithAnyOfItsFunctions(t *testing.T) {
	t.Parallel()
	files := map[string]string{"ferry.py": "class Ferry:\n    \"\"\"Brings wagons over the river.\"\"\"\n\n    def a(self):\n        pass\n\n    def pull(self, load):\n        while load:\n            load = self.wheel(load)\n            load = self.turn(load)\n        return load\n\n" + strings.Repeat("    # nothing\n", 60)}
	for i := range considered + 20 {
		files[fmt.Sprintf("w/w%d.py", i)] = fmt.Sprintf("def wagon%d(wagons):\n    wagons = wagons.river()\n    wagons = wagons.roll(wagons)\n    return wagons\n", i)
	}
	res := ask(t, files, "how does the ferry bring wagons over, by which turn of the wheel?")
	require.Equal(t, "ferry.py", res[0].Path, paths(res))
	require.Equal(t, "pull", res[0].Symbol, paths(res))
}

// The later parts of a long function have its name, which has counted with the first.
func TestALongFunctionsNameCountsOnce(t *testing.T) {
	t.Parallel()
	long := "func bakeBread(o *Oven) {\n" + strings.Repeat("\to.turn()\n", 140) + "}\n\nfunc knead(o *Oven, bread Dough) {\n\tbread.fold()\n\tbread.fold()\n\tbread.rest()\n}\n"
	ix, err := Build(t.Context(), tree(map[string]string{"oven.go": "package p\n\n" + long, "mill.go": "package p\n\nfunc mill() {}\n"}), Options{})
	require.NoError(t, err)
	for less, second := range map[float64]string{0: "bakeBread", -9: "knead"} {
		w := DefaultWeights()
		w.LocalPiece = less
		res, err := ix.SearchWeighted(t.Context(), Query{Question: "how is bread baked?"}, &w)
		require.NoError(t, err)
		require.Equal(t, "bakeBread", res.Candidates[0].Symbol, paths(res.Candidates))
		require.Equal(t, 3, res.Candidates[0].Start, "its first part")
		require.Equal(t, second, res.Candidates[1].Symbol, paths(res.Candidates))
	}
}

func ask(t *testing.T, files map[string]string, question string) []Candidate {
	t.Helper()
	ix, err := Build(t.Context(), tree(files), Options{})
	require.NoError(t, err)
	res, err := ix.Search(t.Context(), Query{Question: question})
	require.NoError(t, err)
	require.NotEmpty(t, res.Candidates)
	return res.Candidates
}
