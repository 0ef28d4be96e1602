package indexing

import (
	"context"
	"errors"

	"github.com/sidecar-ls/sidecar-ls/internal/exec/worker"
	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/references"
	"github.com/sidecar-ls/sidecar-ls/pki/scan"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/fs"
)

// Symbols are the symbols of source files, and what these refer to.
type Symbols struct{ Parsers *worker.Parsers }

// Outline lists the symbols of a source for people and models. It returns none
// for a kind of file that no parser knows.
func (s Symbols) Outline(path string, src []byte) ([]fs.Symbol, error) {
	lang := treesitter.Language(path, src)
	if lang == "" {
		return nil, nil
	}
	found, err := s.Parsers.Parse(context.Background(), lang, src, false)
	switch {
	case errors.Is(err, treesitter.ErrUnsupported):
		return nil, nil
	case err != nil:
		return nil, tools.Errorf(tools.Unavailable, "%v", err)
	}
	list := make([]fs.Symbol, 0, len(found.Symbols))
	for _, sym := range found.Symbols {
		if sym.Kind == pki.Field && sym.Depth > 0 {
			continue // an outline says what there is, not what it is made of
		}
		list = append(list, fs.Symbol{Name: sym.Name, Kind: string(sym.Kind), Signature: sym.Signature, Line: sym.StartLine, EndLine: sym.EndLine, Depth: sym.Depth})
	}
	return list, nil
}

// OfDocument returns the symbols of a document. A text that can't be parsed has
// none: an editor asks after every key, and has no use for the reason.
func (s Symbols) OfDocument(ctx context.Context, name string, text []byte) ([]pki.Symbol, error) {
	lang := treesitter.Language(name, text)
	if lang == "" {
		return nil, nil
	}
	f, err := s.Parsers.Parse(ctx, lang, text, false)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return f.Symbols, nil
}

// Finder finds the references of source files for the search tools.
func (s Symbols) Finder() *references.Finder {
	return &references.Finder{
		Language: treesitter.Language,
		Analyze: func(ctx context.Context, lang string, src []byte) (pki.File, error) {
			f, err := s.Parsers.Parse(ctx, lang, src, true)
			if err != nil {
				f = treesitter.Names(lang, src, nil)
			}
			return f, err
		},
		Quick: func(lang string, src []byte) pki.File { return treesitter.Names(lang, src, scanned(lang, src)) },
	}
}

// scanned is what a look at the lines of a source says of its symbols.
func scanned(lang string, src []byte) []pki.Symbol {
	units := scan.Units(lang, src, nil)
	symbols := make([]pki.Symbol, len(units))
	for i, u := range units {
		s := &symbols[i]
		*s = pki.Symbol{Name: u.Name.Of(src), Kind: u.Kind, StartByte: u.Start, EndByte: u.End, NameByte: u.Name.Start, Container: u.Owner.Of(src)}
		if u.Parent >= 0 {
			s.Container = symbols[u.Parent].Qualified
		}
		s.Qualified = s.Name
		if s.Container != "" {
			s.Qualified = s.Container + "." + s.Name
		}
	}
	return symbols
}
