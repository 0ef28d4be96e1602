package documents

import (
	"context"
	"errors"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/client"
)

// ErrNoDiagnostics means that the editor does not tell what it shows.
var ErrNoDiagnostics = errors.New("the editor does not tell its diagnostics")

// Diagnostics asks the editor what it shows.
type Diagnostics struct {
	Client *client.Client
	Live   func() *Editor
}

// Source names what the editor shows of ours.
const Source = "sidecar"

// maxShown bounds what is taken from the editor.
const maxShown = 5000

// Shown returns what the editor shows against a file or, for "", against all
// files of the workspace, apart from what it has from us. It fails with
// ErrNoDiagnostics.
func (d *Diagnostics) Shown(ctx context.Context, name string) ([]langserver.Problem, error) {
	if !d.Client.Can.Sidecar.Diagnostics {
		return nil, ErrNoDiagnostics
	}
	live := d.Live()
	var params struct {
		URI string `json:"uri,omitempty"`
	}
	if name != "" {
		params.URI = live.URI(name)
	}
	var answer struct {
		Diagnostics []lsp.PublishDiagnosticsParams `json:"diagnostics"`
	}
	err := d.Client.Call(ctx, "sidecar/diagnostics", params, &answer)
	switch {
	case client.Unsupported(err):
		return nil, ErrNoDiagnostics
	case err != nil:
		return nil, err
	}
	var out []langserver.Problem
	for _, file := range answer.Diagnostics {
		path, ok := workspace.FilePath(file.URI)
		if !ok {
			continue
		}
		at, err := live.Place(path)
		if err != nil || name != "" && at != name {
			continue // outside, or not asked for
		}
		text := live.text(at)
		for _, one := range file.Diagnostics {
			if one.Source != Source && len(out) < maxShown {
				out = append(out, problemOf(at, text, live.docs.Enc, one))
			}
		}
	}
	return out, nil
}

// text is the text that the editor's positions mean, nil if it can't be
// known.
func (e *Editor) text(name string) *lsp.Document {
	if doc := e.Document(name); doc != nil {
		return doc.Text
	}
	data, err := e.ReadFile(name)
	if err != nil {
		return nil
	}
	t, err := workspace.DecodeText(data)
	if err != nil {
		return nil
	}
	return lsp.NewDocument(t.Body)
}

func problemOf(name string, text *lsp.Document, enc lsp.Encoding, d lsp.Diagnostic) langserver.Problem {
	column := func(p lsp.Position) int {
		if text == nil {
			return int(p.Character) + 1
		}
		return text.Offset(p, enc) - text.Offset(lsp.Position{Line: p.Line}, enc) + 1
	}
	f := langserver.Problem{
		Path: name,
		Span: langserver.Span{
			Line: int(d.Range.Start.Line) + 1, Column: column(d.Range.Start), EndLine: int(d.Range.End.Line) + 1, EndColumn: column(d.Range.End),
		},
		Severity: langserver.Error, Source: d.Source, Message: d.Message, Server: "editor",
	}
	switch d.Severity {
	case lsp.SeverityWarning:
		f.Severity = langserver.Warning
	case lsp.SeverityInformation:
		f.Severity = langserver.Information
	case lsp.SeverityHint:
		f.Severity = langserver.Hint
	}
	if d.Code != nil {
		f.Code = fmt.Sprint(d.Code)
	}
	return f
}
