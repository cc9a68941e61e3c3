package checkout

import (
	"cmp"
	"slices"
)

// choice finds places where one of several texts may be, of which every match
// holds one. Of each text it looks at a window, all of one length, and skips as
// far as the two bytes at the end of a would-be window allow (Wu and Manber's
// way): most of a text is never read.
type choice struct {
	windows []string
	size    int            // bytes of a window
	skip    [1 << 16]uint8 // by two bytes, the second one high: how far the end of a window is at least
}

const (
	minWindow = 3
	maxWindow = 32
)

// newChoice gives nil if the texts are too short for it to pay.
func newChoice(texts []string) *choice {
	if len(texts) == 0 {
		return nil
	}
	c := &choice{size: min(maxWindow, shortest(texts))}
	if c.size < minWindow {
		return nil
	}
	for _, t := range texts {
		// What is at a window's end is come upon most, so it should be rare.
		best, at := -1, 0
		for i := 0; i+c.size <= len(t); i++ {
			if r := int(rarity[t[i+c.size-1]]) + int(rarity[t[i+c.size-2]]); r > best {
				best, at = r, i
			}
		}
		c.windows = append(c.windows, t[at:at+c.size])
	}
	slices.Sort(c.windows)
	c.windows = slices.Compact(c.windows)
	for i := range c.skip {
		c.skip[i] = uint8(c.size - 1)
	}
	for _, w := range c.windows {
		for i := range c.size - 1 {
			pair := &c.skip[int(w[i])|int(w[i+1])<<8]
			*pair = min(*pair, uint8(c.size-2-i))
		}
	}
	return c
}

// index gives the offset of the first place in b, -1 if there is none. It gives
// up, ok is false, where places that may be one are too many; nothing before upTo is one then.
func (c *choice) index(b []byte) (i, upTo int, ok bool) {
	tries := 0
	for i := c.size - 1; i < len(b); {
		if n := c.skip[int(b[i-1])|int(b[i])<<8]; n > 0 {
			i += int(n)
			continue
		}
		start := i + 1 - c.size
		if slices.Contains(c.windows, string(b[start:i+1])) {
			return start, 0, true
		}
		if tries++; tries > 64+i/8 {
			return -1, start, false
		}
		i++
	}
	return -1, 0, true
}

func shortest(texts []string) int {
	return len(slices.MinFunc(texts, func(a, b string) int { return cmp.Compare(len(a), len(b)) }))
}

// better gives those texts of which every match holds one that are better looked for: long ones, and few.
func better(a, b []string) []string {
	worth := func(texts []string) int {
		if len(texts) == 0 {
			return -1 << 30
		}
		return 8*min(shortest(texts), maxWindow) - len(texts)
	}
	if worth(b) > worth(a) {
		return b
	}
	return a
}
