//go:build !cgo

package treesitter

import (
	"time"

	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/scan"
)

// Parsers reports whether this build parses with tree-sitter, which takes a C
// compiler. Otherwise the symbols of most languages are read from lines and braces.
const Parsers = false

// treeParser is nothing here.
type treeParser struct{}

// parse finds the symbols by lines and braces. It needs neither a limit, as it
// reads a text once, nor a walk, which there is no tree for.
func (g *grammar) parse(src []byte, _ time.Duration, _ walk) (pki.File, error) {
	var marks []mark
	for _, u := range scan.Units(g.lang, src, nil) {
		m := mark{
			start: u.Start, end: u.End, nameStart: u.Name.Start, nameEnd: u.Name.End,
			kind: u.Kind, receiver: trimText(u.Owner.Of(src)),
		}
		if m.start > m.nameStart || m.nameEnd > m.end {
			continue // broken code
		}
		if u.Doc.Start > u.Start && u.Doc.Len() > 0 { // inside of it; assemble finds the comment above
			m.doc, m.docStart, m.docEnd = docstring(u.Doc.Of(src)), u.Doc.Start, u.Doc.End
		}
		marks = append(marks, m)
	}
	return pki.File{Symbols: g.assemble(marks, src)}, nil
}
