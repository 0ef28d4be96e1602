package imports_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sidecar-ls/sidecar-ls/pki/imports"
)

// tree makes a Tree of files in memory.
type tree struct{ fstest.MapFS }

func (t tree) IsFile(name string) bool {
	info, err := fs.Stat(t.MapFS, name)
	return err == nil && info.Mode().IsRegular()
}

func (t tree) IsDir(name string) bool {
	info, err := fs.Stat(t.MapFS, name)
	return err == nil && info.IsDir()
}

func (t tree) IsPackage(dir string) bool {
	entries, _ := fs.ReadDir(t.MapFS, dir)
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), ".go") })
}

func resolver(texts map[string]string) *imports.Resolver {
	t := tree{fstest.MapFS{}}
	var list []imports.Description
	for name, text := range texts {
		t.MapFS[name] = &fstest.MapFile{Data: []byte(text)}
		if imports.Describes(name) {
			if d, ok := imports.Describe(name, []byte(text)); ok {
				list = append(list, d)
			}
		}
	}
	return imports.New(t, list)
}

// TestResolve: what imports lead to, and that the word of each is among the
// words by which it is looked for from the other side.
func TestResolve(t *testing.T) {
	r := resolver(map[string]string{
		"go.mod":  "// a comment\nmodule example.org/app // another\n",
		"main.go": "", "store/store.go": "", "api/core/v1/types.go": "", "vendor/github.com/x/y/y.go": "",
		"tools/go.mod": "module \"example.org/app/tools/v2\"\n",
		"tools/gen.go": "", "tools/lib/lib.go": "",
		"broken/go.mod":    "no module",
		"web/package.json": `{"name": "@app/web", "main": "src/main.ts"}`,
		"web/src/main.ts":  "", "web/src/util/index.ts": "", "web/src/a.service.ts": "", "web/src/types.d.ts": "",
		"web/tsconfig.json":  "{ // where things are\n \"compilerOptions\": {\"baseUrl\": \".\", \"paths\": {\"~/*\": [\"src/*\"],}} }",
		"other/package.json": "{",
		"py/app/__init__.py": "", "py/app/models/__init__.py": "", "py/app/models/user.py": "", "py/app/views.py": "", "src/lib.py": "", "space/deep/x.py": "",
		"include/linux/list.h": "", "drivers/net/a.c": "", "drivers/net/a.h": "", "drivers/include/b.h": "",
	})
	for _, c := range []struct{ lang, from, name, want string }{
		{"go", "main.go", "example.org/app/store", "store"},
		{"go", "store/store.go", "example.org/app", "."},
		{"go", "main.go", "example.org/app/api/core/v1", "api/core/v1"},
		{"go", "main.go", "github.com/x/y", "vendor/github.com/x/y"},
		{"go", "main.go", "example.org/app/tools/v2", "tools"},
		{"go", "main.go", "example.org/app/tools/v2/lib", "tools/lib"},
		{"go", "main.go", "example.org/application", ""},
		{"go", "main.go", "fmt", ""},
		{"typescript", "web/src/main.ts", "./util", "web/src/util/index.ts"},
		{"typescript", "web/src/util/index.ts", "..", ""},
		{"typescript", "web/src/main.ts", "./a.service", "web/src/a.service.ts"},
		{"javascript", "web/src/main.ts", "./a.service.js", "web/src/a.service.ts"},
		{"tsx", "web/src/main.ts", "./types", "web/src/types.d.ts"},
		{"typescript", "web/src/main.ts", "~/util", "web/src/util/index.ts"},
		{"typescript", "web/src/main.ts", "src/util", "web/src/util/index.ts"},
		{"typescript", "main.ts", "@app/web", "web/src/main.ts"},
		{"typescript", "main.ts", "@app/web/util", "web/src/util/index.ts"},
		{"typescript", "main.ts", "react", ""},
		{"typescript", "main.ts", "../../../etc/passwd", ""},
		{"python", "py/app/views.py", ".models.user", "py/app/models/user.py"},
		{"python", "py/app/views.py", ".", "py/app/__init__.py"},
		{"python", "py/app/models/user.py", "..views", "py/app/views.py"},
		{"python", "py/app/views.py", "app.models", "py/app/models/__init__.py"},
		{"python", "py/app/views.py", "lib", "src/lib.py"},
		{"python", "main.py", "space", "space/"},
		{"python", "main.py", "os.path", ""},
		{"c", "drivers/net/a.c", "a.h", "drivers/net/a.h"},
		{"c", "drivers/net/a.c", "b.h", "drivers/include/b.h"},
		{"cpp", "drivers/net/a.c", "linux/list.h", "include/linux/list.h"},
		{"c", "drivers/net/a.c", "stdio.h", ""},
		{"ruby", "a.rb", "lib", ""},
	} {
		got := r.Resolve(c.lang, c.from, c.name)
		if got != c.want {
			t.Errorf("%s in %s: %q leads to %q, want %q", c.lang, c.from, c.name, got, c.want)
		}
		if got == "" || strings.HasSuffix(got, "/") {
			continue
		}
		if word := imports.Word(c.lang, c.from, c.name); !slices.Contains(r.Words(c.lang, got), word) {
			t.Errorf("%s in %s: %q has the word %q, %s is looked for by %q", c.lang, c.from, c.name, word, got, r.Words(c.lang, got))
		}
	}
}

func TestDescribe(t *testing.T) {
	for name, text := range map[string]string{"go.mod": "module\t", "a/go.mod": "", "package.json": "[]", "b/package.json": `{"main": "x"}`} {
		if d, ok := imports.Describe(name, []byte(text)); ok && d.Path != "" {
			t.Errorf("%s: %q says %+v", name, text, d)
		}
	}
	if d, ok := imports.Describe("a/package.json", []byte(`{"name": "x", "source": "y", "main": "z"}`)); !ok || d.Dir != "a" || d.Path != "x" || d.Main != "y" {
		t.Errorf("the control: %+v", d)
	}
}
