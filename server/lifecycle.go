package server

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/sidecar-ls/sidecar-ls/internal/agents/conversation"
	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/rules/events"
	"github.com/sidecar-ls/sidecar-ls/internal/wire/lsp"
	"github.com/sidecar-ls/sidecar-ls/server/client"
	"github.com/sidecar-ls/sidecar-ls/server/commands"
	"github.com/sidecar-ls/sidecar-ls/server/documents"
	"github.com/sidecar-ls/sidecar-ls/server/review"
)

// section is the name of our settings in a client's configuration.
const section = "sidecar"

// configurationTimeout bounds how long a client may take to tell its settings.
const configurationTimeout = 30 * time.Second

// initialize negotiates with the client and builds the core.
func (s *Server) initialize(ctx context.Context, params json.RawMessage) (any, error) {
	var p lsp.InitializeParams
	if err := client.Decode(params, &p); err != nil {
		return nil, err
	}
	s.client.Can = client.AbilitiesOf(p.Capabilities)
	if p.ClientInfo != nil {
		s.clientName = p.ClientInfo.Name
	}
	s.docs.Enc = lsp.ChooseEncoding(p.Capabilities.General.PositionEncodings)
	s.folders = FoldersOf(p)
	var options struct {
		Sidecar json.RawMessage `json:"sidecar"`
	}
	// Options of another shape are meant for somebody else.
	if len(p.InitializationOptions) > 0 && lsp.Unmarshal(p.InitializationOptions, &options) == nil {
		s.initial = options.Sidecar
	}
	core, err := s.opts.Start(ctx, s.starting(s.folders))
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

// starting is what a core is built from.
func (s *Server) starting(folders []workspace.Folder) Start {
	return Start{
		Folders: folders, Settings: s.initial,
		Approver: s.approvals, People: &client.People{Base: s.base, Client: s.client}, Diagnostics: &documents.Diagnostics{Client: s.client, Live: s.view},
		Client: s.clientName, Shown: s.docs.Shown, Initialized: s.begun,
		ReviewChanged:    s.publisher.Changed,
		KnowledgeChanged: s.indexing.changed,
		Editor:           s.newEditor,
	}
}

// welcome says what the server can do; the commands are those of the table.
func (s *Server) welcome() lsp.InitializeResult {
	core := s.current()
	var names []string
	for _, c := range s.table {
		names = append(names, c.Name)
	}
	return lsp.InitializeResult{
		ServerInfo: lsp.Info{Name: "sidecar-ls", Version: s.opts.Version},
		Capabilities: lsp.ServerCapabilities{
			PositionEncoding:        s.docs.Enc,
			TextDocumentSync:        &lsp.TextDocumentSyncOptions{OpenClose: true, Change: lsp.SyncIncremental, Save: &lsp.SaveOptions{}},
			CodeActionProvider:      &lsp.CodeActionOptions{CodeActionKinds: review.ActionKinds, ResolveProvider: true},
			CodeLensProvider:        &lsp.CodeLensOptions{ResolveProvider: true},
			DocumentSymbolProvider:  core.DocumentSymbols != nil,
			WorkspaceSymbolProvider: core.WorkspaceSymbols != nil,
			ExecuteCommandProvider:  &lsp.ExecuteCommandOptions{Commands: names, WorkDoneProgress: true},
			Workspace: &lsp.WorkspaceServerCapabilities{
				WorkspaceFolders: &lsp.WorkspaceFoldersServerCapabilities{Supported: true, ChangeNotifications: true},
			},
			Experimental: lsp.ServerExperimental{Sidecar: lsp.SidecarServer{Selection: core.ShownChanged != nil}},
		},
	}
}

// initialized begins what needs the client's answers.
func (s *Server) initialized() {
	close(s.begun)
	s.listen(s.current())
	s.start(s.publisher.Run)
	s.start(s.indexing.run)
	s.start(s.configure)
}

// configure asks the client for its settings, if it can be asked, and loads
// them over those of initialize. One after the other, so that what was asked
// for after the last change is loaded last.
func (s *Server) configure(ctx context.Context) {
	s.setting.Lock()
	defer s.setting.Unlock()
	if s.client.Can.Configuration {
		ctx, cancel := context.WithTimeout(ctx, configurationTimeout)
		defer cancel()
		var answer []json.RawMessage
		err := s.client.Call(ctx, "workspace/configuration", lsp.ConfigurationParams{Items: []lsp.ConfigurationItem{{Section: section}}}, &answer)
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
	if core.Lifecycle == nil {
		return
	}
	layers = slices.DeleteFunc(layers, func(l json.RawMessage) bool { return len(l) == 0 || string(l) == "null" })
	for _, problem := range core.Configure(layers...) {
		s.client.Warn(ctx, "sidecar: "+problem)
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

// listen tells the client the events of a core, if it wants them.
func (s *Server) listen(core *Core) {
	if s.client.Can.Sidecar.Events && core.Bus != nil {
		cancel := core.Bus.Subscribe(func(e events.Event) { s.client.Notify(s.base, "sidecar/event", e) })
		context.AfterFunc(s.base, cancel)
	}
	if p := core.Ports; p != nil && s.client.Can.Sidecar.Ports {
		s.start(func(ctx context.Context) {
			commands.FollowPorts(ctx, p, func(list commands.PortList) { s.client.Notify(ctx, "sidecar/ports", list) })
		})
	}
	s.followWork(core)
	if a := core.Agents; a != nil {
		cancel := a.Subscribe(func(e conversation.Event) { commands.TellAgent(s.deps(), e) })
		context.AfterFunc(s.base, cancel)
		commands.AskAgain(s.deps())
	}
}

// didChangeFiles tells the review queue about files that changed on disk.
func (s *Server) didChangeFiles(params json.RawMessage) {
	var p lsp.DidChangeWatchedFilesParams
	if lsp.Unmarshal(params, &p) != nil {
		return
	}
	for _, c := range p.Changes {
		s.publisher.TextChanged(s.docs.NameOf(c.URI))
	}
}

// shutdown refuses every later request; Serve ends the core.
func (s *Server) shutdown(context.Context, json.RawMessage) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = stopped
	return nil, nil
}
