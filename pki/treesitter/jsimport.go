package treesitter

import (
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// What a module is known as besides its names: by default, and, where it has
// but one thing to give, as a whole.
const (
	exportDefault = "default"
	exportWhole   = "="
)

func (w *jsWalker) stringOf(n *node) string {
	return strings.Trim(w.text(n), "\"'`")
}

func (w *jsWalker) importStatement(n *node) {
	source := n.child("source")
	clause := n.first("import_clause", "import_require_clause")
	if clause == nil {
		if source != nil {
			w.addImport(pki.Import{Path: w.stringOf(source)}, source)
		}
		return
	}
	if clause.kind == "import_require_clause" {
		source = clause.child("source")
	}
	if source == nil {
		return
	}
	path := w.stringOf(source)
	for _, k := range clause.kids {
		switch k.kind {
		case "identifier":
			i := pki.Import{Path: path, Name: exportDefault, Alias: w.text(k)}
			if clause.kind == "import_require_clause" {
				i.Name = ""
			}
			w.addImport(i, k)
		case "namespace_import":
			w.addImport(pki.Import{Path: path, Alias: w.text(k.first("identifier"))}, k.first("identifier"))
		case "named_imports":
			for _, s := range k.kids {
				w.addSpecifier(s, path, false)
			}
		}
	}
}

// addSpecifier adds { name as alias }.
func (w *jsWalker) addSpecifier(s *node, path string, exported bool) {
	name, alias := s.child("name"), s.child("alias")
	if name == nil {
		return
	}
	i := pki.Import{Path: path, Name: strings.Trim(w.text(name), `"'`), Alias: strings.Trim(w.text(cmpNode(alias, name)), `"'`), Exported: exported}
	w.addImport(i, name)
}

func (w *jsWalker) exportStatement(n *node) {
	path := ""
	if source := n.child("source"); source != nil {
		path = w.stringOf(source)
		switch star := n.first("*", "namespace_export"); {
		case star == nil:
		case star.kind == "*":
			w.addImport(pki.Import{Path: path, Name: "*", Exported: true}, source)
		default:
			w.addImport(pki.Import{Path: path, Alias: w.text(star.first("identifier")), Exported: true}, cmpNode(star.first("identifier"), source))
		}
	}
	whole := ""
	switch {
	case n.first("default") != nil:
		whole = exportDefault
	case n.first("=") != nil:
		whole = exportWhole
	}
	for _, k := range n.kids {
		switch {
		case k.kind == "export_clause":
			for _, s := range k.kids {
				w.addSpecifier(s, path, true)
				if name := s.child("name"); path == "" && name != nil {
					w.use(name, pki.RefRead)
				}
			}
		case k.field == "source" || k.kind == "namespace_export":
		case whole != "":
			w.exportAs(whole, k)
			w.walk(k)
		default:
			w.walk(k)
		}
	}
}

// exportAs says that a module's default, or a name of it, is a declaration or a
// name.
func (w *jsWalker) exportAs(alias string, n *node) {
	name := n
	if n.kind != "identifier" {
		name = n.child("name")
	}
	if name != nil && (name.kind == "identifier" || name.kind == "type_identifier") {
		w.addImport(pki.Import{Name: w.text(name), Alias: alias, Exported: true}, name)
	}
}

// isRequire reports whether a variable stands for what is required.
func (w *jsWalker) isRequire(d *node) bool {
	call, _ := w.requireOf(d.child("value"))
	return call != nil
}

// requireOf returns the string of require("…") and what is taken of it.
func (w *jsWalker) requireOf(n *node) (source, property *node) {
	if n != nil && n.kind == "member_expression" {
		property = n.child("property")
		n = n.child("object")
	}
	if n == nil || n.kind != "call_expression" || w.text(n.child("function")) != "require" {
		return nil, nil
	}
	return n.child("arguments").first("string"), property
}

// requires adds the imports of const a = require("…").
func (w *jsWalker) requires(d *node) bool {
	source, property := w.requireOf(d.child("value"))
	name := d.child("name")
	if source == nil || name == nil {
		return false
	}
	path := w.stringOf(source)
	switch {
	case name.kind == "identifier":
		w.addImport(pki.Import{Path: path, Name: w.text(property), Alias: w.text(name)}, name)
	case name.kind == "object_pattern" && property == nil:
		for _, k := range name.kids {
			key, value := k, k
			if k.kind == "pair_pattern" {
				key, value = k.child("key"), k.child("value")
			}
			if k.kind == "object_assignment_pattern" {
				key, value = k.child("left"), k.child("left")
			}
			if key != nil && value != nil && (value.kind == "identifier" || value.kind == "shorthand_property_identifier_pattern") {
				w.addImport(pki.Import{Path: path, Name: w.text(key), Alias: w.text(value)}, key)
			}
		}
	default:
		w.addImport(pki.Import{Path: path}, source)
		return false
	}
	return true
}

// commonExports handles module.exports = … and exports.name = … .
func (w *jsWalker) commonExports(left, right *node) bool {
	if left.kind != "member_expression" {
		return false
	}
	object, property := w.text(left.child("object")), w.text(left.child("property"))
	switch {
	case object == "module" && property == "exports":
		if right.kind == "object" {
			for _, k := range right.kids {
				switch {
				case k.kind == "shorthand_property_identifier":
					w.addImport(pki.Import{Name: w.text(k), Alias: w.text(k), Exported: true}, k)
				case k.kind == "pair" && k.child("value") != nil && k.child("key") != nil:
					w.exportAs(w.text(k.child("key")), k.child("value"))
				}
			}
		} else {
			w.exportAs(exportWhole, right)
		}
	case object == "exports" || object == "module.exports":
		w.exportAs(property, right)
	default:
		return false
	}
	w.walk(right)
	return true
}
