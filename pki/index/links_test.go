package index_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/pki/index"
)

// importing has one small project for each language.
var importing = map[string]string{
	"go.mod":                "module example.org/zoo\n",
	"cage/cage.go":          "package cage\n\n// Lock closes it.\nfunc Lock() {}\n",
	"cage/bars.go":          "package cage\n\nfunc Bars() {}\n",
	"keeper/keeper.go":      "package keeper\n\nimport (\n\t\"fmt\"\n\n\t\"example.org/zoo/cage\"\n)\n\nfunc Feed() { fmt.Println(cage.Bars) }\n",
	"keeper/keeper_test.go": "package keeper\n\nimport \"example.org/zoo/cage\"\n\nfunc TestFeed() { cage.Lock() }\n",
	"web/package.json":      `{"name": "@zoo/web"}`,
	"web/ticket.ts":         "import { price } from './money'\n\nexport function printTicket() { return price }\n",
	"web/money.ts":          "export const price = 1\nexport function refund() { return price }\n",
	"web/app/main.tsx":      "import * as t from '@zoo/web/ticket'\nexport function startApp() {}\n",
	"py/zoo/__init__.py":    "",
	"py/zoo/animals.py":     "from . import food\nimport os\n\ndef feed_animals():\n    return food.hay()\n",
	"py/zoo/food.py":        "def hay():\n    return 1\n",
	"c/pump.c":              "#include <stdio.h>\n#include \"water.h\"\n\nint run_pump(void)\n{\n\treturn 0;\n}\n",
	"c/include/water.h":     "struct water {\n\tint level;\n};\n",
}

// links are what the files of hits import and are imported by.
func (p *project) links(view workspace.Files, q index.Query) string {
	p.t.Helper()
	q.MaxHits, q.MaxFiles, q.MaxGraphHits, q.GraphDepth = 1, 1, 50, 1
	var out []string
	a := p.askIn(view, q)
	if len(a.Hits) == 0 {
		p.t.Fatalf("%q: no hit", q.Text)
	}
	for _, h := range a.Graph {
		if strings.HasPrefix(h.Via.Relation, "import") {
			out = append(out, fmt.Sprintf("%s %s", h.Via.Relation, h.Path))
			if h.Kind != "file" || h.Via.From != a.Hits[0].Name {
				p.t.Errorf("%q: %+v, %+v", q.Text, h, h.Via)
			}
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func TestImports(t *testing.T) {
	p := newProject(t, importing)
	plain := workspace.Guard(p.disk, nil)
	for _, c := range []struct {
		q    index.Query
		want string
	}{
		{index.Query{Text: "keeper.go Feed"}, "imports cage/cage.go"},
		{index.Query{Text: "cage Lock closes"}, "imported-by keeper/keeper.go, imported-by keeper/keeper_test.go"},
		{index.Query{Text: "Bars"}, "imported-by keeper/keeper.go, imported-by keeper/keeper_test.go"},
		{index.Query{Text: "printTicket"}, "imported-by web/app/main.tsx, imports web/money.ts"},
		{index.Query{Text: "refund"}, "imported-by web/ticket.ts"},
		{index.Query{Text: "startApp"}, "imports web/ticket.ts"},
		{index.Query{Text: "feed_animals"}, "imports py/zoo/food.py"},
		{index.Query{Text: "hay", Prefix: "py/"}, "imported-by py/zoo/animals.py"},
		{index.Query{Text: "run_pump"}, "imports c/include/water.h"},
		{index.Query{Text: "water level"}, "imported-by c/pump.c"},
	} {
		if got := p.links(plain, c.q); got != c.want {
			t.Errorf("%q: got %s; want %s", c.q.Text, got, c.want)
		}
	}
	far := p.ask(index.Query{Text: "startApp", MaxHits: 1, MaxFiles: 1, GraphDepth: 2, MaxGraphHits: 9}).Graph
	if !slices.ContainsFunc(far, func(h index.Hit) bool {
		return h.Path == "web/money.ts" && *h.Via == index.Via{Relation: "imports", Hops: 2, From: "startApp"}
	}) {
		t.Errorf("two hops: %+v", far)
	}
}

// TestImportsFollow: edits, what lies over the disk, other trees and other runs
// have the imports of their own texts.
func TestImportsFollow(t *testing.T) {
	kept := t.TempDir()
	p := newProject(t, importing)
	o := p.options()
	o.Store = &index.Store{Open: func(bool) (*os.Root, error) { return os.OpenRoot(kept) }}
	p.Index = index.New(o)
	plain := workspace.Guard(p.disk, nil)
	over := func(texts layer) workspace.Files { return workspace.Guard(workspace.NewOverlay(p.disk, texts), nil) }
	check := func(what string, view workspace.Files, text, want string) {
		t.Helper()
		if got := p.links(view, index.Query{Text: text}); got != want {
			t.Errorf("%s: %s: got %q, want %q", what, text, got, want)
		}
	}
	check("at first", plain, "refund", "imported-by web/ticket.ts")

	view := over(layer{"web/ticket.ts": "export function printTicket() {}\n", "web/shop.ts": "import './money.js'\n"})
	check("in buffers", view, "refund", "imported-by web/shop.ts")
	check("in buffers", view, "printTicket", "imported-by web/app/main.tsx")
	check("beside them", plain, "refund", "imported-by web/ticket.ts")

	view = over(layer{"go.mod": "module example.org/park\n"})
	check("another name of the module", view, "cage Lock closes", "")
	check("and beside it", plain, "cage Lock closes", "imported-by keeper/keeper.go, imported-by keeper/keeper_test.go")

	p.edit("py/zoo/animals.py", "from .food import hay\nfrom .water import drink\n\ndef feed_animals():\n    return hay()\n")
	check("edited", plain, "feed_animals", "imports py/zoo/food.py")
	p.edit("py/zoo/water.py", "def drink(): pass\n")
	check("a file comes", plain, "feed_animals", "imports py/zoo/food.py, imports py/zoo/water.py")
	if err := ownfile.Remove(p.dir + "/py/zoo/food.py"); err != nil {
		t.Fatal(err)
	}
	p.names = append(p.names, "py/zoo/food.py")
	check("a file goes", plain, "feed_animals", "imports py/zoo/water.py")

	q := newProject(t, importing)
	write(t, q.dir, "web/ticket.ts", "import './app/main'\n\nexport function printTicket() {}\n")
	fork := p.Fork(workspace.Guard(q.disk, nil), nil)
	q.Index = fork
	if got := q.links(workspace.Guard(q.disk, nil), index.Query{Text: "printTicket"}); got != "imports web/app/main.tsx" {
		t.Errorf("another tree: got %s", got)
	}
	check("beside the other tree", plain, "printTicket", "imported-by web/app/main.tsx, imports web/money.ts")

	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p.Index = index.New(o)
	check("another run", plain, "feed_animals", "imports py/zoo/water.py")
	check("another run", plain, "startApp", "imports web/ticket.ts")
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestImportsOfMany: what everybody imports is tied to a few of them, those
// nearby, and what is not there to nobody.
func TestImportsOfMany(t *testing.T) {
	files := map[string]string{"go.mod": "module m\n", "log/log.go": "package log\n\nfunc WriteEverything() {}\n", "a/near/x.go": "package near\n"}
	for i := range 300 {
		files[fmt.Sprintf("p%d/p.go", i)] = fmt.Sprintf("package p%d\n\nimport (\n\t\"m/log\"\n\t\"m/nowhere\"\n)\n", i)
	}
	files["log/near/n.go"] = files["p0/p.go"]
	p := newProject(t, files)
	got := p.links(workspace.Guard(p.disk, nil), index.Query{Text: "WriteEverything"})
	if n := strings.Count(got, "imported-by"); n != 10 || !strings.Contains(got, "imported-by log/near/n.go") {
		t.Errorf("%d: %s", n, got)
	}
}
