package checkout

import (
	"bytes"
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// dfa tells which lines match a regular expression. It is built as it runs: a
// state is a set of places in the program of regexp/syntax, and what follows it
// on a character is worked out once and kept. So most of the text costs one
// look-up a byte, and the worst costs what the set is large, never more. The
// standard library's matcher has no such form and is five to ten times slower on
// whole trees. It is not safe for concurrent use; each worker has its own.
type dfa struct {
	prog   *syntax.Prog
	bounds []rune    // beyond ASCII: where a set of characters begins that the program treats alike
	start  *dfaState // at the begin of a line
	match  *dfaState // reached as soon as the line is known to match
	states map[string]*dfaState
	mark   []uint32 // by place: the round in which it was added, see add
	round  uint32
	stack  []uint32
}

// dfaState is a set of places, before what looks at the text around them.
type dfaState struct {
	pcs   []uint32
	prev  byte           // what came before: one of the before… values
	looks bool           // some place looks at what is around it
	next  [256]*dfaState // by byte of ASCII, what was worked out; the rest is nil, so that a byte needs no test
	wide  []*dfaState    // beyond ASCII, by class
}

const (
	beforeLine byte = iota
	beforeWord
	beforeOther
)

// maxStates bounds the memory of one dfa to about 5 MB; then it starts afresh.
const maxStates = 2000

func newDFA(prog *syntax.Prog) *dfa {
	d := &dfa{prog: prog, match: &dfaState{}, mark: make([]uint32, len(prog.Inst)), bounds: classBounds(prog)}
	d.reset()
	return d
}

func (d *dfa) reset() {
	d.states = map[string]*dfaState{}
	d.begin()
	d.start = d.state(d.add(nil, uint32(d.prog.Start), 0, false), beforeLine)
}

// find gives the offset of a place on the first line that matches, -1 if none
// does. b begins at the begin of a line.
func (d *dfa) find(b []byte) int {
	if d.start == d.match {
		if len(b) == 0 {
			return -1
		}
		return 0
	}
	st := d.start
	for i := 0; i < len(b); {
		nx := st.next[b[i]]
		if nx == nil {
			nx, w := d.follow(st, b[i:])
			if nx == d.match {
				return i
			}
			st = nx
			i += w
			continue
		}
		i++
		if nx != st {
			if nx == d.match {
				return i - 1
			}
			st = nx
			continue
		}
		// Most of a text changes nothing: eight bytes that each lead back to the
		// same state are looked at without waiting for one another.
		next := &st.next
		for len(b)-i >= 8 {
			c := b[i : i+8 : i+8]
			if next[c[0]] != st || next[c[1]] != st || next[c[2]] != st || next[c[3]] != st ||
				next[c[4]] != st || next[c[5]] != st || next[c[6]] != st || next[c[7]] != st {
				break
			}
			i += 8
		}
	}
	if len(b) > 0 && b[len(b)-1] != '\n' && d.step(st, '\n') == d.match {
		return len(b)
	}
	return -1
}

// follow gives the state after the first character of b, which was not come upon
// in this state or is beyond ASCII, and how many bytes it has.
func (d *dfa) follow(st *dfaState, b []byte) (*dfaState, int) {
	if b[0] < utf8.RuneSelf {
		nx := d.step(st, rune(b[0]))
		st.next[b[0]] = nx
		return nx, 1
	}
	r, w := utf8.DecodeRune(b)
	class := d.class(r)
	if st.wide == nil {
		st.wide = make([]*dfaState, len(d.bounds)+1)
	}
	if st.wide[class] == nil {
		st.wide[class] = d.step(st, r)
	}
	return st.wide[class], w
}

// classBounds lists where, beyond ASCII, one of the program's ranges begins or
// has just ended, cases that fold to each other included. Between two bounds
// all characters are alike.
func classBounds(prog *syntax.Prog) []rune {
	var out []rune
	add := func(lo, hi rune) {
		if hi >= utf8.RuneSelf {
			out = append(out, max(lo, utf8.RuneSelf), hi+1)
		}
	}
	for i := range prog.Inst {
		in := &prog.Inst[i]
		if in.Op != syntax.InstRune && in.Op != syntax.InstRune1 {
			continue
		}
		if len(in.Rune) == 1 {
			r := in.Rune[0]
			add(r, r)
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				add(f, f)
			}
		}
		for j := 0; j+1 < len(in.Rune); j += 2 {
			add(in.Rune[j], in.Rune[j+1])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// class gives the class of a character beyond ASCII.
func (d *dfa) class(r rune) int {
	if len(d.bounds) == 0 {
		return 0
	}
	i, found := slices.BinarySearch(d.bounds, r)
	if found {
		i++
	}
	return i
}

// step works out what follows a state on a character. A line end ends the line
// and begins the next.
func (d *dfa) step(st *dfaState, r rune) *dfaState {
	pcs := st.pcs
	if st.looks {
		var flags syntax.EmptyOp
		if st.prev == beforeLine {
			flags |= syntax.EmptyBeginLine
		}
		if r == '\n' {
			flags |= syntax.EmptyEndLine
		}
		if (st.prev == beforeWord) != (r != '\n' && syntax.IsWordChar(r)) {
			flags |= syntax.EmptyWordBoundary
		} else {
			flags |= syntax.EmptyNoWordBoundary
		}
		d.begin()
		var seen []uint32
		for _, pc := range pcs {
			if seen = d.add(seen, pc, flags, true); seen == nil {
				return d.match
			}
		}
		pcs = seen
	}
	if r == '\n' {
		return d.start
	}
	if len(d.states) > maxStates {
		d.reset()
	}
	d.begin()
	next := make([]uint32, 0, len(pcs)+4)
	for _, pc := range pcs {
		in := &d.prog.Inst[pc]
		switch in.Op {
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if in.MatchRune(r) {
				if next = d.add(next, in.Out, 0, false); next == nil {
					return d.match
				}
			}
		default:
		}
	}
	if next = d.add(next, uint32(d.prog.Start), 0, false); next == nil {
		return d.match
	}
	prev := beforeOther
	if syntax.IsWordChar(r) {
		prev = beforeWord
	}
	return d.state(next, prev)
}

// begin starts a new set.
func (d *dfa) begin() {
	if d.round++; d.round == 0 {
		clear(d.mark)
		d.round = 1
	}
}

// add adds to a set the places that pc leads to without a character: those
// that read one, and, while nothing is known of what is around (looked is
// false), those that look at it. It gives nil if the end is among them.
func (d *dfa) add(set []uint32, pc uint32, flags syntax.EmptyOp, looked bool) []uint32 {
	if set == nil {
		set = []uint32{}
	}
	d.stack = append(d.stack[:0], pc)
	for len(d.stack) > 0 {
		pc := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		if d.mark[pc] == d.round {
			continue
		}
		d.mark[pc] = d.round
		in := &d.prog.Inst[pc]
		switch in.Op {
		case syntax.InstMatch:
			return nil
		case syntax.InstFail:
		case syntax.InstAlt, syntax.InstAltMatch:
			d.stack = append(d.stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			d.stack = append(d.stack, in.Out)
		case syntax.InstEmptyWidth:
			switch {
			case !looked:
				set = append(set, pc)
			case syntax.EmptyOp(in.Arg)&^flags == 0:
				d.stack = append(d.stack, in.Out)
			}
		default:
			set = append(set, pc)
		}
	}
	return set
}

// state gives the one state of a set; nil is the match.
func (d *dfa) state(pcs []uint32, prev byte) *dfaState {
	if pcs == nil {
		return d.match
	}
	slices.Sort(pcs)
	var key bytes.Buffer
	key.WriteByte(prev)
	for _, pc := range pcs {
		_ = binary.Write(&key, binary.LittleEndian, pc)
	}
	if st := d.states[key.String()]; st != nil {
		return st
	}
	st := &dfaState{pcs: pcs, prev: prev}
	for _, pc := range pcs {
		st.looks = st.looks || d.prog.Inst[pc].Op == syntax.InstEmptyWidth
	}
	if !st.looks && prev != beforeLine {
		// Nobody looks back: what came before makes no difference.
		key.Bytes()[0] = beforeOther
		st.prev = beforeOther
		if other := d.states[key.String()]; other != nil {
			return other
		}
	}
	d.states[key.String()] = st
	return st
}
