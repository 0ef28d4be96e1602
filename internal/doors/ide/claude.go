package ide

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/files/workspace"
	"github.com/sidecar-ls/sidecar-ls/internal/langserver"
)

// claudeHeader is the token as Claude Code sends it.
func claudeHeader(h http.Header) string { return h.Get("X-Claude-Code-Ide-Authorization") }

// subprotocol is what the messages of the WebSocket are.
const subprotocol = "mcp"

// serveClaude speaks with one Claude Code until it leaves.
func (s *IDE) serveClaude(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{subprotocol}, InsecureSkipVerify: true}) // no origin comes as far as here
	if err != nil {
		s.o.Log.Warn("an agent's connection is refused", "error", err)
		return
	}
	ws.SetReadLimit(maxMessage)
	a := &agent{standing: standingOf(r), name: "claude", says: "Claude Code", words: Shown.forClaude}
	conn := &socket{ws, func() { a.end() }}
	defer func() { _ = conn.Close() }()
	a.tell = func(params any) { notify(a.ctx, conn, "selection_changed", params) }
	s.join(a)
	defer a.close()
	server := s.newServer(func() { s.sayMode.Do(func() { s.o.Say(reviewedInDefault) }) })
	addTool(server, "openDiff", a.claudeDiff)
	addTool(server, "close_tab", a.closeTab)
	addTool(server, "closeAllDiffTabs", a.closeAllTabs)
	addTool(server, "getDiagnostics", a.diagnostics)
	if err := server.Run(a.ctx, conn); err != nil {
		s.o.Log.Debug("an agent's connection has ended", "error", err)
	}
}

// reviewedInDefault is what a person has to know when Claude Code comes: it tells nobody its
// permission mode, and begins in one that asks no editor.
const reviewedInDefault = "Claude Code is connected. You review its edits here only in its permission mode default: press Shift+Tab in Claude Code until it says manual mode. In auto and acceptEdits it writes without asking."

// newServer is an MCP server without tools. connected is called when an agent is there.
func (s *IDE) newServer(connected func()) *sdk.Server {
	return sdk.NewServer(&sdk.Implementation{Name: "sidecar-ls", Version: s.o.Version}, &sdk.ServerOptions{
		Logger: s.o.Log, Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		InitializedHandler: func(context.Context, *sdk.InitializedRequest) {
			s.ShownChanged()
			connected()
		},
	})
}

// addTool adds a tool that is for the agent's program, not for its model. A
// failure is told in its result.
func addTool[In any](server *sdk.Server, name string, f func(context.Context, In) (*sdk.CallToolResult, error)) {
	server.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var in In
		args := req.Params.Arguments
		if len(args) == 0 {
			args = json.RawMessage("{}")
		}
		err := json.Unmarshal(args, &in)
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: name + ": " + err.Error()}
		}
		res, err := f(ctx, in)
		if err != nil {
			res = texts(err.Error())
			res.IsError = true
		}
		return res, nil
	})
}

// texts is a result of texts.
func texts(all ...string) *sdk.CallToolResult {
	res := &sdk.CallToolResult{Content: []sdk.Content{}}
	for _, text := range all {
		res.Content = append(res.Content, &sdk.TextContent{Text: text})
	}
	return res
}

type claudeDiffIn struct {
	Old  string `json:"old_file_path"`
	New  string `json:"new_file_path"`
	Text string `json:"new_file_contents"`
	Tab  string `json:"tab_name"`
}

// claudeDiff answers when the edit is decided on. An edit that was taken back is
// answered as rejected: TAB_CLOSED would mean that it is accepted.
func (a *agent) claudeDiff(ctx context.Context, in claudeDiffIn) (*sdk.CallToolResult, error) {
	path := in.New
	if path == "" {
		path = in.Old
	}
	if in.Tab == "" {
		return nil, fmt.Errorf("openDiff needs tab_name")
	}
	a.redateAll()
	d, err := a.propose(ctx, in.Tab, path, in.Text)
	if err != nil {
		return nil, err
	}
	text, saved := d.wait(ctx)
	if !saved {
		return texts("DIFF_REJECTED", in.Tab), nil
	}
	d.backdate()
	return texts("FILE_SAVED", text), nil
}

type tabIn struct {
	Tab string `json:"tab_name"`
}

func (a *agent) closeTab(_ context.Context, in tabIn) (*sdk.CallToolResult, error) {
	if a.withdraw(in.Tab) {
		return texts("TAB_CLOSED: the edit is taken back, nobody had decided on it"), nil
	}
	return texts("TAB_CLOSED"), nil
}

func (a *agent) closeAllTabs(context.Context, struct{}) (*sdk.CallToolResult, error) {
	a.redateAll()
	return texts(fmt.Sprintf("CLOSED_%d_DIFF_TABS", a.withdrawAll())), nil
}

// fileProblems are the diagnostics of a file as Claude Code reads them: lines and
// characters count from zero.
type fileProblems struct {
	URI      string    `json:"uri"`
	Problems []problem `json:"diagnostics"`
}

type problem struct {
	Message  string `json:"message"`
	Severity string `json:"severity"` // Error, Warning, Info or Hint
	Range    span   `json:"range"`
	Source   string `json:"source,omitempty"`
	Code     string `json:"code,omitempty"`
}

type span struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

type problemsIn struct {
	URI string `json:"uri"`
}

// diagnostics are what the editor shows, against a file or against all.
func (a *agent) diagnostics(ctx context.Context, in problemsIn) (*sdk.CallToolResult, error) {
	o := a.ide.o
	files := o.Workspace().Files
	if files == nil {
		return nil, errNoFolder
	}
	if a.blind {
		return texts("[]"), nil
	}
	name := ""
	if in.URI != "" {
		path, ok := workspace.FilePath(in.URI)
		if !ok {
			path = in.URI
		}
		var err error
		if name, err = files.Resolve(path); err != nil {
			return nil, err
		}
	}
	found, err := o.Problems(ctx, name)
	if err != nil {
		return nil, err
	}
	out := []fileProblems{}
	for _, p := range found {
		if o.Secret(p.Path) {
			continue
		}
		uri := workspace.FileURI(files.Abs(p.Path))
		i := slices.IndexFunc(out, func(f fileProblems) bool { return f.URI == uri })
		if i < 0 {
			i, out = len(out), append(out, fileProblems{URI: uri})
		}
		out[i].Problems = append(out[i].Problems, problem{
			Message: o.Hide(p.Message), Severity: severities[p.Severity], Source: p.Source, Code: p.Code,
			Range: span{Position{p.Line - 1, p.Column - 1}, Position{p.EndLine - 1, p.EndColumn - 1}},
		})
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return texts(string(data)), nil
}

var severities = map[langserver.Severity]string{
	langserver.Error: "Error", langserver.Warning: "Warning", langserver.Information: "Info", langserver.Hint: "Hint",
}

// socket is a WebSocket as the SDK's transport: a text message is a message.
type socket struct {
	ws   *websocket.Conn
	lost func() // is called when nothing more can be read: the SDK waits for calls that are under way
}

// Connect implements sdk.Transport, and what follows sdk.Connection.
func (s *socket) Connect(context.Context) (sdk.Connection, error) { return s, nil }

func (s *socket) Read(ctx context.Context) (jsonrpc.Message, error) {
	_, data, err := s.ws.Read(ctx)
	if err != nil {
		s.lost()
		return nil, err
	}
	msg, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		s.lost()
		_ = s.ws.Close(websocket.StatusInvalidFramePayloadData, "a message is one of JSON-RPC 2.0")
	}
	return msg, err
}

// writeTime bounds how long an agent may take to read what it is told.
const writeTime = 10 * time.Second

func (s *socket) Write(ctx context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	return s.ws.Write(ctx, websocket.MessageText, data)
}

// Close does not wait for the agent's part of it.
func (s *socket) Close() error { return s.ws.CloseNow() }

// SessionID is nothing: the connection is the session.
func (*socket) SessionID() string { return "" }

// notify tells an agent something that is not of MCP. That it can't be told shows
// in its connection.
func notify(ctx context.Context, conn sdk.Connection, method string, params any) {
	data, err := json.Marshal(params)
	if err != nil {
		panic(err) // a struct of ours
	}
	_ = conn.Write(ctx, &jsonrpc.Request{Method: method, Params: json.RawMessage(strings.ToValidUTF8(string(data), "\uFFFD"))})
}
