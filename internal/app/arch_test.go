package app_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/sidecar-ls/sidecar-ls"

// may says which packages of ours each package may import, tests aside. A
// pattern that ends in /... stands for a tree. An edge that is missing here is
// a decision: add it only with its reason.
var may = []struct {
	pkg     string
	imports []string
	why     string
}{
	{"cmd/sidecar-ls", []string{"internal/app"}, "main is a wrapper, so that all behaviour can be imported and tested"},
	{"internal/app", []string{"..."}, "the one place that knows everything"},
	{"server", []string{"internal/lsp", "internal/dispatch", "internal/workspace", "internal/config", "internal/session", "internal/events", "internal/diff", "tools", "pendingedits", "shadow", "pki"},
		"the border to LSP translates; it knows no tool by name and no policy"},
	{"internal/dispatch", []string{"tools", "internal/workspace", "internal/policy/...", "internal/redact", "internal/session", "internal/events", "internal/diff", "internal/auditlog", "internal/retry"},
		"the gate knows neither LSP nor the queue that changes may go to"},
	{"pendingedits", []string{"internal/workspace", "internal/diff"}, "the queue is a view; it knows neither editors nor sessions"},
	{"shadow", []string{"internal/workspace", "internal/gitrepo", "internal/diff"}, "a shadow is a working tree and a view; it knows neither sessions nor the queue"},
	{"internal/gitrepo", []string{"internal/workspace", "internal/diff"}, "repositories know the ignore rules and the names of secrets, and nothing above"},
	{"tools/git", []string{"tools", "internal/workspace", "internal/diff", "internal/gitrepo"}, "arguments, words and shapes over gitrepo"},
	{"pki/terms", nil, "words and identifiers; pure"},
	{"pki/scan", []string{"pki"}, "a scanner knows sources and nothing of where they are from"},
	{"pki/segment", []string{"pki", "pki/scan", "pki/terms"}, "what is kept about files; it reads none"},
	{"pki/history", []string{"pki/terms"}, "what commits say; where they come from is no matter to it"},
	{"pki/touched", []string{"pki", "pki/scan", "pki/history", "internal/diff"}, "two texts are compared, wherever they are from"},
	{"pki/rank", []string{"pki", "pki/segment", "pki/history", "pki/terms"}, "an order is made of segments and what commits say of their files"},
	{"pki/imports", nil, "paths lead to paths, over whatever tree"},
	{"pki/embed", nil, "vectors come from an endpoint, whatever they are of"},
	{"pki/index", []string{"pki", "pki/scan", "pki/segment", "pki/history", "pki/rank", "pki/embed", "pki/imports", "pki/terms", "internal/workspace"}, "the index knows views, and neither parsers nor tools nor LSP"},
	{"pki/treesitter", []string{"pki"}, "cgo stays in one package"},
	{"pki/references", []string{"pki", "pki/imports", "internal/workspace"}, "references are found over a view, with whatever parser is at hand"},
	{"pki", []string{"internal/workspace"}, "the index knows no tool and no LSP"},
	{"internal/session", []string{"internal/workspace"}, "a session is state, not behaviour"},
	{"tools", []string{"internal/workspace"}, "the contract of a tool has files in it and nothing else"},
	{"tools/search/internal/...", nil, "pure functions over text"},
	{"tools/search", []string{"tools", "internal/workspace", "internal/diff", "pki", "pki/references", "pki/index", "internal/textindex", "tools/search/internal/dfa"}, "symbols are found by pki, the files to read by textindex; the tool has the arguments, the matching and the words"},
	{"tools/fs/internal/...", []string{"internal/diff", "tools/fs/internal/..."}, "pure functions over text"},
	{"tools/shell/internal/...", []string{"tools/shell/internal/..."}, "pure functions over text and the names of files"},
	{"tools/shell", []string{"tools", "internal/workspace", "tools/shell/internal/..."}, "commands are started by whoever confines them"},
	{"tools/editor", []string{"tools", "internal/workspace", "internal/langserver"}, "arguments, words and shapes over language servers"},
	{"tools/web", []string{"tools", "internal/workspace", "internal/retry"}, "arguments, words and pages over HTTP"},
	{"tools/...", []string{"tools", "internal/workspace", "internal/diff", "tools/fs/internal/..."}, "a tool knows no sibling, no mode, no client, and writes nothing"},
	{"internal/langserver", []string{"internal/lsp", "internal/workspace"}, "language servers are asked about views; who asks, and how they are started, is not known here"},
	{"internal/watch", []string{"internal/workspace"}, "events are told in the names of a disk, to whoever listens"},
	{"internal/textindex", []string{"internal/workspace", "internal/watch"}, "what may be in which file, from memory; it matches nothing itself"},
	{"internal/mcp/endpoint", []string{"internal/dispatch", "internal/events", "internal/session"}, "an agent gets a session and the dispatcher, as every other caller"},
	{"internal/mcp/source", []string{"tools"}, "servers bring tools; how they are started and what they are trusted with is not known here"},
	{"internal/attach", nil, "the floor: processes find each other, and what they say is not known here"},
	{"internal/inventory", []string{"internal/workspace"}, "names alone, by the rules of the floor"},
	{"internal/settle", []string{"internal/inventory", "internal/gitrepo"}, "what git would obey is gitrepo's to say; who writes there is not known here"},
	{"internal/workspace", nil, "the floor"},
	{"internal/policy/shell", []string{"internal/policy"}, "reading a command line decides nothing about tools"},
	{"internal/policy", nil, "the floor; pure"},
	{"internal/lsp", nil, "the floor"},
	{"internal/redact", nil, "the floor"},
	{"internal/diff", nil, "the floor"},
	{"internal/auditlog", nil, "the floor"},
	{"internal/sandbox", nil, "the floor: it confines what it is given, and decides nothing"},
	{"internal/config", nil, "the floor"},
	{"internal/events", nil, "the floor"},
	{"internal/retry", nil, "the floor"},
	{"internal/test/...", []string{"..."}, "test code may look everywhere"},
	{"bench/...", []string{"..."}, "so may benchmarks"},
}

// only names imports from outside that belong to one package, or to a few.
var only = map[string]struct{ pkg, why string }{
	"go.lsp.dev/protocol":               {"internal/lsp", "wire types stay at the wire"},
	"go.lsp.dev/jsonrpc2":               {"internal/lsp", "wire types stay at the wire"},
	"github.com/sergi/go-diff":          {"internal/diff", "one way to compare texts"},
	"github.com/smacker/go-tree-sitter": {"pki/treesitter", "its trees must never escape"},
	"github.com/google/jsonschema-go":   {"tools", "one way from struct to schema"},
	"github.com/go-git/go-git":          {"internal/gitrepo", "one way into repositories"},
	"mvdan.cc/sh":                       {"internal/policy/shell", "one reader of command lines"},
	"github.com/JohannesKaufmann":       {"tools/web", "pages are read in one place"},
	"github.com/ledongthuc/pdf":         {"internal/app", "its process has limits, and nobody else has"},
	"github.com/shirou/gopsutil":        {"tools/system", "one view of the machine"},
	"github.com/modelcontextprotocol":   {"internal/mcp/endpoint internal/mcp/source", "the wire stays at the wire"},
	"github.com/fsnotify/fsnotify":      {"internal/watch", "one place that knows what events leave out"},
	"golang.org/x/sys/unix":             {"internal/workspace internal/sandbox", "raw system calls stay below the view, and where processes are confined"},
	"golang.org/x/net/bpf":              {"internal/sandbox", "one filter of system calls"},
	"golang.org/x/net/html":             {"tools/web", "pages are read in one place"},
}

// TestImports keeps the import rules of ARCHITECTURE.md.
func TestImports(t *testing.T) {
	checked := 0
	used := map[string]bool{} // packages and prefixes that some row is about
	for pkg, imports := range importGraph(t) {
		rule := -1
		for i, m := range may {
			if matches(m.pkg, pkg) {
				used[m.pkg] = true
				rule = i
				break
			}
		}
		if rule < 0 {
			t.Errorf("%s has no rule: give it a row in this test and a line in ARCHITECTURE.md", pkg)
			continue
		}
		for _, imp := range imports {
			checked++
			if ours, ok := strings.CutPrefix(imp, module+"/"); ok {
				if !slices.ContainsFunc(may[rule].imports, func(p string) bool { return matches(p, ours) }) {
					t.Errorf("%s imports %s: %s", pkg, ours, may[rule].why)
				}
				continue
			}
			for prefix, o := range only {
				if imp == prefix || strings.HasPrefix(imp, prefix+"/") {
					used[prefix] = true
				}
				inTest := strings.HasPrefix(pkg, "internal/test") || strings.HasPrefix(pkg, "bench")
				if (imp == prefix || strings.HasPrefix(imp, prefix+"/")) && !slices.Contains(strings.Fields(o.pkg), pkg) && !inTest {
					t.Errorf("%s imports %s, which belongs to %s: %s", pkg, imp, o.pkg, o.why)
				}
			}
		}
	}
	if checked < 50 {
		t.Fatalf("only %d imports were looked at", checked)
	}
	for _, m := range may {
		if !used[m.pkg] {
			t.Errorf("there is no package %s: take its row out", m.pkg)
		}
	}
	for prefix := range only {
		if !used[prefix] {
			t.Errorf("nothing imports %s: take its row out", prefix)
		}
	}
}

func matches(pattern, pkg string) bool {
	tree, isTree := strings.CutSuffix(pattern, "...")
	return pkg == pattern || isTree && strings.HasPrefix(pkg+"/", tree)
}

// TestNoState keeps init functions and mutable package variables out: two
// servers run in one process.
func TestNoState(t *testing.T) {
	files := 0
	eachFile(t, func(pkg, name string, f *ast.File) {
		files++
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s has an init function", name)
			}
		}
	})
	if files < 50 {
		t.Fatalf("only %d files were looked at", files)
	}
}

// TestPackageComments wants exactly one sentence of purpose per package.
func TestPackageComments(t *testing.T) {
	comments := map[string]int{}
	eachFile(t, func(pkg, name string, f *ast.File) {
		comments[pkg] += 0
		if f.Doc != nil && strings.HasPrefix(f.Doc.Text(), "Package "+f.Name.Name) || f.Doc != nil && f.Name.Name == "main" {
			comments[pkg]++
		}
	})
	for pkg, n := range comments {
		if n != 1 {
			t.Errorf("%s has %d package comments, want one", pkg, n)
		}
	}
}

// TestStdoutIsTheProtocols: only the command line may print.
func TestStdoutIsTheProtocols(t *testing.T) {
	eachFile(t, func(pkg, name string, f *ast.File) {
		if strings.HasPrefix(pkg, "internal/test") || strings.HasPrefix(pkg, "bench") || pkg == "cmd/sidecar-ls" {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if ok && (x.Name == "os" && sel.Sel.Name == "Stdout" || x.Name == "fmt" && (sel.Sel.Name == "Println" || sel.Sel.Name == "Printf" || sel.Sel.Name == "Print")) {
				t.Errorf("%s uses %s.%s", name, x.Name, sel.Sel.Name)
			}
			return true
		})
	})
}

// importGraph gives the imports of every package, tests aside.
func importGraph(t *testing.T) map[string][]string {
	graph := map[string][]string{}
	eachFile(t, func(pkg, name string, f *ast.File) {
		graph[pkg] = slices.Clip(graph[pkg])
		for _, spec := range f.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			graph[pkg] = append(graph[pkg], imp)
		}
	})
	return graph
}

// eachFile parses every Go file of the project but the tests.
func eachFile(t *testing.T, visit func(pkg, name string, f *ast.File)) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		visit(path.Dir(name), name, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
