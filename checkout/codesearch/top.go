package codesearch

import (
	"sort"
)

type hit struct {
	chunk uint32
	score float64
}

// topHits gives the k best, in order; ties go to the earlier chunk, so that the same tree gives the same answer.
func topHits(hits []hit, k int) []hit {
	less := func(a, b hit) bool { return a.score > b.score || a.score == b.score && a.chunk < b.chunk }
	if len(hits) > 4*k {
		// Cut at the k-th best score first: sorting everything would cost more than scoring did.
		scores := make([]float64, 0, len(hits))
		for _, h := range hits {
			scores = append(scores, h.score)
		}
		cutoff := kthLargest(scores, k)
		kept := hits[:0]
		for _, h := range hits {
			if h.score >= cutoff {
				kept = append(kept, h)
			}
		}
		hits = kept
	}
	sort.Slice(hits, func(i, j int) bool { return less(hits[i], hits[j]) })
	return hits[:min(k, len(hits))]
}

// kthLargest selects in place, in linear time.
func kthLargest(a []float64, k int) float64 {
	lo, hi := 0, len(a)-1
	k--
	for lo < hi {
		p := a[(lo+hi)/2]
		i, j := lo, hi
		for i <= j {
			for a[i] > p {
				i++
			}
			for a[j] < p {
				j--
			}
			if i <= j {
				a[i], a[j] = a[j], a[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return a[k]
		}
	}
	return a[k]
}
