package scan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/pki/scan"
)

func TestImports(t *testing.T) {
	for what, c := range map[string]struct {
		lang, src, want string
	}{
		"Go":                 {"go", "// import \"no\"\npackage a\n\nimport \"fmt\"\nimport x \"a/b\"\n\nimport (\n\t\"c/d\" // the \"d\" (really)\n\t_ \"e\"\n\t// \"f\"\n\n\t. \"g\"\n)\n\nvar importance = \"h\"\n", "fmt a/b c/d e g"},
		"Go, nothing behind": {"go", "package a\n\nimport", ""},
		"Go, never closed":   {"go", "package a\nimport (\n\t\"a\"\n\nfunc b() { print(\"c\") }\n", "a"},
		"TypeScript":         {"typescript", "import a from './a'\nimport type {\n  B,\n} from \"../b\";\nexport * from './c'\nimport './d.css'\nconst e = require('e'), f = await import(\n  './f')\nArray.from('g'); transform 'h'\nlet x = `from ${y}`\n", "./a ../b ./c ./d.css ./f e"},
		"JavaScript, cut":    {"javascript", "import a from './a\nrequire(", ""},
		"Python":             {"python", "import os, a.b as c\nfrom .d import (\n    e,  # g\n    F as f,\n)\nif x:\n    from .. import h\n    import i; j()\nfrom k import *\nfrom l import m, \\\n    n\n'''important from nowhere'''\n", "os a.b i .d .d.e ..h k l l.m"},
		"C":                  {"c", "#include <stdio.h>\n # include \"a/b.h\"\n/* include \"c.h\" */\n#include MACRO\n#include \"never\n", "stdio.h a/b.h"},
		"another language":   {"ruby", "require 'a'\n", ""},
		"nothing":            {"python", "", ""},
	} {
		var got []string
		scan.Imports(c.lang, []byte(c.src), func(path []byte) { got = append(got, string(path)) })
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: got %q, want %q", what, got, c.want)
		}
	}
	n := 0
	scan.Imports("c", []byte(strings.Repeat("#include <a.h>\n", 10_000)), func([]byte) { n++ })
	if n != 500 {
		t.Errorf("of 10,000 there are %d", n)
	}
}
