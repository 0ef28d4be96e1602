package app

import (
	"errors"

	"github.com/sidecar-ls/sidecar-ls/pki"
	"github.com/sidecar-ls/sidecar-ls/pki/treesitter"
	"github.com/sidecar-ls/sidecar-ls/tools"
	"github.com/sidecar-ls/sidecar-ls/tools/fs"
)

// outline gives the file tools the symbols of a source file. A kind of file
// that no parser knows has none.
func outline(path string, src []byte) ([]fs.Symbol, error) {
	lang := treesitter.Language(path, src)
	if lang == "" {
		return nil, nil
	}
	found, err := treesitter.Extract(lang, src)
	switch {
	case errors.Is(err, treesitter.ErrUnsupported):
		return nil, nil
	case err != nil:
		return nil, tools.Errorf(tools.Unavailable, "%s has no outline: %v; read it with offset and limit, or use grep", path, err)
	}
	list := make([]fs.Symbol, 0, len(found))
	for _, s := range found {
		if s.Kind == pki.Field && s.Depth > 0 {
			continue // an outline says what there is, not what it is made of
		}
		list = append(list, fs.Symbol{Name: s.Name, Kind: string(s.Kind), Signature: s.Signature, Line: s.StartLine, EndLine: s.EndLine, Depth: s.Depth})
	}
	return list, nil
}
