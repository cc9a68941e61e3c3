package history

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"
)

// ere writes an RE2 pattern as the POSIX extended expression that git's -G
// understands, so that "\d" and the like mean what they mean everywhere else.
// Git compares bytes in the C locale: a character beyond ASCII is several of
// them, which is told apart only within a class.
func ere(pattern string) (string, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := writeERE(&b, re); err != nil {
		return "", err
	}
	return b.String(), nil
}

func writeERE(b *strings.Builder, re *syntax.Regexp) error {
	group := func(sub *syntax.Regexp, suffix string) error {
		b.WriteByte('(')
		err := writeERE(b, sub)
		b.WriteString(")" + suffix)
		return err
	}
	switch re.Op {
	case syntax.OpEmptyMatch:
		b.WriteString("()")
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			switch fold := unicode.SimpleFold(r); {
			case re.Flags&syntax.FoldCase != 0 && fold != r && r < 0x80:
				fmt.Fprintf(b, "[%c%c]", unicode.ToLower(r), unicode.ToUpper(r))
			case strings.ContainsRune(`\.[]{}()*+?^$|`, r):
				b.WriteString(`\` + string(r))
			default:
				b.WriteRune(r)
			}
		}
	case syntax.OpCharClass:
		return writeClass(b, re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('.')
	case syntax.OpBeginLine, syntax.OpBeginText:
		b.WriteByte('^')
	case syntax.OpEndLine, syntax.OpEndText:
		b.WriteByte('$')
	case syntax.OpWordBoundary:
		b.WriteString(`\b`)
	case syntax.OpNoWordBoundary:
		b.WriteString(`\B`)
	case syntax.OpCapture:
		return group(re.Sub[0], "")
	case syntax.OpStar:
		return group(re.Sub[0], "*")
	case syntax.OpPlus:
		return group(re.Sub[0], "+")
	case syntax.OpQuest:
		return group(re.Sub[0], "?")
	case syntax.OpRepeat:
		switch {
		case re.Max < 0:
			return group(re.Sub[0], fmt.Sprintf("{%d,}", re.Min))
		default:
			return group(re.Sub[0], fmt.Sprintf("{%d,%d}", re.Min, re.Max))
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if sub.Op == syntax.OpAlternate {
				if err := group(sub, ""); err != nil {
					return err
				}
			} else if err := writeERE(b, sub); err != nil {
				return err
			}
		}
	case syntax.OpAlternate:
		for i, sub := range re.Sub {
			if i > 0 {
				b.WriteByte('|')
			}
			if err := writeERE(b, sub); err != nil {
				return err
			}
		}
	default:
		return errNothing
	}
	return nil
}

var (
	errNothing = errors.New("it matches nothing")
	errWide    = errors.New("it has a large class of characters beyond ASCII, which git cannot look for")
)

// writeClass writes a set of characters as a bracket expression. A set that
// goes on to the last character is written as what it leaves out.
func writeClass(b *strings.Builder, ranges []rune) error {
	if len(ranges) == 0 {
		return errNothing
	}
	not := ranges[len(ranges)-1] == unicode.MaxRune
	var in [0x80]bool
	wide := ""
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1] && r < 0x80; r++ {
			in[r] = true
		}
		if !not && ranges[i+1] >= 0x80 {
			if ranges[i+1]-ranges[i] > 256 || len(wide) > 4000 {
				return errWide
			}
			for r := max(ranges[i], 0x80); r <= ranges[i+1]; r++ {
				wide += "|" + string(r)
			}
		}
	}
	var set, first, last strings.Builder // "]" comes first and "-" last, where they mean themselves
	n := 0
	for r := range rune(0x80) {
		if in[r] == not || r == 0 || r == '\n' {
			continue
		}
		n++
		switch r {
		case ']':
			first.WriteRune(r)
		case '-', '^':
			last.WriteRune(r)
		default:
			set.WriteRune(r)
		}
	}
	end := last.String()
	if strings.Contains(end, "-") {
		end = strings.ReplaceAll(end, "-", "") + "-"
	}
	text := first.String() + set.String() + end
	switch {
	case not && n == 0:
		b.WriteByte('.')
	case not:
		b.WriteString("[^" + text + "]")
	case n == 0 && wide != "":
		b.WriteString("(" + wide[1:] + ")")
	case n == 0:
		return errWide
	case text == "^":
		b.WriteString(`(\^` + wide + ")")
	case text == "^-":
		b.WriteString(`([-^]` + wide + ")")
	default:
		b.WriteString("([" + text + "]" + wide + ")")
	}
	return nil
}
