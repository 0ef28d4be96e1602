package treesitter

import (
	"go/ast"
	"path"
	"strconv"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

func (w *goReferences) importSpec(spec *ast.ImportSpec) {
	name, err := strconv.Unquote(spec.Path.Value)
	if err != nil || name == "" {
		return
	}
	i := pki.Import{Path: name, Alias: goPackageName(name)}
	at := spec.Path.Pos()
	if spec.Name != nil {
		i.Alias, at = spec.Name.Name, spec.Name.Pos()
	}
	switch i.Alias {
	case "_":
		i.Alias = ""
	case ".":
		i.Alias, i.Name = "", "*"
	default:
		w.imports[i.Alias] = true
	}
	i.Offset = w.offset(at)
	i.Line, i.Column = position(w.lines, i.Offset)
	w.file.Imports = append(w.file.Imports, i)
}

// goPackageName guesses the name of a package from its path.
func goPackageName(name string) string {
	dir, base := path.Split(name)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" && dir != "" {
		base = path.Base(dir)
	}
	base, _, _ = strings.Cut(base, ".v") // gopkg.in/yaml.v3
	base = strings.TrimPrefix(base, "go-")
	return base[strings.LastIndexByte(base, '-')+1:]
}

// isBasic: a name that hardly anybody declares again, and everybody uses.
func isBasic(name string) bool {
	switch name {
	case "nil", "true", "false", "iota", "string", "int", "bool", "error", "byte", "any", "int64", "uint64", "int32", "uint32",
		"uint8", "uint16", "int8", "int16", "uint", "uintptr", "float64", "float32", "rune":
		return true
	}
	return false
}
