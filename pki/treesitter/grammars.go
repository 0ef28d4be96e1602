package treesitter

import (
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

//go:embed queries/*.scm
var queryFiles embed.FS

// grammar is one language: its parser tables, which are constants of the C
// side, and our query over its trees, compiled when it is first needed and
// never changed or closed after that.
type grammar struct {
	lang   string
	tables func() *sitter.Language
	query  string // file of the query, if it is not <lang>.scm

	// lines: a declaration ends with its line. Otherwise with { or ;.
	lines bool
	// comment begins a line comment; /* */ is known wherever it is "//".
	comment string
	// unnamed is the word that stands for the name of what has none.
	unnamed string
	// alone: the scanner keeps its state in C globals; one parse at a time.
	alone bool

	mu       sync.Mutex // held while parsing if alone
	once     sync.Once
	compiled *sitter.Query
	captures []capture // by the index of the capture
	err      error
}

// The table is never written after start, but for what once guards.
var grammars = [...]grammar{
	{lang: "bash", tables: bash.GetLanguage, lines: true, comment: "#"},
	{lang: "c", tables: c.GetLanguage, comment: "//"},
	{lang: "cpp", tables: cpp.GetLanguage, comment: "//"},
	{lang: "csharp", tables: csharp.GetLanguage, comment: "//"},
	{lang: "java", tables: java.GetLanguage, comment: "//"},
	{lang: "javascript", tables: javascript.GetLanguage, comment: "//"},
	{lang: "kotlin", tables: kotlin.GetLanguage, comment: "//", unnamed: "companion"},
	{lang: "lua", tables: lua.GetLanguage, lines: true, comment: "--", alone: true},
	{lang: "php", tables: php.GetLanguage, comment: "//"},
	{lang: "python", tables: python.GetLanguage, lines: true, comment: "#"},
	{lang: "ruby", tables: ruby.GetLanguage, lines: true, comment: "#"},
	{lang: "rust", tables: rust.GetLanguage, comment: "//"},
	{lang: "scala", tables: scala.GetLanguage, comment: "//"},
	{lang: "swift", tables: swift.GetLanguage, comment: "//"},
	{lang: "tsx", tables: tsx.GetLanguage, query: "typescript", comment: "//"},
	{lang: "typescript", tables: typescript.GetLanguage, comment: "//"},
}

func grammarOf(lang string) *grammar {
	for i := range grammars {
		if grammars[i].lang == lang {
			return &grammars[i]
		}
	}
	return nil
}

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
		file := g.query
		if file == "" {
			file = g.lang
		}
		text, err := queryFiles.ReadFile("queries/" + file + ".scm")
		if err != nil {
			g.err = err
			return
		}
		if g.compiled, g.err = sitter.NewQuery(text, g.tables()); g.err != nil {
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
