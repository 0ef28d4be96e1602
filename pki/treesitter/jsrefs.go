package treesitter

import (
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// jsWalker finds the names of JavaScript and TypeScript.
type jsWalker struct{ nameWalker }

func jsFile(root *node, src []byte, symbols []pki.Symbol) pki.File {
	w := jsWalker{newNameWalker(src, symbols)}
	w.block(root)
	return w.finish()
}

// block declares what its statements declare, and walks them.
func (w *jsWalker) block(n *node) {
	for _, k := range n.kids {
		w.hoist(k)
	}
	w.kids(n)
}

func (w *jsWalker) kids(n *node) {
	if n == nil {
		return
	}
	for _, k := range n.kids {
		w.walk(k)
	}
}

// hoist declares the names of a statement before the block is walked.
func (w *jsWalker) hoist(n *node) {
	switch n.kind {
	case "export_statement", "ambient_declaration":
		for _, k := range n.kids {
			w.hoist(k)
		}
	case "function_declaration", "generator_function_declaration", "function_signature", "class_declaration", "abstract_class_declaration",
		"enum_declaration", "interface_declaration", "type_alias_declaration":
		w.declare(w.scope, n.child("name"), pki.Unknown)
	case "expression_statement":
		if m := n.first("internal_module"); m != nil {
			w.hoist(m)
		}
	case "internal_module", "module":
		if name := n.child("name"); name != nil && name.kind != "string" {
			w.declare(w.scope, name, pki.Unknown)
		}
	case "lexical_declaration":
		for _, d := range n.kids {
			if d.kind == "variable_declarator" && !w.isRequire(d) {
				w.pattern(w.scope, d.child("name"), pki.Unknown, false)
			}
		}
	default:
		w.hoistVars(n, 0)
	}
}

// hoistVars declares what var declares anywhere in a function.
func (w *jsWalker) hoistVars(n *node, depth int) {
	const deepest = 50
	if depth > deepest {
		return
	}
	switch n.kind {
	case "variable_declaration":
		for _, d := range n.kids {
			if d.kind == "variable_declarator" && !w.isRequire(d) {
				w.pattern(w.scope.ofFunction(), d.child("name"), pki.Unknown, false)
			}
		}
		return
	case "function_declaration", "function_expression", "arrow_function", "class_declaration", "class", "method_definition", "generator_function_declaration", "generator_function":
		return
	}
	for _, k := range n.kids {
		w.hoistVars(k, depth+1)
	}
}

func (s *scope) ofFunction() *scope {
	for !s.function && s.outer != nil {
		s = s.outer
	}
	return s
}

func (w *jsWalker) walk(n *node) {
	if n == nil {
		return
	}
	switch n.kind {
	case "identifier", "shorthand_property_identifier":
		if w.text(n) != "undefined" {
			w.use(n, pki.RefRead)
		}
	case "type_identifier":
		w.use(n, pki.RefType)
	case "member_expression":
		w.member(n, pki.RefRead)
	case "nested_type_identifier":
		w.walk(n.child("module"))
		w.refer(n.child("name"), w.pathOf(n.child("module")), pki.RefType)
	case "call_expression":
		w.call(n)
	case "new_expression":
		w.callee(n.child("constructor"))
		w.kids(n.child("type_arguments"))
		w.kids(n.child("arguments"))
	case "jsx_opening_element", "jsx_self_closing_element":
		w.jsx(n)
	case "jsx_attribute":
		for _, k := range n.kids {
			if k.kind != "property_identifier" {
				w.walk(k)
			}
		}
	case "jsx_closing_element", "labeled_statement_identifier", "comment", "property_identifier", "statement_identifier", "import_statement":
		if n.kind == "import_statement" {
			w.importStatement(n)
		}
	case "export_statement":
		w.exportStatement(n)
	case "assignment_expression", "augmented_assignment_expression":
		w.assign(n)
	case "update_expression":
		w.target(n.child("argument"))
	case "variable_declarator":
		w.declarator(n)
	case "for_in_statement":
		w.forIn(n)
	case "for_statement", "statement_block", "switch_body":
		w.open(false)
		w.block(n)
		w.close()
	case "catch_clause":
		w.open(false)
		w.pattern(w.scope, n.child("parameter"), pki.Unknown, true)
		w.walk(n.child("body"))
		w.close()
	case "function_declaration", "generator_function_declaration", "function_signature", "function_expression", "generator_function", "arrow_function":
		w.function(n)
	case "class_declaration", "abstract_class_declaration", "class":
		w.class(n)
	case "interface_declaration":
		w.interfaceDecl(n)
	case "type_alias_declaration":
		w.open(false)
		w.typeParams(n.child("type_parameters"))
		w.walk(n.child("value"))
		if sym := symbolAt(w.symbols, n.child("name")); sym != nil {
			w.decl(sym.Qualified).Under = w.typeOf(n.child("value"))
		}
		w.close()
	case "enum_declaration":
		if body := n.child("body"); body != nil {
			for _, k := range body.kids {
				w.walk(k.child("value"))
			}
		}
	case "internal_module", "module":
		w.open(false)
		if body := n.child("body"); body != nil {
			w.block(body)
		}
		w.close()
	case "function_type", "constructor_type", "method_signature", "abstract_method_signature", "call_signature", "construct_signature":
		w.signature(n)
	case "property_signature", "pair":
		if key := cmpNode(n.child("name"), n.child("key")); key != nil && key.kind == "computed_property_name" {
			w.kids(key)
		}
		w.walk(n.child("type"))
		w.walk(n.child("value"))
	case "method_definition":
		w.method(n, "")
	case "return_statement":
		w.kids(n)
		w.returned(w.pathOf(n.only()))
	case "object_pattern", "array_pattern":
		w.target(n)
	case "infer_type", "type_parameter":
		w.declare(w.scope, n.first("type_identifier"), pki.Unknown)
	case "type_predicate", "type_predicate_annotation":
		w.walk(n.child("type"))
		if p := n.first("type_predicate"); p != nil {
			w.walk(p.child("type"))
		}
	case "mapped_type_clause", "index_signature":
		for _, k := range n.kids {
			if k.field != "name" {
				w.walk(k)
			}
		}
	default:
		w.kids(n)
	}
}

// cmpNode returns the first that is there.
func cmpNode(nodes ...*node) *node {
	for _, n := range nodes {
		if n != nil {
			return n
		}
	}
	return nil
}

func symbolAt(symbols map[int]*pki.Symbol, n *node) *pki.Symbol {
	if n == nil {
		return nil
	}
	return symbols[n.start]
}

func (w *jsWalker) member(n *node, kind pki.ReferenceKind) {
	object, property := n.child("object"), n.child("property")
	if object == nil || property == nil {
		w.kids(n)
		return
	}
	w.walk(object)
	w.refer(property, w.pathOf(object), kind)
}

func (w *jsWalker) callee(n *node) {
	switch {
	case n == nil:
	case n.kind == "identifier":
		w.use(n, pki.RefCall)
	case n.kind == "member_expression":
		w.member(n, pki.RefCall)
	default:
		w.walk(n)
	}
}

// eachOf are methods that call their argument with the elements.
const eachOf = " forEach map filter find findIndex findLast some every flatMap sort "

func (w *jsWalker) call(n *node) {
	function, args := n.child("function"), n.child("arguments")
	if function != nil && (function.kind == "import" || w.text(function) == "require") {
		if from := args.first("string"); from != nil {
			w.addImport(pki.Import{Path: w.stringOf(from)}, from)
		}
	}
	w.callee(function)
	w.walk(n.child("type_arguments"))
	if args == nil {
		return
	}
	for i, arg := range args.kids {
		if i == 0 && arg.kind == "arrow_function" && function != nil && function.kind == "member_expression" &&
			strings.Contains(eachOf, " "+w.text(function.child("property"))+" ") {
			w.functionOf(arg, w.pathOf(function.child("object")).Then("[]"))
			continue
		}
		w.walk(arg)
	}
}

func (w *jsWalker) jsx(n *node) {
	name := n.child("name")
	switch {
	case name == nil:
	case name.kind == "member_expression":
		w.member(name, pki.RefCall)
	case name.kind == "nested_identifier":
		w.callee(name)
	case name.kind == "identifier":
		if text := w.text(name); text != "" && (text[0] < 'a' || text[0] > 'z') {
			w.use(name, pki.RefCall)
		}
	}
	for _, k := range n.kids {
		if k != name {
			w.walk(k)
		}
	}
}

func (w *jsWalker) assign(n *node) {
	left, right := n.child("left"), n.child("right")
	if left == nil || right == nil {
		w.kids(n)
		return
	}
	if w.commonExports(left, right) {
		return
	}
	w.walk(right)
	w.target(left)
	switch left.kind {
	case "member_expression":
		// this.x = … in a class says what x is.
		if object := left.child("object"); object != nil && object.kind == "this" && len(w.classes) > 0 {
			if c := w.classes[len(w.classes)-1]; c.name != "" {
				w.decl(join(c.name, w.text(left.child("property"))), w.pathOf(right))
			}
		}
	case "identifier":
		if b, ok := w.lookup(w.text(left)); ok && !b.symbol && !b.path.Known() {
			for s := w.scope; s != nil; s = s.outer {
				if _, here := s.names[w.text(left)]; here {
					s.names[w.text(left)] = binding{path: w.pathOf(right)}
					break
				}
			}
		}
	}
}

// target walks what is assigned to.
func (w *jsWalker) target(n *node) {
	if n == nil {
		return
	}
	switch n.kind {
	case "identifier", "shorthand_property_identifier_pattern":
		w.use(n, pki.RefWrite)
	case "member_expression":
		w.member(n, pki.RefWrite)
	case "object_pattern", "array_pattern", "rest_pattern":
		for _, k := range n.kids {
			w.target(k)
		}
	case "pair_pattern":
		w.target(n.child("value"))
	case "assignment_pattern", "object_assignment_pattern":
		w.target(n.child("left"))
		w.walk(n.child("right"))
	default:
		w.walk(n)
	}
}

// declarator walks a declaration of a variable.
func (w *jsWalker) declarator(n *node) {
	name, value := n.child("name"), n.child("value")
	if w.requires(n) {
		return
	}
	w.walk(n.child("type"))
	w.walk(value)
	path := w.pathOf(value)
	if t := n.child("type"); t != nil {
		path = w.typeOf(t)
	}
	s := w.scope
	if name != nil && s.names != nil {
		if _, here := s.names[w.text(name)]; !here {
			s = w.scope.ofFunction()
		}
	}
	if value != nil && (value.kind == "arrow_function" || value.kind == "function_expression") && n.child("type") == nil {
		if sym := symbolAt(w.symbols, name); sym != nil { // its results are its own
			return
		}
	}
	w.pattern(s, name, path, true)
}

// pattern declares the names of a pattern that is given a value. With refer,
// the properties that it takes are referred to.
func (w *jsWalker) pattern(s *scope, n *node, path pki.Path, refer bool) {
	if n == nil {
		return
	}
	switch n.kind {
	case "identifier":
		w.declare(s, n, path)
	case "shorthand_property_identifier_pattern":
		w.declare(s, n, path.Then("."+w.text(n)))
		if refer && w.symbols[n.start] == nil {
			w.refer(n, path, pki.RefRead)
		}
	case "object_pattern":
		for _, k := range n.kids {
			w.pattern(s, k, path, refer)
		}
	case "array_pattern":
		for _, k := range n.kids {
			w.pattern(s, k, path.Then("[]"), refer)
		}
	case "rest_pattern":
		w.pattern(s, n.only(), pki.Unknown, refer)
	case "pair_pattern":
		key := n.child("key")
		if refer && key != nil && key.kind == "property_identifier" {
			w.refer(key, path, pki.RefRead)
		}
		w.pattern(s, n.child("value"), path.Then("."+w.text(key)), refer)
	case "assignment_pattern", "object_assignment_pattern":
		w.pattern(s, n.child("left"), path, refer)
		if refer {
			w.walk(n.child("right"))
		}
	}
}

func (w *jsWalker) forIn(n *node) {
	w.walk(n.child("right"))
	w.open(false)
	defer w.close()
	if left := n.child("left"); left != nil {
		path := w.pathOf(n.child("right")).Then("[]")
		if left.kind == "identifier" || left.kind == "object_pattern" || left.kind == "array_pattern" {
			w.pattern(w.scope, left, path, true)
		} else {
			w.target(left)
		}
	}
	w.walk(n.child("body"))
}
