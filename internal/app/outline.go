package app

import (
	"context"
	"errors"

	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/references"
	"github.com/sidecar-ls/sidecar-ls/pki/scan"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/fs"
)

// outliner gives the tools the symbols of a source file, and what it refers to.
type outliner struct {
	workers *parserPool // nil parses here
}

// outline returns no symbols for a kind of file that no parser knows.
func (o outliner) outline(path string, src []byte) ([]fs.Symbol, error) {
	lang := treesitter.Language(path, src)
	if lang == "" {
		return nil, nil
	}
	found, err := o.parse(context.Background(), lang, src, false)
	switch {
	case errors.Is(err, treesitter.ErrUnsupported):
		return nil, nil
	case err != nil:
		return nil, tools.Errorf(tools.Unavailable, "%v", err)
	}
	list := make([]fs.Symbol, 0, len(found.Symbols))
	for _, s := range found.Symbols {
		if s.Kind == pki.Field && s.Depth > 0 {
			continue // an outline says what there is, not what it is made of
		}
		list = append(list, fs.Symbol{Name: s.Name, Kind: string(s.Kind), Signature: s.Signature, Line: s.StartLine, EndLine: s.EndLine, Depth: s.Depth})
	}
	return list, nil
}

// parse returns the symbols of a source and, if names is set, what it refers to.
func (o outliner) parse(ctx context.Context, lang string, src []byte, names bool) (pki.File, error) {
	switch {
	case o.workers != nil && !treesitter.Safe(lang):
		return o.workers.parse(ctx, lang, src, names)
	case names:
		return treesitter.Analyze(lang, src)
	}
	symbols, err := treesitter.Extract(lang, src)
	return pki.File{Symbols: symbols}, err
}

// finder gives the search tools the references of source files.
func (o outliner) finder() *references.Finder {
	return &references.Finder{
		Language: treesitter.Language,
		Analyze: func(ctx context.Context, lang string, src []byte) (pki.File, error) {
			f, err := o.parse(ctx, lang, src, true)
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
