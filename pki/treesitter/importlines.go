package treesitter

import (
	"regexp"
	"strings"
	"sync"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// importForm is how a language writes imports: an expression with the groups
// path and, where they are, names and alias.
type importForm struct {
	re   *regexp.Regexp
	tail string // separates the last part of the path, which is the name
	all  bool   // all names of the module come in
}

var importForms = sync.OnceValue(func() map[string][]importForm {
	form := func(text, tail string, all bool) importForm {
		return importForm{regexp.MustCompile("(?m)" + text), tail, all}
	}
	include := form(`^[ \t]*#[ \t]*(?:include|import)[ \t]*[<"](?P<path>[^>"\n]+)[>"]`, "", true)
	return map[string][]importForm{
		"c":      {include},
		"cpp":    {include},
		"java":   {form(`^[ \t]*import\s+(?:static\s+)?(?P<path>[\w.]+(?:\.\*)?)\s*;`, ".", false)},
		"kotlin": {form(`^[ \t]*import\s+(?P<path>[\w.]+(?:\.\*)?)(?:[ \t]+as[ \t]+(?P<alias>\w+))?`, ".", false)},
		"scala":  {form(`^[ \t]*import\s+(?P<path>[\w.]+?)(?:\.\{(?P<names>[^}]*)\})?[ \t]*$`, ".", false), form(`^[ \t]*import\s+(?P<path>[\w.]+\.[_*])[ \t]*$`, ".", false)},
		"swift":  {form(`^[ \t]*(?:@\w+\s+)*import\s+(?:(?:class|struct|enum|protocol|func|var|let|typealias)\s+)?(?P<path>[\w.]+)`, "", true)},
		"csharp": {form(`^[ \t]*(?:global\s+)?using\s+(?:static\s+)?(?:(?P<alias>\w+)\s*=\s*)?(?P<path>[\w.]+)\s*;`, "", true)},
		"rust":   {form(`^[ \t]*(?:pub(?:\([^)]*\))?\s+)?use\s+(?P<path>[\w:]+?)(?:::\{(?P<names>[^;]*)\})?(?:\s+as\s+(?P<alias>\w+))?\s*;`, "::", false), form(`^[ \t]*(?:pub(?:\([^)]*\))?\s+)?mod\s+(?P<path>\w+)\s*;`, "", false)},
		"ruby":   {form(`^[ \t]*(?:require|require_relative|load|autoload\s+:\w+,)[ \t(]*['"](?P<path>[^'"\n]+)['"]`, "", true)},
		"php":    {form(`^[ \t]*use\s+(?:function\s+|const\s+)?(?P<path>[\w\\]+?)(?:\\\{(?P<names>[^}]*)\})?(?:\s+as\s+(?P<alias>\w+))?\s*;`, `\`, false), form(`\b(?:require|include)(?:_once)?[ \t(]+(?:__DIR__[ \t]*\.[ \t]*)?['"](?P<path>[^'"\n]+)['"]`, "", true)},
		"lua":    {form(`(?:^|\blocal[ \t]+(?P<alias>\w+)[ \t]*=[ \t]*)require[ \t(]*['"](?P<path>[^'"\n]+)['"]`, "", false)},
		"bash":   {form(`^[ \t]*(?:source|\.)[ \t]+["']?(?P<path>[^\s"';|&]+)`, "", true)},
	}
})

var packageForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*(?:package|namespace)[ \t]+([\w.\\]+)`)
})

// imports finds what the lines of a source import, and its package.
func (n *nameScanner) imports(lang string) {
	for _, form := range importForms()[lang] {
		for _, at := range form.re.FindAllSubmatchIndex(n.src, maxImports) {
			group := func(name string) (string, int) {
				if i := form.re.SubexpIndex(name); i >= 0 && at[2*i] >= 0 {
					return string(n.src[at[2*i]:at[2*i+1]]), at[2*i]
				}
				return "", -1
			}
			path, offset := group("path")
			list, from := group("names")
			alias, _ := group("alias")
			switch {
			case list != "":
				n.importNames(path, list, from, form.tail)
			case form.tail == "":
				i := pki.Import{Path: path, Alias: alias, Offset: offset}
				if form.all && alias == "" {
					i.Name = "*"
				}
				n.addImport(i)
			default:
				n.importLast(path, alias, offset, form.tail)
			}
		}
	}
	switch lang {
	case "java", "kotlin", "scala", "csharp", "php":
		if m := packageForm().FindSubmatch(n.src); m != nil {
			n.file.Package = strings.ReplaceAll(string(m[1]), `\`, ".")
		}
	}
}

const maxImports = 2000

// importLast adds an import whose name is the last part of its path.
func (n *nameScanner) importLast(path, alias string, offset int, tail string) {
	i := pki.Import{Path: path, Name: path, Offset: offset}
	if cut := strings.LastIndex(path, tail); cut >= 0 {
		i.Path, i.Name = path[:cut], path[cut+len(tail):]
	}
	switch {
	case i.Name == "*" || i.Name == "_":
		i.Name = "*"
	case alias != "":
		i.Alias = alias
	default:
		i.Alias = i.Name
	}
	n.addImport(i)
}

// importNames adds the names of a list in braces. Nested lists are not followed.
func (n *nameScanner) importNames(path, list string, from int, tail string) {
	at := from
	for part := range strings.SplitSeq(list, ",") {
		name := strings.Trim(part, " \t\r\n{}")
		offset := at + max(0, strings.Index(part, name))
		at += len(part) + 1
		name, alias, _ := strings.Cut(strings.ReplaceAll(name, "=>", " as "), " as ")
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		n.importLast(path+tail+name, strings.TrimSpace(alias), offset, tail)
	}
}

func (n *nameScanner) addImport(i pki.Import) {
	if i.Path == "" {
		return
	}
	i.Line, i.Column = position(n.starts, i.Offset)
	n.imported[i.Line] = true
	n.file.Imports = append(n.file.Imports, i)
}
