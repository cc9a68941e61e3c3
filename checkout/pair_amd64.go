//go:build !purego

package checkout

import "golang.org/x/sys/cpu"

// hasPairs says that indexPair can be used.
var hasPairs = cpu.X86.HasAVX2

// indexPair gives the first place among n, at least minPlaces, where b holds one byte
// and, gap bytes further on, another, after what is set in the folds was set in
// them; -1 if there is none. b must have n+gap bytes. It looks at 32 places at a
// time, which the standard library only does for one byte: where that is not rare,
// most of the time goes into places that are none.
func indexPair(b []byte, n, gap int, first, second, foldFirst, foldSecond byte) int {
	_ = b[n+gap-1]
	return indexPairAVX2(&b[0], n, gap, first, second, foldFirst, foldSecond)
}

//go:noescape
func indexPairAVX2(b *byte, n, gap int, first, second, foldFirst, foldSecond byte) int
