//go:build cgo

package treesitter

import (
	"cmp"
	"embed"
	"strings"
	"sync"

	sitter "github.com/smacker/go-tree-sitter"
	"github.com/smacker/go-tree-sitter/bash"
	"github.com/smacker/go-tree-sitter/c"
	"github.com/smacker/go-tree-sitter/cpp"
	"github.com/smacker/go-tree-sitter/csharp"
	"github.com/smacker/go-tree-sitter/java"
	"github.com/smacker/go-tree-sitter/javascript"
	"github.com/smacker/go-tree-sitter/kotlin"
	"github.com/smacker/go-tree-sitter/lua"
	"github.com/smacker/go-tree-sitter/php"
	"github.com/smacker/go-tree-sitter/python"
	"github.com/smacker/go-tree-sitter/ruby"
	"github.com/smacker/go-tree-sitter/rust"
	"github.com/smacker/go-tree-sitter/scala"
	"github.com/smacker/go-tree-sitter/swift"
	"github.com/smacker/go-tree-sitter/typescript/tsx"
	"github.com/smacker/go-tree-sitter/typescript/typescript"

	"github.com/sidecar-ls/sidecar-ls/pki"
)

// Parsers reports whether this build parses with tree-sitter, which takes a C
// compiler. Otherwise the symbols of most languages are read from lines and braces.
const Parsers = true

//go:embed queries/*.scm
var queryFiles embed.FS

// treeParser is our query over the trees of a language, compiled when it is first
// needed and never changed or closed after that.
type treeParser struct {
	mu       sync.Mutex // held while parsing if tables say alone
	once     sync.Once
	compiled *sitter.Query
	captures []capture // by the index of the capture
	err      error
}

// tables are the parser's tables of a language, which are constants of the C side.
type tables struct {
	get   func() *sitter.Language
	query string // file of the query, if it is not <lang>.scm
	alone bool   // the scanner keeps its state in C globals; one parse at a time
}

var tablesOf = map[string]tables{
	"bash":       {get: bash.GetLanguage},
	"c":          {get: c.GetLanguage},
	"cpp":        {get: cpp.GetLanguage},
	"csharp":     {get: csharp.GetLanguage},
	"java":       {get: java.GetLanguage},
	"javascript": {get: javascript.GetLanguage},
	"kotlin":     {get: kotlin.GetLanguage},
	"lua":        {get: lua.GetLanguage, alone: true},
	"php":        {get: php.GetLanguage},
	"python":     {get: python.GetLanguage},
	"ruby":       {get: ruby.GetLanguage},
	"rust":       {get: rust.GetLanguage},
	"scala":      {get: scala.GetLanguage},
	"swift":      {get: swift.GetLanguage},
	"tsx":        {get: tsx.GetLanguage, query: "typescript"},
	"typescript": {get: typescript.GetLanguage},
}

func (g *grammar) language() *sitter.Language { return tablesOf[g.lang].get() }

// capture is what the name of a capture in a query says:
//
//	@definition.<kind>   a symbol from its first byte to its last
//	@declaration.<kind>  the same, but dropped inside of a function
//	@name                its name; may be qualified with :: or .
//	@receiver            what it is defined on, where that does not enclose it
//	@doc                 its docstring
//	@local               no symbol, but what variables inside are local to
//
// When two patterns find the same name, the first of the file gives the kind
// and the widest the range. Predicates are not evaluated, so none may be used.
type capture struct {
	role roleOf
	kind pki.Kind
}

type roleOf int

const (
	roleNone roleOf = iota
	roleDefinition
	roleDeclaration
	roleName
	roleReceiver
	roleDoc
	roleLocal
)

var roles = [...]struct {
	name string
	role roleOf
}{
	{"definition", roleDefinition},
	{"declaration", roleDeclaration},
	{"name", roleName},
	{"receiver", roleReceiver},
	{"doc", roleDoc},
	{"local", roleLocal},
}

func (g *grammar) compile() error {
	g.once.Do(func() {
		file := cmp.Or(tablesOf[g.lang].query, g.lang)
		text, err := queryFiles.ReadFile("queries/" + file + ".scm")
		if err != nil {
			g.err = err
			return
		}
		if g.compiled, g.err = sitter.NewQuery(text, g.language()); g.err != nil {
			return
		}
		for i := range g.compiled.CaptureCount() {
			g.captures = append(g.captures, captureNamed(g.compiled.CaptureNameForId(i)))
		}
	})
	return g.err
}

func captureNamed(name string) capture {
	role, kind, _ := strings.Cut(name, ".")
	for _, r := range roles {
		if r.name == role {
			return capture{r.role, pki.Kind(kind)}
		}
	}
	return capture{}
}
