package documents

import (
	"bytes"
	"errors"
	"io/fs"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// plan is what an Apply does: steps of the client, and changes on disk.
type plan struct {
	steps     []step
	disk      []workspace.Change
	detach    []string           // names that the client's steps remove
	leftover  []string           // names of open documents that the disk's changes remove
	respelled []string           // names of open documents that the disk's changes spell in another way
	modes     []workspace.Change // whose mode the server changes, once the client has made its steps
}

// step is one part of a workspace edit.
type step struct {
	doc   *Document // that the step was made for; nil when there is none yet
	uri   string    // of the document whose text is edited
	edits []lsp.TextEdit
	want  *string // the buffer's text after all steps; nil when it isn't told
	op    *lsp.DocumentChange
}

// target is the document that holds step.want in the end.
func (s step) target() string {
	if s.op != nil && s.op.RenameFile != nil {
		return s.op.RenameFile.NewURI
	}
	return s.uri
}

// plan sorts changes into those that the client makes and those on disk.
func (e *Editor) plan(changes []workspace.Change) (*plan, error) {
	p := &plan{}
	for _, c := range changes {
		if c.Link() {
			if err := e.planLink(p, c); err != nil {
				return nil, err
			}
			continue
		}
		source := c.Path
		if c.From != "" {
			source = c.From
			if e.Document(c.Path) != nil && !respelled(e.base, c) {
				return nil, conflict(c.Path, "it is open in the editor")
			}
		}
		doc := e.Document(source)
		if doc == nil {
			p.disk = append(p.disk, c)
			continue
		}
		if c.Before == nil || !bytes.Equal(doc.bytes(), c.Before) {
			return nil, conflict(source, "")
		}
		var err error
		onDisk := len(p.disk)
		switch {
		case c.From != "":
			err = e.planRename(p, doc, c)
		case c.After == nil:
			err = e.planDelete(p, doc, c)
		default:
			err = e.planModify(p, doc, c)
		}
		if err != nil {
			return nil, err
		}
		if c.Mode != 0 && c.After != nil && len(p.disk) == onDisk {
			p.modes = append(p.modes, c)
		}
	}
	return p, nil
}

// planLink plans a change of a link, which no edit of a client can make. A
// document that is the file which goes must have nothing unsaved.
func (e *Editor) planLink(p *plan, c workspace.Change) error {
	if c.BeforeLink || e.docs.named(c.Path) == nil {
		p.disk = append(p.disk, c)
		return nil
	}
	return e.planLeftover(p, c.Path, c)
}

// changeModes plans what no edit of a client can do to the open documents: the
// modes of their files, which keep the text that they have on disk.
func (e *Editor) changeModes(p *plan) error {
	for _, c := range p.modes {
		data, err := e.base.ReadFile(c.Path)
		if err != nil {
			return err
		}
		p.disk = append(p.disk, workspace.Change{Path: c.Path, Before: data, After: data, Mode: c.Mode})
	}
	return nil
}

func (e *Editor) planModify(p *plan, doc *Document, c workspace.Change) error {
	old := doc.Text.Text()
	want, err := doc.form().buffer(old, c.After)
	if err != nil {
		return &fs.PathError{Op: "apply", Path: c.Path, Err: err}
	}
	edits := textEdits(old, want, e.docs.Enc)
	if len(edits) == 0 && c.From == "" && !bytes.Equal(c.Before, c.After) {
		return conflict(c.Path, "only its encoding or line ends would change, which the editor decides while the file is open")
	}
	if len(edits) > 0 || c.From != "" {
		p.steps = append(p.steps, step{doc: doc, uri: doc.URI, edits: edits, want: &want})
	}
	return nil
}

func (e *Editor) planDelete(p *plan, doc *Document, c workspace.Change) error {
	if !e.client.Can.DeleteFiles {
		return e.planLeftover(p, c.Path, c)
	}
	if err := e.saved(c.Path); err != nil {
		return err
	}
	p.steps = append(p.steps, step{doc: doc, uri: doc.URI, op: &lsp.DocumentChange{DeleteFile: &lsp.DeleteFile{URI: doc.URI}}})
	p.detach = append(p.detach, c.Path)
	return nil
}

func (e *Editor) planRename(p *plan, doc *Document, c workspace.Change) error {
	switch {
	case respelled(e.base, c):
		return e.planRespell(p, c)
	case !e.client.Can.RenameFiles:
		return e.planLeftover(p, c.From, c)
	}
	if err := e.saved(c.From); err != nil {
		return err
	}
	if _, err := e.base.Stat(c.Path); !errors.Is(err, fs.ErrNotExist) {
		return conflict(c.Path, "there is a file already")
	}
	want := doc.Text.Text()
	if !bytes.Equal(c.Before, c.After) {
		if err := e.planModify(p, doc, c); err != nil {
			return err
		}
		edited := &p.steps[len(p.steps)-1]
		want, edited.want = *edited.want, nil // told under the new name
	}
	p.steps = append(p.steps, step{doc: doc, uri: doc.URI, want: &want, op: &lsp.DocumentChange{RenameFile: &lsp.RenameFile{OldURI: doc.URI, NewURI: workspace.FileURI(e.base.Abs(c.Path))}}})
	p.detach = append(p.detach, c.From)
	return nil
}

// respelled reports whether a rename changes the spelling of a name alone: what has
// the new name then is the file itself.
func respelled(files workspace.Files, c workspace.Change) bool {
	to, ok := workspace.Respelled(files, c.From, c.Path)
	return ok && to == c.Path
}

// planLeftover deletes or moves the file of an open document on disk, for a
// client that can't. What the user has not saved would be lost, so there must
// be nothing of that.
func (e *Editor) planLeftover(p *plan, name string, c workspace.Change) error {
	if err := e.nothingUnsaved(name, c); err != nil {
		return err
	}
	p.disk = append(p.disk, c)
	p.leftover = append(p.leftover, name)
	return nil
}

// planRespell changes the spelling of a name on disk. Clients refuse that, because
// there is a file of the new name: the document itself, which stays open.
func (e *Editor) planRespell(p *plan, c workspace.Change) error {
	if err := e.nothingUnsaved(c.From, c); err != nil {
		return err
	}
	p.disk = append(p.disk, c)
	p.respelled = append(p.respelled, c.From)
	return nil
}

func (e *Editor) nothingUnsaved(name string, c workspace.Change) error {
	if err := e.saved(name); err != nil {
		return err
	}
	data, err := e.base.ReadFile(name)
	if err != nil {
		return err
	}
	if !bytes.Equal(data, c.Before) {
		return conflict(name, "it has unsaved changes in the editor")
	}
	return nil
}

// saved fails for a document that has no file yet.
func (e *Editor) saved(name string) error {
	if _, err := e.base.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return conflict(name, "it was never saved in the editor")
	} else if err != nil {
		return err
	}
	return nil
}

// workspaceEdit is the steps as one edit, in the form that the client takes.
func (e *Editor) workspaceEdit(steps []step) lsp.WorkspaceEdit {
	var edit lsp.WorkspaceEdit
	if !e.client.Can.VersionedEdits {
		edit.Changes = map[lsp.URI][]lsp.TextEdit{}
		for _, s := range steps { // no operations: they need the other form
			edit.Changes[s.uri] = append(edit.Changes[s.uri], s.edits...)
		}
		return edit
	}
	for _, s := range steps {
		if s.op != nil {
			edit.DocumentChanges = append(edit.DocumentChanges, *s.op)
			continue
		}
		id := lsp.OptionalVersionedTextDocumentIdentifier{URI: s.uri}
		if s.doc != nil {
			id.Version = &s.doc.Version
		}
		edit.DocumentChanges = append(edit.DocumentChanges, lsp.DocumentChange{TextDocumentEdit: &lsp.TextDocumentEdit{TextDocument: id, Edits: s.edits}})
	}
	return edit
}

// reverse returns the steps that take s back. It fails when the user went on
// editing, since that would be lost.
func (e *Editor) reverse(s step) ([]step, error) {
	old := s.doc.Text.Text()
	switch {
	case s.op != nil && s.op.DeleteFile != nil:
		if !e.client.Can.CreateFiles {
			return nil, conflict(s.doc.Name, "the editor can't create it again")
		}
		return []step{
			{uri: s.uri, op: &lsp.DocumentChange{CreateFile: &lsp.CreateFile{URI: s.uri}}},
			{uri: s.uri, edits: textEdits("", old, e.docs.Enc)},
		}, nil
	case s.op != nil && s.op.RenameFile != nil:
		r := s.op.RenameFile
		return []step{{uri: s.uri, op: &lsp.DocumentChange{RenameFile: &lsp.RenameFile{OldURI: r.NewURI, NewURI: r.OldURI}}}}, nil
	case s.want == nil: // before a rename, which is taken back first
		edited, err := lsp.ApplyEdits(old, s.edits, e.docs.Enc)
		if err != nil {
			return nil, err
		}
		return []step{{uri: s.uri, edits: textEdits(edited, old, e.docs.Enc)}}, nil
	}
	now := e.docs.At(s.uri)
	if now == nil || !sameText(now.Text.Text(), *s.want) {
		return nil, conflict(s.doc.Name, "it was edited meanwhile")
	}
	return []step{{doc: now, uri: s.uri, edits: textEdits(now.Text.Text(), old, e.docs.Enc), want: &old}}, nil
}
