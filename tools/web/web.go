// Package web has the tools that look things up outside the workspace, and
// that show what is drawn rather than read.
package web

import (
	"context"

	"github.com/sidecar-ls/sidecar-ls/tools"
)

const category = "web"

// Deps are what the tools of this family need.
type Deps struct {
	// Search is the search that the settings name, now.
	Search func() SearchSettings
	// Secret reports whether text carries something that must not leave the
	// machine.
	Secret func(text string) bool
	// PDF reads the text of pages of a document, numbered from one, in a
	// process of its own. It fails with ErrPDF for what is no readable document.
	PDF func(ctx context.Context, data []byte, pages []int) (PDF, error)
}

// Tools are the tools of this family.
func Tools(d Deps) []*tools.Tool {
	c := newClient()
	return []*tools.Tool{newWebFetch(c, d), newWebSearch(c, d), newDisplayDiagram(), newPDFRead(d)}
}

// carriesSecret reports whether one of the texts has a secret.
func (d Deps) carriesSecret(texts ...string) bool {
	for _, t := range texts {
		if d.Secret != nil && d.Secret(t) {
			return true
		}
	}
	return false
}
