package treesitter

import (
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// pathOf says what the value of an expression is.
func (w *jsWalker) pathOf(n *node) pki.Path { return w.pathIn(n, 0) }

func (w *jsWalker) pathIn(n *node, depth int) pki.Path {
	if n == nil || depth > maxSpine {
		return pki.Unknown
	}
	down := func(k *node) pki.Path { return w.pathIn(k, depth+1) }
	switch n.kind {
	case "identifier":
		if w.text(n) == "undefined" {
			return pki.Unknown
		}
		return w.pathOfName(n)
	case "this":
		if len(w.classes) > 0 {
			return w.classes[len(w.classes)-1].path
		}
	case "super":
		if len(w.classes) > 0 {
			return w.classes[len(w.classes)-1].base
		}
	case "member_expression", "nested_identifier":
		name := w.text(n.child("property"))
		if name == "" {
			return pki.Unknown
		}
		return down(n.child("object")).Then("." + name)
	case "subscript_expression":
		return down(n.child("object")).Then("[]")
	case "call_expression":
		return down(n.child("function")).Then("()")
	case "new_expression":
		return w.created(n, depth)
	case "await_expression", "parenthesized_expression", "non_null_expression", "satisfies_expression", "sequence_expression":
		return down(n.only())
	case "as_expression", "type_assertion":
		return w.cast(n, depth)
	case "ternary_expression":
		if path := down(n.child("consequence")); path.Known() && path != valueBasic {
			return path
		}
		return down(n.child("alternative"))
	case "binary_expression":
		return w.binary(n, depth)
	case "assignment_expression":
		return down(n.child("right"))
	case "string", "template_string", "number", "true", "false", "regex", "update_expression", "unary_expression":
		return valueBasic
	case "object":
		return pki.Nameless
	case "array":
		return down(n.only()).Then("^")
	case "type_identifier", "nested_type_identifier", "generic_type":
		return w.typeOf(n)
	}
	return pki.Unknown
}

func (w *jsWalker) created(n *node, depth int) pki.Path {
	c := n.child("constructor")
	args := n.child("type_arguments")
	if args != nil {
		switch w.text(c) {
		case "Map", "WeakMap", "Array", "Set", "WeakSet":
			return w.container(w.text(c), args, depth)
		}
	}
	return w.pathIn(c, depth+1).Then("()")
}

// cast is what a value is said to be; as const says nothing.
func (w *jsWalker) cast(n *node, depth int) pki.Path {
	if len(n.kids) < 2 {
		return w.pathIn(n.only(), depth+1)
	}
	if n.kind == "type_assertion" {
		return w.typeIn(n.kids[0].only(), depth+1)
	}
	if n.kids[1].kind == "const" {
		return w.pathIn(n.kids[0], depth+1)
	}
	return w.typeIn(n.kids[1], depth+1)
}

func (w *jsWalker) binary(n *node, depth int) pki.Path {
	left, right := n.child("left"), n.child("right")
	if left == nil || right == nil {
		return pki.Unknown
	}
	switch strings.TrimSpace(string(w.src[left.end:right.start])) {
	case "||", "??":
		if path := w.pathIn(left, depth+1); path.Known() {
			return path
		}
		return w.pathIn(right, depth+1)
	case "&&":
		return w.pathIn(right, depth+1)
	}
	return valueBasic
}

// typeOf says what a value of a type is.
func (w *jsWalker) typeOf(n *node) pki.Path { return w.typeIn(n, 0) }

func (w *jsWalker) typeIn(n *node, depth int) pki.Path {
	if n == nil || depth > maxSpine {
		return pki.Unknown
	}
	down := func(k *node) pki.Path { return w.typeIn(k, depth+1) }
	switch n.kind {
	case "type_annotation", "parenthesized_type", "readonly_type", "opting_type_annotation", "constraint", "default_type":
		return down(n.only())
	case "type_identifier", "identifier":
		path := w.pathOfName(n)
		if b, local := w.lookup(w.text(n)); local && !b.symbol {
			return path // a type parameter
		}
		return path.Then("!")
	case "nested_type_identifier":
		return w.pathIn(n.child("module"), depth+1).Then("." + w.text(n.child("name")) + "!")
	case "generic_type":
		name := n.child("name")
		return w.container(w.text(name), n.child("type_arguments"), depth, name)
	case "array_type":
		return down(n.only()).Then("^")
	case "union_type", "intersection_type":
		return w.oneOf(n, depth)
	case "predefined_type":
		switch w.text(n) {
		case "any", "unknown", "object":
			return pki.Unknown
		}
		return valueBasic
	case "literal_type", "template_literal_type", "type_predicate", "type_predicate_annotation", "asserts":
		return valueBasic
	case "object_type":
		return pki.Nameless
	case "function_type":
		return down(n.child("return_type")).Then("~")
	case "type_query":
		return w.pathIn(n.only(), depth+1)
	case "this_type":
		if len(w.classes) > 0 {
			return w.classes[len(w.classes)-1].path
		}
	}
	return pki.Unknown
}

// oneOf is the one type of a union that is not null; of an intersection the
// first that is known.
func (w *jsWalker) oneOf(n *node, depth int) pki.Path {
	found := pki.Unknown
	for _, k := range n.kids {
		if text := w.text(k); text == "undefined" || text == "null" || text == "void" {
			continue
		}
		switch path := w.typeIn(k, depth+1); {
		case found == pki.Unknown:
			found = path
		case n.kind == "union_type" && path != found:
			return pki.Unknown
		}
	}
	return found
}

// container is what a value of a generic type is. A promise is what it gives.
func (w *jsWalker) container(name string, args *node, depth int, written ...*node) pki.Path {
	arg := func(i int) pki.Path {
		if args == nil || i >= len(args.kids) {
			return pki.Unknown
		}
		return w.typeIn(args.kids[i], depth+1)
	}
	switch name {
	case "Array", "ReadonlyArray", "Set", "ReadonlySet", "WeakSet", "Iterable", "Iterator", "IterableIterator", "AsyncIterable", "AsyncIterableIterator", "Generator", "AsyncGenerator":
		return arg(0).Then("^")
	case "Map", "ReadonlyMap", "WeakMap", "Record":
		return arg(1).Map(arg(0))
	case "Promise", "PromiseLike", "Awaited", "Readonly", "Required", "Partial", "NonNullable", "Omit", "Pick":
		return arg(0)
	}
	for _, n := range written {
		return w.typeIn(n, depth+1)
	}
	return pki.Unknown
}
