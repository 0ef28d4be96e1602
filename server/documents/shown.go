package documents

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// Shown is what the user has before them, as far as the client tells it.
type Shown struct {
	Open      []OpenDocument
	Selection *Selection // nil: the client does not tell it
}

// OpenDocument is an open document that is a file of the workspace.
type OpenDocument struct {
	Name, Path string
	At         time.Time // of the last change, or when it was last looked at
}

// Selection is what is selected in a file of the workspace, or where the cursor is.
type Selection struct {
	Path       string
	Start, End lsp.Position // in UTF-16 units
	Text       string
}

// Bounds of a selection that a client tells.
const (
	maxSelections   = 100
	maxSelectedText = 64 << 10 // bytes
)

// selectionParams are those of sidecar/selection.
type selectionParams struct {
	URI    string      `json:"uri"`
	Ranges []lsp.Range `json:"ranges"`
	Text   *string     `json:"text"`
}

// looks is what the client last told of its user's selection.
type looks struct {
	mu sync.Mutex
	at selectionParams
	as time.Time
}

// Select handles sidecar/selection.
func (d *Documents) Select(params json.RawMessage) {
	var p selectionParams
	if err := lsp.Unmarshal(params, &p); err != nil || len(p.Ranges) > maxSelections {
		d.log.Warn("notification ignored", "method", "sidecar/selection", "ranges", len(p.Ranges), "error", err)
		return
	}
	d.looks.mu.Lock()
	d.looks.at, d.looks.as = p, time.Now()
	d.looks.mu.Unlock()
}

// Shown is what the user has before them. The text of a selection is that of the
// document, if the client does not tell it.
func (d *Documents) Shown() Shown {
	var out Shown
	d.looks.mu.Lock()
	at, as := d.looks.at, d.looks.as
	d.looks.mu.Unlock()
	for _, name := range d.Names() {
		doc := d.named(name)
		if doc == nil {
			continue
		}
		path, ok := workspace.FilePath(doc.URI)
		if !ok {
			continue
		}
		open := OpenDocument{name, path, doc.changed}
		if documentKey(doc.URI) == documentKey(at.URI) {
			if as.After(open.At) {
				open.At = as
			}
			out.Selection = selectionIn(path, doc.Text, d.Enc, at)
		}
		out.Open = append(out.Open, open)
	}
	slices.SortFunc(out.Open, func(a, b OpenDocument) int { return b.At.Compare(a.At) })
	return out
}

// selectionIn is the first range of a selection in a text.
func selectionIn(path string, text *lsp.Document, enc lsp.Encoding, p selectionParams) *Selection {
	sel := &Selection{Path: path}
	if len(p.Ranges) == 0 {
		return sel
	}
	start, end := text.Offset(p.Ranges[0].Start, enc), text.Offset(p.Ranges[0].End, enc)
	if start > end {
		start, end = end, start
	}
	sel.Start, sel.End = text.Position(start, lsp.UTF16), text.Position(end, lsp.UTF16)
	if p.Text != nil {
		sel.Text = *p.Text
	} else {
		sel.Text = text.Text()[start:end]
	}
	sel.Text = sel.Text[:min(len(sel.Text), maxSelectedText)]
	return sel
}
