package app

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// documentSymbols is what tells an editor the symbols of a document, or nil if
// the settings don't want that. A text that can't be parsed has none: an editor
// asks after every key, and has no use for the reason.
func (c *core) documentSymbols() func(context.Context, string, []byte) ([]pki.Symbol, error) {
	if !c.settings.Now().Bool("knowledge.documentSymbols") {
		return nil
	}
	o := outliner{c.parsers}
	return func(ctx context.Context, name string, text []byte) ([]pki.Symbol, error) {
		lang := treesitter.Language(name, text)
		if lang == "" {
			return nil, nil
		}
		f, err := o.parse(ctx, lang, text, false)
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return f.Symbols, nil
	}
}

// workspaceSymbols is what tells an editor the symbols of the project, or nil.
func (c *core) workspaceSymbols() func(context.Context, string) ([]server.SymbolPlace, error) {
	if !c.settings.Now().Bool("knowledge.workspaceSymbols") {
		return nil
	}
	const (
		most = 200
		wait = 5 * time.Second // for the first look at the files
	)
	return func(ctx context.Context, query string) ([]server.SymbolPlace, error) {
		if strings.TrimSpace(query) == "" {
			return nil, nil
		}
		a, err := c.knowledge.Search(ctx, c.live, index.Query{Text: query, MaxHits: most, Wait: wait})
		if errors.Is(err, errNoKnowledge) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		var out []server.SymbolPlace
		for _, h := range a.Hits {
			container, name := "", h.Name
			if i := strings.LastIndexByte(h.Name, '.'); i > 0 && h.Kind != pki.Heading {
				container, name = h.Name[:i], h.Name[i+1:]
			}
			out = append(out, server.SymbolPlace{Path: h.Path, Name: name, Container: container, Kind: h.Kind, Line: h.Start})
		}
		return out, nil
	}
}
