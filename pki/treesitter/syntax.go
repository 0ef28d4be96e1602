package treesitter

// node is a node of a syntax tree, free of C memory: those with a name in the
// grammar, and the words and signs that tells of in keptTokens.
type node struct {
	kind, field string
	start, end  int
	kids        []*node
}

// child returns the kid of a field, or nil.
func (n *node) child(field string) *node {
	if n == nil {
		return nil
	}
	for _, k := range n.kids {
		if k.field == field {
			return k
		}
	}
	return nil
}

// first returns the first kid of one of the kinds, or nil.
func (n *node) first(kinds ...string) *node {
	if n == nil {
		return nil
	}
	for _, k := range n.kids {
		for _, kind := range kinds {
			if k.kind == kind {
				return k
			}
		}
	}
	return nil
}

// only returns the first kid, or nil.
func (n *node) only() *node {
	if n == nil || len(n.kids) == 0 {
		return nil
	}
	return n.kids[0]
}
