package documents

import (
	"bytes"
	"context"
	"slices"
	"time"
)

// saveTimeout bounds how long the editor may take to save documents.
const saveTimeout = 5 * time.Second

// Failure is a document for which something was not done.
type Failure struct {
	URI   string `json:"uri"`
	Error string `json:"error"`
}

// saveResult is what the client answers to sidecar/save.
type saveResult struct {
	Saved  []string  `json:"saved"`
	Failed []Failure `json:"failed"`
}

// saving says which documents are saved in which edits were applied.
type saving func() (clean, accepted bool)

// toSave are the documents of the steps that are on the disk as they are open: that
// they are not once the steps are made is our doing alone.
func (e *Editor) toSave(steps []step) (uris []string) {
	if e.saves == nil {
		return nil
	}
	if clean, _ := e.saves(); !clean {
		return nil
	}
	for _, s := range steps {
		if s.doc == nil || s.want == nil {
			continue
		}
		if data, err := e.base.ReadFile(s.doc.Name); err == nil && bytes.Equal(data, s.doc.bytes()) && !slices.Contains(uris, s.target()) {
			uris = append(uris, s.target())
		}
	}
	return uris
}

// SaveAccepted saves open documents of which an edit was accepted, whatever else was
// changed in them, if that is wanted.
func (e *Editor) SaveAccepted(ctx context.Context, names []string) {
	if e == nil || e.saves == nil {
		return
	}
	if _, accepted := e.saves(); !accepted {
		return
	}
	var uris []string
	for _, name := range names {
		doc := e.Document(name)
		if doc == nil {
			continue
		}
		if data, err := e.base.ReadFile(doc.Name); err == nil && !bytes.Equal(data, doc.bytes()) && !slices.Contains(uris, doc.URI) {
			uris = append(uris, doc.URI)
		}
	}
	e.save(ctx, uris)
}

// save asks the client to save documents as they are. One that can't be saved stays
// open with the edit, and results of tools that look at the disk name it.
func (e *Editor) save(ctx context.Context, uris []string) {
	if len(uris) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	var r saveResult
	if err := e.client.Call(ctx, "sidecar/save", map[string]any{"uris": uris}, &r); err != nil {
		e.client.Log.Warn("the editor did not save what was edited", "error", err)
		return
	}
	for _, f := range r.Failed {
		e.client.Log.Warn("the editor did not save a document", "uri", f.URI, "error", f.Error)
	}
}
