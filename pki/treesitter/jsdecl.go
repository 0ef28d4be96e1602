package treesitter

import (
	"github.com/sidecar-ls/sidecar-ls/pki"
)

func (w *jsWalker) function(n *node) { w.functionOf(n, pki.Unknown) }

// functionOf walks a function whose first parameter, if nothing else is said of
// it, is given a value.
func (w *jsWalker) functionOf(n *node, first pki.Path) pki.Path {
	w.open(true)
	if n.kind == "function_expression" || n.kind == "generator_function" {
		w.declare(w.scope, n.child("name"), pki.Unknown)
	}
	result := w.signatureOf(n, first)
	if body := n.child("body"); body != nil {
		w.returns = append(w.returns, &result)
		if body.kind == "statement_block" {
			w.block(body)
		} else {
			w.walk(body)
			w.returned(w.pathOf(body))
		}
		w.returns = w.returns[:len(w.returns)-1]
	}
	w.close()
	if sym := symbolAt(w.symbols, n.child("name")); sym != nil {
		w.decl(sym.Qualified, result)
	} else if n.field == "value" { // const f = () => …, { f: () => … }
		w.resultOf(n, result)
	}
	return result
}

// resultOf gives the result of a function that is a value to the symbol whose
// value it is: the nearest one that ends where the function does.
func (w *jsWalker) resultOf(n *node, result pki.Path) {
	const near = maxName + 100
	for at := n.start; at >= 0 && n.start-at < near; at-- {
		if sym := w.symbols[at]; sym != nil {
			if sym.EndByte >= n.end {
				w.decl(sym.Qualified, result)
			}
			return
		}
	}
}

// signature walks a function without a body.
func (w *jsWalker) signature(n *node) {
	w.open(true)
	result := w.signatureOf(n, pki.Unknown)
	w.walk(n.child("type"))
	w.close()
	if sym := symbolAt(w.symbols, n.child("name")); sym != nil {
		w.decl(sym.Qualified, result)
	}
}

// signatureOf declares parameters and returns what the result is said to be.
func (w *jsWalker) signatureOf(n *node, first pki.Path) pki.Path {
	w.typeParams(n.child("type_parameters"))
	if p := n.child("parameter"); p != nil {
		w.pattern(w.scope, p, first, true)
	}
	if params := n.child("parameters"); params != nil {
		for i, p := range params.kids {
			path := pki.Unknown
			if i == 0 {
				path = first
			}
			w.parameter(p, path)
		}
	}
	t := n.child("return_type")
	if t == nil {
		return pki.Unknown
	}
	w.walk(t)
	return w.typeOf(t)
}

func (w *jsWalker) parameter(p *node, path pki.Path) {
	switch p.kind {
	case "required_parameter", "optional_parameter":
		for _, k := range p.kids {
			if k.kind == "decorator" {
				w.walk(k)
			}
		}
		name, value := p.child("pattern"), p.child("value")
		if t := p.child("type"); t != nil {
			w.walk(t)
			path = w.typeOf(t)
		}
		w.walk(value)
		if !path.Known() {
			path = w.pathOf(value)
		}
		if p.first("accessibility_modifier", "readonly", "override_modifier") != nil && len(w.classes) > 0 {
			w.decl(join(w.classes[len(w.classes)-1].name, w.text(name)), path)
		}
		w.pattern(w.scope, name, path, true)
	case "assignment_pattern":
		w.walk(p.child("right"))
		w.pattern(w.scope, p.child("left"), w.pathOf(p.child("right")), true)
	default:
		w.pattern(w.scope, p, path, true)
	}
}

func (w *jsWalker) typeParams(n *node) {
	if n == nil {
		return
	}
	for _, p := range n.kids {
		w.declare(w.scope, p.child("name"), pki.Unknown)
	}
	for _, p := range n.kids {
		w.walk(p.child("constraint"))
		w.walk(p.child("value"))
	}
}

// class walks a class: its members are walked knowing what this is.
func (w *jsWalker) class(n *node) {
	for _, k := range n.kids {
		if k.kind == "decorator" {
			w.walk(k)
		}
	}
	w.open(false)
	defer w.close()
	w.typeParams(n.child("type_parameters"))
	c := classScope{path: pki.Nameless, base: pki.Unknown}
	var bases []pki.Path
	if h := n.first("class_heritage"); h != nil {
		bases = w.heritage(h)
	}
	if len(bases) > 0 {
		c.base = bases[0]
	}
	sym := symbolAt(w.symbols, n.child("name"))
	if sym == nil && n.field == "value" {
		sym = symbolBefore(w.symbols, n)
	}
	if sym != nil {
		c.name, c.path = sym.Qualified, plainPath(sym.Qualified).Then("!")
		w.decl(sym.Qualified).Bases = bases
	} else if n.child("name") != nil {
		w.declare(w.scope, n.child("name"), pki.Unknown)
	}
	w.classes = append(w.classes, c)
	defer func() { w.classes = w.classes[:len(w.classes)-1] }()
	body := n.child("body")
	if body == nil {
		return
	}
	// What fields are is said before methods use them.
	for _, m := range body.kids {
		if m.kind == "public_field_definition" || m.kind == "field_definition" {
			w.field(m, c)
		}
	}
	for _, m := range body.kids {
		switch m.kind {
		case "public_field_definition", "field_definition":
		case "method_definition":
			w.method(m, c.name)
		default:
			w.walk(m)
		}
	}
}

func symbolBefore(symbols map[int]*pki.Symbol, n *node) *pki.Symbol {
	for at := n.start; at >= 0 && n.start-at < maxName; at-- {
		if sym := symbols[at]; sym != nil {
			return sym
		}
	}
	return nil
}

func (w *jsWalker) field(m *node, c classScope) {
	for _, k := range m.kids {
		switch k.kind {
		case "decorator", "computed_property_name":
			w.walk(k)
		}
	}
	path := pki.Unknown
	if t := m.child("type"); t != nil {
		w.walk(t)
		path = w.typeOf(t)
	}
	value := m.child("value")
	if value != nil && (value.kind == "arrow_function" || value.kind == "function_expression") {
		w.functionOf(value, pki.Unknown)
	} else {
		w.walk(value)
		if !path.Known() {
			path = w.pathOf(value)
		}
	}
	if name := cmpNode(m.child("name"), m.child("property")); name != nil && c.name != "" {
		w.decl(join(c.name, w.text(name)), path)
	}
}

// heritage walks what a class extends and implements.
func (w *jsWalker) heritage(n *node) (bases []pki.Path) {
	for _, k := range n.kids {
		switch k.kind {
		case "extends_clause", "implements_clause", "extends_type_clause":
			bases = append(bases, w.heritage(k)...)
		case "type_arguments":
			w.kids(k)
		case "generic_type":
			w.kids(k.child("type_arguments"))
			if name := k.child("name"); name != nil {
				bases = append(bases, w.base(name))
			}
		default:
			bases = append(bases, w.base(k))
		}
	}
	return bases
}

func (w *jsWalker) base(n *node) pki.Path {
	switch n.kind {
	case "identifier", "type_identifier":
		w.use(n, pki.RefExtends)
		return w.pathOfName(n).Then("!")
	case "member_expression", "nested_type_identifier":
		object, property := cmpNode(n.child("object"), n.child("module")), cmpNode(n.child("property"), n.child("name"))
		if object == nil || property == nil {
			return pki.Unknown
		}
		w.walk(object)
		path := w.pathOf(object)
		w.refer(property, path, pki.RefExtends)
		return path.Then("." + w.text(property) + "!")
	}
	w.walk(n)
	return pki.Unknown
}

func (w *jsWalker) interfaceDecl(n *node) {
	w.open(false)
	defer w.close()
	w.typeParams(n.child("type_parameters"))
	sym := symbolAt(w.symbols, n.child("name"))
	if e := n.first("extends_type_clause", "extends_clause"); e != nil {
		bases := w.heritage(e)
		if sym != nil {
			w.decl(sym.Qualified).Bases = bases
		}
	}
	body := n.child("body")
	if body == nil {
		return
	}
	for _, m := range body.kids {
		w.walk(m)
		if t := m.child("type"); t != nil && m.kind == "property_signature" {
			if s := symbolAt(w.symbols, m.child("name")); s != nil {
				w.decl(s.Qualified, w.typeOf(t))
			}
		}
	}
}

// method walks a method of a class or of an object.
func (w *jsWalker) method(m *node, class string) {
	for _, k := range m.kids {
		switch k.kind {
		case "decorator":
			w.walk(k)
		case "computed_property_name":
			w.kids(k)
		}
	}
	result := w.functionOf(m, pki.Unknown)
	name := w.text(m.child("name"))
	if sym := symbolAt(w.symbols, m.child("name")); sym != nil {
		name = sym.Qualified
	} else if class == "" {
		return
	} else {
		name = join(class, name)
	}
	if d := w.decl(name, result); m.first("get") != nil {
		d.Getter = true
	}
}
