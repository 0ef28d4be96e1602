package editor

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/tools"
)

// lspTime bounds one question, the start of its server included.
const lspTime = 45 * time.Second

// positionArgs is a position in a file as a model names it.
type positionArgs struct {
	Path   string `json:"path" jsonschema:"file" minLength:"1"`
	Line   int    `json:"line" jsonschema:"from one" minimum:"1"`
	Symbol string `json:"symbol,omitempty" jsonschema:"name on that line"`
	Column int    `json:"column,omitempty" jsonschema:"from one, in bytes; instead of symbol" minimum:"1"`
}

// position checks where the file is, and that it may be read.
func (in positionArgs) position(files workspace.Files) (langserver.Position, error) {
	name, err := files.Resolve(in.Path)
	if err == nil {
		_, err = files.ReadFile(name)
	}
	return langserver.Position{Name: name, Line: in.Line, Column: in.Column, Symbol: strings.TrimSpace(in.Symbol)}, err
}

// locationData is a location of a structured result.
type locationData struct {
	Path      string `json:"path" jsonschema:"file"`
	Line      int    `json:"line" jsonschema:"from one"`
	Column    int    `json:"column" jsonschema:"from one, in bytes"`
	EndLine   int    `json:"endLine" jsonschema:"from one"`
	EndColumn int    `json:"endColumn" jsonschema:"behind the last one"`
	Text      string `json:"text,omitempty" jsonschema:"the line"`
	Outside   bool   `json:"outside,omitempty" jsonschema:"it is outside of the workspace; path is then not one of it"`
}

// locationsData is the structured result of what finds places.
type locationsData struct {
	Locations []locationData `json:"locations" jsonschema:"what was found"`
}

func locationOf(l langserver.Location) locationData {
	p := locationData{l.Path, l.Line, l.Column, l.EndLine, l.EndColumn, l.Text, l.Path == ""}
	if p.Outside {
		p.Path = l.Outside
	}
	return p
}

func (p locationData) String() string {
	at := fmt.Sprintf("%s:%d:%d", p.Path, p.Line, p.Column)
	switch {
	case p.Outside:
		return at + " (outside of the workspace)"
	case p.Text != "":
		return at + ": " + p.Text
	}
	return at
}

// failed makes an error of a language server one that a model can act on.
func failed(err error, instead string) error {
	var none *langserver.UnavailableError
	var refused *langserver.AnswerError
	var wrong *langserver.PositionError
	switch {
	case errors.As(err, &wrong):
		return tools.Errorf(tools.InvalidArguments, "%s", wrong.Why)
	case errors.As(err, &refused):
		return tools.Errorf(tools.NoMatch, "%s; check the place, or use %s", refused, instead)
	case errors.As(err, &none):
		e := tools.Errorf(tools.Unavailable, "%s; use %s instead", none, instead)
		e.Transient = none.Soon
		return e
	case errors.Is(err, langserver.ErrNothing):
		return tools.Errorf(tools.NoMatch, "%v; check the place with read_file", err)
	}
	return err
}

func lspDef(name, title, text, example string, output any) tools.Def {
	return tools.Def{
		Name: name, Title: title, Description: text, Example: example, Category: category, Timeout: lspTime, OnDisk: true,
		Tags: []string{"language server", "lsp", "code navigation"}, Output: output,
	}
}

// locationsTool is a tool that finds places.
func locationsTool(def tools.Def, instead string, find func(context.Context, workspace.Files, langserver.Position) ([]langserver.Location, error)) *tools.Tool {
	return tools.NewRead(def, func(ctx context.Context, c *tools.Call, in positionArgs) (tools.Result, error) {
		at, err := in.position(c.Files)
		if err != nil {
			return tools.Result{}, err
		}
		list, err := find(ctx, c.Files, at)
		if err != nil {
			return tools.Result{}, failed(err, instead)
		}
		data := locationsData{[]locationData{}}
		var b strings.Builder
		for _, l := range list {
			p := locationOf(l)
			data.Locations = append(data.Locations, p)
			fmt.Fprintln(&b, p)
		}
		if len(list) == 0 {
			b.WriteString("nothing found there\n")
		}
		return tools.Result{Text: b.String(), Structured: data}, nil
	})
}
