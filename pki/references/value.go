package references

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// value is what a path leads to.
type value struct {
	state  state
	module *module
	name   string // of a symbol, qualified
	of     bool   // a value of the type that the symbol is
	wraps  []wrap // what is around it, outermost last

	results []pki.Path // of the call that gave it
	from    *facts     // that declares the call's function
}

// wrap is a container (^) of values or a function (~) that returns one.
type wrap struct {
	mark byte
	key  pki.Path // of a map, in the file from
	from *facts
}

type state int

const (
	isUnknown  state = iota // syntax does not tell
	isForeign               // something that no file of the view declares
	isNameless              // of a type without a name: its members are not known
	isModule
	isSymbol
)

type valueKey struct {
	from *facts
	path pki.Path
}

// maxDepth bounds how many declarations are followed from one to the next.
const maxDepth = 12

// eval follows a path that a file has.
func (s *search) eval(from *facts, p pki.Path, depth int) value {
	if p == pki.Unknown || depth > maxDepth {
		return value{}
	}
	key := valueKey{from, p}
	if v, ok := s.values[key]; ok {
		return v
	}
	s.values[key] = value{} // whoever comes back here goes in a circle
	root, steps := p.Root()
	v := value{state: isNameless}
	if root != string(pki.Nameless) {
		v = s.top(from, root, depth)
	}
	for len(steps) > 0 && v.state != isUnknown {
		var step string
		step, steps = cutStep(steps)
		v = s.step(from, v, step, depth)
	}
	s.values[key] = v
	return v
}

// cutStep takes the first step off.
func cutStep(steps string) (first, rest string) {
	end := 1
	switch steps[0] {
	case '.', '@':
		if i := strings.IndexAny(steps[1:], pki.StepMarks); i >= 0 {
			end = i + 1
		} else {
			end = len(steps)
		}
	case '(', '[':
		end = strings.IndexAny(steps, ")]") + 1
	case '^':
		end = 1 + keyLength(steps[1:])
	}
	return steps[:end], steps[end:]
}

// keyLength is the length of a key in angle brackets, or 0.
func keyLength(steps string) int {
	depth := 0
	for i := range len(steps) {
		switch steps[i] {
		case '<':
			depth++
		case '>':
			depth--
		}
		if depth == 0 {
			if i == 0 {
				return 0
			}
			return i + 1
		}
	}
	return 0
}

func (s *search) step(from *facts, v value, step string, depth int) value {
	if step[0] != '.' && step[0] != '!' && step[0] != '%' && step[0] != '@' {
		v = s.settle(v, depth)
	}
	switch step[0] {
	case '.':
		return s.memberOf(v, step[1:], depth)
	case '!':
		if v.state == isSymbol {
			v.of = true
		}
		return v
	case '^', '~':
		w := wrap{mark: step[0], from: from}
		if len(step) > 3 {
			w.key = pki.Path(step[2 : len(step)-1])
		}
		v.wraps = append(slices.Clip(v.wraps), w)
		v.results = nil
		return v
	case '%':
		if v.state == isForeign {
			return value{} // its values may be of one of our types
		}
		return v
	case '@':
		return s.nth(v, step[1:], depth)
	case '(':
		return s.call(v, depth)
	case '[':
		return s.element(v, step, depth)
	}
	return value{}
}

// settle turns a variable or field into a value of its type.
func (s *search) settle(v value, depth int) value {
	if v.state != isSymbol || v.of || len(v.wraps) > 0 {
		return v
	}
	d := s.declared(v)
	switch {
	case d == nil:
		return value{}
	case d.isType(), d.isFunction() && (d.decl == nil || !d.decl.Getter):
		return v
	case d.decl == nil || len(d.decl.Results) == 0:
		return value{}
	}
	return s.settle(s.eval(d.from, d.decl.Results[0], depth+1), depth+1)
}

func (s *search) declared(v value) *declared {
	if v.module == nil {
		return nil
	}
	s.load(v.module)
	return v.module.decls[v.name]
}

func (s *search) nth(v value, index string, depth int) value {
	n, err := strconv.Atoi(index)
	switch {
	case err != nil:
		return value{}
	case n < len(v.results):
		return s.eval(v.from, v.results[n], depth+1)
	case n == 0:
		return v
	case v.state == isForeign:
		return v
	}
	return value{}
}

// call is what a function returns, or a value of a type.
func (s *search) call(v value, depth int) value {
	if n := len(v.wraps); n > 0 {
		if v.wraps[n-1].mark != '~' {
			return value{}
		}
		v.wraps = v.wraps[:n-1]
		return v
	}
	if v.state != isSymbol {
		return v
	}
	d := s.declared(v)
	switch {
	case d == nil:
		return value{}
	case d.isFunction():
		if d.decl == nil {
			return value{}
		}
		if len(d.decl.Results) == 0 {
			return value{state: isForeign}
		}
		out := s.eval(d.from, d.decl.Results[0], depth+1)
		out.results, out.from = d.decl.Results, d.from
		return out
	case d.isType() && !v.of:
		v.of = true
		return v
	case d.isType() && d.decl != nil && d.decl.Under != "":
		return s.call(s.settle(s.eval(d.from, d.decl.Under, depth+1), depth), depth+1)
	}
	return value{}
}

// element is what a container has.
func (s *search) element(v value, step string, depth int) value {
	if depth > maxDepth {
		return value{}
	}
	if n := len(v.wraps); n > 0 {
		last := v.wraps[n-1]
		switch {
		case last.mark != '^':
			return value{}
		case step == "[k]" && last.key == "":
			return value{state: isForeign}
		case step == "[k]":
			return s.eval(last.from, last.key, depth+1)
		}
		v.wraps = v.wraps[:n-1]
		return v
	}
	if v.state != isSymbol {
		return v
	}
	d := s.declared(v)
	switch {
	case d == nil:
		return value{}
	case d.isFunction(), d.isType() && !v.of:
		return v // a generic with type arguments
	case d.isType() && d.decl != nil && d.decl.Under != "":
		return s.element(s.settle(s.eval(d.from, d.decl.Under, depth+1), depth+1), step, depth+1)
	}
	return value{}
}

// memberOf looks a name up in a value.
func (s *search) memberOf(v value, name string, depth int) value {
	if v.state == isModule {
		return s.member(v.module, name, depth)
	}
	if v.state == isSymbol && !v.of && len(v.wraps) == 0 { // of a namespace, of an object, inside of a function
		s.load(v.module)
		if full := v.name + "." + name; v.module.decls[full] != nil {
			return value{state: isSymbol, module: v.module, name: full}
		}
	}
	if v = s.settle(v, depth); v.state == isNameless {
		return value{}
	}
	if v.state != isSymbol {
		return v
	}
	if len(v.wraps) > 0 {
		return v.builtin(name)
	}
	return s.inType(v.module, v.name, name, depth)
}

// builtin is a member of a container: a function, of those that give what is
// in it or another such container.
func (v value) builtin(name string) value {
	last := len(v.wraps) - 1
	function := wrap{mark: '~'}
	if v.wraps[last].mark != '^' {
		return value{state: isForeign}
	}
	switch name {
	case "find", "findLast", "at", "pop", "shift", "get", "popleft", "setdefault", "next", "popitem":
		v.wraps = append(slices.Clone(v.wraps[:last]), function)
	case "filter", "slice", "concat", "reverse", "sort", "values", "copy", "toSorted", "toReversed", "splice", "flat", "union":
		v.wraps = append(slices.Clone(v.wraps), function)
	case "items", "entries":
		v.wraps = append(slices.Clone(v.wraps), wrap{mark: '^'}, function)
	default:
		return value{state: isForeign}
	}
	return v
}

// inType looks a name up in a type, and in what it has its members from.
func (s *search) inType(m *module, typ, name string, depth int) value {
	s.load(m)
	if full := typ + "." + name; m.decls[full] != nil {
		return value{state: isSymbol, module: m, name: full}
	}
	d := m.decls[typ]
	if d == nil || d.decl == nil || depth > maxDepth {
		return value{}
	}
	from := slices.Clone(d.decl.Bases)
	if d.decl.Under != "" {
		from = append(from, d.decl.Under)
	}
	found := value{state: isForeign}
	for _, base := range from {
		switch b := s.settle(s.eval(d.from, base, depth+1), depth+1); b.state {
		case isUnknown:
			found = value{}
		case isSymbol:
			if len(b.wraps) > 0 {
				continue
			}
			if v := s.inType(b.module, b.name, name, depth+1); v.state == isSymbol {
				return v
			} else if v.state == isUnknown {
				found = v
			}
		}
	}
	return found
}

// matches tells whether a reference means a target.
func (s *search) matches(f *facts, r *pki.Reference, t target) answer {
	if !f.file.Exact {
		return maybe
	}
	var v value
	switch r.In {
	case "":
		return s.plain(f, r, t)
	case pki.Unknown:
	default:
		in := s.settle(s.eval(f, r.In, 0), 0)
		if in.state == isNameless {
			return no
		}
		v = s.memberOf(in, r.Name, 0)
		if r.Key && v.state != isSymbol && in.state != isUnknown && !s.hasFields(in) {
			return s.plain(f, r, t)
		}
	}
	switch v.state {
	case isUnknown:
		if r.Key || !strings.Contains(t.name, ".") && f.lang == "go" {
			return no // a member is not what stands at the top of a package
		}
		return maybe
	case isSymbol:
		if v.module == t.module && v.name == t.name {
			return yes
		}
	}
	return no
}

// hasFields reports whether a value is of a type with fields of its own.
func (s *search) hasFields(v value) bool {
	v = s.settle(v, 0)
	for range maxDepth {
		d := s.declared(v)
		if v.state != isSymbol || len(v.wraps) > 0 || d == nil {
			return v.state == isForeign && len(v.wraps) == 0
		}
		if d.decl == nil || d.decl.Under == "" {
			return true
		}
		v = s.settle(s.eval(d.from, d.decl.Under, 0), 0)
	}
	return false
}

// plain is matches for a name at the top of a file.
func (s *search) plain(f *facts, r *pki.Reference, t target) answer {
	if f.lang == "go" {
		if strings.Contains(t.name, ".") {
			return no
		}
		if s.moduleOf(f) == t.module {
			return yes
		}
	}
	if v := s.top(f, r.Name, 0); v.state == isSymbol && v.module == t.module && v.name == t.name {
		return yes
	}
	return no
}

// named tells whether a reference to what no file defines may be meant by a
// name: by what it is looked up in.
func named(f *facts, r *pki.Reference, name symbolName) answer {
	if len(name.before) == 0 || !f.file.Exact {
		return maybe
	}
	last := name.before[len(name.before)-1]
	root, steps := r.In.Root()
	for _, i := range f.file.Imports {
		if i.Alias == root && root != "" && steps == "" && strings.HasSuffix("/"+i.Path, "/"+strings.Join(name.before, "/")) {
			return yes
		}
	}
	if root == last && steps == "" || strings.HasSuffix(string(r.In), "."+last) || strings.HasSuffix(strings.TrimRight(string(r.In), "!^[]()"), last) {
		return maybe
	}
	return no
}
