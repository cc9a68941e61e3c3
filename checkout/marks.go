package checkout

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// marks tell which trigrams a file's normal text may hold: for each the bit of
// its hash is set. There are a power of two of bits, at most a good quarter of them set,
// so a trigram that is not there is taken for one that is in about a fifth of the
// cases, and a word of ten letters in one of ten thousand.
type marks []byte

const (
	maxMarkBits = 18 // logarithm of the most bits that a file has
	minMarkBits = 6
	markLoad    = 0.3 // of the bits set, at most
)

// gramHash gives a trigram's hash, of maxMarkBits bits. Fewer bits are its last.
func gramHash(gram uint32) uint32 { return (gram << 8) * 0x9e3779b1 >> (32 - maxMarkBits) }

func (m marks) has(hash uint32) bool {
	hash &= uint32(len(m))*8 - 1
	return m[hash/8]&(1<<(hash%8)) != 0
}

// marker makes marks. It is not safe for concurrent use.
type marker struct {
	words [1 << maxMarkBits / 64]uint64
}

var kelvinText, longSText = []byte(string(kelvin)), []byte(string(longS))

// mark appends a text's marks to out and gives the logarithm of how many bits they have.
func (k *marker) mark(out []byte, text []byte) ([]byte, uint8) {
	if bytes.Contains(text, kelvinText) {
		text = bytes.ReplaceAll(text, kelvinText, []byte("k"))
	}
	if bytes.Contains(text, longSText) {
		text = bytes.ReplaceAll(text, longSText, []byte("s"))
	}
	words := &k.words
	clear(words[:])
	for len(text) > 0 {
		// No trigram of a pattern goes beyond a line.
		line := text[:lineEnd(text, 0)]
		text = text[min(len(line)+1, len(text)):]
		if len(line) < 3 {
			continue
		}
		gram := uint32(lower[line[0]])<<8 | uint32(lower[line[1]])
		for _, c := range line[2:] {
			gram = gram<<8 | uint32(lower[c])
			h := gramHash(gram)
			words[h/64] |= 1 << (h % 64)
		}
	}
	log, used := maxMarkBits, words[:]
	for {
		set := 0
		for _, w := range used {
			set += bits.OnesCount64(w)
		}
		before := log
		for log > minMarkBits && float64(set) <= markLoad*float64(uint(1)<<(log-1)) {
			half := len(used) / 2
			for i, w := range used[half:] {
				used[i] |= w
			}
			used = used[:half]
			log--
		}
		if log == before {
			break
		}
	}
	for _, w := range used {
		out = binary.LittleEndian.AppendUint64(out, w)
	}
	return out, uint8(log)
}
