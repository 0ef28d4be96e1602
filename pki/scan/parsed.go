package scan

import (
	"github.com/sidecar-ls/sidecar-ls/pki"
)

// Parsed returns the units that a parser's symbols are, in their order: outer
// ones first. It appends to out[:0]. Members without a text of their own,
// fields and keys, are none.
func Parsed(src []byte, symbols []pki.Symbol, out []Unit) []Unit {
	out = out[:0]
	var open []int // what encloses the next one, outermost first
	for i := range symbols {
		s := &symbols[i]
		if s.Kind == pki.Field || s.Kind == pki.Key || !sound(s, len(src)) || len(out) == MaxUnits {
			continue
		}
		for len(open) > 0 && out[open[len(open)-1]].End < s.EndByte {
			open = open[:len(open)-1]
		}
		u := Unit{
			Kind: s.Kind, Start: s.StartByte, End: s.EndByte, Body: max(s.BodyByte, s.NameByte), Parent: -1, Called: s.Name, In: s.Container,
			Name: Range{s.NameByte, min(s.NameByte+len(s.Name), s.EndByte)}, Doc: Range{s.DocStart, s.DocEnd},
		}
		u.Body = max(u.Body, u.Name.End)
		if len(open) > 0 {
			// Names that share a declaration, int a, b, are side by side.
			if p := open[len(open)-1]; out[p].Start < u.Start || out[p].End > u.End {
				u.Parent = p
			} else {
				u.Parent = out[p].Parent
				open = open[:len(open)-1]
			}
		}
		open = append(open, len(out))
		out = append(out, u)
	}
	return prune(src, out)
}

// sound reports whether the places of a symbol are in a text of that length.
func sound(s *pki.Symbol, size int) bool {
	return s.Name != "" && 0 <= s.StartByte && s.StartByte <= s.NameByte && s.NameByte <= s.EndByte && s.EndByte <= size &&
		s.BodyByte <= s.EndByte && 0 <= s.DocStart && s.DocStart <= s.DocEnd && s.DocEnd <= size
}
