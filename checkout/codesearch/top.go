package codesearch

import "slices"

type hit struct {
	chunk uint32
	score float64
}

// topHits gives the k best, in order; ties go to the earlier chunk, so that the same tree gives the same answer.
func topHits(hits []hit, k int) []hit {
	hits = leading(hits, k)
	slices.SortFunc(hits, func(a, b hit) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return int(a.chunk) - int(b.chunk)
	})
	return hits[:min(k, len(hits))]
}

// leading drops what is worse than the k-th best, in no order: sorting everything would cost more than scoring did.
func leading(hits []hit, k int) []hit {
	if len(hits) <= k {
		return hits
	}
	scores := make([]float64, len(hits))
	for i, h := range hits {
		scores[i] = h.score
	}
	cutoff := kthLargest(scores, k)
	kept := hits[:0]
	for _, h := range hits {
		if h.score >= cutoff {
			kept = append(kept, h)
		}
	}
	return kept
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
