package treesitter

import (
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// types walks an annotation.
func (w *pyWalker) types(n *node) {
	switch n.kind {
	case "identifier":
		w.use(n, pki.RefType)
	case "attribute":
		w.walk(n.child("object"))
		w.refer(n.child("attribute"), w.pathOf(n.child("object")), pki.RefType)
	case "string":
		w.quoted(n)
	default:
		for _, k := range n.kids {
			w.types(k)
		}
	}
}

// quoted refers to the name that is all of a string.
func (w *pyWalker) quoted(n *node) {
	if content := n.first("string_content"); content != nil && isDottedName(w.text(content)) && !strings.Contains(w.text(content), ".") {
		w.use(content, pki.RefType)
	}
}

func isDottedName(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// typeOf says what a value with an annotation is.
func (w *pyWalker) typeOf(n *node) pki.Path { return w.typeIn(n, 0) }

func (w *pyWalker) typeIn(n *node, depth int) pki.Path {
	if n == nil || depth > maxSpine {
		return pki.Unknown
	}
	switch n.kind {
	case "type", "parenthesized_expression":
		return w.typeIn(n.only(), depth+1)
	case "string":
		content := n.first("string_content")
		if text := w.text(content); isDottedName(text) {
			root, rest, _ := strings.Cut(text, ".")
			path := pki.Path(root)
			if b, ok := w.lookup(root); ok {
				path = b.path
			}
			if rest != "" {
				path = path.Then("." + rest)
			}
			return path.Then("!")
		}
	case "identifier", "attribute":
		switch w.text(n) {
		case "Any", "object", "typing.Any":
			return pki.Unknown
		case "Self", "typing.Self":
			if len(w.classes) > 0 {
				return w.classes[len(w.classes)-1].path
			}
		}
		return w.pathIn(n, depth+1).Then("!")
	case "none", "list", "integer":
		return valueBasic
	case "generic_type", "subscript":
		return w.generic(n, depth)
	case "union_type", "binary_operator":
		return w.oneOf(n.kids, depth)
	}
	return pki.Unknown
}

// oneOf is the one type of a union that is not None.
func (w *pyWalker) oneOf(kids []*node, depth int) pki.Path {
	found := pki.Unknown
	for _, k := range kids {
		if w.text(k) == "None" {
			continue
		}
		path := w.typeIn(k, depth+1)
		if found != pki.Unknown && path != found {
			return pki.Unknown
		}
		found = path
	}
	return found
}

func (w *pyWalker) generic(n *node, depth int) pki.Path {
	name := n.only()
	var args []*node
	for _, k := range n.kids {
		switch {
		case k == name:
		case k.kind == "type_parameter":
			args = append(args, k.kids...)
		default:
			args = append(args, k)
		}
	}
	arg := func(i int) pki.Path {
		if i >= len(args) {
			return pki.Unknown
		}
		return w.typeIn(args[i], depth+1)
	}
	text := w.text(name)
	switch text[strings.LastIndexByte(text, '.')+1:] {
	case "Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "Awaitable", "Coroutine", "ContextManager", "AbstractContextManager":
		return arg(0)
	case "Union":
		return w.oneOf(args, depth)
	case "List", "list", "Set", "set", "FrozenSet", "frozenset", "Sequence", "Iterable", "Iterator", "Collection", "MutableSequence", "Deque", "deque", "Tuple", "tuple", "AsyncIterator", "AsyncIterable", "Generator", "AsyncGenerator", "AbstractSet":
		return arg(0).Then("^")
	case "Dict", "dict", "Mapping", "MutableMapping", "DefaultDict", "defaultdict", "OrderedDict":
		return arg(1).Map(arg(0))
	case "Type", "type":
		return pki.Path(strings.TrimSuffix(string(arg(0)), "!"))
	case "Callable":
		return arg(1).Then("~")
	}
	return w.typeIn(name, depth+1)
}
