package fakeeditor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// buffer is an open document.
type buffer struct {
	doc     *lsp.Document
	version int32
}

// Open opens a document with a text, which need not be the one on disk.
func (e *Editor) Open(ctx context.Context, uri lsp.URI, language, text string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open(ctx, uri, language, text)
}

// OpenFile opens a file with its text on disk.
func (e *Editor) OpenFile(ctx context.Context, path string) (lsp.URI, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return FileURI(path), e.Open(ctx, FileURI(path), "text", string(data))
}

// open needs mu. Notifications are sent under it, so that they leave in the
// order of the changes.
func (e *Editor) open(ctx context.Context, uri lsp.URI, language, text string) error {
	if e.buffers[uri] != nil {
		return fmt.Errorf("%s is open already", uri)
	}
	e.buffers[uri] = &buffer{doc: lsp.NewDocument(text), version: 1}
	e.event()
	return e.conn.Notify(ctx, "textDocument/didOpen", lsp.DidOpenTextDocumentParams{
		TextDocument: lsp.TextDocumentItem{URI: uri, LanguageID: language, Version: 1, Text: text},
	})
}

// Change changes an open document as a person who types does: the changes follow
// each other, each range means the text after the changes before it.
func (e *Editor) Change(ctx context.Context, uri lsp.URI, changes ...lsp.ContentChange) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.change(ctx, uri, changes)
}

// Type replaces the text of an open document wholly, as one change of a range.
func (e *Editor) Type(ctx context.Context, uri lsp.URI, text string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.buffers[uri]
	if b == nil {
		return fmt.Errorf("%s is not open", uri)
	}
	all := lsp.Range{End: b.doc.Position(len(b.doc.Text()), e.enc)}
	return e.change(ctx, uri, []lsp.ContentChange{{Range: &all, Text: text}})
}

// change needs mu.
func (e *Editor) change(ctx context.Context, uri lsp.URI, changes []lsp.ContentChange) error {
	b := e.buffers[uri]
	if b == nil {
		return fmt.Errorf("%s is not open", uri)
	}
	b.doc = b.doc.ChangeAll(changes, e.enc, func(*lsp.Document) {})
	b.version++
	e.event()
	return e.conn.Notify(ctx, "textDocument/didChange", lsp.DidChangeTextDocumentParams{
		TextDocument:   lsp.VersionedTextDocumentIdentifier{URI: uri, Version: b.version},
		ContentChanges: changes,
	})
}

// Save writes an open document to disk.
func (e *Editor) Save(ctx context.Context, uri lsp.URI) error {
	path, err := FilePath(uri)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	b := e.buffers[uri]
	if b == nil {
		return fmt.Errorf("%s is not open", uri)
	}
	if err := ownfile.WriteFile(path, []byte(b.doc.Text()), 0o644); err != nil {
		return err
	}
	return e.conn.Notify(ctx, "textDocument/didSave", lsp.DidSaveTextDocumentParams{
		TextDocument: lsp.TextDocumentIdentifier{URI: uri},
	})
}

// Close closes a document; what is not saved is lost.
func (e *Editor) Close(ctx context.Context, uri lsp.URI) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closeBuffer(ctx, uri)
}

// closeBuffer needs mu.
func (e *Editor) closeBuffer(ctx context.Context, uri lsp.URI) error {
	if e.buffers[uri] == nil {
		return fmt.Errorf("%s is not open", uri)
	}
	delete(e.buffers, uri)
	e.event()
	return e.conn.Notify(ctx, "textDocument/didClose", lsp.DidCloseTextDocumentParams{
		TextDocument: lsp.TextDocumentIdentifier{URI: uri},
	})
}

// Text returns the text of an open document.
func (e *Editor) Text(uri lsp.URI) (text string, open bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if b := e.buffers[uri]; b != nil {
		return b.doc.Text(), true
	}
	return "", false
}

// Encoding returns the encoding of positions.
func (e *Editor) Encoding() lsp.Encoding {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.enc
}

// RefuseEdits makes the editor answer every workspace/applyEdit with
// applied:false and this reason; "" applies them again.
func (e *Editor) RefuseEdits(reason string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refusal = reason
}

// apply answers workspace/applyEdit. All documents change or none does; a file
// that is not open is opened, as editors do, and stays unsaved.
func (e *Editor) apply(ctx context.Context, p lsp.ApplyWorkspaceEditParams) lsp.ApplyWorkspaceEditResult {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.recorded.Edits = append(e.recorded.Edits, p)
	e.event()
	err := errors.New(e.refusal)
	if e.refusal == "" {
		err = e.applyEdit(ctx, p.Edit)
	}
	if err != nil {
		return lsp.ApplyWorkspaceEditResult{FailureReason: err.Error()}
	}
	return lsp.ApplyWorkspaceEditResult{Applied: true}
}

// applyEdit needs mu. It first works out and checks every step, then does them.
func (e *Editor) applyEdit(ctx context.Context, edit lsp.WorkspaceEdit) error {
	steps := edit.DocumentChanges
	if steps == nil {
		for uri, edits := range edit.Changes {
			d := &lsp.TextDocumentEdit{Edits: edits}
			d.TextDocument.URI = uri
			steps = append(steps, lsp.DocumentChange{TextDocumentEdit: d})
		}
	}
	plan := plan{e: e, texts: map[lsp.URI]*string{}}
	for i, step := range steps {
		if err := plan.add(step); err != nil {
			return fmt.Errorf("change %d: %w", i, err)
		}
	}
	for _, do := range plan.do {
		if err := do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// plan is a workspace edit that is being worked out.
type plan struct {
	e     *Editor
	texts map[lsp.URI]*string // as they will be; nil is gone
	do    []func(context.Context) error
}

// text returns the text that uri will have by now, nil for no file.
func (p *plan) text(uri lsp.URI) (*string, error) {
	if text, ok := p.texts[uri]; ok {
		return text, nil
	}
	if b := p.e.buffers[uri]; b != nil {
		text := b.doc.Text()
		return &text, nil
	}
	path, err := FilePath(uri)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	text := string(data)
	return &text, err
}

func (p *plan) add(step lsp.DocumentChange) error {
	switch {
	case step.TextDocumentEdit != nil:
		return p.edit(step.TextDocumentEdit)
	case step.CreateFile != nil:
		return p.create(step.CreateFile)
	case step.RenameFile != nil:
		return p.rename(step.RenameFile)
	case step.DeleteFile != nil:
		return p.remove(step.DeleteFile)
	}
	return errors.New("empty change")
}

func (p *plan) edit(d *lsp.TextDocumentEdit) error {
	uri := d.TextDocument.URI
	b := p.e.buffers[uri]
	if v := d.TextDocument.Version; v != nil && (b == nil || *v != b.version) {
		return fmt.Errorf("%s is not at version %d", uri, *v)
	}
	before, err := p.text(uri)
	if err != nil {
		return err
	}
	if before == nil {
		return fmt.Errorf("%s does not exist", uri)
	}
	old := *before
	after, err := lsp.ApplyEdits(old, d.Edits, p.e.enc)
	if err != nil {
		return fmt.Errorf("%s: %w", uri, err)
	}
	p.texts[uri] = &after
	p.do = append(p.do, func(ctx context.Context) error {
		if p.e.buffers[uri] == nil {
			if err := p.e.open(ctx, uri, "text", old); err != nil {
				return err
			}
		}
		return p.e.change(ctx, uri, sequential(old, d.Edits, p.e.enc))
	})
	return nil
}

// sequential orders edits from the last place to the first, so that each range
// still means the same when the ones before it are done.
func sequential(text string, edits []lsp.TextEdit, enc lsp.Encoding) []lsp.ContentChange {
	doc := lsp.NewDocument(text)
	order := slices.Clone(edits)
	slices.Reverse(order) // of two inserts at one place, the second goes in first
	slices.SortStableFunc(order, func(a, b lsp.TextEdit) int {
		if d := doc.Offset(b.Range.Start, enc) - doc.Offset(a.Range.Start, enc); d != 0 {
			return d
		}
		return doc.Offset(b.Range.End, enc) - doc.Offset(a.Range.End, enc)
	})
	changes := make([]lsp.ContentChange, len(order))
	for i := range order {
		changes[i] = lsp.ContentChange{Range: &order[i].Range, Text: order[i].NewText}
	}
	return changes
}
