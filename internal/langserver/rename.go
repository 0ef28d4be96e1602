package langserver

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
)

// Rename returns what to change so that the symbol at a position is called
// newName, in all files. Nothing is changed.
//
// The server is asked twice: the first time to learn which files are affected,
// the second time with these shown to it as the view has them. So every edit is
// made for a text that we know, and not for what was on the disk at some time.
func (p *Pool) Rename(ctx context.Context, files workspace.Files, at Position, newName string) ([]workspace.Change, error) {
	s, done, err := p.begin(ctx, files, at.Name)
	if err != nil {
		return nil, err
	}
	defer done() // the turn is held: nobody else may show the server other texts
	if !s.caps.RenameProvider {
		return nil, unavailable(s.at.kind.name, "it can't rename")
	}
	edit, err := s.rename(ctx, at, newName)
	if err != nil {
		return nil, err
	}
	var affected []string
	for _, step := range edit {
		name, outside := s.name(step.uri)
		if outside != "" {
			return nil, fmt.Errorf("%s would change: %w", outside, workspace.ErrOutside)
		}
		affected = append(affected, name)
	}
	if err := s.show(ctx, files, append(affected, at.Name)...); err != nil {
		return nil, err
	}
	if edit, err = s.rename(ctx, at, newName); err != nil {
		return nil, err
	}
	return s.asChanges(edit)
}

// fileEdit is what a server wants of one file.
type fileEdit struct {
	uri     string
	version *int32
	edits   []lsp.TextEdit
	moveTo  string // URI; "" stays
}

func (s *session) rename(ctx context.Context, at Position, newName string) ([]fileEdit, error) {
	pos, err := s.position(ctx, at)
	if err != nil {
		return nil, err
	}
	q, err := s.ask(ctx, "textDocument/rename", lsp.RenameParams{
		TextDocumentPositionParams: lsp.TextDocumentPositionParams{TextDocument: lsp.TextDocumentIdentifier{URI: s.doc.uri}, Position: pos},
		NewName:                    newName,
	})
	if err != nil {
		return nil, err
	}
	var edit *lsp.WorkspaceEdit
	if err := q.answer(ctx, &edit); err != nil {
		return nil, err
	}
	if edit == nil {
		return nil, ErrNothing
	}
	return byFile(s.at.kind.name, *edit)
}

// byFile sorts a workspace edit by files.
func byFile(server string, edit lsp.WorkspaceEdit) ([]fileEdit, error) {
	var out []fileEdit
	index := map[string]int{}
	of := func(uri string) *fileEdit {
		i, ok := index[uri]
		if !ok {
			i = len(out)
			index[uri] = i
			out = append(out, fileEdit{uri: uri})
		}
		return &out[i]
	}
	for _, uri := range slices.Sorted(maps.Keys(edit.Changes)) {
		f := of(uri)
		f.edits = append(f.edits, edit.Changes[uri]...)
	}
	for _, c := range edit.DocumentChanges {
		switch {
		case c.TextDocumentEdit != nil:
			f := of(c.TextDocumentEdit.TextDocument.URI)
			f.version = c.TextDocumentEdit.TextDocument.Version
			f.edits = append(f.edits, c.TextDocumentEdit.Edits...)
		case c.RenameFile != nil:
			of(c.RenameFile.OldURI).moveTo = c.RenameFile.NewURI
		default:
			return nil, unavailable(server, "this renaming makes or deletes files, which is not supported; edit the files one by one")
		}
	}
	if len(out) == 0 {
		return nil, ErrNothing
	}
	return out, nil
}

// asChanges makes changes of edits, each against the text that the server was
// shown, which must still be that of the view.
func (s *session) asChanges(edits []fileEdit) ([]workspace.Change, error) {
	var out []workspace.Change
	for _, e := range edits {
		name, outside := s.name(e.uri)
		if outside != "" {
			return nil, fmt.Errorf("%s would change: %w", outside, workspace.ErrOutside)
		}
		d := s.docs.open[name]
		before, err := s.files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		text, err := workspace.DecodeText(before)
		if err != nil {
			return nil, err
		}
		if d == nil || d.text != text.Body || e.version != nil && *e.version != 0 && *e.version != d.version {
			return nil, fmt.Errorf("%s: %w", name, workspace.ErrConflict)
		}
		body, err := lsp.ApplyEdits(text.Body, e.edits, s.enc)
		if err != nil {
			return nil, &AnswerError{s.at.kind.name, fmt.Sprintf("its edits of %s overlap", name)}
		}
		after, err := text.Encode(body)
		if err != nil {
			return nil, err
		}
		c := workspace.Change{Path: name, Before: before, After: after}
		if e.moveTo != "" {
			to, outside := s.name(e.moveTo)
			if outside != "" {
				return nil, fmt.Errorf("%s would be made: %w", outside, workspace.ErrOutside)
			}
			c.Path, c.From = to, name
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b workspace.Change) int {
		if a.Path < b.Path {
			return -1
		}
		return 1
	})
	return out, nil
}
