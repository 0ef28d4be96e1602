package agents_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// TestSignInCommand: an editor that opens pages opens the one for signing in, as one
// that is outside of it; another gets its address. What an agent can call comes not
// near it.
func TestSignInCommand(t *testing.T) {
	var web *httptest.Server
	web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		say := func(v e2e.Object) { _ = json.NewEncoder(w).Encode(v) }
		switch {
		case r.URL.Path == "/mcp":
			w.WriteHeader(http.StatusUnauthorized)
		case strings.HasPrefix(r.URL.Path, "/.well-known/oauth-authorization-server"):
			say(e2e.Object{"issuer": web.URL, "authorization_endpoint": web.URL + "/authorize", "token_endpoint": web.URL + "/token", "registration_endpoint": web.URL + "/register",
				"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}})
		case r.URL.Path == "/register":
			w.WriteHeader(http.StatusCreated)
			say(e2e.Object{"client_id": "x", "redirect_uris": []string{}})
		default:
			http.NotFound(w, r)
		}
	}))
	defer web.Close()
	for _, opens := range []bool{true, false} {
		e2e.Home(t)
		e2e.UserSettings(t, e2e.Object{"mcp.servers": e2e.Object{"web": e2e.Object{"url": web.URL + "/mcp"}}})
		can := fakeeditor.Usual()
		can.Window.ShowDocument.Support = opens
		r := e2e.ServeSelf(t, e2e.Project(t, nil), fakeeditor.Options{Capabilities: can})
		if s := e2e.Command[server.MCPStatus](r, "sidecar.mcp.reconnect", e2e.Object{"server": "web"}); s.State != "signIn" {
			t.Fatalf("%+v", s)
		}
		if !opens {
			got := e2e.Command[struct {
				URL    string           `json:"url"`
				Server server.MCPStatus `json:"server"`
			}](r, "sidecar.mcp.signIn", e2e.Object{"server": "web"})
			if !strings.HasPrefix(got.URL, web.URL+"/authorize?") || got.Server.Name != "web" {
				t.Errorf("%+v", got)
			}
			continue
		}
		pending, err := r.Start(t.Context(), "workspace/executeCommand", e2e.Object{"command": "sidecar.mcp.signIn", "arguments": []any{e2e.Object{"server": "web"}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Await(t.Context(), "the page", func(rec *fakeeditor.Record) bool {
			return slices.ContainsFunc(rec.Requests, func(m fakeeditor.Message) bool {
				return m.Method == "window/showDocument" && strings.Contains(string(m.Params), `"external":true`) && strings.Contains(string(m.Params), web.URL+"/authorize?")
			})
		}); err != nil {
			t.Fatal(err)
		}
		if err := pending.Cancel(); err != nil {
			t.Fatal(err)
		}
		if err := pending.Wait(t.Context(), nil); err == nil {
			t.Error("nobody has signed in")
		}
	}
}
