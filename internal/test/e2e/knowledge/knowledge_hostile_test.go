package knowledge_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/app"
	"github.com/sidecar-ls/sidecar-ls/internal/app/cli"
	"github.com/sidecar-ls/sidecar-ls/internal/app/serve"
	"github.com/sidecar-ls/sidecar-ls/internal/test/anywhere"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// TestKnowledgeQuestions: whatever is asked, there is an answer or a reason.
func TestKnowledgeQuestions(t *testing.T) {
	e2e.Home(t)
	r := e2e.Connect(t, e2e.Project(t, map[string]string{"a/greet.go": greeter, "b.go": "package b\n\n// Приветствие говорит: добрый день.\nfunc Privet() {}\n"}), fakeeditor.Options{})
	for what, c := range map[string]struct {
		args e2e.Object
		code string // "" is an answer
		has  string
	}{
		"plain words":          {e2e.Object{"query": "say hello"}, "", "Greet"},
		"nothing":              {e2e.Object{"query": ""}, "invalid_arguments", "empty"},
		"white space":          {e2e.Object{"query": " \n\t"}, "invalid_arguments", "empty"},
		"no query":             {e2e.Object{}, "invalid_arguments", "query"},
		"10 kB":                {e2e.Object{"query": "say hello " + strings.Repeat("lorem ipsum `dolor.sit` ", 450)}, "", "Greet"},
		"1 MB":                 {e2e.Object{"query": "say hello " + strings.Repeat("x/y.go:1 a.b() ", 70_000)}, "", "Greet"},
		"one word of 10 kB":    {e2e.Object{"query": strings.Repeat("hello", 2000)}, "", "no match"},
		"stop words":           {e2e.Object{"query": "what is the of and"}, "", "no match"},
		"signs of expressions": {e2e.Object{"query": `(hello|[a-z]{9999999}+)*\K(?<x>$^.`}, "", "Greet"},
		"signs alone":          {e2e.Object{"query": `.*+?()[]{}|\^$`}, "", "no match"},
		"a broken expression":  {e2e.Object{"query": `((((hello`}, "", "Greet"},
		"another language":     {e2e.Object{"query": "где обрабатывается запрос"}, "", ""},
		"signs of control":     {e2e.Object{"query": "somebody\x00\x1b[31m\u202e"}, "", "Greet"},
		"Chinese":              {e2e.Object{"query": "问候在哪里"}, "", ""},
		"too many hits":        {e2e.Object{"query": "hello", "max_hits": 51}, "invalid_arguments", "max_hits"},
		"no hits":              {e2e.Object{"query": "hello", "max_hits": -1}, "invalid_arguments", "max_hits"},
		"too deep":             {e2e.Object{"query": "hello", "graph_depth": 4}, "invalid_arguments", "graph_depth"},
		"no such kind":         {e2e.Object{"query": "hello", "kind_filter": []string{"gadget"}}, "invalid_arguments", "gadget"},
		"no list of kinds":     {e2e.Object{"query": "hello", "kind_filter": "function"}, "", ""},
		"outside":              {e2e.Object{"query": "hello", "path_prefix": "../.."}, "outside_workspace", ""},
		"no such directory":    {e2e.Object{"query": "hello", "path_prefix": "zzz"}, "", "no match"},
		"a number":             {e2e.Object{"query": 7}, "invalid_arguments", "query"},
	} {
		res := r.Tool("project_knowledge_search", c.args)
		if c.has == "" && c.code == "" {
			continue // it is enough that there is an answer
		}
		if res.OK != (c.code == "") || string(res.Error.Code) != c.code || !strings.Contains(res.Content, c.has) {
			t.Errorf("%s: %.300q, %s", what, res.Content, res.Error.Code)
		}
	}
	if res := r.Tool("project_knowledge_search", e2e.Object{"query": "добрый день"}); !strings.Contains(res.Content, "Privet") {
		t.Errorf("a comment in another language is not found: %s", res.Content)
	}
}

// TestKnowledgeHostileFiles: files of all kinds hold nothing up, break nothing
// and hide nothing of the others, by their lines and by the parsers, which run
// in processes of their own.
func TestKnowledgeHostileFiles(t *testing.T) {
	slow.Test(t) // it writes a hundred megabytes
	e2e.Home(t)
	const n = 30_000
	dir := e2e.Project(t, map[string]string{
		"ok.go": greeter, "ok.py": "def numbat():\n    pass\n",
		"deep.go":    "package a\n\nfunc Deep() {" + strings.Repeat("{", n) + strings.Repeat("}", n) + "}\n",
		"deep.c":     "int deep(void) { return " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) + "; }\n",
		"deep.ts":    "const deep = " + strings.Repeat("[", n),
		"deep.py":    strings.Repeat("(", n) + "\n",
		"deep.java":  strings.Repeat("class A { ", n/10),
		"deep.cpp":   strings.Repeat("a<", n),
		"deep.rs":    strings.Repeat("mod a { ", n/10) + strings.Repeat("}", n/10),
		"deep.kt":    "val a = \"" + strings.Repeat("${\"", n/10),
		"deep.rb":    strings.Repeat("if a\n", n/10),
		"deep.json":  strings.Repeat("[", n),
		"deep.md":    strings.Repeat("> ", n) + "x\n" + strings.Repeat("#", n) + "\n",
		"deep.sh":    strings.Repeat("$(", n/10),
		"latin.go":   "package a\n\n// caf\xe9\nfunc Latin() {}\n",
		"utf16.py":   "\xff\xfed\x00e\x00f\x00 \x00w\x00i\x00d\x00e\x00(\x00)\x00:\x00\n\x00 \x00p\x00a\x00s\x00s\x00\n\x00",
		"nul.c":      "int a;\x00int b;\n",
		"bad.js":     "\xc3\x28\xf0\x28\x8c\x28 function broken( { \xff",
		"crlf.py":    "def carried():\r\n    pass\r\n",
		"cr.go":      "package a\r\rfunc Old() {}\r",
		"gen.pb.go":  "// Code generated by x. DO NOT EDIT.\npackage a\n\nfunc Made() {}\n",
		"long.js":    "var a=" + strings.Repeat("1+", 500_000) + "1\n",
		"empty.rs":   "",
		"dir/inside": "x",
	})
	decoy := filepath.Join(t.TempDir(), "passwd")
	if err := ownfile.WriteFile(decoy, []byte("package decoy\n\nfunc passwdOfRoot() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"loop": ".", "dir/up": "..", "a.go": "b.go", "b.go": "a.go", "dangling.py": "nowhere", "out.go": decoy} {
		if err := ownfile.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	big, err := ownfile.Create(filepath.Join(dir, "generated.go"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := big.WriteString("package a\n\nfunc Giant() {}\n"); err != nil {
		t.Fatal(err)
	}
	line := bytes.Repeat([]byte("var filler = 1 // filler filler filler filler filler filler filler\n"), 1<<14)
	for range 100 {
		if _, err := big.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := big.Close(); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := fakeeditor.Serve(func(in io.Reader, out io.Writer) error {
		return serve.Serve(context.Background(), in, out, serve.Options{App: app.Options{Programs: anywhere.Programs(), Log: slog.New(slog.DiscardHandler), Program: self}, Person: cli.AnswerPerson})
	}, fakeeditor.Options{Root: dir, Capabilities: e2e.Knowing()})
	if _, err := e.Initialize(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	r := &e2e.Rig{Editor: e, T: t, Dir: dir}
	find := func(when string) {
		t.Helper()
		for name, kind := range map[string]string{"Greet": "function", "numbat": "function", "Latin": "function", "wide": "function", "carried": "function", "Made": "function"} {
			if !r.Has("default", name) {
				t.Errorf("%s: the %s %s is not found", when, kind, name)
			}
		}
		if r.Has("default", "Giant") {
			t.Errorf("%s: the giant file was read", when)
		}
		res := r.Tool("project_knowledge_search", e2e.Object{"query": "generated.go passwd root", "max_hits": 50})
		if !strings.Contains(res.Content, "generated.go") || strings.Contains(res.Content, "out.go") || strings.Contains(res.Content, "loop/") {
			t.Errorf("%s: %s", when, res.Content)
		}
	}
	find("by lines")
	r.Indexed("all was given to a parser", func(s server.KnowledgeStatus) bool { return s.Ready && s.Parsed == s.Parseable && s.Parsed > 8 })
	find("by parsers")
}

// TestKnowledgeWhileWritten: files that change while they are read end up as
// they are.
func TestKnowledgeWhileWritten(t *testing.T) {
	e2e.Home(t)
	dir := e2e.Project(t, map[string]string{"ok.go": greeter})
	const files = 30
	text := func(i, turn int) string {
		return fmt.Sprintf("package a\n\nfunc Turn%dOf%d() {}\n\n%s", turn, i, strings.Repeat("// filler\n", (i*7+turn*13)%40*10))
	}
	r := e2e.Connect(t, dir, fakeeditor.Options{})
	const turns = 20
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			for turn := range turns {
				for i := w; i < files; i += 3 {
					name := filepath.Join(dir, fmt.Sprintf("f%d.go", i))
					if err := ownfile.WriteFile(name, []byte(text(i, turn)), 0o644); err != nil {
						t.Error(err)
					}
					if turn%5 == 3 {
						_ = ownfile.Remove(name) // it comes again
					}
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		writers.Wait()
		close(done)
	}()
	for n := 0; ; n++ {
		if !r.Has("default", "Greet") {
			t.Error("a file at rest is not found")
		}
		select {
		case <-done:
		default:
			if n < 10_000 {
				continue
			}
			<-done
		}
		break
	}
	for i := range files {
		res := r.Tool("project_knowledge_search", e2e.Object{"query": fmt.Sprintf("Turn%dOf%d", turns-1, i), "max_hits": 1, "kind_filter": []string{"function"}})
		if want := fmt.Sprintf("f%d.go:3-3\tfunction\tTurn%dOf%d\t", i, turns-1, i); !strings.Contains(res.Content, want) {
			t.Errorf("%d: %s", i, res.Content)
		}
		if r.Has("default", fmt.Sprintf("Turn%dOf%d", turns-2, i)) {
			t.Errorf("%d: an old text is found", i)
		}
	}
}
