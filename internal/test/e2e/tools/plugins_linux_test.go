package tools_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sidecar-ls/sidecar-ls/internal/extend/plugin"
	"github.com/sidecar-ls/sidecar-ls/internal/test/e2e"
	"github.com/sidecar-ls/sidecar-ls/internal/test/fakeeditor"
	"github.com/sidecar-ls/sidecar-ls/internal/test/needs"
	"github.com/sidecar-ls/sidecar-ls/internal/test/ownfile"
)

const pluginManifest = `{"$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json", "name": "alpha", "version": "1.2.0", "description": "For tests."}`

// writePlugin writes a plugin with a tool of each kind, a hook and a skill.
func writePlugin(t *testing.T, dir, says string) {
	t.Helper()
	for name, text := range map[string]string{
		"plugin.json":              pluginManifest,
		"skills/tidy/SKILL.md":     "---\nname: tidy\ndescription: Tidies up.\n---\nTidy up.\n",
		"io.sidecar-ls/tools.json": `{"tools": [{"name": "alpha_says", "description": "Says something.", "command": ["./says.sh"], "access": "read"}, {"name": "alpha_wipes", "description": "Wipes.", "command": ["true"], "destructive": true}, {"name": "git_log", "description": "Another log.", "command": ["./says.sh"], "override": true, "access": "read"}]}`,
		"io.sidecar-ls/hooks.json": `{"hooks": {"PreToolUse": [{"matcher": "Glob", "hooks": [{"type": "command", "command": "cat \"$PLUGIN_ROOT/reason.txt\" >&2; exit 2"}]}]}}`,
		"reason.txt":               "not with alpha",
		"says.sh":                  "#!/bin/sh\necho " + says + "\n[ -e pending.txt ] && cat pending.txt\ntrue\n",
	} {
		e2e.Write(t, filepath.Join(dir, name), text)
	}
	if err := ownfile.Chmod(filepath.Join(dir, "says.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func pluginsOf(r *e2e.Rig) []plugin.Status {
	return e2e.Command[struct{ Plugins []plugin.Status }](r, "sidecar.plugins.list", e2e.Object{}).Plugins
}

// TestPlugins: what a plugin brings is there once its user trusts it, through the real
// server; a change of it is not, unless it is the user's own work.
func TestPlugins(t *testing.T) {
	e2e.Home(t)
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	place := t.TempDir()
	e2e.UserSettings(t, e2e.Object{"plugins": e2e.Object{"dirs": []string{place}}})
	dir := e2e.Project(t, map[string]string{"a.txt": "text\n"})
	writePlugin(t, filepath.Join(place, "alpha"), "one")
	r := e2e.ServeSelf(t, dir, fakeeditor.Options{InitializationOptions: e2e.Object{"sidecar": e2e.Object{"workspace": e2e.Object{"trust": "trusted"}}}})
	r.Mode("autonomous")
	st := pluginsOf(r)[0]
	if st.ID != "alpha" || st.State != plugin.Discovered || st.Trust != plugin.Unknown || st.Tools != 3 || st.Hooks != 1 || st.Skills != 1 || len(st.Overrides) != 1 {
		t.Fatalf("%+v", st)
	}
	if res := r.Tool("alpha_says", e2e.Object{}); res.OK || res.Error.Code != "unknown_tool" {
		t.Errorf("before trust: %s", res.Content)
	}
	if res := r.Tool("search_files", e2e.Object{"pattern": "*"}); !res.OK {
		t.Errorf("before trust, a hook: %s", res.Content)
	}

	// Its user's word for a built-in tool is asked for by name.
	st = e2e.Command[plugin.Status](r, "sidecar.plugins.trust", e2e.Object{"id": "alpha", "hash": st.Hash})
	if st.State != plugin.Faulted || !strings.Contains(st.Error, `trust it with override ["git_log"]`) {
		t.Errorf("without a word for what it covers: %+v", st)
	}
	st = e2e.Command[plugin.Status](r, "sidecar.plugins.set", e2e.Object{"trusted": true, "id": "alpha", "override": []string{"git_log"}})
	if st.State != plugin.Enabled || st.Trust != plugin.Trusted {
		t.Fatalf("trusted: %+v", st)
	}
	r.Mode("review")
	if res := r.Tool("write_file", e2e.Object{"path": "pending.txt", "content": "what waits\n"}); !res.OK {
		t.Fatal(res.Content)
	}
	for _, tool := range []string{"alpha_says", "git_log"} {
		if res := r.Tool(tool, e2e.Object{}); !res.OK || !strings.Contains(res.Content, "one\nwhat waits\n") {
			t.Errorf("%s: %s", tool, res.Content)
		}
	}
	r.Mode("autonomous")
	if res := r.Tool("alpha_wipes", e2e.Object{}); res.OK || res.Decision.Rule != "always-ask" {
		t.Errorf("what is destructive: %+v %s", res.Decision, res.Content)
	}
	if res := r.Tool("search_files", e2e.Object{"pattern": "*"}); res.OK || !strings.Contains(res.Content, "a hook of the user's (plugin alpha) denies this: not with alpha") {
		t.Errorf("its hook: %s", res.Content)
	}
	if skills := string(e2e.Command[json.RawMessage](r, "sidecar.skills.list", e2e.Object{})); !strings.Contains(skills, `"plugin alpha"`) {
		t.Errorf("its skill: %s", skills)
	}

	// A change is not what was trusted.
	writePlugin(t, filepath.Join(place, "alpha"), "evil")
	st = pluginsOf(r)[0]
	if st.State != plugin.Discovered || fmt.Sprint(st.Changed) != "[changed says.sh]" {
		t.Errorf("changed: %+v", st)
	}
	if res := r.Tool("alpha_says", e2e.Object{}); res.OK {
		t.Errorf("changed: %s", res.Content)
	}
	if res := r.Tool("git_log", e2e.Object{}); strings.Contains(res.Content, "evil") || strings.Contains(res.Content, "what waits") {
		t.Errorf("what it covered is not there again: %s", res.Content)
	}

	// The user's own work is what it is now, without being asked.
	st = e2e.Command[plugin.Status](r, "sidecar.plugins.set", e2e.Object{"trusted": true, "id": "alpha", "mine": true, "override": []string{"git_log"}})
	if res := r.Tool("alpha_says", e2e.Object{}); !strings.Contains(res.Content, "evil") || st.Trust != plugin.Mine {
		t.Errorf("mine: %+v, %s", st, res.Content)
	}
	if res := r.Tool("alpha_wipes", e2e.Object{}); !res.OK {
		t.Errorf("mine, what is destructive: %s", res.Content)
	}
	writePlugin(t, filepath.Join(place, "alpha"), "three")
	pluginsOf(r)
	if res := r.Tool("alpha_says", e2e.Object{}); !strings.Contains(res.Content, "three") {
		t.Errorf("mine, changed: %s", res.Content)
	}
	e2e.Write(t, filepath.Join(place, "alpha/plugin.json"), `{"name": `)
	if st = pluginsOf(r)[0]; st.State != plugin.Faulted {
		t.Errorf("broken: %+v", st)
	}
	if res := r.Tool("alpha_says", e2e.Object{}); !strings.Contains(res.Content, "three") {
		t.Errorf("the version before: %s", res.Content)
	}
	st = e2e.Command[plugin.Status](r, "sidecar.plugins.disable", e2e.Object{"id": st.ID})
	if res := r.Tool("alpha_says", e2e.Object{}); st.State != plugin.Disabled || res.OK {
		t.Errorf("disabled: %+v, %s", st, res.Content)
	}

	// The first call of the next server finds tools and hooks, although its start does not
	// wait for them.
	e2e.Command[plugin.Status](r, "sidecar.plugins.set", e2e.Object{"id": st.ID, "enabled": true})
	writePlugin(t, filepath.Join(place, "alpha"), "four")
	t.Run("the first call", func(t *testing.T) {
		r := e2e.ServeSelf(t, dir, fakeeditor.Options{InitializationOptions: e2e.Object{"sidecar": e2e.Object{"mode": "autonomous", "workspace": e2e.Object{"trust": "trusted"}}}})
		if res := r.Tool("search_files", e2e.Object{"pattern": "*"}); res.OK {
			t.Errorf("a hook misses it: %s", res.Content)
		}
		if res := r.Tool("alpha_says", e2e.Object{}); !res.OK || !strings.Contains(res.Content, "four") {
			t.Errorf("a tool is not there: %s", res.Content)
		}
	})
}

// TestPluginServer: an MCP server of a plugin is started with what it lies in, and with
// a directory to write to.
func TestPluginServer(t *testing.T) {
	e2e.Home(t)
	data := t.TempDir()
	t.Setenv("XDG_DATA_HOME", data)
	place := filepath.Join(data, "sidecar/plugins/served")
	e2e.Write(t, filepath.Join(place, "plugin.json"), strings.Replace(pluginManifest, "alpha", "served", 1))
	e2e.Write(t, filepath.Join(place, "mcp.json"), `{"$schema": "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json", "mcpServers": {"notes": {"type": "stdio", "command": "python3", "args": ["${PLUGIN_ROOT}/server.py"]}}}`)
	e2e.Write(t, filepath.Join(place, "server.py"), `import json, os, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m: continue
    r = {}
    if m["method"] == "initialize": r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "notes", "version": "1"}}
    elif m["method"] == "tools/list": r = {"tools": [{"name": "where", "description": "Says where it is.", "inputSchema": {"type": "object"}}]}
    elif m["method"] == "tools/call":
        open(os.path.join(os.environ["PLUGIN_DATA"], "kept"), "w").write("x")
        r = {"content": [{"type": "text", "text": "in " + os.getcwd() + " " + str(os.path.exists("server.py"))}]}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
`)
	if _, err := exec.LookPath("python3"); err != nil {
		needs.Skip(t, needs.Python, "there is no Python here")
	}
	dir := e2e.Project(t, map[string]string{"a.txt": "text\n"})
	where := func(t *testing.T, r *e2e.Rig) {
		t.Helper()
		e2e.Command[json.RawMessage](r, "sidecar.mcp.reconnect", e2e.Object{"server": "served-notes"}) // waits until it is there
		if res := r.Tool("mcp_served_notes_where", e2e.Object{}); !res.OK || !strings.Contains(res.Content, "True") {
			t.Errorf("%s", res.Content)
		}
	}
	t.Run("trusted", func(t *testing.T) {
		r := e2e.ServeSelf(t, dir, fakeeditor.Options{})
		r.Mode("autonomous")
		if st := pluginsOf(r)[0]; st.Servers != 1 || st.State != plugin.Discovered {
			t.Fatalf("%+v", st)
		}
		e2e.Command[plugin.Status](r, "sidecar.plugins.set", e2e.Object{"trusted": true, "id": "served"})
		where(t, r)
		if _, err := os.Stat(filepath.Join(data, "sidecar/plugin-data/served/kept")); err != nil {
			t.Errorf("what it keeps: %v", err)
		}
	})
	t.Run("from the start", func(t *testing.T) {
		r := e2e.ServeSelf(t, dir, fakeeditor.Options{})
		r.Mode("autonomous")
		if st := pluginsOf(r)[0]; st.State != plugin.Enabled {
			t.Errorf("after a restart: %+v", st)
		}
		where(t, r)
		e2e.Command[plugin.Status](r, "sidecar.plugins.distrust", e2e.Object{"id": "served"})
		if res := r.Tool("mcp_served_notes_where", e2e.Object{}); res.OK {
			t.Errorf("without trust: %s", res.Content)
		}
	})
	t.Run("changed while it works", func(t *testing.T) {
		r := e2e.ServeSelf(t, dir, fakeeditor.Options{})
		r.Mode("autonomous")
		e2e.Command[plugin.Status](r, "sidecar.plugins.set", e2e.Object{"trusted": true, "id": "served", "mine": true})
		where(t, r)
		program, err := os.ReadFile(filepath.Join(place, "server.py"))
		if err != nil {
			t.Fatal(err)
		}
		holds := strings.Replace(string(program), "        r = {\"content\"", `        while os.path.exists(os.path.join(os.environ["PLUGIN_DATA"], "hold")): pass
        r = {"content"`, 1)
		// Each version has a tool of its own, so that no call of one waits for the other.
		change := func(text, tool string) {
			e2e.Write(t, filepath.Join(place, "server.py"), strings.Replace(text, `"where"`, `"`+tool+`"`, 1))
			e2e.Until(t, "the version with "+tool+" never came", func() bool { return r.Tool("mcp_served_notes_"+tool, e2e.Object{}).OK })
		}
		change(holds, "first")
		hold := filepath.Join(data, "sidecar/plugin-data/served/hold")
		e2e.Write(t, hold, "x")
		if err := ownfile.Remove(filepath.Join(filepath.Dir(hold), "kept")); err != nil {
			t.Fatal(err)
		}
		old := make(chan e2e.Result, 1)
		go func() { old <- r.Tool("mcp_served_notes_first", e2e.Object{}) }()
		e2e.Until(t, "the call never began", func() bool {
			_, err := os.Stat(filepath.Join(filepath.Dir(hold), "kept"))
			return err == nil
		})
		change(string(program), "second")
		if err := ownfile.Remove(hold); err != nil {
			t.Fatal(err)
		}
		if res := <-old; !res.OK || !strings.Contains(res.Content, "True") {
			t.Errorf("a call that was running: %s", res.Content)
		}
	})
}

// TestPluginNew: what plugin new writes works, passes its own tests, and is a tool.
func TestPluginNew(t *testing.T) {
	e2e.Home(t)
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := e2e.Project(t, map[string]string{"a.txt": "text\n"})
	run := func(in string, name string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = in
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for language, build := range map[string]string{
		"python": "python3 -m unittest -q", "go": "go test ./... && go build -o words .", "typescript": "node --experimental-strip-types --no-warnings --test",
	} {
		t.Run(language, func(t *testing.T) {
			if language == "typescript" {
				if out, err := exec.Command("node", "--experimental-strip-types", "-e", "0").CombinedOutput(); err != nil {
					needs.Skip(t, needs.Node, fmt.Sprintf("Node is not new enough: %s", out))
				}
			}
			name := "my-" + language
			at := filepath.Join(t.TempDir(), name)
			if out, err := run(dir, self, "plugin", "new", language, at); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if out, err := run(at, "sh", "-c", build); err != nil {
				t.Fatalf("its tests: %v: %s", err, out)
			}
			e2e.UserSettings(t, e2e.Object{"plugins": e2e.Object{"dirs": []string{at}}})
			if out, err := run(dir, self, "plugin", "trust", "--mine", name, "--root", dir); err != nil || !strings.Contains(out, "enabled") {
				t.Fatalf("%v: %s", err, out)
			}
			tool := strings.ReplaceAll(name, "-", "_") + "_words"
			if out, err := run(dir, self, "call", "--root", dir, tool, "text=one two  three"); err != nil || !strings.Contains(out, "3 words") {
				t.Errorf("%v: %s", err, out)
			}
			if out, err := run(dir, self, "plugin", "new", language, at); err == nil || !strings.Contains(out, "not empty") {
				t.Errorf("over what is there: %v: %s", err, out)
			}
		})
	}
}

// TestExtendingExamples: what docs/extending.md shows works as it stands there.
func TestExtendingExamples(t *testing.T) {
	e2e.Home(t)
	data := t.TempDir()
	t.Setenv("XDG_DATA_HOME", data)
	page, err := os.ReadFile("../../../../docs/extending.md")
	if err != nil {
		t.Fatal(err)
	}
	example := func(language string) string {
		_, rest, _ := strings.Cut(string(page), "```"+language+"\n")
		text, _, _ := strings.Cut(rest, "```")
		return text
	}
	e2e.Write(t, filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "sidecar", "settings.json"), example("json"))
	program := filepath.Join(data, "sidecar/plugins/count_words.py")
	e2e.Write(t, program, example("python"))
	if err := ownfile.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := e2e.Project(t, map[string]string{"README.md": "one\ntwo\n"})
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"call", "custom_count_lines", "files=README.md"}, "2 README.md"},
		{[]string{"plugin", "trust", "count_words.py"}, "enabled"},
		{[]string{"call", "count_words", "text=one two"}, "2"},
		{[]string{"plugin", "remove", "count_words.py"}, "Removed"},
		{[]string{"plugin", "list"}, "There are no plugins"},
	} {
		out, err := exec.CommandContext(t.Context(), self, append(c.args, "--root", dir)...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%v: %v: %s", c.args, err, out)
		}
	}
}
