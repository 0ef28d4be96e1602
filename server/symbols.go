package server

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/server/client"
)

// documentSymbol answers for editors that have no better source; see
// Core.DocumentSymbols.
func (s *Server) documentSymbol(ctx context.Context, params json.RawMessage) (any, error) {
	symbols := s.current().DocumentSymbols
	if symbols == nil {
		return nil, errSymbolsOff
	}
	var p lsp.DocumentSymbolParams
	if err := client.Decode(params, &p); err != nil {
		return nil, err
	}
	name, text, err := s.textOf(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	found, err := symbols.OfDocument(ctx, name, []byte(text.Text()))
	if err != nil {
		return nil, err
	}
	t := symbolTree{text: text, enc: s.docs.Enc, list: found}
	if s.client.Can.SymbolTree {
		return t.children(len(text.Text())), nil
	}
	return t.flat(p.TextDocument.URI), nil
}

// workspaceSymbol finds symbols by name; see Core.WorkspaceSymbols.
func (s *Server) workspaceSymbol(ctx context.Context, params json.RawMessage) (any, error) {
	symbols := s.current().WorkspaceSymbols
	if symbols == nil {
		return nil, errSymbolsOff
	}
	var p lsp.WorkspaceSymbolParams
	if err := client.Decode(params, &p); err != nil {
		return nil, err
	}
	found, err := symbols.OfWorkspace(ctx, p.Query)
	if err != nil {
		return nil, err
	}
	out := make([]lsp.SymbolInformation, 0, len(found))
	for _, f := range found {
		at := lsp.Position{Line: uint32(max(0, f.Line-1))}
		out = append(out, lsp.SymbolInformation{
			Name: f.Name, Kind: symbolKind(f.Kind, ""), ContainerName: f.Container,
			Location: lsp.Location{URI: s.view().URI(f.Path), Range: lsp.Range{Start: at, End: at}},
		})
	}
	return out, nil
}

var errSymbolsOff = lsp.Errorf(lsp.MethodNotFound, "symbols are not offered: the settings sidecar.knowledge.documentSymbols and sidecar.knowledge.workspaceSymbols are read when the server starts")

// textOf is the text of a document: the open buffer, or the file.
func (s *Server) textOf(uri string) (name string, text *lsp.Document, err error) {
	if doc := s.docs.At(uri); doc != nil {
		if name = doc.Name; name == "" {
			name, _ = workspace.FilePath(uri)
		}
		return name, doc.Text, nil
	}
	if name = s.docs.NameOf(uri); name == "" {
		return "", nil, client.InvalidParams("textDocument.uri: the document is neither open nor a file of the workspace")
	}
	data, err := s.view().ReadFile(name)
	if err != nil {
		return "", nil, err
	}
	return name, lsp.NewDocument(string(data)), nil
}

// symbolTree turns symbols, outer ones first, into what the protocol wants.
type symbolTree struct {
	text *lsp.Document
	enc  lsp.Encoding
	list []pki.Symbol
	next int
}

// children takes the symbols that begin before an offset, each with what is in
// it.
func (t *symbolTree) children(end int) []lsp.DocumentSymbol {
	out := []lsp.DocumentSymbol{}
	for t.next < len(t.list) && t.list[t.next].StartByte < end {
		s := &t.list[t.next]
		t.next++
		d := lsp.DocumentSymbol{Name: s.Name, Detail: s.Signature, Kind: symbolKind(s.Kind, t.around(s)), Range: t.rangeOf(s.StartByte, s.EndByte)}
		d.SelectionRange = d.Range
		if from, to := s.NameByte, s.NameByte+len(s.Name); from >= s.StartByte && to <= s.EndByte {
			d.SelectionRange = t.rangeOf(from, to)
		}
		d.Children = t.children(min(end, s.EndByte))
		out = append(out, d)
	}
	return out
}

// flat is the form for clients that show a list.
func (t *symbolTree) flat(uri string) []lsp.SymbolInformation {
	out := make([]lsp.SymbolInformation, 0, len(t.list))
	for i := range t.list {
		s := &t.list[i]
		out = append(out, lsp.SymbolInformation{
			Name: s.Name, Kind: symbolKind(s.Kind, t.around(s)), ContainerName: s.Container,
			Location: lsp.Location{URI: uri, Range: t.rangeOf(s.StartByte, s.EndByte)},
		})
	}
	return out
}

func (t *symbolTree) rangeOf(from, to int) lsp.Range {
	return lsp.Range{Start: t.text.Position(from, t.enc), End: t.text.Position(to, t.enc)}
}

// around is the kind of what a symbol belongs to.
func (t *symbolTree) around(s *pki.Symbol) pki.Kind {
	if i := slices.IndexFunc(t.list, func(o pki.Symbol) bool { return o.Qualified == s.Container }); i >= 0 && s.Container != "" {
		return t.list[i].Kind
	}
	return ""
}

// symbolKind is a kind in the protocol's words.
func symbolKind(kind, around pki.Kind) lsp.SymbolKind {
	switch kind {
	case pki.Function:
		return lsp.SymbolFunction
	case pki.Method:
		return lsp.SymbolMethod
	case pki.Interface:
		return lsp.SymbolInterface
	case pki.Struct:
		return lsp.SymbolStruct
	case pki.Enum:
		return lsp.SymbolEnum
	case pki.Constant:
		if around == pki.Enum {
			return lsp.SymbolEnumMember
		}
		return lsp.SymbolConstant
	case pki.Variable:
		return lsp.SymbolVariable
	case pki.Field:
		return lsp.SymbolField
	case pki.Module:
		return lsp.SymbolModule
	case pki.Extension:
		return lsp.SymbolNamespace
	case pki.Heading:
		return lsp.SymbolString
	case pki.Key:
		return lsp.SymbolKey
	}
	return lsp.SymbolClass
}
