package redact

import "slices"

// matcher finds many literals in one pass: tables of the first three bytes
// rule out nearly every place for the price of one or two look-ups.
type matcher struct {
	second  [256]uint64 // by first byte: the second bytes, modulo 64
	third   [256]uint64 // by second byte: the third bytes, modulo 64
	entries [256][]entry
}

type entry struct {
	literal string // lower case when fold
	fold    bool   // ASCII case does not matter
	rule    int

	// The first four bytes, or fewer, as one number: nearly every entry is
	// ruled out by it.
	head, mask, lower uint32
}

func (m *matcher) add(literal string, fold bool, rule int) {
	e := entry{literal: literal, fold: fold, rule: rule}
	for i := range min(len(literal), 4) {
		e.head |= uint32(literal[i]) << (8 * i)
		e.mask |= 0xff << (8 * i)
		if fold && 'a' <= literal[i] && literal[i] <= 'z' {
			e.lower |= 0x20 << (8 * i)
		}
	}
	for _, a := range cases(literal[0], fold) {
		for _, b := range cases(literal[1], fold) {
			m.second[a] |= 1 << (b & 63)
			p := pair(a, b)
			if !slices.Contains(m.entries[p], e) {
				m.entries[p] = append(m.entries[p], e)
			}
		}
	}
	for _, b := range cases(literal[1], fold) {
		if len(literal) == 2 {
			m.third[b] = ^uint64(0)
			continue
		}
		for _, c := range cases(literal[2], fold) {
			m.third[b] |= 1 << (c & 63)
		}
	}
}

// pair is where the literals are that begin with two bytes, and others.
func pair(a, b byte) byte { return a*31 ^ b }

func cases(c byte, fold bool) []byte {
	if fold && 'a' <= c && c <= 'z' {
		return []byte{c, c - 'a' + 'A'}
	}
	return []byte{c}
}

// next is the first place at or after from, and before to, where a literal
// could begin, or -1. It looks at eight places in a row, which nearly always are
// ruled out.
func (m *matcher) next(s string, from, to int) int {
	end := min(to, len(s)-1)
	for from < end {
		if end-from >= 8 {
			t := s[from : from+9]
			switch {
			case m.may(t[0], t[1]):
			case m.may(t[1], t[2]):
				from++
			case m.may(t[2], t[3]):
				from += 2
			case m.may(t[3], t[4]):
				from += 3
			case m.may(t[4], t[5]):
				from += 4
			case m.may(t[5], t[6]):
				from += 5
			case m.may(t[6], t[7]):
				from += 6
			case m.may(t[7], t[8]):
				from += 7
			default:
				from += 8
				continue
			}
		} else if !m.may(s[from], s[from+1]) {
			from++
			continue
		}
		if from+2 == len(s) || m.third[s[from+1]]&(1<<(s[from+2]&63)) != 0 {
			return from
		}
		from++
	}
	return -1
}

// may reports whether a literal could begin with a and b.
func (m *matcher) may(a, b byte) bool { return m.second[a]&(1<<(b&63)) != 0 }

// at are literals among which those are that begin at i, in the order in which
// they were added.
func (m *matcher) at(s string, i int) []entry {
	if i+1 == len(s) {
		return nil
	}
	return m.entries[pair(s[i], s[i+1])]
}

// matches reports whether the literal stands at i.
func (e *entry) matches(s string, i int) bool {
	if len(s)-i < len(e.literal) {
		return false
	}
	s = s[i:]
	if len(s) >= 4 {
		head := uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
		if (head|e.lower)&e.mask != e.head {
			return false
		}
	}
	if !e.fold {
		return s[:len(e.literal)] == e.literal
	}
	for j := range len(e.literal) {
		if lower(s[j]) != e.literal[j] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c - 'A' + 'a'
	}
	return c
}
