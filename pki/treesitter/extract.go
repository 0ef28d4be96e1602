//go:build cgo

package treesitter

import (
	"context"
	"runtime"
	"strings"
	"time"

	sitter "github.com/smacker/go-tree-sitter"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// parse parses src and runs the query, and then a walk if there is one. No
// goroutine other than the caller's sees the tree: two readers of one tree
// crash.
func (g *grammar) parse(src []byte, limit time.Duration, w walk) (pki.File, error) {
	if err := g.compile(); err != nil {
		return pki.File{}, err
	}
	if tablesOf[g.lang].alone {
		g.mu.Lock()
		defer g.mu.Unlock()
	}
	runtime.LockOSThread() // whose time is limited
	defer runtime.UnlockOSThread()
	begun := spent()

	// A parser that once hit its limit would resume the old text, and a context
	// that ends would leave its flag set: each parse has a parser of its own.
	p := sitter.NewParser()
	defer p.Close()
	p.SetLanguage(g.language())
	p.SetOperationLimit(max(1, int(limit.Microseconds())))
	text := src
	if g.lang == "c" || g.lang == "cpp" {
		text = withoutMacros(g.lang, src)
	}
	tree, err := p.ParseCtx(context.Background(), nil, text)
	for err != nil && spent()-begun < limit { // its limit is by the clock
		tree, err = p.ParseCtx(context.Background(), nil, text) // goes on
	}
	if err != nil {
		return pki.File{}, ErrTimeout // the language is set and the context cannot end
	}
	defer tree.Close()

	if hostile(tree.RootNode(), len(src)) {
		return pki.File{}, ErrRefused
	}
	symbols := g.assemble(g.marks(tree.RootNode(), src, begun+2*limit), src)
	if tree.RootNode().HasError() {
		symbols = g.recoverLines(tree.RootNode(), src, symbols)
	}
	if w == nil {
		return pki.File{Symbols: symbols}, nil
	}
	return w(copyTree(tree.RootNode(), g.language()), src, symbols), nil
}

// marks runs the query until so much time is spent; a match is small work, see
// hostile.
func (g *grammar) marks(root *sitter.Node, src []byte, most time.Duration) []mark {
	cursor := sitter.NewQueryCursor()
	defer cursor.Close()
	cursor.Exec(g.compiled, root)
	var marks []mark
	for n := 0; len(marks) < 2*maxSymbols; n++ {
		match, ok := cursor.NextMatch()
		if !ok {
			break
		}
		if m, ok := g.mark(match, src); ok {
			marks = append(marks, m)
		}
		if n%256 == 255 && spent() > most {
			break
		}
	}
	return marks
}

// hostile reports whether a tree would keep the query, which cannot be stopped
// between two matches, busy for minutes. It walks up from every node, so depth
// hurts; and it looks for the next named sibling of every node, so what hurts
// too is a node of broken code with thousands of mere tokens as children. Both
// need a byte at least for a level or a token, so probes every so often find
// whatever is much worse than the limits.
func hostile(root *sitter.Node, size int) bool {
	const every, maxDepth, maxTokens = 2 << 10, 1000, 4000
	broken := root.HasError()
	c := sitter.NewTreeCursor(root)
	defer c.Close()
	for at := 0; at < size; at += every {
		c.Reset(root)
		for depth := 0; ; depth++ {
			if depth == maxDepth {
				return true
			}
			if broken {
				// What not even the lexer knew is a node without visible children.
				n := c.CurrentNode()
				tokens := n.ChildCount() - n.NamedChildCount()
				if n.IsError() && n.ChildCount() == 0 {
					tokens = n.EndByte() - n.StartByte()
				}
				if n.IsError() && tokens > maxTokens {
					return true
				}
			}
			if c.GoToFirstChildForByte(uint32(at)) < 0 {
				break
			}
		}
	}
	return false
}

func (g *grammar) mark(match *sitter.QueryMatch, src []byte) (m mark, ok bool) {
	m = mark{pattern: int(match.PatternIndex), nameStart: -1}
	for _, c := range match.Captures {
		start, end := int(c.Node.StartByte()), int(c.Node.EndByte())
		if start > end || end > len(src) {
			return m, false
		}
		what := g.captures[c.Index]
		switch what.role {
		case roleDefinition, roleDeclaration:
			m.start, m.end, m.kind, m.declared = start, end, what.kind, what.role == roleDeclaration
		case roleLocal:
			m.start, m.end = start, end
			return m, true
		case roleName:
			m.nameStart, m.nameEnd = start, end
		case roleReceiver:
			m.receiver = strings.ToValidUTF8(string(src[start:end]), "")
		case roleDoc:
			m.doc, m.docStart, m.docEnd = docstring(string(src[start:end])), start, end
		}
	}
	return m, m.kind != "" && m.nameStart >= 0 && m.nameEnd > m.nameStart
}
