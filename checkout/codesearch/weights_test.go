package codesearch

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each part of the ranking must change an answer for the better: with it the wanted place is first, without it another one is.
func TestEachWeightEarnsItsPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, question, want string
		files                map[string]string
		off                  func(w *Weights)
	}{
		{"part", "turns that are slow", "src/slowlog.c", map[string]string{
			"src/slowlog.c": "/* Remember turns. */\nvoid slowlogPush(int turns) {\n    listPrepend(slowlogList, turns);\n}\n",
			"src/turns.c":   "/* Count the turns. */\nint countTurns(int n) {\n    return turns[n];\n}\n",
			"src/wait.c":    "void wait(void) {\n    if (slow) log(log1, log2);\n}\n",
			"src/log1.c":    "void a(int n) {\n    log(n);\n}\n", "src/log2.c": "void b(int n) {\n    log(n);\n}\n", "src/log3.c": "void c(int n) {\n    log(n);\n}\n", "src/log4.c": "void d(int n) {\n    log(n);\n}\n",
		}, func(w *Weights) { w.Part, w.PartBoth = 0, 0 }},
		{"adjacent", "held orders", "src/park.c", map[string]string{
			"src/park.c": "/* Held orders wait until they are let go. */\nvoid park(struct item *o) {\n    o->next = waiting;\n}\n",
			"src/sack.c": "/* Held here until it comes by in its order. */\nint sack(struct item *o) {\n    order(o);\n}\n",
		}, func(w *Weights) { w.Adjacent = 0 }},
		{"path fit", "How is the seal of a grain delivery checked?", "src/gate.c", map[string]string{
			"src/gate.c":  "int admit(struct cart *c) {\n    if (differs(c->delivery, seal(c->grain))) {\n        return check(c, 0);\n    }\n    return open(c, road(c), weather(c), hour(c));\n}\n",
			"src/check.c": "/* Check a number. */\nint check(int n) {\n    return n > 0;\n}\n",
			"src/other.c": "int other(int n) {\n    return n;\n}\n", "src/more.c": "int more(int n) {\n    return n;\n}\n", "src/road.c": "int road(int n) {\n    return n;\n}\n",
		}, func(w *Weights) { w.PathFit = 0 }},
		{"synonym", "Where are crates thrown away?", "src/b.c", map[string]string{
			"src/a.c": "/* Crates are kept. */\nvoid keep(int n) {\n    crates(n);\n}\n",
			"src/b.c": "void discardOldest(int n) {\n    evict(crates(n));\n}\n",
		}, func(w *Weights) { w.Synonym = 0 }},
		{"lend", "How do I prune pear trees in winter?", "src/b.c", map[string]string{
			"src/a.c":   "void count(int n) {\n    int a = n, b = n, c = n;\n    sum(a, b, c, trees(n));\n}\n",
			"src/b.c":   "void cutBack(int n) {\n    knife(n);\n}\n",
			"README.md": "# Pears\n\nTo prune pear trees in winter call `cutBack`: pear trees that you prune in winter thrive.\n",
		}, func(w *Weights) { w.Lend = 0 }},
		{"declared", "How are crates washed before they are stacked?", "src/line.c", map[string]string{
			"include/line.h": "/**\n * Crates are washed before they are stacked.\n */\nint line_run(struct line *l);\n\n/**\n * Stacks one.\n */\nint line_stack(struct line *l);\n",
			"src/line.c":     "int line_run(struct line *l)\n{\n    rinse(l);\n    while (l->n)\n        l->n--;\n    return line_stack(l);\n}\n",
			"src/other.c":    "int other(int crates) {\n    return stacked(crates);\n}\n",
		}, func(w *Weights) { w.Declared, w.Prototype = 0, 1 }},
		{"folder", "how are pears packed in crate-tools?", "crate-tools/src/b.c", map[string]string{
			"crate-print/src/a.c": "/* Pears are packed. */\nvoid packPears(int n) {\n    packed(pears(n));\n}\n",
			"crate-tools/src/b.c": "void fill(int n) {\n    packed(pears(n));\n}\n",
		}, func(w *Weights) { w.Aside = 1 }},
		{"path stem", "barcode", "src/barcode.c", map[string]string{
			"src/barcode.c": "void draw(int n) {\n    line(n);\n    barcode(n);\n}\n",
			"src/print.c":   "void print(int n) {\n    barcode(barcode(n));\n}\n",
		}, func(w *Weights) { w.PathStem = 0 }},
		{"defines among", "puts the PearCrate back on the shelf when it was turned away at the gate", "src/gate.py", map[string]string{
			"src/pear_crate.py": "class PearCrate:\n    def __init__(self):\n        self.n = 0\n        self.m = 0\n\n    def weigh(self):\n        return self.n + self.m\n",
			"src/gate.py":       "def turn_away(crate):\n    # turned away at the gate: back to the shelf\n    shelf.put_back(crate)\n    gate.close()\n",
			"src/a.py":          "def a(n):\n    return PearCrate()\n", "src/b.py": "def b(n):\n    return shelf(n)\n",
		}, func(w *Weights) { w.DefinesAmong = 1 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ix, err := Build(t.Context(), tree(c.files), Options{})
			require.NoError(t, err)
			with, without := DefaultWeights(), DefaultWeights()
			c.off(&without)
			for _, x := range []struct {
				w     *Weights
				first bool
			}{{&with, true}, {&without, false}} {
				res, err := ix.SearchWeighted(t.Context(), Query{Question: c.question}, x.w)
				require.NoError(t, err)
				require.NotEmpty(t, res.Candidates)
				require.Equal(t, x.first, res.Candidates[0].Path == c.want, "with it: %v; first is %v", x.first, paths(res.Candidates))
			}
		})
	}
}

// Among the functions of one file the one whose whole name the question speaks comes before one that mentions the words as often.
func TestANameThatIsSaidCountsWithinAFile(t *testing.T) {
	t.Parallel()
	ix, err := Build(t.Context(), tree(map[string]string{
		"src/grain.c": "int sealPearsOfGrainCartsLate(struct cart *c) {\n    int n = seal(c->pears);\n    n = more(c, n);\n    n = wash(c, n);\n    n = pack(c, n);\n    return seal(c, n);\n}\n\nint sealPears(struct cart *c) {\n    int n = sort(c->pears);\n    n = wash(c, n);\n    n = pack(c, n);\n    return seal(c, n);\n}\n",
		"src/road.c":  "int road(int n) {\n    return n;\n}\n",
	}), Options{})
	require.NoError(t, err)
	with, without := DefaultWeights(), DefaultWeights()
	without.LocalName = 0
	for _, x := range []struct {
		w    *Weights
		want string
	}{{&with, "sealPears"}, {&without, "sealPearsOfGrainCartsLate"}} {
		res, err := ix.SearchWeighted(t.Context(), Query{Question: "how are pears sealed?"}, x.w)
		require.NoError(t, err)
		require.NotEmpty(t, res.Candidates)
		require.Equal(t, x.want, res.Candidates[0].Symbol)
	}
}

func TestFoldersAreTakenOut(t *testing.T) {
	t.Parallel()
	ix, err := Build(t.Context(), tree(map[string]string{"packages/pear-press/src/a.js": "function press() {}\n", "pear-press/b.js": "function b() {}\n"}), Options{})
	require.NoError(t, err)
	for question, left := range map[string]string{
		"how does pear-press press?":                         "how does  press?",
		"Pear-Press: what is pressed in (pear-press)?":       ": what is pressed in ()?",
		"it fails in pear-press.":                            "it fails in .",
		"see packages/pear-press/src/a.js:1":                 "see packages/pear-press/src/a.js:1",
		"the flag --pear-press and x-pear-press-1 are old":   "the flag --pear-press and x-pear-press-1 are old",
		"\"pear-press\" is quoted, apple-press is no folder": "\"pear-press\" is quoted, apple-press is no folder",
	} {
		folders, rest := ix.folders(question)
		require.Equal(t, left, rest)
		require.Len(t, folders, map[bool]int{true: 2}[left != question], question)
	}
}

// Where a tree has the same file for each of many kinds, two of them come first and then what else there is; but the one whose folder the question
// names comes before all.
func TestThirdOfAKindCountsLess(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"src/ledger.go": "package src\n\n// Weigh sums up crates.\nfunc Weigh(n int) int {\n\treturn n + ledger(n)\n}\n",
	}
	for _, kind := range []string{"apple", "cherry", "pear", "plum", "quince"} {
		files["src/"+kind+"/crate.go"] = "package " + kind + "\n\n// Weigh weighs the crates of the cellar, shelf by shelf, and tells the sum of all crates.\n" +
			"func Weigh(shelves []Shelf) (sum int) {\n\tfor _, crates := range shelves {\n\t\tsum += scale.weigh(crates.count, crates.weight, cellar.offset)\n\t}\n\treturn sum\n}\n\n" +
			"// Taste bites into one of the crates and says whether the harvest was sweet.\nfunc Taste(n int) bool {\n\treturn sugar(harvest(n)) > limit\n}\n"
	}
	ix, err := Build(t.Context(), tree(files), Options{})
	require.NoError(t, err)
	rank := func(question, path string, again float64) int {
		w := DefaultWeights()
		w.Again = again
		res, err := ix.SearchWeighted(t.Context(), Query{Question: question}, &w)
		require.NoError(t, err)
		return 1 + slices.IndexFunc(res.Candidates, func(c Candidate) bool { return c.Path == path })
	}
	on := DefaultWeights().Again
	const question = "Where are the crates weighed and summed?"
	require.Greater(t, rank(question, "src/ledger.go", 1), 5)
	require.Equal(t, 3, rank(question, "src/ledger.go", on))
	require.Equal(t, 1, rank("Where are the crates of plums weighed and summed?", "src/plum/crate.go", on))
}
