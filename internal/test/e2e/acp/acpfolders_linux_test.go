package acp_test

import (
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/sidecar-ls/sidecar-ls/internal/test/clients"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
)

// TestACPFolders: the additional directories of an editor's first session are folders of the
// workspace, in which our agent works; a later session may work in each of them, and in no
// others.
func TestACPFolders(t *testing.T) {
	files := map[string]string{"api/.git/HEAD": "ref: refs/heads/main\n", "api/in/a.txt": "a\n", "web/b.txt": "of web\n", "out/c.txt": "c\n"}
	top, model := e2e.Played(t, files, e2e.Object{"commands.ask": "never"})
	api, web, out := filepath.Join(top, "api"), filepath.Join(top, "web"), filepath.Join(top, "out")
	opens := func(e *acpEditor, dir string, more []string, want string) (id sdk.SessionId) {
		t.Helper()
		s, err := e.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: dir, AdditionalDirectories: more, McpServers: []sdk.McpServer{}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("in %s with %q: %v, want %q", dir, more, err, want)
		}
		return s.SessionId
	}
	works := func(e *acpEditor, id sdk.SessionId) {
		t.Helper()
		p := e.say(id, "look at web")
		turn := e2e.Next(t, model)
		if !strings.Contains(turn.Body, "They begin with one of its folders: api, web.") {
			t.Error("the model is not told of the folders")
		}
		turn.CallAllOwn(clients.Called{Tool: "read_file", Args: e2e.Object{"path": "web/b.txt"}}, clients.Called{Tool: "write_file", Args: e2e.Object{"path": "web/new.txt", "content": "new\n"}})
		e2e.Next(t, model).CallOwn("run_command", e2e.Object{"command": "pwd; cat new.txt", "cwd": "web"})
		turn = e2e.Next(t, model)
		if !strings.Contains(turn.Result, web+"\nnew") {
			t.Errorf("in the second folder the command saw %q", turn.Result)
		}
		turn.CallOwn("run_command", e2e.Object{"command": "pwd; ls", "cwd": "api/in"})
		turn = e2e.Next(t, model)
		if !strings.Contains(turn.Result, filepath.Join(api, "in")+"\na.txt") {
			t.Errorf("in the first folder the command saw %q", turn.Result)
		}
		turn.Say("Seen.")
		p.ends(sdk.StopReasonEndTurn)
	}

	e := acpEditorIn(t, api, false)
	id := opens(e, filepath.Join(api, "in"), []string{web, filepath.Join(api, "in")}, "") // the latter is in a folder already
	works(e, id)
	opens(e, web, []string{api}, "")
	opens(e, web, []string{out}, "additionalDirectories: "+out+" is outside of the folders served here")
	opens(e, out, nil, "cwd: "+out+" is outside of the folders served here")
	opens(e, api, []string{"web"}, `is no absolute path`)
	e.leave()

	e = acpEditorIn(t, api, false, "--root", api, "--root", web)
	opens(e, web, []string{out}, "additionalDirectories")
	works(e, opens(e, api, nil, ""))
	e.leave()

	e = acpEditorIn(t, api, false)
	opens(e, api, []string{"/"}, "additionalDirectories: / has too much below it")
	opens(e, api, []string{filepath.Join(top, "none")}, "none")
	e.leave()

	r := e2e.RunIn(t, api)
	e = acpEditorIn(t, api, false)
	opens(e, api, []string{web}, "serves "+api+" for an editor that does not have "+web+" open")
	r.Folders([]string{web}, nil)
	e2e.Until(t, "the editor's server never had the second folder", func() bool {
		_, err := e.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: api, AdditionalDirectories: []string{web}, McpServers: []sdk.McpServer{}})
		return err == nil
	})
}
