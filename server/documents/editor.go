package documents

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/client"
)

const (
	// applyTimeout bounds how long the editor may take to apply an edit; some
	// show it to the user first.
	applyTimeout = 2 * time.Minute
	// syncTimeout bounds how long the editor may take to tell what an edit did
	// to its documents.
	syncTimeout = 2 * time.Second
)

// Editor is the client as the core sees it: a view in which the open documents
// lie over the files on disk. What is applied to it goes to the documents that
// are open by one edit of the client, which its user can undo, and to all other
// files on disk.
type Editor struct {
	workspace.Files
	base   workspace.View
	docs   *Documents
	client *client.Client
	naming *naming       // of base
	turn   chan struct{} // holds one token while an Apply runs

	changed func(name string) // is told of files that were changed on disk
	saves   saving            // documents are saved in which edits were applied; nil: no
}

// NewEditor lays the open documents over base. changed is called with the names of
// files that were changed on disk; saves says which documents are saved.
func NewEditor(base workspace.View, docs *Documents, c *client.Client, changed func(name string), saves func() (clean, accepted bool)) *Editor {
	e := &Editor{base: base, docs: docs, client: c, turn: make(chan struct{}, 1), changed: changed, saves: saves}
	e.naming = &naming{read: base.ReadFile, resolve: func(path string) (string, error) {
		name, err := place(base, path)
		if err != nil {
			return "", err
		}
		return base.RealName(name)
	}}
	e.Files = workspace.NewOverlay(base, buffers{e})
	return e
}

// Place is the name of a file by its path, as the client writes it.
func (e *Editor) Place(path string) (string, error) { return place(e, path) }

// place is the name of the file of a path: a link beside a root may lead into it.
func place(files workspace.Files, path string) (string, error) {
	name, err := files.Resolve(path)
	if errors.Is(err, workspace.ErrOutside) {
		if real, ok := linked(path); ok {
			return files.Resolve(real)
		}
	}
	return name, err
}

// linked is a path without the links on its way, where there are any. On another machine none
// is looked for.
func linked(path string) (real string, ok bool) {
	if !filepath.IsAbs(path) || strings.HasPrefix(filepath.ToSlash(path), "//") {
		return "", false
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", false
	}
	real = filepath.Join(dir, filepath.Base(path))
	if file, err := filepath.EvalSymlinks(real); err == nil {
		real = file
	}
	return real, real != path
}

// Adopt has the documents be called as in this view, and returns their names.
func (e *Editor) Adopt() []string { return e.docs.rename(e.naming) }

// URI is a name's URI: that of the client for an open document.
func (e *Editor) URI(name string) string {
	if doc := e.Document(name); doc != nil {
		return doc.URI
	}
	return workspace.FileURI(e.Abs(name))
}

// buffers are the open documents as files of an editor's base.
type buffers struct{ e *Editor }

func (b buffers) Lookup(name string) (data []byte, deleted, ok bool) {
	doc := b.e.named(name)
	if doc == nil {
		return nil, false, false
	}
	return doc.bytes(), false, true
}

func (b buffers) Names() []string {
	e := b.e
	names := e.docs.Names()
	if e.docs.naming.Load() == e.naming {
		return names
	}
	var old []string
	for _, name := range names {
		if path, ok := workspace.FilePath(e.docs.uriOf(name)); ok {
			if name, err := e.naming.resolve(path); err == nil {
				old = append(old, name)
			}
		}
	}
	slices.Sort(old)
	return old
}

// named returns the open document of a name in the base, or nil. In a base that
// is not the latest one, files may be called otherwise than documents are now.
func (e *Editor) named(name string) *Document {
	if e.docs.naming.Load() == e.naming {
		return e.docs.named(name)
	}
	if doc := e.docs.At(workspace.FileURI(e.base.Abs(name))); doc != nil || e.base.Folding(path.Dir(name)).Exact() {
		return doc
	}
	// The editor may spell it in another way.
	for _, now := range e.docs.Names() {
		doc := e.docs.named(now)
		if doc == nil {
			continue
		}
		if path, ok := workspace.FilePath(doc.URI); ok {
			if was, err := e.naming.resolve(path); err == nil && was == name {
				return doc
			}
		}
	}
	return nil
}

// Document returns the open document that is the file of that name, also when
// the name leads there through a link, or is spelled in another way.
func (e *Editor) Document(name string) *Document {
	if doc := e.named(name); doc != nil {
		return doc
	}
	if len(e.docs.Names()) == 0 {
		return nil
	}
	real, err := e.RealName(name)
	if err != nil || real == name {
		return nil
	}
	return e.named(real)
}

// Apply makes all changes or none. It fails with ErrConflict when a file is
// not as Change.Before says, and when the editor refuses. A client that
// crashes between its own part and the disk's leaves its part unsaved.
func (e *Editor) Apply(ctx context.Context, changes ...workspace.Change) error {
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	p, err := e.plan(changes)
	if err != nil {
		return err
	}
	if len(p.steps) == 0 {
		if err := e.changeModes(p); err != nil {
			return err
		}
		return e.applyDisk(ctx, p)
	}
	if err := e.checkDisk(p.disk); err != nil {
		return err
	}
	toSave := e.toSave(p.steps)
	if err := e.send(ctx, p.steps); err != nil {
		// Clients stop in the middle of an edit, and refuse after they began.
		if undo := e.undo(context.WithoutCancel(ctx), e.made(p.steps)); undo != nil {
			return fmt.Errorf("%w; the open documents keep their part of the change: %w", err, undo)
		}
		return err
	}
	for _, name := range p.detach {
		e.docs.detach(name)
	}
	err = e.changeModes(p)
	if err == nil {
		err = e.applyDisk(ctx, p)
	}
	if err != nil {
		// Also when ctx ended: half an application is worse than a late end.
		if undo := e.undo(context.WithoutCancel(ctx), p.steps); undo != nil {
			return fmt.Errorf("%w; the open documents keep their part of the change: %w", err, undo)
		}
		return err
	}
	e.save(ctx, toSave)
	return nil
}

func (e *Editor) applyDisk(ctx context.Context, p *plan) error {
	if len(p.disk) == 0 {
		return nil
	}
	if err := e.base.Apply(ctx, p.disk...); err != nil {
		return err
	}
	for _, name := range p.leftover {
		e.docs.detach(name)
	}
	for _, name := range p.respelled {
		e.docs.nameAgain(name)
	}
	for _, c := range p.disk {
		e.changed(c.Path)
		e.changed(c.From)
	}
	return nil
}

// checkDisk finds out early what would fail on disk, while nothing is done yet.
func (e *Editor) checkDisk(changes []workspace.Change) error {
	for _, c := range changes {
		name := c.Path
		if c.From != "" {
			name = c.From
		}
		if c.Link() {
			continue // the base knows
		}
		data, err := e.base.ReadFile(name)
		if c.Before == nil {
			if !workspace.NoFile(err) {
				return conflict(name, "there is a file already")
			}
			continue
		}
		if err != nil || string(data) != string(c.Before) {
			return conflict(name, "")
		}
	}
	return nil
}

// send has the client make the steps and waits until its documents show them.
func (e *Editor) send(ctx context.Context, steps []step) error {
	var waiters []*waiter
	for _, s := range steps {
		if s.want != nil {
			w := e.docs.expect(s.target(), *s.want)
			defer e.docs.release(w)
			waiters = append(waiters, w)
		}
		if s.doc != nil && !s.doc.same(e.docs.At(s.doc.URI)) {
			return conflict(s.doc.Name, "it is being edited")
		}
	}
	ask, cancel := context.WithTimeout(ctx, applyTimeout)
	defer cancel()
	var answer lsp.ApplyWorkspaceEditResult
	err := e.client.Call(ask, "workspace/applyEdit", lsp.ApplyWorkspaceEditParams{Label: "Sidecar edit", Edit: e.workspaceEdit(steps)}, &answer)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case client.Unsupported(err):
		return errors.New("the editor can't apply edits; close the file in it, then it is changed on disk")
	case err != nil:
		return err
	case !answer.Applied:
		reason := answer.FailureReason
		if reason == "" {
			reason = "it gave no reason"
		}
		return fmt.Errorf("%w: the editor did not apply the edit: %s", workspace.ErrConflict, reason)
	}
	return e.verify(ctx, waiters)
}

// verify waits for the documents to hold what the edit makes of them. Clients
// don't reliably refuse an edit that was made for an older text, so only the
// outcome tells.
func (e *Editor) verify(ctx context.Context, waiters []*waiter) error {
	ctx, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	for _, w := range waiters {
		reached, changes := e.docs.wait(ctx, w)
		switch {
		case reached:
		case changes == 0:
			e.client.Log.Warn("the client did not report its own edit", "uri", w.key)
		default:
			return fmt.Errorf("%w: %s was edited at the same moment; look at the result in the editor", workspace.ErrConflict, w.key)
		}
	}
	return nil
}

// made returns those of the steps that the documents show.
func (e *Editor) made(steps []step) (made []step) {
	for _, s := range steps {
		now := e.docs.At(s.target())
		switch {
		case s.want != nil && now != nil && sameText(now.Text.Text(), *s.want):
			made = append(made, s)
		case s.op != nil && s.op.DeleteFile != nil && now == nil:
			made = append(made, s)
		}
	}
	return made
}

// undo takes steps back that the client has made.
func (e *Editor) undo(ctx context.Context, steps []step) error {
	if len(steps) == 0 {
		return nil
	}
	var back []step
	for i := len(steps) - 1; i >= 0; i-- {
		r, err := e.reverse(steps[i])
		if err != nil {
			return err
		}
		back = append(back, r...)
	}
	return e.send(ctx, back)
}

func conflict(name, why string) error {
	err := workspace.ErrConflict
	if why != "" {
		err = fmt.Errorf("%w: %s", err, why)
	}
	return &fs.PathError{Op: "apply", Path: name, Err: err}
}
