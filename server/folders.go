package server

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/documents"
)

// FoldersOf are the folders that the client opened, in any of the three ways
// to say so; each way is used only when the newer ones are absent.
func FoldersOf(p lsp.InitializeParams) []workspace.Folder {
	var folders []workspace.Folder
	for _, f := range p.WorkspaceFolders {
		folders = addFolder(folders, f.URI, f.Name)
	}
	if len(folders) == 0 && p.RootURI != nil {
		folders = addFolder(folders, *p.RootURI, "")
	}
	if len(folders) == 0 && p.RootPath != nil && filepath.IsAbs(*p.RootPath) {
		folders = addFolder(folders, workspace.FileURI(filepath.Clean(*p.RootPath)), "")
	}
	return folders
}

// addFolder adds the folder of a file URI, unless it is there.
func addFolder(folders []workspace.Folder, uri, name string) []workspace.Folder {
	dir, ok := workspace.FilePath(uri)
	if !ok || slices.ContainsFunc(folders, func(f workspace.Folder) bool { return f.Dir == dir }) {
		return folders
	}
	return workspace.AddFolder(folders, dir, name)
}

// didChangeFolders takes the folders down; the core follows beside what else
// the client sends.
func (s *Server) didChangeFolders(params json.RawMessage) {
	var p lsp.DidChangeWorkspaceFoldersParams
	if err := lsp.Unmarshal(params, &p); err != nil {
		s.log.Warn("notification ignored", "method", "workspace/didChangeWorkspaceFolders", "error", err)
		return
	}
	s.mu.Lock()
	folders := slices.Clone(s.folders)
	for _, gone := range p.Event.Removed {
		if dir, ok := workspace.FilePath(gone.URI); ok {
			folders = slices.DeleteFunc(folders, func(f workspace.Folder) bool { return f.Dir == dir })
		}
	}
	for _, f := range p.Event.Added {
		folders = addFolder(folders, f.URI, f.Name)
	}
	s.folders = folders
	turned := make(chan struct{})
	s.turned = turned
	s.mu.Unlock()
	s.start(func(ctx context.Context) {
		defer close(turned)
		s.followFolders(ctx)
	})
}

// awaitFolders waits for the core that serves the folders which the client had
// when it sent its request.
func (s *Server) awaitFolders(ctx context.Context) {
	s.mu.Lock()
	turned := s.turned
	s.mu.Unlock()
	if turned == nil {
		return
	}
	select {
	case <-turned:
	case <-ctx.Done():
	}
}

// followFolders brings the core to the folders that the client has now. When
// that fails, everything stays as it was.
func (s *Server) followFolders(ctx context.Context) {
	s.turning.Lock()
	defer s.turning.Unlock()
	s.mu.Lock()
	core, editor, folders := s.core, s.editor, s.folders
	s.mu.Unlock()
	next, problems, err := core.SetFolders(ctx, folders)
	if err != nil {
		s.adopt(editor)
		s.client.Warn(ctx, "sidecar: workspace folders: "+err.Error())
		return
	}
	s.mu.Lock()
	s.core = next
	if next.Dispatch == nil {
		s.editor = nil
	}
	s.mu.Unlock()
	if next.Bus != core.Bus {
		s.listen(next)
	} else if next.Sessions != core.Sessions { // there was no folder before
		s.followWork(next)
	}
	for _, text := range problems {
		s.client.Warn(ctx, "sidecar: workspace folders: "+text)
	}
	s.loadSettings(ctx)
	s.publisher.Changed()
}

// newEditor makes the live view. What the client has open is a part of it.
func (s *Server) newEditor(base workspace.View) *documents.Editor {
	e := documents.NewEditor(base, s.docs, s.client, s.publisher.TextChanged, func() (clean, accepted bool) {
		if settings := s.current().Settings; settings != nil && s.client.Can.Sidecar.Save {
			return settings.SaveEdits()
		}
		return false, false
	})
	s.adopt(e)
	return e
}

// adopt makes a live view the one that commands ask.
func (s *Server) adopt(e *documents.Editor) {
	if e == nil {
		return
	}
	names := e.Adopt()
	s.mu.Lock()
	s.editor = e
	s.mu.Unlock()
	for _, name := range names {
		s.publisher.TextChanged(name)
	}
}

// view is the live view; nil means that there never was a folder.
func (s *Server) view() *documents.Editor {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.editor
}
