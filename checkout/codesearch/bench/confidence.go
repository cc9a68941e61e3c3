package bench

import (
	"context"
	"fmt"
	"io"

	"github.com/librarian-app/librarian/checkout/codesearch"
)

// confidences are what the search thought of its own answers, by what they were.
type confidences struct {
	right []float64 // the right file was among the first three
	wrong []float64 // it was not
	other []float64 // the question was about another repository, so that nothing could be right
}

// putTo is to how many other repositories of its set a question is put.
const putTo = 2

// strangers are the questions of the next repositories: of all sets of questions, each is put to as many others.
func strangers(groups [][]Question, i int) (out []Question) {
	for k := 1; k <= putTo && k < len(groups); k++ {
		if g := groups[(i+k)%len(groups)]; g[0].Repo != groups[i][0].Repo {
			out = append(out, g...)
		}
	}
	return out
}

func (c *confidences) measure(ctx context.Context, ix *codesearch.Index, own, others []Question) error {
	for _, q := range own {
		res, err := ix.Search(ctx, codesearch.Query{Question: q.Text})
		if err != nil {
			return err
		}
		if amongFirst(q, res.Candidates, 3) {
			c.right = append(c.right, res.Confidence)
		} else {
			c.wrong = append(c.wrong, res.Confidence)
		}
	}
	for _, q := range others {
		res, err := ix.Search(ctx, codesearch.Query{Question: q.Text})
		if err != nil {
			return err
		}
		c.other = append(c.other, res.Confidence)
	}
	return nil
}

// amongFirst reports whether one of the first n different files is a right one.
func amongFirst(q Question, found []codesearch.Candidate, n int) bool {
	seen := map[string]bool{}
	for _, f := range found {
		if seen[f.Path] = true; len(seen) > n {
			return false
		}
		for _, places := range [][]Place{q.Gold, q.Also} {
			for _, p := range places {
				if matches(Result{Path: f.Path}, Place{Path: p.Path}) {
					return true
				}
			}
		}
	}
	return false
}

func (c *confidences) print(w io.Writer) {
	fmt.Fprintf(w, "answers whose confidence is at least so much (%.2f: shown; %.2f: shown without a doubt):\n", codesearch.ConfidenceEnough, codesearch.ConfidenceSure)
	for _, bound := range []float64{.1, .15, codesearch.ConfidenceEnough, .25, .3, .35, .4, .45, .5, .55, codesearch.ConfidenceSure, .7} {
		fmt.Fprintf(w, "  %.2f  right %s  wrong %s  about another repository %s\n", bound, pass(c.right, bound), pass(c.wrong, bound), pass(c.other, bound))
	}
}

func pass(all []float64, bound float64) string {
	n := 0
	for _, x := range all {
		if x >= bound {
			n++
		}
	}
	return fmt.Sprintf("%d/%d", n, len(all))
}
