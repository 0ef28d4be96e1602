package workspace

import "strings"

// suspects tells most names that aren't sensitive from the rest in little more
// time than it takes to read them, for walks, which ask about every file. It is
// made of the same lists as sensitive.
type suspects struct {
	odd   [256]uint8 // bytes that make a name suspect wherever they are
	first [256]bool  // bytes that names in bases and heads begin with
	bases map[string]bool
	heads []string      // what names begin with
	tails [1 << 12]bool // by hashTail: what names end with
}

// tailLen is how much of a name's end is looked at.
const tailLen = 3

func newSuspects() *suspects {
	s := &suspects{bases: map[string]bool{}}
	for c := range s.odd {
		if c <= ' ' || c >= 0x7f || c == '\\' || c == ':' || c == '~' {
			s.odd[c] = 1
		}
	}
	for _, names := range []map[string]bool{secretFiles, secretIn} {
		for name := range names {
			s.bases[name[strings.LastIndexByte(name, '/')+1:]] = true
		}
	}
	for base := range s.bases {
		s.first[base[0]] = true
	}
	for _, p := range secretPatterns {
		if tail := p[strings.LastIndexByte(p, '*')+1:]; len(tail) >= tailLen {
			s.tails[hashTail(tail)] = true
			continue
		}
		s.heads = append(s.heads, p[:strings.IndexByte(p, '*')])
		s.first[p[0]] = true
	}
	return s
}

// hashTail hashes the end of a name. Upper and lower case are the same.
func hashTail(name string) int {
	n := len(name)
	tail := uint32(name[n-3])<<16 | uint32(name[n-2])<<8 | uint32(name[n-1]) | 0x202020
	return int(tail * 0x9e3779b1 >> (32 - 12))
}

// has reports whether name may be sensitive.
func (s *suspects) has(name string) bool {
	odd := uint8(0)
	for i := range len(name) {
		odd |= s.odd[name[i]]
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	if odd != 0 || len(base) < tailLen || name[0] == '.' || base[len(base)-1] == '.' ||
		strings.Contains(name, "/.") || strings.Contains(name, "./") || s.tails[hashTail(base)] {
		return true
	}
	first := base[0]
	if 'A' <= first && first <= 'Z' {
		first += 'a' - 'A'
	}
	if !s.first[first] {
		return false
	}
	base = strings.ToLower(base)
	for _, head := range s.heads {
		if strings.HasPrefix(base, head) {
			return true
		}
	}
	return s.bases[base]
}

// suspect is the quick look of Sensitive.
var suspect = newSuspects()
