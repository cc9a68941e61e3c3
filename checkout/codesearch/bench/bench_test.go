package bench

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/librarian-app/librarian/checkout/checkouttest"
)

func readResults(t *testing.T, path string) map[string][]Result {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	out := map[string][]Result{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var row struct {
			ID      string
			Results []Result
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &row))
		out[row.ID] = row.Results
	}
	return out
}

// The figures are what score.py prints for the same files.
func TestScoreEqualsThePlacesScript(t *testing.T) {
	t.Parallel()
	set, err := Load("testdata/places.jsonl")
	require.NoError(t, err)
	r := Score(set, "x", readResults(t, "testdata/places-results.jsonl"))
	require.Equal(t, 4, r.Questions)
	require.InDeltaMapValues(t, map[string]float64{"f1": .25, "f5": .75, "f10": .75, "fm": .5, "n1": 0, "n5": .75, "n10": .75, "nm": .3, "g1": 0, "g5": .75, "gm": .3},
		map[string]float64{"f1": r.File.At1, "f5": r.File.At5, "f10": r.File.At10, "fm": r.File.MRR, "n1": r.Function.At1, "n5": r.Function.At5, "n10": r.Function.At10,
			"nm": r.Function.MRR, "g1": r.GoldFunction.At1, "g5": r.GoldFunction.At5, "gm": r.GoldFunction.MRR}, 1e-9)
	require.InDelta(t, 2.0/3, r.ByHard["lexical"].At5, 1e-9)
	require.InDelta(t, 1.0, r.ByHard["paraphrase"].At1, 1e-9)
}

// The figures are what ndcg.py prints for the same files.
func TestScoreEqualsTheNDCGScript(t *testing.T) {
	t.Parallel()
	set, err := Load("testdata/ndcg")
	require.NoError(t, err)
	require.Len(t, set.Questions, 5)
	r := Score(set, "x", readResults(t, "testdata/ndcg-results.jsonl"))
	require.InDelta(t, .5549, r.NDCG, 5e-5)
	require.InDelta(t, .5961, r.NDCGMicro, 5e-5)
	require.InDeltaMapValues(t, map[string]float64{"architecture": .6747, "semantic": .6309, "symbol": .5}, r.ByKind, 5e-5)
	require.InDeltaMapValues(t, map[string]float64{"go": .7606, "python": .3492}, r.ByLang, 5e-5)
	require.InDeltaMapValues(t, map[string]float64{"one": .7606, "two": .3492}, r.ByRepo, 5e-5)
}

func TestRunMeasuresBareRepositories(t *testing.T) {
	t.Parallel()
	repos := t.TempDir()
	ids := checkouttest.Build(t, filepath.Join(repos, "acme+parcel", "repo"), `-- @commit one --
-- price/tariff.go --
package price

// Quote computes what shipping costs.
func Quote(grams int) int {
	return grams * 2
}
-- other/noise.go --
package other

// Noise is no answer.
func Noise() {}
-- logo.png (exec) --
x
`)
	data := filepath.Join(t.TempDir(), "q.jsonl")
	out := filepath.Join(t.TempDir(), "out.jsonl")
	line := func(id, repo, sha, question string) string {
		return `{"id":"` + id + `","repo":"` + repo + `","sha":"` + sha + `","lang":"go","kind":"how","difficulty":"lexical","question":"` + question + `","gold":[{"path":"price/tariff.go","symbol":"Quote","start":4,"end":6}],"also":[]}` + "\n"
	}
	require.NoError(t, os.WriteFile(data, []byte(line("one", "acme/parcel", ids["one"], "How is the cost of shipping computed?")+line("gone", "acme/gone", ids["one"], "Who counts whales?")), 0o600))
	var text strings.Builder
	require.NoError(t, Run(t.Context(), Options{Data: data, Repos: repos, Out: out, Open: OpenBare("git")}, &text))
	for _, system := range Systems {
		require.Regexp(t, `(?m)^`+system+` +file @1 1\.000.* index [\d.]+ s, .* query p50 [\d.]+ ms p95 [\d.]+ ms\n +file MRR by language: go 1\.000\n +by kind: how 1\.000\n +lexical: file @1 1\.000`, text.String())
	}
	require.Contains(t, text.String(), "left out: acme/gone: no bare repository at "+filepath.Join(repos, "acme+gone"))
	require.Contains(t, text.String(), "acme/parcel                  1.000 (1.000)")
	require.Contains(t, text.String(), "right 1/1  wrong 0/0  about another repository 0/1\n", "the other question was put to this repository")
	require.Equal(t, Result{"price/tariff.go", 4, 6}, readResults(t, out)["one"][0])

	require.NoError(t, os.WriteFile(data, []byte(line("gone", "acme/gone", ids["one"], "Who counts whales?")), 0o600))
	require.ErrorContains(t, Run(t.Context(), Options{Data: data, Repos: repos, Open: OpenBare("git")}, &text), "none of the 1 repositories is in")
	require.ErrorContains(t, Run(t.Context(), Options{Data: data, Systems: []string{"other"}}, &text), `no system is called "other"`)
	require.NoError(t, os.WriteFile(data, []byte("{"), 0o600))
	require.ErrorContains(t, Run(t.Context(), Options{Data: data}, &text), "line 1")
	require.ErrorContains(t, Run(t.Context(), Options{Data: t.TempDir()}, &text), "neither repos.json nor *.jsonl")
}
