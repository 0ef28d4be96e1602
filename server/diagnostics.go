package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// ErrNoDiagnostics means that the editor does not tell what it shows.
var ErrNoDiagnostics = errors.New("the editor does not tell its diagnostics")

// Diagnostics asks the editor what it shows.
type Diagnostics struct {
	server *Server
}

// maxShown bounds what is taken from the editor.
const maxShown = 5000

// Shown returns what the editor shows against a file or, for "", against all
// files of the workspace, apart from what it has from us. It fails with
// ErrNoDiagnostics.
func (d *Diagnostics) Shown(ctx context.Context, name string) ([]langserver.Problem, error) {
	s := d.server
	if !s.client.can.sidecar.Diagnostics {
		return nil, ErrNoDiagnostics
	}
	var params struct {
		URI string `json:"uri,omitempty"`
	}
	if name != "" {
		params.URI = s.uri(name)
	}
	var answer struct {
		Diagnostics []lsp.PublishDiagnosticsParams `json:"diagnostics"`
	}
	err := s.client.call(ctx, "sidecar/diagnostics", params, &answer)
	switch {
	case unsupported(err):
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
		at, err := s.editor.Resolve(path)
		if err != nil || name != "" && at != name {
			continue // outside, or not asked for
		}
		text := s.liveText(at)
		for _, one := range file.Diagnostics {
			if one.Source != section && len(out) < maxShown {
				out = append(out, problemOf(at, text, s.docs.enc, one))
			}
		}
	}
	return out, nil
}

// liveText is the text that the editor's positions mean, nil if it can't be
// known.
func (s *Server) liveText(name string) *lsp.Document {
	if doc := s.editor.document(name); doc != nil {
		return doc.text
	}
	data, err := s.editor.ReadFile(name)
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
