package git_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/gittest"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
	"github.com/sidecar-ls/sidecar-ls/internal/test/program"
	"github.com/sidecar-ls/sidecar-ls/internal/test/slow"
	"github.com/sidecar-ls/sidecar-ls/server"
)

// TestPushBeside: what the user's git writes into the repository's settings ends
// neither commands in the background nor MCP servers, which go on seeing them
// without their secrets, and can't write them.
func TestPushBeside(t *testing.T) {
	slow.Test(t)
	for _, kind := range []string{"disk", "auto"} {
		t.Run(kind, func(t *testing.T) {
			e2e.Home(t)
			repo := gittest.New(t)
			repo.Commit("one", "a.txt", "a\n")
			bare := filepath.Join(t.TempDir(), "bare.git")
			repo.Git("init", "-q", "--bare", bare)
			repo.Git("remote", "add", "origin", bare)
			repo.Git("remote", "add", "other", "https://me:hush-4711@example.org/x.git")
			repo.Git("config", "credential.helper", "!echo password=hush-4712")
			// What the server does, by a shell: it says what it sees whenever it is asked.
			const see = "sh see.sh"
			repo.Commit("two", "see.sh", `cat .git/config; [ -e try.txt ] || exit 0; git remote -v; echo x >> .git/config || echo "not written"; rm -f .git/config || echo "not removed"; git rev-parse --abbrev-ref 'HEAD@{upstream}'
`)
			script := `while read -r line; do case $line in
*'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}\n' "$(id)";;
*'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"see","inputSchema":{"type":"object"}}]}}\n' "$(id)";;
*'"tools/call"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}\n' "$(id)" "$( { ` + see + `; } 2>&1 | tr -d '"\\' | tr '\n\t' '| ')";;
*'"id"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$(id)";;
esac; done`
			script = `id() { printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/'; }; ` + script
			e2e.UserSettings(t, e2e.Object{"commands.world": kind, "toolPermissions": e2e.Object{"run_command": "allow", "mcp_sh_see": "allow"}, "mcp.servers": e2e.Object{"sh": e2e.Object{"command": "bash", "args": []string{"-c", script}}}})
			r := e2e.ServeBy(t, repo.Dir, fakeeditor.Options{}, program.ServerAnywhere(t))
			if res := e2e.Command[e2e.Object](r, "sidecar.tools.call", e2e.Object{"name": "run_command", "arguments": e2e.Object{"command": "true"}}); !strings.Contains(fmt.Sprint(res["structured"]), "sandbox: bubblewrap") {
				needs.Skip(t, needs.Sandbox, "nothing protects settings here: ", res)
			}
			if s := e2e.Command[server.MCPStatus](r, "sidecar.mcp.reconnect", e2e.Object{"server": "sh"}); s.State != "connected" {
				t.Fatalf("%+v", s)
			}
			if res := r.Tool("run_command", e2e.Object{"command": `until [ -e go.txt ] && grep -q nickname .git/config && ! grep -q hush .git/config; do sleep 0.02; done; { ` + see + `; } 2>&1; echo done`, "background": true}); !res.OK {
				t.Fatal(res.Content)
			}
			check := func(what, got string, pushed bool) {
				t.Helper()
				for _, want := range []string{"not written", "not removed", "https://example.org/x.git"} {
					if !strings.Contains(got, want) {
						t.Errorf("%s: no %q in\n%s", what, want, got)
					}
				}
				if strings.Contains(got, "hush") || strings.Contains(got, "helper") || strings.Contains(got, "origin/main") != pushed && strings.Contains(got, "origin/master") != pushed {
					t.Errorf("%s:\n%s", what, got)
				}
			}
			try := filepath.Join(repo.Dir, "try.txt")
			e2e.Write(t, try, "try\n")
			see1 := func() string { return r.Tool("mcp_sh_see", e2e.Object{}).Content }
			check("the server, before", see1(), false)
			// The user's own git, which replaces the file several times. For the moment until a
			// program's protection notices that, the new file is not masked for it, as it was not
			// before; so each tries what is protected once it sees the mask.
			if err := ownfile.Remove(try); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"push", "-q", "-u", "origin", "HEAD"}, {"config", "user.nickname", "x"}, {"branch", "-q", "--track", "more", "origin/HEAD~0"}} {
				cmd := exec.Command("git", args...)
				cmd.Dir = repo.Dir
				if out, err := cmd.CombinedOutput(); err != nil && args[0] != "branch" {
					t.Fatalf("%v: %s", err, out)
				}
			}
			e2e.Write(t, try, "try\n")
			if kind == "disk" { // in a world it has the repository's settings as they were when it began
				e2e.Until(t, "the server never saw the push", func() bool {
					got := see1()
					return strings.Contains(got, "nickname") && !strings.Contains(got, "hush")
				})
			}
			check("the server, after", see1(), kind == "disk")
			for _, s := range r.MCPServers() {
				if s.State != "connected" || s.Error != "" {
					t.Errorf("%+v", s)
				}
			}
			e2e.Write(t, filepath.Join(repo.Dir, "go.txt"), "go\n")
			var said strings.Builder
			e2e.Until(t, "the command in the background never ended", func() bool {
				said.WriteString(r.Tool("command_output", e2e.Object{"id": "bg1"}).Content)
				return strings.Contains(said.String(), "exit code") || strings.Contains(said.String(), "has ended") || strings.Contains(said.String(), "done")
			})
			check("the command", said.String(), true)
			if data, err := os.ReadFile(filepath.Join(repo.Dir, ".git/config")); err != nil || !strings.Contains(string(data), "hush-4711") || !strings.Contains(string(data), "nickname") {
				t.Errorf("%s, %v", data, err)
			}
		})
	}
}
