package agents_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
)

// TestSignInByCommandLine: a person without an editor signs in to an MCP server, whose page
// is opened with the address that is printed.
func TestSignInByCommandLine(t *testing.T) {
	s := sdk.NewServer(&sdk.Implementation{Name: "web"}, nil)
	mcp := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	var web *httptest.Server
	web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		say := func(v e2e.Object) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(v)
		}
		switch {
		case r.URL.Path == "/mcp" && r.Header.Get("Authorization") == "Bearer a-token-of-the-user":
			mcp.ServeHTTP(w, r)
		case r.URL.Path == "/mcp":
			w.WriteHeader(http.StatusUnauthorized)
		case strings.HasPrefix(r.URL.Path, "/.well-known/oauth-authorization-server"):
			say(e2e.Object{"issuer": web.URL, "authorization_endpoint": web.URL + "/authorize", "token_endpoint": web.URL + "/token", "registration_endpoint": web.URL + "/register",
				"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"}})
		case r.URL.Path == "/register":
			var asked struct {
				URIs []string `json:"redirect_uris"`
			}
			_ = json.NewDecoder(r.Body).Decode(&asked)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			say(e2e.Object{"client_id": "x", "redirect_uris": asked.URIs})
		case r.URL.Path == "/token":
			say(e2e.Object{"access_token": "a-token-of-the-user", "token_type": "Bearer", "expires_in": 3600})
		default:
			http.NotFound(w, r)
		}
	}))
	defer web.Close()
	e2e.Home(t)
	e2e.UserSettings(t, e2e.Object{"mcp.servers": e2e.Object{"web": e2e.Object{"url": web.URL + "/mcp"}, "local": e2e.Object{"command": "true"}}})
	dir := e2e.Project(t, nil)
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no name":        {nil, 2, "takes the name"},
		"two names":      {[]string{"web", "local"}, 2, "takes the name"},
		"an unknown one": {[]string{"nothing"}, 1, "nothing"},
		"a program":      {[]string{"local"}, 1, "reached by HTTP"},
	} {
		if _, stderr, code := e2e.RunCLI(t, "", append([]string{"mcp", "--root", dir, "sign-in"}, c.args...)...); code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: %d %s", name, code, stderr)
		}
	}
	cmd := exec.CommandContext(t.Context(), program.ServerAnywhere(t), "mcp", "--root", dir, "sign-in", "web")
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), web.URL+"/authorize?") {
	}
	page, err := url.Parse(lines.Text())
	if err != nil {
		t.Fatal(err)
	}
	back, err := url.Parse(page.Query().Get("redirect_uri"))
	if err != nil || back.Hostname() != "127.0.0.1" {
		t.Fatalf("the page is %q, %v", page, err)
	}
	back.RawQuery = url.Values{"code": {"c"}, "state": {page.Query().Get("state")}}.Encode()
	res, err := http.Get(back.String())
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	rest, _ := io.ReadAll(out)
	for lines.Scan() {
		rest = append(rest, lines.Bytes()...)
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(string(rest), "web is connected") {
		t.Errorf("%v: %s", err, rest)
	}
}
