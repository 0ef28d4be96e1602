package dfa

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// Matcher matches one text after another. Each goroutine has its own.
type Matcher struct {
	p *Program

	// Of every state, 1<<p.shift next states by the class of the next byte.
	// States are named by where their row begins.
	next []state
	// The same for the next two bytes, of the first maxPaired states: names are
	// 1<<p.shift times as large, and all that are none are unknown.
	pairs  []state
	paired int // states below that name have them
	states []set
	byKey  map[string]state
	wide   map[wideKey]state
	used   int // bytes of memory, about
	age    int // how often states were dropped
	always bool

	steps int // that were worked out since states were dropped
	bytes int // that were read since then
	slow  int // how often that was not worth it
	done  bool

	list, work []uint32
	seen       []uint32 // by instruction: the round in which it was met
	round      uint32
	key        []byte
}

// state names a state. The first few are none.
type state uint32

const (
	unknown state = iota // not yet worked out
	matched              // the line matches, whatever follows
	special              // depends on more than the byte's class
	start   state = 1 << 8
)

// set is what a state means.
type set struct {
	insts []uint32 // possible instructions, those that wait for a condition included; sorted
	begin bool     // of a line
	word  bool     // the last rune was a word character
}

type wideKey struct {
	at state
	r  rune
}

// Bounds of what a Matcher remembers.
const (
	maxBytes = 4 << 20
	// enough is how many bytes should be read for each step that is worked out.
	enough = 8
	// patience is for how many times less than enough is put up with.
	patience = 8

	maxPaired  = 256
	pairedBits = 5 // log₂ of how many classes there may be for pairs
)

// New returns a matcher.
func (p *Program) New() *Matcher {
	m := &Matcher{p: p, seen: make([]uint32, len(p.prog.Inst))}
	m.reset()
	return m
}

// reset drops all states but start.
func (m *Matcher) reset() {
	m.next = append(m.next[:0], make([]state, start)...)
	m.states = append(m.states[:0], make([]set, start>>m.p.shift)...)
	m.pairs, m.paired = m.pairs[:0], 0
	if m.p.shift <= pairedBits {
		m.pairs, m.paired = append(m.pairs, make([]state, start<<m.p.shift)...), int(start)
	}
	m.byKey, m.wide = map[string]state{}, map[wideKey]state{}
	m.used, m.steps, m.bytes = 0, 0, 0
	m.age++
	m.open()
	m.always = m.follow(uint32(m.p.prog.Start), 0)
	m.intern(true, false)
}

// Find looks for the first line that matches, from a line's beginning on. It
// returns a place in that line, or len(data). It returns false when the text
// leads to ever new states, from then on always: something else is faster.
func (m *Matcher) Find(data []byte, from int) (int, bool) {
	if m.always {
		return from, true
	}
	s, class, next := start, &m.p.class, m.next
	began := from
	single := from // up to there it is one byte after the other
	for i := from; i < len(data); {
		if i >= single && int(s) < m.paired && data[i] < utf8.RuneSelf {
			s, i = m.byPairs(s, data, i)
			if single = i + 2; i == len(data) {
				break
			}
		}
		c := state(class[data[i]])
		n := next[s+c]
		if n >= start {
			s = n
			i++
			continue
		}
		m.bytes += i + 1 - began
		if n == matched {
			return i, !m.done
		}
		n, size := m.slowly(s, data[i:], c)
		if n == matched || m.done {
			return i, !m.done
		}
		if c == carriage && i+1 == len(data) && m.p.stripR {
			return len(data), true
		}
		i += size
		s, next, began = n, m.next, i
	}
	m.bytes += max(len(data)-began, 0)
	if len(data) > from && data[len(data)-1] != '\n' && m.step(s, endOfLine) == matched {
		return len(data) - 1, true
	}
	return len(data), true
}

// byPairs takes steps of two bytes as long as it can: the time of a step is that
// of waiting for the state before it. s is below m.paired.
func (m *Matcher) byPairs(s state, data []byte, i int) (state, int) {
	class, pairs, shift := &m.p.class, m.pairs, m.p.shift&7 // no more than pairedBits; so the compiler knows that it is small
	for s <<= shift; i+1 < len(data); i += 2 {
		a, b := state(class[data[i]]), state(class[data[i+1]])
		at := s + (a<<shift + b)
		if int(at) >= len(pairs) {
			break
		}
		n := pairs[at]
		if n == unknown {
			if n = m.next[s>>shift+a]; n < start {
				break
			}
			if n = m.next[n+b]; n < start {
				break
			}
			n <<= shift
			pairs[at] = n
		}
		s = n
	}
	return s >> shift, i
}

// endOfLine is the rune after the last one.
const endOfLine rune = -1

// slowly takes a step that is not in the table: one that has yet to be worked
// out, or one that depends on more bytes than one. It returns the next state
// and how many bytes it took.
func (m *Matcher) slowly(s state, data []byte, c state) (state, int) {
	switch c {
	case carriage:
		if m.p.stripR && len(data) == 1 {
			return m.stepWide(s, endOfLine), 1
		}
		if m.p.stripR && data[1] == '\n' {
			return m.stepWide(s, endOfLine), 2
		}
		return m.stepWide(s, '\r'), 1
	case wide:
		r, size := utf8.DecodeRune(data)
		return m.stepWide(s, r), size
	}
	r := rune(m.p.first[c])
	if c == lineFeed {
		r = endOfLine
	}
	age := m.age
	n := m.step(s, r)
	if m.age == age { // s is still there
		m.next[s+c] = n
	}
	return n, 1
}

// maxWide bounds the steps that are remembered apart from the table.
const maxWide = 1 << 14

// stepWide takes a step that has no place in the table.
func (m *Matcher) stepWide(s state, r rune) state {
	k := wideKey{s, r}
	if n, ok := m.wide[k]; ok {
		return n
	}
	age := m.age
	n := m.step(s, r)
	if m.age == age {
		if len(m.wide) == maxWide {
			clear(m.wide)
		}
		m.wide[k] = n
	}
	return n
}

// step works out what follows a state.
func (m *Matcher) step(s state, r rune) state {
	from := m.states[s>>m.p.shift]
	m.steps++
	var cond syntax.EmptyOp
	if from.begin {
		cond |= syntax.EmptyBeginText | syntax.EmptyBeginLine
	}
	isWord := false
	if r == endOfLine {
		cond |= syntax.EmptyEndText | syntax.EmptyEndLine
	} else {
		isWord = syntax.IsWordChar(r)
	}
	if isWord != from.word {
		cond |= syntax.EmptyWordBoundary
	} else {
		cond |= syntax.EmptyNoWordBoundary
	}
	// What the conditions of this place allow.
	m.open()
	for _, pc := range from.insts {
		if m.follow(pc, cond) {
			return matched
		}
	}
	if r == endOfLine {
		return start
	}
	m.work, m.list = m.list, m.work
	m.open()
	for _, pc := range m.work {
		in := &m.p.prog.Inst[pc]
		if takes(in, r) && m.follow(in.Out, 0) {
			return matched
		}
	}
	if m.follow(uint32(m.p.prog.Start), 0) { // a match may begin anywhere
		return matched
	}
	return m.intern(false, isWord)
}

// open begins a new list of instructions.
func (m *Matcher) open() {
	m.list = m.list[:0]
	if m.round++; m.round == 0 {
		clear(m.seen)
		m.round = 1
	}
}

// follow adds to the list what can be reached from pc without taking a rune,
// under conditions that hold. It reports whether that is a match.
func (m *Matcher) follow(pc uint32, cond syntax.EmptyOp) bool {
	stack := []uint32{pc}
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if m.seen[pc] == m.round {
			continue
		}
		m.seen[pc] = m.round
		switch in := &m.p.prog.Inst[pc]; in.Op {
		case syntax.InstMatch:
			return true
		case syntax.InstFail:
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, in.Arg, in.Out)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^cond == 0 {
				stack = append(stack, in.Out)
			} else if cond == 0 {
				m.list = append(m.list, pc)
			}
		default:
			m.list = append(m.list, pc)
		}
	}
	return false
}

// intern returns the state that the list stands for.
func (m *Matcher) intern(begin, word bool) state {
	slices.Sort(m.list)
	m.key = m.key[:0]
	for _, pc := range m.list {
		m.key = binary.AppendUvarint(m.key, uint64(pc))
	}
	flags := byte(0)
	if begin {
		flags |= 1
	}
	if word {
		flags |= 2
	}
	m.key = append(m.key, flags)
	if s, ok := m.byKey[string(m.key)]; ok {
		return s
	}
	row := 1 << m.p.shift
	if m.used > maxBytes {
		list := slices.Clone(m.list)
		if m.bytes < enough*m.steps {
			if m.slow++; m.slow >= patience {
				m.done = true
			}
		}
		m.reset()
		m.list = list
		return m.intern(begin, word)
	}
	s := state(len(m.next))
	m.next = append(m.next, make([]state, row)...)
	for _, c := range []state{carriage, wide} {
		m.next[s+c] = special
	}
	if m.paired == int(s) && len(m.states) < maxPaired+int(start>>m.p.shift) {
		m.pairs = append(m.pairs, make([]state, row*row)...)
		m.paired += row
		m.used += 4 * row * row
	}
	m.states = append(m.states, set{slices.Clone(m.list), begin, word})
	m.byKey[string(m.key)] = s
	m.used += 4*row + 5*len(m.list) + 100
	return s
}
