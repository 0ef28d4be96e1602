//go:build cgo

package treesitter

import (
	sitter "github.com/smacker/go-tree-sitter"
)

// keptTokens are tokens that change what the node around them means.
var keptTokens = [...]string{"default", "get", "set", "static", "readonly", "type", "=", "*", "const", "async"}

// copyTree copies a tree, but for what is nested deeper than anybody writes.
func copyTree(root *sitter.Node, lang *sitter.Language) *node {
	c := sitter.NewTreeCursor(root)
	defer c.Close()
	t := treeCopier{cursor: c, lang: lang, kinds: make(map[sitter.Symbol]string)}
	return t.copy(0)
}

type treeCopier struct {
	cursor *sitter.TreeCursor
	lang   *sitter.Language
	kinds  map[sitter.Symbol]string
}

func (t *treeCopier) copy(depth int) *node {
	const maxDepth = 800
	current := t.cursor.CurrentNode()
	n := &node{kind: t.kind(current), start: int(current.StartByte()), end: int(current.EndByte())}
	if depth == maxDepth || !t.cursor.GoToFirstChild() {
		return n
	}
	for {
		kid := t.cursor.CurrentNode()
		if kid.IsNamed() || kept(t.kind(kid)) {
			field := t.cursor.CurrentFieldName()
			k := t.copy(depth + 1)
			k.field = field
			n.kids = append(n.kids, k)
		}
		if !t.cursor.GoToNextSibling() {
			break
		}
	}
	t.cursor.GoToParent()
	return n
}

func (t *treeCopier) kind(n *sitter.Node) string {
	symbol := n.Symbol()
	kind, ok := t.kinds[symbol]
	if !ok {
		kind = t.lang.SymbolName(symbol)
		t.kinds[symbol] = kind
	}
	return kind
}

func kept(token string) bool {
	for _, k := range keptTokens {
		if k == token {
			return true
		}
	}
	return false
}
