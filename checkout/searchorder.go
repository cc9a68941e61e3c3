package checkout

import (
	"math/bits"
	"slices"
)

// searchOrder is the order in which a search goes through files. What stops at a
// limit finds enough soon, and from more than one end of the tree, if runs of files
// all over it come first: by path alone a hundred matches of what stands everywhere
// but in the documentation would be those that come right after that. The order
// depends on the files alone, so that a search finds the same every time.
type searchOrder struct {
	runs [][]int32 // to come first
	take int       // of them next
	rest []int32   // what is between them, by path
	size int       // of the next batch of that
}

const (
	sampleFrom = 4096 // files from which on there are runs
	sampleRuns = 64   // a power of two
	runLength  = 16   // files of a run; mostly of one folder
)

func newSearchOrder(files []int32) *searchOrder {
	if len(files) < sampleFrom {
		return &searchOrder{rest: files, size: 32} // small at first, for those who find enough soon
	}
	o := &searchOrder{take: 2, rest: make([]int32, 0, len(files)), size: sampleRuns * runLength}
	stride := len(files) / sampleRuns
	for i := range sampleRuns {
		// Halves, quarters and so on: the next run is always in the widest gap.
		at := int(bits.Reverse64(uint64(i))>>(64-bits.TrailingZeros(sampleRuns))) * stride
		o.runs = append(o.runs, files[at:at+runLength])
		o.rest = append(o.rest, files[i*stride+runLength:(i+1)*stride]...)
	}
	o.rest = append(o.rest, files[sampleRuns*stride:]...)
	return o
}

// next gives the next files to search, in ascending order; none: that was all.
func (o *searchOrder) next(indexed bool) []int32 {
	var batch []int32
	if n := min(o.take, len(o.runs)); n > 0 {
		batch, o.runs = slices.Concat(o.runs[:n]...), o.runs[n:]
		slices.Sort(batch)
		o.take *= 2
		return batch
	}
	if indexed {
		o.size = max(o.size, 256) // most are left out
	}
	n := min(o.size, len(o.rest))
	batch, o.rest = o.rest[:n], o.rest[n:]
	o.size = min(2*o.size, 8192)
	return batch
}
