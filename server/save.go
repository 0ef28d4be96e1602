package server

import (
	"bytes"
	"context"
	"slices"
	"time"
)

// saveTimeout bounds how long the editor may take to save documents.
const saveTimeout = 5 * time.Second

// saveResult is what the client answers to sidecar/save.
type saveResult struct {
	Saved  []string  `json:"saved"`
	Failed []failure `json:"failed"`
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
		if data, err := e.base.ReadFile(s.doc.name); err == nil && bytes.Equal(data, s.doc.bytes()) && !slices.Contains(uris, s.target()) {
			uris = append(uris, s.target())
		}
	}
	return uris
}

// saveAccepted saves open documents of which an edit was accepted, whatever else was
// changed in them, if that is wanted.
func (e *Editor) saveAccepted(ctx context.Context, names []string) {
	if e == nil || e.saves == nil {
		return
	}
	if _, accepted := e.saves(); !accepted {
		return
	}
	var uris []string
	for _, name := range names {
		doc := e.document(name)
		if doc == nil {
			continue
		}
		if data, err := e.base.ReadFile(doc.name); err == nil && !bytes.Equal(data, doc.bytes()) && !slices.Contains(uris, doc.uri) {
			uris = append(uris, doc.uri)
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
	if err := e.client.call(ctx, "sidecar/save", map[string]any{"uris": uris}, &r); err != nil {
		e.client.log.Warn("the editor did not save what was edited", "error", err)
		return
	}
	for _, f := range r.Failed {
		e.client.log.Warn("the editor did not save a document", "uri", f.URI, "error", f.Error)
	}
}
