package prose

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
)

// TestAll: whatever people or models read here is made of sentences that can be
// read once: pages, titles of commands, settings, tools, prompts, skills and the
// command line's help.
func TestAll(t *testing.T) {
	tree := os.DirFS("../../../..")
	found := map[string][]Finding{}
	texts := 0
	check := func(name string, list []Finding) {
		texts++
		found[name] = append(found[name], list...)
	}

	for _, pattern := range []string{"*.md", "docs/*.md", "editors/*/README.md", "internal/agents/loop/prompts/*.md", "internal/skills/shipped/*/*.md"} {
		names, err := fs.Glob(tree, pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %d files", pattern, err, len(names))
		}
		for _, name := range names {
			check(name, Markdown(read(t, tree, name)))
		}
	}
	for _, row := range config.Table() {
		check("internal/config/table.go", Text(row.Help))
	}
	for _, c := range commands.Table() {
		check("server/commands", Text(c.Title))
	}
	tools, err := fs.Glob(tree, "internal/app/testdata/tools/*.json")
	if err != nil || len(tools) == 0 {
		t.Fatalf("no tools: %v", err)
	}
	for _, name := range append(tools, "editors/vscode/package.nls.json", "editors/vscode/package.json") {
		for _, text := range described(t, read(t, tree, name), path.Base(name) == "package.nls.json") {
			check(name, Text(text))
		}
	}
	sources, err := fs.Glob(tree, "internal/app/cli/*.go")
	setup, failed := fs.Glob(tree, "internal/doors/setup/*.go")
	if err := errors.Join(err, failed); err != nil || len(sources) == 0 || len(setup) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	sources = append(sources, setup...)
	for _, name := range sources {
		if !strings.HasSuffix(name, "_test.go") {
			for _, text := range literals(t, name, read(t, tree, name)) {
				check(name, Text(text))
			}
		}
	}

	if texts < 300 {
		t.Errorf("control: only %d texts were read", texts)
	}
	for _, fault := range faults(found) {
		t.Error(fault)
	}
}

// faults are the findings, by file.
func faults(found map[string][]Finding) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(found)) {
		for _, f := range found[name] {
			list = append(list, name+": "+f.Why+"\n\t"+f.Sentence)
		}
	}
	return list
}

// TestFaults: a bad sentence fails.
func TestFaults(t *testing.T) {
	if got := faults(map[string][]Finding{"a.md": Markdown("It is told.\n"), "b.md": Markdown("It is fine.\n")}); len(got) != 1 || !strings.HasPrefix(got[0], "a.md: ") {
		t.Errorf("got %q", got)
	}
}

func read(t *testing.T, tree fs.FS, name string) string {
	t.Helper()
	data, err := fs.ReadFile(tree, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// described are the titles and descriptions in a JSON document, or all its strings.
func described(t *testing.T, text string, all bool) []string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	var list []string
	var walk func(v any, is bool)
	walk = func(v any, is bool) {
		switch v := v.(type) {
		case map[string]any:
			for key, v := range v {
				walk(v, all || key == "title" || key == "description" || key == "markdownDescription")
			}
		case []any:
			for _, v := range v {
				walk(v, is)
			}
		case string:
			if is {
				list = append(list, v)
			}
		}
	}
	walk(v, all)
	return list
}

// literals are the string literals of a Go file that are sentences: of three words
// or more.
func literals(t *testing.T, name, source string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil && Words(text) >= 3 && !strings.HasPrefix(text, "[") { // a synopsis has no sentences
				list = append(list, text)
			}
		}
		return true
	})
	return list
}
