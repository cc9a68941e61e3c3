package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/librarian-app/librarian/checkout/codesearch"
)

// Options of Run.
type Options struct {
	Data    string   // a JSONL file, a folder of them, or a folder with repos.json and annotations/
	Repos   string   // bare repositories named owner+name, owner+name/repo or owner+name/repo/.git
	Out     string   // results of "librarian" as JSONL, in the form the scripts read; "" for none
	Systems []string // what to measure; nil: all of Systems
	// Open gives the tree of a commit of a bare repository.
	Open func(ctx context.Context, gitDir, commit string) (codesearch.Source, error)
}

// measure is what one system did on one set.
type measure struct {
	results map[string][]Result
	index   time.Duration
	size    int64
	queries []time.Duration
	sure    confidences
}

// Run measures and prints. A repository that is not there is named and its questions are left out; when none is there, Run fails.
func Run(ctx context.Context, opt Options, w io.Writer) error {
	set, err := Load(opt.Data)
	if err != nil {
		return err
	}
	names := opt.Systems
	if len(names) == 0 {
		names = Systems
	}
	measures := map[string]*measure{}
	for _, n := range names {
		if _, err := newSystem(n); err != nil {
			return err
		}
		measures[n] = &measure{results: map[string][]Result{}}
	}
	var text int64
	var missing []string
	groups := byRepository(set)
	for i, qs := range groups {
		src, err := open(ctx, opt, qs[0])
		if err != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("bench: %w", ctx.Err())
			}
			missing = append(missing, qs[0].name)
			fmt.Fprintf(w, "left out: %s: %v\n", qs[0].name, err)
			continue
		}
		src = narrow(src, set, qs[0])
		n, err := textSize(ctx, src)
		if err != nil {
			return fmt.Errorf("bench: %s: %w", qs[0].name, err)
		}
		text += n
		for _, name := range names {
			if err := measureOne(ctx, name, src, qs, strangers(groups, i), measures[name]); err != nil {
				return fmt.Errorf("bench: %s: %s: %w", name, qs[0].name, err)
			}
		}
	}
	if len(missing) == len(groups) {
		return fmt.Errorf("bench: none of the %d repositories is in %s (named owner+name, or owner+name/repo)", len(groups), opt.Repos)
	}
	set.Questions = slices.DeleteFunc(set.Questions, func(q Question) bool { return slices.Contains(missing, q.name) })
	fmt.Fprintf(w, "%s: %d questions, %d repositories, %.1f MB of text\n", set.Name, len(set.Questions), len(groups)-len(missing), float64(text)/1e6)
	reports := map[string]Report{}
	for _, n := range names {
		m := measures[n]
		rep := Score(set, n, m.results)
		reports[n] = rep
		printReport(w, rep, m, text)
	}
	if base, ok := reports["base"]; ok {
		if ours, ok := reports["librarian"]; ok {
			printRepositories(w, ours, base)
		}
	}
	if m := measures["librarian"]; m != nil {
		m.sure.print(w)
	}
	if m := measures["librarian"]; m != nil && opt.Out != "" {
		return writeResults(opt.Out, set, m.results)
	}
	return nil
}

func byRepository(set Set) [][]Question {
	var out [][]Question
	at := map[string]int{}
	for _, q := range set.Questions {
		k := q.name + " " + q.Sha
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], q)
	}
	return out
}

func open(ctx context.Context, opt Options, q Question) (codesearch.Source, error) {
	dir := filepath.Join(opt.Repos, strings.ReplaceAll(q.Repo, "/", "+"))
	for _, d := range []string{filepath.Join(dir, "repo", ".git"), filepath.Join(dir, "repo"), filepath.Join(dir, ".git"), dir} {
		if _, err := os.Stat(filepath.Join(d, "HEAD")); err == nil {
			return opt.Open(ctx, d, q.Sha)
		}
	}
	return nil, fmt.Errorf("no bare repository at %s", dir)
}

func textSize(ctx context.Context, src codesearch.Source) (n int64, err error) {
	err = eachFile(ctx, src, func(_ string, text []byte) error { n += int64(len(text)); return nil })
	return n, err
}

func measureOne(ctx context.Context, name string, src codesearch.Source, qs, others []Question, m *measure) error {
	s, err := newSystem(name)
	if err != nil {
		return err
	}
	defer s.close()
	start := time.Now()
	size, err := s.index(ctx, src)
	if err != nil {
		return err
	}
	m.index += time.Since(start)
	m.size += size
	for _, q := range qs {
		start := time.Now()
		res, err := s.search(ctx, q.Text)
		if err != nil {
			return err
		}
		m.queries = append(m.queries, time.Since(start))
		m.results[q.ID] = res
	}
	if ranked, ok := s.(*rankedSystem); ok && name == "librarian" {
		return m.sure.measure(ctx, ranked.ix, qs, others)
	}
	return nil
}

func printReport(w io.Writer, r Report, m *measure, text int64) {
	cost := fmt.Sprintf("index %.1f s, nothing on disk", m.index.Seconds())
	if m.size > 0 {
		cost = fmt.Sprintf("index %.1f s, %.1f MB (%.1f %% of the text)", m.index.Seconds(), float64(m.size)/1e6, 100*float64(m.size)/float64(max(text, 1)))
	}
	cost += fmt.Sprintf(", query p50 %.1f ms p95 %.1f ms", ms(quantile(m.queries, .5)), ms(quantile(m.queries, .95)))
	if r.Format == formatNDCG {
		fmt.Fprintf(w, "%-10s NDCG@10 %.4f (micro %.4f)  %s  |  %s\n", r.System, r.NDCG, r.NDCGMicro, pairs(r.ByKind), cost)
		fmt.Fprintf(w, "%-10s by language: %s\n", "", pairs(r.ByLang))
		return
	}
	fmt.Fprintf(w, "%-10s file @1 %.3f @5 %.3f @10 %.3f MRR %.3f | function @1 %.3f @5 %.3f @10 %.3f MRR %.3f | gold function @1 %.3f @5 %.3f @10 %.3f  |  %s\n", r.System,
		r.File.At1, r.File.At5, r.File.At10, r.File.MRR, r.Function.At1, r.Function.At5, r.Function.At10, r.Function.MRR,
		r.GoldFunction.At1, r.GoldFunction.At5, r.GoldFunction.At10, cost)
	fmt.Fprintf(w, "%-10s file MRR by language: %s\n%-10s by kind: %s\n", "", pairs(r.ByLang), "", pairs(r.ByKind))
	for _, k := range sortedKeys(r.ByHard) {
		a := r.ByHard[k]
		fmt.Fprintf(w, "%-10s %s: file @1 %.3f @5 %.3f @10 %.3f\n", "", k, a.At1, a.At5, a.At10)
	}
}

// printRepositories sets each repository beside what base gives.
func printRepositories(w io.Writer, ours, base Report) {
	what := "file MRR"
	if ours.Format == formatNDCG {
		what = "NDCG@10"
	}
	fmt.Fprintf(w, "%s by repository (base):\n", what)
	for _, k := range sortedKeys(ours.ByRepo) {
		note := ""
		if ours.ByRepo[k] < base.ByRepo[k] {
			note = "  below base"
		}
		fmt.Fprintf(w, "  %-28s %.3f (%.3f)%s\n", k, ours.ByRepo[k], base.ByRepo[k], note)
	}
}

func pairs(m map[string]float64) string {
	var out []string
	for _, k := range sortedKeys(m) {
		out = append(out, fmt.Sprintf("%s %.3f", k, m[k]))
	}
	return strings.Join(out, "  ")
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func writeResults(path string, set Set, results map[string][]Result) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("bench: results: %w", err)
	}
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for _, q := range set.Questions {
		if err = enc.Encode(struct {
			ID      string   `json:"id"`
			Results []Result `json:"results"`
		}{q.ID, results[q.ID]}); err != nil {
			break
		}
	}
	if e := w.Flush(); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("bench: results: %w", err)
	}
	return nil
}
