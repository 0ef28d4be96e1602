package langserver

import (
	"strings"
	"testing"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/test/servers"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
)

func TestTypeScript(t *testing.T) {
	slow.Test(t)
	t.Setenv("TMPDIR", t.TempDir()) // it leaves files there
	p := newPool(t, map[string][]string{"typescript-language-server": {servers.TypeScript(t), "--stdio"}}, nil)
	w := newProject(t, map[string]string{
		"tsconfig.json": `{"compilerOptions": {"strict": true, "module": "commonjs", "target": "es2020"}}`,
		"main.ts":       "import { name } from './lib'\n\nexport const n: number = 1 // Ä\nconsole.log(name())\n",
		"lib.ts":        "export function name(): string { return 'disk' }\n",
	})
	check := func(name, want string) {
		t.Helper()
		if got := diagnose(t, p, w, name); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	check("main.ts", "")
	check("lib.ts", "") // clean, and was
	w.propose("lib.ts", "export function title(): string { return 'pending' }\n")
	check("main.ts", "main.ts:1:10 error Module '\"./lib\"' has no exported member 'name'.")
	w.propose("main.ts", "import { title } from './lib'\n\nexport const ä: number = title()\n")
	check("main.ts", "main.ts:3:14 error Type 'string' is not assignable to type 'number'.")

	// A new pending file that another pending file imports.
	w.propose("fresh.ts", "export const fresh = 7\n")
	w.propose("main.ts", "import { fresh } from './fresh'\n\nexport const n: string = fresh\n")
	check("main.ts", "main.ts:3:14 error Type 'number' is not assignable to type 'string'.")
	w.remove("lib.ts")
	w.propose("main.ts", "import { name } from './lib'\n\nexport const n = name\n")
	if got := diagnose(t, p, w, "main.ts"); !strings.Contains(got, "lib.ts' is not a module") {
		t.Errorf("a deleted file: %s", got)
	}
	w.reject("lib.ts")
	check("main.ts", "")

	changes, err := p.Rename(within(t, time.Minute), w, Position{Name: "lib.ts", Line: 1, Symbol: "name"}, "title")
	if err != nil || len(changes) != 2 || !strings.Contains(string(changes[1].After), "title") {
		t.Errorf("renamed: %+v, %v", changes, err)
	}
	where, err := p.Definition(within(t, time.Minute), w, Position{Name: "main.ts", Line: 3, Symbol: "name"})
	if err != nil || len(where) != 1 || where[0].Path != "lib.ts" || where[0].Line != 1 || where[0].Column != 17 {
		t.Errorf("defined: %+v, %v", where, err)
	}
	symbols, err := p.Symbols(within(t, time.Minute), w, "lib.ts")
	if err != nil || len(symbols) != 1 || symbols[0].Name != "name" {
		t.Errorf("symbols: %+v, %v", symbols, err)
	}
}
