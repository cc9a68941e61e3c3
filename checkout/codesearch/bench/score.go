package bench

import (
	"math"
	"sort"
	"strings"
)

// Result is one place that a system named.
type Result struct {
	Path  string `json:"path"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// maxSpan is the length in lines above which a result must not be longer than twice the target to count as a function hit.
const maxSpan = 200

// Accuracy is the share of questions whose first right result stands among the first 1, 5 and 10, and the mean reciprocal rank
// (0 beyond 10).
type Accuracy struct{ At1, At5, At10, MRR float64 }

func (a *Accuracy) add(rank int) {
	if rank <= 0 || rank > 10 {
		return
	}
	if rank == 1 {
		a.At1++
	}
	if rank <= 5 {
		a.At5++
	}
	a.At10++
	a.MRR += 1 / float64(rank)
}

func (a *Accuracy) over(n int) {
	d := float64(max(n, 1))
	a.At1, a.At5, a.At10, a.MRR = a.At1/d, a.At5/d, a.At10/d, a.MRR/d
}

// placeScore are the ranks of one question: of the first right file among distinct files, and of the first right function; for gold and
// also together, and for gold alone. 0 means not found.
type placeScore struct{ file, goldFile, function, goldFunction int }

func scorePlaces(q Question, results []Result) placeScore {
	var s placeScore
	var files []string
	seen := map[string]bool{}
	for _, r := range results {
		if !seen[r.Path] {
			seen[r.Path] = true
			files = append(files, r.Path)
		}
	}
	for i, f := range files {
		gold, also := named(q.Gold, f), named(q.Also, f)
		if s.file == 0 && (gold || also) {
			s.file = i + 1
		}
		if s.goldFile == 0 && gold {
			s.goldFile = i + 1
		}
	}
	for i, r := range results {
		gold, also := anyHit(r, q.Gold), anyHit(r, q.Also)
		if s.function == 0 && (gold || also) {
			s.function = i + 1
		}
		if s.goldFunction == 0 && gold {
			s.goldFunction = i + 1
		}
	}
	return s
}

func named(places []Place, file string) bool {
	for _, p := range places {
		if p.Path == file {
			return true
		}
	}
	return false
}

func anyHit(r Result, places []Place) bool {
	for _, g := range places {
		if r.Path != g.Path || r.Start == 0 || r.End == 0 || r.End < g.Start || r.Start > g.End {
			continue
		}
		if n := r.End - r.Start + 1; n <= maxSpan || n <= 2*(g.End-g.Start+1) {
			return true
		}
	}
	return false
}

// ndcg is NDCG@10 with binary gain: a target takes the rank of the first result that matches it.
func ndcg(q Question, results []Result) float64 {
	const k = 10
	if len(q.Gold) == 0 {
		return 0
	}
	results = results[:min(len(results), k)]
	var rel [k]bool
	for _, t := range q.Gold {
		for i, r := range results {
			if matches(r, t) {
				rel[i] = true
				break
			}
		}
	}
	dcg, ideal := 0.0, 0.0
	for i := range k {
		gain := 1 / math.Log2(float64(i+2))
		if rel[i] {
			dcg += gain
		}
		if i < len(q.Gold) {
			ideal += gain
		}
	}
	return dcg / ideal
}

func matches(r Result, t Place) bool {
	a, b := strings.ReplaceAll(r.Path, "\\", "/"), strings.ReplaceAll(t.Path, "\\", "/")
	if a != b && !strings.HasSuffix(a, "/"+b) && !strings.HasSuffix(b, "/"+a) {
		return false
	}
	if t.Start == 0 || t.End == 0 || r.Start == 0 || r.End == 0 {
		return true
	}
	return r.End >= t.Start && r.Start <= t.End
}

// Report are the figures of one system on one set.
type Report struct {
	Set, System string
	Questions   int
	Format      format

	File, GoldFile, Function, GoldFunction Accuracy // formatPlaces

	NDCG      float64            // formatNDCG: the mean over repositories of each one's mean
	NDCGMicro float64            // the mean over queries
	ByRepo    map[string]float64 // NDCG, or MRR of files
	ByKind    map[string]float64 // mean over repositories of the kind's mean, as the peer has it; MRR of files
	ByLang    map[string]float64
	ByHard    map[string]Accuracy // formatPlaces: files by difficulty
}

// Score gives the figures of one system's results, by question id.
func Score(set Set, system string, results map[string][]Result) Report {
	rep := Report{Set: set.Name, System: system, Questions: len(set.Questions), Format: set.Format, ByHard: map[string]Accuracy{}}
	repo, lang := map[string][]float64{}, map[string]map[string][]float64{}
	kind := map[string]map[string][]float64{}
	hard := map[string]int{}
	var all []float64
	for _, q := range set.Questions {
		res := results[q.ID]
		var v float64
		if set.Format == formatNDCG {
			v = ndcg(q, res)
		} else {
			s := scorePlaces(q, res)
			rep.File.add(s.file)
			rep.GoldFile.add(s.goldFile)
			rep.Function.add(s.function)
			rep.GoldFunction.add(s.goldFunction)
			if s.file > 0 && s.file <= 10 {
				v = 1 / float64(s.file)
			}
			a := rep.ByHard[q.Difficulty]
			a.add(s.file)
			rep.ByHard[q.Difficulty] = a
			hard[q.Difficulty]++
		}
		all = append(all, v)
		repo[q.name] = append(repo[q.name], v)
		if lang[q.Lang] == nil {
			lang[q.Lang] = map[string][]float64{}
		}
		lang[q.Lang][q.name] = append(lang[q.Lang][q.name], v)
		if kind[q.Kind] == nil {
			kind[q.Kind] = map[string][]float64{}
		}
		kind[q.Kind][q.name] = append(kind[q.Kind][q.name], v)
	}
	n := len(set.Questions)
	for _, a := range []*Accuracy{&rep.File, &rep.GoldFile, &rep.Function, &rep.GoldFunction} {
		a.over(n)
	}
	for k, a := range rep.ByHard {
		a.over(hard[k])
		rep.ByHard[k] = a
	}
	rep.NDCGMicro = mean(all)
	rep.ByRepo = means(repo)
	rep.NDCG = meanOf(rep.ByRepo)
	rep.ByKind, rep.ByLang = map[string]float64{}, map[string]float64{}
	for k, m := range kind {
		rep.ByKind[k] = meanOf(means(m))
	}
	for k, m := range lang {
		rep.ByLang[k] = meanOf(means(m))
	}
	return rep
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(max(len(v), 1))
}

func means(m map[string][]float64) map[string]float64 {
	out := make(map[string]float64, len(m))
	for k, v := range m {
		out[k] = mean(v)
	}
	return out
}

// meanOf sums in the order of the names, so that the same figures come out to the last digit.
func meanOf(m map[string]float64) float64 {
	v := make([]float64, 0, len(m))
	for _, k := range sortedKeys(m) {
		v = append(v, m[k])
	}
	return mean(v)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
