package editor

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

//go:embed lsp_symbols.md
var lspSymbolsText string

const maxSymbols = 500

type symbolsIn struct {
	Path  string `json:"path,omitempty" jsonschema:"file; with query also a directory"`
	Query string `json:"query,omitempty" jsonschema:"part of a name, to search in all files"`
}

// symbolData is a symbol of the structured result.
type symbolData struct {
	Name      string `json:"name" jsonschema:"of the symbol"`
	Kind      string `json:"kind" jsonschema:"function, class, …"`
	Detail    string `json:"detail,omitempty" jsonschema:"its type or signature"`
	Container string `json:"container,omitempty" jsonschema:"the symbol that it is in"`
	locationData
}

type symbolsData struct {
	Symbols []symbolData `json:"symbols" jsonschema:"at most 500"`
	Unknown []string     `json:"unknown,omitempty" jsonschema:"servers that gave no answer, and why"`
}

func lspSymbols(d Deps) *tools.Tool {
	return tools.NewRead(lspDef("lsp_symbols", "Symbols", lspSymbolsText, `{"query": "Server"}`, symbolsData{}), func(ctx context.Context, c *tools.Call, in symbolsIn) (tools.Result, error) {
		in.Query = strings.TrimSpace(in.Query)
		if in.Path == "" && in.Query == "" {
			return tools.Result{}, tools.Errorf(tools.InvalidArguments, "path or query: name a file to list its symbols, or a query to search for symbols in all files")
		}
		name, err := c.Files.Resolve(cmp.Or(in.Path, "."))
		if err != nil {
			return tools.Result{}, err
		}
		info, err := c.Files.Stat(name)
		if err != nil {
			return tools.Result{}, err
		}
		if in.Query == "" {
			if info.IsDir() {
				return tools.Result{}, tools.Errorf(tools.InvalidArguments, "path: %s is a directory; name a file, or give a query", in.Path)
			}
			list, err := d.Servers.Symbols(ctx, c.Files, name)
			if err != nil {
				return tools.Result{}, failed(err, "read_file with mode outline")
			}
			return symbolsResult(list, nil), nil
		}
		list, unknown, err := d.Servers.FindSymbols(ctx, c.Files, in.Query, name)
		if err != nil {
			return tools.Result{}, failed(err, "find_references")
		}
		if len(list) == 0 && len(unknown) > 0 {
			return tools.Result{}, failed(unknown[0], "find_references")
		}
		inside := slices.DeleteFunc(slices.Clone(list), func(s langserver.Symbol) bool { return s.Path == "" })
		if len(inside) == 0 {
			return symbolsResult(list, unknown), nil
		}
		res := symbolsResult(inside, unknown)
		if n := len(list) - len(inside); n > 0 {
			res.Text += fmt.Sprintf("%d outside of the workspace, in libraries, are left out\n", n)
		}
		return res, nil
	})
}

func symbolsResult(list []langserver.Symbol, unknown []error) tools.Result {
	data := symbolsData{Symbols: []symbolData{}}
	var b strings.Builder
	for _, s := range list[:min(len(list), maxSymbols)] {
		at := locationOf(s.Location)
		data.Symbols = append(data.Symbols, symbolData{s.Name, s.Kind, s.Detail, s.Container, at})
		fmt.Fprintf(&b, "%s%s:%d:%d %s %s", strings.Repeat("  ", s.Depth), at.Path, at.Line, at.Column, s.Kind, s.Name)
		if s.Detail != "" {
			b.WriteString(" " + s.Detail)
		} else if s.Container != "" && s.Depth == 0 {
			b.WriteString(" in " + s.Container)
		}
		b.WriteString("\n")
	}
	if len(list) == 0 {
		b.WriteString("no symbols\n")
	}
	if left := len(list) - maxSymbols; left > 0 {
		fmt.Fprintf(&b, "%d more are left out\n", left)
	}
	for _, err := range unknown {
		data.Unknown = append(data.Unknown, err.Error())
		fmt.Fprintf(&b, "no answer from %v\n", err)
	}
	return tools.Result{Text: b.String(), Structured: data, Truncated: len(list) > maxSymbols}
}
