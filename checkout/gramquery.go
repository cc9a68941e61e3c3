package checkout

import (
	"cmp"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// gramQuery says which grams a file must hold for a pattern to match in it:
// all of grams, and for each of any one of its members at least. Nil asks for
// nothing. They are of normal text, see normalRune, and of shapes.
type gramQuery struct {
	grams []uint32 // hashed, what is rarest first
	any   [][]*gramQuery
}

const (
	// maxTexts bounds how many texts a part of a pattern is taken to stand for.
	maxTexts = 40
	// maxGrams bounds how many grams of one text are looked for.
	maxGrams = 48
)

// normalRune brings together what a pattern may not tell apart when it does not
// look at case: ASCII becomes lower case, and so do the two signs that fold to it.
// Text and pattern go through it alike, so that one index serves both kinds of search.
func normalRune(r rune) rune {
	switch {
	case r >= 'A' && r <= 'Z':
		return r + ('a' - 'A')
	case r == kelvin:
		return 'k'
	case r == longS:
		return 's'
	}
	return r
}

const (
	kelvin = '\u212a'
	longS  = '\u017f'
)

// gramsOf gives what a matcher's pattern asks for.
func gramsOf(m *matcher) *gramQuery {
	if m.tree == nil {
		text := string(m.needle.text)
		if !utf8.ValidString(text) {
			return nil // pieces of characters are not what the index keeps
		}
		return both(textWise.query([]string{normal(text)}), shapeWise.query([]string{shape(text)}))
	}
	return both(textWise.of(m.tree).asking(textWise), shapeWise.of(m.tree).asking(shapeWise))
}

func normal(s string) string {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		out = utf8.AppendRune(out, normalRune(r))
	}
	return string(out)
}

// part is what is known of a part of a pattern: the only texts that it matches,
// if they are few, else what it asks for and how its matches begin and end.
type part struct {
	texts []string // nil if they are not known
	asks  *gramQuery
	must  []string // texts of which every match holds one, as good to look for as there are; nil: none known
	head  []string // where texts are not known: those of which every match begins with one; nil: none known
	tail  []string // the same of its end
}

var emptyText = []string{""}

func (p part) asking(a *analysis) *gramQuery {
	if p.texts != nil {
		return a.query(p.texts)
	}
	return p.asks
}

// best gives texts of which every match holds one.
func (p part) best() []string { return better(p.must, p.texts) }

// ends gives what matches begin and end with, be it all of them.
func (p part) ends() (head, tail []string) {
	if p.texts != nil {
		return p.texts, p.texts
	}
	return p.head, p.tail
}

// analysis tells what is known of patterns, in texts of one kind.
type analysis struct {
	text  func(rune) string       // of a character
	grams func(t string) []uint32 // that a file must have to hold a text; none: nothing can be asked for
}

// There are three kinds: texts as they are, for those who look for them in
// files; what the index has trigrams of; and what it has shapes of.
var (
	exactly   = &analysis{text: func(r rune) string { return string(r) }, grams: func(string) []uint32 { return nil }}
	textWise  = &analysis{text: func(r rune) string { return string(normalRune(r)) }, grams: textGrams}
	shapeWise = &analysis{text: func(r rune) string { return shape(string(r)) }, grams: shapeGrams}
)

func (a *analysis) of(re *syntax.Regexp) part {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return part{texts: emptyText}
	case syntax.OpLiteral:
		c := chain{a: a}
		for _, r := range re.Rune {
			c.add(part{texts: a.runeTexts(r, re.Flags&syntax.FoldCase != 0)})
		}
		return c.part()
	case syntax.OpCharClass:
		return part{texts: a.classTexts(re.Rune)}
	case syntax.OpCapture:
		return a.of(re.Sub[0])
	case syntax.OpQuest:
		if p := a.of(re.Sub[0]); p.texts != nil && len(p.texts) < maxTexts {
			return part{texts: unite(p.texts, emptyText)}
		}
	case syntax.OpPlus:
		return a.repeated(a.of(re.Sub[0]), 1, true)
	case syntax.OpRepeat:
		return a.repeated(a.of(re.Sub[0]), min(re.Min, 4), re.Max != re.Min || re.Min > 4)
	case syntax.OpConcat:
		c := chain{a: a}
		for _, sub := range re.Sub {
			c.add(a.of(sub))
		}
		return c.part()
	case syntax.OpAlternate:
		return a.alternatives(re.Sub)
	default:
	}
	return part{}
}

// repeated gives what is known of something so many times in a row, or at least so many times.
func (a *analysis) repeated(p part, times int, more bool) part {
	c := chain{a: a}
	for range times {
		c.add(p)
	}
	p = c.part()
	if !more {
		return p
	}
	// However often it is there, it begins and ends with the fewest times.
	head, tail := p.ends()
	return part{asks: p.asking(a), must: p.best(), head: head, tail: tail}
}

func (a *analysis) alternatives(subs []*syntax.Regexp) part {
	texts := []string{}
	var must, heads, tails []string
	var asks []*gramQuery
	open := false
	for i, sub := range subs {
		p := a.of(sub)
		head, tail := p.ends()
		heads, tails = either(heads, head, i == 0), either(tails, tail, i == 0)
		must = either(must, p.best(), i == 0)
		q := p.asking(a)
		open = open || q == nil
		asks = append(asks, q)
		if p.texts == nil {
			texts = nil
		}
		if texts != nil {
			if texts = unite(texts, p.texts); len(texts) > maxTexts {
				texts = nil
			}
		}
	}
	switch {
	case texts != nil:
		return part{texts: texts}
	case open:
		return part{must: must, head: heads, tail: tails}
	}
	return part{must: must, head: heads, tail: tails, asks: &gramQuery{any: [][]*gramQuery{asks}}}
}

// either gives the texts of one or the other, nil if they are not known or too many.
func either(a, b []string, first bool) []string {
	if first {
		return b
	}
	if a == nil || b == nil || len(a)+len(b) > maxTexts {
		return nil
	}
	return unite(a, b)
}

// runeTexts gives the normal texts of a character of a pattern, nil for the one
// that bytes which are no UTF-8 are read as: the index has other text for those.
func (a *analysis) runeTexts(r rune, fold bool) []string {
	if r == utf8.RuneError {
		return nil
	}
	texts := []string{a.text(r)}
	if fold {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			texts = unite(texts, []string{a.text(f)})
		}
	}
	return texts
}

// classTexts gives the normal texts of a set of characters, nil if they are many.
func (a *analysis) classTexts(ranges []rune) []string {
	texts := []string{}
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i+1]-ranges[i] > 2*maxTexts {
			return nil
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if r == utf8.RuneError {
				return nil
			}
			if r == '\n' {
				continue // not in a line
			}
			if texts = unite(texts, []string{a.text(r)}); len(texts) > maxTexts {
				return nil
			}
		}
	}
	return texts
}

func unite(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// chain puts parts together that follow one another.
type chain struct {
	a     *analysis
	texts []string // what the last parts may be together; nil: nothing yet
	asks  *gramQuery
	must  []string
	head  []string // what it begins with, once texts are not all that there is
	cut   bool     // they are not
}

func (c *chain) add(p part) {
	if c.texts == nil {
		c.texts = emptyText
	}
	switch {
	case p.texts == nil:
		c.end(p.head)
		c.asks, c.must = both(c.asks, p.asks), better(c.must, p.must)
		if c.texts = p.tail; c.texts == nil {
			c.texts = emptyText
		}
	case len(c.texts)*len(p.texts) <= maxTexts:
		c.texts = cross(c.texts, p.texts)
	default:
		// Too many together: what was there is asked for, and its last bytes go on,
		// for the grams across the border.
		ends := lastOf(c.texts)
		c.end(nil)
		if len(ends)*len(p.texts) <= maxTexts {
			c.texts = cross(ends, p.texts)
		} else {
			c.texts = p.texts
		}
	}
}

// end ends the texts: what is known of what follows them is only how it begins.
func (c *chain) end(head []string) {
	if len(head) > 0 && len(c.texts)*len(head) <= maxTexts {
		c.texts = cross(c.texts, head)
	}
	c.asks, c.must = both(c.asks, c.a.query(c.texts)), better(c.must, c.texts)
	if !c.cut {
		c.head, c.cut = c.texts, true
	}
}

func (c *chain) part() part {
	switch {
	case c.texts == nil:
		return part{texts: emptyText}
	case !c.cut:
		return part{texts: c.texts}
	}
	return part{asks: both(c.asks, c.a.query(c.texts)), must: better(c.must, c.texts), head: c.head, tail: c.texts}
}

func cross(a, b []string) []string {
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func lastOf(texts []string) []string {
	out := make([]string, 0, len(texts))
	for _, t := range texts {
		out = append(out, t[max(0, len(t)-(shapeSize-1)):])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// both asks for what a and b ask for.
func both(a, b *gramQuery) *gramQuery {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return &gramQuery{grams: slices.Concat(a.grams, b.grams), any: slices.Concat(a.any, b.any)}
}

// query asks for one of the texts; nil if one of them has nothing that can be asked for.
func (a *analysis) query(texts []string) *gramQuery {
	var asks []*gramQuery
	for _, t := range texts {
		grams := a.grams(t)
		if len(grams) == 0 {
			return nil
		}
		asks = append(asks, &gramQuery{grams: grams})
	}
	if len(asks) == 1 {
		return asks[0]
	}
	return &gramQuery{any: [][]*gramQuery{asks}} // without texts: of no file
}

// textGrams gives a normal text's trigrams, those first that are likely to be rare.
func textGrams(t string) []uint32 {
	return gramsIn(t, 3, func(b string) (hash uint32, rare int) {
		for _, c := range []byte(b) {
			rare += int(min(rarity[c], rarity[upper(c)]))
		}
		return gramHash(uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])), rare
	})
}

// shapeGrams gives the grams of a shape that are not in nearly every file.
func shapeGrams(t string) []uint32 {
	return gramsIn(t, shapeSize, func(b string) (hash uint32, rare int) {
		gram := uint32(0)
		for _, c := range []byte(b) {
			gram = gram<<shapeBits | uint32(c)
			if c != shapeLower {
				rare++
			}
		}
		if rare == 0 {
			return 0, -1
		}
		return shapeHash(gram), rare
	})
}

// gramsIn gives the hashes of a text's pieces of some size, what is rarest first, without those whose rarity is below 0.
func gramsIn(t string, size int, hash func(string) (uint32, int)) []uint32 {
	type gram struct {
		hash uint32
		rare int
	}
	var grams []gram
	for i := 0; i+size <= len(t); i++ {
		if h, rare := hash(t[i : i+size]); rare >= 0 {
			grams = append(grams, gram{h, rare})
		}
	}
	slices.SortStableFunc(grams, func(a, b gram) int { return cmp.Compare(b.rare, a.rare) })
	var out []uint32
	for _, g := range grams {
		if len(out) < maxGrams && !slices.Contains(out, g.hash) {
			out = append(out, g.hash)
		}
	}
	return out
}

// in reports whether a file with these marks may match.
func (q *gramQuery) in(m marks) bool {
	for _, g := range q.grams {
		if !m.has(g) {
			return false
		}
	}
	for _, choice := range q.any {
		if !slices.ContainsFunc(choice, func(o *gramQuery) bool { return o.in(m) }) {
			return false
		}
	}
	return true
}
