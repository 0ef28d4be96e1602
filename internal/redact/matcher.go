package redact

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
}

func (m *matcher) add(literal string, fold bool, rule int) {
	e := entry{literal, fold, rule}
	for _, a := range cases(literal[0], fold) {
		m.entries[a] = append(m.entries[a], e)
		for _, b := range cases(literal[1], fold) {
			m.second[a] |= 1 << (b & 63)
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

func cases(c byte, fold bool) []byte {
	if fold && 'a' <= c && c <= 'z' {
		return []byte{c, c - 'a' + 'A'}
	}
	return []byte{c}
}

// next is the first place at or after from where a literal could begin, or -1.
func (m *matcher) next(s string, from int) int {
	for i := from; i+1 < len(s); i++ {
		if m.second[s[i]]&(1<<(s[i+1]&63)) == 0 {
			continue
		}
		if i+2 == len(s) || m.third[s[i+1]]&(1<<(s[i+2]&63)) != 0 {
			return i
		}
	}
	return -1
}

// at are the literals that begin with the byte at i.
func (m *matcher) at(s string, i int) []entry { return m.entries[s[i]] }

func (e *entry) matches(s string, i int) bool {
	if len(s)-i < len(e.literal) {
		return false
	}
	s = s[i : i+len(e.literal)]
	if !e.fold {
		return s[1] == e.literal[1] && s == e.literal
	}
	for j := range len(s) {
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
