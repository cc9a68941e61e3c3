package checkout

import (
	"cmp"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// gramQuery says which trigrams a file must hold for a pattern to match in it:
// all of grams, and for each of any one of its members at least. Nil asks for
// nothing. Trigrams are of normal text, see normalRune.
type gramQuery struct {
	grams []uint32 // hashed, what is rarest first
	any   [][]*gramQuery
}

const (
	// maxTexts bounds how many texts a part of a pattern is taken to stand for.
	maxTexts = 40
	// maxGrams bounds how many trigrams of one text are looked for.
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
		if !utf8.Valid(m.needle.text) {
			return nil // pieces of characters are not what the index keeps
		}
		return textQuery([]string{normal(string(m.needle.text))})
	}
	return analysis{normalRune}.of(m.tree).query()
}

func normal(s string) string {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		out = utf8.AppendRune(out, normalRune(r))
	}
	return string(out)
}

// part is what is known of a part of a pattern: the only texts that it matches,
// if they are few, else what it asks for.
type part struct {
	texts []string // normal; nil if they are not known
	asks  *gramQuery
	must  []string // texts of which every match holds one, as good to look for as there are; nil: none known
}

var emptyText = []string{""}

func (p part) query() *gramQuery {
	if p.texts != nil {
		return textQuery(p.texts)
	}
	return p.asks
}

// best gives texts of which every match holds one.
func (p part) best() []string { return better(p.must, p.texts) }

// analysis tells what is known of patterns.
type analysis struct {
	normal func(rune) rune // what of the text the texts are
}

func (a analysis) of(re *syntax.Regexp) part {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return part{texts: emptyText}
	case syntax.OpLiteral:
		var c chain
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
		p := a.of(re.Sub[0])
		return part{asks: p.query(), must: p.best()}
	case syntax.OpRepeat:
		var c chain
		p := a.of(re.Sub[0])
		for range min(re.Min, 4) {
			c.add(p)
		}
		if re.Max != re.Min || re.Min > 4 {
			c.add(part{}) // and whatever follows
		}
		return c.part()
	case syntax.OpConcat:
		var c chain
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

func (a analysis) alternatives(subs []*syntax.Regexp) part {
	texts := []string{}
	var must []string
	var asks []*gramQuery
	open := false
	for i, sub := range subs {
		p := a.of(sub)
		q := p.query()
		open = open || q == nil
		asks = append(asks, q)
		if best := p.best(); best == nil || i > 0 && must == nil || len(must)+len(best) > maxTexts {
			must = nil
		} else {
			must = unite(must, best)
		}
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
		return part{must: must}
	}
	return part{must: must, asks: &gramQuery{any: [][]*gramQuery{asks}}}
}

// runeTexts gives the normal texts of a character of a pattern, nil for the one
// that bytes which are no UTF-8 are read as: the index has other text for those.
func (a analysis) runeTexts(r rune, fold bool) []string {
	if r == utf8.RuneError {
		return nil
	}
	texts := []string{string(a.normal(r))}
	if fold {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			texts = unite(texts, []string{string(a.normal(f))})
		}
	}
	return texts
}

// classTexts gives the normal texts of a set of characters, nil if they are many.
func (a analysis) classTexts(ranges []rune) []string {
	texts := []string{}
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i+1]-ranges[i] > 2*maxTexts {
			return nil
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if r == utf8.RuneError {
				return nil
			}
			if texts = unite(texts, []string{string(a.normal(r))}); len(texts) > maxTexts {
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
	texts []string // what the last parts may be together; nil: nothing yet
	asks  *gramQuery
	must  []string
	cut   bool // texts are not all that there is
}

func (c *chain) add(p part) {
	if c.texts == nil {
		c.texts = emptyText
	}
	switch {
	case p.texts == nil:
		c.asks = both(c.asks, both(textQuery(c.texts), p.asks))
		c.must = better(better(c.must, c.texts), p.must)
		c.texts, c.cut = emptyText, true
	case len(c.texts)*len(p.texts) <= maxTexts:
		c.texts = cross(c.texts, p.texts)
	default:
		// Too many together: what was there is asked for, and its last two bytes
		// go on, for the trigrams across the border.
		c.asks, c.cut = both(c.asks, textQuery(c.texts)), true
		c.must = better(c.must, c.texts)
		if ends := lastTwo(c.texts); len(ends)*len(p.texts) <= maxTexts {
			c.texts = cross(ends, p.texts)
		} else {
			c.texts = p.texts
		}
	}
}

func (c *chain) part() part {
	switch {
	case c.texts == nil:
		return part{texts: emptyText}
	case !c.cut:
		return part{texts: c.texts}
	}
	return part{asks: both(c.asks, textQuery(c.texts)), must: better(c.must, c.texts)}
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

func lastTwo(texts []string) []string {
	out := make([]string, 0, len(texts))
	for _, t := range texts {
		out = append(out, t[max(0, len(t)-2):])
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

// textQuery asks for one of the texts; nil if one of them is too short to be asked for.
func textQuery(texts []string) *gramQuery {
	var asks []*gramQuery
	for _, t := range texts {
		if len(t) < 3 {
			return nil
		}
		asks = append(asks, &gramQuery{grams: textGrams(t)})
	}
	if len(asks) == 1 {
		return asks[0]
	}
	return &gramQuery{any: [][]*gramQuery{asks}} // without texts: of no file
}

// textGrams gives a normal text's trigrams, those first that are likely to be rare.
func textGrams(t string) []uint32 {
	type gram struct {
		hash uint32
		rare int
	}
	grams := make([]gram, 0, len(t)-2)
	for i := range len(t) - 2 {
		g := gram{hash: gramHash(uint32(t[i])<<16 | uint32(t[i+1])<<8 | uint32(t[i+2]))}
		for _, c := range []byte(t[i : i+3]) {
			g.rare += int(min(rarity[c], rarity[upper(c)]))
		}
		grams = append(grams, g)
	}
	slices.SortStableFunc(grams, func(a, b gram) int { return cmp.Compare(b.rare, a.rare) })
	out := make([]uint32, 0, min(len(grams), maxGrams))
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
