package server

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/events"
	"github.com/sidecar-ls/sidecar-ls/internal/lsp"
	"github.com/sidecar-ls/sidecar-ls/internal/workspace"
)

// section is the name of our settings in a client's configuration.
const section = "sidecar"

// configurationTimeout bounds how long a client may take to tell its settings.
const configurationTimeout = 30 * time.Second

// initialize negotiates with the client and builds the core.
func (s *Server) initialize(ctx context.Context, params json.RawMessage) (any, error) {
	var p lsp.InitializeParams
	if err := unmarshal(params, &p); err != nil {
		return nil, err
	}
	s.client.can = abilitiesOf(p.Capabilities)
	s.docs.enc = lsp.ChooseEncoding(p.Capabilities.General.PositionEncodings)
	s.folders = foldersOf(p)
	var options struct {
		Sidecar json.RawMessage `json:"sidecar"`
	}
	// Options of another shape are meant for somebody else.
	if len(p.InitializationOptions) > 0 && lsp.Unmarshal(p.InitializationOptions, &options) == nil {
		s.initial = options.Sidecar
	}
	core, err := s.opts.Start(ctx, Start{
		Folders: s.folders, Settings: s.initial,
		Approver: s.approvals, People: &People{s.client}, Diagnostics: &Diagnostics{s},
		Warn:             func(text string) { s.client.show(context.WithoutCancel(ctx), lsp.MessageWarning, text) },
		ReviewChanged:    s.publisher.changed,
		KnowledgeChanged: s.indexing.changed,
		Editor:           s.newEditor,
	})
	if err != nil {
		return nil, lsp.Errorf(lsp.RequestFailed, "%v", err)
	}
	s.mu.Lock()
	s.core, s.state = core, running
	s.mu.Unlock()
	if p.ProcessID != nil && alive(int(*p.ProcessID)) {
		s.start(func(ctx context.Context) {
			watchParent(ctx, int(*p.ProcessID), func() {
				s.log.Warn("the client's process has ended", "pid", *p.ProcessID)
				s.hangUp()
			})
		})
	}
	return s.welcome(), nil
}

// newEditor makes the live view. It runs within initialize, before any
// document is open.
func (s *Server) newEditor(base workspace.View) *Editor {
	s.editor = newEditor(base, s.docs, s.client, s.publisher.textChanged)
	s.docs.read = base.ReadFile
	s.docs.resolve = func(path string) (string, error) {
		name, err := base.Resolve(path)
		if err != nil {
			return "", err
		}
		return base.RealName(name)
	}
	return s.editor
}

// welcome says what the server can do; the commands are those of the table.
func (s *Server) welcome() lsp.InitializeResult {
	return lsp.InitializeResult{
		ServerInfo: lsp.Info{Name: "sidecar-ls", Version: s.opts.Version},
		Capabilities: lsp.ServerCapabilities{
			PositionEncoding:        s.docs.enc,
			TextDocumentSync:        &lsp.TextDocumentSyncOptions{OpenClose: true, Change: lsp.SyncIncremental, Save: &lsp.SaveOptions{}},
			CodeActionProvider:      &lsp.CodeActionOptions{CodeActionKinds: actionKinds, ResolveProvider: true},
			CodeLensProvider:        &lsp.CodeLensOptions{ResolveProvider: true},
			DocumentSymbolProvider:  s.current().DocumentSymbols != nil,
			WorkspaceSymbolProvider: s.current().WorkspaceSymbols != nil,
			ExecuteCommandProvider:  &lsp.ExecuteCommandOptions{Commands: names(s.table), WorkDoneProgress: true},
			Workspace: &lsp.WorkspaceServerCapabilities{
				WorkspaceFolders: &lsp.WorkspaceFoldersServerCapabilities{Supported: true, ChangeNotifications: true},
			},
		},
	}
}

// initialized begins what needs the client's answers.
func (s *Server) initialized() {
	core := s.current()
	if s.client.can.sidecar.Events && core.Bus != nil {
		cancel := core.Bus.Subscribe(func(e events.Event) { s.client.notify(s.base, "sidecar/event", e) })
		context.AfterFunc(s.base, cancel)
	}
	s.start(s.publisher.run)
	s.start(s.indexing.run)
	s.start(s.configure)
}

// configure asks the client for its settings, if it can be asked, and loads
// them over those of initialize.
func (s *Server) configure(ctx context.Context) {
	if s.client.can.configuration {
		ctx, cancel := context.WithTimeout(ctx, configurationTimeout)
		defer cancel()
		var answer []json.RawMessage
		err := s.client.call(ctx, "workspace/configuration", lsp.ConfigurationParams{Items: []lsp.ConfigurationItem{{Section: section}}}, &answer)
		switch {
		case err != nil:
			s.log.Warn("settings not received", "error", err)
		case len(answer) > 0:
			s.mu.Lock()
			s.settings = answer[0]
			s.mu.Unlock()
		}
	}
	s.loadSettings(ctx)
}

// loadSettings gives the settings to the core and tells the user what is wrong
// with them.
func (s *Server) loadSettings(ctx context.Context) {
	s.mu.Lock()
	core, layers := s.core, []json.RawMessage{s.initial, s.settings}
	s.mu.Unlock()
	if core.Configure == nil {
		return
	}
	layers = slices.DeleteFunc(layers, func(l json.RawMessage) bool { return len(l) == 0 || string(l) == "null" })
	for _, problem := range core.Configure(layers...) {
		s.client.show(ctx, lsp.MessageWarning, "sidecar: "+problem)
	}
}

func (s *Server) didChangeConfiguration(params json.RawMessage) {
	var p lsp.DidChangeConfigurationParams
	var settings struct {
		Sidecar json.RawMessage `json:"sidecar"`
	}
	if lsp.Unmarshal(params, &p) == nil && len(p.Settings) > 0 && lsp.Unmarshal(p.Settings, &settings) == nil && len(settings.Sidecar) > 0 {
		s.mu.Lock()
		s.settings = settings.Sidecar
		s.mu.Unlock()
	}
	s.start(s.configure)
}

func (s *Server) didChangeFolders(params json.RawMessage) {
	var p lsp.DidChangeWorkspaceFoldersParams
	if err := lsp.Unmarshal(params, &p); err != nil {
		s.log.Warn("notification ignored", "method", "workspace/didChangeWorkspaceFolders", "error", err)
		return
	}
	s.mu.Lock()
	core := s.core
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
	s.mu.Unlock()
	s.start(func(ctx context.Context) {
		if core.SetFolders == nil {
			s.client.show(ctx, lsp.MessageInfo, "sidecar: restart the language server to use the changed workspace folders")
			return
		}
		if err := core.SetFolders(folders); err != nil {
			s.client.show(ctx, lsp.MessageWarning, "sidecar: workspace folders: "+err.Error())
		}
	})
}

// didChangeFiles tells the review queue about files that changed on disk.
func (s *Server) didChangeFiles(params json.RawMessage) {
	var p lsp.DidChangeWatchedFilesParams
	if lsp.Unmarshal(params, &p) != nil {
		return
	}
	for _, c := range p.Changes {
		s.publisher.textChanged(s.docs.nameOf(c.URI))
	}
}

// shutdown refuses every later request; Serve ends the core.
func (s *Server) shutdown(context.Context, json.RawMessage) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = stopped
	return nil, nil
}

// foldersOf are the folders that the client opened, in any of the three ways
// to say so; each way is used only when the newer ones are absent.
func foldersOf(p lsp.InitializeParams) []workspace.Folder {
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

// addFolder adds the folder of a file URI, under a name that is one path
// segment and that no other folder has.
func addFolder(folders []workspace.Folder, uri, name string) []workspace.Folder {
	dir, ok := workspace.FilePath(uri)
	if !ok || slices.ContainsFunc(folders, func(f workspace.Folder) bool { return f.Dir == dir }) {
		return folders
	}
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
		name = filepath.Base(dir)
	}
	unique := name
	for i := 2; slices.ContainsFunc(folders, func(f workspace.Folder) bool { return f.Name == unique }); i++ {
		unique = name + "-" + strconv.Itoa(i)
	}
	return append(folders, workspace.Folder{Name: unique, Dir: dir})
}
