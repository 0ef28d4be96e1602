package treesitter

import (
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// function walks a function, a method if a class is being walked and its body
// is the scope.
func (w *pyWalker) function(n *node, decorators []string) {
	first := pki.Unknown
	if w.scope.class && len(w.classes) > 0 {
		c := w.classes[len(w.classes)-1]
		switch {
		case slices.Contains(decorators, "staticmethod"):
		case slices.Contains(decorators, "classmethod") || w.text(n.child("name")) == "__new__":
			first = plainPath(c.name)
		default:
			first = c.path
		}
	}
	result := pki.Unknown
	if t := n.child("return_type"); t != nil {
		w.walk(t)
		result = w.typeOf(t)
	}
	w.open(true)
	w.parameters(n.child("parameters"), first)
	body := n.child("body")
	w.hoist(body, 0)
	w.returns = append(w.returns, &result)
	w.kids(body)
	w.returns = w.returns[:len(w.returns)-1]
	w.close()
	sym := w.symbols[n.child("name").startOf()]
	if sym == nil {
		return
	}
	d := w.decl(sym.Qualified, result)
	d.Getter = slices.ContainsFunc(decorators, func(name string) bool {
		return name == "property" || strings.HasSuffix(name, "cached_property")
	})
}

// startOf is where a node begins; -1 is nowhere.
func (n *node) startOf() int {
	if n == nil {
		return -1
	}
	return n.start
}

// parameters declares parameters. Defaults and types are looked up outside.
func (w *pyWalker) parameters(n *node, first pki.Path) {
	if n == nil {
		return
	}
	inner := w.scope
	for i, p := range n.kids {
		name, path := p, pki.Unknown
		if i == 0 {
			path = first
		}
		w.scope = inner.outer
		switch p.kind {
		case "default_parameter", "typed_default_parameter":
			name = p.child("name")
			w.walk(p.child("value"))
			if !path.Known() {
				path = w.pathOf(p.child("value"))
			}
		case "typed_parameter":
			name = p.only()
		}
		if t := p.child("type"); t != nil {
			w.walk(t)
			path = w.typeOf(t)
			if name != nil && name.kind == "list_splat_pattern" {
				path = path.Then("^")
			}
		}
		w.scope = inner
		switch {
		case name == nil:
		case name.kind == "identifier":
			w.declare(w.scope, name, path)
		case name.kind == "list_splat_pattern" || name.kind == "dictionary_splat_pattern":
			w.declare(w.scope, name.only(), path)
		case name.kind == "tuple_pattern":
			w.bind(name, path)
		}
	}
}

func (w *pyWalker) class(n *node) {
	c := classScope{path: pki.Nameless, base: pki.Unknown}
	var bases []pki.Path
	if args := n.child("superclasses"); args != nil {
		for _, k := range args.kids {
			if k.kind == "keyword_argument" {
				w.walk(k)
				continue
			}
			bases = append(bases, w.base(k))
		}
	}
	if len(bases) > 0 {
		c.base = bases[0]
	}
	if sym := w.symbols[n.child("name").startOf()]; sym != nil {
		c.name, c.path = sym.Qualified, plainPath(sym.Qualified).Then("!")
		w.decl(sym.Qualified).Bases = bases
	}
	w.classes = append(w.classes, c)
	w.open(false)
	w.scope.class = true
	body := n.child("body")
	w.hoist(body, 0)
	// What self.x is, is said mostly in the first methods, but may be used in
	// earlier ones: paths are followed after all has been read.
	w.kids(body)
	w.close()
	w.classes = w.classes[:len(w.classes)-1]
}

// base walks a base class.
func (w *pyWalker) base(n *node) pki.Path {
	switch n.kind {
	case "identifier":
		w.use(n, pki.RefExtends)
	case "attribute":
		w.attribute(n, pki.RefExtends)
	case "subscript":
		path := w.base(n.child("value"))
		for _, k := range n.kids {
			if k.field == "subscript" {
				w.walk(k)
			}
		}
		return path
	default:
		w.walk(n)
		return pki.Unknown
	}
	return w.pathOf(n).Then("!")
}

// pathOf says what the value of an expression is.
func (w *pyWalker) pathOf(n *node) pki.Path { return w.pathIn(n, 0) }

func (w *pyWalker) pathIn(n *node, depth int) pki.Path {
	if n == nil || depth > maxSpine {
		return pki.Unknown
	}
	down := func(k *node) pki.Path { return w.pathIn(k, depth+1) }
	switch n.kind {
	case "identifier":
		return w.pathOfName(n)
	case "attribute":
		name := w.text(n.child("attribute"))
		if name == "" {
			return pki.Unknown
		}
		return down(n.child("object")).Then("." + name)
	case "subscript":
		if sub := n.child("subscript"); sub != nil && sub.kind == "slice" {
			return down(n.child("value"))
		}
		return down(n.child("value")).Then("[]")
	case "call":
		return w.called(n, depth)
	case "await", "parenthesized_expression":
		return down(n.only())
	case "boolean_operator":
		if path := down(n.child("left")); path.Known() {
			return path
		}
		return down(n.child("right"))
	case "conditional_expression":
		if path := down(n.only()); path.Known() && path != valueBasic {
			return path
		}
		return down(n.kids[len(n.kids)-1])
	case "named_expression":
		return down(n.child("value"))
	case "as_pattern":
		return down(n.only())
	case "string", "integer", "float", "true", "false", "concatenated_string", "comparison_operator", "not_operator", "binary_operator", "unary_operator":
		return valueBasic
	case "list", "set", "list_comprehension", "set_comprehension", "generator_expression":
		k := n.child("body")
		if k == nil {
			k = n.only()
		}
		return down(k).Then("^")
	case "dictionary":
		if pair := n.first("pair"); pair != nil {
			return down(pair.child("value")).Map(down(pair.child("key")))
		}
	case "type":
		return w.typeIn(n, depth+1)
	}
	return pki.Unknown
}

func (w *pyWalker) called(n *node, depth int) pki.Path {
	f, args := n.child("function"), n.child("arguments")
	if f != nil && f.kind == "identifier" && args != nil {
		if _, local := w.lookup(w.text(f)); !local {
			switch w.text(f) {
			case "super":
				if len(w.classes) > 0 {
					return w.classes[len(w.classes)-1].base
				}
			case "list", "sorted", "reversed", "set", "tuple", "iter", "frozenset", "filter":
				last := args.only()
				if len(args.kids) > 0 && w.text(f) == "filter" {
					last = args.kids[len(args.kids)-1]
				}
				return w.pathIn(last, depth+1)
			case "next":
				return w.pathIn(args.only(), depth+1).Then("[]")
			case "enumerate", "zip", "map", "range", "open", "getattr", "dict":
				return pki.Unknown
			case "len", "str", "int", "bool", "isinstance", "float", "repr", "hash", "id":
				return valueBasic
			case "cast":
				return w.typeIn(args.only(), depth+1)
			}
		}
	}
	return w.pathIn(f, depth+1).Then("()")
}
