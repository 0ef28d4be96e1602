// Package dfa finds the lines that a regular expression matches, in time that
// grows with the text alone. It says that a line matches, not where: the
// automaton is made of the program that package regexp runs, a state being the
// set of its instructions that are possible at a place, and states are made
// when a text first leads to them.
package dfa

import "regexp/syntax"

// Program is an expression, ready to be matched. It is shared by Matchers.
type Program struct {
	prog   *syntax.Prog
	stripR bool       // a carriage return before the end of a line is no part of it
	class  [256]uint8 // of a byte: those of a class are not told apart
	first  [256]byte  // a byte of each class
	shift  uint       // log₂ of the room for the classes
}

// The classes that are always there.
const (
	lineFeed = iota // the end of a line
	carriage        // looked at, because it may be part of the end
	wide            // the beginning of a rune that is no byte
	others          // the first of the other classes
)

// Compile makes a program of what syntax.Compile returns. With stripR the
// carriage return of a line that ends with both characters is not part of the
// line, nor is one at the end of the text.
func Compile(prog *syntax.Prog, stripR bool) *Program {
	p := &Program{prog: prog, stripR: stripR}
	for b := range p.class {
		p.class[b] = others
		if b >= 0x80 {
			p.class[b] = wide
		}
	}
	p.class['\n'], p.class['\r'] = lineFeed, carriage
	next := uint8(others + 1)
	// split parts every class into the bytes of which is is true and the rest.
	split := func(is func(r rune) bool) {
		var in, out [256]int
		for b := range 0x80 {
			if is(rune(b)) {
				in[p.class[b]]++
			} else {
				out[p.class[b]]++
			}
		}
		var parted [256]uint8
		for b := range 0x80 {
			if c := p.class[b]; c >= others && in[c] > 0 && out[c] > 0 && is(rune(b)) {
				if parted[c] == 0 {
					parted[c] = next
					next++
				}
				p.class[b] = parted[c]
			}
		}
	}
	for i := range prog.Inst {
		in := &prog.Inst[i]
		switch in.Op {
		case syntax.InstRune, syntax.InstRune1:
			split(in.MatchRune)
		case syntax.InstEmptyWidth:
			split(syntax.IsWordChar)
		}
	}
	for b := 0x7f; b >= 0; b-- {
		p.first[p.class[b]] = byte(b)
	}
	for 1<<p.shift < int(next) {
		p.shift++
	}
	return p
}

// takes reports whether an instruction takes a rune.
func takes(in *syntax.Inst, r rune) bool {
	switch in.Op {
	case syntax.InstRune, syntax.InstRune1:
		return in.MatchRune(r)
	case syntax.InstRuneAny:
		return true
	case syntax.InstRuneAnyNotNL:
		return r != '\n'
	}
	return false
}
