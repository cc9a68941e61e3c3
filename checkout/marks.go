package checkout

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// marks tell which trigrams a stretch of a file's normal text may hold, and which
// shapes: for each the bit of its hash is set. There are a power of two of bits, at most a good
// quarter of them set, so a trigram that is not there is taken for one that is in
// about a fifth of the cases, and a word of ten letters in one of ten thousand.
//
// A stretch is whole lines, because matches are: what a pattern asks for must be
// near together then, which in a long file says much more than that it is all
// somewhere.
type marks []byte

const (
	maxMarkBits = 16 // logarithm of the most bits that a stretch has
	minMarkBits = 6
	markLoad    = 0.3      // of the bits set, at most
	maxStretch  = 16 << 10 // bytes of text; more if a line is longer
)

// gramHash gives a trigram's hash, of maxMarkBits bits. Fewer bits are its last.
func gramHash(gram uint32) uint32 { return lastBits((gram << 8) * 0x9e3779b1) }

// lastBits gives the first bits of a product, which depend on all that was multiplied, and sees to it that the last ones of these do too.
func lastBits(product uint32) uint32 {
	return product>>(32-maxMarkBits) ^ product>>(32-minMarkBits)
}

// The shape of a text has for each of its bytes what kind it is of: a letter of
// either case, a digit, a space, of something beyond ASCII, or the one sign that it
// is. Pieces of shapeSize of it tell files apart where a pattern has no text in it but
// sets of characters, as [a-z]+[0-9]{3,}\(, and where the case of letters matters.
const (
	shapeSize = 4
	shapeBits = 6 // for a kind
)

// The kinds of bytes.
const (
	shapeLower byte = iota
	shapeUpper
	shapeDigit
	shapeSpace
	shapeWide
	shapeControl
	shapeSign // and further ones
)

// shapes gives a byte's kind.
var shapes = func() (t [256]byte) {
	sign := shapeSign
	for i := range t {
		switch c := byte(i); {
		case c >= 'a' && c <= 'z':
			t[i] = shapeLower
		case c >= 'A' && c <= 'Z':
			t[i] = shapeUpper
		case c >= '0' && c <= '9':
			t[i] = shapeDigit
		case c == ' ' || c >= '\t' && c <= '\r':
			t[i] = shapeSpace
		case c >= 0x80:
			t[i] = shapeWide
		case c < ' ' || c == 0x7f:
			t[i] = shapeControl
		default:
			t[i] = sign
			sign++
		}
	}
	return t
}()

// shape gives a text's shape. What folds to an ASCII letter counts as that: the index has it so.
func shape(s string) string {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		if n := normalRune(r); r >= utf8.RuneSelf {
			r = n
		}
		for _, c := range []byte(string(r)) {
			out = append(out, shapes[c])
		}
	}
	return string(out)
}

// shapeHash gives the hash of shapeSize bytes of a shape, of maxMarkBits bits.
func shapeHash(gram uint32) uint32 {
	return lastBits((gram << (32 - shapeSize*shapeBits)) * 0x85ebca6b)
}

func (m marks) has(hash uint32) bool {
	hash &= uint32(len(m))*8 - 1
	return m[hash/8]&(1<<(hash%8)) != 0
}

// marker makes marks. It is not safe for concurrent use.
type marker struct {
	words [1 << maxMarkBits / 64]uint64
}

var kelvinText, longSText = []byte(string(kelvin)), []byte(string(longS))

// markAll appends a text's stretches to out: their number, 2 bytes, and of each
// its length, 4 bytes, and its marks.
func (k *marker) markAll(out, text []byte) []byte {
	at, n := len(out), 0
	out = append(out, 0, 0)
	for len(text) > 0 {
		end := len(text)
		if end > maxStretch {
			end = min(lineEnd(text, maxStretch)+1, end)
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(end))
		out = k.mark(out, text[:end])
		text = text[end:]
		n++
	}
	binary.LittleEndian.PutUint16(out[at:], uint16(n))
	return out
}

// mark appends the marks of a stretch: the logarithm of how many bits there are, and the bits.
func (k *marker) mark(out, text []byte) []byte {
	if bytes.Contains(text, kelvinText) {
		text = bytes.ReplaceAll(text, kelvinText, []byte("k"))
	}
	if bytes.Contains(text, longSText) {
		text = bytes.ReplaceAll(text, longSText, []byte("s"))
	}
	words := &k.words
	clear(words[:])
	for len(text) > 0 {
		// No gram of a pattern goes beyond a line.
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
		gram = uint32(shapes[line[0]])<<(2*shapeBits) | uint32(shapes[line[1]])<<shapeBits | uint32(shapes[line[2]])
		for _, c := range line[3:] {
			gram = gram<<shapeBits | uint32(shapes[c])
			h := shapeHash(gram)
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
	out = append(out, byte(log))
	for _, w := range used {
		out = binary.LittleEndian.AppendUint64(out, w)
	}
	return out
}
