package langserver

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// typescript-language-server tells problems without a version, and says nothing
// of a file that was clean and still is, so there is no telling when it has
// looked. It hands requests on to tsserver, though, which answers:
// https://github.com/typescript-language-server/typescript-language-server, "typescript.tsserverRequest".

// tsResponse is an answer of tsserver.
type tsResponse struct {
	Type    string         `json:"type"`
	Message string         `json:"message"`
	Body    []tsDiagnostic `json:"body"`
}

// tsDiagnostic is a diagnostic in tsserver's protocol: lines and offsets count
// from one, offsets in UTF-16.
type tsDiagnostic struct {
	Start    tsPosition `json:"start"`
	End      tsPosition `json:"end"`
	Text     string     `json:"text"`
	Code     int        `json:"code"`
	Category string     `json:"category"` // error, warning, suggestion, message
	Source   string     `json:"source"`
}

type tsPosition struct {
	Line   int `json:"line"`
	Offset int `json:"offset"`
}

func (p tsPosition) position() lsp.Position {
	return lsp.Position{Line: uint32(max(p.Line-1, 0)), Character: uint32(max(p.Offset-1, 0))}
}

// tsRequests get the two kinds of problems that say that a program is wrong.
var tsRequests = []string{"syntacticDiagnosticsSync", "semanticDiagnosticsSync"}

// askTSServer is an asker.
func askTSServer(ctx context.Context, s *server, uri string) (func(context.Context) ([]lsp.Diagnostic, error), error) {
	var sent []question
	for _, request := range tsRequests {
		q, err := s.ask(ctx, "workspace/executeCommand", struct {
			Command   string `json:"command"`
			Arguments []any  `json:"arguments"`
		}{"typescript.tsserverRequest", []any{request, map[string]string{"file": uri}}})
		if err != nil {
			return nil, err
		}
		sent = append(sent, q)
	}
	return func(ctx context.Context) ([]lsp.Diagnostic, error) {
		var all []lsp.Diagnostic
		for _, q := range sent {
			var r tsResponse
			if err := q.answer(ctx, &r); err != nil {
				return nil, err
			}
			if r.Type != "response" {
				return nil, unavailable(s.at.kind.name, "it has no answer now: "+shorten(r.Type+" "+r.Message, 200))
			}
			for _, d := range r.Body {
				all = append(all, d.diagnostic())
			}
		}
		return all, nil
	}, nil
}

func (d tsDiagnostic) diagnostic() lsp.Diagnostic {
	severity := map[string]lsp.DiagnosticSeverity{"error": lsp.SeverityError, "warning": lsp.SeverityWarning, "suggestion": lsp.SeverityHint}[d.Category]
	if severity == 0 {
		severity = lsp.SeverityInformation
	}
	source := d.Source
	if source == "" {
		source = "typescript"
	}
	return lsp.Diagnostic{Range: lsp.Range{Start: d.Start.position(), End: d.End.position()}, Severity: severity, Code: d.Code, Source: source, Message: d.Text}
}
