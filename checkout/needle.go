package checkout

import "bytes"

// needle is plain text to look for. It is found by its rarest byte, which on
// code is several times faster than by its first.
type needle struct {
	text []byte
	fold bool     // in either case; text is lower-case ASCII then
	at   int      // of the byte in text to look for
	low  byte     // that byte
	high byte     // the same in upper case; low again where there is no other
	pair bytePair // with fold
}

// bytePair are two bytes of a needle, the rarest ones, to look for at once.
type bytePair struct {
	at, gap               int // of the first, and from there to the second; gap is 0 where there is no other
	first, second         byte
	foldFirst, foldSecond byte // what sets a letter of either case in lower case
}

// usual lists ASCII as it is found in code, what is most frequent first. Counted
// over 6,000 files of Linux and of Go's standard library.
const usual = " et\tr\ni_nsaocd0lu,fpm()xhEg.ST1b=A/RvI-;2C*\"PDONLMy:kw3{}4F6>8BU5GVH97[]#&Xq<WKY\\+z|%!'Qj$Z@`J~^?"

// rarity tells how rare a byte is in code: 0 is the most frequent.
var rarity = func() (t [256]uint8) {
	for i := range t {
		t[i] = uint8(len(usual)) // control characters and what is beyond ASCII
	}
	for i := range len(usual) {
		t[usual[i]] = uint8(i)
	}
	return t
}()

// lower is ASCII in lower case; other bytes stay.
var lower = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if i >= 'A' && i <= 'Z' {
			t[i] += 'a' - 'A'
		}
	}
	return t
}()

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}

// newNeedle takes text over; it must not be empty.
func newNeedle(text []byte, fold bool) *needle {
	n := &needle{text: text, fold: fold}
	if fold {
		n.fold = false
		for i, c := range text {
			text[i] = lower[c]
			n.fold = n.fold || upper(text[i]) != text[i]
		}
	}
	best := -1
	for i := range text {
		if r := n.rarityAt(i); r > best {
			best, n.at = r, i
		}
	}
	n.low = text[n.at]
	n.high = n.low
	if n.fold {
		n.high, n.pair = upper(n.low), n.rarestPair()
	}
	return n
}

// rarestPair takes the rarest byte and the next rarest that is another one, if there is.
func (n *needle) rarestPair() bytePair {
	best, other := -1, n.at
	for i, c := range n.text {
		r := n.rarityAt(i)
		if c != n.low {
			r += len(rarity)
		}
		if i != n.at && r > best {
			best, other = r, i
		}
	}
	a, b := min(n.at, other), max(n.at, other)
	fold := func(i int) byte {
		if upper(n.text[i]) != n.text[i] {
			return 'a' - 'A'
		}
		return 0
	}
	return bytePair{at: a, gap: b - a, first: n.text[a], second: n.text[b], foldFirst: fold(a), foldSecond: fold(b)}
}

func (n *needle) rarityAt(i int) int {
	c := n.text[i]
	if n.fold && upper(c) != c {
		return min(int(rarity[c]), int(rarity[upper(c)])) / 2 // two bytes to look for
	}
	return int(rarity[c])
}

// worth tells how much looking for the needle first saves: longer and rarer is better.
func (n *needle) worth() int { return 12*min(len(n.text), 6) + n.rarityAt(n.at) }

// foldWindow is how far ahead one case of a letter is looked for before the
// other is: so text that has only one of them is not read to its end for each
// place.
const foldWindow = 4096

// index gives the offset of the first place in b, -1 if there is none. It gives
// up, ok is false, where the rarest byte is not rare at all and looking for it
// would take longer than reading; nothing before upTo is a place then.
func (n *needle) index(b []byte) (i, upTo int, ok bool) {
	if !n.fold {
		return n.exact(b), 0, true
	}
	if hasPairs && n.pair.gap > 0 {
		return n.byPair(b)
	}
	return n.byCase(b)
}

// byCase looks for either case of the rarest byte.
func (n *needle) byCase(b []byte) (i, upTo int, ok bool) {
	end := len(b) - len(n.text) + n.at + 1 // the byte stands before it
	tries := 0
	for from := n.at; from < end; from += foldWindow {
		w := b[from:min(end, from+foldWindow)]
		l, h := indexFrom(w, 0, n.low), len(w)
		if n.high != n.low {
			h = indexFrom(w, 0, n.high)
		}
		for l < len(w) || h < len(w) {
			at := min(l, h)
			start := from + at - n.at
			if n.foldsTo(b[start : start+len(n.text)]) {
				return start, 0, true
			}
			if tries++; tries > 64+(from+at)/8 {
				return -1, start + 1, false
			}
			if at == l {
				l = indexFrom(w, at+1, n.low)
			} else {
				h = indexFrom(w, at+1, n.high)
			}
		}
	}
	return -1, 0, true
}

// indexFrom gives where c is from a place on, len(b) if it is not.
func indexFrom(b []byte, from int, c byte) int {
	if i := bytes.IndexByte(b[from:], c); i >= 0 {
		return from + i
	}
	return len(b)
}

// byPair looks for the two rarest bytes at once: one of them in two cases is
// mostly not rare, both are. It needs hasPairs and a pair.
func (n *needle) byPair(b []byte) (i, upTo int, ok bool) {
	p, tries := &n.pair, 0
	end := len(b) - len(n.text) + 1 // of the places
	for start := 0; start < end; start++ {
		if places := end - start; places >= minPlaces {
			i := indexPair(b[start+p.at:], places, p.gap, p.first, p.second, p.foldFirst, p.foldSecond)
			if i < 0 {
				break
			}
			start += i
			if tries++; tries > 64+start/8 {
				return -1, start, false
			}
		}
		if n.foldsTo(b[start : start+len(n.text)]) {
			return start, 0, true
		}
	}
	return -1, 0, true
}

func (n *needle) foldsTo(b []byte) bool {
	for i, c := range n.text {
		if lower[b[i]] != c {
			return false
		}
	}
	return true
}

func (n *needle) exact(b []byte) int {
	if len(n.text) == 1 {
		return bytes.IndexByte(b, n.low)
	}
	end := len(b) - len(n.text) + n.at + 1
	tries := 0
	for at := n.at; at < end; {
		i := bytes.IndexByte(b[at:end], n.low)
		if i < 0 {
			return -1
		}
		start := at + i - n.at
		if bytes.Equal(b[start:start+len(n.text)], n.text) {
			return start
		}
		at += i + 1
		if tries++; tries > 16+at/16 { // not rare here: the standard library's way has no bad case
			if i = bytes.Index(b[start+1:], n.text); i >= 0 {
				i += start + 1
			}
			return i
		}
	}
	return -1
}
