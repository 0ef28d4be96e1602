package langserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// Position is what a question is about: a column of a line, or a symbol on it.
type Position struct {
	Name   string // of the file
	Line   int    // from one
	Column int    // from one, in bytes; 0: Symbol says where
	Symbol string // "" with no column: what the line defines
}

// Location is where something was found.
type Location struct {
	Path    string // name in the view, "" outside of the workspace
	Outside string // the path, or the URI, of what is outside; it is not read
	Span
	Text string // the line, without the blanks around it
}

// PositionError says that there is nothing to ask about at a position.
type PositionError struct{ Why string }

func (e *PositionError) Error() string { return e.Why }

// session is a server that sees the files and one document to ask it about.
type session struct {
	*server
	files workspace.Files
	doc   *document
}

// begin brings the server of a file to see the files. done must be called; the
// turn is held until then, or until release.
func (p *Pool) begin(ctx context.Context, files workspace.Files, name string) (*session, func(), error) {
	at, err := locate(files, name)
	if err != nil {
		return nil, nil, err
	}
	s, err := p.get(ctx, files, at, true)
	if err != nil {
		return nil, nil, err
	}
	used, asked := s.use(), p.foreground()
	if err := s.enter(ctx); err != nil {
		used()
		asked()
		return nil, nil, err
	}
	done := func() { s.leave(); used(); asked() }
	if err := s.show(ctx, files, name); err != nil {
		done()
		return nil, nil, err
	}
	if _, _, err := s.subject(files, name); err != nil {
		done()
		return nil, nil, err
	}
	d := s.docs.open[name]
	if d == nil {
		done()
		return nil, nil, errHidden
	}
	return &session{s, files, d}, done, nil
}

// Definition finds where what stands at a position is defined.
func (p *Pool) Definition(ctx context.Context, files workspace.Files, at Position) ([]Location, error) {
	return p.locations(ctx, files, at, "textDocument/definition", func(c lsp.PeerCapabilities) lsp.Provider { return c.DefinitionProvider },
		func(pos lsp.TextDocumentPositionParams) any { return pos })
}

// References finds where what stands at a position is used, and where it is
// defined.
func (p *Pool) References(ctx context.Context, files workspace.Files, at Position) ([]Location, error) {
	return p.locations(ctx, files, at, "textDocument/references", func(c lsp.PeerCapabilities) lsp.Provider { return c.ReferencesProvider },
		func(pos lsp.TextDocumentPositionParams) any {
			return lsp.ReferenceParams{TextDocumentPositionParams: pos, Context: lsp.ReferenceContext{IncludeDeclaration: true}}
		})
}

func (p *Pool) locations(ctx context.Context, files workspace.Files, at Position, method string, can func(lsp.PeerCapabilities) lsp.Provider, params func(lsp.TextDocumentPositionParams) any) ([]Location, error) {
	s, done, err := p.begin(ctx, files, at.Name)
	if err != nil {
		return nil, err
	}
	var list lsp.Locations
	if err := s.askAt(ctx, done, at, method, can, params, &list); err != nil {
		return nil, err
	}
	return s.found(list), nil
}

// Hover says what is known of what stands at a position, in Markdown; "" is
// nothing.
func (p *Pool) Hover(ctx context.Context, files workspace.Files, at Position) (string, error) {
	s, done, err := p.begin(ctx, files, at.Name)
	if err != nil {
		return "", err
	}
	var h *lsp.Hover
	err = s.askAt(ctx, done, at, "textDocument/hover", func(c lsp.PeerCapabilities) lsp.Provider { return c.HoverProvider },
		func(pos lsp.TextDocumentPositionParams) any { return pos }, &h)
	if err != nil || h == nil {
		return "", err
	}
	return strings.TrimSpace(string(h.Contents)), nil
}

// askAt asks about a position, and gives up the turn once the question is sent:
// servers see what came before it.
func (s *session) askAt(ctx context.Context, done func(), at Position, method string, can func(lsp.PeerCapabilities) lsp.Provider, params func(lsp.TextDocumentPositionParams) any, result any) error {
	q, err := func() (question, error) {
		defer done()
		if !can(s.caps) {
			return question{}, unavailable(s.at.kind.name, "it can't answer this")
		}
		pos, err := s.position(ctx, at)
		if err != nil {
			return question{}, err
		}
		return s.ask(ctx, method, params(lsp.TextDocumentPositionParams{TextDocument: lsp.TextDocumentIdentifier{URI: s.doc.uri}, Position: pos}))
	}()
	if err != nil {
		return err
	}
	return q.answer(ctx, result)
}

// lines is how many lines a text has, as read_file counts them: none begins after the last end
// of a line.
func lines(text *lsp.Document) int {
	n := text.Lines()
	if n > 1 && text.Line(n-1) == "" {
		n--
	}
	return n
}

// position is a position on the wire.
func (s *session) position(ctx context.Context, at Position) (lsp.Position, error) {
	text := s.doc.index
	if n := lines(text); at.Line < 1 || at.Line > n {
		return lsp.Position{}, &PositionError{fmt.Sprintf("line: the last line of %s is %d, so there is no line %d", at.Name, n, at.Line)}
	}
	line := text.Line(at.Line - 1)
	switch {
	case at.Column > len(line)+1:
		return lsp.Position{}, &PositionError{fmt.Sprintf("column: line %d has %d columns, and no column %d: %s", at.Line, len(line), at.Column, shorten(line, 200))}
	case at.Column > 0:
		return position(text, s.enc, at.Line, at.Column), nil
	case at.Symbol != "":
		i := indexWord(line, at.Symbol)
		if i < 0 {
			return lsp.Position{}, &PositionError{fmt.Sprintf("symbol: %s does not stand on line %d of %s: %s", at.Symbol, at.Line, at.Name, shorten(strings.TrimSpace(line), 200))}
		}
		return position(text, s.enc, at.Line, i+1), nil
	}
	return s.definedOn(ctx, at)
}

// definedOn is where the name of the symbol stands that a line defines.
func (s *session) definedOn(ctx context.Context, at Position) (lsp.Position, error) {
	which := &PositionError{fmt.Sprintf("line %d of %s defines no single symbol; say which symbol on it, or which column", at.Line, at.Name)}
	if !s.caps.DocumentSymbolProvider {
		return lsp.Position{}, which
	}
	q, err := s.ask(ctx, "textDocument/documentSymbol", lsp.DocumentSymbolParams{TextDocument: lsp.TextDocumentIdentifier{URI: s.doc.uri}})
	if err != nil {
		return lsp.Position{}, err
	}
	var list lsp.Symbols
	if err := q.answer(ctx, &list); err != nil {
		return lsp.Position{}, err
	}
	var find func(list []lsp.PeerSymbol) (lsp.Position, bool)
	find = func(list []lsp.PeerSymbol) (lsp.Position, bool) {
		for _, sym := range list {
			if sym.Location == nil && int(sym.SelectionRange.Start.Line) == at.Line-1 {
				return sym.SelectionRange.Start, true
			}
			if pos, ok := find(sym.Children); ok {
				return pos, true
			}
		}
		return lsp.Position{}, false
	}
	if pos, ok := find(list); ok {
		return pos, nil
	}
	return lsp.Position{}, which
}

// indexWord returns where word stands in line by itself, else -1.
func indexWord(line, word string) int {
	part := func(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for from := 0; from <= len(line); {
		i := strings.Index(line[from:], word)
		if i < 0 {
			return -1
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(line[:i])
		after, _ := utf8.DecodeRuneInString(line[i+len(word):])
		if (i == 0 || !part(before)) && (i+len(word) == len(line) || !part(after)) {
			return i
		}
		from = i + 1
	}
	return -1
}

// maxLocations bounds what is read to show lines.
const maxLocations = 2000

// found converts locations. Files outside of the workspace are named and not
// read.
func (s *session) found(list lsp.Locations) []Location {
	texts := map[string]*lsp.Document{}
	var out []Location
	for _, l := range list[:min(len(list), maxLocations)] {
		name, outside := s.name(l.URI)
		if outside != "" {
			out = append(out, Location{Outside: outside, Span: span(nil, s.enc, l.Range)})
			continue
		}
		text, read := texts[name]
		if !read {
			if body, err := readText(s.files, name); err == nil {
				text = lsp.NewDocument(body)
			}
			texts[name] = text
		}
		at := Location{Path: name, Span: span(text, s.enc, l.Range)}
		if text != nil {
			at.Text = shorten(strings.TrimSpace(text.Line(int(l.Range.Start.Line))), 200)
		}
		out = append(out, at)
	}
	slices.SortStableFunc(out, func(a, b Location) int {
		if (a.Path == "") != (b.Path == "") {
			return strings.Compare(b.Path, a.Path) // what is in the workspace comes first
		}
		if c := strings.Compare(a.Path+a.Outside, b.Path+b.Outside); c != 0 {
			return c
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return slices.Compact(out)
}

// name is the name in the view of what a URI says, or what is outside of it.
func (s *session) name(uri string) (name, outside string) {
	path, ok := workspace.FilePath(uri)
	if !ok {
		return "", shorten(uri, 500)
	}
	name, err := s.files.Resolve(path)
	if err != nil {
		return "", path
	}
	return name, ""
}

// Symbol is a symbol of a file.
type Symbol struct {
	Name      string
	Kind      string
	Detail    string
	Container string // what it is in, as the server names it
	Depth     int    // how many symbols it is inside of
	Location
}

const maxSymbols = 5000

// Symbols lists the symbols of a file, in the order of their lines.
func (p *Pool) Symbols(ctx context.Context, files workspace.Files, name string) ([]Symbol, error) {
	s, done, err := p.begin(ctx, files, name)
	if err != nil {
		return nil, err
	}
	var list lsp.Symbols
	q, err := func() (question, error) {
		defer done()
		if !s.caps.DocumentSymbolProvider {
			return question{}, unavailable(s.at.kind.name, "it can't list symbols")
		}
		return s.ask(ctx, "textDocument/documentSymbol", lsp.DocumentSymbolParams{TextDocument: lsp.TextDocumentIdentifier{URI: s.doc.uri}})
	}()
	if err == nil {
		err = q.answer(ctx, &list)
	}
	if err != nil {
		return nil, err
	}
	var out []Symbol
	s.flatten(&out, list, "", 0)
	return out, nil
}

func (s *session) flatten(out *[]Symbol, list []lsp.PeerSymbol, container string, depth int) {
	const maxDepth = 20
	for _, sym := range list {
		if len(*out) >= maxSymbols || depth > maxDepth {
			return
		}
		at := sym.SelectionRange
		if sym.Location != nil {
			at, container = sym.Location.Range, sym.ContainerName
		}
		*out = append(*out, Symbol{
			Name: shorten(sym.Name, 300), Kind: kindName(sym.Kind), Detail: shorten(sym.Detail, 300), Container: shorten(container, 300), Depth: depth,
			Location: Location{Path: s.doc.name, Span: span(s.doc.index, s.enc, at)},
		})
		s.flatten(out, sym.Children, sym.Name, depth+1)
	}
}

// FindSymbols asks the servers of all projects of the workspace for symbols
// that fit a query. unknown says which server gave no answer.
func (p *Pool) FindSymbols(ctx context.Context, files workspace.Files, query, below string) (found []Symbol, unknown []error, err error) {
	seen := map[slotKey]bool{}
	for _, name := range p.samples(ctx, files, below) {
		at, err := locate(files, name)
		if err != nil {
			unknown = append(unknown, err)
			continue
		}
		key := slotKey{at.kind.name, at.dir}
		if seen[key] {
			continue
		}
		seen[key] = true
		list, err := p.findSymbols(ctx, files, name, query)
		if err != nil {
			unknown = append(unknown, err)
		}
		found = append(found, list...)
	}
	if len(seen) == 0 && len(unknown) == 0 {
		return nil, nil, unavailable("", "no file here is of a language that there is a language server for")
	}
	return found, unknown, ctx.Err()
}

func (p *Pool) findSymbols(ctx context.Context, files workspace.Files, name, query string) ([]Symbol, error) {
	s, done, err := p.begin(ctx, files, name)
	if err != nil {
		return nil, err
	}
	var list lsp.Symbols
	q, err := func() (question, error) {
		defer done()
		if !s.caps.WorkspaceSymbolProvider {
			return question{}, unavailable(s.at.kind.name, "it can't search for symbols")
		}
		return s.ask(ctx, "workspace/symbol", lsp.WorkspaceSymbolParams{Query: query})
	}()
	if err == nil {
		err = q.answer(ctx, &list)
	}
	if err != nil {
		return nil, err
	}
	var out []Symbol
	for _, sym := range list[:min(len(list), maxLocations)] {
		if sym.Location == nil {
			continue
		}
		for _, at := range s.found(lsp.Locations{*sym.Location}) {
			out = append(out, Symbol{Name: shorten(sym.Name, 300), Kind: kindName(sym.Kind), Container: shorten(sym.ContainerName, 300), Location: at})
		}
	}
	return out, nil
}

// samples returns a file of each project below a directory.
func (p *Pool) samples(ctx context.Context, files workspace.Files, below string) []string {
	const most = 20_000
	seen := map[string]bool{}
	var out []string
	for _, name := range walk(ctx, files, below, func(name string) bool { return kindOf(name) != nil }, most) {
		k := kindOf(name)
		key := k.name
		if len(k.roots) > 0 {
			if at, err := locate(files, name); err == nil {
				key += "\x00" + at.dir
			}
		}
		if !seen[key] && len(seen) < maxServers {
			seen[key] = true
			out = append(out, name)
		}
	}
	return out
}

// kindName is a symbol's kind in a word, after the names of the protocol.
func kindName(k lsp.SymbolKind) string {
	names := [...]string{
		1: "file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum", "interface", "function", "variable",
		"constant", "string", "number", "boolean", "array", "object", "key", "null", "enum member", "struct", "event", "operator", "type parameter",
	}
	if k < 1 || int(k) >= len(names) {
		return "symbol"
	}
	return names[k]
}

// ErrNothing says that there is nothing to rename at a position.
var ErrNothing = errors.New("the language server found nothing there to rename")
