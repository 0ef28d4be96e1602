package mcp_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox"
	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"
	"github.com/sidecar-ls/sidecar-ls/internal/config"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// TestMCPServers: a project's server runs once it is trusted, exactly as it was
// shown, confined; its tools pass the gate that all tools pass.
func TestMCPServers(t *testing.T) {
	slow.Test(t)
	e2e.Home(t)
	t.Setenv("OPENAI_API_KEY", "sk-of-the-host-0123456789")
	t.Setenv("THEIR_TOKEN", "hush-hush-4711")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	aside := t.TempDir() // where it leaves its mark: the workspace is not its own
	e2e.UserSettings(t, e2e.Object{"sandbox.writable": []string{aside}})
	started := filepath.Join(aside, "started")
	line := func(arg string) string {
		data, _ := json.Marshal(e2e.Object{"mcpServers": e2e.Object{"theirs": e2e.Object{"command": self, "args": []string{e2e.MCPServerCommand, arg}, "env": e2e.Object{"TOKEN": "${THEIR_TOKEN}", "STARTED": started}, "envFile": ".env.theirs"}}})
		return string(data)
	}
	dir := e2e.Project(t, map[string]string{
		".mcp.json":        line("one"),
		".env.theirs":      "FILED=hush-hush-4712\n",
		".vscode/mcp.json": "{\n  // of another editor\n  \"servers\": {\n    \"asks\": {\"command\": \"x\", \"args\": [\"${input:key}\"]},\n    \"old\": {\"type\": \"sse\", \"url\": \"https://mcp.example.org/sse\"}, /* and */\n  },\n}\n",
	})
	r := e2e.ServeSelf(t, dir, fakeeditor.Options{})
	r.Choose("Deny")

	servers := r.MCPServers()
	theirs := servers["theirs"]
	if theirs.State != "untrusted" || theirs.Transport != "stdio" || theirs.Trusted || theirs.Origin != ".mcp.json" || !strings.Contains(theirs.Command, e2e.MCPServerCommand+" one") || !strings.Contains(theirs.Command, "${THEIR_TOKEN}") || !strings.Contains(theirs.Command, "(FILED)") {
		t.Errorf("%+v", theirs)
	}
	if s := servers["asks"]; s.State != "failed" || !strings.Contains(s.Error, "${input:") {
		t.Errorf("%+v", s)
	}
	if s := servers["old"]; s.State != "untrusted" || s.Transport != "sse" {
		t.Errorf("%+v", s)
	}
	if out, _, code := e2e.RunCLI(t, "", "doctor", "--root", dir, "--json"); code == 0 || !strings.Contains(out, "asks: it needs a value") {
		t.Errorf("doctor: %d %s", code, out)
	}
	if _, err := os.Stat(started); err == nil {
		t.Fatal("it was started before anybody trusted it")
	}
	if err := r.Await(t.Context(), "a word to the user", func(rec *fakeeditor.Record) bool {
		return slices.ContainsFunc(rec.Notifications, func(m fakeeditor.Message) bool {
			return m.Method == "window/showMessage" && strings.Contains(string(m.Params), "sidecar.mcp.trust")
		})
	}); err != nil {
		t.Fatal(err)
	}
	for name, arg := range map[string]e2e.Object{"another hash": {"server": "theirs", "hash": "x"}, "nobody": {"server": "none"}, "nothing": {}, "a broken one": {"server": "asks"}} {
		if err := r.ExecuteCommand(t.Context(), "sidecar.mcp.trust", arg, nil); err == nil {
			t.Errorf("trusted: %s", name)
		}
	}
	if _, err := os.Stat(started); err == nil {
		t.Fatal("it was started before anybody trusted it")
	}

	if s := e2e.Command[server.MCPStatus](r, "sidecar.mcp.trust", e2e.Object{"server": "theirs", "hash": theirs.Hash}); s.State != "connected" || s.Tools != 8 || !s.Trusted {
		t.Fatalf("%+v", s)
	}
	type info struct {
		Name, Source, MCPServer, Access string
		RequiresApproval                bool
		AlwaysRequireApproval           bool
	}
	list := e2e.Command[struct{ Tools []info }](r, "sidecar.tools.list", e2e.Object{"source": "mcp"}).Tools
	if len(list) != 8 || list[0] != (info{"mcp_theirs_drop", "mcp", "theirs", "exec", true, true}) || list[1] != (info{"mcp_theirs_env", "mcp", "theirs", "exec", true, false}) {
		t.Errorf("%+v", list)
	}
	if few := e2e.Command[struct{ Tools []info }](r, "sidecar.tools.list", e2e.Object{"server": "theirs", "allow": []string{"mcp:theirs/say"}}).Tools; len(few) != 1 {
		t.Errorf("%+v", few)
	}

	// A hint to be harmless loosens nothing: a person is asked.
	if res := r.Tool("mcp_theirs_env", e2e.Object{}); res.OK || res.Error.Code != "not_approved" {
		t.Errorf("%+v", res)
	}
	r.Choose(slices.Repeat([]string{"Allow"}, 8)...) // one of them about a file that it wrote
	for _, name := range []string{"mcp_theirs_env", "mcp:theirs/env", "mcp__theirs__env"} {
		res := r.Tool(name, e2e.Object{})
		if !res.OK || !strings.Contains(res.Content, "TOKEN=[REDACTED") || !strings.Contains(res.Content, "FILED=[REDACTED") || strings.Contains(res.Content, "hush") || strings.Contains(res.Content, "of-the-host") {
			t.Errorf("%s: %+v", name, res)
		}
	}
	if res := r.Tool("mcp_theirs_say", e2e.Object{}); !res.OK || strings.ContainsAny(res.Content, "\x1b\x07") || !strings.Contains(res.Content, "untrusted") || !strings.Contains(res.Content, `\![x](http`) {
		t.Errorf("%+v", res)
	}
	if res := r.Tool("mcp_theirs_much", e2e.Object{}); !res.OK || len(res.Content) > 16_000 {
		t.Errorf("%d bytes", len(res.Content))
	}
	here, err := os.Getwd() // outside of the workspace and of the directory for temporary files
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(here, ".written-by-an-mcp-server")
	t.Cleanup(func() { _ = ownfile.Remove(outside) })
	res := r.Tool("mcp_theirs_write", e2e.Object{"path": outside})
	if _, err := os.Stat(outside); err == nil && sandbox.Open(self, sandbox.Options{}).Status().Level != spec.None {
		t.Errorf("it wrote outside: %+v", res)
	}
	if res := r.Tool("mcp_theirs_write", e2e.Object{"path": "inside"}); !strings.Contains(res.Content, "written") {
		t.Errorf("control: %+v", res)
	}
	if _, err := os.Stat(filepath.Join(dir, "inside")); err != nil {
		t.Errorf("control: %v", err)
	}
	// A hint to be harmful counts, in a mode that asks about nothing else.
	r.Mode("autonomous")
	r.Choose("Deny")
	if res := r.Tool("mcp_theirs_drop", e2e.Object{}); res.OK {
		t.Errorf("%+v", res)
	}
	if res := r.Tool("mcp_theirs_env", e2e.Object{}); !res.OK {
		t.Errorf("control: %+v", res)
	}

	// Another line, and it has to be trusted again.
	if err := ownfile.Remove(started); err != nil {
		t.Fatal(err)
	}
	e2e.Write(t, filepath.Join(dir, ".mcp.json"), line("two"))
	if s := r.MCPServers()["theirs"]; s.State != "untrusted" || s.Hash == theirs.Hash {
		t.Errorf("%+v", s)
	}
	if res := r.Tool("mcp_theirs_env", e2e.Object{}); res.OK || res.Error.Code != "unavailable" || !strings.Contains(res.Content, "sidecar.mcp.trust") {
		t.Errorf("%+v", res)
	}
	if s := e2e.Command[server.MCPStatus](r, "sidecar.mcp.reconnect", e2e.Object{"server": "theirs"}); s.State != "untrusted" {
		t.Errorf("%+v", s)
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("another line was run without a question")
	}
	e2e.Write(t, filepath.Join(dir, ".mcp.json"), line("one"))
	if s := e2e.Command[server.MCPStatus](r, "sidecar.mcp.reconnect", e2e.Object{"server": "theirs"}); s.State != "connected" {
		t.Errorf("as it was trusted: %+v", s)
	}
}

// TestMCPServersOfTheUser: what the user's settings name is started by itself,
// but not in a workspace that the user does not trust.
func TestMCPServersOfTheUser(t *testing.T) {
	e2e.Home(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for trust, state := range map[string]string{"unknown": "connected", "untrusted": "disabled"} {
		t.Run(trust, func(t *testing.T) {
			e2e.UserSettings(t, e2e.Object{"workspace.trust": trust, "sandbox.mode": "off", "mcp.servers": e2e.Object{"mine": e2e.Object{"command": self, "args": []string{e2e.MCPServerCommand}}}})
			r := e2e.ServeSelf(t, e2e.Project(t, nil), fakeeditor.Options{})
			if s := e2e.Command[server.MCPStatus](r, "sidecar.mcp.reconnect", e2e.Object{"server": "mine"}); string(s.State) != state || s.Origin != "sidecar.mcp.servers" {
				t.Errorf("%+v", s)
			}
			if res := r.Tool("get_setting", e2e.Object{"key": "mcp.servers"}); res.OK {
				t.Errorf("an agent reads it: %s", res.Content)
			}
		})
	}
}

// TestAllowOfToolsToCome: a session for tools that MCP servers have not brought
// yet is opened, and told so; one for what nobody will bring is not.
func TestAllowOfToolsToCome(t *testing.T) {
	e2e.Home(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	answers := e2e.Object{"command": self, "args": []string{e2e.MCPServerCommand}}
	silent := e2e.Object{"command": "sleep", "args": []string{"1000"}} // it says nothing, so that it stays as it starts
	off := e2e.Object{"command": self, "args": []string{e2e.MCPServerCommand}, "enabled": false}
	later := [][]string{{"mcp"}, {"github_*"}, {"mcp_slow_say"}, {"!mcp"}, {"mcp", "nothing"}}
	never := [][]string{{"nothing"}, {"!nothing"}, {""}, {"kit:none"}, {"plugin"}, {"mcp:none/*"}}
	for name, c := range map[string]struct {
		servers          e2e.Object
		state            string // of the server slow
		accepted, refuse [][]string
	}{
		"starting":   {e2e.Object{"slow": silent}, "connecting", append(later, []string{"mcp:slow/*"}), never},
		"one of two": {e2e.Object{"slow": silent, "mine": answers}, "connecting", [][]string{{"github_*"}, {"mcp_slow_say"}, {"mcp:mine/none"}}, never},
		"ready":      {e2e.Object{"mine": answers}, "", [][]string{{"mcp"}, {"mcp_mine_*"}, {"mcp:mine/none"}}, append(never, []string{"github_*"}, []string{"mcp_slow_say"})},
		"disabled":   {e2e.Object{"slow": off}, "disabled", [][]string{{"mcp:slow/*"}}, append(never, []string{"github_*"}, []string{"mcp"})},
		"none":       {nil, "", [][]string{{"git_*"}, {"!mcp"}}, append(never, []string{"mcp"}, []string{"github_*"}, []string{"mcp_slow_say"}, []string{"mcp", "nothing"})},
	} {
		t.Run(name, func(t *testing.T) {
			e2e.UserSettings(t, e2e.Object{"sandbox.mode": "off", "mcp.servers": c.servers})
			r := e2e.ServeSelf(t, e2e.Project(t, nil), fakeeditor.Options{})
			if c.servers["mine"] != nil {
				if s := e2e.Command[server.MCPStatus](r, "sidecar.mcp.reconnect", e2e.Object{"server": "mine"}); s.State != "connected" {
					t.Fatalf("%+v", s)
				}
			}
			if s := r.MCPServers()["slow"]; string(s.State) != c.state {
				t.Fatalf("%+v, want it %s", s, c.state)
			}
			type opened struct {
				Warnings []string `json:"warnings"`
			}
			for _, allow := range c.accepted {
				var o opened
				if err := r.ExecuteCommand(t.Context(), "sidecar.session.open", e2e.Object{"allow": allow}, &o); err != nil {
					t.Errorf("%q: %v", allow, err)
				} else if fits := len(o.Warnings) == 0; fits != (name == "none" || allow[0] != "mcp:mine/none" && name == "ready") {
					t.Errorf("%q: warnings %q", allow, o.Warnings)
				} else if c.state == "connecting" && !strings.Contains(o.Warnings[0], "fits no tool yet") {
					t.Errorf("%q: warnings %q", allow, o.Warnings)
				}
			}
			for _, allow := range c.refuse {
				if err := r.ExecuteCommand(t.Context(), "sidecar.session.open", e2e.Object{"allow": allow}, nil); err == nil || !strings.Contains(err.Error(), "nothing in it fits a tool") {
					t.Errorf("%q: %v", allow, err)
				}
			}
		})
	}
}

// TestMCPServerWithoutNetwork: a server that fails because it has no network says
// which setting gives it one; one that fails otherwise, or has it, does not.
func TestMCPServerWithoutNetwork(t *testing.T) {
	slow.Test(t)
	e2e.Home(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if st := sandbox.Open(self, sandbox.Options{}).Status(); st.Level == spec.None {
		needs.Skip(t, needs.Sandbox, "nothing takes the network away here: "+st.Why)
	}
	const npm = `echo "npm error code EAI_AGAIN
npm error request to https://registry.npmjs.org/some-server failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org" >&2; exit 1`
	const uv = "echo 'error: Failed to fetch: https://pypi.org/simple/some-server/: dns error: failed to lookup address information: Temporary failure in name resolution' >&2; exit 2"
	type entry struct {
		settings e2e.Object
		command  string
		args     []string
		want     string // part of the advice; "" for none
	}
	cases := map[string]entry{
		"npx":              {e2e.Object{}, "sh", []string{"-c", npm}, `as ["mine"]`},
		"uvx":              {e2e.Object{}, "sh", []string{"-c", uv}, `as ["mine"]`},
		"beside others":    {e2e.Object{"mcp.network": []string{"other"}}, "sh", []string{"-c", npm}, `as ["other","mine"]`},
		"with a network":   {e2e.Object{"mcp.network": []string{"mine"}}, "sh", []string{"-c", npm}, ""},
		"all have it":      {e2e.Object{"mcp.network": []string{"*"}}, "sh", []string{"-c", npm}, ""},
		"commands have it": {e2e.Object{"sandbox.network": true}, "sh", []string{"-c", npm}, ""},
		"no sandbox":       {e2e.Object{"sandbox.mode": "off"}, "sh", []string{"-c", npm}, ""},
		"another failure":  {e2e.Object{}, "sh", []string{"-c", "echo 'no such option' >&2; exit 1"}, ""},
	}
	if _, err := exec.LookPath("npx"); err == nil {
		cases["the real npx"] = entry{e2e.Object{}, "npx", []string{"-y", "@modelcontextprotocol/server-everything"}, `as ["mine"]`}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.settings["mcp.servers"] = e2e.Object{"mine": e2e.Object{"command": c.command, "args": c.args}}
			e2e.UserSettings(t, c.settings)
			r := e2e.ServeSelf(t, e2e.Project(t, nil), fakeeditor.Options{})
			s := e2e.Command[server.MCPStatus](r, "sidecar.mcp.reconnect", e2e.Object{"server": "mine"})
			if s.State != "failed" || !strings.Contains(s.Error, "it wrote: ") {
				t.Fatalf("%+v", s)
			}
			if strings.Contains(s.Error, "sidecar.mcp.network") != (c.want != "") || !strings.Contains(s.Error, c.want) {
				t.Errorf("wanted %q: %s", c.want, s.Error)
			}
		})
	}
}

// A server that the sandbox hides files of is told apart from one whose files
// are not there, and the setting that is named shows them.
func TestMCPServerHidden(t *testing.T) {
	slow.Test(t)
	e2e.Home(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	away, err := os.MkdirTemp("/var/tmp", "away-") // not below what the sandbox shows
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ownfile.RemoveAll(away) })
	script := filepath.Join(away, "serve.sh")
	e2e.Write(t, script, `exec "$1" "$2"`+"\n")
	entry := func(script string) e2e.Object {
		return e2e.Object{"mine": e2e.Object{"command": "bash", "args": []string{script, self, e2e.MCPServerCommand}}}
	}
	state := func(settings e2e.Object) (*e2e.Rig, server.MCPStatus) {
		t.Helper()
		e2e.UserSettings(t, settings)
		r := e2e.ServeSelf(t, e2e.Project(t, nil), fakeeditor.Options{})
		return r, e2e.Command[server.MCPStatus](r, "sidecar.mcp.reconnect", e2e.Object{"server": "mine"})
	}
	_, s := state(e2e.Object{"mcp.servers": entry(script)})
	if s.State == "connected" {
		needs.Skip(t, needs.Sandbox, "nothing hides files here")
	}
	if !slices.Contains(s.Hidden, away) || !strings.Contains(s.Error, script+" is there, but the sandbox hides it") && !strings.Contains(s.Error, script+", ") || !strings.Contains(s.Error, "sidecar.sandbox.readOnly") {
		t.Errorf("%+v", s)
	}
	r, s := state(e2e.Object{"mcp.servers": entry(script), "sandbox.readOnly": []string{"/srv"}})
	if err := r.ExecuteCommand(t.Context(), "sidecar.mcp.show", e2e.Object{"server": "mine", "dirs": []string{"/root"}}, nil); err == nil || !strings.Contains(err.Error(), "not among") {
		t.Errorf("what it was not found to lack: %v", err)
	}
	if s := e2e.Command[server.MCPStatus](r, "sidecar.mcp.show", e2e.Object{"server": "mine", "dirs": s.Hidden}); s.State != "connected" || len(s.Hidden) > 0 {
		t.Errorf("shown: %+v", s)
	}
	if data, err := os.ReadFile(config.UserFile()); err != nil || !strings.Contains(string(data), away) || !strings.Contains(string(data), "/srv") {
		t.Errorf("the user's file: %v, %s", err, data)
	}
	if _, s := state(e2e.Object{"mcp.servers": entry(script), "sandbox.readOnly": s.Hidden}); s.State != "connected" || len(s.Hidden) > 0 {
		t.Errorf("with the setting as it was named: %+v", s)
	}
	if _, s := state(e2e.Object{"mcp.servers": entry(filepath.Join(away, "none"))}); strings.Contains(s.Error, "none is there") || slices.Contains(s.Hidden, filepath.Join(away, "none")) {
		t.Errorf("what is not there: %+v", s)
	}
}
