package checkout

import (
	"bytes"
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// matcher is a compiled pattern.
type matcher struct {
	tree   *syntax.Regexp
	prog   *syntax.Prog // nil if the pattern is plain text that can be searched for as it is
	needle *needle      // text that every match holds; nil if none is known
	choice *choice      // texts of which every match holds one, where looking for those is better than for the needle; nil: it is not
	wide   bool         // the pattern is not only ASCII, so old encodings must be made UTF-8 first
	ends   bool         // the pattern looks at line ends, so a CR before the LF must go
}

var errLineEnd = errors.New("a line never holds a line end")

// newMatcher compiles a pattern.
func newMatcher(o GrepOptions) (*matcher, error) {
	pattern := o.Pattern
	bad := func(err error) error { return &PatternError{Pattern: o.Pattern, Err: err} }
	switch {
	case pattern == "":
		return nil, bad(errors.New("it is empty"))
	case len(pattern) > 4000:
		return nil, bad(errors.New("it is longer than 4,000 bytes"))
	case o.Literal && strings.Contains(pattern, "\n"):
		return nil, bad(errLineEnd)
	case o.Literal && !o.IgnoreCase:
		// Not by way of the parser, so that bytes that are no UTF-8 are found too.
		return &matcher{needle: newNeedle([]byte(pattern), false), wide: !isASCII(pattern)}, nil
	case o.Literal:
		pattern = regexp.QuoteMeta(pattern)
	}
	flags := syntax.Perl &^ syntax.OneLine
	if o.IgnoreCase {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(pattern, flags)
	if err != nil {
		return nil, bad(err)
	}
	m := &matcher{tree: tree, wide: !isASCII(pattern)}
	perLine(tree, m)
	m.needle = required(tree)
	if m.needle != nil && bytes.Contains(m.needle.text, []byte("\n")) {
		return nil, bad(errLineEnd)
	}
	if tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase == 0 {
		return m, nil
	}
	if m.needle == nil || len(m.needle.text) < minWindow {
		m.choice = newChoice(exactly.of(tree).best())
	}
	if m.prog, err = syntax.Compile(tree.Simplify()); err != nil {
		return nil, bad(err)
	}
	if len(m.prog.Inst) > 20_000 {
		return nil, bad(errors.New("it is too large"))
	}
	return m, nil
}

// index finds the first place where a match may be. See needle.index and choice.index.
func (m *matcher) index(b []byte) (i, upTo int, ok bool) {
	if m.choice != nil {
		return m.choice.index(b)
	}
	return m.needle.index(b)
}

// filters reports whether there is something to look for that every match holds.
func (m *matcher) filters() bool { return m.needle != nil || m.choice != nil }

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// perLine makes the anchors of a text those of a line.
func perLine(re *syntax.Regexp, m *matcher) {
	switch re.Op {
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		re.Op = syntax.OpEndLine
		re.Flags &^= syntax.WasDollar
		m.ends = true
	case syntax.OpEndLine:
		m.ends = true
	default:
	}
	for _, sub := range re.Sub {
		perLine(sub, m)
	}
}

// required gives the text that is best looked for among those that every match
// must hold, nil if there is none.
func required(re *syntax.Regexp) *needle {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return requiredFold(re.Rune)
		}
		return newNeedle([]byte(string(re.Rune)), false)
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best *needle
		for _, sub := range re.Sub {
			if n := required(sub); n != nil && (best == nil || n.worth() > best.worth()) {
				best = n
			}
		}
		return best
	default:
	}
	return nil
}

// requiredFold gives the best piece of a text of which any case matches. Letters
// that fold to something beyond ASCII, as k to the Kelvin sign, are in none.
func requiredFold(text []rune) *needle {
	var best *needle
	var piece []byte
	for i := 0; i <= len(text); i++ {
		if i < len(text) && text[i] < utf8.RuneSelf && !strings.ContainsRune("kKsS", text[i]) {
			piece = append(piece, byte(text[i]))
			continue
		}
		if len(piece) > 0 {
			if n := newNeedle(piece, true); best == nil || n.worth() > best.worth() {
				best = n
			}
			piece = nil
		}
	}
	return best
}
