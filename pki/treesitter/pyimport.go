package treesitter

import (
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// importStatement adds import a, b.c as d. What a file imports, others can
// import from it.
func (w *pyWalker) importStatement(n *node) {
	for _, k := range n.kids {
		switch k.kind {
		case "dotted_name":
			path := w.text(k)
			root, _, dotted := strings.Cut(path, ".")
			w.addImport(pki.Import{Path: root, Alias: root, Exported: true}, k)
			if dotted { // the name is the first part, what is imported the whole
				w.addImport(pki.Import{Path: path}, k)
			}
		case "aliased_import":
			w.addImport(pki.Import{Path: w.text(k.child("name")), Alias: w.text(k.child("alias")), Exported: true}, k.child("name"))
		}
	}
}

// importFrom adds from a import b, c as d.
func (w *pyWalker) importFrom(n *node) {
	path := strings.Join(strings.Fields(w.text(n.child("module_name"))), "")
	for _, k := range n.kids {
		if k.field == "module_name" {
			continue
		}
		switch k.kind {
		case "dotted_name":
			w.addImport(pki.Import{Path: path, Name: w.text(k), Alias: w.text(k), Exported: true}, k)
		case "aliased_import":
			w.addImport(pki.Import{Path: path, Name: w.text(k.child("name")), Alias: w.text(k.child("alias")), Exported: true}, k.child("name"))
		case "wildcard_import":
			w.addImport(pki.Import{Path: path, Name: "*", Exported: true}, k)
		}
	}
}
