package treesitter

import (
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// pyWalker finds the names of Python.
type pyWalker struct{ nameWalker }

func pyFile(root *node, src []byte, symbols []pki.Symbol) pki.File {
	w := pyWalker{newNameWalker(src, symbols)}
	w.hoist(root, 0)
	w.kids(root)
	return w.finish()
}

func (w *pyWalker) kids(n *node) {
	if n == nil {
		return
	}
	for _, k := range n.kids {
		w.walk(k)
	}
}

// hoist declares what a function, a class or the file binds anywhere in its own
// statements: in Python such a name is local throughout.
func (w *pyWalker) hoist(n *node, depth int) {
	const deepest = 100
	if n == nil || depth > deepest {
		return
	}
	switch n.kind {
	case "function_definition", "class_definition":
		w.declare(w.scope, n.child("name"), pki.Unknown)
		return
	case "lambda", "list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression", "import_statement", "import_from_statement":
		return
	case "assignment", "augmented_assignment", "for_statement":
		w.bind(n.child("left"), pki.Unknown)
	case "named_expression":
		w.bind(n.child("name"), pki.Unknown)
	case "as_pattern":
		w.bind(n.child("alias"), pki.Unknown)
	case "case_pattern":
		w.captures(n)
	case "global_statement", "nonlocal_statement":
		for _, k := range n.kids {
			w.outside(k, n.kind == "global_statement")
		}
		return
	}
	for _, k := range n.kids {
		w.hoist(k, depth+1)
	}
}

// outside makes a name mean what it means around the function.
func (w *pyWalker) outside(n *node, global bool) {
	inner := w.scope
	for w.scope = inner.outer; global && w.scope != nil && w.scope.outer != nil; {
		w.scope = w.scope.outer
	}
	b, ok := w.lookup(w.text(n))
	w.scope = inner
	if !ok {
		b = binding{path: plainPath(w.text(n)), symbol: true}
	}
	if inner.names == nil {
		inner.names = make(map[string]binding)
	}
	inner.names[w.text(n)] = b
}

// bind declares the names of what is assigned to.
func (w *pyWalker) bind(n *node, path pki.Path) {
	if n == nil {
		return
	}
	switch n.kind {
	case "identifier":
		if b, ok := w.scope.names[w.text(n)]; ok && b.symbol && w.symbols[n.start] == nil {
			w.decl(string(b.path), path)
			return
		}
		w.declare(w.scope, n, path)
	case "as_pattern_target", "list_splat_pattern", "parenthesized_expression":
		w.bind(n.only(), path)
	case "pattern_list", "tuple_pattern", "list_pattern", "tuple", "list", "expression_list":
		for _, k := range n.kids {
			w.bind(k, path.Then("[]"))
		}
	}
}

// captures declares the names of a pattern of match.
func (w *pyWalker) captures(n *node) {
	if k := n.only(); k != nil && k.kind == "dotted_name" && len(k.kids) == 1 {
		w.declare(w.scope, k.only(), pki.Unknown)
	}
}

func (w *pyWalker) walk(n *node) {
	if n == nil {
		return
	}
	switch n.kind {
	case "identifier":
		w.use(n, pki.RefRead)
	case "attribute":
		w.attribute(n, pki.RefRead)
	case "call":
		w.call(n)
	case "keyword_argument":
		w.walk(n.child("value"))
	case "import_statement":
		w.importStatement(n)
	case "import_from_statement":
		w.importFrom(n)
	case "future_import_statement", "global_statement", "nonlocal_statement", "comment":
	case "function_definition":
		w.function(n, nil)
	case "class_definition":
		w.class(n)
	case "decorated_definition":
		w.decorated(n)
	case "lambda":
		w.open(true)
		w.parameters(n.child("parameters"), pki.Unknown)
		w.walk(n.child("body"))
		w.close()
	case "assignment":
		w.assignment(n)
	case "augmented_assignment":
		w.walk(n.child("right"))
		w.target(n.child("left"))
	case "named_expression":
		w.walk(n.child("value"))
		w.bind(n.child("name"), w.pathOf(n.child("value")))
	case "for_statement", "for_in_clause":
		w.walk(n.child("right"))
		w.bind(n.child("left"), w.pathOf(n.child("right")).Then("[]"))
		w.target(n.child("left"))
		w.walk(n.child("body"))
		w.walk(n.child("alternative"))
	case "as_pattern":
		w.walk(n.only())
		w.bind(n.child("alias"), w.pathOf(n.only()))
	case "except_clause":
		w.except(n)
	case "list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression":
		w.comprehension(n)
	case "type":
		w.types(n)
	case "case_pattern":
		w.casePattern(n)
	case "dotted_name":
		w.dotted(n, pki.RefRead)
	case "return_statement":
		w.kids(n)
		w.returned(w.pathOf(n.only()))
	default:
		w.kids(n)
	}
}

func (w *pyWalker) attribute(n *node, kind pki.ReferenceKind) {
	object := n.child("object")
	w.walk(object)
	w.refer(n.child("attribute"), w.pathOf(object), kind)
}

func (w *pyWalker) call(n *node) {
	switch f := n.child("function"); {
	case f == nil:
	case f.kind == "identifier":
		w.use(f, pki.RefCall)
	case f.kind == "attribute":
		w.attribute(f, pki.RefCall)
	default:
		w.walk(f)
	}
	w.walk(n.child("arguments"))
}

// target walks what is assigned to.
func (w *pyWalker) target(n *node) {
	if n == nil {
		return
	}
	switch n.kind {
	case "identifier":
		if w.symbols[n.start] == nil {
			w.use(n, pki.RefWrite)
		}
	case "attribute":
		w.attribute(n, pki.RefWrite)
	case "pattern_list", "tuple_pattern", "list_pattern", "tuple", "list", "expression_list", "list_splat_pattern", "parenthesized_expression":
		for _, k := range n.kids {
			w.target(k)
		}
	default:
		w.walk(n)
	}
}

func (w *pyWalker) assignment(n *node) {
	left, right := n.child("left"), n.child("right")
	w.walk(n.child("type"))
	w.walk(right)
	path := w.pathOf(right)
	if t := n.child("type"); t != nil {
		path = w.typeOf(t)
	}
	w.bind(left, path)
	w.target(left)
	if left == nil || left.kind != "attribute" || len(w.classes) == 0 {
		return
	}
	// self.x = … in a class says what x is.
	c := w.classes[len(w.classes)-1]
	if object := left.child("object"); w.text(object) == "self" && c.name != "" && w.pathOf(object) == c.path {
		w.decl(join(c.name, w.text(left.child("attribute"))), path)
	}
}

func (w *pyWalker) except(n *node) {
	for _, k := range n.kids {
		if k.kind == "as_pattern" {
			w.walk(k.only())
			path := pki.Unknown
			if t := k.only(); t != nil && (t.kind == "identifier" || t.kind == "attribute") {
				path = w.pathOf(t).Then("!")
			}
			w.bind(k.child("alias"), path)
			continue
		}
		w.walk(k)
	}
}

// comprehension walks the clauses before what they are for.
func (w *pyWalker) comprehension(n *node) {
	w.open(true)
	for _, k := range n.kids {
		if k.field != "body" {
			w.walk(k)
		}
	}
	w.walk(n.child("body"))
	w.close()
}

func (w *pyWalker) casePattern(n *node) {
	k := n.only()
	switch {
	case k == nil:
	case k.kind == "class_pattern":
		name := k.only()
		if name != nil && name.kind == "dotted_name" {
			w.dotted(name, pki.RefCall)
		}
		for _, p := range k.kids[1:] {
			w.walk(p)
		}
	case k.kind == "keyword_pattern":
		for _, p := range k.kids[1:] {
			if p.kind == "dotted_name" && len(p.kids) == 1 {
				w.declare(w.scope, p.only(), pki.Unknown)
				continue
			}
			w.walk(p)
		}
	case k.kind == "dotted_name" && len(k.kids) > 1:
		w.dotted(k, pki.RefRead)
	case k.kind == "dotted_name":
	default:
		w.walk(k)
	}
}

// dotted walks a.b.c where the grammar has no expression.
func (w *pyWalker) dotted(n *node, kind pki.ReferenceKind) {
	path := pki.Unknown
	for i, k := range n.kids {
		use := pki.RefRead
		if i == len(n.kids)-1 {
			use = kind
		}
		if i == 0 {
			w.use(k, use)
			path = w.pathOfName(k)
			continue
		}
		w.refer(k, path, use)
		path = path.Then("." + w.text(k))
	}
}

// decorated walks a definition with what decorates it.
func (w *pyWalker) decorated(n *node) {
	var names []string
	for _, k := range n.kids {
		if k.kind == "decorator" {
			w.kids(k)
			name, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(w.text(k), "@")), "(")
			names = append(names, name)
		}
	}
	switch d := n.child("definition"); {
	case d == nil:
	case d.kind == "function_definition":
		w.function(d, names)
	default:
		w.walk(d)
	}
}
